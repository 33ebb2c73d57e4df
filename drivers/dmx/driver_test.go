package dmx

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
)

var everything = appliance.Target{Scope: appliance.All}

func one(id appliance.ID) appliance.Target { return appliance.Target{Scope: appliance.One, ID: id} }

func level(to appliance.Target, l appliance.Level) appliance.Command {
	return appliance.Command{Kind: appliance.LightLevel, Target: to, Level: l}
}

// start puts a widget with the given fixtures behind a building that has them.
func start(t testing.TB, cfg dmxsim.Config, nodes []appliance.Node) (*building, *plug) {
	t.Helper()
	cfg.Nodes = fixturesOf(nodes)
	return startOn(t, newPlug(t, mustWidget(t, cfg)), nodes)
}

func startOn(t testing.TB, p *plug, nodes []appliance.Node) (*building, *plug) {
	t.Helper()
	p.put()
	b := startBuilding(t, p.path, nil, nodes, nil)
	b.up()
	return b, p
}

// outputs are the universes that the host sent, oldest first.
func outputs(w *dmxsim.Widget) (list []dmxsim.Event) {
	for _, e := range w.Events() {
		if e.Label == 6 {
			list = append(list, e)
		}
	}
	return list
}

// lamp tells a fixture's first channel once it has settled.
func showing1(w *dmxsim.Widget, i int) dmxsim.Light { return w.Devices()[i].Channels[0] }

func mixedNodes() []appliance.Node {
	return []appliance.Node{
		{Address: "1", Profile: "dmx-dimmer"},
		{Address: "2", Profile: "dmx-dimmer-16bit"},
		{Address: "10", Profile: "dmx-rgbw"},
		{Address: "20", Profile: "dmx-rgbw-master", Options: map[string]string{"order": "GRWB"}},
		{Address: "30", Profile: "dmx-tunable", Options: map[string]string{"kelvinMin": "2200", "kelvinMax": "5000", "order": "CW"}},
		{Address: "40", Profile: "dmx-switch"},
		{Address: "50", Profile: "dmx-tunable-temperature"},
		{Address: "60", Profile: "dmx-rgb-16bit", Options: map[string]string{"order": "BGR"}},
	}
}

func TestAcknowledgedMeansTheWidgetHasIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, mixedNodes())
		w := p.widget
		steps := []struct {
			name string
			cmd  appliance.Command
			node int
			want dmxsim.Light
		}{
			{"dim", level(one(1), 40), 0, dmxsim.Light{Level: 40}},
			{"dim 16 bit", level(one(2), 1), 1, dmxsim.Light{Level: 1}},
			{"colour with level", appliance.Command{Kind: appliance.LightRGBW, Target: one(3), RGBW: appliance.RGBW{R: 255, G: 128, W: 3}, Level: 100}, 2, dmxsim.Light{Level: 100, RGBW: [4]byte{255, 128, 0, 3}}},
			{"level keeps the colour's mix", level(one(3), 50), 2, dmxsim.Light{Level: 50, RGBW: [4]byte{128, 64, 0, 2}}},
			{"off", level(one(3), 0), 2, dmxsim.Light{}},
			{"on again in the same colour", appliance.Command{Kind: appliance.LightOn, Target: one(3)}, 2, dmxsim.Light{Level: 50, RGBW: [4]byte{128, 64, 0, 2}}},
			{"master dimmer leaves the colours", appliance.Command{Kind: appliance.LightRGBW, Target: one(4), RGBW: appliance.RGBW{R: 1, G: 255, B: 3, W: 4}, Level: 30}, 3, dmxsim.Light{Level: 30, RGBW: [4]byte{1, 255, 3, 4}}},
			{"colour alone leaves the level", appliance.Command{Kind: appliance.LightRGBW, Target: one(4), RGBW: appliance.RGBW{B: 255}, KeepLevel: true}, 3, dmxsim.Light{Level: 30, RGBW: [4]byte{0, 0, 255, 0}}},
			{"tunable white is neutral at first", level(one(5), 100), 4, dmxsim.Light{Level: 100, Kelvin: 4000}},
			{"tunable white", appliance.Command{Kind: appliance.LightKelvin, Target: one(5), Kelvin: 3000}, 4, dmxsim.Light{Level: 100, Kelvin: 3000}},
			{"tunable white at its warmest", appliance.Command{Kind: appliance.LightKelvin, Target: one(5), Kelvin: 1800}, 4, dmxsim.Light{Level: 100, Kelvin: 2200}},
			{"switch", level(one(6), 1), 5, dmxsim.Light{Level: 100}},
			{"temperature slot", appliance.Command{Kind: appliance.LightKelvin, Target: one(7), Kelvin: 5000}, 6, dmxsim.Light{Kelvin: 5000}},
			{"temperature slot lit", level(one(7), 77), 6, dmxsim.Light{Level: 77, Kelvin: 5000}},
			{"16 bit colour", appliance.Command{Kind: appliance.LightRGBW, Target: one(8), RGBW: appliance.RGBW{R: 10, G: 20, B: 255}, Level: 100}, 7, dmxsim.Light{Level: 100, RGBW: [4]byte{10, 20, 255, 0}}},
			{"all", level(everything, 100), 0, dmxsim.Light{Level: 100}},
			{"all off", appliance.Command{Kind: appliance.LightOff, Target: everything}, 3, dmxsim.Light{RGBW: [4]byte{0, 0, 255, 0}}},
		}
		for _, s := range steps {
			before := len(outputs(w))
			out := b.do(s.cmd)
			if !out.OK() {
				t.Fatalf("%s: %s", s.name, out.Err)
			}
			if len(outputs(w)) <= before {
				t.Fatalf("%s: acknowledged, but the widget has no new universe", s.name)
			}
			for _, m := range out.Members {
				if m.Stage != appliance.StageUnverifiable || m.SentAt.IsZero() {
					t.Errorf("%s: member %+v, want it sent and unverifiable", s.name, m)
				}
			}
			eventually(t, fmt.Sprintf("%s: light %+v (is %+v)", s.name, s.want, showing1(w, s.node)), func() bool {
				got := showing1(w, s.node)
				got.ChangedAt = time.Time{}
				if d := got.Kelvin - s.want.Kelvin; d >= -15 && d <= 15 { // 8 bits of two whites
					got.Kelvin = s.want.Kelvin
				}
				return got == s.want
			})
		}
		for _, n := range b.core.Snapshot().Nodes {
			if len(n.Channels) == 0 || n.Channels[0].Level.Source != appliance.Sent {
				t.Errorf("node %d: level %+v, want one that was sent", n.Node.ID, n.Channels)
			}
		}
	})
}

// A colour at a low level is as dim as possible, and not off.
func TestFaintColourIsNotOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, []appliance.Node{
			{Address: "1", Profile: "dmx-rgbw"},
			{Address: "11", Profile: "dmx-rgbw-16bit"},
			{Address: "21", Profile: "dmx-rgb"},
		})
		faint := appliance.RGBW{R: 10}
		colour := func(id appliance.ID, c appliance.RGBW, l appliance.Level) appliance.Command {
			return appliance.Command{Kind: appliance.LightRGBW, Target: one(id), RGBW: c, Level: l}
		}
		for _, s := range []struct {
			name string
			cmd  appliance.Command
			from int // slot
			want []byte
		}{
			{"colour with a low level", colour(1, faint, 4), 1, []byte{1, 0, 0, 0}},
			{"off", level(one(1), 0), 1, []byte{0, 0, 0, 0}},
			{"on again", level(one(1), 50), 1, []byte{5, 0, 0, 0}},
			{"dimmed to 4 %", level(one(1), 4), 1, []byte{1, 0, 0, 0}},
			{"dimmed to 1 %", level(one(1), 1), 1, []byte{1, 0, 0, 0}},
			{"brighter: the colour was kept", level(one(1), 100), 1, []byte{10, 0, 0, 0}},
			{"the strongest component stays", colour(1, appliance.RGBW{R: 3, G: 10, B: 9, W: 2}, 1), 1, []byte{0, 1, 0, 0}},
			{"no colour at all is dark", colour(1, appliance.RGBW{}, 1), 1, []byte{0, 0, 0, 0}},
			{"16 bits have room for it", colour(2, faint, 4), 11, []byte{0, 103, 0, 0, 0, 0, 0, 0}},
			{"16 bits at the faintest", colour(2, appliance.RGBW{W: 1}, 1), 11, []byte{0, 0, 0, 0, 0, 0, 0, 3}},
			{"16 bits off", level(one(2), 0), 11, make([]byte, 8)},
			{"without a white", colour(3, appliance.RGBW{B: 1, W: 255}, 1), 21, []byte{0, 0, 1}},
		} {
			if out := b.do(s.cmd); !out.OK() {
				t.Fatalf("%s: %s", s.name, out.Err)
			}
			sent := outputs(p.widget)
			if got := sent[len(sent)-1].Data[s.from:][:len(s.want)]; !bytes.Equal(got, s.want) {
				t.Errorf("%s: slots %v, want %v", s.name, got, s.want)
			}
		}
	})
}

