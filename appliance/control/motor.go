package control

import (
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
	"svc.internal/controller/appliance/shade"
)

// hand gives a shade's machine an event, and returns when to go on: as soon as it is taken
// and nothing is under way.
func (b *bus) hand(id appliance.ID, e shade.Event) <-chan struct{} {
	rests := make(chan struct{})
	b.mail.put(mail{event: engine.ForShade{Shade: id, Event: e}, rests: rests})
	return rests
}

// await waits until shades stand, as long as that may take at most.
func (b *bus) await(rest []<-chan struct{}, most time.Duration) (all bool) {
	late := time.NewTimer(most)
	defer late.Stop()
	for _, done := range rest {
		select {
		case <-done:
		case <-late.C:
			return false
		case <-b.closed:
			return false
		}
	}
	return true
}

// retune hands a bus the travel times of its shades. It goes on undisturbed.
func (b *bus) retune(shades []appliance.Shade) {
	for _, s := range shades {
		b.mail.put(mail{event: engine.Retune{Shade: s}})
	}
}

// goOn takes over shades from the bus that had them before.
func (b *bus) goOn(before *bus) {
	was, is := before.present.Load(), b.present.Load()
	shades := before.engine.Shades()
	for _, s := range was.Config.Shades {
		if !is.Drives(was, s) {
			delete(shades, s.ID)
		}
	}
	b.feed(engine.TakeOver{Shades: shades})
}
