package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

const (
	// keptClients have a login and keep their connections; beyond places they are refused.
	keptClients  = 1000
	places       = 1024
	tooMany      = 40
	clientRounds = 5
	clientLights = 1000
)

// measureClients keeps a thousand connections with a login, which all ask again and
// again, and then has some more come than there are places.
func measureClients(ctx context.Context, r *run) error {
	p, err := r.peer(ctx, 0)
	if err != nil {
		return err
	}
	defer p.stop()
	dataDir, err := r.prepare(ctx, "clients", manyLights([]string{p.address}, clientLights))
	if err != nil {
		return err
	}
	d, err := r.serve(ctx, dataDir)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.login(); err != nil {
		return err
	}
	if err := d.awaitOnline(ctx, clientLights); err != nil {
		return err
	}
	var list []*client
	defer func() {
		for _, c := range list {
			c.close()
		}
	}()
	ask := request(http.MethodGet, "/svc/api/getLightLevels", d.token, "")
	served, refused := 0, 0
	for i := range places + tooMany {
		c, err := dial(d.address, d.pem)
		if err != nil {
			return fmt.Errorf("client %d: %w", i+1, err)
		}
		list = append(list, c)
		switch _, err := c.do(ask); {
		case err == nil:
			served++
		case strings.Contains(err.Error(), "status 503"):
			refused++
		default:
			return fmt.Errorf("client %d is neither served nor told why not: %w", i+1, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for range clientRounds {
		for i, c := range list[:keptClients] {
			if _, err := c.skim(ask); err != nil {
				return fmt.Errorf("client %d, kept: %w", i+1, err)
			}
		}
	}
	counted, err := d.countRefused(list[0])
	if err != nil {
		return err
	}
	peak, err := d.field("status", "VmHWM")
	if err != nil {
		return err
	}
	r.table.atLeast("clients with a login that keep their connections, all served", fmt.Sprint(served), fmt.Sprint(keptClients), "", float64(served), keptClients, fmt.Sprint(keptClients))
	r.table.note(fmt.Sprintf("  of %d more refused in words; counted", tooMany), fmt.Sprintf("%d; %.0f", refused, counted), "", "")
	r.table.atMost("  memory, most", megabytes(peak<<10), megabytes(growthMemory), fmt.Sprintf("%.2f", float64(peak<<10)/growthMemory), float64(peak<<10), growthMemory, "100 MB")
	return nil
}

// countRefused reads how many were, on a connection that there is.
func (d *daemon) countRefused(c *client) (n float64, err error) {
	body, err := c.do(request(http.MethodGet, "/metrics", d.token, ""))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		if value, ok := strings.CutPrefix(line, "controller_connections_refused_total "); ok {
			_, err = fmt.Sscan(value, &n)
			return n, err
		}
	}
	return 0, fmt.Errorf("/metrics does not count who was refused")
}
