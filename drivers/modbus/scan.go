package modbus

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// Time-outs of the probes of a scan. They are short, as most addresses are empty;
// a gateway needs longer than the serial line behind it.
const (
	probeTimeout    = 100 * time.Millisecond
	probeTCPTimeout = time.Second
)

// Scan asks every unit for holding register 0: any answer, an exception too,
// means that somebody is there. Who answers is then asked for the numbers by
// which profiles recognise their devices; a hit is yielded as a second Found for
// the same address, with Kind set.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := max(opts.First, 1), opts.Last
	if last == 0 || last > 247 {
		last = 247
	}
	return func(yield func(appliance.ScanStep) bool) {
		for n := first; n <= last; n++ {
			there := false
			if !yield(d.presence(byte(n), &there)) {
				return
			}
			if there && !d.identify(byte(n), yield) {
				return
			}
		}
	}
}

// probe reads something with the time-outs of a scan.
func (d *Driver) probe(r request, got *answer) appliance.Exchange {
	u := &unit{number: r.unit, key: unitKey(r.unit), profile: &Profile{}, timeout: d.probeTimeout(), guard: d.options.guard}
	return d.exchange(u, r, func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		a, reply, err := d.ask(ctx, y, r, timing{timeout: u.timeout, guard: u.guard})
		*got = a
		return appliance.Result{Sent: reply.Sent}, err
	})
}

func (d *Driver) probeTimeout() time.Duration {
	switch {
	case d.options.responseTimeout > 0:
		return d.options.responseTimeout
	case d.codec.tcp:
		return probeTCPTimeout
	}
	return probeTimeout
}

func (d *Driver) presence(unit byte, there *bool) appliance.ScanStep {
	found := appliance.Found{Address: unitKey(unit)}
	return appliance.ScanStep{
		Exchange: d.probe(request{unit: unit, fn: readHolding, qty: 1}, new(answer)),
		Address:  found.Address,
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			var exception *Exception
			switch {
			case err == nil:
				found.Detail = "answers"
			case errors.Is(err, appliance.ErrDamaged):
				found.Detail = "garbled answer: several devices at this address, or another baud rate or parity"
				return found, true
			case errors.As(err, &exception) && !errors.Is(err, appliance.ErrSilent):
				found.Detail = "answers with an exception: " + exceptionName(exception.Code)
			default:
				return appliance.Found{}, false
			}
			*there = true
			return found, true
		},
	}
}

// identify asks a unit for its identification, and then tries the profiles.
func (d *Driver) identify(unit byte, yield func(appliance.ScanStep) bool) bool {
	var said answer
	known := false
	q := request{unit: unit, fn: readDeviceID}
	if !yield(appliance.ScanStep{Exchange: d.probe(q, &said), Address: unitKey(unit),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			if err != nil || len(said.id) == 0 {
				return appliance.Found{}, false
			}
			return appliance.Found{Address: unitKey(unit), Detail: "calls itself " + strings.Join(said.id, ", ")}, true
		}}) {
		return false
	}
	profiles := builtin()
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		p := profiles[name]
		fits := len(p.Identify) > 0 && !known
		for i := 0; fits && i < len(p.Identify); i++ {
			if !yield(d.fingerprint(unit, p, i, &fits)) {
				return false
			}
		}
		known = known || fits
	}
	return true
}

// fingerprint is one check of a profile. The last one that fits names it.
func (d *Driver) fingerprint(unit byte, p *Profile, i int, fits *bool) appliance.ScanStep {
	check := p.Identify[i]
	var got answer
	q := request{unit: unit, fn: check.At.Table.reads(), addr: uint16(check.At.Address), qty: uint16(check.At.words())}
	return appliance.ScanStep{Exchange: d.probe(q, &got), Address: unitKey(unit),
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) {
			*fits = false
			if err != nil {
				return appliance.Found{}, false
			}
			x := float64(got.word())
			if !check.At.Table.bits() {
				x = check.At.number(got.words)
			}
			*fits = x >= check.Min && x <= check.Max
			if !*fits || i < len(p.Identify)-1 {
				return appliance.Found{}, false
			}
			return appliance.Found{Address: unitKey(unit), Kind: p.Name, Detail: fmt.Sprintf("looks like a %s", p.Title)}, true
		}}
}
