package control

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// groupKind says what a job is about.
type groupKind uint8

const (
	reading groupKind = iota
	changing
	surveying
)

// groupJob is a sequence of exchanges under way, between which others use the bus.
type groupJob struct {
	kind   groupKind
	device *groupDevice // nil when surveying
	next   func() (appliance.Exchange, bool)
	stop   func()
	told   bool
	held   []string
	join   []string // when changing
	leave  []string

	step      *appliance.Exchange // to be done next; nil: ask next
	tries     int
	notBefore time.Time
	cost      time.Duration
}

func (g *grouping) begin(kind groupKind, d *groupDevice, steps func(told func([]string)) iter.Seq[appliance.Exchange]) *groupJob {
	j := &groupJob{kind: kind, device: d}
	j.next, j.stop = iter.Pull(steps(func(held []string) { j.told, j.held = true, held }))
	return j
}

// drop ends the job under way.
func (g *grouping) drop() {
	if g == nil || g.job == nil {
		return
	}
	g.job.stop()
	if d := g.job.device; d != nil && g.job.kind == changing {
		d.armed, d.table = false, tableUnknown // nobody knows how far it got
		g.unsaved = true
	}
	g.job = nil
	g.dirty = true
}

// choose picks the next job: tables that are not known, then those not read since
// the bus was opened, then old ones; then a look at who else is there; then who
// gets which group; and only then writing.
func (g *grouping) choose(now time.Time) *groupJob {
	if d := g.toRead(now); d != nil {
		g.tell(d.name, "reading")
		return g.begin(reading, d, func(told func([]string)) iter.Seq[appliance.Exchange] { return g.driver.ReadGroups(d.name, told) })
	}
	if !g.surveyed && !g.surveyAt.After(now) && g.settled() {
		g.tell("", "looking for devices outside the site")
		return g.begin(surveying, nil, func(func([]string)) iter.Seq[appliance.Exchange] { return g.driver.SurveyGroups() })
	}
	if !g.allotted && g.surveyed && g.settled() {
		g.allot()
	}
	if g.unsaved && g.saving == nil && !g.saveAt.After(now) && (g.may() || now.Sub(g.savedAt) > groupSaveEvery) {
		g.save(now)
	}
	if g.saving != nil || g.unsaved {
		return nil // nothing is written that would not be known after a power cut
	}
	if j := g.toWrite(now); j != nil {
		return j
	}
	if g.order != nil && g.saving == nil && !g.unsaved && g.allotted {
		g.endOrder(g.verdict())
	}
	return nil
}

