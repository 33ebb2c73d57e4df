package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

const (
	pollUnits = 32
	pollBaud  = 19200
	pollLine  = "{baudRate: 19200, parity: even, stopBits: 1}"
	// readLength and answerLength of a poll of ten registers, and the length of
	// a command's frame.
	readLength, answerLength, writeLength = 8, 25, 8
)

// exchangeTime is how long a poll occupies the wire: its characters, and a
// silence before the request and one before the answer.
func (w *wire) exchangeTime() time.Duration {
	return (readLength+answerLength)*w.char + 2*w.silence
}

// rtuSite is a line with that many units, polled as fast as the wire allows: the
// freshness asked for is more than it can do.
func rtuSite(port, line string, units int, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "site: {name: Line, freshness: {light: 100ms}}\nbuses:\n  - {name: bench, driver: modbus, port: %q, line: %s}\nnodes:\n", port, line)
	for i := range units {
		fmt.Fprintf(&b, "  - {id: %d, name: Unit %d, bus: bench, address: %d, profile: ten-registers}\n", i+1, i+1, i+1)
	}
	return b.String() + more
}

// rig is a daemon and the serial line it runs.
type rig struct {
	*daemon
	*wire
}

func (r *run) rig(ctx context.Context, name string, baud int, line string, units int, more string, prepare func(*wire)) (*rig, error) {
	w, err := newWire(baud)
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		prepare(w)
	}
	dataDir, err := r.prepare(ctx, name, rtuSite(w.pty.SlavePath(), line, units, more))
	if err != nil {
		w.close()
		return nil, err
	}
	d, err := r.serve(ctx, dataDir)
	if err == nil {
		err = d.login()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return &rig{d, w}, nil
}

func (g *rig) end() {
	g.stop()
	g.wire.close()
}

// measurePolling polls 32 units of ten registers at 19200 8E1 as fast as the wire
// allows, with one unit that never answers, and with commands in between.
func measurePolling(ctx context.Context, r *run) error {
	g, err := r.rig(ctx, "polling", pollBaud, pollLine, pollUnits, "", nil)
	if err != nil {
		return err
	}
	err = errors.Join(r.pollFor(ctx, g, "RTU polling, 32 units × 10 registers, 19200 8E1", 0.98), r.commandsWhilePolling(ctx, g))
	g.end()
	if err != nil {
		return err
	}
	g, err = r.rig(ctx, "polling-dead", pollBaud, pollLine, pollUnits, "", func(w *wire) { w.silent[7] = true })
	if err != nil {
		return err
	}
	defer g.end()
	return r.pollFor(ctx, g, "the same with one unit that never answered, from the start", 0.95)
}

// measureBytes measures what polling takes of the processor when bytes come one by one, as
// from an adapter that hands on each.
func measureBytes(ctx context.Context, r *run) error {
	g, err := r.rig(ctx, "polling-apart", pollBaud, pollLine, pollUnits, "", func(w *wire) { w.apart = true })
	if err != nil {
		return err
	}
	defer g.end()
	began, from := time.Now(), g.count()
	cpu, err := g.cpu()
	if err != nil {
		return err
	}
	switches, err := g.switches()
	if err != nil {
		return err
	}
	if err := r.pollFor(ctx, g, "RTU polling while each byte of an answer comes by itself", 0.98); err != nil {
		return err
	}
	took, polls := time.Since(began), g.count()-from
	cpuAfter, err := g.cpu()
	if err != nil {
		return err
	}
	switchesAfter, err := g.switches()
	if err != nil {
		return err
	}
	part := (cpuAfter - cpu).Seconds() / took.Seconds()
	r.table.atMost("  processor, part of a core", fmt.Sprintf("%.1f %%", 100*part), "", "", part, 0.04, "4 %")
	r.table.note("  context switches of the daemon a poll", fmt.Sprintf("%.1f", float64(switchesAfter-switches)/float64(polls)), "", "")
	return nil
}

