package sim

import (
	"fmt"
	"math"
	"time"

	"svc.internal/controller/appliance"
)

// Device is the true state of what a site node stands for.
type Device struct {
	Bus      string          `json:"bus"`
	Address  string          `json:"address"`
	Profile  string          `json:"profile"`
	NodeID   appliance.ID    `json:"nodeId"`
	Name     string          `json:"name"`
	Channels []DeviceChannel `json:"channels"`
	Shades   []DeviceShade   `json:"shades"`
	// Power in W that the node's outputs draw; of a meter what it measures.
	Power  float64  `json:"power"`
	Energy *float64 `json:"energy,omitempty"` // kWh, meters only
	Frames uint64   `json:"framesReceived"`   // of the node's unit
	Writes uint64   `json:"writesReceived"`   // carried out by the node's unit
	Online bool     `json:"online"`           // the bus is there and no fault silences the unit
	Safe   bool     `json:"safeState"`        // its watchdog ran out
	Safes  uint64   `json:"safeStates"`       // times its watchdog ran out before
	// ShortAddress of DALI gear behind a serial gateway, as it is now; -1: none.
	// Address is what the site says.
	ShortAddress *int `json:"shortAddress,omitempty"`
}

// DeviceChannel is one output. A meter has one that only measures.
type DeviceChannel struct {
	Channel int  `json:"channel"` // of the node, from 1
	On      bool `json:"on"`
	// Level is what the lamp emits now, 0–100; TargetLevel what it will have
	// reached when its fade is over. Dimmed DALI gear has steps of up to 3 % of the
	// level: its light is that much off what was asked.
	Level       int     `json:"level"`
	ExactLevel  float64 `json:"exactLevel"`
	TargetLevel int     `json:"targetLevel"`
	Raw         int     `json:"raw"`                 // the target in the device's own numbers
	ColorTemp   int     `json:"colorTemp,omitempty"` // K; absent if it has one white only
	RGBW        string  `json:"rgbw,omitempty"`      // what the outputs R:G:B:W are set to, 0 while off
	Power       float64 `json:"power"`               // W
	// ChangedAt is when the light reached, or will reach, what it aims at now; zero:
	// it did not change yet.
	ChangedAt time.Time `json:"changedAt,omitzero"`
}

// DeviceShade is one shade.
type DeviceShade struct {
	ShadeID       appliance.ID `json:"shadeId"`
	Output        int          `json:"output"`
	Position      int          `json:"position"` // 0 closed … 100 open
	ExactPosition float64      `json:"exactPosition"`
	Moving        bool         `json:"moving"`
	Motion        string       `json:"motion"` // of the shade: "opening", "closing", "stopped"
}

// Devices is the true state of every node, in site order bus by bus.
func (bd *Building) Devices() []Device {
	out := []Device{}
	for _, b := range bd.buses {
		out = append(out, b.devices(time.Now())...)
	}
	return out
}

// DevicesOn is the true state of the nodes of one bus, in site order; of none if there is no such bus.
func (bd *Building) DevicesOn(bus string) []Device {
	for _, b := range bd.buses {
		if b.name == bus {
			return b.devices(time.Now())
		}
	}
	return nil
}

func (b *bus) devices(now time.Time) []Device {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.player != nil {
		return b.playedDevices()
	}
	var out []Device
	for n := range 256 {
		u := b.units[byte(n)]
		if u == nil {
			continue
		}
		online := b.up && b.pulled == 0 && !b.silenced(u.number)
		for _, p := range u.nodes {
			d := p.state(now, b)
			d.Frames, d.Writes, d.Online = u.frames, u.writes, online
			d.Safe, d.Safes = u.expired(now), u.safeStates
			out = append(out, d)
		}
	}
	return out
}

