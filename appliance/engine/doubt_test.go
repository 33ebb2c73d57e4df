package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// gateway is a connection whose other end answers one question after the other, each after a
// time of its own, and hangs while it is told to.
type gateway struct {
	r            *rig
	dead         map[appliance.ID]time.Duration // units that do not answer, and how long it waits for them
	hangs        bool
	busy         time.Time // until then it is at the questions before
	missed       int       // questions of units that are well, in vain
	writes, most int       // since it hangs, and ever within one time
}

// throughGateway has the things of a rig hang off a gateway.
func throughGateway(r *rig, timeout time.Duration) *gateway {
	g := &gateway{r: r, dead: map[appliance.ID]time.Duration{}}
	r.port, r.timeout = "tcp://192.0.2.1:502", timeout
	for _, th := range r.things {
		th.answers = func(write bool) (bool, time.Duration, error) { return g.ask(th, write) }
	}
	return g
}

func (g *gateway) ask(th *thing, write bool) (bool, time.Duration, error) {
	if g.hangs {
		if write {
			g.writes++
			g.most = max(g.most, g.writes)
		}
		return false, g.r.timeout, appliance.ErrSilent
	}
	g.writes = 0
	wait := max(0, g.busy.Sub(g.r.now))
	takes, dead := g.dead[th.node]
	g.busy = later(g.busy, g.r.now).Add(takes)
	if wait += takes; wait > g.r.timeout {
		if !dead {
			g.missed++
		}
		return !dead, g.r.timeout, appliance.ErrSilent
	}
	if dead {
		return false, wait, fmt.Errorf("%w: %w", appliance.ErrSilent, appliance.ErrGateway)
	}
	return true, wait, nil
}

// A gateway that hangs, and whose kernel still takes bytes, used to get a write each second,
// which all fired when it was well again, long after everybody had been told 0.
func TestNothingIsWrittenIntoSilence(t *testing.T) {
	r := newRig(t, 6, 0)
	g := throughGateway(r, time.Second)
	r.begin()
	g.hangs = true
	var all []uint64
	for i := range 20 {
		r.after(time.Duration(i)*700*time.Millisecond, func() { all = append(all, r.command(dim(appliance.Level(10+i)), r.things[i%6])) })
	}
	r.run(25 * time.Second)
	writes := 0
	for i, f := range r.frames {
		if f.write {
			writes++
		}
		if i > 0 && f.at.Sub(r.frames[i-1].at) < time.Second && f.at.Before(noon.Add(40*time.Second)) {
			t.Errorf("frame %d goes out %v after the one before: more than one is out", i, f.at.Sub(r.frames[i-1].at))
		}
	}
	if writes > 1 {
		t.Errorf("%d writes went to a gateway that answers nothing, want the first at most", writes)
	}
	for _, id := range all {
		if as, why := r.outcome(id); as != Failed || why == nil {
			t.Errorf("command %d: %v, %v", id, as, why)
		}
	}
	g.hangs = false
	r.run(30 * time.Second)
	well := r.command(dim(99), r.things...)
	r.run(3 * time.Second)
	for _, e := range r.ended[well] {
		if e.Outcome != Confirmed {
			t.Errorf("when it is well again: %v, %v", e.Outcome, e.Why)
		}
	}
}

// One dead unit behind a gateway that answers for the others costs a read between, and no
// command to them.
func TestAnAnswerEndsTheDoubt(t *testing.T) {
	r := newRig(t, 4, 0)
	g := throughGateway(r, time.Second)
	r.begin()
	g.dead[1] = 300 * time.Millisecond
	var all []uint64
	for i := range 30 {
		r.after(time.Duration(i)*400*time.Millisecond, func() { all = append(all, r.command(dim(appliance.Level(10+i)), r.things[1+i%3])) })
	}
	r.command(dim(50), r.things[0])
	r.run(15 * time.Second)
	for _, id := range all {
		if as, why := r.outcome(id); as != Confirmed {
			t.Errorf("command %d to a unit that is well: %v, %v", id, as, why)
		}
	}
	if r.online[1] || !r.online[2] {
		t.Errorf("online: %v", r.online)
	}
}

