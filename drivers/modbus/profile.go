package modbus

import (
	_ "embed" // profile.schema.json
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/schema"
)

//go:embed profile.schema.json
var profileSchemaJSON []byte

var profileSchema = schema.MustCompile("modbus-profile.schema.json", profileSchemaJSON)

// ProfileSchema is the JSON Schema of profile files.
func ProfileSchema() []byte { return slices.Clone(profileSchemaJSON) }

// CheckProfile says everything that is wrong with a profile file, as
// [schema.Problems]; nil if it can be used.
func CheckProfile(file string, data []byte) error {
	_, err := readProfile(file, data)
	return err
}

// Profile is what one kind of device is made of. The yaml tags name the keys of
// a profile file; profile.schema.json says what each means.
type Profile struct {
	Name    string   `yaml:"name"`
	Title   string   `yaml:"title"`
	Source  string   `yaml:"source"`
	Caveats []string `yaml:"caveats"`
	// Addressing of nodes: "unit", "gear" (unit/short) or "line-gear"
	// (unit/line.short).
	Addressing string        `yaml:"addressing"`
	Lines      int           `yaml:"lines"` // DALI lines of a gateway
	Line       *lineSpec     `yaml:"line"`
	Timing     timingSpec    `yaml:"timing"`
	Limits     limitSpec     `yaml:"limits"`
	Broadcast  bool          `yaml:"broadcast"`
	Watchdog   time.Duration `yaml:"watchdog"`
	Outputs    []outputSpec  `yaml:"outputs"`
	Nameplate  nameplateSpec `yaml:"nameplate"`
	Gear       *gearSpec     `yaml:"gear"`
	Identify   []checkSpec   `yaml:"identify"`

	lights []*output
	shades []*output
}

type lineSpec struct {
	BaudRate int    `yaml:"baudRate"`
	Parity   string `yaml:"parity"`
	DataBits int    `yaml:"dataBits"`
	StopBits int    `yaml:"stopBits"`
}

type timingSpec struct {
	ResponseTimeout time.Duration `yaml:"responseTimeout"`
	Guard           time.Duration `yaml:"guard"`
	LateAnswer      time.Duration `yaml:"lateAnswer"`
}

// limitSpec bounds one frame; zero means the standard's bound. Holes are
// neighbouring addresses that nobody asked for; reading over them saves frames.
type limitSpec struct {
	ReadRegisters  int         `yaml:"readRegisters"`
	ReadBits       int         `yaml:"readBits"`
	WriteRegisters int         `yaml:"writeRegisters"`
	WriteMultiple  bool        `yaml:"writeMultiple"` // it knows functions 0F and 10 only
	WriteBits      int         `yaml:"writeBits"`
	HoleRegisters  int         `yaml:"holeRegisters"`
	HoleBits       int         `yaml:"holeBits"`
	Forbidden      []rangeSpec `yaml:"forbidden"`
}

type rangeSpec struct {
	Table table `yaml:"table"`
	From  int   `yaml:"from"`
	To    int   `yaml:"to"`
}

type outputSpec struct {
	Kind      string        `yaml:"kind"` // light, shade, meter
	Count     int           `yaml:"count"`
	Switches  []cellSpec    `yaml:"switches"`
	Level     *valueSpec    `yaml:"level"`
	Kelvin    *valueSpec    `yaml:"kelvin"`
	Colour    *colourSpec   `yaml:"colour"`
	Power     *valueSpec    `yaml:"power"`
	Open      *cellSpec     `yaml:"open"`
	Close     *cellSpec     `yaml:"close"`
	Prepare   *prepareSpec  `yaml:"prepare"`
	Occupies  int           `yaml:"occupies"`
	KelvinMin int           `yaml:"kelvinMin"`
	KelvinMax int           `yaml:"kelvinMax"`
	MinLevel  int           `yaml:"minLevel"`
	Fade      time.Duration `yaml:"fade"`
	// ReverseDelay of a shade's device, see [appliance.Channel.ReverseDelay].
	ReverseDelay time.Duration `yaml:"reverseDelay"`
	// Release of a shade's relays, see [appliance.Channel.Release]; Holds: never.
	Release time.Duration `yaml:"release"`
	Holds   bool          `yaml:"holds"`
	Clips   bool          `yaml:"clips"`
}

type colourSpec struct {
	Red   *valueSpec `yaml:"red"`
	Green *valueSpec `yaml:"green"`
	Blue  *valueSpec `yaml:"blue"`
	White *valueSpec `yaml:"white"`
}

// valueSpec is a number of an output: where it is written and read, and how the
// register's number becomes a percentage, kelvin or watt.
type valueSpec struct {
	At         *cellSpec `yaml:"at"` // written and read at the same place
	Write      *cellSpec `yaml:"write"`
	Read       *cellSpec `yaml:"read"`
	Group      *cellSpec `yaml:"group"`
	Broadcast  *cellSpec `yaml:"broadcast"`
	Map        string    `yaml:"map"`
	Max        float64   `yaml:"max"`
	Min        float64   `yaml:"min"`
	Scale      float64   `yaml:"scale"`
	Offset     float64   `yaml:"offset"`
	Invert     bool      `yaml:"invert"`
	Unknown    *int      `yaml:"unknown"` // raw number that means "not known"
	Absent     *int      `yaml:"absent"`  // raw number that means "this gear does not answer"
	SwitchesOn bool      `yaml:"switchesOn"`
	Switch     int       `yaml:"switch"` // of a component: the one of the switches that darkens it; 0: all together
}

