package modbus

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// busOptions are the driver's settings of a bus. See docs/modbus.md.
type busOptions struct {
	responseTimeout  time.Duration // 0: the profile's
	guard            time.Duration
	turnaround       time.Duration // after a broadcast
	lateAnswer       time.Duration // <0: computed
	echo             bool
	tolerateUnitZero bool
	broadcast        bool
	maxReadRegisters int
	maxReadBits      int
	maxExchange      time.Duration
	serverBaudRate   int // of the serial side of a transparent server; 0: not known
}

func readBusOptions(texts map[string]string) (busOptions, error) {
	o := busOptions{
		turnaround: 100 * time.Millisecond, lateAnswer: -1, broadcast: true,
		maxReadRegisters: maxReadRegisters, maxReadBits: maxReadBits, maxExchange: 60 * time.Millisecond,
	}
	err := readOptions(texts, map[string]func(string) error{
		"responseTimeout":  span(&o.responseTimeout, time.Millisecond, 10*time.Second),
		"guard":            span(&o.guard, 0, time.Second),
		"turnaround":       span(&o.turnaround, 0, 2*time.Second),
		"lateAnswer":       span(&o.lateAnswer, 0, 30*time.Second),
		"echo":             flag(&o.echo),
		"tolerateUnitZero": flag(&o.tolerateUnitZero),
		"broadcast":        flag(&o.broadcast),
		"maxReadRegisters": whole(&o.maxReadRegisters, 1, maxReadRegisters),
		"maxReadBits":      whole(&o.maxReadBits, 1, maxReadBits),
		"serverBaudRate":   whole(&o.serverBaudRate, 1200, 1000000),
		"maxExchange":      span(&o.maxExchange, 10*time.Millisecond, time.Second),
	})
	return o, err
}

// nodeOptions are the driver's settings of a node.
type nodeOptions struct {
	responseTimeout      time.Duration
	guard                time.Duration
	kelvinMin, kelvinMax int
	invertLevel          bool
	invertKelvin         bool
	curve                string // "", "standard", "linear"
	tunable              bool
	minLevel             int
	fade                 time.Duration
}

func readNodeOptions(texts map[string]string) (nodeOptions, error) {
	o := nodeOptions{tunable: true, minLevel: -1, fade: -1}
	err := readOptions(texts, map[string]func(string) error{
		"responseTimeout": span(&o.responseTimeout, time.Millisecond, 10*time.Second),
		"guard":           span(&o.guard, 0, time.Second),
		"kelvinMin":       whole(&o.kelvinMin, 1000, 20000),
		"kelvinMax":       whole(&o.kelvinMax, 1000, 20000),
		"invertLevel":     flag(&o.invertLevel),
		"invertKelvin":    flag(&o.invertKelvin),
		"curve":           choice(&o.curve, "standard", "linear"),
		"tunable":         flag(&o.tunable),
		"minLevel":        whole(&o.minLevel, 0, 100),
		"fade":            span(&o.fade, 0, time.Minute),
	})
	return o, err
}

// readOptions refuses keys that nobody reads.
func readOptions(texts map[string]string, read map[string]func(string) error) error {
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		set := read[key]
		if set == nil {
			return fmt.Errorf("option %q is unknown, allowed: %s", key, strings.Join(slices.Sorted(maps.Keys(read)), ", "))
		}
		if err := set(texts[key]); err != nil {
			return fmt.Errorf("option %s: %w", key, err)
		}
	}
	return nil
}

func span(to *time.Duration, low, high time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d < low || d > high {
			return fmt.Errorf("is %q, want a time with its unit from %v to %v", text, low, high)
		}
		*to = d
		return nil
	}
}

func whole(to *int, low, high int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return fmt.Errorf("is %q, want a whole number from %d to %d", text, low, high)
		}
		*to = n
		return nil
	}
}

func flag(to *bool) func(string) error {
	return func(text string) error {
		switch text {
		case "true":
			*to = true
		case "false":
			*to = false
		default:
			return fmt.Errorf("is %q, want true or false", text)
		}
		return nil
	}
}

func choice(to *string, allowed ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(allowed, text) {
			return fmt.Errorf("is %q, allowed: %s", text, strings.Join(allowed, ", "))
		}
		*to = text
		return nil
	}
}

// completeLine fills in line settings: the installer's, else those that all
// profiles on the bus come with, else 9600 8N1.
func completeLine(have appliance.LineSettings, profiles []*Profile) (appliance.LineSettings, error) {
	if have == (appliance.LineSettings{}) {
		for _, p := range profiles {
			if p.Line == nil {
				continue
			}
			next := appliance.LineSettings{BaudRate: p.Line.BaudRate, Parity: p.Line.Parity, DataBits: p.Line.DataBits, StopBits: p.Line.StopBits}
			if have != (appliance.LineSettings{}) && have != next {
				return have, fmt.Errorf("its devices come with different line settings (%s, %v): set them alike and write the bus's line settings down", describeLine(have), p)
			}
			have = next
		}
	}
	if have.BaudRate == 0 {
		have.BaudRate = 9600
	}
	if have.Parity == "" {
		have.Parity = "none"
	}
	if have.DataBits == 0 {
		have.DataBits = 8
	}
	if have.StopBits == 0 {
		have.StopBits = 1
	}
	if have.DataBits != 8 {
		return have, fmt.Errorf("line settings %s: Modbus RTU needs 8 data bits", describeLine(have))
	}
	return have, nil
}

func describeLine(s appliance.LineSettings) string {
	return fmt.Sprintf("%d %d%.1s%d", s.BaudRate, s.DataBits, strings.ToUpper(s.Parity), s.StopBits)
}

// rtuSilence is t3.5: 3.5 characters of 11 bits up to 19200 baud, 1.75 ms above
// (MODBUS over Serial Line V1.02, §2.5.1.1).
func rtuSilence(baudRate int) time.Duration {
	if baudRate > 19200 {
		return 1750 * time.Microsecond
	}
	return time.Duration(38.5 * float64(time.Second) / float64(baudRate))
}
