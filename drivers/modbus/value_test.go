package modbus

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
)

// mirror makes a bank behave like the devices of a driver as their profiles
// describe them: what is written in one place is read in another, a level may
// switch on, a group register reaches its members.
func mirror(b *bank, d *Driver) {
	for _, u := range d.order {
		b.put(u.number, point{holdings, 0}, 0)
	}
	b.alias = func(unit byte, p point, w uint16) {
		u := d.units[unit]
		if u == nil {
			return
		}
		for _, t := range u.things {
			for _, v := range []*value{t.level, t.kelvin} {
				if v == nil {
					continue
				}
				hit := v.write != nil && t.place(v.write) == p
				if v.broadcast != nil && v.broadcast.at(max(t.address.line-1, 0), 0, 0) == p {
					hit = true
				}
				for key, members := range u.groups {
					if v.group != nil && key.line == t.address.line && v.group.at(max(key.line-1, 0), 0, key.group) == p && slices.Contains(members, t.address) {
						hit = true
					}
				}
				if !hit {
					continue
				}
				if v.read != nil {
					b.put(unit, t.place(v.read), w)
				}
				if v.spec.SwitchesOn {
					b.put(unit, t.place(t.out.switches[0]), 1)
				}
			}
		}
	}
}

// siteOf makes one node of a profile.
func siteOf(p *Profile, cfg appliance.BusConfig) appliance.BusConfig {
	n := node(1, "5", p.Name)
	switch p.Addressing {
	case "gear":
		n.Address = "5/12"
	case "line-gear":
		n.Address = "5/2.12"
	}
	if p.gateway() {
		n.Groups = []string{"3"}
	}
	cfg.Nodes = []appliance.Node{n}
	return cfg
}

// TestLevelsRoundTrip writes every level to every output of every profile and
// reads it back; then looks at it with a driver that remembers nothing.
func TestLevelsRoundTrip(t *testing.T) {
	t.Parallel()
	for name, p := range builtin() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end, b := socketWire(t, "tcp"), newBank()
				d, opened := open(t, siteOf(p, busOf(end, nil)))
				mirror(b, d)
				b.serve(t, end)
				for i, ch := range opened.Channels[1] {
					ref := channel(1, i+1)
					for q := appliance.Level(0); q <= 100; q += step(i) {
						if ch.Abilities&(appliance.CanDim|appliance.CanSwitch) == 0 {
							continue
						}
						want := q
						if !ch.Abilities.Has(appliance.CanDim) && q > 0 {
							want = 100
						}
						chain := d.Plan([]appliance.Want{level(ref, q)})[0]
						if got := perform(t, chain)[ref]; got.Level != want || got.Has&(appliance.CanDim|appliance.CanSwitch) == 0 {
							t.Fatalf("output %d: wrote %d, read %+v", i+1, q, got)
						}
						fresh := d.things[ref].memory
						d.things[ref].memory = memory{}
						got := pollAll(t, d)[ref]
						if diff := math.Abs(float64(got.Level - want)); diff > 1.5 && !(p.Outputs[0].Level != nil && p.Outputs[0].Level.Map == "dali" && diff <= 2) || (got.Level == 0) != (want == 0) {
							t.Fatalf("output %d: wrote %d, a driver without memory reads %d", i+1, q, got.Level)
						}
						d.things[ref].memory = fresh
					}
				}
			})
		})
	}
}

// TestKelvinRoundTrips the same for colour temperatures.
func TestKelvinRoundTrips(t *testing.T) {
	t.Parallel()
	for name, p := range builtin() {
		if p.lights == nil || p.lights[0].kelvin == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end, b := socketWire(t, "tcp"), newBank()
				d, opened := open(t, siteOf(p, busOf(end, nil)))
				mirror(b, d)
				b.serve(t, end)
				ch := opened.Channels[1][0]
				if !ch.Abilities.Has(appliance.CanTune) || ch.KelvinMin != 2700 || ch.KelvinMax != 6500 {
					t.Fatalf("channel is %+v", ch)
				}
				for k := appliance.Kelvin(2500); k <= 7000; k += 37 {
					want := min(max(k, 2700), 6500)
					chain := d.Plan([]appliance.Want{{Ref: channel(1, 1), Values: appliance.Values{Has: appliance.CanTune, Kelvin: k}}})[0]
					got := perform(t, chain)[channel(1, 1)]
					if p.lights[0].kelvin.read == nil {
						if got.Has.Has(appliance.CanTune) {
							t.Fatalf("%d K was read where nothing can be read", got.Kelvin)
						}
						continue
					}
					if got.Kelvin != want {
						t.Fatalf("wrote %d K, read %d K", want, got.Kelvin)
					}
				}
			})
		})
	}
}

func colourWant(ref appliance.Ref, c appliance.RGBW) appliance.Want {
	return appliance.Want{Ref: ref, Values: appliance.Values{Has: appliance.CanColour, RGBW: c}}
}

