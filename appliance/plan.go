package appliance

import (
	"fmt"
	"slices"
	"time"
)

// plan takes a new job: it overtakes older commands for the same things, and
// becomes works.
func (b *bus) plan(j job, now time.Time) {
	if !b.up && !b.opening() && !j.last {
		for i, m := range j.members { // shades end what they were told before, and begin nothing
			j.run.fail(m, b.why)
			if mv := b.movers[j.wants[i].Shade]; mv != nil && j.wants[i].Motion == Stop {
				mv.endAtNextStop()
			}
		}
		return
	}
	if !j.ceiling.IsZero() && !j.ceiling.After(now) {
		for _, m := range j.members { // nothing older gives way to what is not done any more
			j.run.fail(m, errTooLate)
		}
		return
	}
	wants, members := j.wants[:0], j.members[:0]
	for i, w := range j.wants {
		if b.channel(w.Ref).Abilities == 0 {
			j.run.fail(j.members[i], fmt.Errorf("%w on its bus any more: the site was changed", ErrNotFound))
			continue
		}
		if w.Shade != 0 {
			m := b.movers[w.Shade]
			motion, err := m.aim(w.Values, now)
			if err != nil {
				j.run.fail(j.members[i], err)
				continue
			}
			w.Motion = motion
			m.owed = m.owed || j.last
			j.way = j.way || len(m.legs) > 0
			if motion != MoveTo {
				w.Has &^= CanPosition
			}
		}
		wants, members = append(wants, w), append(members, j.members[i])
	}
	j.wants, j.members = wants, members
	b.enqueue(j, now)
}

// enqueue supersedes what the job replaces and appends its chains.
func (b *bus) enqueue(j job, now time.Time) {
	if len(j.wants) == 0 {
		return
	}
	members := memberOf(j.wants, j.members)
	for _, w := range j.wants {
		b.overtake(w, now)
		b.newest.note(w.Ref, aspectsOf(w.Has), j.run.seq)
	}
	works := b.worksOf(b.driver.Plan(j.wants), members, j)
	var airtime time.Duration
	for _, w := range works {
		airtime += w.airtime()
	}
	for _, w := range works {
		if !j.ceiling.IsZero() {
			w.expiry = earlier(j.expiry.Add(airtime), j.ceiling)
		}
		if !b.setAsideOffline(w, j.alone, now) {
			b.works = append(b.works, w)
		}
	}
}

// memberOf finds members by reference, so that the driver may order wants as it
// likes. One want, which most commands have, is found without a table.
func memberOf(wants []Want, members []int) func(Ref) int {
	if len(wants) == 1 {
		only := members[0]
		return func(Ref) int { return only }
	}
	table := make(map[Ref]int, len(wants))
	for i, w := range wants {
		table[w.Ref] = members[i]
	}
	return func(r Ref) int { return table[r] }
}

// worksOf wraps chains.
func (b *bus) worksOf(chains []Chain, memberOf func(Ref) int, j job) []*work {
	works := make([]*work, 0, len(chains))
	for _, c := range chains {
		w := &work{run: j.run, chain: c, expiry: j.expiry, last: j.last, way: j.way, members: make([]int, len(c.Wants)), before: b.clips.before(c.Wants)}
		w.stop = len(c.Wants) > 0
		for i, want := range c.Wants {
			w.members[i] = memberOf(want.Ref)
			if want.Shade == 0 || want.Motion != Stop {
				w.stop = false
			}
		}
		works = append(works, w)
	}
	return works
}

func (w *work) airtime() time.Duration {
	var t time.Duration
	for i := range w.chain.Steps {
		t += w.chain.Steps[i].Airtime
	}
	for i := range w.chain.Verify {
		t += w.chain.Verify[i].Airtime
	}
	return t
}

