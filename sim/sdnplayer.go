package sim

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/sdnsim"
)

// sdnTypes are the node types of Somfy's motors, by profile (SDN Integration Guide).
var sdnTypes = map[string]byte{"somfy-sdn": 7, "somfy-sdn-30dc": 2, "somfy-sdn-glydea": 6, "somfy-sdn-50ac": 7, "somfy-sdn-50dc": 8, "somfy-sdn-40ac": 9}

// sdnBus is a bus of shade motors.
type sdnBus struct {
	bus    *sdnsim.Bus
	nodes  []appliance.Node
	shades []appliance.Shade // of each node; ID 0: none
	types  []byte
	// What is in force; an unchanged motor is left alone, since a motor that is given
	// other troubles forgets its lock.
	troubles []sdnsim.Trouble
	twins    []bool        // which motors have a second one at their address
	babble   Fault         // the babbling in force; without kind: none
	taken    int           // messages told of so far
	ends     chan struct{} // ends the second master; nil: there is none
}

func newSDN(site appliance.Bus, nodes []appliance.Node, shades []appliance.Shade, opts Options) (player, error) {
	p := &sdnBus{nodes: nodes}
	cfg := sdnsim.Config{BaudRate: site.Line.BaudRate, Seed: uint64(opts.Seed), Virtual: opts.Cables != nil}
	for _, n := range nodes {
		kind, ok := sdnTypes[n.Profile]
		if !ok {
			return nil, nodeError(n, fmt.Errorf("no simulated motor of that profile"))
		}
		m := sdnsim.Motor{Address: n.Address, Type: kind, Label: label(n.Name), Groups: n.Groups, Open: 50}
		var shade appliance.Shade
		for _, s := range shades {
			if s.Node != n.ID {
				continue
			}
			if shade.ID != 0 || s.Output != 1 {
				return nil, nodeError(n, fmt.Errorf("shade %d (%s): output %d: a motor has one output, 1, and one shade", s.ID, s.Name, s.Output))
			}
			shade, m.Up, m.Down = s, s.TravelUp, s.TravelDown
		}
		cfg.Motors = append(cfg.Motors, m)
		p.shades, p.types = append(p.shades, shade), append(p.types, kind)
	}
	p.troubles, p.twins = make([]sdnsim.Trouble, len(nodes)), make([]bool, len(nodes))
	var err error
	p.bus, err = sdnsim.New(cfg)
	return p, err
}

// label is what a motor's label has room for.
func label(name string) string { return name[:min(len(name), 16)] }

func (p *sdnBus) serve(ctx context.Context, port io.ReadWriteCloser) error {
	return p.bus.Serve(ctx, port)
}

func (p *sdnBus) devices() []Device {
	out := make([]Device, len(p.nodes))
	for i, m := range p.bus.Devices() {
		d := deviceOf(p.nodes[i])
		d.Frames, d.Writes = m.Frames, m.Orders
		if s := p.shades[i]; s.ID != 0 {
			position, motion := m.Position, still
			if m.Moving {
				motion = closing
				if m.Opening {
					motion = opening
				}
			}
			if s.Inverted && position >= 0 {
				position, motion = 100-position, -motion
			}
			d.Shades = append(d.Shades, DeviceShade{ShadeID: s.ID, Output: 1, Position: round(position), ExactPosition: position,
				Moving: m.Moving, Motion: motionWord(motion)})
		}
		out[i] = d
	}
	return out
}

func (p *sdnBus) count(s *BusState) {
	c := p.bus.Counts()
	s.Units = len(p.nodes)
	s.Frames, s.Answers, s.BytesReceived, s.BytesSent = c.FramesIn, c.FramesOut, c.BytesIn, c.BytesOut
	s.GroupFrames, s.SilenceViolations, s.Collisions, s.Garbled = c.GroupFrames, c.ShortQuiet, c.Collisions, c.Garbled
}

