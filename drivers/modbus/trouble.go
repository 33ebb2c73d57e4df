package modbus

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

var _ appliance.Troubled = (*Driver)(nil)

// Troubles gives the units that talk without being asked, and those that hold more than
// 100 where their profiles say that a percentage is: it is shown as 100, and means
// something else.
func (d *Driver) Troubles() map[string]string {
	now := time.Now()
	list := d.gossip.told(d, now)
	if v := &d.gossip.voided; v.times() > chance && now.Sub(v.last) <= forgiven {
		if unit := v.blamed(); unit != 0 && len(d.order) > 1 {
			if key := unitKey(unit); !strings.HasPrefix(list[key], errTwins.Error()) {
				list[key] = fmt.Sprintf("somebody talks into its answers, %d times lately; or another device has its address: give one of them another", v.units[unit])
			}
		} else {
			list[""] = fmt.Sprintf("another master is on the line: heard in %d of our exchanges lately, which were asked again; take it off", v.times())
		}
	}
	for _, u := range d.order {
		for _, t := range u.things {
			v := t.level
			if v == nil || v.spec.Map != "percent" || list[u.key] != "" {
				continue
			}
			if x, _, ok := t.anyNumber(v.read); ok && x > 100 {
				p := t.place(v.read)
				list[u.key] = fmt.Sprintf("%s %d holds %.0f, and a percentage is 100 at most: wrong profile?", p.table, p.addr, x)
			}
		}
	}
	return list
}

// gossip is who talked lately without being asked, while the bus was used as usual.
type gossip struct {
	*eavesdropper
	stray int // frames of the line that were no answers
	seen  int // frames that were looked at, of all kinds

	voided voided
}

// voided exchanges of ours: somebody else was heard in them, lately.
type voided struct {
	units map[byte]int // how many of each unit
	asks  bool         // a whole question was heard in one
	last  time.Time
}

// note one of a unit.
func (v *voided) note(unit byte, asks bool, at time.Time) {
	if v.units == nil || at.Sub(v.last) > forgiven {
		*v = voided{units: make(map[byte]int)}
	}
	v.units[unit]++
	v.asks, v.last = v.asks || asks, at
}

// times is how many there were.
func (v *voided) times() int {
	n := 0
	for _, times := range v.units {
		n += times
	}
	return n
}

// blamed is the unit whose address a second device has: what is heard is no question, and comes with that unit's answers
// at least three times of four, the rest being ends that reach into the next exchange. 0: another master, which does not
// choose.
func (v *voided) blamed() byte {
	for unit, times := range v.units {
		if !v.asks && 4*times >= 3*v.times() {
			return unit
		}
	}
	return 0
}

// forgiven is after how long of not talking unasked a unit is in order again.
const forgiven = 10 * time.Minute

// errTwins: whom of them to believe, nobody can tell.
var errTwins = errors.New("two devices have this address, and their answers differ")

// listen looks at what has come since the last time.
func (g *gossip) listen(d *Driver) {
	if g.eavesdropper == nil {
		g.eavesdropper = newEavesdropper(d)
		g.strict = true
	}
	if stray := d.line.Stray(); stray != g.stray || len(g.piece) > 0 || len(g.units) > 0 {
		var frames []appliance.Frame
		frames, g.seen = d.line.Since(g.seen)
		g.stray = stray
		g.take(frames)
	}
}

// told looks at what has come since the last time, and says of each unit that talks
// unasked that it does; in the log once.
func (g *gossip) told(d *Driver, now time.Time) map[string]string {
	list := make(map[string]string)
	if d.codec.tcp { // a gateway that talks unasked does not
		return list
	}
	g.listen(d)
	for n, t := range g.units {
		if now.Sub(t.at) > forgiven {
			delete(g.units, n)
			continue
		}
		if t.times <= chance {
			continue
		}
		what := fmt.Sprintf("talks unasked, %d times lately; or another device has its address", t.times)
		if g.twins(n) {
			what = errTwins.Error() + ": give one of them another address"
		} else if t.master() {
			what = fmt.Sprintf("another master asks it, %d times lately", t.times)
		}
		list[unitKey(n)] = what
		if !t.told {
			t.told = true
			d.log.Warn("somebody talks without being asked; scan the bus", "unit", n, "frame", fmt.Sprintf("% X", t.sample))
		}
	}
	return list
}
