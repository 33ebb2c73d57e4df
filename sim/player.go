package sim

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/appliance"
)

// player plays the devices of one bus whose protocol has a simulator of its own.
// The bus gives it a port, takes that away when it is unplugged, and keeps the
// records. Safe for concurrent use.
type player interface {
	// serve talks to a client until ctx ends or the port fails.
	serve(ctx context.Context, port io.ReadWriteCloser) error
	// devices is the truth about each node, in site order.
	devices() []Device
	// count fills in what the simulator counted.
	count(s *BusState)
	// heard returns what was on the wire since it was asked last, oldest first.
	heard() []heard
	// can tells why a fault is not possible here.
	can(f Fault) error
	// afflict puts these faults in force, and no others.
	afflict(faults []Fault)
	// pressChannel and pressShade do what a wall switch does; false: the node has no
	// such output.
	pressChannel(address string, channel int, p Press) (bool, error)
	pressShade(address string, output int, dir direction) (bool, error)
}

// heard is one frame of a master.
type heard struct {
	at    time.Time
	bytes []byte
	note  string
	group bool // it addressed several devices
	write bool // it was to change something
	event bool // no frame of a master: a babbling device
	// changes it was to make, whether or not a deaf device missed it.
	changes []Change
}

// players by driver.
var players = map[string]func(bus appliance.Bus, nodes []appliance.Node, shades []appliance.Shade, opts Options) (player, error){
	"sdn":  newSDN,
	"dali": newDALI,
	"dmx":  newDMX,
}

// collectEach is how often a player is asked for what it heard, if nobody else
// wants to know; it remembers that for some time only.
const collectEach = 30 * time.Second

// collecting keeps the records of a player's bus until ctx ends.
func (b *bus) collecting(ctx context.Context) {
	tick := time.NewTicker(collectEach)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.mu.Lock()
			b.collect()
			b.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// collect takes over what a player heard. Called with mu held.
func (b *bus) collect() {
	if b.player == nil {
		return
	}
	for _, h := range b.player.heard() {
		note := h.note
		source := "wire"
		if h.group {
			b.groupFrames++
			source = "broadcast"
			note = joinNotes("to several", note)
		}
		direction := Request
		if h.event {
			direction = Event
		}
		b.log(h.at, direction, h.bytes, note, h.changes)
		if h.write {
			b.writeLog.add(writeEntry{h.at, 0, source, h.bytes, h.changes})
		}
	}
}

// playThrough gives a player the port until ctx ends or it is unplugged.
func (b *bus) playThrough(ctx context.Context, port serialEnd) error {
	ctx, cancel := context.WithCancel(ctx)
	cuts := b.cutCount()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-ctx.Done():
				return
			case <-b.wake:
				if b.isPulled() || b.cutCount() != cuts {
					cancel()
					return
				}
			}
		}
	}()
	defer func() { cancel(); <-watched }()
	err := b.player.serve(ctx, held{port})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// held is a port that the bus closes itself: for a player it only comes to an end.
type held struct{ serialEnd }

// serialEnd is the devices' end of a serial line.
type serialEnd interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
}

func (h held) Close() error { return h.SetDeadline(time.Unix(1, 0)) }

// concerned lists the buses that a fault can strike, and the Modbus unit it names.
func (bd *Building) concerned(f Fault) ([]*bus, int, error) {
	candidates := bd.buses
	if f.Bus != "" {
		b, err := bd.bus(f.Bus)
		if err != nil {
			return nil, 0, err
		}
		candidates = []*bus{b}
	}
	var why error
	var concerned []*bus
	unit := 0
	for _, b := range candidates {
		n, err := b.can(f)
		if err != nil {
			why = err
			continue
		}
		if n != 0 {
			unit = n
		}
		concerned = append(concerned, b)
	}
	if len(concerned) == 0 && why != nil {
		return nil, 0, why
	}
	return concerned, unit, nil
}

