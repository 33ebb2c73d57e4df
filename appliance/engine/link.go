package engine

import (
	"errors"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// link says whether the bus can be used.
type link struct {
	down   error // why it cannot; nil: it can
	closed bool  // for good
	// Of a connection, see [Wiring.stream]: when something was last heard, and whether nothing
	// was since a question went out.
	heard time.Time
	doubt bool
}

// opening: it is not known yet whether the bus will be there.
func (l *link) opening() bool { return errors.Is(l.down, appliance.ErrOpening) && !l.closed }

func (l *link) up() bool { return l.down == nil }

// stream reports whether somebody in between, such as a gateway, or the kernels of both sides,
// may keep what is sent and deliver it when nobody waits for it any more. The gateway is a
// device of its own: after a silence nothing is known of it before something answers.
func (w *Wiring) stream() bool { return strings.Contains(w.Config.Bus.Port, "tcp://") }

func (e Link) step(s *State) { s.checkLink(e.Down) }

// listen takes note of whether anybody is there at the other end of a connection. While that
// is in doubt one read is out at a time, and nothing is written.
func (s *State) listen(t *task, res appliance.Result, err error) {
	l := &s.link
	switch {
	case !s.wiring.stream() || errors.Is(err, appliance.ErrOverslept):
	case answered(err):
		l.heard, l.doubt = s.now, false
	case errors.Is(err, appliance.ErrSilent) && !t.isJob() && !l.heard.After(res.Sent):
		if l.doubt && t.kind == taskFinding {
			s.inVain(err)
		}
		l.doubt = true
	}
}

// inVain counts a question that was to end the doubt as a try of all that waits for it to end.
func (s *State) inVain(err error) {
	for _, p := range slices.Clone(s.pieces) {
		if !p.verifying() && !s.tryAgain(p, err) {
			s.replace(p, nil)
			s.failPiece(p, err)
		}
	}
}

// answered reports whether whoever was asked has, whatever it was. Damage is none: behind a serial server that has fallen behind
// it is the answer to an older question, and more may wait in it.
func answered(err error) bool {
	for _, is := range []error{appliance.ErrGateway, appliance.ErrRefused, appliance.ErrBusy, appliance.ErrAccepted} {
		if errors.Is(err, is) {
			return true
		}
	}
	return err == nil
}

// nextHearing asks whoever was heard last, if a command waits for something to answer: of
// devices that count as online, those first that are not suspect.
func (s *State) nextHearing() *pollState {
	waits := slices.ContainsFunc(s.pieces, func(p *piece) bool { return !p.verifying() })
	if !s.link.doubt || !waits {
		return nil
	}
	var best *pollState
	var by *device
	for _, p := range s.schedule.polls {
		d := s.device(p.Device)
		if !d.online || d.asked || d.restReads.After(s.now) {
			continue
		}
		if best == nil || d.fails < by.fails || d.fails == by.fails && d.lastSeen.After(by.lastSeen) {
			best, by = p, d
		}
	}
	return best
}