// cellSpec is a place in a device's tables. The strides are added per output of
// the profile, per short address, per DALI line, or per DALI group.
type cellSpec struct {
	Table     table    `yaml:"table"`
	Address   int      `yaml:"address"`
	Stride    int      `yaml:"stride"`
	PerGear   int      `yaml:"perGear"`
	PerLine   int      `yaml:"perLine"`
	PerGroup  int      `yaml:"perGroup"`
	Type      cellType `yaml:"type"`
	WordOrder string   `yaml:"wordOrder"`
}

type prepareSpec struct {
	At    cellSpec `yaml:"at"`
	Value int      `yaml:"value"`
	What  string   `yaml:"what"`
}

// checkSpec recognises a device: the number read lies between Min and Max.
type checkSpec struct {
	At  cellSpec `yaml:"at"`
	Min float64  `yaml:"min"`
	Max float64  `yaml:"max"`
}

// nameplateSpec is what a device tells of itself. It is of this profile if its model
// is, or begins with, one of Is.
type nameplateSpec struct {
	Model   *readSpec `yaml:"model"`
	Is      []string  `yaml:"is"`
	Serial  *readSpec `yaml:"serial"`
	Version *readSpec `yaml:"version"`
}

// readSpec is a number, or with a length a text of one character per register.
type readSpec struct {
	At     cellSpec `yaml:"at"`
	Length int      `yaml:"length"`
}

// table is one of the four address spaces of a Modbus device.
type table string

const (
	coils     table = "coil"
	discretes table = "discrete"
	holdings  table = "holding"
	inputs    table = "input"
)

func (t table) bits() bool { return t == coils || t == discretes }

func (t table) reads() function {
	switch t {
	case coils:
		return readCoils
	case discretes:
		return readDiscretes
	case inputs:
		return readInput
	}
	return readHolding
}

func (t table) writable() bool { return t == coils || t == holdings }

// point is one address of one unit.
type point struct {
	table table
	addr  uint16
}

// output is one output of a profile, all strides over outputs resolved.
type output struct {
	spec     *outputSpec
	number   int // from 1, lights and shades counted apart
	switches []*cell
	level    *value
	kelvin   *value
	colour   [4]*value // R, G, B, W; nil without colour
	power    *value
	open     *cell
	close    *cell
	prepare  *cell
	occupies []int // light outputs that a shade output is made of
}

func (o *output) hasColour() bool { return o.colour[0] != nil }

// abilities that the profile gives the output.
func (o *output) abilities() appliance.Ability {
	var a appliance.Ability
	switch {
	case o.level != nil || o.hasColour():
		a |= appliance.CanDim
	case len(o.switches) > 0:
		a |= appliance.CanSwitch
	}
	if o.hasColour() {
		a |= appliance.CanColour
	}
	if o.kelvin != nil {
		a |= appliance.CanTune
	}
	if o.power != nil {
		a |= appliance.CanMeasure
	}
	if o.open != nil {
		a |= appliance.CanMove
	}
	return a
}

// value is a valueSpec with its places resolved; nil places do not exist.
type value struct {
	spec                          *valueSpec
	write, read, group, broadcast *cell
}

// cell is a place that may still depend on gear, line and group.
type cell struct {
	spec *cellSpec
	base int
}

func (c *cell) at(line, gear, group int) point {
	return point{c.spec.Table, uint16(c.base + line*c.spec.PerLine + gear*c.spec.PerGear + group*c.spec.PerGroup)}
}

// readProfile parses, checks and resolves a profile.
func readProfile(file string, data []byte) (*Profile, error) {
	p := new(Profile)
	doc, err := schema.Decode(file, data, profileSchema, p)
	if err != nil {
		return nil, err
	}
	c := profileCheck{doc: doc, profile: p}
	c.check()
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	p.resolve()
	return p, nil
}

// gateway reports whether nodes are gear behind the unit.
func (p *Profile) gateway() bool { return p.Addressing == "gear" || p.Addressing == "line-gear" }

// resolve expands counted outputs.
func (p *Profile) resolve() {
	occupied := 0
	for i := range p.Outputs {
		spec := &p.Outputs[i]
		for n := range max(spec.Count, 1) {
			o := spec.output(n)
			if spec.Kind == "shade" {
				p.shades = append(p.shades, o)
				o.number = len(p.shades)
				for range spec.Occupies {
					occupied++
					o.occupies = append(o.occupies, occupied)
				}
				continue
			}
			p.lights = append(p.lights, o)
			o.number = len(p.lights)
		}
	}
}

func (s *outputSpec) output(n int) *output {
	o := &output{
		spec: s, level: s.Level.at(n), kelvin: s.Kelvin.at(n), power: s.Power.at(n),
		open: s.Open.at(n), close: s.Close.at(n),
	}
	for i := range s.Switches {
		o.switches = append(o.switches, s.Switches[i].at(n))
	}
	if c := s.Colour; c != nil {
		o.colour = [4]*value{c.Red.at(n), c.Green.at(n), c.Blue.at(n), c.White.at(n)}
	}
	if s.Prepare != nil {
		o.prepare = s.Prepare.At.at(n)
	}
	return o
}

func (v *valueSpec) at(n int) *value {
	if v == nil {
		return nil
	}
	write, read := v.Write, v.Read
	if v.At != nil {
		write, read = v.At, v.At
		if !v.At.Table.writable() {
			write = nil
		}
	}
	return &value{spec: v, write: write.at(n), read: read.at(n), group: v.Group.at(n), broadcast: v.Broadcast.at(n)}
}

func (c *cellSpec) at(n int) *cell {
	if c == nil {
		return nil
	}
	return &cell{spec: c, base: c.Address + n*c.Stride}
}

// String names the profile for errors.
func (p *Profile) String() string { return fmt.Sprintf("profile %s", p.Name) }
