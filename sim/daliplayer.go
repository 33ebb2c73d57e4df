package sim

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

// daliBus is a DALI line behind a serial gateway.
type daliBus struct {
	line  *dalisim.Line
	nodes []appliance.Node
	// broken is which lamps faults have broken; taken how many frames were told of.
	broken  []bool
	twins   []bool // which gear has a second one at its address
	babble  int    // ID of the babbling in force; 0: none
	gateway string
	taken   uint64
	groups  uint64 // frames to several
}

// Power of gear, as behind the Modbus gateways.
const (
	gearNominal = 35.0
	gearStandby = 0.4
)

func newDALI(site appliance.Bus, nodes []appliance.Node, shades []appliance.Shade, opts Options) (player, error) {
	p := &daliBus{nodes: nodes, broken: make([]bool, len(nodes)), twins: make([]bool, len(nodes)), gateway: site.Options["gateway"]}
	cfg := dalisim.Config{Gateway: site.Options["gateway"], BaudRate: site.Line.BaudRate, Seed: uint64(opts.Seed), Speed: opts.DALISpeed, Virtual: opts.Cables != nil}
	unboxed := slices.Contains(opts.NewGear, site.Name)
	for _, n := range nodes {
		g, err := gearConfig(n, opts.DALIFade)
		if err != nil {
			return nil, nodeError(n, err)
		}
		if unboxed {
			g.Short, g.Groups = -1, 0
		}
		cfg.Gears = append(cfg.Gears, g)
		if slices.ContainsFunc(shades, func(s appliance.Shade) bool { return s.Node == n.ID }) {
			return nil, nodeError(n, fmt.Errorf("DALI gear moves no shades"))
		}
	}
	var err error
	p.line, err = dalisim.New(cfg)
	return p, err
}

// gearConfig is gear as its installer set it up.
func gearConfig(n appliance.Node, fade time.Duration) (c dalisim.GearConfig, err error) {
	switch n.Profile {
	case "dali-dt6":
		c.Type = 6
	case "dali-switch":
		c.Type = 7
	case "dali-dt8-tc":
		c.Type, c.Colour = 8, "tc"
	case "dali-dt8-rgbw":
		c.Type, c.Colour = 8, "rgbw"
	default:
		return c, fmt.Errorf("no simulated DALI gear of that profile")
	}
	if c.Short, err = number(n.Address, 0, shortAddresses-1); err != nil {
		return c, fmt.Errorf("address %q: %w", n.Address, err)
	}
	for _, text := range n.Groups {
		g, err := number(text, 0, daliGroups-1)
		if err != nil {
			return c, fmt.Errorf("group %q: %w", text, err)
		}
		c.Groups |= 1 << g
	}
	low, high, err := kelvinRange(n)
	if err != nil {
		return c, err
	}
	c.Warmest, c.Coolest = uint16(1e6/low), uint16(1e6/high)
	if text, ok := n.Options["fade"]; ok {
		if fade, err = time.ParseDuration(text); err != nil {
			return c, fmt.Errorf("option fade: %w", err)
		}
	}
	c.FadeTime = fadeCode(fade)
	if text, ok := n.Options["minLevel"]; ok {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return c, fmt.Errorf("option minLevel: %w", err)
		}
		c.Min = byte(percentArc(percent))
		if n.Options["curve"] == "linear" {
			c.Min = byte(math.Round(percent / 100 * daliTop))
		}
	}
	return c, nil
}

// fadeCode is the fade time nearest to d: code f lasts 0.5·√(2^f) s, 0 is none (IEC
// 62386-102, 9.5).
func fadeCode(d time.Duration) byte {
	if d < 350*time.Millisecond {
		return 0
	}
	return byte(min(max(math.Round(2*math.Log2(d.Seconds()/0.5)), 1), 15))
}

func (p *daliBus) serve(ctx context.Context, port io.ReadWriteCloser) error {
	return p.line.Serve(ctx, port)
}

// lightOf is the light of arc power n of a node's gear, in percent.
func lightOf(n appliance.Node, arc int) float64 {
	switch {
	case arc == 0:
		return 0
	case n.Profile == "dali-switch":
		return 100
	case n.Options["curve"] == "linear":
		return float64(arc) / daliTop * 100
	}
	return arcPercent(arc)
}

