package automation

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// grace is how late a rule by the clock may still act: what was due while the controller was off, or while its
	// clock stood wrong, is left.
	grace = time.Minute
	// stormMost runs of one rule within stormSpan set it aside for stormRest: it is feeding itself, or something flutters.
	stormMost = 10
	stormSpan = time.Minute
	stormRest = 10 * time.Minute
	// backMost is how far a clock may be set back without anything being due again.
	backMost = 2 * time.Hour
	// handsKept is how long it is remembered what was set by hand; no rule yields longer.
	handsKept = 24 * time.Hour
)

// clockSet is before any moment that a controller's clock can truly show: a board without a battery starts in 1970.
var clockSet = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// engine decides what rules do. It sees no clock and does nothing: events come with their time, and what is to be done
// is given back.
type engine struct {
	site     *appliance.Site // whose calendar and next moment these are
	calendar Calendar
	due      time.Time // the next moment by clock or sun; far away if there is none soon

	until   time.Time // clock and sun have been looked at up to here
	watched map[appliance.ID]watched
	hands   map[appliance.Ref]appliance.Hand // of what the site has, once there is one
	runs    map[appliance.ID][]time.Time     // of the last stormSpan
	later   []firing                         // actions that come after others of their rule, by time
	fades   []*fade                          // actions that take time and are under way
	resting map[appliance.ID]time.Time       // rules set aside, until when
}

// watched is how the value that a rule waits for stood last.
type watched struct {
	trigger appliance.Trigger
	known   bool
	past    bool      // beyond the limit
	since   time.Time // when it went there
	acted   bool      // for this time that it is there
}

// firing is a rule that has reason to act.
type firing struct {
	at      time.Time
	rule    *appliance.Rule
	actions []appliance.Action
	why     string
	left    string // why it does not after all; empty: it does
	// begun is when the rule had reason to, of actions that come later; zero: this is that moment.
	begun time.Time
	fade  *fade // whose step this is, or whose end; nil: it is none
}

// Why something is left, where that is said in several places.
const (
	notReady         = "the controller, or its clock, was not ready at that time"
	changedMeanwhile = "the rule was changed meanwhile"
	isGone           = "what an action is for is not there any more"
)

func newEngine(start time.Time) *engine {
	return &engine{until: start, watched: map[appliance.ID]watched{}, hands: map[appliance.Ref]appliance.Hand{},
		runs: map[appliance.ID][]time.Time{}, resting: map[appliance.ID]time.Time{}}
}

// tick lets time pass up to now: rules by the clock and the sun, and values that have lasted long enough.
func (e *engine) tick(now time.Time, s *appliance.Snapshot) []firing {
	if e.until.Before(clockSet) || now.Before(e.until.Add(-backMost)) {
		e.until, e.site = now, nil // the clock was wrong until now: nothing was due by it
	}
	var out []firing
	if e.site != nil && !now.Before(e.due) && !now.Before(clockSet) {
		out = e.passed(now, s)
	}
	if e.site != s.Site {
		e.site, e.calendar = s.Site, CalendarOf(s.Site.Division)
		e.until = later(e.until, now) // a rule that is new was not due before
		e.look(e.until)
		e.forget(now, s)
	}
	out = e.bounded(append(out, e.values(now, s)...))
	for i := range out {
		e.postpone(&out[i])
	}
	out = append(out, e.postponed(now, s)...)
	for i := range out {
		e.begin(&out[i], s)
	}
	return append(out, e.faded(now, s)...)
}

// laterMost bounds the moments at which actions are still to come, and the fades that are under way.
const laterMost = 1000

// postpone keeps the actions of a firing that come later. A rule that has reason to act again begins anew.
func (e *engine) postpone(f *firing) {
	if f.left != "" {
		return
	}
	e.later = slices.DeleteFunc(e.later, func(o firing) bool { return o.rule.ID == f.rule.ID })
	for _, fd := range e.fades {
		if fd.rule.ID == f.rule.ID {
			fd.ended = "the rule began anew"
		}
	}
	before := len(e.later)
	for _, a := range f.rule.Actions {
		if a.After == 0 {
			f.actions = append(f.actions, a)
			continue
		}
		at := f.at.Add(a.After)
		i := before + slices.IndexFunc(e.later[before:], func(o firing) bool { return o.at.Equal(at) })
		if i < before {
			if i = len(e.later); i+len(e.fades) >= laterMost {
				f.left = "too many rules have something to do later"
				return
			}
			e.later = append(e.later, firing{at: at, begun: f.at, rule: f.rule, why: f.why + ", " + shortly(a.After) + " later"})
		}
		e.later[i].actions = append(e.later[i].actions, a)
	}
}

