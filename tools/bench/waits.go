package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	waitUnits  = 16 // of which the first half leaves requests unanswered
	movingUnit = waitUnits + 1
	// moves that are queued before a STOP; three shades a unit.
	moves     = 50
	stopUnit  = movingUnit + (moves+2)/3
	stopShade = 5001 + moves
)

// measureWaits puts the daemon on a slow line with devices that now and then do
// not answer, which is when a command waits longest, and compares with the bound
// that the daemon publishes for that bus. Then it queues moves and stops a shade.
func measureWaits(ctx context.Context, r *run) error {
	g, err := r.rig(ctx, "waits", 9600, "{baudRate: 9600, parity: none, stopBits: 2}", waitUnits, shadeSite(), func(w *wire) {
		for u := byte(1); u <= waitUnits/2; u++ {
			w.drops[u] = 5 + uint64(u)
		}
	})
	if err != nil {
		return err
	}
	defer g.end()
	// The last unit is asked last.
	if _, _, err := g.find(0, 30*time.Second, func(f frame) bool { return f.unit == stopUnit && f.answered }); err != nil {
		return err
	}
	return errors.Join(r.worstWait(ctx, g), r.stopOvertakes(ctx, g))
}

// shadeSite has shades on relay boards, the last of them on a board of its own.
func shadeSite() string {
	var nodes, shades strings.Builder
	for u := movingUnit; u <= stopUnit; u++ {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Relays %d, bus: bench, address: %d, profile: wirenboard-wb-mr6c}\n", u, u, u)
	}
	for i := range moves {
		fmt.Fprintf(&shades, "  - {id: %d, name: Shade %d, node: %d, output: %d, travelUp: 30s, travelDown: 30s}\n", 5001+i, i+1, movingUnit+i/3, 1+i%3)
	}
	fmt.Fprintf(&shades, "  - {id: %d, name: Shade to stop, node: %d, output: 1, travelUp: 30s, travelDown: 30s}\n", stopShade, stopUnit)
	return nodes.String() + "shades:\n" + shades.String()
}

// worstWait sends commands to the devices that answer, while the others are being
// polled and sometimes do not.
func (r *run) worstWait(ctx context.Context, g *rig) error {
	bound, err := g.metric(`controller_bus_wait_bound_seconds{bus="bench"}`)
	if err != nil {
		return err
	}
	c, err := dial(g.address, g.pem)
	if err != nil {
		return err
	}
	defer c.close()
	var got sample
	begun, unanswered := g.count(), 0
	for i := range r.commands / 2 {
		if err := ctx.Err(); err != nil {
			return err
		}
		sleepUntil(now().add(50*time.Millisecond + time.Duration(rand.Int64N(int64(100*time.Millisecond)))))
		from := g.count()
		req := dim(g.token, waitUnits/2+1+rand.IntN(waitUnits/2), 1+rand.IntN(10), 1+i%100)
		sent := now()
		if body, err := c.do(req); err != nil || strings.TrimSpace(string(body)) != `{"status":1}` {
			return fmt.Errorf("command answered %s (%v)", body, err)
		}
		f, _, err := g.find(from, time.Second, frame.writes)
		if err != nil {
			return err
		}
		got = append(got, f.at.sub(sent))
	}
	for _, f := range g.frames(begun) {
		if !f.answered {
			unanswered++
		}
	}
	limit := time.Duration(bound * float64(time.Second))
	r.table.atMost(fmt.Sprintf("worst wait of %d commands at 9600 baud, %d polls unanswered", len(got), unanswered), ms(got.worst()), ms(limit)+" published",
		fmt.Sprintf("%.3f", times(got.worst(), limit)), times(got.worst(), limit), 1, "1")
	r.table.note("  p50, p99", ms(got.at(0.5))+", "+ms(got.at(0.99)), "", "")
	return nil
}

// stopOvertakes queues moves from many clients at once, and a STOP behind them.
func (r *run) stopOvertakes(ctx context.Context, g *rig) error {
	c, err := dial(g.address, g.pem)
	if err != nil {
		return err
	}
	defer c.close()
	from := g.count()
	var wg sync.WaitGroup
	defer wg.Wait()
	failed := make(chan error, moves)
	for i := range moves {
		mover, err := dial(g.address, g.pem)
		if err != nil {
			return err
		}
		wg.Go(func() {
			defer mover.close()
			// Some of them will be told that they came too late: the line is slow.
			if _, err := mover.do(shade(g.token, 5001+i, "UP")); err != nil {
				failed <- err
			}
		})
	}
	isMove := func(f frame) bool { return f.writes() && f.unit >= movingUnit && f.unit < stopUnit }
	if _, _, err = g.find(from, 5*time.Second, isMove); err != nil {
		return err
	}
	if err := g.awaitQueue(ctx, moves*3/4); err != nil {
		return err
	}
	before := g.count()
	sent := now()
	body, err := c.do(shade(g.token, stopShade, "STOP"))
	if err != nil {
		return err
	}
	f, _, err := g.find(before, time.Second, func(f frame) bool { return f.writes() && f.unit == stopUnit })
	if err != nil {
		return err
	}
	ahead := 0
	for _, other := range g.frames(from) {
		// What was on the wire already when the STOP was sent was not overtaken.
		if other.at > sent && other.at < f.at {
			ahead++
		}
	}
	later := 0
	for _, other := range g.frames(from) {
		if isMove(other) && other.at > f.at {
			later++
		}
	}
	what := fmt.Sprintf("STOP behind %d queued moves: frames begun before its own", moves)
	r.table.atMost(what, fmt.Sprint(ahead), "1 in flight", "", float64(ahead), 1, "1")
	r.table.note(fmt.Sprintf("  first bit after %s, last bit after %s; %d writes of moves came after it; answered %s", ms(f.at.sub(sent)), ms(f.end.sub(sent)), later,
		strings.TrimSpace(string(body))), "", "", "")
	wg.Wait()
	close(failed)
	return <-failed // nil if there was none
}

// awaitQueue waits until that many commands wait for the bus. The metric is
// renewed once a second; the queue is deep for longer.
func (g *rig) awaitQueue(ctx context.Context, n int) error {
	deadline := time.Now().Add(3 * time.Second)
	for {
		queue, err := g.metric(`controller_bus_queue{bus="bench"}`)
		if err != nil || int(queue) >= n {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("only %v commands are queued, want %d", queue, n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// shade is the request for one motion.
func shade(token string, id int, command string) []byte {
	return request(http.MethodPost, "/svc/api/shadeControl", token, fmt.Sprintf(`{"targetType":3,"targetId":%d,"command":%q}`, id, command))
}
