package modbus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// bench is a driver with a bank behind it.
func bench(t testing.TB, end *wire, nodes []appliance.Node, shades []appliance.Shade, options map[string]string) (*Driver, *bank) {
	t.Helper()
	cfg := busOf(end, options)
	cfg.Nodes, cfg.Shades = nodes, shades
	b := newBank()
	d, opened := open(t, cfg)
	for id, err := range opened.BrokenNodes {
		t.Errorf("node %d: %v", id, err)
	}
	for id, err := range opened.BrokenShades {
		t.Errorf("shade %d: %v", id, err)
	}
	mirror(b, d)
	b.serve(t, end)
	return d, b
}

func sent(t testing.TB, b *bank, want ...string) {
	t.Helper()
	if got := b.written(); !slices.Equal(got, want) {
		t.Errorf("sent\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
	}
}

func run(t testing.TB, chains []appliance.Chain) {
	t.Helper()
	for _, c := range chains {
		got := perform(t, c)
		for _, w := range c.Wants {
			has := got[w.Ref].Has
			if has.Has(appliance.CanSwitch) {
				has |= appliance.CanDim // both mean the level
			}
			if len(c.Verify) > 0 && has&w.Has == 0 {
				t.Errorf("%+v was not read back", w.Ref)
			}
		}
	}
}

func TestNeighbouringOutputsShareAFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := bench(t, serialWire(t), []appliance.Node{node(1, "5", "wirenboard-wb-mdm3"), node(2, "6", "waveshare-relay-8ch")}, nil, nil)
		chains := d.Plan([]appliance.Want{
			level(channel(1, 1), 10), level(channel(1, 2), 20), level(channel(1, 3), 30),
			level(channel(2, 1), 100), level(channel(2, 2), 0), level(channel(2, 4), 100),
		})
		if len(chains) != 2 {
			t.Fatalf("got %d chains", len(chains))
		}
		run(t, chains)
		sent(t, b,
			"0510"+"0004"+"0003"+"06"+"000a0014001e",
			"060f"+"0000"+"0002"+"01"+"01",
			"0605"+"0003"+"ff00")
		if n := len(chains[0].Verify); n != 2 {
			t.Errorf("the dimmer is verified with %d reads, want coils and registers: 2", n)
		}
	})
}

func TestLevelComesBeforeOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := bench(t, serialWire(t), []appliance.Node{node(1, "5", "wirenboard-wb-led-cct")}, nil, nil)
		run(t, d.Plan([]appliance.Want{{Ref: channel(1, 1), Values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 40, Kelvin: 4600}}}))
		sent(t, b, "0510"+"07d7"+"0002"+"04"+"00320028", "0505"+"0007"+"ff00")
	})
}

