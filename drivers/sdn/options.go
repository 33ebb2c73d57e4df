package sdn

import (
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/option"
)

// busOptions are the driver's settings of a bus.
type busOptions struct {
	host            Address
	quiet           time.Duration // silence before each of our frames
	responseTimeout time.Duration // from the end of a request to the beginning of the answer
	echo            bool          // the adapter returns what is sent
	broadcast       bool          // "all" may be sent to everybody
	groups          appliance.GroupMode
}

func readBusOptions(texts map[string]string) (busOptions, error) {
	o := busOptions{
		host: Address{0xFF, 0xFF, 0x00}, quiet: 25 * time.Millisecond,
		responseTimeout: 300 * time.Millisecond, broadcast: true,
	}
	err := option.Read(texts, map[string]option.Setter{
		"hostAddress":     hostAddress(&o.host),
		"quiet":           option.Span(&o.quiet, 10*time.Millisecond, 100*time.Millisecond),
		"responseTimeout": option.Span(&o.responseTimeout, 255*time.Millisecond, 2*time.Second),
		"echo":            option.Flag(&o.echo),
		"broadcast":       option.Flag(&o.broadcast),
		"groups":          option.Groups(&o.groups),
	})
	return o, err
}

func hostAddress(to *Address) func(string) error {
	return func(text string) error {
		a, err := ParseAddress(text)
		if err == nil && (a == Nobody || a == Everybody || a.IsGroup()) {
			err = fmt.Errorf("%v is not the address of a single host; other masters use 7F.7F.7F, third parties FF.FF.00 to FF.FF.EE", a)
		}
		*to = a
		return err
	}
}

// completeLine fills in what the installer left out: 4800 8O1.
func completeLine(s appliance.LineSettings) (appliance.LineSettings, error) {
	if s.BaudRate == 0 {
		s.BaudRate = 4800
	}
	if s.Parity == "" {
		s.Parity = "odd"
	}
	if s.DataBits == 0 {
		s.DataBits = 8
	}
	if s.StopBits == 0 {
		s.StopBits = 1
	}
	if s.DataBits != 8 {
		return s, fmt.Errorf("%d data bits: SDN needs 8", s.DataBits)
	}
	return s, nil
}

// characterTime is how long one character lasts.
func characterTime(s appliance.LineSettings) time.Duration {
	bits := 1 + s.DataBits + s.StopBits
	if s.Parity != "none" {
		bits++
	}
	return time.Duration(bits) * time.Second / time.Duration(s.BaudRate)
}

// profiles are the kinds of motors, by the node type that they are addressed with.
// The generic one addresses any type.
var profiles = map[string]NodeType{
	"somfy-sdn":        0,
	"somfy-sdn-30dc":   2,
	"somfy-sdn-glydea": 6,
	"somfy-sdn-50ac":   7,
	"somfy-sdn-50dc":   8,
	"somfy-sdn-40ac":   9,
}

var typeNames = map[byte]string{
	0: "host", 1: "ILT2 motor (not supported)", 2: "Sonesse 30 DC", 5: "RTS transmitter", 6: "Glydea",
	7: "50 mm AC motor", 8: "50 mm DC motor", 9: "40 mm AC motor",
}

// String names the kind of node.
func (t NodeType) String() string { return named(typeNames, byte(t)) }

// profile is the profile of motors of this type; empty if there is none.
func (t NodeType) profile() string {
	for name, is := range profiles {
		if t != 0 && is == t {
			return name
		}
	}
	return ""
}
