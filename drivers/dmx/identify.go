package dmx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

var _ appliance.Identifier = (*Driver)(nil)

const (
	// identifyFor is how long an RDM device shows itself.
	identifyFor = 10 * time.Second
	// identifyBlinks is how often a fixture without RDM blinks.
	identifyBlinks = 3
	// identifyEnd bounds all of it, should the interface be slow.
	identifyEnd = 20 * time.Second
)

// Identify makes a fixture show itself. An address is the UID of an RDM device, such
// as 7a70:00012345, which then does for ten seconds what its maker thought of; or
// the number of a slot, 1 to 512: the lamps of the node that has it blink. The
// exchange is over once the first frame is out; the rest follows between the bus's
// other frames and ends by itself.
func (d *Driver) Identify(address string) (appliance.Exchange, error) {
	airtime, worst := d.out.busy(d.slots())
	e := appliance.Exchange{Device: d.device, Airtime: airtime, Worst: worst}
	if strings.Contains(address, ":") {
		uid, err := ParseUID(address)
		if err != nil {
			return e, fmt.Errorf("bus %s: %w", d.name, err)
		}
		e.Worst += d.options.rdmTimeout
		e.Do = func(ctx context.Context, _ appliance.Yield) (appliance.Result, error) {
			return appliance.Result{}, d.identifyDevice(ctx, uid)
		}
		return e, nil
	}
	node, err := d.nodeAt(address)
	if err != nil {
		return e, fmt.Errorf("bus %s: %w", d.name, err)
	}
	e.Do = func(context.Context, appliance.Yield) (appliance.Result, error) {
		return appliance.Result{}, d.identifyNode(node)
	}
	return e, nil
}

// nodeAt finds the node that has a slot.
func (d *Driver) nodeAt(address string) (appliance.ID, error) {
	slot, err := strconv.Atoi(address)
	if err != nil || slot < 1 || slot > UniverseSlots {
		return 0, fmt.Errorf(`address %q: want a slot, "1" to "512", or the UID of an RDM device, such as 7a70:00012345`, address)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.order {
		if slices.Contains(l.out.slots(), slot) {
			return l.ref.Node, nil
		}
	}
	return 0, fmt.Errorf("slot %d: %w: no lamp of this site uses it", slot, appliance.ErrNotFound)
}

func (d *Driver) identifyDevice(ctx context.Context, uid UID) error {
	if err := d.ShowItself(ctx, uid, true); err != nil {
		return err
	}
	err := d.behind(func(ctx context.Context) error {
		_ = line.Wait(ctx, identifyFor) // whoever goes by now stops it all the same
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return d.ShowItself(last, uid, false)
	})
	if err != nil { // nobody would stop it
		err = errors.Join(err, d.ShowItself(ctx, uid, false))
	}
	return err
}

func (d *Driver) identifyNode(node appliance.ID) error {
	if err := d.Link(); err != nil {
		return err
	}
	return d.behind(func(ctx context.Context) error { return d.Blink(ctx, node, identifyBlinks) })
}

// behind lets Run do something that outlives the exchange it was begun in.
func (d *Driver) behind(do func(context.Context) error) error {
	select {
	case d.later <- do:
		return nil
	default:
		return fmt.Errorf("bus %s: %w: others are still showing themselves", d.name, appliance.ErrBusy)
	}
}

// doLater does what was left to it, one after the other, until ctx ends.
func (d *Driver) doLater(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case do := <-d.later:
			bounded, cancel := context.WithTimeout(ctx, identifyEnd)
			if err := do(bounded); err != nil && ctx.Err() == nil {
				d.log.Warn("identifying did not come to its end", "error", err)
			}
			cancel()
		}
	}
}