// postponed are the actions whose time has come.
func (e *engine) postponed(now time.Time, s *appliance.Snapshot) []firing {
	var out []firing
	e.later = slices.DeleteFunc(e.later, func(f firing) bool {
		if f.at.After(now) && f.at.Before(now.Add(backMost+f.at.Sub(f.begun))) {
			return false
		}
		switch {
		case changed(f.rule, s):
			f.left = changedMeanwhile
		case now.Sub(f.at) > grace || f.at.After(now):
			f.left = notReady
		}
		out = append(out, f)
		return true
	})
	slices.SortStableFunc(out, func(a, b firing) int { return a.at.Compare(b.at) })
	return out
}

// changed reports whether a rule is not any more what it was when it had reason to act.
func changed(r *appliance.Rule, s *appliance.Snapshot) bool {
	is := ruleOf(s.Site, r.ID)
	return is == nil || is.Disabled || !reflect.DeepEqual(is.Actions, r.Actions)
}

// passed is what has become due by clock and sun.
func (e *engine) passed(now time.Time, s *appliance.Snapshot) []firing {
	from := e.until
	if late := now.Add(-24 * time.Hour); from.Before(late) {
		from = late // of what a clock jumped over, no more is told
	}
	var out []firing
	for _, due := range e.calendar.Due(e.site.Rules, from, now) {
		f := firing{at: due.At, rule: ruleOf(e.site, due.Rule)}
		f.why = why(f.rule, s)
		if now.Sub(due.At) > grace {
			f.left = notReady
		}
		out = append(out, f)
	}
	e.until = later(e.until, now)
	e.look(e.until)
	return out
}

