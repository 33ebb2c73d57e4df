package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// The tables of groups are read once after the start, beside the polls: on the
	// slowest line, that of the motors, for three minutes and a half. What they
	// hold is on the disk soon after.
	groupsTime  = 10 * time.Minute
	settleTime  = 10 * time.Second
	starts      = 15
	startBound  = 200 * time.Millisecond
	memoryBound = 32_000_000 // bytes
	dayBound    = 10_000_000 // bytes
)

// grouped are the buses of the demo site whose devices hold tables of groups.
var grouped = []string{"tower", "shades-tower"}

// measureDemo runs the site of make run: how soon the first answer comes, what the
// daemon takes when nobody wants anything, and how much it writes.
func measureDemo(ctx context.Context, r *run) error {
	building, dataDir, err := r.demo(ctx)
	if err != nil {
		return err
	}
	defer building.stop()
	if err := r.firstAnswers(ctx, dataDir); err != nil {
		return err
	}
	return r.idleHours(ctx, dataDir)
}

// demo starts the simulated building of the demo site.
func (r *run) demo(ctx context.Context) (building *process, dataDir string, err error) {
	template, err := os.ReadFile("demo/site.yaml.in")
	if err != nil {
		return nil, "", fmt.Errorf("%w: run this from the root of the project", err)
	}
	var ports [3]string
	for i := range ports {
		address, err := freeAddress()
		if err != nil {
			return nil, "", err
		}
		if _, ports[i], err = net.SplitHostPort(address); err != nil {
			return nil, "", err
		}
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		return nil, "", err
	}
	site := strings.NewReplacer("@RUN@", dir, "@PORT_OFFICES@", ports[0], "@PORT_ANNEX@", ports[1]).Replace(string(template))
	if dataDir, err = r.prepare(ctx, "demo", site); err != nil {
		return nil, "", err
	}
	control := "127.0.0.1:" + ports[2]
	building, err = r.start(ctx, false, filepath.Join(r.bin, "simbuilding"), "--site", filepath.Join(dir, "demo.yaml"), "--listen", control)
	if err != nil {
		return nil, "", err
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		res, err := http.Get("http://" + control + "/devices")
		if err == nil {
			res.Body.Close()
			return building, dataDir, nil
		}
		if time.Now().After(deadline) {
			building.stop()
			return nil, "", fmt.Errorf("simbuilding does not answer after 10 s: %w", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// firstAnswers starts the daemon again and again. The first start makes a
// certificate besides.
func (r *run) firstAnswers(ctx context.Context, dataDir string) error {
	var took sample
	var first time.Duration
	for i := range starts + 1 {
		d, err := r.serve(ctx, dataDir)
		if err != nil {
			return err
		}
		_, err = d.sample(request(http.MethodGet, "/healthz", "", ""))
		t := time.Since(d.begun)
		d.stop()
		if err != nil {
			return err
		}
		if i == 0 {
			first = t
		} else {
			took = append(took, t)
		}
	}
	r.table.atMost(fmt.Sprintf("demo site: first HTTPS answer after exec, worst of %d starts", starts), ms(took.worst()), ms(startBound),
		fmt.Sprintf("%.2f", times(took.worst(), startBound)), float64(took.worst()), float64(startBound), "200 ms")
	r.table.note("  median; very first start, which makes the certificate", ms(took.at(0.5))+"; "+ms(first), "", "")
	return nil
}

// idleHours watches a daemon that polls the building and that nobody asks
// anything, after somebody had logged in.
func (r *run) idleHours(ctx context.Context, dataDir string) error {
	d, err := r.serve(ctx, dataDir)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.login(); err != nil {
		return err
	}
	if err := d.awaitOnline(ctx, 120); err != nil {
		return err
	}
	if err := d.counts(ctx); err != nil {
		return err
	}
	// What start and login wrote is not part of an idle day.
	if err := r.awaitGroups(ctx, dataDir); err != nil {
		return err
	}
	if err := wait(ctx, settleTime); err != nil {
		return err
	}
	written, err := d.field("io", "write_bytes")
	if err != nil {
		return err
	}
	cpu, err := d.cpu()
	if err != nil {
		return err
	}
	logged, err := r.logSize("controllerd")
	if err != nil {
		return err
	}
	begun, most := time.Now(), int64(0)
	for time.Since(begun) < r.idle {
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
		rss, err := d.field("status", "VmRSS")
		if err != nil {
			return err
		}
		most = max(most, rss)
	}
	rss, err1 := d.field("status", "VmRSS")
	anon, err2 := d.field("status", "RssAnon")
	file, err3 := d.field("status", "RssFile")
	after, err4 := d.field("io", "write_bytes")
	used, err5 := d.cpu()
	log, err6 := r.logSize("controllerd")
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	watched := time.Since(begun)
	day := float64(after-written) * float64(24*time.Hour) / float64(watched)
	r.table.atMost(fmt.Sprintf("idle memory, most seen in %v (VmRSS)", r.idle), megabytes(most<<10), megabytes(memoryBound),
		fmt.Sprintf("%.2f", float64(most<<10)/memoryBound), float64(most<<10), memoryBound, "32 MB")
	r.table.note("  at the end; of that heap and stacks, program text and data", megabytes(rss<<10)+"; "+megabytes(anon<<10)+", "+megabytes(file<<10), "", "")
	r.table.atMost("written to disk by an idle day, scaled", megabytes(int64(day)), megabytes(dayBound), fmt.Sprintf("%.3f", day/dayBound), day, dayBound, "10 MB")
	r.table.note(fmt.Sprintf("  bytes seen in %v by the kernel's counter; length of the log lines among them", watched.Round(time.Second)), fmt.Sprintf("%d; %d", after-written, log-logged), "", "")
	r.table.note("  processor, of one core", fmt.Sprintf("%.1f %%", 100*float64(used-cpu)/float64(watched)), "", "")
	return nil
}

// awaitGroups waits until the tables of all devices that have one were read.
func (r *run) awaitGroups(ctx context.Context, dataDir string) error {
	deadline := time.Now().Add(groupsTime)
	for _, bus := range grouped {
		for {
			unread, err := r.unreadGroups(ctx, dataDir, bus)
			if err != nil {
				return err
			}
			if unread == 0 {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("bus %s: the tables of %d devices were not read in %v", bus, unread, groupsTime)
			}
			if err := wait(ctx, 2*time.Second); err != nil {
				return err
			}
		}
	}
	return nil
}

// unreadGroups counts the devices of a bus whose table was not read since the start.
func (r *run) unreadGroups(ctx context.Context, dataDir, bus string) (n int, err error) {
	var groups struct {
		Devices []struct{ ReadAt *time.Time }
	}
	out, err := r.ask(ctx, dataDir, "", "bus", "groups", bus, "--json")
	if err == nil {
		err = json.Unmarshal(out, &groups)
	}
	switch {
	case err != nil:
		return 0, err
	case len(groups.Devices) == 0:
		return 0, fmt.Errorf("bus %s: no device with a table of groups", bus)
	}
	for _, d := range groups.Devices {
		if d.ReadAt == nil {
			n++
		}
	}
	return n, nil
}

// counts makes sure that the kernel counts what this daemon writes: on a disk in
// memory it would not, and every figure would be splendid.
func (d *daemon) counts(ctx context.Context) error {
	before, err := d.field("io", "write_bytes")
	if err != nil {
		return err
	}
	c, err := dial(d.address, d.pem)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.do(dim(d.token, 1, 0, 37)); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if after, err := d.field("io", "write_bytes"); err != nil || after > before {
			return err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("the kernel counted nothing when a command was written down; is the directory on a disk?")
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }
