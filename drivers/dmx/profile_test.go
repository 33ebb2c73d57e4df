package dmx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
	"svc.internal/controller/site/schema"
)

// openSite opens a bus with some nodes and no wire.
func openSite(t testing.TB, dataDir string, options map[string]string, nodes ...appliance.Node) (appliance.Opened, error) {
	t.Helper()
	for i := range nodes {
		nodes[i].ID = appliance.ID(i + 1)
		nodes[i].Name = fmt.Sprintf("lamp %d", i+1)
	}
	return Open(appliance.BusConfig{
		Bus: appliance.Bus{Name: "stage", Port: "/dev/ttyNone", Options: options}, Nodes: nodes, DataDir: dataDir,
		Shades: []appliance.Shade{{ID: 5001, Node: 1}},
	})
}

// light is what the simulated fixtures make of a universe.
func light(t testing.TB, w *dmxsim.Widget, slots []byte) []dmxsim.Light {
	t.Helper()
	if err := w.Load(slots); err != nil {
		t.Fatal(err)
	}
	return w.Devices()[0].Channels
}

func TestEveryProfileEmitsWhatWasWanted(t *testing.T) {
	t.Parallel()
	profiles := Profiles()
	if len(profiles) < 20 {
		t.Fatalf("only %d profiles", len(profiles))
	}
	for _, info := range profiles {
		t.Run(info.Name, func(t *testing.T) {
			if info.Title == "" || info.Source == "" {
				t.Error("no title or source")
			}
			for _, address := range []string{"1", "100"} {
				node := appliance.Node{Address: address, Profile: info.Name}
				opened, err := openSite(t, "", nil, node)
				if err != nil || opened.BrokenNodes[1] != nil {
					t.Fatal(err, opened.BrokenNodes[1])
				}
				d := opened.Driver.(*Driver)
				w := mustWidget(t, dmxsim.Config{Nodes: fixturesOf([]appliance.Node{node})})
				if got, want := len(light(t, w, make([]byte, 512))), len(d.order); got != want {
					t.Fatalf("the simulated fixture has %d channels, the profile %d", got, want)
				}
				for _, l := range d.order {
					checkLamp(t, d, w, l)
				}
			}
		})
	}
}

// checkLamp sends all levels, colours and temperatures to one lamp.
func checkLamp(t *testing.T, d *Driver, w *dmxsim.Widget, l *lamp) {
	t.Helper()
	abilities := l.channel().Abilities
	channel := l.ref.Channel - 1
	state := l.fresh()
	emit := func() dmxsim.Light {
		slots, _ := d.universe(map[*lamp]lampState{l: state})
		lights := light(t, w, slots)
		for i, other := range lights {
			if i != channel && other.Level != 0 {
				t.Fatalf("channel %d lights channel %d", channel+1, i+1)
			}
		}
		return lights[channel]
	}
	for p := range 101 {
		state = state.with(appliance.Values{Has: appliance.CanDim, Level: appliance.Level(p)})
		want := p
		if !abilities.Has(appliance.CanDim) && p > 0 {
			want = 100
		}
		if got := emit().Level; got != want {
			t.Fatalf("channel %d at %d %%: emits %d %%", channel+1, p, got)
		}
	}
	if abilities.Has(appliance.CanTune) {
		for k := l.out.KelvinMin; k <= l.out.KelvinMax; k += 100 {
			state = state.with(appliance.Values{Has: appliance.CanTune, Kelvin: appliance.Kelvin(k)})
			got := emit()
			if off := got.Kelvin - k; off < -25 || off > 25 || got.Level < 99 || got.Level > 101 {
				t.Fatalf("%d K: emits %d K at %d %%", k, got.Kelvin, got.Level)
			}
		}
	}
	if abilities.Has(appliance.CanColour) {
		for _, c := range []appliance.RGBW{{R: 255}, {G: 255}, {B: 255}, {R: 1, G: 2, B: 255}, {R: 255, G: 254, B: 253}} {
			state = state.with(appliance.Values{Has: appliance.CanColour, RGBW: c})
			if got := emit(); got.RGBW != [4]byte{c.R, c.G, c.B, 0} || got.Level != 100 {
				t.Fatalf("%v: emits %+v", c, got)
			}
		}
	}
}

