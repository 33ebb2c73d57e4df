package line

import (
	"time"

	"svc.internal/controller/appliance"
)

// Verdict is what a protocol thinks of the bytes received so far.
type Verdict uint8

// The verdicts. n is the count returned with them by [Request.Scan].
const (
	// More: not complete yet; go on listening.
	More Verdict = iota
	// Accept: the first n bytes are the answer.
	Accept
	// Skip: the first n bytes are not for us (another unit, a late answer, noise);
	// drop and record them, look at the rest, go on until the deadline.
	Skip
	// Reject: the answer came damaged. The exchange fails with ErrDamaged and the
	// line is re-synchronised before the next one. On a serial line all bytes are
	// dropped, on a socket the first n (all, if n is 0).
	Reject
	// Broken: the stream cannot be trusted any more; on a socket the connection is
	// dropped and made again, on a serial port the same as Reject.
	Broken
)

// Request is one frame out and, unless Scan is nil, one answer in.
type Request struct {
	Frame []byte
	// Scan judges the bytes received since the frame went out (on a stream that
	// frames itself, see [Config.Port], also those left from before). It is called
	// whenever bytes arrived and again after a Skip, with what is left; it must not
	// keep b, and must not use the line. Nil: nobody answers, and the line is kept
	// silent for Turnaround.
	Scan func(b []byte) (n int, v Verdict)
	// Length, if not nil, is how long the answer is that b begins, as far as b tells; 0: not
	// at all. On a serial port the rest is waited for without waking anybody for each byte.
	// It must be quick, and must not use the line.
	Length func(b []byte) int
	// Own reports whether bytes begin the answer to this request and to no other, for a
	// line with [Config.InFlight]; too few do not.
	Own func(b []byte) bool
	// Timeout for the whole answer, counted from the end of transmission; above 0
	// if there is a Scan.
	Timeout time.Duration
	// Patience, if not nil, is asked when the line is free, and everything that came before was
	// looked at: a longer time than Timeout. It must not use the line for an exchange.
	Patience func() time.Duration
	// Silence required before the frame, if longer than the line's own.
	Guard time.Duration
	// Turnaround after a frame that nobody answers. The exchange lasts until its
	// end, unless ctx ends before; then the next request waits for the rest.
	Turnaround time.Duration
	// Yield says when to give the exchange up with ErrPreempted.
	Yield appliance.Yield
	// At, if not nil, are other settings of a serial port for this exchange alone,
	// complete; afterwards the port has its own again. Whoever speaks at the line's
	// own settings hears noise meanwhile. Refused on sockets.
	At *appliance.LineSettings
	// Actuates marks a frame that moves something. If it cannot be proven to have
	// left this machine in time (bytes stuck in a socket), the connection is
	// aborted so that it is never delivered late.
	Actuates bool
}

// patient has the time-out that holds now.
func (r Request) patient() Request {
	if r.Patience != nil {
		r.Timeout = max(r.Timeout, r.Patience())
	}
	return r
}

// Reply to a request.
type Reply struct {
	Frame []byte    // the accepted bytes; nil if nobody answers
	Sent  time.Time // when the last byte of the request was on the wire; zero: nothing was sent
	Done  time.Time // when the last byte of the answer was there; Sent if nobody answers
}