func TestWholeBusIsOneBroadcast(t *testing.T) {
	t.Parallel()
	var nodes []appliance.Node
	var want []appliance.Want
	for u := 1; u <= 4; u++ {
		nodes = append(nodes, node(appliance.ID(u), fmt.Sprint(u), "wirenboard-wb-mdm3"))
		for c := 1; c <= 3; c++ {
			want = append(want, level(channel(appliance.ID(u), c), 0))
		}
	}
	d, b := bench(t, ptyWire(t), nodes, nil, nil)
	chains := d.Plan(want)
	if len(chains) != 1 || !chains[0].Group || len(chains[0].Steps) != 1 || chains[0].Steps[0].Device != "" || len(chains[0].Wants) != 12 {
		t.Fatalf("got %+v", chains)
	}
	run(t, chains)
	sent(t, b, "000f"+"0000"+"0003"+"01"+"00")

	t.Run("not for some units", func(t *testing.T) {
		if chains := d.Plan(want[:9]); len(chains) != 3 || chains[0].Group {
			t.Errorf("got %d chains, group %v", len(chains), chains[0].Group)
		}
	})
	t.Run("not for different values", func(t *testing.T) {
		other := slices.Clone(want)
		other[5].Level = 30
		if chains := d.Plan(other); len(chains) != 4 || chains[0].Group {
			t.Errorf("got %d chains", len(chains))
		}
	})
	t.Run("not in a repair", func(t *testing.T) {
		chains := d.Repair(want)
		if len(chains) != len(want) {
			t.Errorf("got %d chains, want %d", len(chains), len(want))
		}
		run(t, chains[:2])
		sent(t, b, "0105"+"0000"+"0000", "0105"+"0001"+"0000")
	})
	t.Run("not with a foreign unit", func(t *testing.T) {
		d, _ := bench(t, ptyWire(t), append(slices.Clone(nodes), node(9, "9", "waveshare-relay-8ch")), nil, nil)
		if chains := d.Plan(want); len(chains) != 4 {
			t.Errorf("got %d chains", len(chains))
		}
	})
	t.Run("not when switched off", func(t *testing.T) {
		d, _ := bench(t, ptyWire(t), nodes, nil, map[string]string{"broadcast": "false"})
		if chains := d.Plan(want); len(chains) != 4 {
			t.Errorf("got %d chains", len(chains))
		}
	})
	t.Run("not on Modbus TCP", func(t *testing.T) {
		d, _ := bench(t, loopbackWire(t, "tcp"), nodes, nil, nil)
		if chains := d.Plan(want); len(chains) != 4 {
			t.Errorf("got %d chains", len(chains))
		}
	})
}

func gears(profile string, n int, groups map[int][]string) []appliance.Node {
	var nodes []appliance.Node
	for i := range n {
		g := node(appliance.ID(i+1), fmt.Sprintf("3/%d", i), profile)
		g.Groups = groups[i]
		nodes = append(nodes, g)
	}
	return nodes
}

func TestGatewayUsesGroupsAndBroadcast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups := map[int][]string{0: {"4"}, 1: {"4"}, 2: {"4"}, 3: {"7"}, 4: {"7"}}
		d, b := bench(t, serialWire(t), gears("ecodim-dali-gw2", 6, groups), nil, nil)
		wantOf := func(p appliance.Level, ids ...int) (list []appliance.Want) {
			for _, id := range ids {
				list = append(list, level(channel(appliance.ID(id), 1), p))
			}
			return list
		}
		chains := d.Plan(wantOf(50, 1, 2, 3, 4, 5, 6))
		if len(chains) != 1 || !chains[0].Group || len(chains[0].Steps) != 1 {
			t.Fatalf("all: got %+v", chains)
		}
		run(t, chains)
		sent(t, b, "0306"+"03e8"+"00e5")

		chains = d.Plan(wantOf(100, 1, 2, 3, 6))
		if len(chains) != 2 || !chains[0].Group || chains[1].Group {
			t.Fatalf("a group and one: got %+v", chains)
		}
		run(t, chains)
		sent(t, b, "0306"+"07e4"+"00fe", "0306"+"0bd1"+"00fe")

		if m := d.units[3].things[0].memory; m.level != 100 || m.off {
			t.Errorf("after a group was told 100 %%, of a member is remembered %+v", m)
		}
		run(t, d.Plan(wantOf(0, 1, 2, 3, 4, 5, 6)))
		if m := d.units[3].things[0].memory; m.level != 100 || !m.off {
			t.Errorf("after all were told to be off, of a member is remembered %+v", m)
		}
		b.written()
		run(t, d.Plan(wantOf(0, 1, 2, 4)))
		sent(t, b, "0306"+"0bb8"+"0000", "0306"+"0bbd"+"0000", "0306"+"0bc7"+"0000")

		chains = d.Plan([]appliance.Want{
			{Ref: channel(4, 1), Values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 25, Kelvin: 3000}},
			{Ref: channel(5, 1), Values: appliance.Values{Has: appliance.CanDim | appliance.CanTune, Level: 10, Kelvin: 3000}},
		})
		run(t, chains)
		sent(t, b, "0306"+"0a5f"+"0bb8", "0306"+"0bc7"+"00cb", "0306"+"0bcc"+"00aa")
	})
}

