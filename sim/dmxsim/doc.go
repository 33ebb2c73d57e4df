// Package dmxsim plays the far end of a DMX port: an Enttec DMX USB Pro with its
// universe, the fixtures on it, and the RDM devices among them.
//
// The widget is modelled at the byte level and was written without looking at the
// driver: framing, RDM packets and the mixing of colours exist twice in this
// project, so that the two check each other. Three things are believed of a real
// widget:
//
//   - It repeats the last universe at its own rate. A new one is on the wire from
//     the next packet on; slot n follows 44 µs × n after the packet's start code.
//   - Every label but 6 and 3 stops the output until the next label 6. Fixtures
//     then hold what they have for a second and go dark ([Config.HoldFor]).
//   - It answers labels 3, 7, 10 and 11, and keeps silent on those it does not
//     know, 14, 77 and 78 among them.
//
// [Fixture] turns slots back into what a lamp emits.
package dmxsim
