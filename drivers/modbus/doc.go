// Package modbus drives lights, shades and meters that speak Modbus.
//
// # Frames
//
//	RTU, and RTU over TCP (at most 256 bytes)
//	┌──────┬──────────┬────────────┬──────────────────────┐
//	│ unit │ function │ data ≤ 252 │ CRC-16, low byte 1st │
//	└──────┴──────────┴────────────┴──────────────────────┘
//	TCP (at most 260 bytes)
//	┌─────────────┬──────────┬────────┬──────┬──────────┬────────────┐
//	│ transaction │ protocol │ length │ unit │ function │ data ≤ 252 │
//	│ 2           │ 00 00    │ 2      │ 1    │ 1        │            │
//	└─────────────┴──────────┴────────┴──────┴──────────┴────────────┘
//
// An exception is function + 80 and one code byte. Unit 0 is everybody: it takes
// writes only, and nobody answers. RTU has no transaction number: an answer that
// comes after its time-out looks like the answer to the next request, which is
// why a device is left alone for a while after it missed one
// (appliance.Exchange.Late), and why nothing is sent before the line was silent.
//
// # Ports
//
//	/dev/serial/by-id/…       RTU on a serial adapter
//	tcp://10.0.0.4:502        Modbus TCP (port 502 if none is given)
//	rtu+tcp://10.0.0.4:4001   RTU frames through a transparent serial server
//
// # Node addresses
//
//	5        unit 5
//	5/12     a DALI gateway, unit 5, and short address 12 behind it
//	5/2.12   the same on the gateway's DALI line 2 (lines count from 1)
//
// # Profiles
//
// What a device is made of is data: a profile names its registers, how numbers
// in them become levels, kelvin or watts, and what it tolerates. Profiles of
// real products are built in; an installer adds others as YAML files (see
// [ProfileSchema] and docs/modbus.md).
//
// # What is remembered
//
// Registers hold less than was asked: 51 % of 0–254 is 130, which is also 51.2 %;
// a strip's three colour registers hold colour times level. The driver remembers
// what was last asked of each output, and reports exactly that as long as the
// registers hold what it maps to. Whatever else they hold is converted back.
package modbus