func TestEntriesThatCannotWorkAreSetAside(t *testing.T) {
	t.Parallel()
	node := func(address, profile string, options ...string) appliance.Node {
		n := appliance.Node{Address: address, Profile: profile, Options: map[string]string{}}
		for i := 0; i < len(options); i += 2 {
			n.Options[options[i]] = options[i+1]
		}
		return n
	}
	outputs := func(n appliance.Node, list ...int) appliance.Node { n.Outputs = list; return n }
	for _, c := range []struct {
		name string
		bad  appliance.Node
		want []string
	}{
		{"no address", node("", "dmx-dimmer"), []string{`address ""`, `"1" to "512"`}},
		{"slot 0", node("0", "dmx-dimmer"), []string{`"1" to "512"`}},
		{"slot 513", node("513", "dmx-dimmer"), []string{`"1" to "512"`}},
		{"leading zero", node("007", "dmx-dimmer"), []string{`address "007"`}},
		{"beyond the end", node("510", "dmx-rgbw"), []string{"takes 4 slots", "513"}},
		{"no profile", node("1", ""), []string{"no profile is named"}},
		{"unknown profile", node("1", "dmx-disco"), []string{`no profile "dmx-disco"`, "dmx-rgbw", "profiles/dmx"}},
		{"unknown option", node("1", "dmx-dimmer", "strobe", "1"), []string{`option "strobe" is unknown`, "order"}},
		{"bad number", node("1", "dmx-dimmer", "minLevel", "101"), []string{"minLevel", "0 to 100"}},
		{"order of a dimmer", node("1", "dmx-dimmer", "order", "RGB"), []string{"nothing to put in order"}},
		{"order with a letter missing", node("1", "dmx-rgbw", "order", "RGB"), []string{`"RGB"`, "RGBW"}},
		{"order with a letter twice", node("1", "dmx-rgbw", "order", "RRGB"), []string{`"RRGB"`}},
		{"order with a strange letter", node("1", "dmx-rgb", "order", "RGX"), []string{`"RGX"`}},
		{"kelvin of a dimmer", node("1", "dmx-dimmer", "kelvinMin", "2700"), []string{"no colour temperature"}},
		{"kelvin upside down", node("1", "dmx-tunable", "kelvinMin", "6600"), []string{"6600 is not below 6500"}},
		{"kelvin of nothing between", node("1", "dmx-tunable", "kelvinMin", "6500"), []string{"6500 is not below 6500"}},
		{"output 5 of 4", outputs(node("1", "dmx-dimmer-pack-4"), 5), []string{"outputs 1 to 4"}},
		{"output twice", outputs(node("1", "dmx-dimmer-pack-4"), 2, 2), []string{"named twice"}},
		{"groups", appliance.Node{Address: "1", Profile: "dmx-dimmer", Groups: []string{"3"}}, []string{"no groups"}},
		{"overlap", node("103", "dmx-rgb"), []string{"slot 103", "node 1 (lamp 1, from slot 103)", "node 2 (lamp 2, from slot 100)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := node("100", "dmx-rgbw")
			nodes := []appliance.Node{c.bad, good}
			opened, err := openSite(t, "", nil, nodes...)
			if err != nil {
				t.Fatal(err)
			}
			broken, kept := appliance.ID(1), appliance.ID(2)
			if c.name == "overlap" { // the first one to claim a slot keeps it
				broken, kept = 2, 1
			}
			words(t, opened.BrokenNodes[broken], c.want...)
			if opened.BrokenNodes[kept] != nil || len(opened.Channels[kept]) == 0 || opened.Device[kept] != "widget" {
				t.Errorf("the good node: %v, %v", opened.BrokenNodes[kept], opened.Channels[kept])
			}
			words(t, opened.BrokenShades[5001], "moves no shades")
		})
	}
}

func TestBusesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		port    string
		line    appliance.LineSettings
		options map[string]string
		want    []string
	}{
		{"/dev/x", appliance.LineSettings{}, map[string]string{"interface": "artnet"}, []string{"bus stage", "interface", "enttec-pro, open-dmx"}},
		{"/dev/x", appliance.LineSettings{}, map[string]string{"breakTime": "1ms"}, []string{`option "breakTime" is unknown`, "refresh"}},
		{"/dev/x", appliance.LineSettings{}, map[string]string{"interface": "open-dmx", "refresh": "1s"}, []string{`option "refresh" is unknown`, "breakTime"}},
		{"/dev/x", appliance.LineSettings{}, map[string]string{"rate": "41"}, []string{"rate", "1 to 40"}},
		{"/dev/x", appliance.LineSettings{}, map[string]string{"refresh": "2s"}, []string{"refresh", "1s"}},
		{"/dev/x", appliance.LineSettings{}, map[string]string{"slots": "513"}, []string{"slots", "24 to 512"}},
		{"/dev/x", appliance.LineSettings{BaudRate: 9600}, map[string]string{"interface": "open-dmx"}, []string{"250000 8N2"}},
		{"dev/x", appliance.LineSettings{}, nil, []string{"device path"}},
		{"dev/x", appliance.LineSettings{}, map[string]string{"interface": "open-dmx"}, []string{"device path"}},
		{"rtu+tcp://h:1", appliance.LineSettings{}, nil, []string{"device path"}},
		{"tcp://h:1", appliance.LineSettings{}, map[string]string{"interface": "open-dmx"}, []string{"device path"}},
	} {
		_, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "stage", Port: c.port, Line: c.line, Options: c.options}})
		words(t, err, c.want...)
	}
}

func TestNodesShareAFixtureByOutputs(t *testing.T) {
	t.Parallel()
	own := t.TempDir()
	writeProfile(t, own, "pack", `
name: pack
title: Dimmer pack with a mode slot
source: its manual, 2020
slots: 5
outputs:
  - count: 4
    level: {slot: 1}
fixed: [{slot: 5, value: 77, what: mode}]
`)
	a := appliance.Node{Address: "10", Profile: "pack", Outputs: []int{1, 2}}
	b := appliance.Node{Address: "10", Profile: "pack", Outputs: []int{4}}
	c := appliance.Node{Address: "10", Profile: "pack", Outputs: []int{2, 3}}
	e := appliance.Node{Address: "14", Profile: "dmx-dimmer"}
	opened, err := openSite(t, own, nil, a, b, c, e)
	if err != nil {
		t.Fatal(err)
	}
	if opened.BrokenNodes[1] != nil || opened.BrokenNodes[2] != nil || len(opened.Channels[1]) != 2 || len(opened.Channels[2]) != 1 {
		t.Errorf("%v", opened.BrokenNodes)
	}
	words(t, opened.BrokenNodes[3], "slot 11", "node 3", "node 1")
	words(t, opened.BrokenNodes[4], "slot 14", "node 4")
	slots, _ := opened.Driver.(*Driver).present()
	if slots[13] != 77 {
		t.Errorf("the fixed slot holds %d", slots[13])
	}
	// One whose mode would be on that of another fixture, or on a lamp of it, is another fixture.
	writeProfile(t, own, "switched", "name: switched\ntitle: Dimmer with a mode slot before it\nsource: its manual\nslots: 2\noutputs: [{level: {slot: 2}}]\nfixed: [{slot: 1, value: 5, what: mode}]\n")
	for address, slot := range map[string]string{"14": "slot 14", "10": "slot 10"} {
		if opened, err = openSite(t, own, nil, a, appliance.Node{Address: address, Profile: "switched"}); err != nil {
			t.Fatal(err)
		}
		words(t, opened.BrokenNodes[2], slot, "node 2", "node 1")
		if slots, _ = opened.Driver.(*Driver).present(); slots[13] != 77 || len(opened.Channels[2]) > 0 {
			t.Errorf("the fixed slot holds %d, channels %v", slots[13], opened.Channels[2])
		}
	}
}