// A broadcast goes to all gear of one line, whatever is on the gateway's others.
func TestBroadcastOfOneLineOfAGateway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var nodes []appliance.Node
		for i, address := range []string{"3/1.0", "3/1.1", "3/2.0", "3/2.1", "3/2.2"} {
			nodes = append(nodes, node(appliance.ID(i+1), address, "dalion"))
		}
		d, b := bench(t, serialWire(t), nodes, nil, nil)
		run(t, d.Plan([]appliance.Want{level(channel(3, 1), 100), level(channel(4, 1), 100), level(channel(5, 1), 100)}))
		sent(t, b, "0306"+"00d0"+"00ff")
		run(t, d.Plan([]appliance.Want{level(channel(3, 1), 0), level(channel(4, 1), 0)}))
		sent(t, b, "0310"+"0080"+"0002"+"04"+"00000000")
	})
}

func TestGroupsThatCannotBeReadBackAreNotUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		groups := map[int][]string{0: {"4"}, 1: {"4"}}
		d, b := bench(t, socketWire(t, "tcp"), gears("arlight-dali-logic-lite", 2, groups), nil, nil)
		tune := appliance.Values{Has: appliance.CanTune, Kelvin: 4000}
		chains := d.Plan([]appliance.Want{{Ref: channel(1, 1), Values: tune}, {Ref: channel(2, 1), Values: tune}})
		if len(chains) != 1 || chains[0].Group {
			t.Fatalf("got %+v", chains)
		}
		run(t, chains)
		sent(t, b, "0310"+"0700"+"0002"+"04"+"00fa00fa")
	})
}

func TestShadesNeverBothDirections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := []appliance.Node{node(1, "5", "wirenboard-wb-mr6c")}
		shades := []appliance.Shade{{ID: 5001, Node: 1, Output: 1}, {ID: 5002, Node: 1, Output: 2, Inverted: true}}
		d, b := bench(t, serialWire(t), nodes, shades, nil)
		b.deny = func(unit, fn byte, p point, n int) byte {
			if p.table == coils && p.addr < 4 {
				return 3 // relays of pairs 1 and 2 must not be driven
			}
			return 0
		}
		check := b.alias
		b.alias = func(unit byte, p point, w uint16) {
			check(unit, p, w)
			for pair := range uint16(3) {
				if b.words[5][point{coils, 16 + 2*pair}] != 0 && b.words[5][point{coils, 17 + 2*pair}] != 0 {
					t.Errorf("pair %d is energised both ways", pair+1)
				}
			}
		}
		move := func(m appliance.Motion, ids ...appliance.ID) map[appliance.Ref]appliance.Values {
			t.Helper()
			var want []appliance.Want
			for _, id := range ids {
				want = append(want, appliance.Want{Ref: appliance.Ref{Shade: id}, Values: appliance.Values{Has: appliance.CanMove, Motion: m}})
			}
			chains := d.Plan(want)
			if len(chains) != 1 {
				t.Fatalf("got %d chains", len(chains))
			}
			return perform(t, chains[0])
		}
		first, second := appliance.Ref{Shade: 5001}, appliance.Ref{Shade: 5002}
		if got := move(appliance.Open, 5001); got[first].Motion != appliance.Opening {
			t.Errorf("open: %v", got[first].Motion)
		}
		sent(t, b, "0506"+"0500"+"0001", "0505"+"0011"+"0000", "0505"+"0010"+"ff00")
		if got := move(appliance.Close, 5001); got[first].Motion != appliance.Closing {
			t.Errorf("close: %v", got[first].Motion)
		}
		sent(t, b, "0505"+"0010"+"0000", "0505"+"0011"+"ff00")
		if got := move(appliance.Stop, 5001); got[first].Motion != appliance.Stopped {
			t.Errorf("stop: %v", got[first].Motion)
		}
		sent(t, b, "050f"+"0010"+"0002"+"01"+"00")
		got := move(appliance.Open, 5001, 5002)
		if got[first].Motion != appliance.Opening || got[second].Motion != appliance.Opening {
			t.Errorf("both open: %v, %v", got[first].Motion, got[second].Motion)
		}
		sent(t, b, "0506"+"0501"+"0001", "050f"+"0010"+"0004"+"01"+"00", "050f"+"0010"+"0004"+"01"+"09")
		move(appliance.Stop, 5001, 5002)
		sent(t, b, "050f"+"0010"+"0004"+"01"+"00")
		if refs := d.Polls(); len(refs) != 2 { // lights 5 and 6, shades
			t.Errorf("got %d polls, want 2", len(refs))
		}
	})
}

