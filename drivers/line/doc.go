// Package line owns one serial port or one TCP connection: silence before a
// frame, the end of an answer, deadlines, re-synchronisation, and a port that is
// pulled and put back.
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
// from there.
package line