func TestColourAndLevelAreKeptApart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"wirenboard-wb-led-rgbw", "wirenboard-wb-mrgbw-d-legacy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end, b := socketWire(t, "tcp"), newBank()
				cfg := siteOf(builtin()[name], busOf(end, nil))
				d, _ := open(t, cfg)
				mirror(b, d)
				b.serve(t, end)
				ref := channel(1, 1)
				orange := appliance.RGBW{R: 255, G: 97, B: 3, W: 41}
				both := appliance.Want{Ref: ref, Values: appliance.Values{Has: appliance.CanColour | appliance.CanDim, RGBW: orange, Level: 37}}
				steps := []struct {
					name  string
					want  appliance.Want
					level appliance.Level
					rgbw  appliance.RGBW
				}{
					{"colour and level", both, 37, orange},
					{"level alone keeps the colour", level(ref, 80), 80, orange},
					{"colour alone keeps the level", colourWant(ref, appliance.RGBW{G: 200}), 80, appliance.RGBW{G: 200}},
					{"off", level(ref, 0), 0, appliance.RGBW{G: 200}},
					{"colour alone keeps it off", colourWant(ref, appliance.RGBW{B: 9, W: 7}), 0, appliance.RGBW{B: 9, W: 7}},
					{"on again in the new colour", level(ref, 55), 55, appliance.RGBW{B: 9, W: 7}},
					{"lowest level", level(ref, 1), 1, appliance.RGBW{B: 9, W: 7}},
					{"and back", level(ref, 100), 100, appliance.RGBW{B: 9, W: 7}},
				}
				for _, s := range steps {
					perform(t, d.Plan([]appliance.Want{s.want})[0])
					got := pollAll(t, d)[ref]
					if got.Level != s.level || got.RGBW != s.rgbw || !got.Has.Has(appliance.CanColour|appliance.CanDim) {
						t.Fatalf("%s: read %+v, want level %d colour %v", s.name, got, s.level, s.rgbw)
					}
				}
				// After a restart the same is known from before.
				last := appliance.Values{Has: appliance.CanColour | appliance.CanDim, Level: 100, RGBW: appliance.RGBW{B: 9, W: 7}}
				d.things[ref].memory = memory{}
				d.things[ref].recall(last)
				if got := pollAll(t, d)[ref]; got.Level != last.Level || got.RGBW != last.RGBW {
					t.Errorf("after a restart: read %+v, want %+v", got, last)
				}
				// Somebody else set it: the brightest component is the level.
				d.things[ref].memory = memory{}
				for i, v := range d.things[ref].out.colour {
					b.set(5, d.things[ref].place(v.read), uint16([]float64{51, 102, 0, 0}[i]))
				}
				if got := pollAll(t, d)[ref]; got.Level != 40 || got.RGBW != (appliance.RGBW{R: 128, G: 255}) {
					t.Errorf("set by others: read %+v, want level 40 and 128:255:0:0", got)
				}
			})
		})
	}
}

func TestOffKeepsTheLevelRegister(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, b := serialWire(t), newBank()
		cfg := busOf(end, nil)
		cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-mdm3")}
		d, _ := open(t, cfg)
		mirror(b, d)
		b.serve(t, end)
		perform(t, d.Plan([]appliance.Want{level(channel(1, 2), 60)})[0])
		b.written()
		if got := perform(t, d.Plan([]appliance.Want{level(channel(1, 2), 0)})[0])[channel(1, 2)]; got.Level != 0 {
			t.Errorf("read %+v after off", got)
		}
		if got, want := b.written(), []string{"050500010000"}; !slices.Equal(got, want) {
			t.Errorf("off sent %v, want %v", got, want)
		}
		if w := b.get(5, point{holdings, 1}); w != 60 {
			t.Errorf("level register is %d, want 60", w)
		}
	})
}

func TestMeterNumbers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		high, low uint16
		want      float64
		bad       bool
	}{
		{0x449A, 0x5000, 1234.5, false}, {0xC2AE, 0x8000, -87.25, false},
		{0x7FC0, 0, 0, true}, {0x7F80, 0, 0, true}, {0xFF80, 0, 0, true},
	} {
		t.Run(fmt.Sprintf("%04X%04X", tc.high, tc.low), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end, b := serialWire(t), newBank()
				cfg := busOf(end, nil)
				cfg.Nodes = []appliance.Node{node(1, "7", "eastron-sdm630")}
				d, _ := open(t, cfg)
				b.set(7, point{inputs, 0x34}, tc.high)
				b.set(7, point{inputs, 0x35}, tc.low)
				b.serve(t, end)
				polls := d.Polls()
				if len(polls) != 1 || polls[0].Class != appliance.ClassPower {
					t.Fatalf("got %d polls", len(polls))
				}
				res, err := do(t, polls[0].Exchange)
				if tc.bad {
					if err == nil || !strings.Contains(err.Error(), "power is no number") {
						t.Fatalf("got %v, %v", res, err)
					}
					return
				}
				if err != nil || len(res.Readings) != 1 || res.Readings[0].Power != tc.want {
					t.Fatalf("got %+v, %v; want %v W", res, err, tc.want)
				}
			})
		})
	}
}

// step between the levels tried: all of the first output, some of its likes.
func step(output int) appliance.Level {
	if output == 0 {
		return 1
	}
	return 10
}
