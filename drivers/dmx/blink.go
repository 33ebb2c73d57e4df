package dmx

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// blinkTime is how long a blinking fixture stays in one of its two states.
const blinkTime = 400 * time.Millisecond

// Blink shows which fixture a node is: its lamps go to full if they are dim and
// out if they are bright, times times, and are left as they were. It needs no
// RDM. Safe to call from any goroutine while Run runs; commands pass meanwhile.
func (d *Driver) Blink(ctx context.Context, node appliance.ID, times int) error {
	var lamps []*lamp
	d.mu.Lock()
	for _, l := range d.order {
		if l.ref.Node == node {
			lamps = append(lamps, l)
		}
	}
	d.mu.Unlock()
	if len(lamps) == 0 {
		return fmt.Errorf("node %d on bus %s: %w", node, d.name, appliance.ErrNotFound)
	}
	for range times {
		if err := d.flash(ctx, lamps, true); err != nil {
			return err
		}
		waited := line.Wait(ctx, blinkTime)
		// What was lit is put right even if nobody waits for it any more.
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		err := d.flash(back, lamps, false)
		cancel()
		if err != nil {
			return err
		}
		if waited != nil {
			return waited
		}
		if err := line.Wait(ctx, blinkTime); err != nil {
			return err
		}
	}
	return nil
}

// flash sends the universe with some lamps turned over, or as it is.
func (d *Driver) flash(ctx context.Context, lamps []*lamp, over bool) error {
	d.remember()
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	var changed map[*lamp]lampState
	if over {
		changed = make(map[*lamp]lampState, len(lamps))
		d.mu.Lock()
		for _, l := range lamps {
			s := l.state
			s.level = 100
			if l.state.level >= 50 {
				s.level = 0
			}
			changed[l] = s
		}
		d.mu.Unlock()
	}
	slots, _ := d.universe(changed)
	if _, err := d.out.show(ctx, appliance.Yield{}, slots); err != nil {
		return fmt.Errorf("blink: %w", err)
	}
	return nil
}
