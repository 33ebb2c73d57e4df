package automation

import (
	"time"

	"svc.internal/controller/appliance"
)

// Trial tells when a rule would have had reason to act in a span of time, whether it exists, is enabled, or not; known is from when on
// its value is known, zero if it never is. Replay tells what the wanted tracks were, in the order of time.
func (r *Rules) Trial(rule appliance.Rule, from, to time.Time, replay func(want func(appliance.Track) bool, tell func(appliance.Past) error) error) (
	times []time.Time, known time.Time, err error) {
	t := newTrial(rule, r.core.Snapshot().Site.Division, from)
	track, value := t.track()
	if !value {
		return t.until(to), from, nil
	}
	err = replay(func(o appliance.Track) bool { return o == track }, func(p appliance.Past) error {
		if known.IsZero() && p.Known {
			known = p.At
		}
		t.take(p)
		return nil
	})
	return t.until(to), known, err
}

// trial finds when a rule would have had reason to act, from what was.
type trial struct {
	rule     appliance.Rule
	calendar Calendar
	from     time.Time
	watched  watched
	times    []time.Time
}

func newTrial(r appliance.Rule, d appliance.Division, from time.Time) *trial {
	r.Disabled = false
	return &trial{rule: r, calendar: CalendarOf(d), from: from, watched: watched{trigger: r.When}}
}

// track is what a rule waits for in the history; false if it waits for the clock or the sun.
func (t *trial) track() (appliance.Track, bool) {
	w := t.rule.When
	track := appliance.Track{Ref: appliance.Ref{Node: w.Node, Channel: w.Channel}, Aspect: appliance.LevelAspect}
	if w.Quantity == appliance.OfPower {
		track.Aspect = appliance.PowerAspect
	}
	return track, w.Kind == appliance.OnValue
}

// take takes what the track was from a moment on, in the order of time.
func (t *trial) take(p appliance.Past) {
	t.lasted(p.At)
	if p.Known && t.watched.see(p.At, p.Value) {
		t.note(p.At)
	}
}

// lasted notes that a value lasted until a moment.
func (t *trial) lasted(until time.Time) {
	if at := t.watched.since.Add(t.rule.When.For); t.watched.known && !at.After(until) && t.watched.lasts(at) {
		t.note(at)
	}
}

func (t *trial) note(at time.Time) {
	if !at.Before(t.from) && t.calendar.holds(at.In(t.calendar.Zone), t.rule.When) {
		t.times = append(t.times, at)
	}
}

// until is when it would have had reason to act, up to a moment.
func (t *trial) until(to time.Time) []time.Time {
	if _, value := t.track(); value {
		t.lasted(to)
		return t.times
	}
	var times []time.Time
	for _, due := range t.calendar.Due([]appliance.Rule{t.rule}, t.from, to) {
		times = append(times, due.At)
	}
	return times
}
