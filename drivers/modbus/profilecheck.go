package modbus

import (
	"fmt"

	"svc.internal/controller/site/schema"
)

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
	p := c.profile
	if p.Addressing == "line-gear" && p.Lines < 1 {
		c.add("lines", "is missing: how many DALI lines the gateway has")
	}
	lights := 0
	for i := range p.Outputs {
		if o := &p.Outputs[i]; o.Kind != "shade" {
			lights += max(o.Count, 1)
		}
	}
	for i := range p.Outputs {
		c.output(fmt.Sprintf("outputs[%d]", i), &p.Outputs[i], lights)
	}
	for i, f := range p.Limits.Forbidden {
		if f.From > f.To {
			c.add(fmt.Sprintf("limits.forbidden[%d]", i), "from %d lies behind to %d", f.From, f.To)
		}
	}
	c.nameplate(&p.Nameplate)
	c.gear(p.Gear)
	for i := range p.Identify {
		key := fmt.Sprintf("identify[%d]", i)
		c.cell(key+".at", &p.Identify[i].At, 1, false)
		if p.Identify[i].Min > p.Identify[i].Max {
			c.add(key, "min %v is above max %v", p.Identify[i].Min, p.Identify[i].Max)
		}
	}
}

func (c *profileCheck) gear(g *gearSpec) {
	if g == nil {
		return
	}
	if !c.profile.gateway() {
		c.add("gear", "is for gateways: addressing is missing")
	}
	if p := g.Present; p != nil {
		c.cell("gear.present.at", &p.At, 1, false)
		if p.Min > p.Max {
			c.add("gear.present", "min %v is above max %v", p.Min, p.Max)
		}
	}
	if g.Status != nil {
		c.cell("gear.status", g.Status, 1, false)
	}
}

func (c *profileCheck) nameplate(n *nameplateSpec) {
	if (n.Model == nil) != (len(n.Is) == 0) {
		c.add("nameplate", "model and is belong together: where the model is read, and which ones are of this profile")
	}
	for name, r := range map[string]*readSpec{"model": n.Model, "serial": n.Serial, "version": n.Version} {
		if r == nil {
			continue
		}
		key := "nameplate." + name
		c.cell(key+".at", &r.At, 1, false)
		if r.Length > 0 && r.At.Table.bits() {
			c.add(key+".length", "coils and discrete inputs hold no text")
		}
		if r.At.Address+r.Length > 65536 {
			c.add(key+".length", "reaches beyond register 65535")
		}
	}
}

func (c *profileCheck) output(key string, o *outputSpec, lights int) {
	count := max(o.Count, 1)
	if c.profile.gateway() && (count > 1 || o.Kind != "light") {
		c.add(key, "a gateway has exactly one light output per short address")
	}
	switch o.Kind {
	case "shade":
		c.shade(key, o, count, lights)
		return
	case "meter":
		if o.Power == nil {
			c.add(key+".power", "is missing: a meter measures power")
		}
	case "light":
		if len(o.Switches) == 0 && o.Level == nil && o.Colour == nil {
			c.add(key, "a light needs switches, level or colour")
		}
	}
	if o.Level != nil && o.Colour != nil {
		c.add(key+".level", "not together with colour: the level scales the colour registers")
	}
	if o.Open != nil || o.Close != nil || o.Prepare != nil || o.Occupies > 0 || o.Release > 0 || o.Holds {
		c.add(key, "open, close, prepare, occupies, release and holds belong to shades")
	}
	for i := range o.Switches {
		c.cell(fmt.Sprintf("%s.switches[%d]", key, i), &o.Switches[i], count, true)
	}
	c.value(key+".level", o.Level, count, levelMaps)
	c.value(key+".kelvin", o.Kelvin, count, kelvinMaps)
	c.value(key+".power", o.Power, count, plainMaps)
	c.written(key+".level", o.Level, false)
	c.written(key+".kelvin", o.Kelvin, c.profile.gateway())
	if o.Level != nil && o.Level.SwitchesOn && len(o.Switches) == 0 {
		c.add(key+".level.switchesOn", "there is nothing to switch on: switches is missing")
	}
	for name, v := range map[string]*valueSpec{"level": o.Level, "kelvin": o.Kelvin, "power": o.Power} {
		if v != nil && v.Switch != 0 {
			c.add(key+"."+name+".switch", "belongs to the components of a colour")
		}
	}
	if k := o.Kelvin; k != nil && o.KelvinMin >= o.KelvinMax {
		c.add(key+".kelvinMin", "must be below kelvinMax; both are needed with kelvin")
	}
	if colour := o.Colour; colour != nil {
		for name, v := range map[string]*valueSpec{"red": colour.Red, "green": colour.Green, "blue": colour.Blue, "white": colour.White} {
			at := key + ".colour." + name
			c.value(at, v, count, colourMaps)
			c.written(at, v, false)
			if v != nil && v.Switch > len(o.Switches) {
				c.add(at+".switch", "is %d, there are %d switches", v.Switch, len(o.Switches))
			}
			if v != nil && v.At == nil && (v.Read == nil || v.Write == nil) {
				c.add(at, "colours must be written and read: they hold the level too")
			}
		}
	}
}

