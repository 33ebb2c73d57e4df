package modbus

import (
	"errors"

	"svc.internal/controller/appliance"
)

// UsualSettings are those that a line may have of which nobody knows anything, the most
// usual first: what the makers of the profiles deliver, and what the standard asks for, before the
// rest.
func UsualSettings() []appliance.LineSettings {
	first := []appliance.LineSettings{
		{BaudRate: 9600, Parity: "none", DataBits: 8, StopBits: 2}, {BaudRate: 19200, Parity: "even", DataBits: 8, StopBits: 1},
		{BaudRate: 9600, Parity: "even", DataBits: 8, StopBits: 1}, {BaudRate: 19200, Parity: "none", DataBits: 8, StopBits: 2},
	}
	list := first
	for _, at := range otherSettings(first[0]) {
		if at != first[1] && at != first[2] && at != first[3] {
			list = append(list, at)
		}
	}
	return list
}

// findOut asks who is there at one setting after the other, each address once, until somebody
// answers. A gateway that answers for a device is somebody.
func (s *search) findOut(settings []appliance.LineSettings, first, last int) {
	serial := s.driver.settings != (appliance.LineSettings{})
	for i := range settings {
		at := &settings[i]
		if !serial {
			at = nil // they are set in the gateway
		}
		for n := first; n <= last && !s.over(); n++ {
			if s.answersAt(byte(n), at) {
				return
			}
		}
		if !serial {
			return
		}
	}
}

// answersAt tells who answers at one address and other settings; nil: at those that there are.
func (s *search) answersAt(n byte, at *appliance.LineSettings) bool {
	p := probe{request: question(n), at: at, timeout: probeTimeout + extraAt(at, 8+7)}
	if s.driver.codec.tcp {
		p.timeout = probeTCPTimeout
	}
	_, _, err := s.ask(p)
	if errors.Is(err, appliance.ErrDamaged) {
		_, _, err = s.ask(p)
	}
	if errors.Is(err, appliance.ErrGateway) {
		s.Tell(appliance.Found{Gateway: true, Detail: "a Modbus gateway; " + whySilent(err) + " for address " + unitKey(n)})
		return true
	}
	if !answered(err) {
		return false
	}
	f := s.guesser(n, at).guess()
	if at != nil {
		f.Line = *at
	}
	s.Tell(f)
	return true
}
