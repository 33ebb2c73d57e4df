package main

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// TestCampaignBadFieldDevices commands two buses each of SDN, DALI and DMX with the
// same devices; on one of the two a device is deaf, one has the address of another,
// and one babbles. The healthy ones there must be reached as fast as on the other bus,
// no value may ever be shown that no device has, and the deaf ones may cost at most
// 5 % of the time.
//
// The two are measured side by side as in TestSilentDevicesCampaign. What counts is
// the time from the acceptance of a command until its frame is handed to the port for
// the first time, less the time in which the babbling device had the line, with the
// silence that the protocol demands after each of its frames: nobody could have sent
// anything then.
func TestCampaignBadFieldDevices(t *testing.T) {
	t.Parallel()
	length := 25 * time.Second
	if soak() {
		length = 12 * time.Minute
	}
	for _, f := range badFamilies {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			virtually(t, f.site(), func(_ *testing.T, h *house) {
				b := &badTwins{house: h, badFamily: f, waits: map[string][]time.Duration{}, lost: map[string]int{}, may: map[appliance.ID][2]int{}}
				b.run(length)
			})
		})
	}
}

// badFamily is one kind of bus.
type badFamily struct {
	name, driver, options string
	profile               string
	address               func(i int) string
	faults                []sim.Fault // bus and length are filled in
	// deaf and double are which devices are so, from 0; the healthy ones are in front.
	deaf, double, healthy int
	doubleValue           int // what the second device of the address has
	path, body            string
	// own tells whether a frame handed to the port is that of a command to device i.
	own func(raw []byte, i int) bool
	// char is how long a byte of a babbling device lasts; frame, if not 0, a whole
	// frame. quiet is the silence that is due after it.
	char, frame, quiet time.Duration
}

var badFamilies = []badFamily{{
	name: "SDN", driver: "sdn", profile: "somfy-sdn-30dc", address: motorAddress, healthy: 6, deaf: 6, double: 7, doubleValue: 100,
	faults: []sim.Fault{
		{Kind: sim.FaultSilent, Address: motorAddress(6)}, {Kind: sim.FaultDuplicate, Address: motorAddress(7)},
		{Kind: sim.FaultBabble, Address: motorAddress(8), Rate: 0.05},
	},
	path: "shadeControl", body: `{"targetType":3,"targetId":%d,"command":"POS","posValue":%d}`,
	own: func(raw []byte, i int) bool { // CTRL_MOVETO; all but the sum is inverted, the address low byte first
		return len(raw) > 9 && raw[0] == ^byte(3) && bytes.Equal(raw[6:9], []byte{^byte(i + 1), 0xFF, ^byte(6)})
	},
	char: 11 * time.Second / 4800, quiet: 25 * time.Millisecond,
}, {
	name: "DALI", driver: "dali", options: ", options: {gateway: atx}", profile: "dali-dt6", address: func(i int) string { return fmt.Sprint(i) },
	healthy: 10, deaf: 10, double: 11, doubleValue: 100,
	faults: []sim.Fault{{Kind: sim.FaultSilent, Address: "10"}, {Kind: sim.FaultDuplicate, Address: "11"}, {Kind: sim.FaultBabble, Rate: 0.05}},
	path:   "channelControl", body: `{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`,
	own: func(raw []byte, i int) bool { // a level, or OFF, to a short address
		text := string(raw)
		return strings.HasPrefix(text, fmt.Sprintf("h%02X", 2*i)) || text == fmt.Sprintf("h%02X00\n", 2*i+1)
	},
	frame: 15830 * time.Microsecond, quiet: 19 * time.Millisecond, // until the gateway has told of a collision, 1 ms, and what the driver leaves it then
}, {
	name: "DMX", driver: "dmx", options: ", options: {interface: enttec-pro}", profile: "dmx-dimmer", address: func(i int) string { return fmt.Sprint(i + 1) },
	healthy: 4, deaf: 4, double: 5,
	faults: []sim.Fault{{Kind: sim.FaultSilent, Address: "5"}, {Kind: sim.FaultDuplicate, Address: "6"}, {Kind: sim.FaultBabble, Rate: 0.2}},
	path:   "channelControl", body: `{"targetType":3,"targetId":%d,"command":"DIM","dimLevel":%d}`,
	own: func(raw []byte, _ int) bool { return len(raw) > 1 && raw[1] == 6 }, // a universe
}}