func (p *daliBus) devices() []Device {
	out := make([]Device, len(p.nodes))
	for i, g := range p.line.Devices() {
		n := p.nodes[i]
		light, target := lightOf(n, g.Level), lightOf(n, g.Target)
		if g.Failed {
			light = 0
		}
		c := DeviceChannel{Channel: 1, On: g.Target > 0, Level: round(light), ExactLevel: light, TargetLevel: round(target),
			Raw: g.Target, Power: gearStandby + gearNominal*light/100, ChangedAt: g.Changed}
		switch {
		case g.Mirek > 0:
			c.ColorTemp = round(1e6 / float64(g.Mirek))
		case n.Profile == "dali-dt8-rgbw":
			var colour [4]uint8
			for k, v := range g.RGBW {
				if g.Target > 0 {
					colour[k] = uint8(round(float64(v) * 255 / daliTop))
				}
			}
			c.RGBW = rgbwText(colour)
		}
		d := deviceOf(n)
		d.ShortAddress = &g.Short
		d.Channels, d.Power = append(d.Channels, c), c.Power
		out[i] = d
	}
	return out
}

func (p *daliBus) count(s *BusState) {
	c := p.line.Counters()
	s.Units = len(p.nodes)
	s.Frames, s.Answers, s.Collisions, s.Garbled = c.Forward, c.Backward+c.Garbled, c.Conflicts, c.Nonsense
	s.GroupFrames = p.groups
}

func (p *daliBus) heard() []heard {
	list := p.line.Frames(p.taken)
	if len(list) == 0 {
		return nil
	}
	p.taken = p.line.Counters().Forward
	gears := p.line.Devices()
	out := make([]heard, len(list))
	for i, f := range list {
		address, data := byte(f.Frame>>8), byte(f.Frame)
		h := heard{at: f.At, bytes: []byte{address, data}}
		switch {
		case f.Lost:
			out[i] = heard{at: f.At, bytes: h.bytes, note: babbled, event: true}
			continue
		case f.Foreign:
			h.note = "another master"
		}
		special := address >= 0xA0 && address < 0xFC && address&1 != 0
		level := address&1 == 0 && data != daliMask || address&1 != 0 && (data < 0x09 || data >= 0x0A && data < 0x20)
		if !special {
			h.group = address >= 0x80
			h.write = level || address&1 != 0 && data == 0xE2 // or a colour is put on
			if h.group {
				p.groups++
			}
		}
		if h.write {
			h.changes = p.changed(address, data, gears)
		}
		out[i] = h
	}
	return out
}

// changed is the gear that a frame addresses, with the level it is sent to.
func (p *daliBus) changed(address, data byte, gears []dalisim.Device) (out []Change) {
	for i, n := range p.nodes {
		concerned := address >= 0xFE
		switch {
		case address < 0x80:
			concerned = int(address>>1) == gears[i].Short
		case address < 0xA0:
			concerned = slices.Contains(gears[i].Groups, int(address>>1&0x0F))
		}
		if !concerned {
			continue
		}
		c := Change{NodeID: n.ID, Channel: 1}
		if address&1 == 0 || data == 0 {
			level := round(lightOf(n, int(data)))
			c.Level = &level
		}
		out = append(out, c)
	}
	return out
}

func (p *daliBus) can(f Fault) error {
	switch {
	case f.Address != "" && slices.Contains([]FaultKind{FaultNoise, FaultForeign, FaultBabble, FaultRefuse}, f.Kind):
		return fmt.Errorf("address: kind %s strikes a whole line", f.Kind)
	case f.Address == "" && f.Kind == FaultDuplicate:
		return fmt.Errorf("address: kind %s strikes one gear", f.Kind)
	case f.Rate == 1 && f.Kind == FaultBabble:
		return fmt.Errorf("rate: a device babbles for a part of the time, below 1; for a line that is never free take kind %s", FaultForeign)
	case f.Rate < 1 && f.Kind == FaultDuplicate:
		return fmt.Errorf("rate: kind %s is always or never", f.Kind)
	case f.Kind == FaultRefuse && p.gateway == "atx":
		return fmt.Errorf("kind %s: this gateway takes every frame", f.Kind)
	case f.Exception != 0:
		return fmt.Errorf("exception: the codes of DALI gateways are not known")
	}
	return only(f, p.nodes, FaultSilent, FaultDropRequest, FaultDropAnswer, FaultDelay, FaultCorrupt, FaultRefuse, FaultStuck, FaultNoise, FaultForeign,
		FaultBabble, FaultDuplicate, FaultLamp)
}

