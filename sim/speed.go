package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// lineSpeed is how long things take on a serial line.
type lineSpeed struct {
	char    time.Duration // one character
	silence time.Duration // t3.5
	setup   lineSetup
}

// Market habit where neither the site nor the devices' makers say otherwise.
const (
	defaultBaud   = 9600
	defaultParity = "none"
)

// silenceBits is t3.5 in bits: the specification counts a character as 11 bits
// whatever its format (V1.02, clause 2.5.1.1).
const silenceBits = 38.5

// factoryLine is how the devices on a bus left the factory, as far as known.
func factoryLine(nodes []appliance.Node) appliance.LineSettings {
	for _, n := range nodes {
		if line := families[n.Profile].line; line != (appliance.LineSettings{}) {
			return line
		}
	}
	return appliance.LineSettings{}
}

// Above this speed t3.5 is fixed (clause 2.5.1.1).
const (
	fixedSilenceAbove = 19200
	fixedSilence      = 1750 * time.Microsecond
)

// speedOf works out the timing of a line.
func speedOf(s appliance.LineSettings) (lineSpeed, error) {
	baud, parity, data, stop := s.BaudRate, s.Parity, s.DataBits, s.StopBits
	if baud == 0 {
		baud = defaultBaud
	}
	if parity == "" {
		parity = defaultParity
	}
	if data == 0 {
		data = 8
	}
	if stop == 0 {
		stop = 1
	}
	bits := 1 + data + stop
	switch parity {
	case "none":
	case "even", "odd":
		bits++
	default:
		return lineSpeed{}, fmt.Errorf("parity %q: want none, even or odd", parity)
	}
	switch {
	case baud < 300 || baud > 4_000_000:
		return lineSpeed{}, fmt.Errorf("baud rate %d: want 300 to 4000000", baud)
	case data != 8:
		return lineSpeed{}, fmt.Errorf("%d data bits: Modbus RTU needs 8", data)
	case stop < 1 || stop > 2:
		return lineSpeed{}, fmt.Errorf("%d stop bits: want 1 or 2", stop)
	}
	l := lineSpeed{char: time.Duration(bits) * time.Second / time.Duration(baud), silence: fixedSilence, setup: lineSetup{baud, parity}}
	if baud <= fixedSilenceAbove {
		l.silence = time.Duration(silenceBits * float64(time.Second) / float64(baud))
	}
	return l, nil
}

// airtime is how long n characters take.
func (l lineSpeed) airtime(n int) time.Duration { return time.Duration(n) * l.char }

// checkPath makes sure that a simulated line never takes the place of a real
// one: nothing below /dev, and nothing that exists but the link of an earlier
// simulated line.
func checkPath(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	for _, p := range []string{abs, filepath.Join(dir, filepath.Base(abs))} {
		if p == "/dev" || strings.HasPrefix(p, "/dev/") {
			return fmt.Errorf("a simulated line is never put below /dev, where the real ones are; rehearse with another path in the site file")
		}
	}
	info, err := os.Lstat(abs)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if target, err := os.Readlink(abs); err == nil && strings.HasPrefix(target, "/dev/pts/") {
			return nil
		}
	}
	return fmt.Errorf("something that is not the link of a simulated line is there; move it away or choose another path")
}
