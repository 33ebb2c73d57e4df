package sim

import (
	"fmt"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// gearSite is a gateway with four pieces of gear; 1 and 2 are in group 3.
func gearSite(t *testing.T, profile string, with ...func(*appliance.Node)) *site {
	s := newSite(t).tcp("b")
	for i := range 4 {
		fs := with
		if i == 1 || i == 2 {
			fs = append([]func(*appliance.Node){groups("3")}, with...)
		}
		s.node(fmt.Sprintf("7/%d", i), profile, fs...)
	}
	return s
}

func (r *rig) levels(at time.Time) (out [4]int) {
	for i := range out {
		out[i] = r.device(at, appliance.ID(i+1)).Channels[0].Level
	}
	return out
}

func (r *rig) kelvins(at time.Time) (out [4]int) {
	for i := range out {
		out[i] = r.device(at, appliance.ID(i+1)).Channels[0].ColorTemp
	}
	return out
}

func TestGatewaysReachGearGroupsAndAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile           string
		short, group, all int    // registers of short 2, group 3, broadcast (0: none)
		half              uint16 // value for 50 percent light
		top               uint16
	}{
		{"ecodim-dali-gw2", 3010, 2015, 1000, 229, 254},
		{"arlight-dali-logic-lite", 258, 387, 0, 229, 254},
		{"dalion", 2, 67, 80, 128, 255},
		{"intesis-ibmbsdal", 215, 0, 6800, 50, 100},
	} {
		t.Run(c.profile, func(t *testing.T) {
			r := newRig(t, gearSite(t, c.profile), Options{})
			near := func(got [4]int, want [4]int) {
				t.Helper()
				for i := range got {
					if got[i] < want[i]-1 || got[i] > want[i]+1 {
						t.Errorf("levels %v, want %v", got, want)
						return
					}
				}
			}
			r.set(noon, 7, c.short, c.half)
			near(r.levels(noon), [4]int{0, 0, 50, 0})
			if c.group != 0 {
				r.set(noon, 7, c.group, c.top)
				near(r.levels(noon), [4]int{0, 100, 100, 0})
			}
			if c.all != 0 {
				r.set(noon, 7, c.all, c.half)
				near(r.levels(noon), [4]int{50, 50, 50, 50})
				r.set(noon, 7, c.all, 0)
				near(r.levels(noon), [4]int{})
			}
			if exc := r.refused(noon, 7, fnWriteRegister, byte(c.short>>8), byte(c.short), 1, 44); exc != illegalValue {
				t.Errorf("value 300: exception %d", exc)
			}
		})
	}
}

func TestGatewaysTuneGearWithinItsRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile           string
		short, group, all int
		value             uint16
		want              int
	}{
		{"ecodim-dali-gw2", 3330, 2635, 1005, 3000, 3000},
		{"arlight-dali-logic-lite", 1794, 1923, 0, 250, 4000},
		{"dalion", 0, 101, 114, 255, 2700},
		{"ecodim-dali-gw2", 3330, 2635, 1005, 9000, 6500},
	} {
		t.Run(fmt.Sprint(c.profile, c.value), func(t *testing.T) {
			r := newRig(t, gearSite(t, c.profile), Options{})
			start := r.kelvins(noon)
			if c.short != 0 {
				r.set(noon, 7, c.short, c.value)
				if got := r.kelvins(noon); got[2] != c.want || got[0] != start[0] {
					t.Errorf("after short 2: %v", got)
				}
			}
			r.set(noon, 7, c.group, c.value)
			if got := r.kelvins(noon); got[1] != c.want || got[2] != c.want || got[3] != start[3] {
				t.Errorf("after group 3: %v", got)
			}
			if c.all != 0 {
				r.set(noon, 7, c.all, c.value)
				if got := r.kelvins(noon); got != [4]int{c.want, c.want, c.want, c.want} {
					t.Errorf("after broadcast: %v", got)
				}
			}
		})
	}
}

