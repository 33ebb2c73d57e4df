package appliance

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// settleWork judges the outcome of one exchange of a command. This is the one
// place where a retry is decided.
func (b *bus) settleWork(w *work, res Result, err error, now time.Time) {
	w.attempted = w.attempted || !res.Sent.IsZero()
	if w.verifying && (errors.Is(err, ErrSilent) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrBusy)) {
		w = b.part(w, now)
	}
	if err != nil && b.tryAgain(w, err, now) {
		return
	}
	if d := b.devices[w.exchange().Device]; d != nil && w.tries > 0 {
		// Answers to the earlier tries may still be on their way.
		d.rest(!w.verifying, now.Add(w.exchange().Late))
	}
	switch {
	case w.verifying:
		b.settleVerify(w, res, err, now)
	case err == nil:
		b.settleStep(w, res, now)
	case errors.Is(err, ErrRefused) && len(w.chain.Wants) > 1 && w.repairs < maxRepairs:
		// A combined frame was refused: the device may do it one by one.
		b.remove(w)
		wants, members := w.remaining()
		b.repair(w, wants, members)
	default:
		b.remove(w)
		b.fail(w, err)
	}
}

// tryAgain decides about a repetition and when.
func (b *bus) tryAgain(w *work, err error, now time.Time) bool {
	switch {
	case errors.Is(err, ErrPreempted):
		return true
	case errors.Is(err, ErrBusy):
		pause := min(busyPause<<min(w.tries, 8), busyPauseMost)
		w.notBefore = now.Add(pause)
	case errors.Is(err, ErrDamaged) && w.tries+1 < maxTriesDamaged:
	case errors.Is(err, ErrSilent) && w.tries+1 < maxTriesSilent && !w.lone:
	case w.last && !w.verifying:
		w.notBefore = now.Add(lastPause)
	default:
		return false
	}
	w.tries++
	return now.Before(w.expiry)
}

// settleStep goes on after a frame that was written as it should.
func (b *bus) settleStep(w *work, res Result, now time.Time) {
	w.pos, w.tries = w.pos+1, 0
	w.each(func(_ Want, m int) bool { w.run.sent(m, res.Sent); return false })
	if w.pos < len(w.chain.Steps) {
		return
	}
	b.believe(w, res.Sent)
	switch {
	case w.chain.Unverifiable:
		b.remove(w)
		w.each(func(_ Want, m int) bool { w.run.unverifiable(m); return true })
	case len(w.chain.Verify) == 0:
		b.remove(w)
		w.each(func(_ Want, m int) bool {
			w.run.conclude(m, fmt.Errorf("%w: nothing confirms it", ErrSilent))
			return true
		})
	default:
		w.verifying, w.pos, w.notBefore = true, 0, time.Time{}
		w.got = make([]Reading, len(w.chain.Wants))
		if (w.chain.Group || w.repairs > 0) && !w.fadeEnd.IsZero() { // it is confirmed at the end of the fade only, and may have to be repaired
			w.expiry = later(w.expiry, earlier(w.fadeEnd.Add(3*w.airtime()), w.run.ceiling()))
		}
		b.skipOffline(w, now)
	}
}

// skipOffline takes members that are known not to answer out of the verification
// of a group frame: the frame reached them if anything did, and nobody waits.
func (b *bus) skipOffline(w *work, now time.Time) {
	if !w.chain.Group {
		return
	}
	dead := func(d *device) bool { return d != nil && !d.online && d.suspect() }
	w.each(func(want Want, m int) bool {
		if !dead(b.deviceFor(want.Ref)) {
			return false
		}
		w.run.offline(m)
		return true
	})
	w.chain.Verify = slices.DeleteFunc(slices.Clone(w.chain.Verify), func(e Exchange) bool { return dead(b.devices[e.Device]) })
	if len(w.chain.Verify) == 0 {
		b.judge(w, nil, now)
	}
}