// devices of a bus: the healthy ones, one deaf, one double, one more that may babble.
func (f badFamily) devices() int { return f.healthy + 3 }

// badTwins is a house with a whole and a partly bad bus of one family.
type badTwins struct {
	*house
	badFamily

	mu    sync.Mutex
	waits map[string][]time.Duration
	lost  map[string]int // commands that were not confirmed
	// may is what may be shown of each node: what it had, and what it is sent to.
	may     map[appliance.ID][2]int
	taken   time.Duration // by the babbling device, while commands waited
	checked int
}

// Buses of badTwins. A node of the second has 100 more than its twin.
const wholeBus, badBus = "whole", "bad"

// site has the two buses.
func (f badFamily) site() string {
	var nodes, shades strings.Builder
	for at, bus := range []string{wholeBus, badBus} {
		for i := range f.devices() {
			id := 100*at + i + 1
			fmt.Fprintf(&nodes, "  - {id: %d, name: %s %d, bus: %s, address: %q, profile: %s}\n", id, bus, i, bus, f.address(i), f.profile)
			if f.path == "shadeControl" {
				fmt.Fprintf(&shades, "  - {id: %d, name: Shade %s %d, node: %d, output: 1}\n", 500+id, bus, i, id)
			}
		}
	}
	site := "site: {name: Bad, freshness: {light: 200ms, movingShade: 1s, idleShade: 1s}}\nbuses:\n"
	for _, bus := range []string{wholeBus, badBus} {
		site += fmt.Sprintf("  - {name: %s, driver: %s, port: \"@DIR@/%s\"%s}\n", bus, f.driver, bus, f.options)
	}
	site += "nodes:\n" + nodes.String()
	if shades.Len() > 0 {
		site += "shades:\n" + shades.String()
	}
	return site
}

// deafOne is what is known of the deaf device.
func (b *badTwins) deafOne() appliance.DeviceState {
	for _, d := range b.bus(badBus).Devices {
		if d.Device == b.address(b.deaf) || strings.HasSuffix(d.Device, " "+b.address(b.deaf)) {
			return d
		}
	}
	return appliance.DeviceState{}
}

// silences counts the questions to the deaf device that were not answered.
func (b *badTwins) silences() uint64 {
	d := b.deafOne()
	return d.Stats.Silent + d.Stats.Damaged
}

