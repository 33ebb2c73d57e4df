package modbus

import (
	"fmt"

	"svc.internal/controller/appliance"
)

// Exception is a unit's answer that it will not, or cannot now, do what it was
// asked (Modbus Application Protocol V1.1b3, §7).
type Exception struct {
	Unit byte
	What string // what was asked, in words
	Code byte
}

type exceptionMeaning struct {
	name   string
	advice string
	is     error
}

var exceptions = map[byte]exceptionMeaning{
	0x01: {"illegal function", "the device does not know this function: check the profile and the firmware", appliance.ErrRefused},
	0x02: {"illegal data address", "the device has no such register: check the profile and the firmware", appliance.ErrRefused},
	0x03: {"illegal data value", "the device does not take this value: check the profile and its limits", appliance.ErrRefused},
	0x04: {"device failure", "the device reports a fault of its own: check the device", appliance.ErrRefused},
	0x05: {"acknowledge", "it has begun and needs time", appliance.ErrAccepted},
	0x06: {"device busy", "it asks to be tried again later", appliance.ErrBusy},
	0x08: {"memory parity error", "the device reports a fault of its memory: check the device", appliance.ErrRefused},
	0x0A: {"gateway path unavailable", "the gateway works, its bus does not: check the gateway's settings", appliance.ErrSilent},
	0x0B: {"gateway target failed to respond", "the gateway works, the device behind it does not answer: check its power, wiring and address", appliance.ErrSilent},
}

// exceptionName is the standard's name of an exception code.
func exceptionName(code byte) string {
	if m, ok := exceptions[code]; ok {
		return m.name
	}
	return "unknown exception"
}

// Error names unit, request, exception and what to do about it.
func (e *Exception) Error() string {
	advice := "look the code up in the device's manual"
	if m, ok := exceptions[e.Code]; ok {
		advice = m.advice
	}
	return fmt.Sprintf("unit %d: %s: %v: %s (exception %02X); %s", e.Unit, e.What, e.Unwrap(), exceptionName(e.Code), e.Code, advice)
}

// Is reports whether a gateway has answered for the unit, beside what Unwrap gives.
func (e *Exception) Is(target error) bool {
	return target == appliance.ErrGateway && (e.Code == 0x0A || e.Code == 0x0B)
}

// Unwrap gives the outcome the core branches on. Codes that the standard does
// not define count as refusals.
func (e *Exception) Unwrap() error {
	if m, ok := exceptions[e.Code]; ok {
		return m.is
	}
	return appliance.ErrRefused
}
