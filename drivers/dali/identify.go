package dali

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

var _ appliance.Identifier = (*Driver)(nil)

const (
	opQueryVersion = 0x97 // IEC 62386-102, QUERY VERSION NUMBER: 8 for the second edition, 1 for the first
	secondEdition  = 8

	// Polling a gear ends its showing itself; so it is told again this often.
	identifyEach  = 900 * time.Millisecond
	identifyTimes = 10
)

// Identify makes a gear show itself for ten seconds (IDENTIFY DEVICE, IEC 62386-102
// of 2014); its level is afterwards what it was. Gear of the first edition cannot do
// that and is named. An address is a short address, "0" to "63". The exchange asks
// the gear for its edition and tells it once; the rest follows between the bus's
// other frames and ends by itself.
func (d *Driver) Identify(address string) (appliance.Exchange, error) {
	short, err := parseShort(address)
	if err != nil {
		return appliance.Exchange{}, fmt.Errorf("bus %s: %w", d.name, err)
	}
	edition, show := Command(Short(short), opQueryVersion), Command(Short(short), OpIdentify)
	return appliance.Exchange{
		Device: gearKey(short), Airtime: d.wire.airtime(edition, show), Worst: d.wire.worst(edition, show),
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			answers, sent, err := d.wire.transmit(ctx, y, edition, show)
			if err == nil {
				err = canShow(answers[0])
			}
			if err != nil {
				return appliance.Result{Sent: sent}, fmt.Errorf("gear %d: %w", short, err)
			}
			select {
			case <-d.shows: // whoever looks at this one has seen that one
			default:
			}
			d.shows <- show
			return appliance.Result{Sent: sent}, nil
		},
	}, nil
}

// canShow judges the answer to the question for the edition.
func canShow(a Answer) error {
	switch {
	case a.Kind == AnswerGarbled:
		return errors.New("several gears have this address and were told to show themselves")
	case a.Kind != AnswerValue:
		return fmt.Errorf("%w", appliance.ErrSilent)
	case a.Value < secondEdition:
		return fmt.Errorf("%w: it is of the first edition of the standard and cannot show itself; switch it instead", appliance.ErrUnable)
	}
	return nil
}

// showLoop lets gear that was told to show itself go on doing so, until another is
// told to, or ctx ends.
func (d *Driver) showLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case show := <-d.shows:
			d.keepShowing(ctx, show)
		}
	}
}

// keepShowing ends after identifyTimes, when another gear is to show itself, or when the line is lost.
func (d *Driver) keepShowing(ctx context.Context, show Send) {
	ctx, cancel := context.WithTimeout(ctx, (identifyTimes+1)*identifyEach)
	defer cancel()
	for range identifyTimes {
		if line.Wait(ctx, identifyEach) != nil || len(d.shows) > 0 {
			return
		}
		if _, err := d.Transmit(ctx, show); err != nil && ctx.Err() == nil {
			d.log.Warn("identifying did not come to its end", "error", err)
			return
		}
	}
}
