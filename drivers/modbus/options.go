package modbus

import (
	"fmt"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/option"
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
	inFlight         int // exchanges at once
	serverBaudRate   int // of the serial side of a transparent server; 0: not known
}

func readBusOptions(texts map[string]string) (busOptions, error) {
	o := busOptions{
		turnaround: 100 * time.Millisecond, lateAnswer: -1, broadcast: true, inFlight: 1,
		maxReadRegisters: maxReadRegisters, maxReadBits: maxReadBits, maxExchange: 60 * time.Millisecond,
	}
	err := option.Read(texts, map[string]option.Setter{
		"responseTimeout":  option.Span(&o.responseTimeout, time.Millisecond, 10*time.Second),
		"guard":            option.Span(&o.guard, 0, time.Second),
		"turnaround":       option.Span(&o.turnaround, 0, 2*time.Second),
		"lateAnswer":       option.Span(&o.lateAnswer, 0, 30*time.Second),
		"echo":             option.Flag(&o.echo),
		"tolerateUnitZero": option.Flag(&o.tolerateUnitZero),
		"broadcast":        option.Flag(&o.broadcast),
		"maxReadRegisters": option.Whole(&o.maxReadRegisters, 1, maxReadRegisters),
		"maxReadBits":      option.Whole(&o.maxReadBits, 1, maxReadBits),
		"serverBaudRate":   option.Whole(&o.serverBaudRate, 1200, 1000000),
		"inFlight":         option.Whole(&o.inFlight, 1, 16),
		"maxExchange":      option.Span(&o.maxExchange, 10*time.Millisecond, time.Second),
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
	err := option.Read(texts, map[string]option.Setter{
		"responseTimeout": option.Span(&o.responseTimeout, time.Millisecond, 10*time.Second),
		"guard":           option.Span(&o.guard, 0, time.Second),
		"kelvinMin":       option.Whole(&o.kelvinMin, 1000, 20000),
		"kelvinMax":       option.Whole(&o.kelvinMax, 1000, 20000),
		"invertLevel":     option.Flag(&o.invertLevel),
		"invertKelvin":    option.Flag(&o.invertKelvin),
		"curve":           option.Choice(&o.curve, "standard", "linear"),
		"tunable":         option.Flag(&o.tunable),
		"minLevel":        option.Whole(&o.minLevel, 0, 100),
		"fade":            option.Span(&o.fade, 0, time.Minute),
	})
	return o, err
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
