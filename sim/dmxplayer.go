package sim

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
)

// dmxBus is a universe behind its interface.
type dmxBus struct {
	widget *dmxsim.Widget
	open   bool // Open DMX: no widget, only the line
	nodes  []appliance.Node
	starts []int

	last     int           // number of the frames told of
	universe []byte        // of the last of these
	babble   Fault         // the babbling in force; without kind: none
	ends     chan struct{} // ends it
}

// rdmMaker is the maker in the UIDs of simulated fixtures; E1.20 keeps it for
// prototypes.
const rdmMaker = 0x7FF0

// footprints are how many slots the fixtures have that are simulated.
var footprints = map[string]int{
	"dmx-dimmer": 1, "dmx-dimmer-16bit": 2, "dmx-dimmer-pack-2": 2, "dmx-dimmer-pack-3": 3, "dmx-dimmer-pack-4": 4, "dmx-dimmer-pack-6": 6, "dmx-dimmer-pack-12": 12,
	"dmx-dimmer-pack-24": 24, "dmx-switch": 1, "dmx-switch-pack-4": 4, "dmx-switch-pack-8": 8, "dmx-rgb": 3, "dmx-rgb-16bit": 6,
	"dmx-rgb-master": 4, "dmx-rgbw": 4, "dmx-rgbw-16bit": 8, "dmx-rgbw-master": 5, "dmx-tunable": 2, "dmx-tunable-16bit": 4,
	"dmx-tunable-master": 3, "dmx-tunable-temperature": 2, "dmx-tunable-temperature-16bit": 3,
}

func newDMX(site appliance.Bus, nodes []appliance.Node, shades []appliance.Shade, opts Options) (player, error) {
	p := &dmxBus{nodes: nodes, open: site.Options["interface"] == "open-dmx"}
	cfg := dmxsim.Config{Seed: uint64(opts.Seed)}
	for _, n := range nodes {
		start, err := number(n.Address, 1, 512)
		if err != nil {
			return nil, nodeError(n, fmt.Errorf("start slot: %w", err))
		}
		p.starts = append(p.starts, start)
		if !slices.ContainsFunc(cfg.Responders, func(r dmxsim.Responder) bool { return r.Start == start }) { // nodes may share a fixture
			cfg.Responders = append(cfg.Responders, dmxsim.Responder{UID: rdmMaker<<32 | uint64(n.ID), Start: start,
				Footprint: footprints[n.Profile], Model: 1, Label: n.Name[:min(len(n.Name), 32)]})
		}
		cfg.Nodes = append(cfg.Nodes, dmxsim.Node{Name: n.Name, Address: n.Address, Profile: n.Profile, Options: n.Options})
		for _, s := range shades {
			if s.Node == n.ID {
				return nil, nodeError(n, fmt.Errorf("a DMX fixture moves no shades"))
			}
		}
	}
	var err error
	p.widget, err = dmxsim.New(cfg)
	return p, err
}

func (p *dmxBus) serve(ctx context.Context, port io.ReadWriteCloser) error {
	if !p.open {
		return p.widget.Serve(ctx, port)
	}
	line, ok := port.(interface {
		io.ReadWriteCloser
		SetReadDeadline(time.Time) error
	})
	if !ok {
		return fmt.Errorf("an Open DMX interface is a serial port")
	}
	return p.widget.ServeOpen(ctx, line)
}

// fixtureWatts is what a lamp of a fixture draws at full light.
const fixtureWatts = 50

func (p *dmxBus) devices() []Device {
	out := make([]Device, len(p.nodes))
	frames := uint64(p.widget.Counters().Received)
	for i, f := range p.widget.Devices() {
		n := p.nodes[i]
		d := deviceOf(n)
		d.Frames = frames
		for k, l := range f.Channels {
			at := k + 1 // of the node
			if len(n.Outputs) > 0 {
				at = indexOf(n.Outputs, k+1) + 1
			}
			if at == 0 {
				continue // of another node of this fixture
			}
			c := DeviceChannel{Channel: at, On: l.Level > 0, Level: l.Level, ExactLevel: float64(l.Level), TargetLevel: l.Level,
				Raw: round(float64(l.Level) * 2.55), ColorTemp: l.Kelvin, Power: fixtureWatts * float64(l.Level) / 100, ChangedAt: l.ChangedAt}
			if coloured(n.Profile) {
				c.RGBW = rgbwText(l.RGBW)
			}
			d.Channels = append(d.Channels, c)
			d.Power += c.Power
		}
		out[i] = d
	}
	return out
}

func indexOf(list []int, n int) int {
	for i, v := range list {
		if v == n {
			return i
		}
	}
	return -1
}

// coloured reports whether a profile has colours, as its name says.
func coloured(profile string) bool { return len(profile) >= 7 && profile[:7] == "dmx-rgb" }

func (p *dmxBus) count(s *BusState) {
	c := p.widget.Counters()
	s.Units = len(p.nodes)
	s.Frames, s.Answers, s.Garbled = uint64(c.Received), uint64(c.Answered), uint64(c.Noise)
	s.GroupFrames = uint64(c.ByLabel[6])
}