// can tells why a fault is not possible on this bus, else the unit that it names.
func (b *bus) can(f Fault) (unit int, err error) {
	switch {
	case f.Kind == FaultUnplug || f.Kind == FaultClose:
		return 0, nil
	case f.Kind == FaultHang && (b.kind == kindSerial || b.player != nil):
		return 0, fmt.Errorf("bus %s: kind %s is for Modbus gateways", b.name, f.Kind)
	case b.player != nil:
		if err := b.player.can(f); err != nil {
			return 0, fmt.Errorf("bus %s: %w", b.name, err)
		}
		return 0, nil
	case f.Kind == FaultLamp:
		return 0, fmt.Errorf("bus %s: kind %s is not for Modbus", b.name, f.Kind)
	case f.Kind == FaultDuplicate && b.kind == kindTCP:
		return 0, fmt.Errorf("bus %s: kind %s: on Modbus TCP a gateway answers, and only once", b.name, f.Kind)
	case (f.Kind == FaultBabble || f.Kind == FaultSettings) && b.kind != kindSerial:
		return 0, fmt.Errorf("bus %s: kind %s is for pseudo-terminals", b.name, f.Kind)
	case f.Exception > maxException:
		return 0, fmt.Errorf("exception %d: want 1 to %d", f.Exception, maxException)
	case f.Address == "":
		return 0, nil
	}
	a, err := parseAddress(f.Address)
	return int(a.unit), err
}

// afflict tells a player which faults are in force. Called with mu held.
func (b *bus) afflict() {
	if b.player == nil {
		return
	}
	faults := make([]Fault, 0, len(b.faults))
	for _, r := range b.faults {
		faults = append(faults, r.Fault)
	}
	b.player.afflict(faults)
}

// playedDevices are the devices of a player.
func (b *bus) playedDevices() []Device {
	list := b.player.devices()
	for i := range list {
		list[i].Bus = b.name
		list[i].Online = b.up && b.pulled == 0 && !slices.ContainsFunc(b.faults, func(r *running) bool {
			lost := r.Kind == FaultSilent || (r.Kind == FaultDropAnswer || r.Kind == FaultDropRequest) && r.Rate == 1
			return lost && (r.Address == "" || r.Address == list[i].Address)
		})
	}
	return list
}

// deviceOf begins the truth about a node.
func deviceOf(n appliance.Node) Device {
	return Device{Address: n.Address, Profile: n.Profile, NodeID: n.ID, Name: n.Name, Channels: []DeviceChannel{}, Shades: []DeviceShade{}}
}

// only refuses kinds that are not among those possible, and addresses that nobody
// has.
func only(f Fault, nodes []appliance.Node, kinds ...FaultKind) error {
	if !slices.Contains(kinds, f.Kind) {
		var words []string
		for _, k := range kinds {
			words = append(words, string(k))
		}
		return fmt.Errorf("kind %s is not possible here: want one of %s, unplug, close", f.Kind, strings.Join(words, ", "))
	}
	if f.Address != "" && !slices.ContainsFunc(nodes, func(n appliance.Node) bool { return n.Address == f.Address }) {
		return fmt.Errorf("address %q: %w", f.Address, ErrUnknown)
	}
	return nil
}

// pressPlayed does what a wall switch does at a node of a player; done is false if
// the bus has none.
func (bd *Building) pressPlayed(busName, address string, press func(player) (bool, error)) (done bool, err error) {
	b, err := bd.bus(busName)
	if err != nil || b.player == nil {
		return false, nil // an unknown bus is told of where Modbus is looked after
	}
	if !slices.ContainsFunc(b.player.devices(), func(d Device) bool { return d.Address == address }) {
		return true, fmt.Errorf("no node at address %q of bus %s: %w", address, busName, ErrUnknown)
	}
	has, err := press(b.player)
	if err == nil && !has {
		err = fmt.Errorf("the node at address %q of bus %s has no such output: %w", address, busName, ErrUnknown)
	}
	return true, err
}