func TestPollsShareFrames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := gears("ecodim-dali-gw2", 12, nil)
		count := func(d *Driver) (n int, longest time.Duration) {
			for _, p := range d.Polls() {
				n, longest = n+1, max(longest, p.Airtime)
			}
			return n, longest
		}
		end := serialWire(t)
		cfg := busOf(end, nil)
		cfg.Bus.Line, cfg.Nodes = appliance.LineSettings{BaudRate: 9600}, nodes
		d, _ := open(t, cfg)
		n, longest := count(d)
		if n < 6 || n > 12 || longest > 60*time.Millisecond {
			t.Errorf("12 gears at 9600 baud: %d polls of up to %v; want 6 to 12 of up to 60 ms", n, longest)
		}
		cfg = busOf(socketWire(t, "tcp"), nil)
		cfg.Nodes = nodes
		d, _ = open(t, cfg)
		if n, _ := count(d); n != 2 {
			t.Errorf("12 gears over TCP: %d polls, want one for levels and one for colour temperatures", n)
		}
	})
}

func TestRefusedPollsAreSplit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := bench(t, serialWire(t), gears("ecodim-dali-gw2", 4, nil), nil, nil)
		b.deny = func(unit, fn byte, p point, n int) byte {
			if fn == 3 && n > 1 {
				return 2
			}
			return 0
		}
		b.set(3, point{holdings, 3009}, 254)
		left := d.Polls()
		seen := make(map[appliance.Ref]appliance.Values)
		for frames := 0; len(left) > 0; frames++ {
			if frames > 30 {
				t.Fatal("splitting does not end")
			}
			p := left[0]
			left = left[1:]
			res, err := do(t, p.Exchange)
			if err != nil {
				parts := p.Split()
				if len(parts) == 0 {
					t.Fatalf("a single read was refused: %v", err)
				}
				for _, part := range parts {
					left = append(left, appliance.Poll{Exchange: part, Class: p.Class})
				}
				continue
			}
			for _, r := range res.Readings {
				v := seen[r.Ref]
				if v.Has |= r.Has; r.Has.Has(appliance.CanDim) {
					v.Level = r.Level
				}
				seen[r.Ref] = v
			}
		}
		if len(seen) != 4 || seen[channel(2, 1)].Level != 100 {
			t.Errorf("read %+v", seen)
		}
	})
}

func TestScanFindsAndRecognises(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, b := serialWire(t), newBank()
		b.set(3, point{holdings, 4000}, 256)
		b.set(7, point{holdings, 0}, 1)
		b.deny = func(unit, fn byte, p point, n int) byte {
			if unit == 3 && p != (point{holdings, 4000}) && p != (point{coils, 9}) && p != (point{holdings, 2011}) || unit == 7 && p.addr != 0 {
				return 2
			}
			return 0
		}
		b.serve(t, end)
		d, _ := open(t, busOf(end, map[string]string{"responseTimeout": "50ms"}))
		found := make(map[string]appliance.Found)
		for step := range d.Scan(appliance.ScanOptions{First: 1, Last: 8}) {
			res, err := do(t, step.Exchange)
			if f, ok := step.Judge(res, err); ok {
				found[f.Address] = f
			}
		}
		if len(found) != 2 || found["3"].Kind != "wirenboard-wb-led-rgbw" || found["7"].Address != "7" {
			t.Errorf("found %+v", found)
		}
	})
}