func TestECOdimReportsGearAndTakesCommands(t *testing.T) {
	t.Parallel()
	s := gearSite(t, "ecodim-dali-gw2", func(n *appliance.Node) { n.Options = map[string]string{"fade": "1s"} })
	r := newRig(t, s, Options{})
	if n := r.get(noon, 7, fnReadHolding, 31); n != 4 {
		t.Errorf("%d devices, want 4", n)
	}
	if r.get(noon, 7, fnReadHolding, 3012) != 1 || r.get(noon, 7, fnReadHolding, 3002+5*20) != 0 {
		t.Error("present registers")
	}
	r.set(noon, 7, 3011, daliRecallMax)
	if st := r.get(noon.Add(500*time.Millisecond), 7, fnReadHolding, 3013); st != 1<<2|1<<4 {
		t.Errorf("status %b during a fade, want lamp on and fade running", st)
	}
	if n := r.get(noon.Add(500*time.Millisecond), 7, fnReadHolding, 3014); n != 229 {
		t.Errorf("level %d half way of a fade to 254 (50 percent light is 229)", n)
	}
	if n := r.get(noon.Add(time.Second), 7, fnReadHolding, 3014); n != 254 {
		t.Errorf("level %d after the fade", n)
	}
	late := noon.Add(time.Minute)
	r.set(late, 7, 25, 0x0400) // short 2, off
	r.set(late.Add(2*time.Second), 7, 25, 0x05A0)
	if r.get(late.Add(2*time.Second), 7, fnReadHolding, 24) != 1 || r.get(late.Add(2*time.Second), 7, fnReadHolding, 26) != 0 {
		t.Error("query actual level by a raw frame after off")
	}
}

func TestLinesOfAGatewayAreApart(t *testing.T) {
	t.Parallel()
	s := newSite(t).tcp("b").node("7/1.5", "dalion").node("7/2.5", "dalion").node("7/4.5", "dalion")
	r := newRig(t, s, Options{})
	r.set(noon, 7, 128+5, 255)
	if a, b, c := r.device(noon, 1), r.device(noon, 2), r.device(noon, 3); a.Channels[0].On || !b.Channels[0].On || c.Channels[0].On {
		t.Error("register 133 must switch line 2, short 5, alone")
	}
}

func TestDALICurve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		percent float64
		arc     int
	}{{0, 0}, {0.1, 1}, {1, 85}, {3, 126}, {5, 144}, {10, 170}, {25, 203}, {50, 229}, {75, 243}, {100, 254}} {
		if got := percentArc(c.percent); got != c.arc {
			t.Errorf("%v percent is arc power %d, want %d", c.percent, got, c.arc)
		}
	}
	for n := range 255 {
		if got := percentArc(arcPercent(n)); got != n {
			t.Errorf("arc power %d came back as %d", n, got)
		}
	}
}

func TestBrokenSitesAreRefusedByName(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*site{
		"unknown profile":       newSite(t).tcp("b").node("1", "nonsense"),
		"gateway without short": newSite(t).tcp("b").node("1", "dalion"),
		"short at a dimmer":     newSite(t).tcp("b").node("1/2", "wirenboard-wb-mdm3"),
		"line 5 of 4":           newSite(t).tcp("b").node("1/5.2", "dalion"),
		"same gear twice":       newSite(t).tcp("b").node("1/2", "dalion").node("1/2", "dalion"),
		"two kinds at a unit":   newSite(t).tcp("b").node("1", "wirenboard-wb-mdm3").node("1", "wirenboard-wb-mao4"),
		"output 9 of 8":         newSite(t).tcp("b").node("1", "waveshare-relay-8ch", outputs(9)),
		"group 16":              newSite(t).tcp("b").node("1/2", "dalion", groups("16")),
		"shade on a dimmer":     newSite(t).tcp("b").node("1", "wirenboard-wb-mdm3").shade(1, 0, 0),
		"unit 0":                newSite(t).tcp("b").node("0", "wirenboard-wb-mdm3"),
		"below dev":             newSite(t).bus("b", "/dev/ttyUSB0", appliance.LineSettings{}),
		"not loopback":          newSite(t).bus("b", "tcp://192.168.1.5:502", appliance.LineSettings{}),
		"other driver":          func() *site { s := newSite(t).tcp("b"); s.Buses[0].Driver = "knx"; return s }(),
		"parity":                newSite(t).serial("b", 9600, "mark"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(s.Site, Options{})
			if err == nil {
				t.Fatal("accepted")
			}
			t.Log(err)
		})
	}
}
