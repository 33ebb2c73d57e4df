package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// tableJob is a sequence of exchanges under way, between which others use the bus.
type tableJob struct {
	kind   TableKind
	device *groupDevice // nil when surveying
	whole  bool         // all of it was read
	held   []string
	join   []string // when changing
	leave  []string

	step      *appliance.Exchange // to be done next; nil: it is asked for
	tries     int
	notBefore time.Time
	cost      time.Duration
}

func (g *grouping) begin(j *tableJob) *tableJob {
	c := Converse{Kind: j.kind, Join: j.join, Leave: j.leave}
	if j.device != nil {
		c.Device = j.device.name
	}
	g.bus.do(c)
	return j
}

// goOn asks for the next exchange.
func (j *tableJob) goOn(g *grouping) {
	j.step = nil
	g.bus.do(Continue{})
}

// drop ends the job under way.
func (g *grouping) drop() {
	if g == nil || g.work.job == nil {
		return
	}
	g.bus.do(Hang{})
	if d := g.work.job.device; d != nil && g.work.job.kind == Changing {
		d.armed, d.table = false, tableUnknown // nobody knows how far it got; the book has said so since before it began
	}
	g.work.job = nil
	g.dirty = true
}

// choose picks the next job: tables that are not known, then those not read since
// the bus was opened, then old ones; then a look at who else is there; then who
// gets which group; and only then writing.
func (g *grouping) choose() *tableJob {
	now := g.bus.now
	if d := g.toRead(); d != nil {
		g.progress(d.name, "reading")
		return g.begin(&tableJob{kind: Reading, device: d})
	}
	if !g.survey.done && !g.survey.at.After(now) && g.allKnown() {
		g.progress("", "looking for devices outside the site")
		return g.begin(&tableJob{kind: Surveying})
	}
	if !g.claims.allotted && g.survey.done && g.allKnown() {
		g.allot()
	}
	if g.claims.unsaved && !g.claims.saving && !g.claims.saveAt.After(now) && (g.may() || now.Sub(g.claims.savedAt) > groupSaveEvery) {
		g.save()
	}
	if g.claims.saving || g.claims.unsaved {
		return nil // nothing is written that would not be known after a power cut
	}
	if j := g.toWrite(); j != nil {
		return j
	}
	if g.work.order != nil && !g.claims.saving && !g.claims.unsaved && g.claims.allotted {
		g.endOrder(g.verdict())
	}
	return nil
}

// toRead picks the device whose table is to be read next.
func (g *grouping) toRead() *groupDevice {
	now := g.bus.now
	age := g.rereadAfter()
	rank := func(d *groupDevice) int {
		ordered := g.work.order != nil && !g.work.order.tried[d.name]
		switch there, _ := g.answers(d); {
		case !there || d.table == tableRefused || d.due.After(now) && !ordered:
			return 0
		case !d.known():
			return 3
		case d.table == tableRecalled:
			return 2
		case now.Sub(d.readAt) > age, ordered && d.readAt.Before(g.work.order.since):
			return 1
		}
		return 0
	}
	var best *groupDevice
	for _, d := range g.devices {
		if r := rank(d); r > 0 && (best == nil || r > rank(best)) {
			best = d
		}
	}
	return best
}

// rereadAfter is the age at which a table is read again.
func (g *grouping) rereadAfter() time.Duration {
	var all time.Duration
	for _, d := range g.devices {
		all += d.cost
	}
	return max(groupAge, groupShare*all)
}

// allKnown reports whether enough is known to hand out groups: every device was
// asked whether it is there, and those that are were read, or will not be.
func (g *grouping) allKnown() bool {
	for _, d := range g.devices {
		there, judged := g.answers(d)
		if !judged || there && !d.known() && d.fails < groupFailures && (g.work.order == nil || !g.work.order.tried[d.name]) {
			return false
		}
	}
	return true
}

// finish takes the outcome of a job that is through.
func (g *grouping) finish(j *tableJob) {
	now := g.bus.now
	g.work.job = nil
	g.dirty = true
	d := j.device
	switch {
	case j.kind == Surveying:
		g.survey.done, g.survey.looked = true, true
		return
	case !j.whole:
		g.failed(j, fmt.Errorf("%w: its table is not whole", appliance.ErrDamaged))
		return
	}
	if d.armed {
		d.armed, g.claims.unsaved = false, true
	}
	if !d.known() || !slices.Equal(d.held, j.held) {
		g.claims.unsaved, d.doubts = true, 0
	}
	// What a device holds may free a group or take one, but claims do not depend on
	// that once they are made; new ones are looked for when something has changed.
	if d.table != tableRead || !slices.Equal(d.held, j.held) {
		g.claims.allotted = false
	}
	d.held, d.table, d.readAt, d.fails, d.trouble = j.held, tableRead, now, 0, ""
	if j.kind == Reading {
		d.cost = j.cost
		return
	}
	if j.kept() {
		d.missed = 0
		g.bus.info("group table brought in step", "device", d.name, "groups", strings.Join(d.held, " "), "written today", d.writes)
		g.progress(d.name, "in step")
		return
	}
	g.notKept(d)
}

