package control

import (
	"context"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
	"svc.internal/controller/appliance/shade"
)

func (b *bus) config() *appliance.BusConfig { return &b.present.Load().Config }

func (b *bus) driver() appliance.Driver { return b.present.Load().Opened.Driver }

// configure puts a wiring in force. What is the same in it as before keeps what is known of
// it, and its work; unless it is afresh.
func (b *bus) configure(w *engine.Wiring, afresh bool) {
	b.log = w.Config.Log.With("bus", w.Config.Bus.Name)
	b.present.Store(w)
	b.link = nil
	if l, ok := b.driver().(appliance.Linker); ok {
		b.link = l.Link
	}
	places := map[appliance.ID]shade.Restored{}
	for _, s := range w.Config.Shades {
		if v, ok := w.Config.Last(appliance.Ref{Shade: s.ID}); ok && v.Has.Has(appliance.CanPosition) {
			uncertainty, at := b.state.certainty(s.ID)
			places[s.ID] = shade.Restored{Position: float64(v.Position), Uncertainty: float64(uncertainty), At: at}
		}
	}
	b.feed(engine.Configure{Wiring: w, Afresh: afresh, Places: places})
}

// park leaves the wire alone until the bus is configured anew.
func (b *bus) park() {
	b.link = func() error { return appliance.ErrOpening }
	b.feed(engine.Park{})
}

// looked shows what is known of devices, once the site is in force that a configuration
// belongs to.
func (b *bus) looked(w, before *engine.Wiring) {
	b.feed(engine.Show{Kept: w.Kept(before)})
}

// change puts another configuration of a bus in force while it runs. done is to be called
// when the site is in force; false: the bus cannot be what it is to be.
func (c *Controller) change(b *bus, cfg appliance.BusConfig, build *builder) (done func(), ok bool) {
	before := b.present.Load()
	cfg.Report = b.mail.report
	then := build.rehearse(cfg)
	if then == nil {
		return nil, false
	}
	c.halt(b, then)
	keep := before
	if !sameWire(before.Config.Bus, cfg.Bus) {
		keep = nil // others may be there, or hear nothing at that bit rate
	}
	ctx := context.Background() // it ends with the bus
	if live, able := before.Opened.Driver.(appliance.Configurer); able && before.Config.Bus.Name == cfg.Bus.Name && keep != nil {
		b.atBoundary(ctx, func() {
			var opened appliance.Opened
			if opened, ok = live.Configure(cfg); ok {
				b.configure(&engine.Wiring{Config: cfg, Opened: opened}, false)
			}
		})
		if ok {
			return func() { b.atBoundary(ctx, func() { b.looked(b.present.Load(), before) }) }, true
		}
		keep = nil // it takes other line settings
	}
	w, ok := build.open(cfg)
	if !ok || b.atBoundary(ctx, b.park) != nil {
		return nil, false
	}
	b.unplug()
	b.atBoundary(ctx, func() {
		b.breakOffScan() // it speaks by way of the driver that goes
		b.configure(w, keep == nil)
		c.plug(b)
	})
	return func() { b.atBoundary(ctx, func() { b.looked(w, keep) }) }, true
}