// setAsideOffline handles works whose device is known not to answer: members of a
// set are named and not waited for; a single target is tried once, if the time
// spent on such devices allows. A stop is always tried once where something may be
// moving: it may hear, though it is not heard, and somebody is in the way.
func (b *bus) setAsideOffline(w *work, alone bool, now time.Time) bool {
	if w.chain.Group || len(w.chain.Steps) == 0 {
		return false
	}
	name := w.chain.Steps[0].Device
	d := b.devices[name]
	if d == nil || d.online || !d.suspect() || w.last {
		return false
	}
	if w.stop && b.mayMove(w) {
		w.lone, w.aside = true, !alone
		return false
	}
	if !alone {
		w.each(func(want Want, m int) bool {
			w.run.offline(m)
			b.abandon(w, want)
			return true
		})
		return true
	}
	if !b.probes.allowed(now).IsZero() {
		b.fail(w, fmt.Errorf("%w%s", ErrUnreachable, lastSeen(d, now)))
		return true
	}
	w.lone = true
	return false
}

// mayMove reports whether a shade of a work moves as far as is known.
func (b *bus) mayMove(w *work) bool {
	return slices.ContainsFunc(w.chain.Wants, func(want Want) bool {
		m := b.movers[want.Shade]
		return m != nil && m.moving()
	})
}

func lastSeen(d *device, now time.Time) string {
	if d.lastSeen.IsZero() {
		return ": it never answered; check wiring, address and line settings"
	}
	return fmt.Sprintf(": it last answered %s ago", now.Sub(d.lastSeen).Round(time.Second))
}

// overtake ends or trims older works that a new want replaces.
func (b *bus) overtake(want Want, now time.Time) {
	a := aspectsOf(want.Has)
	for i := 0; i < len(b.works); i++ {
		w := b.works[i]
		touched := false
		w.each(func(old Want, m int) bool {
			if old.Ref != want.Ref {
				return false
			}
			older := aspectsOf(old.Has)
			switch {
			case w.verifying && a&older != 0:
				w.run.conclude(m, ErrSuperseded)
				if d := b.devices[w.exchange().Device]; d != nil && w.tries > 0 {
					d.rest(false, now.Add(w.exchange().Late)) // as if it had come to its end
				}
			case !w.verifying && a&older == older:
				w.run.fail(m, ErrSuperseded)
				if mv := b.movers[old.Shade]; mv != nil && w.way && w.attempted && direction(old.Motion) != 0 {
					mv.owed = true // it may have begun, and what takes its place may fail
				}
			default:
				return false
			}
			touched = true
			return true
		})
		if !w.verifying && w.trim(want.Ref, a) {
			touched = true
		}
		if !touched {
			continue
		}
		switch {
		case !w.open():
			b.works = append(b.works[:i], b.works[i+1:]...)
			i--
		case !w.verifying:
			i += b.replan(i, now)
		}
	}
}

// trim takes out of what w wants of a thing the aspects that a newer command replaces:
// it may be sent after that one, if its device asks for time. It reports whether there
// were any.
func (w *work) trim(ref Ref, a aspect) bool {
	i := w.place(ref)
	if i < 0 || w.members[i] < 0 || a&aspectsOf(w.chain.Wants[i].Has) == 0 {
		return false
	}
	w.chain.Wants = slices.Clone(w.chain.Wants)
	has := &w.chain.Wants[i].Has
	for _, part := range []Ability{CanSwitch | CanDim, CanTune, CanColour} {
		if a&aspectsOf(part) != 0 {
			*has &^= part
		}
	}
	return true
}

// replan makes new works of what remains of the one at index i, and returns how
// many more there are than before.
func (b *bus) replan(i int, now time.Time) int {
	w := b.works[i]
	wants, members := w.remaining()
	parts := b.heirs(w, b.driver.Plan(wants), wants, members)
	for _, p := range parts {
		p.notBefore = w.notBefore
	}
	tail := append(parts, b.works[i+1:]...)
	b.works = append(b.works[:i], tail...)
	return len(parts) - 1
}

// repair queues wants again, device by device.
func (b *bus) repair(w *work, wants []Want, members []int) {
	for _, p := range b.heirs(w, b.driver.Repair(wants), wants, members) {
		p.repairs++
		b.works = append(b.works, p)
	}
}

// heirs wraps chains that go on with what remains of w.
func (b *bus) heirs(w *work, chains []Chain, wants []Want, members []int) []*work {
	works := b.worksOf(chains, memberOf(wants, members), job{run: w.run, expiry: w.expiry, last: w.last, way: w.way})
	for _, p := range works {
		p.repairs, p.attempted, p.lone, p.aside = w.repairs, w.attempted, w.lone, w.aside
	}
	return works
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
