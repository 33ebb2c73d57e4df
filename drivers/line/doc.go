// Package line owns one serial port or one connection.
//
// It takes care of what all protocols need alike: the silence before a frame, the
// moment from which a time-out counts, the end of an answer, deadlines,
// re-synchronisation after a damaged answer, and a port that is pulled and put
// back. What the bytes mean is the business of a protocol's own package, which
// judges them in [Request.Scan].
//
// # One exchange on a serial line
//
//	  …last byte seen │ silence ≥ Silence │ request  │ answer time │ answer │
//	──────────────────┴───────────────────┴──────────┴─────────────┴────────┴──▶ t
//	                                      ▲          ▲             ▲        ▲
//	                                   written     Sent        first byte  Done
//
// The kernel buffers a write, so the end of transmission is computed: the moment
// of the write plus the frame's characters at the line's speed. Time-outs count
// from there. An answer that comes earlier ends the computation: virtual serial
// ports are faster than their settings.
//
// # Which bytes belong to which request
//
// Bytes that came before a request was written are never its answer: they are
// shown to [Config.Overheard] or discarded. A late answer that comes after the
// next request went out is for Scan to recognise, which returns [Skip]. On a
// stream that frames itself nothing is cut off: Scan sees every byte and tells by
// the transaction number.
//
// After a damaged or incomplete answer, and after a caller that left, a serial
// line is discarded until it has been silent for the time a frame needs; a
// connection is dropped if it was left in the middle of a frame. A line that does
// not fall silent within [BabbleLimit] fails the request with a message that says
// so.
//
// # A command is never delivered late
//
// A frame is not begun if it cannot be out before the deadline. One that was
// begun and moves something ([Request.Actuates]) is withdrawn when its exchange
// fails while bytes of it are still in this machine: the connection is reset, or
// the serial port's buffer emptied.
package line