func writeProfile(t *testing.T, dir, name, text string) {
	t.Helper()
	folder := filepath.Join(dir, "profiles", "dmx")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOwnProfiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeProfile(t, dir, "wash", "name: wash\ntitle: Wash\nsource: its manual\nslots: 3\noutputs: [{level: {slot: 3, fine: 1}}]\n")
	writeProfile(t, dir, "broken", "name: broken\ntitle: Broken\nslots: 3\noutputs: []\n")
	writeProfile(t, dir, "other-name", "name: another\ntitle: A\nsource: x\nslots: 1\noutputs: [{level: {slot: 1}}]\n")
	writeProfile(t, dir, "dmx-rgb", "name: dmx-rgb\ntitle: Mine\nsource: x\nslots: 1\noutputs: [{level: {slot: 1}}]\n")
	opened, err := openSite(t, dir, nil,
		appliance.Node{Address: "1", Profile: "wash"}, appliance.Node{Address: "10", Profile: "broken"},
		appliance.Node{Address: "20", Profile: "other-name"}, appliance.Node{Address: "30", Profile: "dmx-rgb"})
	if err != nil {
		t.Fatal(err)
	}
	if opened.BrokenNodes[1] != nil || opened.BrokenNodes[4] != nil || opened.Channels[4][0].Abilities&appliance.CanColour == 0 {
		t.Errorf("%v", opened.BrokenNodes)
	}
	words(t, opened.BrokenNodes[2], "profile broken is broken")
	words(t, opened.BrokenNodes[3], `must be the file's name "other-name"`)
	d := opened.Driver.(*Driver)
	slots, _ := d.universe(map[*lamp]lampState{d.order[0]: {level: 50}})
	if slots[2] != 0x80 || slots[0] != 0x00 {
		t.Errorf("50 %% of 16 bits, coarse in slot 3, fine in slot 1: % x", slots[:3])
	}
}

func TestProfileMistakesAreAllNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, outputs, want string }{
		{"half of a colour", "[{red: {slot: 1}}]", "only together"},
		{"white alone", "[{white: {slot: 1}}]", "single white is a level"},
		{"one white of two", "[{warm: {slot: 1}, kelvinMin: 2700, kelvinMax: 6500}]", "warm and cool only together"},
		{"no kelvin", "[{warm: {slot: 1}, cool: {slot: 2}}]", "kelvinMin and kelvinMax are missing"},
		{"kelvin upside down", "[{warm: {slot: 1}, cool: {slot: 2}, kelvinMin: 6500, kelvinMax: 2700}]", "must be below"},
		{"temperature without level", "[{temperature: {slot: 2}, kelvinMin: 2700, kelvinMax: 6500}]", "is missing"},
		{"nothing", "[{kelvinMin: 2700}]", "needs level"},
		{"slot twice", "[{level: {slot: 1}}, {level: {slot: 1}}]", "belongs to output 1"},
		{"beyond the end", "[{level: {slot: 5}}]", "the fixture has 4"},
		{"count beyond the end", "[{count: 5, level: {slot: 1}}]", "takes slot 5"},
		{"fine is coarse", "[{level: {slot: 1, fine: 1}}]", "is the coarse slot itself"},
		{"colour and whites", "[{red: {slot: 1}, green: {slot: 2}, blue: {slot: 3}, temperature: {slot: 4}, level: {slot: 4}, kelvinMin: 2700, kelvinMax: 6500}]", "not supported"},
		{"switched colour", "[{switched: true, red: {slot: 1}, green: {slot: 2}, blue: {slot: 3}}]", "8-bit level alone"},
		{"unknown key", "[{level: {slot: 1}, strobe: {slot: 2}}]", "strobe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckProfile("p.yaml", []byte("name: p-1\ntitle: P\nsource: s\nslots: 4\noutputs: "+c.outputs+"\n"))
			var problems schema.Problems
			if !errors.As(err, &problems) || problems[0].Line != 5 {
				t.Fatalf("%v, want a problem in line 5", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func FuzzProfile(f *testing.F) {
	entries, err := builtinFiles.ReadDir("profiles")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		data, err := builtinFiles.ReadFile("profiles/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readProfile("fuzz.yaml", data)
		if err != nil {
			return
		}
		for _, l := range p.lights {
			for _, slot := range l.slots() {
				if slot < 1 || slot > p.Slots || p.Slots > UniverseSlots {
					t.Fatalf("accepted slot %d of %d", slot, p.Slots)
				}
			}
		}
	})
}