// look finds the next moment by clock or sun.
func (e *engine) look(now time.Time) {
	e.due = now.Add(24 * time.Hour)
	if next := e.calendar.Due(e.site.Rules, now, e.due); len(next) > 0 {
		e.due = next[0].At
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// values finds rules whose value has passed its limit for long enough. A value that is beyond it already when it is
// first seen does not count: nothing happened.
func (e *engine) values(now time.Time, s *appliance.Snapshot) []firing {
	var out []firing
	seen := map[appliance.ID]bool{}
	for i := range s.Site.Rules {
		r := &s.Site.Rules[i]
		if r.When.Kind != appliance.OnValue || r.Disabled {
			continue
		}
		seen[r.ID] = true
		w := e.watched[r.ID]
		if !reflect.DeepEqual(w.trigger, r.When) {
			w = watched{trigger: r.When}
		}
		v, ok := valueOf(s, r.When)
		if !ok {
			continue // an unknown value is no event; what was seen before still holds
		}
		if w.see(now, v) && e.calendar.holds(now.In(e.calendar.Zone), r.When) {
			out = append(out, firing{at: now, rule: r, why: why(r, s)})
		}
		e.watched[r.ID] = w
	}
	for id := range e.watched {
		if !seen[id] {
			delete(e.watched, id)
		}
	}
	return out
}

// see takes a value that is known, and reports whether the rule has reason to act now.
func (w *watched) see(now time.Time, v float64) bool {
	past := v > w.trigger.Limit
	if w.trigger.Below {
		past = v < w.trigger.Limit
	}
	switch {
	case !w.known:
		w.known, w.acted = true, past
	case past && !w.past:
		w.since, w.acted = now, false
	}
	w.past = past
	return w.lasts(now)
}

// lasts reports, once, that the value has been beyond its limit for long enough.
func (w *watched) lasts(now time.Time) bool {
	if !w.past || w.acted || now.Sub(w.since) < w.trigger.For {
		return false
	}
	w.acted = true
	return true
}

// valueOf is what a trigger watches. What was read before a restart is no news.
func valueOf(s *appliance.Snapshot, t appliance.Trigger) (float64, bool) {
	n := s.Node(t.Node)
	if n == nil || !n.Online {
		return 0, false
	}
	level, power := n.Level, n.Power
	if t.Channel > 0 {
		if t.Channel > len(n.Channels) {
			return 0, false
		}
		level, power = n.Channels[t.Channel-1].Level, n.Channels[t.Channel-1].Power
	}
	if t.Quantity == appliance.OfPower {
		return power.Value, power.OK() && power.Source != appliance.Restored
	}
	return float64(level.Value), level.OK() && level.Source != appliance.Restored
}

// bounded sets rules aside that run too often.
func (e *engine) bounded(list []firing) []firing {
	for i := range list {
		f := &list[i]
		id := f.rule.ID
		if f.left != "" {
			continue
		}
		if f.at.Before(e.resting[id]) {
			f.left = "it acted too often and rests until " + e.resting[id].Format(time.RFC3339)
			continue
		}
		delete(e.resting, id)
		recent := slices.DeleteFunc(e.runs[id], func(t time.Time) bool { return f.at.Sub(t) >= stormSpan })
		if len(recent) >= stormMost {
			e.resting[id] = f.at.Add(stormRest)
			f.left = fmt.Sprintf("it acted %d times within a minute and rests for %s", len(recent), shortly(stormRest))
			delete(e.runs, id)
			continue
		}
		e.runs[id] = append(recent, f.at)
	}
	return list
}

// hand notes what somebody set by hand: any command that is not a rule's own.
func (e *engine) hand(entry appliance.Entry) {
	if entry.Command.Origin.Via == byRule {
		return
	}
	for _, m := range entry.Members {
		if ref := whole(m.Ref); m.Err == "" && !m.Offline {
			e.hands[ref] = appliance.Hand{Ref: ref, At: entry.AcceptedAt, Who: entry.Command.Origin.Who}
		}
	}
}

// forget drops what was set long ago, and what a site that was changed has no more.
func (e *engine) forget(now time.Time, s *appliance.Snapshot) {
	for ref, h := range e.hands {
		if now.Sub(h.At) > handsKept || s.Node(ref.Node) == nil && s.Shade(ref.Shade) == nil {
			delete(e.hands, ref)
		}
	}
}

// release lets rules act on these again, whatever was set by hand. None: on everything.
func (e *engine) release(refs []appliance.Ref) {
	if refs == nil {
		clear(e.hands)
	}
	for _, ref := range refs {
		delete(e.hands, whole(ref))
	}
}

// whole is the node or shade that a part belongs to.
func whole(ref appliance.Ref) appliance.Ref {
	if ref.Shade != 0 {
		return appliance.Ref{Shade: ref.Shade}
	}
	return appliance.Ref{Node: ref.Node}
}

// next is when time alone may give a rule reason to act.
func (e *engine) next(now time.Time) time.Time {
	at := now.Add(30 * time.Second) // clocks are set, and suspended machines wake up
	if e.due.Before(at) && e.due.After(now) {
		at = e.due
	}
	for _, f := range e.later {
		if f.at.Before(at) {
			at = f.at
		}
	}
	for _, fd := range e.fades {
		if due := fd.due(fd.seen + 1); due.Before(at) {
			at = due
		}
	}
	for _, w := range e.watched {
		if lasts := w.since.Add(w.trigger.For); w.past && !w.acted && lasts.Before(at) {
			at = lasts
		}
	}
	return at
}

// commands of a firing, in order, with what is left alone because somebody set it by hand.
func (e *engine) commands(f firing, s *appliance.Snapshot) (list []appliance.Command, left string) {
	by := appliance.Origin{Who: f.rule.Name, Via: byRule, Why: f.why}
	var names []string
	for _, a := range f.actions {
		actions, origin := []appliance.Action{a}, by
		if a.Scene != 0 {
			sc := sceneOf(s, a.Scene)
			if sc == nil {
				names = append(names, fmt.Sprintf("scene %d is not there any more", a.Scene))
				continue
			}
			actions, origin.Why = sc.Actions, by.Why+": scene "+sc.Name
		}
		for _, a := range actions {
			cmds, held := e.free(a.Command(origin), f, s)
			list = append(list, cmds...)
			names = append(names, held...)
		}
	}
	slices.Sort(names)
	return list, summary(slices.Compact(names))
}

// free is a command without those that somebody set by hand a short while ago: the command itself if there are none.
func (e *engine) free(cmd appliance.Command, f firing, s *appliance.Snapshot) (list []appliance.Command, held []string) {
	refs, ok := members(cmd, s)
	if !ok {
		return nil, []string{isGone}
	}
	var rest []appliance.Ref
	for _, ref := range refs {
		if h, ok := e.held(ref, f); ok {
			held = append(held, fmt.Sprintf("%s was set by %s", nameOf(s, ref), h.Who))
			continue
		}
		rest = append(rest, ref)
	}
	if !cmd.Kind.IsShade() && cmd.Kind != appliance.LightKelvin {
		e.takeOver(rest, f.rule, func(fd *fade) bool { return fd.at.Before(f.at) })
	}
	if len(held) == 0 {
		return []appliance.Command{cmd}, nil
	}
	for _, ref := range rest {
		one := cmd
		one.Target = appliance.Target{Scope: appliance.One, ID: ref.Node + ref.Shade}
		list = append(list, one)
	}
	return list, held
}

// held tells what somebody set by hand that a firing therefore leaves alone.
func (e *engine) held(ref appliance.Ref, f firing) (appliance.Hand, bool) {
	h, set := e.hands[ref]
	return h, set && (f.rule.Yields > 0 && f.at.Before(h.At.Add(f.rule.Yields)) || !f.begun.IsZero() && h.At.After(f.begun))
}

// members are the lights, or the shades, that a command is for; false if its target is gone.
func members(cmd appliance.Command, s *appliance.Snapshot) ([]appliance.Ref, bool) {
	var nodes, shades []appliance.ID
	switch t := cmd.Target; t.Scope {
	case appliance.InCluster:
		c := s.Cluster(t.ID)
		if c == nil {
			return nil, false
		}
		nodes, shades = c.Cluster.Nodes, c.Cluster.Shades
	case appliance.One:
		nodes, shades = []appliance.ID{t.ID}, []appliance.ID{t.ID}
		if cmd.Kind.IsShade() && s.Shade(t.ID) == nil || !cmd.Kind.IsShade() && s.Node(t.ID) == nil {
			return nil, false
		}
	default:
		for _, n := range s.Nodes {
			nodes = append(nodes, n.Node.ID)
		}
		for _, h := range s.Shades {
			shades = append(shades, h.Shade.ID)
		}
	}
	var refs []appliance.Ref
	if cmd.Kind.IsShade() {
		for _, id := range shades {
			refs = append(refs, appliance.Ref{Shade: id})
		}
		return refs, true
	}
	for _, id := range nodes {
		if n := s.Node(id); n != nil && n.IsLight() {
			refs = append(refs, appliance.Ref{Node: id})
		}
	}
	return refs, true
}

func nameOf(s *appliance.Snapshot, ref appliance.Ref) string {
	if sh := s.Shade(ref.Shade); sh != nil {
		return sh.Shade.Name
	}
	if n := s.Node(ref.Node); n != nil {
		return n.Node.Name
	}
	return fmt.Sprint(ref.Node + ref.Shade)
}

// summary names the first few.
func summary(names []string) string {
	const most = 3
	text := ""
	for i, n := range names[:min(len(names), most)] {
		if i > 0 {
			text += "; "
		}
		text += n
	}
	if len(names) > most {
		text += fmt.Sprintf("; and %d more", len(names)-most)
	}
	return text
}

func ruleOf(s *appliance.Site, id appliance.ID) *appliance.Rule {
	for i := range s.Rules {
		if s.Rules[i].ID == id {
			return &s.Rules[i]
		}
	}
	return nil
}

func sceneOf(s *appliance.Snapshot, id appliance.ID) *appliance.Scene {
	for i := range s.Site.Scenes {
		if s.Site.Scenes[i].ID == id {
			return &s.Site.Scenes[i]
		}
	}
	return nil
}
