// Package dmx drives luminaires on DMX512 through Enttec interfaces.
//
// DMX512 (ANSI E1.11) is a loudspeaker, not a conversation: one sender repeats
// up to 512 numbers, the universe, and every fixture picks out the slots from its
// start address on. Nobody acknowledges, nothing can be read back. What the
// controller shows of a fixture is therefore what was sent to it, and says so.
//
// # On the wire
//
//	  break ≥ 92 µs │ mark ≥ 12 µs │ start code 00 │ slot 1 │ … │ slot n ≤ 512
//	────────────────┴──────────────┴───────────────┴────────┴───┴─────────────▶ t
//
// 250000 baud, 8N2: 44 µs a slot, 22.6 ms a full universe, so at most 44 of them
// a second. A fixture that hears nothing for a second may go dark.
//
// # Enttec DMX USB Pro and compatibles
//
// A micro-controller repeats the universe; the host talks to it in frames:
//
//	7E │ label │ length low │ length high │ data, 0 … 600 bytes │ E7
//
// Data is not escaped: 7E and E7 may stand inside, so a frame is cut by its
// length and its last byte checked. Label 6 sets the universe (data: start code,
// slots) and is never answered. Label 3 asks for the widget's parameters and is;
// the driver sends it right behind every command's universe, so that the answer
// proves that the widget has taken both. Any other label stops the output: the
// universe is sent again after it. (ENTTEC "DMX USB Pro Widget API 1.44".)
//
// The baud rate of the virtual serial port means nothing to the widget. The driver
// sets that of DMX itself, 250000 8N2, so that the computed end of a transmission
// is about the moment at which the last slot is on the wire, and the widget is
// never fed faster than it can repeat.
//
// # Open DMX USB
//
// A bare line driver: the host makes break, mark and slots itself and has to
// repeat them for ever. See openPort.
//
// # RDM
//
// RDM (ANSI E1.20) is a conversation in the gaps of DMX, through the Pro only:
// who is there, where does he listen, blink. A packet goes out by label 7 (11 for
// discovery) and its answer comes as label 5, or label 12 says that none came:
//
//	CC │ 01 │ length │ to, 6 │ from, 6 │ number │ port or answer type │ 00 │
//	sub-device, 2 │ class │ parameter, 2 │ data length │ data │ checksum, 2
//
// The checksum is the sum of all bytes before it. The answer to a discovery has no
// such form, because many speak at once: up to 7 × FE, AA, then each byte b of the
// UID as b|AA, b|55, then their sum in the same way. When two collide the sum is
// wrong, and the range that was asked for is halved.
package dmx
