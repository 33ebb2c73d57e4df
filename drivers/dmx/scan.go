package dmx

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"svc.internal/controller/appliance"
)

// Scan finds RDM devices (through a USB Pro) and asks each what it is. Found are
// their start slots, with the UID in the detail; First and Last narrow the start
// slots shown. Fixtures without RDM cannot be found by anybody.
func (d *Driver) Scan(opts appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	first, last := opts.First, opts.Last
	if last == 0 {
		last = UniverseSlots
	}
	return func(yield func(appliance.ScanStep) bool) {
		var search discovery
		over := false
		for !over {
			step, ok := search.next()
			if !ok {
				break
			}
			var h heard
			if !yield(d.scanStep(step.String(), func(ctx context.Context) (err error) {
				h, err = d.perform(ctx, step)
				return err
			}, func(err error) (appliance.Found, bool) {
				if err != nil {
					over = true
					return failed(err)
				}
				search.heard(step, h)
				return appliance.Found{}, false
			})) {
				return
			}
		}
		if !over {
			d.describe(search.found, first, last, yield)
		}
		if err := search.err(); err != nil && !over {
			yield(d.scanStep("result", func(context.Context) error { return nil }, func(error) (appliance.Found, bool) {
				return appliance.Found{Address: "RDM", Detail: err.Error()}, true
			}))
		}
	}
}

// failed ends a scan. What a technician can change is shown like a device.
func failed(err error) (appliance.Found, bool) {
	told := errors.Is(err, appliance.ErrRefused) || errors.Is(err, appliance.ErrUnable) || errors.Is(err, appliance.ErrSilent)
	return appliance.Found{Address: "widget", Detail: err.Error()}, told
}

// scanStep wraps one transaction.
func (d *Driver) scanStep(address string, do func(context.Context) error, judge func(error) (appliance.Found, bool)) appliance.ScanStep {
	airtime, worst := d.out.busy(max(d.length, d.options.slots))
	return appliance.ScanStep{
		Address: address,
		Exchange: appliance.Exchange{
			Device: d.device, Airtime: airtime, Worst: worst + d.options.rdmTimeout,
			Do: func(ctx context.Context, _ appliance.Yield) (appliance.Result, error) {
				return appliance.Result{}, do(ctx)
			},
		},
		Judge: func(_ appliance.Result, err error) (appliance.Found, bool) { return judge(err) },
	}
}

// describe asks the devices that were found what they are.
func (d *Driver) describe(found []UID, first, last int, yield func(appliance.ScanStep) bool) {
	owner := make(map[int]UID)
	for _, uid := range found {
		var info DeviceInfo
		if !yield(d.scanStep(uid.String(), func(ctx context.Context) (err error) {
			info, err = d.DeviceInfo(ctx, uid)
			return err
		}, func(err error) (appliance.Found, bool) {
			if err != nil {
				return appliance.Found{Address: uid.String(), Detail: "is there, but does not say what it is: " + err.Error()}, true
			}
			f := appliance.Found{Address: strconv.Itoa(info.StartAddress), Kind: guess(info), Detail: explain(uid, info)}
			for slot := info.StartAddress; slot < info.StartAddress+info.Footprint; slot++ {
				if other, taken := owner[slot]; taken && other != uid {
					f.Detail += fmt.Sprintf("; overlaps with %v at slot %d", other, slot)
					break
				}
				owner[slot] = uid
			}
			return f, info.StartAddress == 0 || info.StartAddress >= first && info.StartAddress <= last
		})) {
			return
		}
	}
}

// guess names a built-in profile by the number of slots. It is a guess: what the
// slots mean only the fixture's manual says.
func guess(info DeviceInfo) string {
	return map[int]string{1: "dmx-dimmer", 3: "dmx-rgb", 4: "dmx-rgbw"}[info.Footprint]
}

func explain(uid UID, info DeviceInfo) string {
	if info.Footprint == 0 {
		return fmt.Sprintf("RDM device %v, model %04X, takes no slots", uid, info.Model)
	}
	return fmt.Sprintf("RDM device %v, model %04X, slots %d to %d, personality %d of %d",
		uid, info.Model, info.StartAddress, info.StartAddress+info.Footprint-1, info.Personality, info.Personalities)
}
