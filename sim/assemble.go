package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc.internal/controller/appliance"
)

// address is where a node lives on its bus: "5", "5/12" or "5/2.12".
type address struct {
	unit byte
	gear gearAt // zero line: not behind a gateway
}

func parseAddress(s string) (address, error) {
	var a address
	unit, rest, behind := strings.Cut(s, "/")
	n, err := number(unit, 1, 255)
	if err != nil {
		return a, fmt.Errorf("address %q: unit: %w", s, err)
	}
	a.unit = byte(n)
	if !behind {
		return a, nil
	}
	a.gear.line = 1
	short := rest
	if line, after, ok := strings.Cut(rest, "."); ok {
		short = after
		if a.gear.line, err = number(line, 1, 16); err != nil {
			return a, fmt.Errorf("address %q: line: %w", s, err)
		}
	}
	if a.gear.short, err = number(short, 0, shortAddresses-1); err != nil {
		return a, fmt.Errorf("address %q: short address: %w", s, err)
	}
	return a, nil
}

func number(s string, low, high int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%q is not a number from %d to %d", s, low, high)
	}
	return n, nil
}

// assemble makes the units of a bus from the nodes that live on it.
func (b *bus) assemble(nodes []appliance.Node, shades []appliance.Shade, opts Options) error {
	byUnit := map[byte][]appliance.Node{}
	var order []byte
	for _, n := range nodes {
		a, err := parseAddress(n.Address)
		if err != nil {
			return nodeError(n, err)
		}
		if byUnit[a.unit] == nil {
			order = append(order, a.unit)
		}
		byUnit[a.unit] = append(byUnit[a.unit], n)
	}
	for _, num := range order {
		u, err := b.newUnit(num, byUnit[num], shades, opts)
		if err != nil {
			return err
		}
		b.units[num] = u
	}
	return nil
}

func nodeError(n appliance.Node, err error) error {
	return fmt.Errorf("node %d (%s), profile %s: %w", n.ID, n.Name, n.Profile, err)
}

func (b *bus) newUnit(num byte, nodes []appliance.Node, shades []appliance.Shade, opts Options) (*unit, error) {
	first := nodes[0]
	fam, ok := families[first.Profile]
	if !ok {
		return nil, nodeError(first, fmt.Errorf("no simulated device of that profile; there are: %s", strings.Join(Profiles(), ", ")))
	}
	u := &unit{number: num, profile: first.Profile, latency: fam.latency, gear: gearMap{}}
	if d, ok := opts.Latency[first.Profile]; ok {
		u.latency = d
	}
	f := &fitting{nodes: nodes, shades: map[int]appliance.Shade{}, gear: map[gearAt]appliance.Node{},
		groups: map[gearAt][daliGroups]bool{}, load: b.load, fade: opts.DALIFade,
		readdress: func(to byte) bool { return b.readdress(u, to) }}
	for _, n := range nodes {
		if n.Profile != first.Profile {
			return nil, nodeError(n, fmt.Errorf("unit %d of bus %s is a %s already (node %d)", num, b.name, first.Profile, first.ID))
		}
		if err := f.admit(fam, n, shades); err != nil {
			return nil, nodeError(n, err)
		}
	}
	if err := fam.build(u, f); err != nil {
		return nil, nodeError(first, err)
	}
	for _, n := range nodes {
		p, err := u.settle(fam, f, n)
		if err != nil {
			return nil, nodeError(n, err)
		}
		u.nodes = append(u.nodes, p)
	}
	return u, nil
}

// admit notes what node n brings to its device before that is built.
func (f *fitting) admit(fam family, n appliance.Node, shades []appliance.Shade) error {
	a, err := parseAddress(n.Address)
	if err != nil {
		return err
	}
	behind := a.gear.line > 0
	if behind != fam.gateway {
		want := "unit"
		if fam.gateway {
			want = "unit/short or unit/line.short"
		}
		return fmt.Errorf("address %q: want %s", n.Address, want)
	}
	if behind {
		if a.gear.line > fam.lines {
			return fmt.Errorf("address %q: the gateway has %d DALI lines", n.Address, fam.lines)
		}
		if other, taken := f.gear[a.gear]; taken {
			return fmt.Errorf("address %q: node %d has it already", n.Address, other.ID)
		}
		f.gear[a.gear] = n
		if f.groups[a.gear], err = groupsOf(n); err != nil {
			return fmt.Errorf("groups: %w", err)
		}
	}
	for _, s := range shades {
		if s.Node != n.ID {
			continue
		}
		if s.Output < 1 || s.Output > fam.shades {
			return fmt.Errorf("shade %d (%s): output %d: the device has %d shade outputs", s.ID, s.Name, s.Output, fam.shades)
		}
		if other, taken := f.shades[s.Output]; taken {
			return fmt.Errorf("shade %d (%s): output %d is taken by shade %d", s.ID, s.Name, s.Output, other.ID)
		}
		f.shades[s.Output] = s
	}
	return nil
}

// settle gives node n its channels and shades in the finished device.
func (u *unit) settle(fam family, f *fitting, n appliance.Node) (*place, error) {
	a, err := parseAddress(n.Address)
	if err != nil {
		return nil, err
	}
	p := &place{node: n}
	for output := 1; output <= fam.shades; output++ {
		if s, ok := f.shades[output]; ok && s.Node == n.ID {
			p.shades = append(p.shades, placedShade{s, u.motors[output-1]})
		}
	}
	switch {
	case fam.meter:
		p.meter = u.meter
	case fam.gateway:
		p.lamps = []*lamp{u.gear[a.gear]}
	default:
		outputs := n.Outputs
		if len(outputs) == 0 {
			outputs = f.freeOutputs(fam)
		}
		for _, o := range outputs {
			if o < 1 || o > len(u.lamps) {
				return nil, fmt.Errorf("output %d: the device has %d outputs", o, len(u.lamps))
			}
			p.lamps = append(p.lamps, u.lamps[o-1])
		}
	}
	return p, nil
}

// freeOutputs are the light outputs of a device that no shade took: a shade on
// output p of a relay module takes relays 2p−1 and 2p.
func (f *fitting) freeOutputs(fam family) []int {
	var out []int
	for o := 1; o <= fam.lights; o++ {
		if _, taken := f.shades[(o+1)/2]; !taken {
			out = append(out, o)
		}
	}
	return out
}

// Profiles lists the profiles that can be simulated, in alphabetical order.
func Profiles() []string {
	var out []string
	for name := range families {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