// part takes the member of a group that did not answer out of the group's verification,
// into a work of its own behind the others: they are judged, and repaired, without
// waiting for its tries. It returns the work that the exchange belongs to now.
func (b *bus) part(w *work, now time.Time) *work {
	silent := w.exchange().Device
	d := b.devices[silent]
	var theirs, ours bool
	w.each(func(want Want, _ int) bool {
		if b.deviceFor(want.Ref) == d {
			theirs = true
		} else {
			ours = true
		}
		return false
	})
	if !w.chain.Group || d == nil || !theirs || !ours {
		return w
	}
	own := *w
	own.members, own.got = slices.Clone(w.members), slices.Clone(w.got)
	of := func(e Exchange) bool { return e.Device == silent }
	theirReads := func(list []Exchange) []Exchange {
		return slices.DeleteFunc(slices.Clone(list), func(e Exchange) bool { return !of(e) })
	}
	own.chain.Verify, own.pos = theirReads(w.chain.Verify), len(theirReads(w.chain.Verify[:w.pos])) // all: a fade is read again
	left := slices.DeleteFunc(slices.Clone(w.chain.Verify[w.pos:]), of)
	w.chain.Verify = append(slices.Clone(w.chain.Verify[:w.pos]), left...)
	w.tries = 0
	for i, want := range w.chain.Wants {
		if b.deviceFor(want.Ref) == d {
			w.members[i] = -1
		} else {
			own.members[i] = -1
		}
	}
	b.works = append(b.works, &own)
	if len(left) == 0 {
		b.judge(w, nil, now)
	}
	return &own
}

// deviceFor is the device that a thing hangs off.
func (b *bus) deviceFor(ref Ref) *device {
	if m := b.movers[ref.Shade]; m != nil {
		return b.deviceOf[m.shade.Node]
	}
	return b.deviceOf[ref.Node]
}

// believe notes what acknowledged (or unverifiable) members were told.
func (b *bus) believe(w *work, at time.Time) {
	source := Acknowledged
	if w.chain.Unverifiable {
		source = Sent
	}
	doubtful := w.chain.Group || w.unsure && !w.chain.Unverifiable
	var learned []Reading
	w.each(func(want Want, m int) bool {
		ch := b.channel(want.Ref)
		if ch.Fade > 0 {
			w.fadeEnd = later(w.fadeEnd, at.Add(ch.Fade))
		}
		if want.Shade != 0 {
			// A shade that may be moving is watched from the moment of the frame,
			// whoever confirms it.
			mv := b.movers[want.Shade]
			mv.did(want.Motion, at)
			b.showShade(want.Shade, mv)
		}
		if doubtful {
			if speaksOfLevel(want.Values) {
				b.state.holdLevel(want.Ref, want.Level, ch.Fade)
			}
			return false
		}
		if believed := w.run.acknowledged(m, time.Now()); believed && want.Shade == 0 {
			learned = append(learned, Reading{Ref: want.Ref, Values: want.Values, At: at})
		}
		return false
	})
	if len(learned) > 0 {
		b.state.learn(learned, source)
	}
	for _, r := range learned {
		if speaksOfLevel(r.Values) {
			b.state.holdLevel(r.Ref, r.Level, b.channel(r.Ref).Fade)
		}
	}
}

// settleVerify collects what was read back and, after the last read, judges it. A read
// that is too large for the device is taken apart.
func (b *bus) settleVerify(w *work, res Result, err error, now time.Time) {
	if parts := w.exchange().smaller(err); len(parts) > 0 {
		w.chain.Verify, w.tries = slices.Replace(slices.Clone(w.chain.Verify), w.pos, w.pos+1, parts...), 0
		return
	}
	if err == nil {
		b.learn(res.Readings)
		b.trials.saw(res)
		for _, r := range res.Readings {
			if i := w.place(r.Ref); i >= 0 {
				w.got[i] = merge(w.got[i], r)
			}
		}
	}
	asked := w.exchange().Device
	w.pos, w.tries = w.pos+1, 0
	for errors.Is(err, ErrSilent) && w.pos < len(w.chain.Verify) && w.exchange().Device == asked {
		w.pos++ // it would not answer that either
	}
	if w.pos < len(w.chain.Verify) && w.open() {
		return
	}
	b.judge(w, err, now)
}

// merge adds what a second read told of the same thing.
func merge(a, r Reading) Reading {
	v := a.Values
	if speaksOfLevel(r.Values) {
		v.Level = r.Level
	}
	if r.Has.Has(CanTune) {
		v.Kelvin = r.Kelvin
	}
	if r.Has.Has(CanColour) {
		v.RGBW = r.RGBW
	}
	if r.Has.Has(CanMove) {
		v.Motion = r.Motion
	}
	if r.Has.Has(CanPosition) {
		v.Position = r.Position
	}
	v.Has |= r.Has
	return Reading{Ref: r.Ref, Values: v, At: r.At, Reached: r.Reached, Why: r.Why}
}

