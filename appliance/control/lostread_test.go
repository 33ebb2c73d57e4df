package control_test

import (
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// pairs broadcasts to lamps of three channels, and reads each channel by itself.
type pairs struct{ *copper }

func (d pairs) Plan(wants []appliance.Want) []appliance.Chain {
	if len(wants) != 6 {
		return d.copper.Plan(wants)
	}
	e := d.exchange(0, true, "broadcast", func() []appliance.Reading { return nil })
	e.Device = ""
	chain := appliance.Chain{Wants: wants, Steps: []appliance.Exchange{e}, Group: true}
	for _, w := range wants {
		chain.Verify = append(chain.Verify, d.read(w.Ref))
	}
	return []appliance.Chain{chain}
}

// One read of a lamp that fades is lost: what was read of it before must be read again after the fade.
func TestLostReadDuringAFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopper()
		const fade = 1500 * time.Millisecond
		ctl, stop := runWith(func(cfg appliance.BusConfig) (appliance.Opened, error) {
			o, err := c.open(cfg)
			for _, chs := range o.Channels {
				for i := range chs {
					chs[i].Fade = fade
				}
			}
			o.Driver = pairs{c}
			return o, err
		}, siteOf("triple", "triple"))
		defer stop()
		time.Sleep(time.Second)
		reads := 0
		var began time.Time
		c.set(func() {
			c.fail = func(node appliance.ID, write bool) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if write && began.IsZero() {
					began = time.Now()
				}
				if began.IsZero() {
					return nil
				}
				for n := range 2 {
					for ch := range 3 {
						c.level[appliance.Ref{Node: appliance.ID(n + 1), Channel: ch + 1}] = appliance.Level(min(80, int(80*time.Since(began)/fade)))
					}
				}
				if !write && node == 1 {
					if reads++; reads == 3 {
						return appliance.ErrDamaged
					}
				}
				return nil
			}
		})
		_, mark := c.frames(0)
		e := do(t, ctl, level(everything, 80))
		if w := writes(c, mark); len(w) > 1 || !e.OK() {
			t.Errorf("%q; told %q", e.Err, w)
		}
	})
}