// A colour was written and acknowledged, and is not read back yet: commands go first.
// What the registers held before says nothing any more.
func TestLevelAfterAColourThatIsNotReadBackYet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, b := serialWire(t), newBank()
		cfg := busOf(end, nil)
		cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-led-rgbw")}
		d, _ := open(t, cfg)
		mirror(b, d)
		b.serve(t, end)
		ref := channel(1, 1)
		blue, red := appliance.RGBW{B: 255}, appliance.RGBW{R: 255}
		perform(t, d.Plan([]appliance.Want{{Ref: ref, Values: appliance.Values{Has: appliance.CanColour | appliance.CanDim, RGBW: blue, Level: 100}}})[0])
		for _, s := range d.Plan([]appliance.Want{{Ref: ref, Values: appliance.Values{Has: appliance.CanColour | appliance.CanDim, RGBW: red, Level: 100}}})[0].Steps {
			if _, err := do(t, s); err != nil {
				t.Fatal(err)
			}
		}
		perform(t, d.Plan([]appliance.Want{level(ref, 50)})[0])
		r, bl := b.get(5, point{holdings, 2011}), b.get(5, point{holdings, 2013})
		if r != 128 || bl != 0 {
			t.Errorf("the lamp was red, dimmed to 50 %% it has R %d B %d; want 128, 0", r, bl)
		}
	})
}

// A verification reads over addresses that nobody needs only where that was answered before: it is planned anew for each command,
// and what a device refuses would be tried each time.
func TestVerificationBridgesOnlyWhatWasReadBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, _ := bench(t, serialWire(t), gears("ecodim-dali-gw2", 2, nil), nil, nil)
		frames := func() int {
			return len(d.Plan([]appliance.Want{level(channel(1, 1), 30), level(channel(2, 1), 40)})[0].Verify)
		}
		if n := frames(); n != 2 {
			t.Errorf("before anything was read it takes %d frames, want one for each gear", n)
		}
		for _, p := range d.Polls() {
			if _, err := do(t, p.Exchange); err != nil {
				t.Fatal(err)
			}
		}
		if n := frames(); n != 1 {
			t.Errorf("once it was read over, it takes %d frames, want one", n)
		}
	})
}

// The first of two reads of a verification must not tell what was read before the
// write.
func TestVerificationTellsNothingFromBeforeTheWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, profile := range []string{"wirenboard-wb-mdm3", "wirenboard-wb-led-cct"} {
			end, b := serialWire(t), newBank()
			cfg := busOf(end, nil)
			cfg.Nodes = []appliance.Node{node(1, "5", profile)}
			d, _ := open(t, cfg)
			mirror(b, d)
			b.serve(t, end)
			ref := channel(1, 1)
			perform(t, d.Plan([]appliance.Want{level(ref, 30)})[0])
			chain := d.Plan([]appliance.Want{level(ref, 80)})[0]
			var sent appliance.Result
			for _, s := range chain.Steps {
				sent, _ = do(t, s)
			}
			for i, v := range chain.Verify {
				res, err := do(t, v)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range res.Readings {
					if r.Level != 80 || r.At.Before(sent.Sent) {
						t.Errorf("%s: read %d of the verification tells level %d of %v before the write", profile, i, r.Level, sent.Sent.Sub(r.At))
					}
				}
			}
		}
	})
}

