package dali

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"svc.internal/controller/appliance"
)

// Scan asks every short address whether somebody is there, then what it is, and at
// last whether there is gear without an address. An answer that is garbled means
// that several gears share an address.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := max(opts.First, 0), opts.Last
	if last <= 0 || last >= Shorts {
		last = Shorts - 1
	}
	return func(yield func(appliance.ScanStep) bool) {
		for n := first; n <= last; n++ {
			var found identity
			if !yield(d.presence(n, &found)) {
				return
			}
			if found.there && !yield(d.identify(n)) {
				return
			}
		}
		yield(d.strangers())
	}
}

// identity is what a scan learned of an address.
type identity struct{ there bool }

func (d *Driver) probe(seq []Send, got *[]Answer) appliance.Exchange {
	return appliance.Exchange{
		Airtime: d.wire.airtime(seq...), Worst: d.wire.worst(seq...),
		Do: func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
			answers, sent, err := d.wire.transmit(ctx, y, seq...)
			*got = answers
			return appliance.Result{Sent: sent}, err
		},
	}
}

func (d *Driver) presence(n int, found *identity) appliance.ScanStep {
	var got []Answer
	return appliance.ScanStep{
		Exchange: d.probe([]Send{Command(Short(n), OpQueryStatus)}, &got), Address: gearKey(n),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			f := appliance.Found{Address: gearKey(n)}
			switch {
			case errors.Is(err, appliance.ErrDamaged):
				f.Detail = err.Error()
				return f, true
			case err != nil || !got[0].Yes():
				return appliance.Found{}, false
			case got[0].Kind == AnswerGarbled:
				f.Detail = "garbled answer: several gears share this address; commissioning gives them addresses of their own"
				return f, true
			}
			found.there = true
			f.Detail = describeStatus(got[0].Value)
			return f, true
		},
	}
}

func describeStatus(s byte) string {
	words := []string{"answers"}
	for _, b := range []struct {
		bit  byte
		word string
	}{{StatusGearFailure, "gear failure"}, {StatusLampFailure, "lamp failure"}, {StatusLampOn, "lamp on"}, {StatusReset, "in reset state"}, {StatusPowerCycled, "power was cycled"}} {
		if s&b.bit != 0 {
			words = append(words, b.word)
		}
	}
	return strings.Join(words, ", ")
}

// identify asks one gear for its device type, limits and colour types.
func (d *Driver) identify(n int) appliance.ScanStep {
	var got []Answer
	to := Short(n)
	seq := []Send{Command(to, OpQueryDeviceType), Command(to, OpQueryMin), Command(to, OpQueryMax), enableColour, Command(to, OpColourTypes)}
	return appliance.ScanStep{
		Exchange: d.probe(seq, &got), Address: gearKey(n),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			if err != nil {
				return appliance.Found{}, false
			}
			for _, a := range got {
				if a.Kind == AnswerGarbled {
					return appliance.Found{Address: gearKey(n), Detail: "garbled answers: several gears share this address; commissioning gives them addresses of their own"}, true
				}
			}
			kind, what := kindOf(got[0], got[4])
			f := appliance.Found{Address: gearKey(n), Kind: kind, Detail: what}
			if got[1].Kind == AnswerValue && got[2].Kind == AnswerValue {
				c := curves["standard"]
				f.Detail += fmt.Sprintf("; levels %d to %d (%d to %d %%)", got[1].Value, got[2].Value, c.levelOf(got[1].Value), c.levelOf(got[2].Value))
			}
			return f, true
		},
	}
}

// kindOf guesses the profile from the device type and the colour types.
func kindOf(deviceType, colour Answer) (kind, detail string) {
	if colour.Kind == AnswerValue {
		switch {
		case colour.Value>>5 >= 3:
			return "dali-dt8-rgbw", fmt.Sprintf("device type 8, %d colour channels", colour.Value>>5)
		case colour.Value&2 != 0:
			return "dali-dt8-tc", "device type 8, colour temperature"
		}
	}
	if deviceType.Kind != AnswerValue {
		return "dali-dt6", "device type not told"
	}
	switch deviceType.Value {
	case deviceTypeLED:
		return "dali-dt6", "device type 6, LED"
	case deviceTypeSwitch:
		return "dali-switch", "device type 7, switching"
	case Mask:
		return "dali-dt6", "several device types"
	}
	return "dali-dt6", fmt.Sprintf("device type %d", deviceType.Value)
}

// strangers asks whether there is gear without a short address.
func (d *Driver) strangers() appliance.ScanStep {
	var got []Answer
	return appliance.ScanStep{
		Exchange: d.probe([]Send{Command(Unaddressed, OpQueryPresent)}, &got), Address: "none",
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			if err != nil || !got[0].Yes() {
				return appliance.Found{}, false
			}
			return appliance.Found{Address: "none", Detail: "there is gear without a short address; commissioning gives it one"}, true
		},
	}
}