func (p *sdnBus) heard() []heard {
	list := p.bus.Heard(p.taken)
	if len(list) == 0 {
		return nil
	}
	p.taken = list[len(list)-1].N + 1
	held := p.bus.Devices()
	out := make([]heard, len(list))
	for i, h := range list {
		if h.Babble != nil {
			out[i] = heard{at: h.At, bytes: h.Babble, note: babbled, event: true}
			continue
		}
		m := h.Message
		out[i] = heard{at: h.At, bytes: m.Pack(), group: m.Dst == sdnAll || m.Dst == 0,
			write: m.ID >= 0x01 && m.ID <= 0x04 || m.ID == 0x06 || m.ID&0xF0 == 0x50}
		if h.Foreign {
			out[i].note = "another master"
		}
		if out[i].write && m.ID < 0x10 {
			out[i].changes = p.moved(m, held)
		}
	}
	return out
}

const sdnAll = 0xFFFFFF

// babbled is the note of an event that is the talk of a babbling device.
const babbled = "babble"

// moved are the shades that a message sends somewhere.
func (p *sdnBus) moved(m sdnsim.Message, held []sdnsim.Device) (out []Change) {
	dir := still // of the motor
	switch {
	case m.ID == 0x03 && len(m.Data) > 0 && m.Data[0] == 0:
		dir = closing
	case m.ID == 0x03 && len(m.Data) > 0 && m.Data[0] == 1:
		dir = opening
	}
	for i, s := range p.shades {
		if s.ID == 0 || m.To != 0 && m.To != p.types[i] {
			continue
		}
		concerned := m.Dst == sdnAll || m.Dst != 0 && strings.EqualFold(sdnName(m.Dst), p.nodes[i].Address)
		if m.Dst == 0 {
			concerned = slices.Contains(held[i].Groups, sdnName(m.Src))
		}
		if !concerned {
			continue
		}
		c := Change{NodeID: p.nodes[i].ID, ShadeID: s.ID, Motion: "moving"}
		switch {
		case m.ID == 0x02 || m.ID == 0x06:
			c.Motion = motionWord(still)
		case dir != still && s.Inverted:
			c.Motion = motionWord(-dir)
		case dir != still:
			c.Motion = motionWord(dir)
		}
		out = append(out, c)
	}
	return out
}

func sdnName(n uint32) string {
	text := strings.ToUpper(hex.EncodeToString([]byte{byte(n >> 16), byte(n >> 8), byte(n)}))
	return text[:2] + "." + text[2:4] + "." + text[4:]
}

func (p *sdnBus) can(f Fault) error {
	switch {
	case f.Rate < 1 && !slices.Contains([]FaultKind{FaultDropRequest, FaultDropAnswer, FaultCorrupt, FaultForeign, FaultNoise, FaultBabble}, f.Kind):
		return fmt.Errorf("rate: kind %s is always or never here", f.Kind)
	case f.Rate == 1 && f.Kind == FaultBabble:
		return fmt.Errorf("rate: a motor babbles for a part of the time, below 1; for a line that is never free take kind %s", FaultNoise)
	case f.Address != "" && (f.Kind == FaultNoise || f.Kind == FaultEcho):
		return fmt.Errorf("address: kind %s strikes a whole bus", f.Kind)
	case f.Address == "" && (f.Kind == FaultBabble || f.Kind == FaultDuplicate):
		return fmt.Errorf("address: kind %s strikes one motor", f.Kind)
	}
	return only(f, p.nodes, FaultSilent, FaultDropRequest, FaultDropAnswer, FaultDelay, FaultCorrupt, FaultRefuse, FaultBusy, FaultStuck,
		FaultDuplicate, FaultBabble, FaultNoise, FaultEcho, FaultForeign)
}

// forEver is longer than any test.
const forEver = 1000 * time.Hour