// Nor is there a doubt where the gateway itself says that the unit does not answer.
func TestAGatewayThatAnswersForAUnitIsThere(t *testing.T) {
	r := newRig(t, 3, 0)
	g := throughGateway(r, time.Second)
	r.begin()
	g.dead[1] = 300 * time.Millisecond
	r.command(dim(50), r.things[0])
	r.after(100*time.Millisecond, func() { r.command(dim(60), r.things[1]) })
	r.run(time.Second)
	if len(r.frames) < 2 || !r.frames[0].write || !r.frames[1].write || r.frames[1].node != 2 {
		t.Errorf("%v; want the two writes after each other", r.frames)
	}
}

// Where several questions may be out at once, none begins while nothing is heard but one.
func TestOneReadAtATimeIsOutInDoubt(t *testing.T) {
	r := newRig(t, 4, 0)
	throughGateway(r, time.Second)
	r.begin()
	w := r.wiring()
	w.Opened.InFlight = 4
	r.take(Configure{Wiring: w})
	for i, th := range r.things {
		r.command(dim(appliance.Level(20+i)), th)
	}
	var out []*Perform
	more := func() bool {
		task, _ := r.take(Look{})
		if task != nil {
			out = append(out, task)
			r.take(Out{Task: task.Task, Sent: r.now})
		}
		return task != nil
	}
	over := func() {
		r.take(Over{Task: out[0].Task, Result: appliance.Result{Sent: r.now}, Err: appliance.ErrSilent, Began: r.now})
		out = out[1:]
	}
	for more() {
	}
	if len(out) != 4 {
		t.Fatalf("%d are out, want 4", len(out))
	}
	r.now = r.now.Add(time.Second)
	for range 4 {
		if over(); len(out) > 0 && more() {
			t.Fatal("another begins while some are out and nothing is heard")
		}
	}
	if !more() || out[0].GivesWay != ToNone || more() {
		t.Errorf("then %d are out, want one read", len(out))
	}
}

// Nobody is asked out of turn to end a doubt unless a command waits for its end.
func TestADoubtThatKeepsNobodyIsLeft(t *testing.T) {
	r := newRig(t, 2, 0)
	throughGateway(r, time.Second)
	r.begin()
	finding := func(doubt, waits bool) bool {
		r.s.link.doubt, r.s.pieces = doubt, nil
		if waits {
			r.s.pieces = []*piece{{chain: appliance.Chain{Steps: make([]appliance.Exchange, 1)}}}
		}
		return r.s.nextHearing() != nil
	}
	for _, row := range []struct{ doubt, waits, asked bool }{{false, false, false}, {false, true, false}, {true, false, false}, {true, true, true}} {
		if got := finding(row.doubt, row.waits); got != row.asked {
			t.Errorf("in doubt %v, and a command waits %v: asked %v", row.doubt, row.waits, got)
		}
	}
}

// What a device refuses is not asked again.
func TestARefusalIsFinal(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	r.things[0].answers = func(write bool) (bool, time.Duration, error) { return false, 0, appliance.ErrRefused }
	id := r.command(dim(5), r.things[0])
	r.run(time.Second)
	if as, why := r.outcome(id); as != Failed || !errors.Is(why, appliance.ErrRefused) || r.writes(r.things[0]) != 1 {
		t.Errorf("%v, %v; ordered %d times", as, why, r.writes(r.things[0]))
	}
}

