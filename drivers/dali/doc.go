// Package dali drives DALI control gear through serial gateways.
//
// # The line
//
// DALI (IEC 62386) is a pair of wires at 1200 bit/s, Manchester coded: up to 64
// gears with short addresses 0 to 63, 16 groups and 16 scenes that the gears hold
// themselves. One side asks, in forward frames of 16 bits; a gear may answer with
// one byte:
//
//	│ address byte │ data byte │      forward, 15.83 ms
//	  0AAAAAAS  short address A       S = 0: the data byte is an arc power level
//	  100GGGGS  group G               S = 1: it is a command or a query
//	  1111111S  broadcast
//	  1111110S  broadcast to gear without short address
//	  101CCCC1, 110CCCC1  special commands
//	│ byte │                          backward, 9.17 ms, 5.5 to 10.5 ms after
//
// With the gaps that the standard asks for that makes some 30 frames a second, or
// 20 queries. Silence is a valid answer: "no". An answer that is garbled means that
// several gears answered; to a yes/no question that is a yes.
//
// Commands that change what a gear has stored must come twice within 100 ms.
// Commands of a device type, such as colour, must follow ENABLE DEVICE TYPE
// immediately, and take their operands from three registers (DTR0 to DTR2) that
// all gears share: such sequences must not be interleaved with anything else, and
// are one exchange here.
//
// # The gateway
//
// Bytes on the serial port belong to the gateway: the ATX LED HAT, Lunatone LUBA
// or SCI; each is drawn in its own file. A gateway confirms that it sent a frame.
// No gear ever confirms that it obeyed.
//
// # What counts as acknowledged
//
// Because no gear acknowledges, every command here, to one gear too, is verified:
// its level is queried afterwards, and only the answer acknowledges it. Who still
// has another level, or says nothing, is sent its own frame again.
//
// # Levels
//
// Arc power levels run from 0 to 254 on a logarithmic curve, 1 being 0.1 % and 254
// being 100 % of the light. By default percent is light output; the node option
// "curve: linear" makes it level/254, for gear that was set to a linear curve.
// Several percentages share a level near the top (99 and 100 do), so the driver
// remembers what was asked for, and reports that as long as it explains what the
// gear says.
package dali
