package dmx

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/option"
)

// The interfaces, as the bus option of that name calls them.
const (
	interfacePro  = "enttec-pro"
	interfaceOpen = "open-dmx"
)

// busOptions are the driver's settings of a bus. See docs/drivers/dmx.md.
type busOptions struct {
	kind            string        // interfacePro or interfaceOpen
	slots           int           // length of the universe at least
	rate            int           // packets a second at most
	refresh         time.Duration // Pro: the universe is sent again after this
	responseTimeout time.Duration // Pro: for label 3
	rdmTimeout      time.Duration // Pro: for an RDM answer or label 12
	breakTime       time.Duration // Open DMX
	markTime        time.Duration // Open DMX
}

func readBusOptions(texts map[string]string) (busOptions, error) {
	o := busOptions{kind: interfacePro, slots: minSlots}
	read := map[string]option.Setter{
		"interface": option.Choice(&o.kind, interfacePro, interfaceOpen),
		"slots":     option.Whole(&o.slots, minSlots, UniverseSlots),
	}
	if texts["interface"] == interfaceOpen {
		o.rate, o.breakTime, o.markTime = 30, 200*time.Microsecond, 100*time.Microsecond
		read["rate"] = option.Whole(&o.rate, 25, 44)
		read["breakTime"] = option.Span(&o.breakTime, 92*time.Microsecond, 10*time.Millisecond)
		read["markTime"] = option.Span(&o.markTime, 12*time.Microsecond, 10*time.Millisecond)
	} else {
		o.rate, o.refresh = 40, 500*time.Millisecond
		o.responseTimeout, o.rdmTimeout = 200*time.Millisecond, 250*time.Millisecond
		read["rate"] = option.Whole(&o.rate, 1, 40)
		read["refresh"] = option.Span(&o.refresh, 50*time.Millisecond, time.Second)
		read["responseTimeout"] = option.Span(&o.responseTimeout, 10*time.Millisecond, 5*time.Second)
		read["rdmTimeout"] = option.Span(&o.rdmTimeout, 20*time.Millisecond, 2*time.Second)
	}
	if err := option.Read(texts, read); err != nil {
		return o, err
	}
	return o, nil
}

// nodeOptions are the driver's settings of a node.
type nodeOptions struct {
	kelvinMin, kelvinMax int
	minLevel, startLevel int
	order                string
}

func readNodeOptions(texts map[string]string) (nodeOptions, error) {
	var o nodeOptions
	err := option.Read(texts, map[string]option.Setter{
		"kelvinMin":  option.Whole(&o.kelvinMin, 1000, 20000),
		"kelvinMax":  option.Whole(&o.kelvinMax, 1000, 20000),
		"minLevel":   option.Whole(&o.minLevel, 0, 100),
		"startLevel": option.Whole(&o.startLevel, 0, 100),
		"order":      func(text string) error { o.order = text; return nil }, // judged with the profile
	})
	return o, err
}

// adapt fits an output to what the installer said of the fixture.
func (o nodeOptions) adapt(out outputSpec, p *Profile) (outputSpec, error) {
	if o.kelvinMin != 0 || o.kelvinMax != 0 {
		if !out.tunable() {
			return out, fmt.Errorf("options kelvinMin and kelvinMax: a %s has no colour temperature", p.Title)
		}
		if o.kelvinMin != 0 {
			out.KelvinMin = o.kelvinMin
		}
		if o.kelvinMax != 0 {
			out.KelvinMax = o.kelvinMax
		}
		if out.KelvinMin >= out.KelvinMax {
			return out, fmt.Errorf("options kelvinMin and kelvinMax: %d is not below %d", out.KelvinMin, out.KelvinMax)
		}
	}
	if o.order == "" {
		return out, nil
	}
	var parts map[rune]*slotSpec
	var letters string
	switch {
	case out.coloured():
		letters, parts = "RGB", map[rune]*slotSpec{'R': &out.Red, 'G': &out.Green, 'B': &out.Blue}
		if out.White.used() {
			letters, parts['W'] = "RGBW", &out.White
		}
	case out.Warm.used():
		letters, parts = "WC", map[rune]*slotSpec{'W': &out.Warm, 'C': &out.Cool}
	default:
		return out, fmt.Errorf("option order: a %s has nothing to put in order", p.Title)
	}
	var places []slotSpec
	for _, letter := range letters {
		places = append(places, *parts[letter])
	}
	slices.SortFunc(places, func(a, b slotSpec) int { return a.Slot - b.Slot })
	if len(o.order) != len(letters) {
		return out, fmt.Errorf("option order: is %q, want the letters %s in the fixture's order", o.order, letters)
	}
	for i, letter := range o.order {
		if !strings.ContainsRune(letters, letter) || strings.Count(o.order, string(letter)) != 1 {
			return out, fmt.Errorf("option order: is %q, want the letters %s in the fixture's order", o.order, letters)
		}
		*parts[letter] = places[i]
	}
	return out, nil
}

// dmxLine is how DMX itself is transmitted, which is also what a widget's virtual
// port is set to (see the package comment).
var dmxLine = appliance.LineSettings{BaudRate: 250000, Parity: "none", DataBits: 8, StopBits: 2}

// completeLine fills in line settings. They matter on no interface: those of Open
// DMX are fixed, and a widget's virtual port ignores them.
func completeLine(have appliance.LineSettings, kind string) (appliance.LineSettings, error) {
	if kind == interfaceOpen && have != (appliance.LineSettings{}) && have != dmxLine {
		return have, fmt.Errorf("line settings: DMX is always 250000 8N2; leave them out")
	}
	if have.BaudRate == 0 {
		have.BaudRate = dmxLine.BaudRate
	}
	if have.Parity == "" {
		have.Parity = dmxLine.Parity
	}
	if have.DataBits == 0 {
		have.DataBits = dmxLine.DataBits
	}
	if have.StopBits == 0 {
		have.StopBits = dmxLine.StopBits
	}
	return have, nil
}
