package dmx

import (
	_ "embed" // profile.schema.json
	"fmt"
	"slices"

	"svc.internal/controller/site/schema"
)

//go:embed profile.schema.json
var profileSchemaJSON []byte

var profileSchema = schema.MustCompile("dmx-profile.schema.json", profileSchemaJSON)

// ProfileSchema is the JSON Schema of profile files.
func ProfileSchema() []byte { return slices.Clone(profileSchemaJSON) }

// CheckProfile says everything that is wrong with a profile file, as
// [schema.Problems]; nil if it can be used.
func CheckProfile(file string, data []byte) error {
	_, err := readProfile(file, data)
	return err
}

// Profile is what the slots of one kind of fixture mean. The yaml tags name the
// keys of a profile file; profile.schema.json says what each means.
type Profile struct {
	Name    string       `yaml:"name"`
	Title   string       `yaml:"title"`
	Source  string       `yaml:"source"`
	Caveats []string     `yaml:"caveats"`
	Slots   int          `yaml:"slots"`
	Outputs []outputSpec `yaml:"outputs"`
	Fixed   []fixedSpec  `yaml:"fixed"`

	lights []outputSpec // Outputs, each of a count by itself, in order
}

type fixedSpec struct {
	Slot  int    `yaml:"slot"`
	Value int    `yaml:"value"`
	What  string `yaml:"what"`
}

// slotSpec is a number of a fixture: one slot, or a coarse and a fine one. Slots
// count from 1 at the fixture's start address. The zero value is "has none".
type slotSpec struct {
	Slot int `yaml:"slot"`
	Fine int `yaml:"fine"`
}

type outputSpec struct {
	Count       int      `yaml:"count"`
	Stride      int      `yaml:"stride"`
	Switched    bool     `yaml:"switched"`
	Level       slotSpec `yaml:"level"`
	Red         slotSpec `yaml:"red"`
	Green       slotSpec `yaml:"green"`
	Blue        slotSpec `yaml:"blue"`
	White       slotSpec `yaml:"white"`
	Warm        slotSpec `yaml:"warm"`
	Cool        slotSpec `yaml:"cool"`
	Temperature slotSpec `yaml:"temperature"`
	KelvinMin   int      `yaml:"kelvinMin"`
	KelvinMax   int      `yaml:"kelvinMax"`
}

func (s slotSpec) used() bool { return s.Slot != 0 }

func (o *outputSpec) coloured() bool { return o.Red.used() }

// colours are the slots of a colour's components; one without a white has none for it.
func (o *outputSpec) colours() [4]slotSpec { return [4]slotSpec{o.Red, o.Green, o.Blue, o.White} }

func (o *outputSpec) tunable() bool { return o.Warm.used() || o.Temperature.used() }

// parts lists the slots of an output with their keys in a profile file.
func (o *outputSpec) parts() []struct {
	key string
	at  *slotSpec
} {
	return []struct {
		key string
		at  *slotSpec
	}{
		{"level", &o.Level}, {"red", &o.Red}, {"green", &o.Green}, {"blue", &o.Blue}, {"white", &o.White},
		{"warm", &o.Warm}, {"cool", &o.Cool}, {"temperature", &o.Temperature},
	}
}

// slots lists the output's slots, from 1 at the fixture's start address.
func (o *outputSpec) slots() []int {
	var list []int
	for _, p := range o.parts() {
		if p.at.used() {
			list = append(list, p.at.Slot)
		}
		if p.at.Fine != 0 {
			list = append(list, p.at.Fine)
		}
	}
	return list
}

// moved is the output n strides further on.
func (o outputSpec) moved(n int) outputSpec {
	by := n * max(o.Stride, 1)
	for _, p := range o.parts() {
		if p.at.used() {
			p.at.Slot += by
		}
		if p.at.Fine != 0 {
			p.at.Fine += by
		}
	}
	o.Count = 1
	return o
}