func (b *badTwins) run(length time.Duration) {
	b.login(account.RoleAPIService)
	for _, f := range b.faults {
		f.Bus = badBus
		b.fault(f)
	}
	if b.driver != "dmx" { // nobody can tell that a DMX fixture is deaf
		// Finding out who is gone is not throttled, and takes what it takes.
		b.await(30*time.Second, "the deaf device to be known", func() bool { return b.silences() > 0 && !b.deafOne().Online })
	}
	before := b.silences()
	began := time.Now()
	over := make(chan struct{})
	var watching, wg sync.WaitGroup
	watching.Go(func() { b.watch(over) })
	for _, bus := range []string{wholeBus, badBus} {
		wg.Go(func() { b.commands(bus, began.Add(length)) })
	}
	wg.Wait()
	close(over)
	watching.Wait()
	took := time.Since(began)
	whole, bad := b.waits[wholeBus], b.waits[badBus]
	slices.Sort(whole)
	slices.Sort(bad)
	if len(whole) < 20 || len(bad) < 20 {
		b.t.Fatalf("%d and %d commands in %v", len(whole), len(bad), length)
	}
	ratio := float64(quantile(bad, 0.99)) / float64(quantile(whole, 0.99))
	low, high := ratioInterval(bad, whole, 0.99)
	b.t.Logf("whole: %d commands, %d not confirmed, p50 %v, p99 %v; with a deaf, a double and a babbling device: %d commands, %d not confirmed, p50 %v, p99 %v",
		len(whole), b.lost[wholeBus], quantile(whole, 0.5), quantile(whole, 0.99), len(bad), b.lost[badBus], quantile(bad, 0.5), quantile(bad, 0.99))
	bound := b.bus(badBus).Bound
	cost := float64(b.silences()-before) * bound.Seconds() / took.Seconds()
	b.t.Logf("p99 ratio %.3f, 95 %% interval %.3f to %.3f; the babbling device had the line for %.1f %% of the time that commands waited; deaf devices cost %.1f %% of the time at most; %d values looked at",
		ratio, low, high, 100*b.taken.Seconds()/sum(bad, b.taken).Seconds(), 100*cost, b.checked)
	if low > 1.10 || soak() && ratio > 1.10 {
		b.t.Errorf("p99 is %.3f times that of the whole bus, want at most 1.10", ratio)
	}
	if cost > 0.05 {
		b.t.Errorf("a deaf device cost %.1f %% of the bus's time, want at most 5 %%", 100*cost)
	}
	if b.lost[wholeBus] > 0 || b.lost[badBus] > len(bad)/50 {
		b.t.Errorf("%d and %d commands were not confirmed", b.lost[wholeBus], b.lost[badBus])
	}
	// The bound is that of a line on which everybody obeys the rules; the answers of two
	// devices with one address, and damaged ones, may add to it on the bad one.
	b.t.Logf("longest wait: %v, on the bad bus %v; published bound %v", ms(whole[len(whole)-1]), ms(bad[len(bad)-1]), ms(bound))
	if worst := whole[len(whole)-1]; worst > b.bus(wholeBus).Bound {
		b.t.Errorf("a command waited %v, the published bound is %v", worst, b.bus(wholeBus).Bound)
	}
	if b.checked == 0 {
		b.t.Error("no value was looked at")
	}
}

func sum(list []time.Duration, more time.Duration) time.Duration {
	for _, d := range list {
		more += d
	}
	return max(more, 1)
}

// commands goes through the healthy devices of a bus at random until a moment. Both
// buses see the same commands.
func (b *badTwins) commands(bus string, until time.Time) {
	dice := rand.New(rand.NewPCG(9, 9))
	rec, err := b.daemon.core.Recorder(bus)
	if err != nil {
		b.t.Error(err)
		return
	}
	log := b.tail(bus)
	for time.Now().Before(until) {
		<-time.After(time.Duration(dice.Int64N(int64(30 * time.Millisecond))))
		i, value := dice.IntN(b.healthy), 5+dice.IntN(91)
		node := appliance.ID(i + 1)
		if bus == badBus {
			node += 100
		}
		target := node
		if b.path == "shadeControl" {
			target += 500
		}
		b.allow(node, value)
		entry, status, message := b.order(b.path, fmt.Sprintf(b.body, target, value))
		var handed time.Time
		for _, f := range rec.Recent() {
			if f.Direction == appliance.FrameSent && !f.At.Before(entry.AcceptedAt) && b.own(f.Bytes, i) {
				handed = f.At
				break
			}
		}
		if status == 1 {
			b.allow(node, value) // and nothing else from now on
			b.obeyedNow(node, value)
		}
		taken := b.occupied(log.events(), entry.AcceptedAt, handed)
		b.mu.Lock()
		switch {
		case status != 1:
			b.lost[bus]++
			b.t.Logf("%s: %s", bus, message)
			fallthrough
		case !handed.IsZero():
			if !handed.IsZero() {
				b.waits[bus] = append(b.waits[bus], handed.Sub(entry.AcceptedAt)-taken)
				b.taken += taken
			}
		default:
			b.t.Errorf("%s: a command was confirmed and its frame is not in the recorder", bus)
		}
		b.mu.Unlock()
	}
}

