package shade

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A story is what happens to a shade, in order, and what the last of it makes the machine
// do: its actions, its phase and what must be stopped.
type story struct {
	name    string
	shade   State
	happens []happening
	want    string
}

// happening is an event at a time in milliseconds. Orders are called by their number.
type happening struct {
	at    int
	event func(t *teller) Event
}

type teller struct {
	state  State
	orders map[uint64]Order
}

var dawn = time.Unix(1000, 0)

func moment(ms int) time.Time { return dawn.Add(time.Duration(ms) * time.Millisecond) }

func at(ms int, e Event) happening {
	return happening{ms, func(*teller) Event { return e }}
}

// command of a person; sequence numbers are given as they come.
func command(ms int, seq uint64, k Kind, to ...float64) happening {
	c := Command{Seq: seq, Kind: k, Accepted: moment(ms), Expires: moment(ms + 2000)}
	if len(to) > 0 {
		c.Position = to[0]
	}
	return at(ms, c)
}

// held is a command of calibration 7.
func held(ms int, seq uint64, k Kind) happening {
	return at(ms, Command{Seq: seq, Kind: k, Accepted: moment(ms), Expires: moment(ms + 2000), Holder: 7})
}

func sent(ms int, order uint64) happening {
	return happening{ms, func(t *teller) Event { return Sent{Order: t.orders[order]} }}
}

func inGroup(ms int, order uint64) happening {
	return happening{ms, func(t *teller) Event { return Sent{Order: t.orders[order], Group: true} }}
}

func acked(ms int, order uint64) happening  { return at(ms, Ack{order}) }
func failed(ms int, order uint64) happening { return at(ms, Failed{Order: order}) }
func unread(ms int, order uint64) happening { return at(ms, Failed{Order: order, Unread: true}) }
func tick(ms int) happening                 { return at(ms, Tick{}) }
func reads(ms int, m Motion) happening      { return at(ms, Read{Asked: moment(ms), Motion: m}) }
func place(ms int, p float64, m Motion) happening {
	return at(ms, Read{Asked: moment(ms), Motion: m, Position: p, Place: true})
}

// told is an order that is sent, acknowledged and, unless seen is MotionUnknown, read.
func told(ms int, order uint64, seen Motion) []happening {
	h := []happening{sent(ms, order), acked(ms+1, order)}
	if seen != MotionUnknown {
		h = append(h, reads(ms+10, seen))
	}
	return h
}

func then(parts ...any) []happening {
	var all []happening
	for _, p := range parts {
		switch p := p.(type) {
		case happening:
			all = append(all, p)
		case []happening:
			all = append(all, p...)
		}
	}
	return all
}

// tell runs a story to its end.
func (s story) tell(t *testing.T) (State, []Action, []string) {
	t.Helper()
	w := &teller{state: s.shade, orders: map[uint64]Order{}}
	var actions []Action
	var log []string
	for _, h := range s.happens {
		e := h.event(w)
		w.state, actions = Step(w.state, moment(h.at), e)
		for _, a := range actions {
			if a, ok := a.(Send); ok {
				w.orders[a.Order.ID] = a.Order
			}
		}
		log = append(log, fmt.Sprintf("%6d ms %T: %s", h.at, e, describe(w.state, actions)))
		if err := w.state.Check(); err != nil {
			t.Errorf("at %d ms, after %T: %v\n%s", h.at, e, err, strings.Join(log, "\n"))
		}
	}
	return w.state, actions, log
}

func runStories(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			state, actions, log := s.tell(t)
			if got := describe(state, actions); got != s.want {
				t.Errorf("got  %s\nwant %s\n%s", got, s.want, strings.Join(log, "\n"))
			}
		})
	}
}

func describe(s State, actions []Action) string {
	var parts []string
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			text := fmt.Sprintf("send %d %s", a.Order.ID, kindNames[a.Order.Kind])
			if a.Order.Confirms != 0 {
				text += fmt.Sprintf(" for %d", a.Order.Confirms)
			}
			parts = append(parts, text)
		case Cancel:
			parts = append(parts, fmt.Sprintf("cancel %d", a.Order))
		case Keep:
			parts = append(parts, fmt.Sprintf("keep %d", a.Order))
		case Confirm:
			text := fmt.Sprintf("confirm %d", a.Order)
			if a.Also != 0 {
				text += fmt.Sprintf(" and %d", a.Also)
			}
			parts = append(parts, text)
		case Join:
			parts = append(parts, fmt.Sprintf("join %d", a.Order))
		case Refuse:
			parts = append(parts, "refuse: "+strings.SplitN(a.Why.Error(), " ", 2)[0])
		case ReadNow:
			parts = append(parts, "read now")
		case GiveUp:
			parts = append(parts, "give up")
		case Log:
			parts = append(parts, "log")
		}
	}
	phases := [...]string{"idle", "asked", "on route", "stopping"}
	dirs := [...]string{"", ", must stop up", ", must stop down", ", must stop both"}
	return strings.Join(append(parts, phases[s.Phase]+dirs[s.MustStop]), "; ")
}

var kindNames = [...]string{"nothing", "open", "close", "stop", "move"}

// relays are a shade on relays: 20 s up, 18 s down, half a second to turn round.
var relays = Settings{TravelUp: 20 * time.Second, TravelDown: 18 * time.Second, ReverseDelay: 500 * time.Millisecond}

// motor is one that measures its position.
var motor = Settings{Measures: true, Lag: usualLag}

// resting is a shade on relays that was read standing at a place.
func resting(p float64) State { return prepared(relays, p) }

// measured is a shade with a motor that told its position.
func measured(p float64) State { return prepared(motor, p) }

func prepared(set Settings, p float64) State {
	s, _ := Step(New(set, moment(-10_000)), moment(-10_000), Stood{p})
	s, _ = Step(s, moment(-10_000), Read{Asked: moment(-10_000), Motion: Standing, Position: p, Place: set.Measures})
	return s
}
