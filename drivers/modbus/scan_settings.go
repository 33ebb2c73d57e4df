package modbus

import (
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
)

// Bit rates and parities that devices are set to, the usual ones first (the standard
// asks for 9600 and 19200, and for even parity; the market has none).
var (
	usualBauds    = []int{9600, 19200, 38400, 57600, 115200, 4800, 2400}
	usualParities = []string{"none", "even", "odd"}
)

// otherSettings are those that a device on a line with these settings may have
// instead. Stop bits do not matter to a receiver: two are sent where there is no
// parity, and one or two are understood.
func otherSettings(own appliance.LineSettings) []appliance.LineSettings {
	bauds := []int{own.BaudRate}
	for _, baud := range usualBauds {
		if baud != own.BaudRate {
			bauds = append(bauds, baud)
		}
	}
	var list []appliance.LineSettings
	for _, baud := range bauds {
		for _, parity := range usualParities {
			if baud == own.BaudRate && parity == own.Parity {
				continue
			}
			stop := 1
			if parity == "none" {
				stop = 2
			}
			list = append(list, appliance.LineSettings{BaudRate: baud, Parity: parity, DataBits: 8, StopBits: stop})
		}
	}
	return list
}

// settingsName is what people call line settings; how many stop bits there are is not
// told where it makes no difference.
func settingsName(s appliance.LineSettings) string {
	return fmt.Sprintf("%d 8%c", s.BaudRate, map[string]rune{"none": 'N', "even": 'E', "odd": 'O'}[s.Parity])
}

// extraAt is how much longer n characters may take at other settings than at any that
// the bus would have.
func extraAt(at *appliance.LineSettings, n int) time.Duration {
	if at == nil {
		return 0
	}
	return time.Duration(n) * 12 * time.Second / time.Duration(at.BaudRate)
}

// allSettings asks every address at other settings. Each question is an exchange of
// its own, after which the port has its own settings again: lights go on obeying.
func (s *search) allSettings(first, last int) {
	d := s.driver
	if d.settings == (appliance.LineSettings{}) {
		s.Tell(appliance.Found{Finding: appliance.FoundNote,
			Detail: "other bit rates and parities can be tried on serial ports only; here they are set in the gateway"})
		return
	}
	for _, at := range otherSettings(d.settings) {
		for n := first; n <= last && !s.over(); n++ {
			s.unitAt(byte(n), at)
		}
	}
}

// unitAt looks whether somebody answers at other settings.
func (s *search) unitAt(n byte, at appliance.LineSettings) {
	p := probe{request: question(n), at: &at, timeout: probeTimeout + extraAt(&at, 8+7)}
	_, _, err := s.ask(p)
	if errors.Is(err, appliance.ErrDamaged) {
		_, _, err = s.ask(p) // what others say at the line's own settings looks like anything here
	}
	var exception *Exception
	if err != nil && !errors.As(err, &exception) {
		return
	}
	s.astray++
	g := s.guesser(n, &at)
	f := g.guess()
	own := settingsName(s.driver.settings)
	f.Finding, f.Line = appliance.FoundSettings, at
	f.Detail = fmt.Sprintf("answers at %s, and the bus has %s; %s", settingsName(at), own, f.Detail)
	f.Advice = fmt.Sprintf("set the device to %s with its maker's tool", own)
	if s.there[n] {
		f.Advice += ", and give it another address first: this one is taken"
	}
	s.Tell(f)
	if f.Gateway {
		g.gear(f)
	}
}

// nobody says what was asked if nobody answered, so that the installer knows what is
// left to try. It is the line that has to be put right only if all addresses were asked:
// a few may be free.
func (s *search) nobody(first, last int) {
	if s.over() || first > last || s.mute+s.clean+s.astray+len(s.bad)+len(s.unsure)+len(s.heard.late) > 0 {
		return
	}
	d, serial := s.driver, s.driver.settings != (appliance.LineSettings{})
	at := ""
	if serial {
		at = " at " + describeLine(d.settings)
		if s.all {
			at += fmt.Sprintf(", and at %d other settings", len(otherSettings(d.settings)))
		}
	}
	if first > 1 || last < LastUnit {
		f := appliance.Found{Finding: appliance.FoundNote, Detail: fmt.Sprintf("none of these addresses answered: %d to %d of %d were asked%s", first, last, LastUnit, at)}
		if first == last {
			f.Detail = fmt.Sprintf("address %d did not answer; no other of the %d was asked%s", first, LastUnit, at)
		}
		if len(d.units) == 0 {
			f.Advice = "if somebody should be there, ask all addresses: scan without --first and --last"
			if serial && !s.all {
				f.Advice += ", or ask these at other bit rates and parities with --all-settings"
			}
		}
		s.Tell(f)
		return
	}
	f := appliance.Found{Finding: appliance.FoundHindered, Detail: fmt.Sprintf("NOBODY ANSWERED: addresses %d to %d of %d were asked%s", first, last, LastUnit, at)}
	switch {
	case !serial:
		f.Advice = "check the address of the gateway or serial server, what its line is set to, and the power of the devices"
	case s.all:
		f.Advice = "check power and wiring: A and B may be swapped"
	default:
		f.Advice = "check power and wiring (A and B may be swapped), and scan with --all-settings: it asks at other bit rates and parities"
	}
	s.Tell(f)
}