// A node that is set aside is a device all the same: a broadcast must not move it.
func TestNoBroadcastReachesWhatIsSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, b := serialWire(t), newBank()
		cfg := busOf(end, nil)
		bad := node(3, "7", "wirenboard-wb-mdm3")
		bad.Options = map[string]string{"fade": "never"}
		cfg.Nodes = []appliance.Node{node(1, "5", "wirenboard-wb-mdm3"), node(2, "6", "wirenboard-wb-mdm3"), bad}
		d, o := open(t, cfg)
		if len(o.BrokenNodes) != 1 {
			t.Fatal(o.BrokenNodes)
		}
		for u := byte(5); u < 8; u++ {
			b.set(u, point{holdings, 0}, 0)
		}
		b.serve(t, end)
		var want []appliance.Want
		for n := appliance.ID(1); n < 3; n++ {
			want = append(want, level(channel(n, 1), 60))
		}
		for _, c := range d.Plan(want) {
			for _, s := range c.Steps {
				if _, err := do(t, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if w := b.get(7, point{holdings, 4}); w != 0 {
			t.Errorf("unit 7, which nobody meant, was set to %d %%: %v", w, b.written())
		}
	})
}

// Nor must a group frame.
func TestNoGroupFrameReachesWhatIsSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, b := serialWire(t), newBank()
		cfg := busOf(end, nil)
		var nodes []appliance.Node
		for i := range 4 {
			n := node(appliance.ID(i+1), fmt.Sprintf("5/%d", i), "ecodim-dali-gw2")
			n.Groups = []string{"3"}
			nodes = append(nodes, n)
		}
		nodes[2].Options = map[string]string{"fade": "never"}
		nodes[3].Groups = nil
		cfg.Nodes = nodes
		d, o := open(t, cfg)
		if len(o.BrokenNodes) != 1 {
			t.Fatal(o.BrokenNodes)
		}
		b.set(5, point{holdings, 0}, 0)
		b.serve(t, end)
		for _, c := range d.Plan([]appliance.Want{level(channel(1, 1), 60), level(channel(2, 1), 60)}) {
			for _, s := range c.Steps {
				if _, err := do(t, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if w := b.get(5, point{holdings, 2015}); w != 0 {
			t.Errorf("group 3 was written %d though it holds node 3, which nobody meant: %v", w, b.written())
		}
	})
}

// A want of something that is not on this bus is refused, and what is here is done all the same.
func TestWhatIsNotHereIsRefused(t *testing.T) {
	t.Parallel()
	d, _ := bench(t, serialWire(t), []appliance.Node{node(1, "1", "wirenboard-wb-mdm3")}, nil, nil)
	gone, here := level(channel(9, 1), 4000), level(channel(1, 1), 4000)
	var done []appliance.Want
	refused := 0
	for _, c := range d.Plan([]appliance.Want{gone, here}) {
		if !slices.Contains(c.Wants, gone) {
			done = append(done, c.Wants...)
			continue
		}
		refused++
		if len(c.Wants) != 1 || len(c.Steps) != 1 {
			t.Fatalf("%d wants are refused in %d steps", len(c.Wants), len(c.Steps))
		}
		res, err := do(t, c.Steps[0])
		if !errors.Is(err, appliance.ErrRefused) || !errors.Is(err, appliance.ErrNotFound) || !res.Sent.IsZero() {
			t.Errorf("%v, sent %v", err, res.Sent)
		}
	}
	if refused != 1 || len(done) != 1 || done[0].Ref != here.Ref {
		t.Errorf("planned is %+v, want what is here; refused %d times, want once", done, refused)
	}
}

// Reads are cut to what they take on the line as it is set; behind a serial server of which nobody knows that, to 9600 baud.
func TestWhatReadsAreCutTo(t *testing.T) {
	t.Parallel()
	q := question(3)
	for _, scheme := range []string{"", "rtu+tcp", "tcp"} {
		end := serialWire(t)
		if scheme != "" {
			end = socketWire(t, scheme)
		}
		opened, err := openWire(busOf(end, nil))
		if err != nil {
			t.Fatal(err)
		}
		d := opened.Driver.(*Driver)
		want := map[string]time.Duration{
			"": d.airtime(q, 0), "tcp": tcpAirtime,
			"rtu+tcp": time.Duration(q.requestLen()+q.answerLen()+6)*(11*time.Second/9600) + 2*d.silence,
		}[scheme]
		if got := d.planned(q, &unit{}); got != want {
			t.Errorf("%q: %v, want %v", scheme, got, want)
		}
	}
}