// silenced reports whether a fault keeps a unit from ever answering.
func (b *bus) silenced(unit byte) bool {
	for _, r := range b.faults {
		lost := r.Kind == FaultSilent || r.Kind == FaultPower || r.Kind == FaultDropRequest || r.Kind == FaultDropAnswer || r.Kind == FaultDrop
		if lost && r.Rate == 1 && r.Count == 0 && (r.unit == 0 || r.unit == int(unit)) {
			return true
		}
	}
	return false
}

func (p *place) state(now time.Time, b *bus) Device {
	d := Device{Bus: b.name, Address: p.node.Address, Profile: p.node.Profile, NodeID: p.node.ID, Name: p.node.Name,
		Channels: []DeviceChannel{}, Shades: []DeviceShade{}}
	for i, l := range p.lamps {
		c := l.state(now)
		c.Channel = i + 1
		d.Channels = append(d.Channels, c)
		d.Power += c.Power
	}
	for _, s := range p.shades {
		moving := s.motor.moving(now)
		motion := still
		if moving {
			motion = s.motor.effective()
		}
		d.Shades = append(d.Shades, DeviceShade{ShadeID: s.shade.ID, Output: s.shade.Output,
			Position: round(s.motor.position), ExactPosition: s.motor.position, Moving: moving, Motion: motionWord(motion)})
		d.Power += s.motor.power(now)
	}
	if p.meter != nil {
		load := b.load(now)
		energy := firstKWh + load.kWh
		d.Power, d.Energy = load.watts, &energy
		d.Channels = append(d.Channels, DeviceChannel{Channel: 1, Power: load.watts})
	}
	return d
}

func (l *lamp) state(now time.Time) DeviceChannel {
	light := l.light.value(now)
	c := DeviceChannel{On: l.on, Level: round(light), ExactLevel: light, TargetLevel: round(l.target()),
		ColorTemp: l.kelvin, Power: l.power(now)}
	c.Raw = c.TargetLevel
	if l.raw != nil {
		c.Raw = l.raw()
	}
	if l.colour != nil {
		c.RGBW = rgbwText(*l.colour)
	}
	if !l.light.start.IsZero() {
		c.ChangedAt = l.light.start.Add(time.Duration(math.Abs(l.light.to-l.light.from) * float64(l.light.pace)))
	}
	return c
}

func round(v float64) int { return int(math.Round(v)) }

// BusState is what a bus went through.
type BusState struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // "tcp", "rtu+tcp", "serial"
	Port    string `json:"port"`
	Up      bool   `json:"up"`
	Units   int    `json:"units"`
	Frames  uint64 `json:"frames"`  // requests received
	Answers uint64 `json:"answers"` // sent
	// GroupFrames are requests to several devices at once; of DMX every universe.
	GroupFrames uint64 `json:"groupFrames"`
	// Bytes as clients sent and got them.
	BytesReceived uint64 `json:"bytesReceived"`
	BytesSent     uint64 `json:"bytesSent"`
	// Busy is the part of the time since the bus came up that characters were on
	// the wire; 0 on sockets.
	Busy float64 `json:"busy"`
	// What a client did wrong.
	SilenceViolations uint64 `json:"silenceViolations"` // requests less than t3.5 after the last character
	Collisions        uint64 `json:"collisions"`        // requests while an answer was on the wire
	Garbled           uint64 `json:"garbled"`           // bytes that were no frame
	Connections       uint64 `json:"connections"`       // accepted
	Rejected          uint64 `json:"rejected"`          // connections over the limit

	Faults map[FaultKind]uint64 `json:"faults"` // exchanges each kind struck
}

// Buses tells what each bus went through, in site order.
func (bd *Building) Buses() []BusState {
	out := []BusState{}
	for _, b := range bd.buses {
		out = append(out, b.state(time.Now()))
	}
	return out
}

