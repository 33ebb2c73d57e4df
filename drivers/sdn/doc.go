// Package sdn speaks Somfy SDN, the RS-485 bus of Somfy's shade motors.
//
// Every motor has a factory address of three bytes, printed on its label as
// 06.1A.2B. A host asks (GET), commands (CTRL) and configures (SET); a motor
// answers a GET with the POST of the same kind, and a CTRL or SET with ACK or
// NACK if the host asked for that. An ACK means accepted, not arrived: whoever
// wants to know where a shade is has to ask for its position and status.
//
// # The frame
//
//	 1    2    3      4 5 6    7 8 9        10 …       last two
//	┌────┬────┬──────┬────────┬────────────┬──────────┬──────────┐
//	│ id │len │types │ source │ destination│ data     │ checksum │
//	└────┴────┴──────┴────────┴────────────┴──────────┴──────────┘
//	  id      message, see [MessageID]
//	  len     bits 0–6: length of the whole frame, 11 to 32; bit 7: please acknowledge
//	  types   high nibble: node type of the sender; low nibble: of the addressee, 0 = any
//	  source, destination   least significant byte first
//	  data    0 to 21 bytes, 16-bit values least significant byte first
//
// On the wire every byte but the checksum is inverted. The checksum is the plain
// sum of the inverted bytes, high byte first, and is not inverted. "Who is there",
// from 7F.7F.7F to everybody (FF.FF.FF):
//
//	40 0B 00 7F 7F 7F FF FF FF          as it is meant
//	BF F4 FF 80 80 80 00 00 00 04 32    as it is sent
//
// A receiver that lost track drops one byte after the other until a frame with a
// likely length and a right checksum begins. A sum is a weak check: an answer
// counts only if sender, addressee and message are those expected, too.
//
// # Groups
//
// A motor holds up to 16 group addresses (01.01.00 to 01.01.FE). A message to a
// group carries the group in the source field and 00.00.00 as destination.
// Messages to groups and to everybody are never acknowledged, and asking for it
// would make the answers collide.
//
// # Percent
//
// SDN counts 0 as fully open and 100 as fully closed. The rest of the controller
// counts the other way; this package converts.
//
// # Timing
//
// 4800 baud, 8 data bits, odd parity, 1 stop bit: a character lasts 2.29 ms. A
// motor answers 5 to 255 ms after the request, partly at random. Sources differ on
// the pause that a master has to keep: 10 ms (Integration Guide of 2019), 25 ms (as
// implemented by py-somfy-sdn after a later revision), 100 ms (Sonesse 30 sheet of
// 2009). 25 ms is the default here.
//
// Sources: Somfy "Sonesse 30 RS485 installation instructions" (ref. 5057808),
// Somfy RS485 RTS manual, public summaries of the Integration Guide DOC155888, and
// the open-source implementations somfy_sdn 2.4.1, py-somfy-sdn 1.2.0 and
// wb-mqtt-serial 2.260.3, whose frames are the test vectors.
package sdn