// judge compares what was wanted with what was read back.
func (b *bus) judge(w *work, readErr error, now time.Time) {
	b.remove(w)
	var wants []Want // to be sent again, each device by itself
	var members []int
	fading := false
	w.each(func(want Want, m int) bool {
		got, ok := w.read(want.Ref)
		ok = ok && aspectsOf(want.Has)&aspectsOf(got.Has) != 0 // else it says nothing of what was wanted
		if ok && (w.chain.Group || w.unsure) && aspectsOf(want.Has)&^aspectsOf(got.Has) != 0 {
			ok = !agrees(want.Values, got) // it says nothing of a part, which nobody else acknowledged
		}
		switch {
		case b.newest.overtaken(want.Ref, aspectsOf(want.Has), w.run.seq):
			w.run.conclude(m, ErrSuperseded)
		case ok && agrees(want.Values, got):
			w.run.observed(m, got.At)
		case ok && got.At.Before(w.fadeEnd):
			if w.repairs > 0 { // it did not have it at the end of the fade before, either
				w.run.disproved(m, mismatch(want.Values, got))
			}
			fading = true
			return false
		case ok && b.clips.explain(want, w.stood(want.Ref), got):
			w.run.observed(m, got.At)
		case b.repairable(w, want, ok):
			if ok {
				w.run.disproved(m, mismatch(want.Values, got))
				b.state.disproved(got)
			}
			b.groups.doubt(w, want.Ref)
			wants, members = append(wants, want), append(members, m)
		case ok:
			w.run.fail(m, mismatch(want.Values, got))
			b.state.disproved(got)
			if mv := b.movers[want.Shade]; mv != nil && (mv.unproven && seen(got.Motion) != 0 || w.way && mv.modelled() && got.Motion == Stopped) {
				mv.owed, mv.unproven = true, false // it may only begin later
			}
			b.abandon(w, want)
		default:
			if readErr == nil {
				readErr = ErrSilent
			}
			w.run.conclude(m, readErr)
		}
		return true
	})
	if len(wants) > 0 {
		b.repair(w, wants, members)
	}
	if fading {
		w.pos, w.notBefore = 0, earlier(w.fadeEnd, now.Add(fadeLook))
		clear(w.got)
		b.works = append(b.works, w)
	}
}

// repairable reports whether a want that is not confirmed may be sent again. The
// movement of a shade whose way is timed may not: whoever stopped it meanwhile
// meant it.
func (b *bus) repairable(w *work, want Want, wasRead bool) bool {
	if w.repairs >= maxRepairs || !wasRead && !w.chain.Group && !w.unsure {
		return false
	}
	m := b.movers[want.Shade]
	return want.Shade == 0 || want.Motion == Stop || !m.modelled()
}

// fadeLook is how often a fading channel is looked at while a command waits for it.
const fadeLook = 200 * time.Millisecond

// mismatch tells that a device reports something else than was wanted, and why if
// it says so.
func mismatch(want Values, got Reading) error {
	if got.Why != "" {
		return fmt.Errorf("%w: %s instead of %s: %s", ErrMismatch, describe(got.Values), describe(want), got.Why)
	}
	return fmt.Errorf("%w: %s instead of %s", ErrMismatch, describe(got.Values), describe(want))
}

// describe tells values to people.
func describe(v Values) string {
	switch {
	case v.Has.Has(CanPosition) && v.Motion == MoveTo:
		return fmt.Sprintf("go to %d %%", v.Position)
	case v.Has.Has(CanPosition) && v.Has.Has(CanMove):
		return fmt.Sprintf("%v at %d %%", v.Motion, v.Position)
	case v.Has.Has(CanPosition):
		return fmt.Sprintf("at %d %%", v.Position)
	case v.Has.Has(CanMove):
		return v.Motion.String()
	case v.Has.Has(CanColour):
		return fmt.Sprintf("%d:%d:%d:%d", v.RGBW.R, v.RGBW.G, v.RGBW.B, v.RGBW.W)
	case v.Has.Has(CanTune):
		return fmt.Sprintf("%d K", v.Kelvin)
	}
	return fmt.Sprintf("%d %%", v.Level)
}

// String names a motion for logs and messages.
func (m Motion) String() string {
	names := [...]string{"unknown", "open", "close", "stop", "go to a position", "stopped", "opening", "closing", "moving"}
	if int(m) < len(names) {
		return names[m]
	}
	return "unknown"
}