func (b *bus) state(now time.Time) BusState {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.counts
	s := BusState{Name: b.name, Kind: string(b.kind), Port: b.where, Up: b.up && b.pulled == 0, Units: len(b.units),
		Frames: n.requests, Answers: n.answers, BytesReceived: n.bytesIn, BytesSent: n.bytesOut,
		SilenceViolations: n.silenceViolations, Collisions: n.collisions, Garbled: n.garbled,
		Connections: n.connections, Rejected: n.rejections, GroupFrames: b.groupFrames, Faults: map[FaultKind]uint64{}}
	if b.player != nil {
		b.collect()
		b.player.count(&s)
	}
	for k, v := range b.faultHits {
		s.Faults[k] = v
	}
	if gone := now.Sub(b.began); !b.began.IsZero() && gone > 0 {
		s.Busy = min(1, n.busy.Seconds()/gone.Seconds())
	}
	return s
}

// PressChannel does what a wall switch at the device does to a channel of the
// node at an address. The device's registers change with it.
func (bd *Building) PressChannel(busName, nodeAddress string, channel int, press Press) error {
	if press.Level != nil && (*press.Level < 0 || *press.Level > 100) {
		return fmt.Errorf("level %d: want 0 to 100", *press.Level)
	}
	if done, err := bd.pressPlayed(busName, nodeAddress, func(p player) (bool, error) { return p.pressChannel(nodeAddress, channel, press) }); done {
		return err
	}
	return bd.locally(busName, nodeAddress, func(now time.Time, p *place) (bool, error) {
		if channel < 1 || channel > len(p.lamps) {
			return false, nil
		}
		l := p.lamps[channel-1]
		switch {
		case press.ColorTemp != nil && l.kelvin == 0:
			return true, fmt.Errorf("channel %d has no colour temperature", channel)
		case press.RGBW != nil && l.colour == nil:
			return true, fmt.Errorf("channel %d has no colour", channel)
		}
		l.wall(now, press)
		return true, nil
	}, fmt.Sprintf("channel %d", channel))
}

// PressShade runs the shade on an output of the node at an address by its wall
// button: "open", "close" or "stop".
func (bd *Building) PressShade(busName, nodeAddress string, output int, action string) error {
	dirs := map[string]direction{"open": opening, "close": closing, "stop": still}
	dir, ok := dirs[action]
	if !ok {
		return fmt.Errorf("action %q: want open, close or stop", action)
	}
	if done, err := bd.pressPlayed(busName, nodeAddress, func(p player) (bool, error) { return p.pressShade(nodeAddress, output, dir) }); done {
		return err
	}
	return bd.locally(busName, nodeAddress, func(now time.Time, p *place) (bool, error) {
		for _, s := range p.shades {
			if s.shade.Output != output {
				continue
			}
			if s.motor.inverted {
				s.motor.run(now, -dir)
			} else {
				s.motor.run(now, dir)
			}
			return true, nil
		}
		return false, nil
	}, fmt.Sprintf("shade output %d", output))
}

// locally lets do loose on the nodes at an address until one has what is asked,
// and records what changed.
func (bd *Building) locally(busName, nodeAddress string, do func(time.Time, *place) (bool, error), what string) error {
	b, err := bd.bus(busName)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	found := false
	for _, u := range b.units {
		for _, p := range u.nodes {
			if p.node.Address != nodeAddress {
				continue
			}
			found = true
			b.account(now)
			before := u.aims(now)
			hit, err := do(now, p)
			if err != nil {
				return fmt.Errorf("node %d (%s): %w", p.node.ID, p.node.Name, err)
			}
			if !hit {
				continue
			}
			b.account(now)
			b.writeLog.add(writeEntry{now, u.number, "wall", nil, describe(before, u.aims(now))})
			return nil
		}
	}
	if !found {
		return fmt.Errorf("no node at address %q of bus %s: %w", nodeAddress, busName, ErrUnknown)
	}
	return fmt.Errorf("nodes at address %q of bus %s have no %s: %w", nodeAddress, busName, what, ErrUnknown)
}
