package dali

import (
	"fmt"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// gateway is a device between the serial port and the DALI line. It has no state:
// what one frame leads to is followed by a [hearing].
type gateway interface {
	// settings of the serial port.
	settings() appliance.LineSettings
	// encode makes the bytes that send one frame.
	encode(s Send) []byte
	// parse takes the first message off b. n 0: there is no whole one yet. Bytes
	// that are no message come back as [saidJunk], n of them.
	parse(b []byte) (m message, n int)
	traits() traits
}

// traits are the manners of a gateway.
type traits uint8

const (
	confirmsTwice traits = 1 << iota // a frame that is sent twice is confirmed twice
	explicit                         // each confirmation tells the answer too, or that there is none
	ordered                          // a confirmation tells its frame, and an answer follows it
	reports                          // tells of the frames of others
	unchecked                        // messages carry no checksum: a damaged answer can pass for another
)

func (t traits) has(one traits) bool { return t&one != 0 }

// confirmations is how often a gateway reports that s was sent.
func (t traits) confirmations(s Send) int {
	if s.Twice && t.has(confirmsTwice) {
		return 2
	}
	return 1
}

// said is the kind of a message from a gateway.
type said byte

const (
	saidJunk     said = iota
	saidOther         // a valid message of no concern here
	saidAccepted      // the frame is in the gateway's queue
	saidRefused       // the gateway will not send it, see text
	saidSent          // the frame was on the DALI line
	saidAnswer        // an 8-bit backward frame, see value
	saidNone          // sent, and nobody answered
	saidGarbled       // sent, and several answered at once
	saidConflict      // another sender was in the way; to be sent again
	saidFault         // the DALI line is not usable, see text
	saidHeard         // a frame of another master, see frame and bits
	saidInfo          // about the gateway itself
	saidSettings      // settings taken over
)

// message is what a gateway said, as far as it concerns the driver.
type message struct {
	said  said
	value byte
	frame Frame
	bits  int
	text  string // for people
}

// hearing follows what a gateway says about one frame.
type hearing struct {
	gw     gateway
	send   Send
	sent   int // confirmations so far
	answer Answer
	over   bool
	err    error
	// onSent is called when the last confirmation came and an answer may follow.
	onSent func()
	groups *groupSet // of other masters; may be nil
}

// scan is the Scan of a line request. Every message is taken off as it comes, so
// that nothing waits on the line when the time for an answer is over.
func (h *hearing) scan(b []byte) (int, line.Verdict) {
	m, n := h.gw.parse(b)
	if n == 0 {
		return 0, line.More
	}
	h.take(m)
	if h.over {
		return n, line.Accept
	}
	return n, line.Skip
}

func (h *hearing) take(m message) {
	switch m.said {
	case saidSent:
		if m.bits == 0 || m.frame == h.send.Frame { // else one that was given up before
			h.confirm(Answer{}, false)
		}
	case saidNone:
		h.confirm(Answer{}, true)
	case saidAnswer:
		switch {
		case h.traits().has(explicit) && !h.send.Asks && h.send.Frame.searches():
			h.end(errConflict) // not ours: nobody answers a search address
		case h.traits().has(explicit) || h.mine():
			h.confirm(Answer{AnswerValue, m.value}, true)
		}
	case saidGarbled:
		switch {
		case h.mine():
			h.confirm(Answer{Kind: AnswerGarbled}, true)
		case h.traits().has(explicit):
			h.end(errConflict)
		}
	case saidHeard:
		if h.groups != nil {
			h.groups.note(m)
		}
		// An answer begins long before somebody else's frame is over: what comes now
		// is to that. Others may report our own frame so.
		h.over = h.traits().has(ordered) && h.send.Asks && h.out()
	case saidConflict:
		h.end(errConflict)
	case saidRefused, saidFault:
		h.end(&gatewayError{m.text})
	}
}

// confirm counts a confirmation; final means that it tells of the answer too.
func (h *hearing) confirm(a Answer, final bool) {
	if h.sent > 0 && final && h.traits().has(explicit) && a != h.answer {
		// The two halves of a frame that was sent twice met different fates.
		h.end(errConflict)
		return
	}
	h.sent++
	h.answer = a
	switch need := h.traits().confirmations(h.send); {
	case h.sent < need:
	case !h.send.Asks || final:
		h.over = true
	case h.onSent != nil:
		h.onSent()
	}
}

// mine reports whether an answer is to this frame, as far as the gateway lets one know.
func (h *hearing) mine() bool { return h.send.Asks && (h.out() || !h.traits().has(ordered)) }

func (h *hearing) traits() traits { return h.gw.traits() }

func (h *hearing) end(err error) { h.over, h.err = true, err }

// out reports whether the frame is known to have been on the DALI line.
func (h *hearing) out() bool { return h.sent >= h.traits().confirmations(h.send) }

// gatewayError is what a gateway complains of.
type gatewayError struct{ what string }

func (e *gatewayError) Error() string { return fmt.Sprintf("the gateway reports: %s", e.what) }
