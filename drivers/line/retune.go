package line

import (
	"fmt"
	"time"

	"go.bug.st/serial"

	"svc.internal/controller/appliance"
)

// checkSettings refuses other settings where there are none.
func (l *Line) checkSettings(r Request) error {
	if r.At == nil {
		return nil
	}
	if l.address != "" {
		return fmt.Errorf("%w: %s is a socket: the bit rate is set in the serial server", appliance.ErrRefused, l.where)
	}
	if _, err := characterBits(*r.At); err != nil {
		return fmt.Errorf("%w: %s: %w", appliance.ErrRefused, l.where, err)
	}
	return nil
}

// retune gives the port the settings of a request, and returns what gives it its own
// again. Called with the turn held, and with the line silent.
func (l *Line) retune(p port, r Request) (back func(), err error) {
	s, isSerial := p.(*serialPort)
	if r.At == nil || !isSerial {
		return func() {}, nil
	}
	if err := s.Tune(*r.At); err != nil {
		l.lose(p, err)
		return nil, l.down(err)
	}
	return func() {
		// What others said meanwhile was received at the wrong settings.
		l.pace.dirty = time.Now()
		if err := s.Tune(l.cfg.Serial); err != nil {
			l.lose(p, err)
		}
	}, nil
}

// airtimeAt is how long n characters last at other settings; nil: the line's own.
func (l *Line) airtimeAt(at *appliance.LineSettings, n int) time.Duration {
	if at == nil {
		return l.Airtime(n)
	}
	bits, err := characterBits(*at)
	if err != nil {
		return 0 // refused before anything is sent
	}
	return time.Duration(int64(n) * int64(bits) * int64(time.Second) / int64(at.BaudRate))
}

// modeOf is how the library wants settings.
func modeOf(s appliance.LineSettings) *serial.Mode {
	stop := serial.OneStopBit
	if s.StopBits == 2 {
		stop = serial.TwoStopBits
	}
	return &serial.Mode{BaudRate: s.BaudRate, DataBits: s.DataBits, Parity: parities[s.Parity], StopBits: stop}
}
