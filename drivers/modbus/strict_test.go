package modbus

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

func gear(id appliance.ID, address string, options map[string]string, groups ...string) appliance.Node {
	n := node(id, address, "ecodim-dali-gw2")
	n.Options, n.Groups = options, groups
	return n
}

// A node whose entry is broken is in group "05", as Atoi reads it elsewhere: the group must not be used.
func TestGroupOfABrokenNodeIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{"5", "05", "+5"} {
			end := serialWire(t)
			cfg := busOf(end, nil)
			cfg.Nodes = []appliance.Node{
				gear(1, "1/1", nil, "5"), gear(2, "1/2", nil, "5"),
				gear(3, "1/64", nil, text), // no such short address: broken
				gear(4, "1/4", nil),
			}
			opened, err := openWire(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if opened.BrokenNodes[3] == nil {
				t.Fatal("node 3 is not broken")
			}
			chains := opened.Driver.(*Driver).Plan([]appliance.Want{level(channel(1, 1), 0), level(channel(2, 1), 0)})
			for _, c := range chains {
				if c.Group {
					t.Errorf("group written as %q: a group frame is sent though a broken node is in that group", text)
				}
			}
		}
	})
}

// The slowest of the nodes of one unit counts, in whatever order they are.
func TestTheSlowestNodeCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow, fast := map[string]string{"responseTimeout": "2s"}, map[string]string{"responseTimeout": "300ms"}
		for i, o := range [][2]map[string]string{{fast, slow}, {slow, fast}} {
			cfg := busOf(serialWire(t), nil)
			cfg.Nodes = []appliance.Node{gear(1, "1/1", o[0]), gear(2, "1/2", o[1])}
			opened, err := openWire(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got := opened.Driver.(*Driver).units[1].timeout; got != 2*time.Second {
				t.Errorf("order %d: time-out %v, want 2s", i, got)
			}
		}
	})
}

// A broadcast keeps the silence that its devices need.
func TestBroadcastKeepsTheGuard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const guard = 60 * time.Millisecond
		end := serialWire(t)
		var nodes []appliance.Node
		var want []appliance.Want
		for u := 1; u <= 2; u++ {
			nodes = append(nodes, node(appliance.ID(u), fmt.Sprint(u), "wirenboard-wb-mdm3"))
			for c := 1; c <= 3; c++ {
				want = append(want, level(channel(appliance.ID(u), c), 0))
			}
		}
		d, _ := bench(t, end, nodes, nil, map[string]string{"guard": guard.String()})
		pollAll(t, d)
		chains := d.Plan(want)
		if len(chains) != 1 || !chains[0].Group {
			t.Fatalf("got %+v", chains)
		}
		if _, err := do(t, chains[0].Steps[0]); err != nil {
			t.Fatal(err)
		}
		var last time.Time
		for _, f := range d.Recent() {
			if f.Direction == appliance.FrameSent && f.Bytes[0] == 0 {
				if gap := f.At.Sub(last); gap < guard {
					t.Errorf("the broadcast went out %v after the last answer, its devices need %v", gap, guard)
				}
			}
			last = f.At
		}
	})
}

const floatProfile = `name: float-dimmer
title: a dimmer with floating point registers
source: test
outputs:
  - kind: light
    kelvinMin: 2700
    kelvinMax: 6500
    level:
      at: {table: holding, address: 0, type: float32}
      map: percent
    kelvin:
      at: {table: holding, address: 2, type: float32}
      map: kelvin
`

// A number that is none never becomes a level.
func TestNoNumberIsNoLevel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "profiles"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "profiles", "float-dimmer.yaml"), []byte(floatProfile), 0o644); err != nil {
			t.Fatal(err)
		}
		end := serialWire(t)
		cfg := busOf(end, nil)
		cfg.DataDir = dir
		cfg.Nodes = []appliance.Node{node(1, "5", "float-dimmer")}
		d, opened := open(t, cfg)
		for _, err := range opened.BrokenNodes {
			t.Fatal(err)
		}
		b := newBank()
		for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
			bits := math.Float32bits(x)
			for i := range uint16(2) {
				b.set(5, point{holdings, 2 * i}, uint16(bits>>16))
				b.set(5, point{holdings, 2*i + 1}, uint16(bits))
			}
			if x != x {
				b.serve(t, end)
			}
			for _, p := range d.Polls() {
				res, err := do(t, p.Exchange)
				for _, r := range res.Readings {
					t.Errorf("register %v became level %d, %d K (has %v), err %v", x, r.Level, r.Kelvin, r.Has, err)
				}
			}
		}
	})
}

// The shade of a node that turns out to be broken is set aside with it: nobody moves it, and nothing is read of it.
func TestTheShadeOfANodeThatIsSetAside(t *testing.T) {
	t.Parallel()
	broken, whole := node(1, "5", "wirenboard-wb-mr6c"), node(2, "6", "wirenboard-wb-mr6c")
	broken.Outputs = []int{1, 5} // the first belongs to its shade
	cfg := serialBus(broken, whole)
	cfg.Shades = []appliance.Shade{{ID: 5001, Node: 1, Output: 1}, {ID: 5002, Node: 2, Output: 1}}
	opened, err := openWire(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.BrokenShades[5001]; opened.BrokenNodes[1] == nil || err == nil || !strings.Contains(err.Error(), "its node 1 is set aside") {
		t.Fatalf("node 1: %v, its shade: %v", opened.BrokenNodes[1], err)
	}
	d := opened.Driver.(*Driver)
	if _, there := opened.Shades[5001]; there || d.things[appliance.Ref{Shade: 5001}] != nil {
		t.Error("the shade can be moved")
	}
	for _, u := range d.units {
		for _, thing := range u.things {
			if thing.ref.Shade == 5001 {
				t.Error("the shade is read")
			}
		}
	}
	if _, there := opened.Shades[5002]; !there || d.things[appliance.Ref{Shade: 5002}] == nil || len(d.units[6].things) == 0 || opened.BrokenShades[5002] != nil {
		t.Error("the shade of another node is set aside, too")
	}
}
