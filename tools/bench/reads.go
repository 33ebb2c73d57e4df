package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	readConnections = 32
	readRound       = time.Second
)

// measureReads polls getLightLevels of 1,000 rows like 32 dashboards at once.
func measureReads(ctx context.Context, r *run) error {
	for _, c := range []struct {
		what    string
		changes int
		bound   float64
	}{
		{"getLightLevels, 1,000 rows, 32 connections", 0, 0.90},
		{"the same while 20 values a second change", 20, 0},
	} {
		if err := r.measureRead(ctx, c.what, c.changes, c.bound); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) measureRead(ctx context.Context, what string, changes int, bound float64) error {
	p, err := r.peer(ctx, changes)
	if err != nil {
		return err
	}
	defer p.stop()
	dataDir, err := r.prepare(ctx, fmt.Sprintf("reads-%d", changes), thousandLights(p.address))
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
	if err := d.awaitOnline(ctx, 1000); err != nil {
		return err
	}
	get := request(http.MethodGet, "/svc/api/getLightLevels", d.token, "")
	body, err := d.sample(get)
	if err != nil {
		return err
	}
	if rows := strings.Count(string(body), `"Id":`); rows != 1000 {
		return fmt.Errorf("getLightLevels has %d rows, want 1000", rows)
	}
	f, err := r.floor(ctx, body, "")
	if err != nil {
		return err
	}
	defer f.stop()
	ours, err := crowd(d.address, d.pem, get)
	if err != nil {
		return err
	}
	defer ours.close()
	least, err := crowd(f.address, f.pem, request(http.MethodGet, "/", "", ""))
	if err != nil {
		return err
	}
	defer least.close()

	var ratios, rates, floors, cpus []float64
	for i := range r.rounds + 1 {
		var mine, bare float64
		var mineCPU, bareCPU time.Duration
		for turn := range 2 { // neither is always first
			if turn == i%2 {
				mine, mineCPU, err = ours.rate(ctx, d.process)
			} else {
				bare, bareCPU, err = least.rate(ctx, f.process)
			}
			if err != nil {
				return err
			}
		}
		if i == 0 {
			continue // connections and caches warm
		}
		ratios, rates, floors = append(ratios, mine/bare), append(rates, mine), append(floors, bare)
		cpus = append(cpus, float64(mineCPU)/float64(bareCPU))
	}
	figure, floor := fmt.Sprintf("%.0f /s", median(rates)), fmt.Sprintf("%.0f /s", median(floors))
	ratio := fmt.Sprintf("%.3f (%s)", median(ratios), spread(ratios))
	if bound > 0 {
		r.table.atLeast(what, figure, floor, ratio, median(ratios), bound, fmt.Sprint(bound))
	} else {
		r.table.note(what, figure, floor, ratio)
	}
	r.table.note("  processor time of the server per request", "", "", fmt.Sprintf("%.3f (%s)", median(cpus), spread(cpus)))
	return nil
}

// peer is a running modbus-peer.
type peer struct {
	*process
	address string
	lines   *bufio.Scanner // what it tells
}

func (r *run) peer(ctx context.Context, changes int) (*peer, error) {
	proc, err := r.start(ctx, true, filepath.Join(r.bin, "modbus-peer"), fmt.Sprint(changes))
	if err != nil {
		return nil, fmt.Errorf("start the Modbus server: %w", err)
	}
	p := &peer{process: proc, lines: bufio.NewScanner(proc.out)}
	if !p.lines.Scan() {
		p.stop()
		return nil, fmt.Errorf("the Modbus server ended by itself: %v", p.lines.Err())
	}
	p.address = "127.0.0.1:" + p.lines.Text()
	return p, nil
}

// thousandLights are the outputs of 100 units with ten registers each.
func thousandLights(address string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "site: {name: Thousand lights}\nbuses:\n  - {name: bench, driver: modbus, port: \"tcp://%s\"}\nnodes:\n", address)
	for i := range 1000 {
		fmt.Fprintf(&b, "  - {id: %d, name: Light %d, bus: bench, address: %d, profile: ten-registers, outputs: [%d]}\n", i+1, i+1, 1+i/10, 1+i%10)
	}
	return b.String()
}

// sample is one answer.
func (d *daemon) sample(req []byte) ([]byte, error) {
	c, err := dial(d.address, d.pem)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.do(req)
}

// clients ask the same on many connections at once.
type clients struct {
	list []*client
	req  []byte
}

func crowd(address string, pem, req []byte) (*clients, error) {
	cs := &clients{req: req}
	for range readConnections {
		c, err := dial(address, pem)
		if err != nil {
			cs.close()
			return nil, err
		}
		cs.list = append(cs.list, c)
	}
	return cs, nil
}

func (cs *clients) close() {
	for _, c := range cs.list {
		c.close()
	}
}

// rate is requests per second over one round, and the server's processor time for
// each.
func (cs *clients) rate(ctx context.Context, server *process) (perSecond float64, cpu time.Duration, err error) {
	before, err := server.cpu()
	if err != nil {
		return 0, 0, err
	}
	var wg sync.WaitGroup
	var count atomic.Int64
	errs := make(chan error, len(cs.list))
	start := time.Now()
	for _, c := range cs.list {
		wg.Go(func() {
			for time.Since(start) < readRound && ctx.Err() == nil {
				if _, err := c.skim(cs.req); err != nil {
					errs <- err
					return
				}
				count.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	select {
	case err := <-errs:
		return 0, 0, err
	default:
	}
	after, err := server.cpu()
	if err != nil || ctx.Err() != nil {
		return 0, 0, fmt.Errorf("read requests: %w", context.Cause(ctx))
	}
	n := count.Load()
	return float64(n) / took.Seconds(), (after - before) / time.Duration(n), nil
}
