package sim

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// family is one kind of device and how to build it.
type family struct {
	lights  int  // light outputs per unit; per gear 1 for gateways
	shades  int  // shade outputs
	gateway bool // node addresses are unit/short
	lines   int  // DALI lines of a gateway
	meter   bool
	latency time.Duration          // before an answer, besides t3.5
	line    appliance.LineSettings // as it leaves the factory; zero: 9600 8N1
	build   func(u *unit, f *fitting) error
}

// fitting is what a device finds at its place in the building.
type fitting struct {
	nodes  []appliance.Node             // those that live in the unit
	shades map[int]appliance.Shade      // by shade output
	gear   map[gearAt]appliance.Node    // gateways: what is behind them
	groups map[gearAt][daliGroups]bool  // gateways: groups the gear is in
	load   func(now time.Time) busMeter // what a meter of this bus sees
	fade   time.Duration                // of DALI gear, 0 to 100 %
	// readdress moves the unit to another address; false: that one is taken.
	readdress func(to byte) bool
}

// families lists every device that can be simulated, by profile name.
var families = map[string]family{
	"waveshare-relay-8ch":          {lights: 8, build: buildWaveshare},
	"wirenboard-wb-mr6c":           {lights: 6, shades: 3, line: wirenBoardLine, build: buildMR6C},
	"wirenboard-wb-mdm3":           {lights: 3, line: wirenBoardLine, build: buildMDM3},
	"wirenboard-wb-mao4":           {lights: 4, line: wirenBoardLine, build: buildMAO4},
	"wirenboard-wb-led-rgbw":       {lights: 1, line: wirenBoardLine, build: ledStrip(ledRGBW)},
	"wirenboard-wb-led-cct":        {lights: 2, line: wirenBoardLine, build: ledStrip(ledTwoCCT)},
	"wirenboard-wb-led-white":      {lights: 4, line: wirenBoardLine, build: ledStrip(ledFourWhite)},
	"wirenboard-wb-mrgbw-d-legacy": {lights: 1, line: wirenBoardLine, build: buildLegacyRGBW},
	"ecodim-dali-gw2":              {lights: 1, gateway: true, lines: 1, latency: 3 * time.Millisecond, build: buildECOdim},
	"arlight-dali-logic-lite":      {lights: 1, gateway: true, lines: 1, latency: 3 * time.Millisecond, build: buildArlight},
	"dalion":                       {lights: 1, gateway: true, lines: 4, latency: 3 * time.Millisecond, build: buildDALION},
	"intesis-ibmbsdal":             {lights: 1, gateway: true, lines: 1, latency: 3 * time.Millisecond, build: buildIntesis},
	"eastron-sdm120":               {meter: true, build: eastron(singlePhase, 32)},
	"eastron-sdm220":               {meter: true, build: eastron(singlePhase, 0)},
	"eastron-sdm230":               {meter: true, build: eastron(singlePhase, 43)},
	"eastron-sdm630":               {meter: true, build: eastron(threePhase, 112)},
	"eastron-sdm72":                {meter: true, build: eastron(threePhaseNoVolts, 132)},
}

// wirenBoardLine is how Wiren Board modules leave the factory: 9600 8N2.
var wirenBoardLine = appliance.LineSettings{BaudRate: 9600, Parity: "none", DataBits: 8, StopBits: 2}

// nodeOf is the node whose channel output o is; without Outputs a node has all.
func (f *fitting) nodeOf(o int) appliance.Node {
	for _, n := range f.nodes {
		if len(n.Outputs) == 0 || slices.Contains(n.Outputs, o) {
			return n
		}
	}
	return f.nodes[0]
}

// daliLineOf collects the gear of one line behind a gateway.
func (f *fitting) daliLineOf(u *unit, number int) (*daliLine, error) {
	d := &daliLine{gear: map[int]*lamp{}}
	for short := range shortAddresses {
		at := gearAt{number, short}
		node, ok := f.gear[at]
		if !ok {
			continue
		}
		l, err := newGear(node, f.fade)
		if err != nil {
			return nil, err
		}
		l.raw = func() int { return l.arc(l.target()) }
		d.gear[short] = l
		d.all = append(d.all, l)
		u.gear[at] = l
		for g, in := range f.groups[at] {
			if in {
				d.member[g] = append(d.member[g], l)
			}
		}
	}
	return d, nil
}