// pollFor counts polls for a while.
func (r *run) pollFor(ctx context.Context, g *rig, what string, bound float64) error {
	_, from, err := g.find(g.count(), 10*time.Second, func(f frame) bool { return f.answered })
	if err != nil {
		return err
	}
	select {
	case <-time.After(r.poll):
	case <-ctx.Done():
		return ctx.Err()
	}
	frames := g.frames(from)
	polls, short, missed := 0, 0, 0
	var gaps sample
	for i, f := range frames {
		if f.answered && i > 0 {
			polls++
		}
		if !f.answered {
			missed++
		}
		if f.first {
			continue
		}
		if gaps = append(gaps, f.gap); f.gap < g.silence {
			short++
		}
	}
	took := frames[len(frames)-1].at.sub(frames[0].at)
	rate := float64(polls) / took.Seconds()
	theory := float64(time.Second) / float64(g.exchangeTime())
	r.table.atLeast(what, fmt.Sprintf("%.2f /s", rate), fmt.Sprintf("%.2f /s", theory), fmt.Sprintf("%.4f", rate/theory), rate/theory, bound, fmt.Sprint(bound))
	r.table.atMost(fmt.Sprintf("  requests that broke t3.5, of %d (%d unanswered)", len(frames), missed), fmt.Sprint(short),
		"", "", float64(short), 0, "0")
	r.table.note("  silence before a request: shortest, p50, p99", fmt.Sprintf("%s, %s, %s", ms(gaps.at(0)), ms(gaps.at(0.5)), ms(gaps.at(0.99))),
		fmt.Sprintf("%.3f ms", g.silence.Seconds()*1e3), "")
	g.mu.Lock()
	defer g.mu.Unlock()
	r.table.note("  the measuring device itself was late by, p50 and worst", us(g.late.at(0.5))+", "+us(g.late.worst()), "", "")
	return nil
}

// commandsWhilePolling times the way from an HTTP request to the last bit of its
// write. In theory that is the rest of the exchange in progress, which a command
// finds at a random moment, and its own frame.
func (r *run) commandsWhilePolling(ctx context.Context, g *rig) error {
	c, err := dial(g.address, g.pem)
	if err != nil {
		return err
	}
	defer c.close()
	var got sample
	for i := range r.commands {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The last command left the polls in step with us: only a pause spread
		// evenly over whole exchanges finds every moment of one equally often.
		sleepUntil(now().add(60*time.Millisecond + time.Duration(rand.Int64N(3*int64(g.exchangeTime())))))
		level := 1 + i%100
		from := g.count()
		req := dim(g.token, 1+rand.IntN(pollUnits), 1+rand.IntN(10), level)
		sent := now()
		if body, err := c.do(req); err != nil || strings.TrimSpace(string(body)) != `{"status":1}` {
			return fmt.Errorf("command answered %s (%v)", body, err)
		}
		f, _, err := g.find(from, time.Second, frame.writes)
		if err != nil {
			return err
		}
		if int(f.value) != level {
			return fmt.Errorf("the wire saw level %d, want %d", f.value, level)
		}
		got = append(got, f.end.sub(sent))
	}
	own := writeLength * g.char
	for _, q := range []struct {
		name string
		part float64
	}{{"HTTP command while polled at full rate, last bit on the wire, p50", 0.5}, {"  p99", 0.99}} {
		theory := time.Duration(q.part*float64(g.exchangeTime())) + own
		r.table.atMost(q.name, ms(got.at(q.part)), ms(theory), fmt.Sprintf("%.3f", times(got.at(q.part), theory)), times(got.at(q.part), theory), 1.1, "1.1")
	}
	r.table.note(fmt.Sprintf("  worst of %d", len(got)), ms(got.worst()), ms(g.exchangeTime()+own), fmt.Sprintf("%.3f", times(got.worst(), g.exchangeTime()+own)))
	return nil
}

// dim is the request for a level of one channel.
func dim(token string, node, channel, level int) []byte {
	return request(http.MethodPost, "/svc/api/channelControl", token,
		fmt.Sprintf(`{"targetType":3,"targetId":%d,"channelId":%d,"command":"DIM","dimLevel":%d}`, node, channel, level))
}