func readProfile(file string, data []byte) (*Profile, error) {
	p := new(Profile)
	doc, err := schema.Decode(file, data, profileSchema, p)
	if err != nil {
		return nil, err
	}
	for i := range p.Outputs {
		for n := range max(p.Outputs[i].Count, 1) {
			p.lights = append(p.lights, p.Outputs[i].moved(n))
		}
	}
	c := profileCheck{doc: doc, profile: p}
	c.check()
	if err := c.problems.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// profileCheck finds what a JSON Schema cannot say.
type profileCheck struct {
	doc      *schema.Document
	profile  *Profile
	problems schema.Problems
}

func (c *profileCheck) add(key, format string, args ...any) {
	c.problems = append(c.problems, c.doc.Problem(key, format, args...))
}

func (c *profileCheck) check() {
	for i := range c.profile.Outputs {
		c.output(fmt.Sprintf("outputs[%d]", i), &c.profile.Outputs[i])
	}
	if len(c.problems) == 0 {
		c.overlaps()
	}
}

func (c *profileCheck) output(key string, o *outputSpec) {
	for _, p := range o.parts() {
		if p.at.Fine != 0 && p.at.Fine == p.at.Slot {
			c.add(key+"."+p.key+".fine", "is the coarse slot itself")
		}
	}
	if o.Red.used() != o.Green.used() || o.Red.used() != o.Blue.used() {
		c.add(key, "red, green and blue only together")
	}
	if o.White.used() && !o.coloured() {
		c.add(key+".white", "only together with red, green and blue; a single white is a level")
	}
	if o.Warm.used() != o.Cool.used() {
		c.add(key, "warm and cool only together")
	}
	if o.Warm.used() && o.Temperature.used() {
		c.add(key+".temperature", "either warm and cool, or temperature")
	}
	if o.Temperature.used() && !o.Level.used() {
		c.add(key+".level", "is missing: a fixture with a temperature slot has one for its level")
	}
	if o.coloured() && o.tunable() {
		c.add(key, "colours together with a colour temperature are not supported: nobody could tell after a restart which of the two was shown last")
	}
	if !o.Level.used() && !o.coloured() && !o.tunable() {
		c.add(key, "a light needs level, colours, or warm and cool")
	}
	if o.Switched && (o.coloured() || o.tunable() || o.Level.Fine != 0) {
		c.add(key+".switched", "only with an 8-bit level alone")
	}
	switch {
	case o.tunable() && (o.KelvinMin == 0 || o.KelvinMax == 0):
		c.add(key, "kelvinMin and kelvinMax are missing")
	case o.tunable() && o.KelvinMin >= o.KelvinMax:
		c.add(key+".kelvinMin", "must be below kelvinMax")
	case !o.tunable() && (o.KelvinMin != 0 || o.KelvinMax != 0):
		c.add(key, "kelvinMin and kelvinMax belong to warm and cool or to temperature")
	}
}

// overlaps finds slots with two meanings, and those beyond the fixture's end.
func (c *profileCheck) overlaps() {
	p := c.profile
	owner := make(map[int]string)
	take := func(slot int, key, who string) {
		switch {
		case slot > p.Slots:
			c.add(key, "%s takes slot %d, the fixture has %d", who, slot, p.Slots)
		case owner[slot] != "":
			c.add(key, "%s takes slot %d, which belongs to %s", who, slot, owner[slot])
		default:
			owner[slot] = who
		}
	}
	number := 0
	for i := range p.Outputs {
		key := fmt.Sprintf("outputs[%d]", i)
		for range max(p.Outputs[i].Count, 1) {
			for _, slot := range p.lights[number].slots() {
				take(slot, key, fmt.Sprintf("output %d", number+1))
			}
			number++
			if len(c.problems) > 0 {
				return // the others of a count would only say the same
			}
		}
	}
	for i, f := range p.Fixed {
		take(f.Slot, fmt.Sprintf("fixed[%d]", i), "fixed "+f.What)
	}
}