// written checks that a value can be commanded: by a cell of its own or, where that is
// enough, by that of a group.
func (c *profileCheck) written(key string, v *valueSpec, group bool) {
	switch {
	case v == nil, v.Write != nil, group && v.Group != nil:
	case v.At == nil:
		c.add(key, "needs a cell that is written: at or write")
	default:
		c.writable(key+".at", v.At)
	}
}

func (c *profileCheck) shade(key string, o *outputSpec, count, lights int) {
	if o.Release > 0 && o.Holds {
		c.add(key+".holds", "not together with release: its relay stays on")
	}
	if c.profile.gateway() {
		return // said already
	}
	if o.Open == nil || o.Close == nil {
		c.add(key, "a shade needs open and close")
		return
	}
	if o.Level != nil || o.Kelvin != nil || o.Colour != nil || o.Power != nil || len(o.Switches) > 0 {
		c.add(key, "switches, level, kelvin, colour and power belong to lights and meters")
	}
	c.cell(key+".open", o.Open, count, true)
	c.cell(key+".close", o.Close, count, true)
	if o.Open.Table != o.Close.Table {
		c.add(key+".close", "must be in the same table as open")
	}
	if o.Prepare != nil {
		c.cell(key+".prepare.at", &o.Prepare.At, count, true)
	}
	if o.Occupies*count > lights {
		c.add(key+".occupies", "%d shades of %d outputs need %d light outputs, the profile has %d", count, o.Occupies, count*o.Occupies, lights)
	}
}

func (c *profileCheck) value(key string, v *valueSpec, count int, maps []string) {
	if v == nil {
		return
	}
	known := false
	for _, m := range maps {
		known = known || m == v.Map
	}
	if !known {
		c.add(key+".map", "is %q, allowed here: %v", v.Map, maps)
	}
	if (v.Map == "linear" || v.Map == "range" || v.Map == "mirek-range") && v.Max == 0 {
		c.add(key+".max", "is missing: the number in the register that means the upper end")
	}
	if v.Min >= v.Max && v.Max != 0 {
		c.add(key+".min", "%v is not below max %v", v.Min, v.Max)
	}
	if v.At != nil && (v.Write != nil || v.Read != nil) {
		c.add(key+".at", "not together with read or write")
	}
	if v.At == nil && v.Write == nil && v.Read == nil && v.Group == nil {
		c.add(key, "needs at, read, write or group")
	}
	if v.At != nil {
		c.cell(key+".at", v.At, count, false)
	}
	if v.Write != nil {
		c.cell(key+".write", v.Write, count, true)
	}
	if v.Read != nil {
		c.cell(key+".read", v.Read, count, false)
	}
	for name, cs := range map[string]*cellSpec{"group": v.Group, "broadcast": v.Broadcast} {
		if cs == nil {
			continue
		}
		if !c.profile.gateway() {
			c.add(key+"."+name, "only gateways have group registers")
		}
		c.cell(key+"."+name, cs, count, true)
	}
}

// cell checks that every address a cell can take exists.
func (c *profileCheck) cell(key string, cs *cellSpec, count int, written bool) {
	if written {
		c.writable(key, cs)
	}
	if cs.Table.bits() != (cs.Type == "" && cs.Table.bits() || cs.Type == "bit") {
		c.add(key+".type", "is %q: coils and discrete inputs hold bits, registers numbers", cs.Type)
	}
	if !c.profile.gateway() && (cs.PerGear != 0 || cs.PerLine != 0 || cs.PerGroup != 0) {
		c.add(key, "perGear, perLine and perGroup are for gateways")
	}
	low, high := cs.Address, cs.Address
	for _, add := range []int{(count - 1) * cs.Stride, 63 * cs.PerGear, max(c.profile.Lines-1, 0) * cs.PerLine, 15 * cs.PerGroup} {
		low, high = low+min(add, 0), high+max(add, 0)
	}
	if low < 0 || high+cs.words()-1 > 65535 {
		c.add(key+".address", "with its strides reaches from %d to %d, allowed: 0 to 65535", low, high)
	}
}

// writable checks that a cell can be written as it is.
func (c *profileCheck) writable(key string, cs *cellSpec) {
	if !cs.Table.writable() {
		c.add(key+".table", "is %q, which cannot be written: want coil or holding", cs.Table)
	}
	if cs.words() > 1 && c.profile.Limits.WriteRegisters == 1 {
		c.add(key+".type", "%s needs two registers, limits.writeRegisters allows one", cs.Type)
	}
}