// allow tells what a node may show from now on: what it had, or where it is sent.
func (b *badTwins) allow(node appliance.ID, value int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.may[node] = [2]int{b.may[node][1], value}
}

// obeyedNow checks that a device does what was confirmed.
func (b *badTwins) obeyedNow(node appliance.ID, value int) {
	if b.path != "shadeControl" {
		if !b.awaitLight(node, value) {
			b.t.Errorf("node %d: told 1 for %d %%, the device has %v", node, value, targets(b.device(node)))
		}
		return
	}
	if s := b.device(node).Shades[0]; !s.Moving && (s.Position < value-1 || s.Position > value+1) {
		b.t.Errorf("node %d: told 1 for %d, the shade stands at %d", node, value, s.Position)
	}
}

// watch looks at every value that is shown until over is closed.
func (b *badTwins) watch(over <-chan struct{}) {
	for {
		s := b.look()
		select {
		case <-over:
			return
		case <-s.Superseded():
		}
	}
}

// look takes the snapshot and what may be in it at one moment.
func (b *badTwins) look() *appliance.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.daemon.core.Snapshot()
	if b.path == "shadeControl" {
		truth := map[appliance.ID]float64{}
		for _, d := range b.building.Devices() {
			truth[d.NodeID] = d.Shades[0].ExactPosition
		}
		for _, sh := range s.Shades {
			age := time.Since(sh.Position.At)
			if !sh.Position.OK() || age > 2*time.Second {
				continue
			}
			b.checked++
			// A motor travels 5 % a second, answers 0.3 s after it looked where it is, and
			// tells whole percents.
			most := 1 + 5*(age.Seconds()+0.3)
			off := float64(sh.Position.Value) - truth[sh.Shade.Node]
			double := sh.Shade.Node == appliance.ID(101+b.double) && int(sh.Position.Value) == b.doubleValue
			if (off < -most || off > most) && !double {
				b.t.Errorf("%s is shown at %d (%d, %v), read %v ago, and is at %.1f", sh.Shade.Name, sh.Position.Value, sh.Position.Source, sh.Motion, ms(time.Since(sh.Position.At)), truth[sh.Shade.Node])
			}
		}
		return s
	}
	for _, n := range s.Nodes {
		if !n.Level.OK() {
			continue
		}
		b.checked++
		v, may := int(n.Level.Value), b.may[n.Node.ID]
		double := n.Node.ID == appliance.ID(101+b.double) && v == b.doubleValue
		if v != may[0] && v != may[1] && !double {
			b.t.Errorf("%s is shown at %d, it was at %d and sent to %d", n.Node.Name, v, may[0], may[1])
		}
	}
	return s
}

// events of a bus since they were last asked for: what babbling devices did.
func (l *tail) events() (list []sim.Frame) {
	frames, err := l.h.building.Log(l.bus, l.seen, 0)
	if err != nil {
		l.h.t.Error(err)
		return nil
	}
	for _, f := range frames {
		l.seen = f.Seq
		if f.Note == "babble" || f.Direction == sim.Request && f.Note == "another master" {
			list = append(list, f)
		}
	}
	return list
}

// occupied is how much of a stretch of time nobody but a babbling device could use
// the line.
func (b *badTwins) occupied(events []sim.Frame, from, to time.Time) (taken time.Duration) {
	for _, f := range events {
		raw, err := hex.DecodeString(f.Hex)
		if err != nil {
			continue
		}
		lasts := cmp.Or(b.frame, time.Duration(len(raw))*b.char)
		begin, end := f.At.Add(-lasts), f.At.Add(b.quiet)
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if end.After(begin) {
			taken += end.Sub(begin)
			from = end // what follows does not count twice
		}
	}
	return taken
}