// kept reports whether what was read back is what was written.
func (j *tableJob) kept() bool {
	holds := func(group string) bool { return slices.Contains(j.held, group) }
	return !slices.ContainsFunc(j.join, func(group string) bool { return !holds(group) }) && !slices.ContainsFunc(j.leave, holds)
}

// notKept handles a device that read back something else than was written.
func (g *grouping) notKept(d *groupDevice) {
	now := g.bus.now
	d.missed++
	d.due = now.Add(min(groupPause<<min(d.missed-1, 10), groupPauseMost))
	if d.missed >= groupFailures {
		d.due, d.missed = now.Add(groupDay), 0
	}
	d.trouble = fmt.Sprintf("does not keep its groups: it holds %s after it was written; next try after %s",
		orNone(d.held), d.due.Format("2006-01-02 15:04"))
	g.bus.warn("device does not keep its groups; it is commanded by itself", "device", d.name, "holds", strings.Join(d.held, " "), "next try", d.due)
	g.progress(d.name, d.trouble)
}

// failed handles a job that could not be done.
func (g *grouping) failed(j *tableJob, err error) {
	now := g.bus.now
	g.dirty = true
	d := j.device
	switch {
	case d == nil:
		g.survey.at = now.Add(groupPause)
		return
	case errors.Is(err, appliance.ErrBusDown), errors.Is(err, appliance.ErrExpired):
		return // not its fault
	case errors.Is(err, appliance.ErrRefused) && j.kind == Reading:
		d.table, d.held = tableRefused, g.space.Declared[d.name]
		d.trouble = "keeps its group table to itself; what the site says of it is taken for true"
		g.bus.warn("device keeps its group table to itself; the groups that its node lists are taken for true", "device", d.name, "why", err)
	default:
		d.fails++
		d.due = now.Add(min(groupPause<<min(d.fails-1, 10), groupPauseMost))
		d.trouble = err.Error()
		if d.fails == 1 {
			g.bus.warn("group table of a device cannot be read or written; it is commanded by itself", "device", d.name, "why", err)
		}
	}
	if g.work.order != nil {
		g.work.order.tried[d.name] = true
	}
	g.progress(d.name, d.trouble)
}

// toWrite picks a device whose table differs from what it should be, and writes it
// when the book knows that it is being written.
func (g *grouping) toWrite() *tableJob {
	if !g.may() || !g.claims.allotted {
		return nil
	}
	for _, d := range g.devices {
		there, _ := g.answers(d)
		join, leave := g.difference(d)
		n := len(join) + len(leave)
		if !there || d.table != tableRead || n == 0 || !g.affordable(d, n) {
			continue
		}
		if !d.armed {
			d.armed = true
			g.save()
			return nil
		}
		d.table, g.dirty = tableUnknown, true // until it was read back
		if g.work.order != nil {
			g.work.order.tried[d.name] = true
		}
		g.progress(d.name, writingWhat(join, leave))
		return g.begin(&tableJob{kind: Changing, device: d, join: join, leave: leave})
	}
	return nil
}

// affordable reports whether n entries of a device may be written, and counts them.
func (g *grouping) affordable(d *groupDevice, n int) bool {
	now := g.bus.now
	switch {
	case d.armed:
		return true // counted already
	case g.work.order != nil:
		return !g.work.order.tried[d.name]
	case d.due.After(now):
		return false
	}
	if now.Sub(d.since) > groupDay || d.since.After(now) {
		d.since, d.writes = now, 0
	}
	if d.writes > 0 && d.writes+n > groupWrites {
		d.due = d.since.Add(groupDay)
		d.trouble = fmt.Sprintf("was written %d times since %s, which wears it out: left alone until %s; 'controllerd bus groups --write' writes it now",
			d.writes, d.since.Format("15:04"), d.due.Format("2006-01-02 15:04"))
		g.bus.warn("group table is not written any more today; the device is commanded by itself", "device", d.name, "written", d.writes)
		g.dirty = true
		return false
	}
	d.writes += n
	return true
}

func writingWhat(join, leave []string) string {
	var words []string
	if len(join) > 0 {
		words = append(words, "into "+strings.Join(join, " "))
	}
	if len(leave) > 0 {
		words = append(words, "out of "+strings.Join(leave, " "))
	}
	return "writing: " + strings.Join(words, ", ")
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// verdict is what an installer's order came to.
func (g *grouping) verdict() error {
	var bad []string
	for _, d := range g.devices {
		there, _ := g.answers(d)
		join, leave := g.difference(d)
		switch {
		case !there:
			bad = append(bad, d.name+" is offline")
		case !d.known():
			bad = append(bad, d.name+" did not tell its table: "+cmp.Or(d.trouble, "not read"))
		case len(join)+len(leave) > 0:
			bad = append(bad, d.name+" "+cmp.Or(d.trouble, "is not in step"))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	more := ""
	if len(bad) > 5 {
		more = fmt.Sprintf("; and %d more", len(bad)-5)
		bad = bad[:5]
	}
	return fmt.Errorf("not in step: %s%s", strings.Join(bad, "; "), more)
}
