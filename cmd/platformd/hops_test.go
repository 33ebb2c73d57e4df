package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/automation"
	cloudlink "svc.internal/controller/cloud/link"
	"svc.internal/controller/cloud/wire"
)

// hops notes when the last command passed the stations of its way. One command is under way at a time. A nil *hops notes
// nothing.
type hops struct {
	mu                        sync.Mutex
	made, came, began, ending time.Time // on the platform; at the controller; handed to the core; acknowledged by the hardware
}

func (h *hops) arrived(m cloudlink.Message) {
	if h == nil {
		return
	}
	env, err := wire.Open(m.Payload)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made, h.came = env.TS, m.At
}

// over is the core whose commands are noted.
func (h *hops) over(core automation.Core) automation.Core {
	if h == nil {
		return core
	}
	return noted{core, h}
}

type noted struct {
	automation.Core
	hops *hops
}

func (n noted) DoTelling(ctx context.Context, cmd appliance.Command, told func(time.Time)) (appliance.Entry, error) {
	began := time.Now()
	entry, err := n.Core.DoTelling(ctx, cmd, told)
	n.hops.mu.Lock()
	defer n.hops.mu.Unlock()
	n.hops.began, n.hops.ending = began, time.Now()
	return entry, err
}

// names of the parts of a command's way, in order.
var hopNames = []string{"request to platform", "broker to controller", "controller's queue", "bus and hardware", "answer back"}

// parts of the way of the command that was asked for and answered at these times.
func (h *hops) parts(asked, answered time.Time) []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	stations := []time.Time{asked, h.made, h.came, h.began, h.ending, answered}
	var out []time.Duration
	for i := range len(stations) - 1 {
		out = append(out, stations[i+1].Sub(stations[i]))
	}
	return out
}

// acknowledged is when the hardware acknowledged the last command, if that began after a time.
func (h *hops) acknowledged(after time.Time) (at time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ending, h.began.After(after)
}

func quantile(all []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// table tells p50 and p95 of ways and, of each part, its p50 and share of the whole.
func table(name string, whole []time.Duration, parts [][]time.Duration) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d times: p50 %s, p95 %s", name, len(whole), ms(quantile(whole, 0.5)), ms(quantile(whole, 0.95)))
	var sum time.Duration
	for _, d := range whole {
		sum += d
	}
	for i := range parts[0] {
		var of []time.Duration
		var all time.Duration
		for _, p := range parts {
			of = append(of, p[i])
			all += p[i]
		}
		fmt.Fprintf(&b, "; %s %s (%.0f %%)", hopNames[i], ms(quantile(of, 0.5)), 100*float64(all)/float64(sum))
	}
	return b.String()
}
