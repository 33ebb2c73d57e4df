// Package dalisim plays a DALI line behind a serial gateway, byte by byte.
//
// Control gear has the state that IEC 62386 gives it: levels and fades, the three
// data transfer registers, device types that must be enabled, commands that count
// only when they come twice within 100 ms, groups, scenes, random addresses and the
// commands that search and program them, colour temperature and RGBW. The gateway
// in front of it speaks one of three protocols, and everything takes the time it
// takes on the wire:
//
//	serial bytes │ gap │ forward frame │ gap │ backward frame │ serial bytes
//	             │ 13.5–21 ms │ 15.83 ms │ 5.5–10.5 ms │ 9.17 ms │
//
// The framing of the gateways and the meaning of the frames are written from the
// same public documents as the driver's, once more, and share nothing with it.
package dalisim