func (p *sdnBus) afflict(faults []Fault) {
	troubles, twins := make([]sdnsim.Trouble, len(p.nodes)), make([]bool, len(p.nodes))
	var echo bool
	var noise time.Duration
	var babble Fault
	var foreign []Fault
	for _, f := range faults {
		switch {
		case f.Kind == FaultEcho:
			echo = true
		case f.Kind == FaultNoise && f.Rate == 1:
			noise = forEver
		case f.Kind == FaultNoise || f.Kind == FaultBabble:
			babble = f
		case f.Kind == FaultForeign:
			foreign = append(foreign, f)
		}
		for i, n := range p.nodes {
			if f.Address == "" || f.Address == n.Address {
				impair(&troubles[i], f)
				twins[i] = twins[i] || f.Kind == FaultDuplicate
			}
		}
	}
	p.bus.Echo(echo)
	p.bus.Babble(noise)
	// What follows fails for a motor that is not there only.
	if babble.ID != p.babble.ID {
		_ = p.bus.Chatter(babble.Address, babble.Rate)
		p.babble = babble
	}
	for i, n := range p.nodes {
		if twins[i] != p.twins[i] {
			_ = p.bus.Duplicate(n.Address, twins[i])
		}
	}
	p.twins = twins
	for i, t := range troubles {
		if t != p.troubles[i] {
			_ = p.bus.SetTrouble(p.nodes[i].Address, t)
		}
	}
	p.troubles = troubles
	if p.ends != nil {
		close(p.ends)
		p.ends = nil
	}
	if len(foreign) > 0 {
		p.ends = make(chan struct{})
		go p.secondMaster(foreign[len(foreign)-1], p.ends)
	}
}

// impair adds a fault to those of a motor.
func impair(t *sdnsim.Trouble, f Fault) {
	switch f.Kind {
	case FaultSilent:
		t.Deaf = forEver
	case FaultDropRequest:
		t.Miss = math.Max(t.Miss, f.Rate)
	case FaultDropAnswer:
		t.Dumb = math.Max(t.Dumb, f.Rate)
	case FaultCorrupt:
		t.Garble = math.Max(t.Garble, f.Rate)
	case FaultDelay:
		t.Late += time.Duration(f.DelayMs) * time.Millisecond
	case FaultRefuse:
		t.Refuse = byte(f.Exception)
		if t.Refuse == 0 {
			t.Refuse = 0x27 // it protects itself
		}
	case FaultBusy:
		t.Busy = f.Count
		if t.Busy == 0 {
			t.Busy = math.MaxInt32
		}
	case FaultStuck:
		t.Stuck = true
	}
}

// foreignEach is the pause between two questions of the second master at rate 1.
const foreignEach = 250 * time.Millisecond

// secondMaster asks motors where they are, whenever the line is silent.
func (p *sdnBus) secondMaster(f Fault, ends <-chan struct{}) {
	tick := time.NewTicker(time.Duration(float64(foreignEach) / f.Rate))
	defer tick.Stop()
	for n := 0; len(p.nodes) > 0; n++ {
		select {
		case <-ends:
			return
		case <-tick.C:
		}
		address := p.nodes[n%len(p.nodes)].Address
		if f.Address != "" {
			address = f.Address
		}
		to, err := strconv.ParseUint(strings.ReplaceAll(address, ".", ""), 16, 24)
		if err != nil {
			return // checked when the bus was built
		}
		p.bus.Say(sdnsim.Message{ID: 0x0C, Src: 0x7F7F7F, Dst: uint32(to)})
	}
}

func (p *sdnBus) pressChannel(string, int, Press) (bool, error) { return false, nil }

func (p *sdnBus) pressShade(address string, output int, dir direction) (bool, error) {
	i := slices.IndexFunc(p.nodes, func(n appliance.Node) bool { return n.Address == address })
	if output != 1 || p.shades[i].ID == 0 {
		return false, nil
	}
	if p.shades[i].Inverted {
		dir = -dir
	}
	return true, p.bus.Press(address, map[direction]string{still: "stop", opening: "up", closing: "down"}[dir])
}