// toRead picks the device whose table is to be read next.
func (g *grouping) toRead(now time.Time) *groupDevice {
	age := g.rereadAfter()
	rank := func(d *groupDevice) int {
		ordered := g.order != nil && !g.order.tried[d.name]
		switch there, _ := g.answers(d); {
		case !there || d.table == tableRefused || d.due.After(now) && !ordered:
			return 0
		case !d.known():
			return 3
		case d.table == tableRecalled:
			return 2
		case now.Sub(d.readAt) > age, ordered && d.readAt.Before(g.order.since):
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

// settled reports whether enough is known to hand out groups: every device was
// asked whether it is there, and those that are have told their tables, or will
// not.
func (g *grouping) settled() bool {
	for _, d := range g.devices {
		there, judged := g.answers(d)
		if !judged || there && !d.known() && d.fails < groupFailures && (g.order == nil || !g.order.tried[d.name]) {
			return false
		}
	}
	return true
}

// finish takes the outcome of a job that is through.
func (g *grouping) finish(j *groupJob, now time.Time) {
	g.job = nil
	j.stop()
	g.dirty = true
	d := j.device
	switch {
	case j.kind == surveying:
		g.surveyed, g.looked = true, true
		return
	case !j.told:
		g.failed(j, fmt.Errorf("%w: its table is not whole", appliance.ErrDamaged), now)
		return
	}
	if d.armed {
		d.armed, g.unsaved = false, true
	}
	if !d.known() || !slices.Equal(d.held, j.held) {
		g.unsaved, d.doubts = true, 0
	}
	// What a device holds may free a group or take one, but claims do not depend on
	// that once they are made; new ones are looked for when something has changed.
	if d.table != tableRead || !slices.Equal(d.held, j.held) {
		g.allotted = false
	}
	d.held, d.table, d.readAt, d.fails, d.trouble = j.held, tableRead, now, 0, ""
	if j.kind == reading {
		d.cost = j.cost
		return
	}
	if j.kept() {
		d.missed = 0
		g.bus.log.Info("group table brought in step", "device", d.name, "groups", strings.Join(d.held, " "), "written today", d.writes)
		g.tell(d.name, "in step")
		return
	}
	g.notKept(d, now)
}

// kept reports whether what was read back is what was written.
func (j *groupJob) kept() bool {
	holds := func(group string) bool { return slices.Contains(j.held, group) }
	return !slices.ContainsFunc(j.join, func(group string) bool { return !holds(group) }) && !slices.ContainsFunc(j.leave, holds)
}

// notKept handles a device that read back something else than was written.
func (g *grouping) notKept(d *groupDevice, now time.Time) {
	d.missed++
	d.due = now.Add(min(groupPause<<min(d.missed-1, 10), groupPauseMost))
	if d.missed >= groupFailures {
		d.due, d.missed = now.Add(groupDay), 0
	}
	d.trouble = fmt.Sprintf("does not keep its groups: it holds %s after it was written; next try after %s",
		orNone(d.held), d.due.Format("2006-01-02 15:04"))
	g.bus.log.Warn("device does not keep its groups; it is commanded by itself", "device", d.name, "holds", strings.Join(d.held, " "), "next try", d.due)
	g.tell(d.name, d.trouble)
}

// failed handles a job that could not be done.
func (g *grouping) failed(j *groupJob, err error, now time.Time) {
	g.dirty = true
	d := j.device
	switch {
	case d == nil:
		g.surveyAt = now.Add(groupPause)
		return
	case errors.Is(err, appliance.ErrBusDown), errors.Is(err, appliance.ErrExpired):
		return // not its fault
	case errors.Is(err, appliance.ErrRefused) && j.kind == reading:
		d.table, d.held = tableRefused, g.space.Declared[d.name]
		d.trouble = "keeps its group table to itself; what the site says of it is taken for true"
		g.bus.log.Warn("device keeps its group table to itself; the groups that its node lists are taken for true", "device", d.name, "why", err)
	default:
		d.fails++
		d.due = now.Add(min(groupPause<<min(d.fails-1, 10), groupPauseMost))
		d.trouble = err.Error()
		if d.fails == 1 {
			g.bus.log.Warn("group table of a device cannot be read or written; it is commanded by itself", "device", d.name, "why", err)
		}
	}
	if g.order != nil {
		g.order.tried[d.name] = true
	}
	g.tell(d.name, d.trouble)
}

// toWrite picks a device whose table differs from what it should be, and writes it
// when the book knows that it is being written.
func (g *grouping) toWrite(now time.Time) *groupJob {
	if !g.may() || !g.allotted {
		return nil
	}
	for _, d := range g.devices {
		there, _ := g.answers(d)
		join, leave := g.difference(d)
		n := len(join) + len(leave)
		if !there || d.table != tableRead || n == 0 || !g.affordable(d, n, now) {
			continue
		}
		if !d.armed {
			d.armed = true
			g.save(now)
			return nil
		}
		d.table, g.dirty = tableUnknown, true // until it was read back
		if g.order != nil {
			g.order.tried[d.name] = true
		}
		g.tell(d.name, writingWhat(join, leave))
		j := g.begin(changing, d, func(told func([]string)) iter.Seq[appliance.Exchange] {
			return g.driver.ChangeGroups(d.name, join, leave, told)
		})
		j.join, j.leave = join, leave
		return j
	}
	return nil
}

// affordable reports whether n entries of a device may be written, and counts them.
func (g *grouping) affordable(d *groupDevice, n int, now time.Time) bool {
	switch {
	case d.armed:
		return true // counted already
	case g.order != nil:
		return !g.order.tried[d.name]
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
		g.bus.log.Warn("group table is not written any more today; the device is commanded by itself", "device", d.name, "written", d.writes)
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
