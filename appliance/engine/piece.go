package engine

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// duty is what a piece of work owes to a shade.
type duty uint8

const (
	noDuty   duty = iota
	mustStop      // nobody else would stop the shade: it is tried until it expires
	mayStop       // its relay is released where it stands: that gives way to everything, and is tried once
)

// stops reports whether a shade is to be stopped.
func stops(w appliance.Want) bool { return w.Shade != 0 && w.Motion == appliance.Stop }

// piece is one chain of a command, waiting or between two exchanges.
type piece struct {
	chain   appliance.Chain
	members []*member // of one command, parallel to chain.Wants
	expires time.Time // no frame of it that writes goes out later, see deadline
	ceiling time.Time // whoever asked does not wait longer
	duty    duty
	// offline: its device was known not to answer. One try, which gives way to others.
	offline bool
	// overtaken while it was out: what is left of it is planned anew.
	overtaken bool
	slow      bool // its device has accepted it, and said that it needs time

	pos       int // of the next exchange in chain.Steps, and then in chain.Verify
	tries     int // of that exchange
	looks     int // times that it was read back since it was ordered, and had something else
	notBefore time.Time
	outAt     time.Time // when the frame went out that is judged next, if that was noted
	sentAt    time.Time // when it was ordered
	fadeEnd   time.Time // until then another level may be one on the way
	readErr   error     // the last read-back that failed
}

const (
	// commandTime is what a command gets beyond the bus time of its fan-out, and
	// CommandMost what it gets at most.
	commandTime = 2 * time.Second
	CommandMost = 10 * time.Second
	// maxWrites is how often a member is ordered in all.
	maxWrites = 3
	stopPause = 500 * time.Millisecond // between tries to stop what nobody else would
)

// rank of a piece: the lower goes first.
type rank uint8

const (
	rankStop       rank = iota // first try of a STOP
	rankWrite                  // first writes, as they came
	rankStopRead               // whether a STOP was obeyed
	rankRead                   // reading back of others
	rankRepair                 // what has to be ordered or read again, since it was not as wanted, or was damaged
	rankStopRetry              // a STOP that was not heard
	rankRetry                  // others whose device did not answer lately
	rankAgain                  // what orders things again that the last frame of a command ordered
	rankOffline                // the one try that a device gets which is offline
	rankStopBehind             // a STOP that nobody else would send, unheard thrice
	ranks
)

// rankOf a piece; silent: its device did not answer when it was last asked. Whoever is
// silent keeps nobody waiting: its repetitions come behind everything that others want.
func (p *piece) rankOf(silent bool) rank {
	stop := p.stops() && !p.verifying()
	switch {
	case stop && (p.duty == mayStop || p.duty == mustStop && p.tries >= ofCommands.silent):
		return rankStopBehind
	case p.offline && !p.verifying():
		return rankOffline
	case p.tries > 0 && stop:
		return rankStopRetry
	case stop:
		return rankStop
	case silent:
		return rankRetry
	case p.tries > 0, p.looks > 0, p.repairs():
		return rankRepair
	case p.verifying() && p.stops():
		return rankStopRead
	case p.verifying():
		return rankRead
	}
	return rankWrite
}

func (p *piece) stops() bool { return len(p.chain.Wants) > 0 && stops(p.chain.Wants[0]) }

// repairs reports whether the piece tells members again.
func (p *piece) repairs() bool {
	return slices.ContainsFunc(p.members, func(m *member) bool { return m.writes > 1 || m.writes > 0 && !p.verifying() })
}

// begun reports whether anything of the piece went over the wire.
func (p *piece) begun() bool { return p.pos > 0 || p.tries > 0 || p.looks > 0 }

// verifying reports whether everything is written, and read back now.
func (p *piece) verifying() bool { return p.pos >= len(p.chain.Steps) }

// exchange returns what the piece needs done next.
func (p *piece) exchange() *appliance.Exchange {
	if p.verifying() {
		return &p.chain.Verify[p.pos-len(p.chain.Steps)]
	}
	return &p.chain.Steps[p.pos]
}

// deadline is when its time is over. What was ordered in time may be read back for as long
// as whoever asked waits: else many commands at once, which are all ordered before the first
// is read back, could not be confirmed on a slow bus.
func (p *piece) deadline() time.Time {
	if p.verifying() {
		return later(p.expires, p.ceiling)
	}
	return p.expires
}

// over reports whether there is nothing left to do.
func (p *piece) over() bool { return p.pos >= len(p.chain.Steps)+len(p.chain.Verify) }

// open lists the members whose outcome is still to come.
func (p *piece) open() []*member {
	list := p.members
	if slices.ContainsFunc(list, func(m *member) bool { return !m.open() }) {
		list = slices.DeleteFunc(slices.Clone(list), func(m *member) bool { return !m.open() })
	}
	return list
}

// of finds the member that speaks of a thing; nil if none does.
func (p *piece) of(ref appliance.Ref) *member {
	for _, m := range p.members {
		if m.target.Ref == ref {
			return m
		}
	}
	return nil
}

func (p *piece) airtime() time.Duration {
	var t time.Duration
	for i := range p.chain.Steps {
		t += p.chain.Steps[i].Airtime
	}
	return t + p.lookTime()
}

// lookTime is what it costs to read the members back once.
func (p *piece) lookTime() time.Duration {
	var t time.Duration
	for i := range p.chain.Verify {
		t += p.chain.Verify[i].Airtime
	}
	return t
}

// targets of members, in their order.
func targets(members []*member) []appliance.Want {
	wants := make([]appliance.Want, len(members))
	for i, m := range members {
		wants[i] = m.target
	}
	return wants
}

// aspect is a part of a thing's state that one command replaces as a whole.
type aspect uint8

const (
	aspectLight aspect = 1 << iota
	aspectTune
	aspectColour
	aspectMotion
)

func aspectsOf(a appliance.Ability) aspect {
	var out aspect
	if a&(appliance.CanSwitch|appliance.CanDim) != 0 {
		out |= aspectLight
	}
	if a&appliance.CanTune != 0 {
		out |= aspectTune
	}
	if a&appliance.CanColour != 0 {
		out |= aspectColour
	}
	if a&(appliance.CanMove|appliance.CanPosition) != 0 {
		out |= aspectMotion
	}
	return out
}

// without takes the abilities of some aspects out.
func without(has appliance.Ability, a aspect) appliance.Ability {
	for _, part := range []appliance.Ability{appliance.CanSwitch | appliance.CanDim, appliance.CanTune, appliance.CanColour, appliance.CanMove | appliance.CanPosition} {
		if a&aspectsOf(part) != 0 {
			has &^= part
		}
	}
	return has
}

// agrees reports whether what was read of a light is what was wanted, as far as both
// speak of the same.
func agrees(want appliance.Values, got appliance.Reading) bool {
	both := want.Has & got.Has
	if want.SpeaksOfLevel() && got.SpeaksOfLevel() && want.Level != got.Level {
		return false
	}
	if both.Has(appliance.CanTune) && want.Kelvin != got.Kelvin {
		return false
	}
	if both.Has(appliance.CanColour) && want.RGBW != got.RGBW {
		return false
	}
	return true
}
