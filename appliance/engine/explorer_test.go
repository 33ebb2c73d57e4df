package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// TestExplorerOfEventsCampaign gives random commands, often the same ones, to lamps of which
// one falls ill, on a line or behind a gateway that hangs now and then. It knows what each lamp
// has, and judges: no success that is not true, nothing written that nobody waits for any more,
// nothing written into the silence of a connection, everybody told in time, no healthy lamp
// that fails while its gateway is well, whoever is dead known to be. No goroutine is in it: a
// minute of a bus takes a millisecond. 3,000 histories, 300,000 with SOAK=1; SEED replays one.
func TestExplorerOfEventsCampaign(t *testing.T) {
	first, last := uint64(0), uint64(drivertest.Size(3000, 300_000))
	if one, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		first, last = one, one+1
	}
	for seed := first; seed < last && !t.Failed(); seed++ {
		newLife(t, seed).live()
	}
}

// life is one history of a bus.
type life struct {
	*rig
	seed    uint64
	dice    *rand.Rand
	g       *gateway // nil: a line
	ill     *thing
	illness string
	hungAt  time.Time // since when the gateway hangs, or until when it did
	orders  []order
}

// order is a command, and what was so when it was given.
type order struct {
	id     uint64
	at     time.Time
	level  appliance.Level
	things []*thing
}

func newLife(t *testing.T, seed uint64) *life {
	dice := rand.New(rand.NewPCG(seed, 31))
	l := &life{rig: newRig(t, 2+dice.IntN(6), 0), seed: seed, dice: dice}
	l.airtime = time.Duration(5+dice.IntN(60)) * time.Millisecond
	l.timeout = time.Duration(100+dice.IntN(900)) * time.Millisecond
	if dice.IntN(2) == 0 {
		l.late = l.timeout
	}
	if dice.IntN(2) == 0 {
		l.g = throughGateway(l.rig, l.timeout)
	}
	l.begin()
	l.ill = l.things[dice.IntN(len(l.things))]
	l.illness = []string{"none", "silent", "deaf", "lossy", "busy", "overslept"}[dice.IntN(6)]
	well := l.ill.answers
	l.ill.answers = func(write bool) (bool, time.Duration, error) {
		if l.g != nil && l.g.hangs {
			return well(write)
		}
		switch l.illness {
		case "silent":
			if l.g != nil && seed%3 == 0 {
				return false, l.timeout / 2, fmt.Errorf("%w: %w", appliance.ErrSilent, appliance.ErrGateway)
			}
			return l.silent(write)
		case "deaf":
			return false, 0, nil
		case "lossy", "busy", "overslept":
			if dice.IntN(3) > 0 {
				break
			}
			errs := map[string]error{"lossy": appliance.ErrDamaged, "busy": appliance.ErrBusy, "overslept": fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent)}
			return dice.IntN(2) == 0, time.Duration(dice.IntN(100)) * time.Millisecond, errs[l.illness]
		}
		if well != nil {
			return well(write)
		}
		return true, 0, nil
	}
	return l
}

func (l *life) live() {
	fellIll := l.now
	for range 10 + l.dice.IntN(20) {
		switch n := l.dice.IntN(12); {
		case n < 5:
			l.order(l.things[l.dice.IntN(len(l.things))])
		case n < 7:
			l.order(l.things...)
		case n < 9 && len(l.orders) > 0: // the same again
			o := l.orders[len(l.orders)-1]
			l.give(o.level, o.things...)
		case n < 10 && l.g != nil:
			l.g.hangs, l.g.writes = !l.g.hangs, 0
			l.hungAt = l.now
		}
		l.run(time.Duration(l.dice.IntN(800)) * time.Millisecond)
		if l.dice.IntN(4) == 0 {
			l.run(time.Duration(l.dice.IntN(6000)) * time.Millisecond)
		}
	}
	if l.g != nil {
		l.g.hangs, l.hungAt = false, l.now
	}
	l.run(CommandMost + 2*time.Second)
	l.judgeFrames()
	if l.g != nil && l.g.most > 1 {
		l.fail("%d writes went into the silence of a gateway that hung, which may carry them out late", l.g.most)
	}
	for _, o := range l.orders {
		l.judgeOrder(o)
	}
	if l.illness == "silent" && l.now.Sub(fellIll) > 40*time.Second && l.online[l.ill.node] {
		l.fail("node %d has been dead for %v, and counts as online", l.ill.node, l.now.Sub(fellIll))
	}
}

func (l *life) order(things ...*thing) { l.give(appliance.Level(l.dice.IntN(101)), things...) }

func (l *life) give(level appliance.Level, things ...*thing) {
	o := order{at: l.now, level: level, things: things}
	o.id = l.command(dim(level), things...)
	l.orders = append(l.orders, o)
}

// judgeOrder judges what became of a command.
func (l *life) judgeOrder(o order) {
	if got := len(l.ended[o.id]); got != len(o.things) {
		l.fail("command %d: %d of %d members have an outcome", o.id, got, len(o.things))
		return
	}
	for _, e := range l.ended[o.id] {
		th := o.things[e.Place]
		overtaken, last := false, true
		for _, later := range l.orders {
			for _, other := range later.things {
				if later.id > o.id && other == th {
					overtaken, last = overtaken || later.level != o.level, false
				}
			}
		}
		ill := th == l.ill && l.illness != "none"
		hung := !l.hungAt.IsZero()
		switch {
		case e.Outcome == Confirmed && last && th.level != o.level:
			l.fail("command %d: node %d is confirmed, and has %d instead of %d", o.id, th.node, th.level, o.level)
		case e.Outcome == Confirmed && e.At.After(o.at.Add(CommandMost)) && last:
			l.fail("command %d: node %d was confirmed %v later", o.id, th.node, e.At.Sub(o.at))
		case e.Outcome != Confirmed && !ill && !overtaken && !hung && l.calm():
			l.fail("command %d: node %d is well: %v, %v", o.id, th.node, e.Outcome, e.Why)
		}
	}
}

// calm reports whether the bus had time for all: no illness of another takes more of it than
// the commands have.
func (l *life) calm() bool { return l.illness != "lossy" && l.illness != "overslept" }

// judgeFrames judges what was written, and when.
func (l *life) judgeFrames() {
	for _, f := range l.frames {
		if !f.write {
			continue
		}
		wanted := false
		for _, o := range l.orders {
			for _, th := range o.things {
				wanted = wanted || th.node == f.node && o.level == f.want.Level && !f.at.Before(o.at) && f.at.Before(o.at.Add(CommandMost+l.airtime))
			}
		}
		if !wanted {
			l.fail("at %v, node %d is ordered %d, and nobody waits for it", f.at.Sub(noon), f.node, f.want.Level)
		}
	}
}

func (l *life) fail(format string, args ...any) {
	l.t.Helper()
	if l.t.Failed() {
		return
	}
	l.t.Errorf("SEED=%d: %d lamps, gateway %v, node %d is %s: %s", l.seed, len(l.things), l.g != nil, l.ill.node, l.illness, fmt.Sprintf(format, args...))
	if os.Getenv("SEED") != "" {
		for _, f := range l.frames {
			l.t.Logf("%v node %d write %v %d", f.at.Sub(noon), f.node, f.write, f.want.Level)
		}
		for _, o := range l.orders {
			l.t.Logf("%v command %d: %d for %d", o.at.Sub(noon), o.id, o.level, len(o.things))
		}
	}
}