// daliKinds says what a fault of one gear, and one of the whole line, is called by
// the simulator.
var daliKinds = map[FaultKind][2]dalisim.FaultKind{
	FaultSilent:      {dalisim.FaultDeaf, dalisim.FaultMute},
	FaultDropRequest: {dalisim.FaultDeaf, dalisim.FaultDeaf},
	FaultDropAnswer:  {dalisim.FaultSilent, dalisim.FaultSilent},
	FaultDelay:       {dalisim.FaultLate, dalisim.FaultSlow},
	FaultCorrupt:     {dalisim.FaultGarble, dalisim.FaultDamage},
	FaultNoise:       {dalisim.FaultNoise, dalisim.FaultNoise},
	FaultForeign:     {dalisim.FaultConflict, dalisim.FaultConflict},
	FaultRefuse:      {dalisim.FaultRefuse, dalisim.FaultRefuse},
	FaultStuck:       {dalisim.FaultStuck, dalisim.FaultStuck},
}

func (p *daliBus) afflict(faults []Fault) {
	p.line.ClearFaults()
	broken, twins := make([]bool, len(p.nodes)), make([]bool, len(p.nodes))
	babble, rate := 0, 0.0
	for _, f := range faults {
		gear := -1
		if f.Address != "" {
			gear = slices.IndexFunc(p.nodes, func(n appliance.Node) bool { return n.Address == f.Address })
		}
		if f.Kind == FaultLamp {
			for i := range broken {
				broken[i] = broken[i] || gear < 0 || gear == i
			}
		}
		switch f.Kind {
		case FaultDuplicate:
			twins[gear] = true
		case FaultBabble:
			babble, rate = f.ID, f.Rate
		}
		kinds, ok := daliKinds[f.Kind]
		if !ok {
			continue
		}
		kind := kinds[0]
		if gear < 0 {
			kind = kinds[1]
		}
		// can has checked what this would refuse.
		_ = p.line.AddFault(dalisim.Fault{Kind: kind, Gear: gear, Rate: f.Rate, Count: f.Count, DelayMs: f.DelayMs})
	}
	for i, b := range broken {
		if b != p.broken[i] {
			p.line.SetLampFailure(i, b)
		}
		if twins[i] != p.twins[i] {
			_ = p.line.Duplicate(i, twins[i])
		}
	}
	if babble != p.babble {
		_ = p.line.Chatter(rate)
	}
	p.broken, p.twins, p.babble = broken, twins, babble
}

// pressChannel lets a push-button coupler on the line send what it sends.
func (p *daliBus) pressChannel(address string, channel int, press Press) (bool, error) {
	i := slices.IndexFunc(p.nodes, func(n appliance.Node) bool { return n.Address == address })
	short, err := strconv.Atoi(address)
	if channel != 1 || err != nil {
		return false, err
	}
	if press.ColorTemp != nil || press.RGBW != nil {
		return true, fmt.Errorf("a push-button on a DALI line sets on, off and level")
	}
	arc := uint16(short) << 9
	command := arc | 0x100
	switch n := p.nodes[i]; {
	case press.On != nil && !*press.On, press.Level != nil && *press.Level == 0:
		p.line.Inject(command) // OFF
	case press.Level != nil && n.Options["curve"] == "linear":
		p.line.Inject(arc | uint16(max(1, round(float64(*press.Level)/100*daliTop))))
	case press.Level != nil:
		p.line.Inject(arc | uint16(percentArc(float64(*press.Level))))
	default:
		p.line.Inject(command | 0x0A) // GO TO LAST ACTIVE LEVEL
	}
	return true, nil
}

func (p *daliBus) pressShade(string, int, direction) (bool, error) { return false, nil }