// heard tells of the frames since the last one that was told of.
func (p *dmxBus) heard() (out []heard) {
	for _, e := range p.widget.Events() {
		if e.Number <= p.last {
			continue
		}
		p.last = e.Number
		h := heard{at: e.At, bytes: append([]byte{0x7E, e.Label, byte(len(e.Data)), byte(len(e.Data) >> 8)}, append(e.Data, 0xE7)...)}
		if e.Label == 6 && len(e.Data) > 0 {
			h.changes = p.changed(e.Data[1:])
			h.write = len(h.changes) > 0
			p.universe = e.Data[1:]
		}
		if h.write {
			h.note = fmt.Sprintf("%d slots changed, on the line %v later", e.Changed, e.OnWire.Sub(e.At).Round(10*time.Microsecond))
		}
		out = append(out, h)
	}
	return out
}

// changed are the nodes whose slots differ from before: a slot belongs to the
// fixture that begins last in front of it.
func (p *dmxBus) changed(slots []byte) (out []Change) {
	differs := make(map[int]bool)
	for i, v := range slots {
		if i < len(p.universe) && v == p.universe[i] || i >= len(p.universe) && v == 0 {
			continue
		}
		start := 0
		for _, s := range p.starts {
			if s <= i+1 {
				start = max(start, s)
			}
		}
		differs[start] = true
	}
	for i, n := range p.nodes {
		if differs[p.starts[i]] {
			out = append(out, Change{NodeID: n.ID})
		}
	}
	return out
}

func (p *dmxBus) can(f Fault) error {
	ofFixtures := slices.Contains([]FaultKind{FaultStuck, FaultLamp, FaultDuplicate, FaultRefuse}, f.Kind)
	switch {
	case f.Rate < 1 && f.Kind != FaultCorrupt && f.Kind != FaultBabble:
		return fmt.Errorf("rate: kind %s is always or never here", f.Kind)
	case f.Address != "" && !ofFixtures && f.Kind != FaultSilent:
		return fmt.Errorf("address: kind %s strikes the interface", f.Kind)
	case f.Address == "" && ofFixtures:
		return fmt.Errorf("address: kind %s strikes one fixture", f.Kind)
	case f.Exception != 0:
		return fmt.Errorf("exception: a DMX fixture refuses what is written to it over RDM, as write protected")
	case p.open && (f.Kind == FaultBabble || f.Kind == FaultNoise || f.Kind == FaultDropAnswer || f.Kind == FaultCorrupt || f.Kind == FaultDelay):
		return fmt.Errorf("kind %s: an Open DMX interface says nothing", f.Kind)
	}
	return only(f, p.nodes, FaultSilent, FaultDropAnswer, FaultDelay, FaultCorrupt, FaultRefuse, FaultStuck, FaultLamp, FaultDuplicate, FaultNoise, FaultBabble)
}

// noiseBytes come before each answer.
const noiseBytes = 3

func (p *dmxBus) afflict(faults []Fault) {
	all := dmxsim.Faults{Fixtures: map[int]dmxsim.FixtureFault{}}
	var babble Fault
	for _, f := range faults {
		if i := slices.IndexFunc(p.nodes, func(n appliance.Node) bool { return n.Address == f.Address }); i >= 0 {
			fixture := all.Fixtures[p.starts[i]]
			fixture.Deaf = fixture.Deaf || f.Kind == FaultSilent
			fixture.Stuck = fixture.Stuck || f.Kind == FaultStuck
			fixture.Broken = fixture.Broken || f.Kind == FaultLamp
			fixture.ReadOnly = fixture.ReadOnly || f.Kind == FaultRefuse
			fixture.Duplicate = fixture.Duplicate || f.Kind == FaultDuplicate
			all.Fixtures[p.starts[i]] = fixture
			continue
		}
		switch f.Kind {
		case FaultBabble:
			babble = f
		case FaultSilent:
			all.DeafUntil = time.Now().Add(forEver)
		case FaultDropAnswer:
			all.NoParameters = true
		case FaultDelay:
			all.Late += time.Duration(f.DelayMs) * time.Millisecond
		case FaultCorrupt:
			all.Damage = max(all.Damage, f.Rate)
		case FaultNoise:
			all.Noise = noiseBytes
		}
	}
	p.widget.SetFaults(all)
	if babble.ID == p.babble.ID {
		return
	}
	if p.ends != nil {
		close(p.ends)
		p.ends = nil
	}
	if p.babble = babble; babble.ID != 0 {
		p.ends = make(chan struct{})
		go p.babbles(babble.Rate, p.ends)
	}
}

// packetTime is how long a universe takes on the line: 250 kbit/s, 11 bits a slot.
const packetTime = 23 * time.Millisecond

// babbles has the widget tell the host, for a part of the time, of universes that
// another sender is said to put on the line, until ends is closed.
func (p *dmxBus) babbles(rate float64, ends <-chan struct{}) {
	tick := time.NewTicker(time.Duration(float64(packetTime) / rate))
	defer tick.Stop()
	packet := append([]byte{0x7E, 5, 0x02, 0x02, 0, 0}, append(make([]byte, 512), 0xE7)...)
	for n := byte(0); ; n++ {
		select {
		case <-ends:
			return
		case <-tick.C:
		}
		for i := range 512 {
			packet[6+i] = n // a level that nobody asked for
		}
		_ = p.widget.Say(packet) // fails while nobody is plugged in
	}
}

func (p *dmxBus) pressChannel(address string, _ int, _ Press) (bool, error) {
	if _, err := strconv.Atoi(address); err != nil {
		return false, err
	}
	return true, fmt.Errorf("a DMX fixture has no wall switch")
}

func (p *dmxBus) pressShade(string, int, direction) (bool, error) { return false, nil }
