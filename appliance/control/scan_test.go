package control_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// searched is copper on which a hundred addresses can be asked that nobody has.
type searched struct{ *copper }

func (s searched) Scan(appliance.ScanOptions) iter.Seq[appliance.ScanStep] {
	return func(yield func(appliance.ScanStep) bool) {
		for id := appliance.ID(100); id < 200; id++ {
			ask := s.read(appliance.Ref{Node: id, Channel: 1})
			nobody := func(appliance.Result, error) (appliance.Found, bool) { return appliance.Found{}, false }
			if !yield(appliance.ScanStep{Exchange: ask, Address: fmt.Sprint(id), Judge: nobody}) {
				return
			}
		}
	}
}

// Nobody at an address is what a scan finds at most of them. It once looked like failing
// wires in the counters, and like dead devices in the use of the bus.
func TestScanIsNoTroubleWithTheWiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		for id := appliance.ID(100); id < 200; id++ {
			c.silent[id] = true
		}
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			o.Driver = searched{c}
			return o, err
		}, siteOf("dimmer", "dimmer"))
		defer stop()
		time.Sleep(10 * time.Second)
		_, mark := c.frames(0)
		if err := ctl.Scan(context.Background(), "test", appliance.ScanOptions{}, func(string) {}, func(appliance.Found) {}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		asked := map[bool]uint64{}
		frames, _ := c.frames(mark)
		for _, f := range frames {
			asked[f.node >= 100]++
		}
		b := ctl.Snapshot().Buses[0]
		if asked[true] != 100 || asked[false] == 0 {
			t.Fatalf("asked %v; this test shows nothing", asked)
		}
		if b.Stats.Silent+b.Stats.Damaged > 0 || b.Stats.Exchanges < asked[false] || b.DeadUse > 0 {
			t.Errorf("counted %+v, %.0f %% of the time for the dead", b.Stats, 100*b.DeadUse)
		}
		c.set(func() { c.silent[1] = true })
		time.Sleep(10 * time.Second)
		if b := ctl.Snapshot().Buses[0]; b.Stats.Silent == 0 || b.DeadUse == 0 {
			t.Errorf("a device of the site that is silent is not counted: %+v", b.Stats)
		}
	})
}

// A scan waits for an adapter that is put back, and not for ever.
func TestScanOfABusThatStaysDownIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			o.Driver = searched{c}
			return o, err
		}, siteOf("dimmer"))
		defer stop()
		time.Sleep(5 * time.Second)
		for _, outage := range []time.Duration{5 * time.Second, time.Hour} {
			began := time.Now()
			time.AfterFunc(time.Second, func() { c.set(func() { c.down = appliance.ErrBusDown }) })
			time.AfterFunc(time.Second+outage, func() { c.set(func() { c.down = nil }) })
			err := ctl.Scan(t.Context(), "test", appliance.ScanOptions{}, func(string) {}, func(appliance.Found) {})
			took := time.Since(began)
			if stays := outage > time.Minute; (err != nil) != stays || stays && took > 13*time.Second {
				t.Errorf("down for %v: %v after %v", outage, err, took)
			}
		}
		c.set(func() { c.down = nil })
	})
}