// A gateway takes 2.5 s for each of two dead units, longer than its answers are waited for:
// commands to the ten others used to time out behind those questions.
func TestCommandsFitBetweenTheQuestionsToTheDead(t *testing.T) {
	r := newRig(t, 12, 0)
	g := throughGateway(r, time.Second)
	r.begin()
	g.dead[3], g.dead[7] = 2500*time.Millisecond, 2500*time.Millisecond
	fellSilent := r.now
	known := time.Time{}
	var all []uint64
	for i := range 40 {
		r.after(time.Duration(i)*500*time.Millisecond, func() {
			n := []int{0, 1, 3, 4, 5, 7, 8, 9, 10, 11}[i%10]
			all = append(all, r.command(dim(appliance.Level(10+i)), r.things[n]))
			if known.IsZero() && !r.online[3] && !r.online[7] {
				known = r.now
			}
		})
	}
	r.run(25 * time.Second)
	failed := 0
	for _, id := range all {
		if as, why := r.outcome(id); as != Confirmed {
			failed++
			t.Logf("command %d: %v, %v", id, as, why)
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d commands to units that are well failed", failed, len(all))
	}
	if known.IsZero() || known.Sub(fellSilent) > 20*time.Second {
		t.Errorf("both are known to be gone after %v", known.Sub(fellSilent))
	}
	for id := range appliance.ID(12) {
		if want := id+1 != 3 && id+1 != 7; r.online[id+1] != want {
			t.Errorf("unit %d online: %v", id+1, r.online[id+1])
		}
	}
}

// On a line that all hear there is nobody in between who would keep a write.
func TestALineIsWrittenAgainAtOnce(t *testing.T) {
	r := newRig(t, 2, 0).begin()
	misses := 2
	r.things[0].answers = func(write bool) (bool, time.Duration, error) {
		if misses--; misses >= 0 {
			return false, r.timeout, appliance.ErrSilent
		}
		return true, 0, nil
	}
	id := r.command(dim(30), r.things[0])
	r.run(time.Second)
	if n := r.writes(r.things[0]); n != 3 || len(r.frames) < 3 || !r.frames[1].write || !r.frames[2].write {
		t.Errorf("written %d times, want thrice, one after the other", n)
	}
	if as, why := r.outcome(id); as != Confirmed {
		t.Errorf("%v, %v", as, why)
	}
}

// A device that acknowledges and needs time is read until it is done, and not told again.
func TestWhatIsAcceptedIsReadUntilItIsDone(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	lamp := r.things[0]
	var told time.Time
	takes := 1500 * time.Millisecond
	lamp.answers = func(write bool) (bool, time.Duration, error) {
		switch {
		case write && told.IsZero():
			told = r.now
			r.after(takes, func() { lamp.level = 60 })
			return false, 0, fmt.Errorf("unit 1: %w", appliance.ErrAccepted)
		case !told.IsZero() && r.now.Sub(told) < time.Second:
			return false, 0, appliance.ErrBusy
		}
		return true, 0, nil
	}
	id := r.command(dim(60), lamp)
	r.run(3 * time.Second)
	if as, why := r.outcome(id); as != Confirmed {
		t.Errorf("%v, %v", as, why)
	}
	if n := r.writes(lamp); n != 1 {
		t.Errorf("written %d times, want once", n)
	}
	told, takes = time.Time{}, time.Hour
	id = r.command(dim(61), lamp)
	r.run(11 * time.Second)
	if as, why := r.outcome(id); as != Failed || !errors.Is(why, appliance.ErrMismatch) {
		t.Errorf("one that never gets done: %v, %v", as, why)
	}
	if n := r.writes(lamp); n != 2 {
		t.Errorf("written %d times in all, want once each", n)
	}
}

// A device that is busy until nobody waits any more is said to be busy.
func TestBusyIsSaidToBeBusy(t *testing.T) {
	r := newRig(t, 1, 0).begin()
	r.things[0].answers = func(bool) (bool, time.Duration, error) {
		return false, 0, fmt.Errorf("unit 1: %w", appliance.ErrBusy)
	}
	id := r.command(dim(60), r.things[0])
	r.run(11 * time.Second)
	if as, why := r.outcome(id); as != Failed || !errors.Is(why, appliance.ErrBusy) {
		t.Errorf("%v, %v; want that it is busy", as, why)
	}
}

// An exchange of which we woke too late proves nothing of anybody: it is asked again, and no
// device is suspected.
func TestOurOwnLatenessAccusesNobody(t *testing.T) {
	r := newRig(t, 3, 0).begin()
	overslept := fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent)
	r.after(time.Second, func() {
		until := r.now.Add(10 * time.Second)
		n := 0
		for _, th := range r.things {
			th.answers = func(bool) (bool, time.Duration, error) {
				if n++; r.now.Before(until) && n%2 == 0 {
					return true, 300 * time.Millisecond, overslept
				}
				return true, 0, nil
			}
		}
	})
	var all []uint64
	for i := range 9 {
		r.after(time.Duration(1+i)*time.Second, func() { all = append(all, r.command(dim(appliance.Level(40+i)), r.things[i%3])) })
	}
	r.run(12 * time.Second)
	for _, id := range all {
		if as, why := r.outcome(id); as != Confirmed {
			t.Errorf("command %d: %v, %v", id, as, why)
		}
	}
	for _, d := range r.s.inTurn() {
		if !d.online || d.suspect() {
			t.Errorf("device %s: online %v, suspect %v", d.name, d.online, d.suspect())
		}
	}
	if s := r.s.accounts.stats; s.Silent != 0 {
		t.Errorf("%d exchanges are counted as silent", s.Silent)
	}
	for _, l := range r.said {
		if l.Text != "bus is up" && l.Text != "device answers" {
			t.Errorf("said: %s %v", l.Text, l.Args)
		}
	}
	misses := 5
	r.things[0].answers = func(bool) (bool, time.Duration, error) {
		if misses--; misses >= 0 {
			return false, 100 * time.Millisecond, overslept
		}
		return true, 0, nil
	}
	id := r.command(dim(3), r.things[0])
	r.run(2 * time.Second)
	if as, why := r.outcome(id); as != Confirmed {
		t.Errorf("after five in a row: %v, %v", as, why)
	}
	// One that always is gives up with the command, and is bounded.
	for _, th := range r.things {
		th.answers = func(bool) (bool, time.Duration, error) { return false, 300 * time.Millisecond, overslept }
	}
	id = r.command(dim(1), r.things[0])
	r.run(11 * time.Second)
	if as, why := r.outcome(id); as != Failed {
		t.Errorf("%v, %v", as, why)
	}
}

