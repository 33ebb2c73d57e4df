package control_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// runWith is run with a driver of one's own.
func runWith(open appliance.OpenFunc, site appliance.Site) (*control.Controller, func()) {
	ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": open}})
	ctl.Apply(site, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- ctl.Run(ctx) }()
	return ctl, func() { cancel(); <-done }
}

// twoReads broadcasts level and colour, and reads each by itself.
type twoReads struct {
	*copper
	colour map[appliance.ID]appliance.RGBW
	blind  bool // nobody tells its colour
	deaf   bool // nobody takes a colour
}

func (d *twoReads) Plan(wants []appliance.Want) []appliance.Chain {
	return d.asking(d.copper.Plan(wants), wants)
}

// Repair is confirmed by reading as well, as it is with DALI.
func (d *twoReads) Repair(wants []appliance.Want) (out []appliance.Chain) {
	for _, w := range wants {
		chain := d.copper.Repair([]appliance.Want{w})
		chain[0].Group = true
		out = append(out, d.asking(chain, []appliance.Want{w})...)
	}
	return out
}

func (d *twoReads) asking(chains []appliance.Chain, wants []appliance.Want) []appliance.Chain {
	for i, ch := range chains {
		if !ch.Group || !wants[0].Has.Has(appliance.CanColour) {
			continue
		}
		for _, w := range wants {
			e := d.exchange(w.Node, false, "read colour", func() []appliance.Reading {
				return []appliance.Reading{{Ref: w.Ref, Values: appliance.Values{Has: appliance.CanColour, RGBW: d.colour[w.Node]}, At: time.Now()}}
			})
			told := e.Do
			e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
				res, err := told(ctx, y)
				if d.blind {
					return appliance.Result{Sent: res.Sent}, appliance.ErrDamaged
				}
				return res, err
			}
			chains[i].Verify = append(chains[i].Verify, e)
		}
		if !d.deaf {
			for _, w := range wants {
				d.colour[w.Node] = w.RGBW
			}
		}
	}
	return chains
}

// A broadcast of level and colour, of which the colour was neither taken nor read.
func TestGroupFrameHalfProven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		c.group = true
		d := &twoReads{copper: c, colour: map[appliance.ID]appliance.RGBW{}, blind: true, deaf: true}
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			for _, chs := range o.Channels {
				chs[0].Abilities |= appliance.CanColour
			}
			o.Driver = d
			return o, err
		}, siteOf("dimmer", "dimmer"))
		defer stop()
		time.Sleep(time.Second)
		e := do(t, ctl, appliance.Command{Kind: appliance.LightRGBW, Target: everything, RGBW: appliance.RGBW{R: 200}, Level: 50})
		if e.OK() {
			t.Errorf("reported as done, and the lamps have the colour %v: %+v", d.colour, e.Members)
		}
	})
}

// An import with a slip in the entry of a shade that is on its way, or that disables its bus.
func TestImportQuarantinesAShadeOnItsWay(t *testing.T) {
	for name, slip := range map[string]func(*appliance.Site, *bool){
		"entry broken": func(_ *appliance.Site, broken *bool) { *broken = true },
		"bus disabled": func(s *appliance.Site, _ *bool) { s.Buses[0].Disabled = true },
		"bus unknown":  func(s *appliance.Site, _ *bool) { s.Buses[0].Driver = "coper" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				broken := false
				ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
					o, err := c.open(cfg)
					if broken {
						delete(o.Shades, 5001)
						o.BrokenShades = map[appliance.ID]error{5001: errors.New("no such output")}
					}
					return o, err
				}, siteOf("shade"))
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				do(t, ctl, position(5001, 50))
				time.Sleep(2 * time.Second)
				site := siteOf("shade", "dimmer")
				slip(&site, &broken)
				_, mark := c.frames(0)
				ctl.Apply(site, nil)
				time.Sleep(time.Minute)
				if m := c.moving(5001); m != appliance.Stopped {
					t.Errorf("the relay is still %v a minute later, place %.0f, told %q", m, c.place(5001), writes(c, mark))
				}
			})
		})
	}
}

// An import removes shades on their way; the devices of some do not answer.
func TestRemovedShadesBehindTheDead(t *testing.T) {
	for _, dead := range []int{0, 1, 2} {
		t.Run(fmt.Sprint(dead, " dead"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				site := siteOf(slices.Repeat([]string{"shade"}, 20)...)
				ctl, stop := run(t, c, site, nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeMoveTo, Target: everything, Position: 50})
				time.Sleep(2 * time.Second)
				c.set(func() {
					for i := range dead {
						c.silent[appliance.ID(i+1)] = true
					}
				})
				_, mark := c.frames(0)
				ctl.Apply(appliance.Site{}, nil)
				time.Sleep(time.Minute)
				on := 0
				for i := dead; i < 20; i++ {
					if c.moving(appliance.ID(5001+i)) != appliance.Stopped {
						on++
					}
				}
				if on > 0 {
					t.Errorf("%d relays of shades that answer are still on a minute later; told %q", on, writes(c, mark))
				}
			})
		})
	}
}