// Whatever is lit stays lit at every level, in slots of 8 bits and of 16.
func TestNoLevelAboveZeroIsDark(t *testing.T) {
	t.Parallel()
	white, red := slotSpec{Slot: 4}, slotSpec{Slot: 1}
	for name, out := range map[string]outputSpec{
		"8 bit":      {Red: red, Green: slotSpec{Slot: 2}, Blue: slotSpec{Slot: 3}, White: white},
		"16 bit":     {Red: slotSpec{1, 5}, Green: slotSpec{2, 6}, Blue: slotSpec{3, 7}, White: slotSpec{4, 8}},
		"mixed":      {Red: red, Green: slotSpec{2, 6}, Blue: slotSpec{3, 7}, White: white},
		"two whites": {Warm: red, Cool: white, KelvinMin: 2700, KelvinMax: 6500},
	} {
		l := lamp{out: out}
		for component := 1; component < 256; component++ {
			for p := appliance.Level(1); p <= 100; p++ {
				s := lampState{level: p, colour: appliance.RGBW{W: uint8(component)}, kelvin: appliance.Kelvin(2700 + 15*component)}
				var u universe
				if l.render(s, &u); u == (universe{}) {
					t.Fatalf("%s: %+v is dark", name, s)
				}
				s.level = 0
				if l.render(s, &u); u != (universe{}) {
					t.Fatalf("%s: %+v is lit", name, s)
				}
			}
		}
	}
}

func TestAllOffOn512ChannelsIsOneFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var nodes []appliance.Node
		for i := range 512 {
			nodes = append(nodes, appliance.Node{Address: fmt.Sprint(i + 1), Profile: "dmx-dimmer"})
		}
		b, p := start(t, dmxsim.Config{}, nodes)
		if out := b.do(level(everything, 80)); !out.OK() {
			t.Fatal(out.Err)
		}
		lit := func(v byte) bool {
			for _, x := range p.widget.Universe() {
				if x != v {
					return false
				}
			}
			return true
		}
		eventually(t, "all 512 at 80 %", func() bool { return lit(204) })
		before := len(outputs(p.widget))
		begun := time.Now()
		if out := b.do(level(everything, 0)); !out.OK() {
			t.Fatal(out.Err)
		}
		acknowledged := time.Since(begun)
		eventually(t, "all 512 dark", func() bool { return lit(0) })
		changing := 0
		for _, e := range outputs(p.widget)[before:] {
			if e.Changed > 0 {
				changing++
				if e.Changed != 512 {
					t.Errorf("a frame changed %d slots, want all 512", e.Changed)
				}
			}
		}
		if changing != 1 {
			t.Errorf("%d frames changed something, want 1", changing)
		}
		_, first := p.widget.Slot(1)
		_, last := p.widget.Slot(512)
		t.Logf("all-off on 512 channels: acknowledged after %v, last lamp dark after %v, skew of first and last %v",
			acknowledged.Round(100*time.Microsecond), last.Sub(begun).Round(100*time.Microsecond), last.Sub(first))
	})
}

func TestNothingIsSentBeforeAnythingIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := []appliance.Node{
			{Address: "1", Profile: "dmx-dimmer"},
			{Address: "2", Profile: "dmx-dimmer", Options: map[string]string{"startLevel": "60"}},
		}
		b, p := start(t, dmxsim.Config{}, nodes)
		counted := p.widget.Counters().ByLabel[3]
		eventually(t, "the widget was asked again, in vain for a universe", func() bool { return p.widget.Counters().ByLabel[3] > counted })
		if n := len(outputs(p.widget)); n != 0 {
			t.Fatalf("%d universes were sent before anybody wanted one", n)
		}
		if out := b.do(level(one(1), 50)); !out.OK() {
			t.Fatal(out.Err)
		}
		if got := outputs(p.widget)[0].Data; len(got) != 25 || got[1] != 128 || got[2] != 153 {
			t.Errorf("first universe %x, want 24 slots that begin 80 99", got)
		}
	})
}

// memory is a journal that remembers across two cores.
type memory struct {
	mu     sync.Mutex
	states map[appliance.Ref]appliance.Saved
}

func (m *memory) SaveBatch(_ context.Context, b appliance.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range b.States {
		m.states[s.Ref] = s
	}
	return nil
}

func (m *memory) LoadStates(context.Context) (list []appliance.Saved, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.states {
		list = append(list, s)
	}
	return list, nil
}

func TestRestartChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := mixedNodes()
		journal := &memory{states: map[appliance.Ref]appliance.Saved{
			{Node: 1, Channel: 1}: {Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: 40}, At: time.Now()},
			{Node: 3, Channel: 1}: {Ref: appliance.Ref{Node: 3, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim | appliance.CanColour, Level: 100, RGBW: appliance.RGBW{R: 9, W: 8}}, At: time.Now()},
			{Node: 5, Channel: 1}: {Ref: appliance.Ref{Node: 5, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 50, Kelvin: 2200}, At: time.Now()},
		}}
		p := newPlug(t, mustWidget(t, dmxsim.Config{Nodes: fixturesOf(nodes)}))
		p.put()
		b := startBuilding(t, p.path, nil, nodes, journal)
		eventually(t, "the universe was sent without a command", func() bool { return len(outputs(p.widget)) > 0 })
		got := outputs(p.widget)[0].Data
		// Of those not known the master is down, whatever their colours hold.
		want := map[int]byte{1: 102, 10: 9, 13: 8, 31: 128, 23: 255, 51: 87}
		for slot := 1; slot < len(got); slot++ {
			if got[slot] != want[slot] {
				t.Errorf("slot %d of the first universe is %d, want %d", slot, got[slot], want[slot])
			}
		}
		b.up()
		if out := b.do(level(one(1), 41)); !out.OK() {
			t.Fatal(out.Err)
		}
		all := outputs(p.widget)
		if last := all[len(all)-1]; last.Changed != 1 && all[len(all)-2].Changed != 1 {
			t.Errorf("the first command changed %d slots, want 1", last.Changed)
		}
	})
}

func TestUniverseIsRepeatedAndNeverTooFast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := start(t, dmxsim.Config{}, mixedNodes())
		const commands = 60
		for i := range commands {
			if out := b.do(level(one(1), appliance.Level(i%50+1))); !out.OK() {
				t.Fatal(out.Err)
			}
		}
		busy := outputs(p.widget)
		for i := 1; i < len(busy); i++ {
			if i >= 10 {
				if ten := busy[i].At.Sub(busy[i-10].At); ten < 240*time.Millisecond {
					t.Errorf("ten universes within %v: more than 40 a second", ten)
				}
			}
		}
		if len(busy) < commands {
			t.Errorf("%d universes for %d commands", len(busy), commands)
		}
		n := len(busy)
		eventually(t, "four repetitions without a command", func() bool { return len(outputs(p.widget)) >= n+4 })
		idle := outputs(p.widget)[n:]
		for i := 1; i < len(idle); i++ {
			if gap := idle[i].At.Sub(idle[i-1].At); gap > time.Second {
				t.Errorf("%v without a universe", gap)
			}
			if idle[i].Changed != 0 {
				t.Errorf("a repetition changed %d slots", idle[i].Changed)
			}
		}
		t.Logf("%d commands took %v; %v between the last two repetitions", commands, busy[n-1].At.Sub(busy[n-commands].At).Round(time.Millisecond), idle[3].At.Sub(idle[2].At).Round(time.Millisecond))
	})
}