// An adapter that echoes acknowledges a write for a device that is offline: that is no life.
func TestAcknowledgementOfAnOfflineDeviceIsNoLife(t *testing.T) {
	r := newRig(t, 2, 0).begin()
	lamp := r.things[0]
	lamp.answers = r.silent
	r.run(30 * time.Second)
	if r.online[1] {
		t.Fatal("it counts as online")
	}
	lamp.answers = func(write bool) (bool, time.Duration, error) {
		if write {
			return false, 0, nil
		}
		return r.silent(write)
	}
	id := r.command(dim(5), lamp)
	r.run(3 * time.Second)
	if as, _ := r.outcome(id); as != Failed || r.online[1] {
		t.Errorf("the command: %v; online: %v", as, r.online[1])
	}
}

// A serial server that falls behind answers older questions than the one that is out, which is read as damage. That it lives says
// nothing of how much waits in it: nothing is written before a question has its own answer.
func TestAnOlderAnswerEndsNoDoubt(t *testing.T) {
	r := newRig(t, 2, 0)
	throughGateway(r, 200*time.Millisecond)
	r.begin()
	behind := true
	for i, th := range r.things {
		asked := 0
		th.answers = func(bool) (bool, time.Duration, error) {
			switch asked++; {
			case !behind:
				return true, 0, nil
			case i == 0 && asked == 1:
				return true, r.timeout, appliance.ErrSilent
			}
			return false, 50 * time.Millisecond, fmt.Errorf("%w: the answer is to another question", appliance.ErrDamaged)
		}
	}
	first := r.command(dim(50), r.things[0])
	r.after(250*time.Millisecond, func() { r.command(dim(60), r.things[1]) })
	r.run(2 * time.Second)
	if n := r.writes(r.things[0]) + r.writes(r.things[1]); n > 1 {
		t.Errorf("%d writes wait in a server that is behind, want the first", n)
	}
	if as, _ := r.outcome(first); as == Confirmed {
		t.Error("confirmed by answers to others")
	}
	behind = false
	r.run(30 * time.Second)
	well := r.command(dim(70), r.things...)
	r.run(2 * time.Second)
	for _, e := range r.ended[well] {
		if e.Outcome != Confirmed {
			t.Errorf("when it has caught up: %v, %v", e.Outcome, e.Why)
		}
	}
}