// A motor that tells its position goes silent on its way.
func TestSilentMotorIsNotShownMovingForEver(t *testing.T) {
	for _, measured := range []bool{true, false} {
		t.Run(fmt.Sprint("measured ", measured), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				c.measured = measured
				site := siteOf("shade")
				site.Shades[0].TravelUp, site.Shades[0].TravelDown = 0, 0
				ctl, stop := run(t, c, site, nil)
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeOpen, Target: everything})
				time.Sleep(3 * time.Second)
				c.set(func() { c.silent[1] = true })
				time.Sleep(time.Hour)
				if sh := ctl.Snapshot().Shade(5001); sh.Motion == appliance.Opening {
					t.Errorf("an hour later: %v at %+v, online %v", sh.Motion, sh.Position, sh.Online)
				}
			})
		})
	}
}

// A motor that goes to a position by itself starts slowly; it was told together with one that is timed.
func TestMotorIsNotStoppedOnItsOwnWay(t *testing.T) {
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprint("alone ", alone), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCopper()
				d := &mixed{copper: c}
				ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
					o, err := c.open(cfg)
					o.Shades[5002] = appliance.Channel{Abilities: appliance.CanMove | appliance.CanPosition, PositionMeasured: true}
					o.Driver = d
					return o, err
				}, siteOf("shade", "shade"))
				defer stop()
				time.Sleep(time.Second)
				do(t, ctl, appliance.Command{Kind: appliance.ShadeClose, Target: everything})
				time.Sleep(30 * time.Second)
				c.set(func() { d.slow = 500 * time.Millisecond })
				target := everything
				if alone {
					target = one(5002)
				}
				_, mark := c.frames(0)
				e := do(t, ctl, appliance.Command{Kind: appliance.ShadeMoveTo, Target: target, Position: 50})
				time.Sleep(time.Minute)
				var at int
				c.set(func() { at = d.at() })
				if at != 50 {
					t.Errorf("%q; the motor stands at %d %%, told %q", e.Err, at, writes(c, mark))
				}
			})
		})
	}
}

// mixed: shade 5002 goes to positions by itself and takes its time to begin.
type mixed struct {
	*copper
	slow        time.Duration
	place, goal int
	told        time.Time
}

func (d *mixed) at() int {
	if gone := time.Since(d.told) - d.slow; !d.told.IsZero() && gone > 0 {
		step := int(gone / (100 * time.Millisecond))
		if d.goal < d.place {
			return max(d.goal, d.place-step)
		}
		return min(d.goal, d.place+step)
	}
	return d.place
}

func (d *mixed) read2() appliance.Exchange {
	r := appliance.Ref{Shade: 5002}
	e := d.exchange(2, false, "read", func() []appliance.Reading {
		v := appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.Stopped, Position: appliance.Position(d.at())}
		if at := d.at(); at != d.goal && !d.told.IsZero() && time.Since(d.told) > d.slow {
			v.Motion = appliance.Opening
			if d.goal < at {
				v.Motion = appliance.Closing
			}
		}
		return []appliance.Reading{{Ref: r, Values: v, At: time.Now()}}
	})
	e.Refs = []appliance.Ref{r}
	return e
}

func (d *mixed) Plan(wants []appliance.Want) (out []appliance.Chain) {
	for _, w := range wants {
		if w.Shade != 5002 {
			out = append(out, d.copper.Plan([]appliance.Want{w})...)
			continue
		}
		step := d.exchange(2, true, "motor "+w.Motion.String(), func() []appliance.Reading {
			goal := map[appliance.Motion]int{appliance.Open: 100, appliance.Close: 0, appliance.Stop: d.at(), appliance.MoveTo: int(w.Position)}[w.Motion]
			if goal == d.goal && !d.told.IsZero() && w.Motion != appliance.Stop {
				return nil // it is about to
			}
			d.place, d.goal, d.told = d.at(), goal, time.Now()
			return nil
		})
		out = append(out, appliance.Chain{Wants: []appliance.Want{w}, Steps: []appliance.Exchange{step}, Verify: []appliance.Exchange{d.read2()}})
	}
	return out
}

func (d *mixed) Repair(wants []appliance.Want) []appliance.Chain { return d.Plan(wants) }

func (d *mixed) Polls() []appliance.Poll {
	out := d.copper.Polls()
	out[len(out)-1].Exchange = d.read2()
	return out
}
