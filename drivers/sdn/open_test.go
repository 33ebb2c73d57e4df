package sdn

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func busConfig(options map[string]string, nodes []appliance.Node, shades []appliance.Shade) appliance.BusConfig {
	return appliance.BusConfig{Bus: appliance.Bus{Name: "shades", Port: "/dev/ttyUSB0", Options: options}, Nodes: nodes, Shades: shades}
}

func TestWrongBusSettingsAreRefused(t *testing.T) {
	for _, tc := range []struct{ key, value, words string }{
		{"hostAdress", "FF.FF.00", "unknown"},
		{"hostAddress", "FF.FF", "three bytes"},
		{"hostAddress", "FF.FF.FF", "single host"},
		{"hostAddress", "01.01.05", "single host"},
		{"hostAddress", "00.00.00", "single host"},
		{"quiet", "5ms", "10ms"},
		{"quiet", "200ms", "100ms"},
		{"quiet", "25", "time with its unit"},
		{"responseTimeout", "100ms", "255ms"},
		{"echo", "yes", "true or false"},
	} {
		_, err := Open(busConfig(map[string]string{tc.key: tc.value}, nil, nil))
		if err == nil || !strings.Contains(err.Error(), tc.words) || !strings.Contains(err.Error(), tc.key) {
			t.Errorf("%s: %s: got %v, want %q in it", tc.key, tc.value, err, tc.words)
		}
	}
	cfg := busConfig(nil, nil, nil)
	cfg.Bus.Line.DataBits = 7
	if _, err := Open(cfg); err == nil {
		t.Error("7 data bits accepted")
	}
}

// How far the times of a bus go, and what they are when nobody says.
func TestTimesOfABus(t *testing.T) {
	o, err := readBusOptions(nil)
	if want := (busOptions{host: Address{0xFF, 0xFF, 0}, quiet: 25 * time.Millisecond, responseTimeout: 300 * time.Millisecond, broadcast: true}); err != nil || o != want {
		t.Errorf("%+v, %v; want %+v", o, err, want)
	}
	for text, ok := range map[string]bool{"quiet=10ms": true, "quiet=9ms": false, "quiet=100ms": true, "quiet=101ms": false,
		"responseTimeout=255ms": true, "responseTimeout=254ms": false, "responseTimeout=2s": true, "responseTimeout=2001ms": false} {
		name, value, _ := strings.Cut(text, "=")
		if _, err := readBusOptions(map[string]string{name: value}); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, row := range []struct {
		line appliance.LineSettings
		bits int
	}{{appliance.LineSettings{}, 11}, {appliance.LineSettings{Parity: "none"}, 10}, {appliance.LineSettings{StopBits: 2}, 12}} {
		if s, err := completeLine(row.line); err != nil || characterTime(s) != time.Duration(row.bits)*time.Second/4800 {
			t.Errorf("%+v: a character lasts %v, want that of %d bits", row.line, characterTime(s), row.bits)
		}
	}
}

func TestLineIs4800OddUnlessSaidOtherwise(t *testing.T) {
	s, err := completeLine(appliance.LineSettings{})
	if want := (appliance.LineSettings{BaudRate: 4800, Parity: "odd", DataBits: 8, StopBits: 1}); err != nil || s != want {
		t.Errorf("got %+v, %v; want %+v", s, err, want)
	}
}

func TestWrongEntriesAreQuarantinedAlone(t *testing.T) {
	good := appliance.Node{ID: 1, Address: "06.1a.2b", Profile: "somfy-sdn", Groups: []string{"01.01.05"}}
	for words, bad := range map[string]appliance.Node{
		"three bytes":          {Address: "12345", Profile: "somfy-sdn"},
		"not that of a single": {Address: "FF.FF.FF", Profile: "somfy-sdn"},
		"00.00.00 is not that": {Address: "00.00.00", Profile: "somfy-sdn"},
		"01.01.05 is not that": {Address: "01.01.05", Profile: "somfy-sdn"},
		"outputs [1 2]":        {Address: "06.1A.2C", Profile: "somfy-sdn", Outputs: []int{1, 2}},
		"group \"5\"":          {Address: "06.1A.2C", Profile: "somfy-sdn", Groups: []string{"5"}},
		"of this controller":   {Address: "FF.FF.00", Profile: "somfy-sdn"},
		"that of node 1":       {Address: "06.1A.2B", Profile: "somfy-sdn"},
		"profile \"somfy\"":    {Address: "06.1A.2C", Profile: "somfy"},
		"output 1 only":        {Address: "06.1A.2C", Profile: "somfy-sdn", Outputs: []int{2}},
		"option \"x\" is unk":  {Address: "06.1A.2C", Profile: "somfy-sdn", Options: map[string]string{"x": "1"}},
		"want 01.01.00":        {Address: "06.1A.2C", Profile: "somfy-sdn", Groups: []string{"01.02.00"}},
		"group \"01.01.FF\"":   {Address: "06.1A.2C", Profile: "somfy-sdn", Groups: []string{"01.01.FF"}},
		"named twice":          {Address: "06.1A.2C", Profile: "somfy-sdn", Groups: []string{"01.01.05", "01.01.05"}},
		"17 groups":            {Address: "06.1A.2C", Profile: "somfy-sdn", Groups: strings.Split(strings.Repeat("01.01.05,", 16)+"01.01.05", ",")},
	} {
		bad.ID = 2
		o, err := Open(busConfig(nil, []appliance.Node{good, bad}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}, {ID: 5002, Node: 2, Output: 1}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.BrokenNodes[2]; got == nil || !strings.Contains(got.Error(), words) {
			t.Errorf("got %v, want %q in it", got, words)
		}
		if o.BrokenNodes[1] != nil || o.Device[1] != "06.1A.2B" || o.Shades[5001].Abilities != appliance.CanMove|appliance.CanPosition || !o.Shades[5001].PositionMeasured {
			t.Errorf("%s: the good one suffers: %+v", words, o)
		}
		if o.BrokenShades[5002] == nil {
			t.Errorf("%s: the shade of a broken node is not quarantined", words)
		}
	}
	o, err := Open(busConfig(nil, []appliance.Node{good}, []appliance.Shade{{ID: 5001, Node: 1, Output: 2}, {ID: 5002, Node: 1, Output: 1}, {ID: 5003, Node: 1, Output: 1}}))
	if err != nil || o.BrokenShades[5001] == nil || o.BrokenShades[5002] != nil || o.BrokenShades[5003] == nil {
		t.Errorf("shades: %v, %v", o.BrokenShades, err)
	}
}

func TestEveryMotorTypeHasItsProfile(t *testing.T) {
	for name, kind := range profiles {
		o, err := Open(busConfig(nil, []appliance.Node{{ID: 1, Address: "06.1A.2B", Profile: name}}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}}))
		if err != nil {
			t.Fatal(err)
		}
		d := o.Driver.(*Driver)
		q := d.tell(d.site.all[0], order{id: ctrlStop})
		if f := q.frame(); f.To != kind || !f.Ack {
			t.Errorf("%s: %+v, want addressee type %d and an ACK asked for", name, f, kind)
		}
		if kind != 0 && kind.profile() != name {
			t.Errorf("type %d: profile %q, want %q", kind, kind.profile(), name)
		}
	}
}

// fleet opens a bus with motors in groups, shade i on motor i.
func fleet(t *testing.T, options map[string]string, groups ...string) *Driver {
	t.Helper()
	var nodes []appliance.Node
	var shades []appliance.Shade
	for i, g := range groups {
		id := appliance.ID(i + 1)
		n := appliance.Node{ID: id, Address: fmt.Sprintf("06.1A.%02X", i), Profile: "somfy-sdn"}
		if g != "" {
			n.Groups = strings.Split(g, " ")
		}
		nodes = append(nodes, n)
		shades = append(shades, appliance.Shade{ID: 5000 + id, Node: id, Output: 1})
	}
	o, err := Open(busConfig(options, nodes, shades))
	if err != nil || len(o.BrokenNodes)+len(o.BrokenShades) > 0 {
		t.Fatal(err, o.BrokenNodes, o.BrokenShades)
	}
	d := o.Driver.(*Driver)
	if d.Link() == nil {
		t.Error("a bus that nobody runs can be used")
	}
	d.UseGroups(asDeclared(d))
	return d
}

// asDeclared is what may be used when all tables are as the site says.
func asDeclared(d *Driver) (use appliance.GroupUse) {
	members := make(map[string][]string)
	for _, m := range d.site.all {
		for _, g := range m.groups {
			members[g.String()] = append(members[g.String()], m.key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		use.Groups = append(use.Groups, appliance.Group{Name: name, Members: members[name]})
	}
	return use
}

func want(motion appliance.Motion, p appliance.Position, motors ...int) (list []appliance.Want) {
	for _, i := range motors {
		v := appliance.Values{Has: appliance.CanMove, Motion: motion}
		if motion == appliance.MoveTo {
			v.Has, v.Position = v.Has|appliance.CanPosition, p
		}
		list = append(list, appliance.Want{Ref: appliance.Ref{Shade: appliance.ID(5001 + i)}, Values: v})
	}
	return list
}

func TestFewestFramesThatMoveExactlyWhatIsWanted(t *testing.T) {
	const a, b, c = "01.01.01", "01.01.02", "01.01.03"
	off := map[string]string{"broadcast": "false"}
	for _, tc := range []struct {
		name    string
		options map[string]string
		groups  []string
		want    []appliance.Want
		chains  []int // wants of each; negative: moved by one frame
	}{
		{"a group", nil, []string{a, a, a, ""}, want(appliance.Open, 0, 0, 1, 2), []int{-3}},
		{"a part of a group", nil, []string{a, a, a, ""}, want(appliance.Open, 0, 0, 1), []int{1, 1}},
		{"a group and one more", off, []string{a, a, a, "", ""}, want(appliance.Close, 0, 0, 1, 2, 4), []int{-3, 1}},
		{"two groups", off, []string{a, a, b, b}, want(appliance.MoveTo, 40, 0, 1, 2, 3), []int{-2, -2}},
		{"the larger of overlapping groups", nil, []string{a, a + " " + b, b, b, ""}, want(appliance.Stop, 0, 0, 1, 2, 3), []int{-3, 1}},
		{"the larger of groups in one another", off, []string{a + " " + b, a + " " + b, a, ""}, want(appliance.Open, 0, 0, 1, 2), []int{-3}},
		{"the larger of them, by whatever name", off, []string{a + " " + b, a + " " + b, b, ""}, want(appliance.Open, 0, 0, 1, 2), []int{-3}},
		{"everything", nil, []string{a, b, c, ""}, want(appliance.Open, 0, 0, 1, 2, 3), []int{-4}},
		{"everything, without broadcast", off, []string{"", "", ""}, want(appliance.Open, 0, 0, 1, 2), []int{1, 1, 1}},
		{"one motor that is everything", nil, []string{a}, want(appliance.Open, 0, 0), []int{1}},
		{"one motor in a group of its own", nil, []string{a, b}, want(appliance.Open, 0, 0), []int{1}},
		{"different targets", nil, []string{a, a}, append(want(appliance.MoveTo, 10, 0), want(appliance.MoveTo, 20, 1)...), []int{1, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := fleet(t, tc.options, tc.groups...)
			var got []int
			covered := 0
			for _, chain := range d.Plan(tc.want) {
				n := len(chain.Wants)
				covered += n
				if chain.Group {
					n = -n
				}
				got = append(got, n)
				if len(chain.Steps) != 1 || len(chain.Verify) == 0 {
					t.Errorf("%d steps, %d reads", len(chain.Steps), len(chain.Verify))
				}
				if chain.Group != (chain.Steps[0].Device == "") {
					t.Errorf("group %v, device %q", chain.Group, chain.Steps[0].Device)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.chains) || covered != len(tc.want) {
				t.Errorf("chains of %v wants, want %v", got, tc.chains)
			}
			for _, chain := range d.Repair(tc.want) {
				if chain.Group || len(chain.Wants) != 1 {
					t.Errorf("repaired by %d wants, group %v", len(chain.Wants), chain.Group)
				}
			}
		})
	}
}

func TestNothingMovesAlongUnasked(t *testing.T) {
	// The third motor has no shade: a group or broadcast frame would move it.
	nodes := []appliance.Node{}
	for i := range 3 {
		nodes = append(nodes, appliance.Node{ID: appliance.ID(i + 1), Address: fmt.Sprintf("06.1A.%02X", i), Profile: "somfy-sdn", Groups: []string{"01.01.05"}})
	}
	shades := []appliance.Shade{{ID: 5001, Node: 1, Output: 1}, {ID: 5002, Node: 2, Output: 1}}
	check := func(what string) {
		t.Helper()
		o, err := Open(busConfig(nil, nodes, shades))
		if err != nil {
			t.Fatal(err)
		}
		d := o.Driver.(*Driver)
		d.UseGroups(asDeclared(d))
		for _, chain := range d.Plan(want(appliance.Open, 0, 0, 1)) {
			if chain.Group {
				t.Errorf("%s: moved by a group frame", what)
			}
		}
	}
	check("a motor without a shade")
	nodes[2].Profile = "unheard-of"
	check("a quarantined motor")
}

// A motor whose table is not known may be in any group.
func TestUnknownTableKeepsGroupsFromBeingUsed(t *testing.T) {
	const a = "01.01.01"
	d := fleet(t, map[string]string{"broadcast": "false"}, a, a, a, "")
	use := asDeclared(d)
	use.Groups[0].Members = use.Groups[0].Members[:2]
	use.Unsure = []string{"06.1A.02"}
	d.UseGroups(use)
	if chains := d.Plan(want(appliance.Open, 0, 0, 1)); len(chains) != 2 {
		t.Errorf("%d chains for two of the group, want one each: the third may hold it", len(chains))
	}
	if chains := d.Plan(want(appliance.Open, 0, 0, 1, 2)); len(chains) != 2 || !chains[0].Group || len(chains[0].Wants) != 2 {
		t.Errorf("%d chains, want the group for those that are known to hold it, and one frame", len(chains))
	}
	d.UseGroups(appliance.GroupUse{})
	if chains := d.Plan(want(appliance.Open, 0, 0, 1, 2)); len(chains) != 3 {
		t.Errorf("%d chains although no table is known", len(chains))
	}
}

func TestGroupTableIsChangedByTheFewestWrites(t *testing.T) {
	one, two, three, keypad := Address{1, 1, 1}, Address{1, 1, 2}, Address{1, 1, 3}, Address{1, 1, 0x77}
	table := groupTable{entries: [maxGroups]Address{keypad, one, Nobody, one}, size: 5}
	for _, tc := range []struct {
		name        string
		join, leave []string
		want        []groupChange
	}{
		{"nothing", nil, nil, nil},
		{"one more takes the first free entry", []string{two.String()}, nil, []groupChange{{2, two}}},
		{"one that takes another's place", []string{two.String()}, []string{one.String()}, []groupChange{{1, two}, {3, Nobody}}},
		{"one that was there twice", nil, []string{one.String()}, []groupChange{{1, Nobody}, {3, Nobody}}},
		{"two into two", []string{two.String(), three.String()}, []string{one.String()}, []groupChange{{1, two}, {3, three}}},
		{"more than there is room for", []string{"01.01.10", "01.01.11", "01.01.12"}, nil,
			[]groupChange{{2, Address{1, 1, 0x10}}, {4, Address{1, 1, 0x11}}}},
	} {
		if got := table.changes(tc.join, tc.leave); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestUnknownShadesAndMotionsAreRefused(t *testing.T) {
	d := fleet(t, nil, "")
	chains := append(d.Plan(want(appliance.Open, 0, 7)), d.Plan(want(appliance.MotionUnknown, 0, 0))...)
	if len(chains) != 2 {
		t.Errorf("%d chains for two wants", len(chains))
	}
	for _, chain := range chains {
		if _, err := chain.Steps[0].Do(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrRefused) {
			t.Errorf("%+v: %v", chain.Wants, err)
		}
	}
}

// Clusters are given groups from the top, those of the site are its own, and all motors are known only where a frame to everybody may be sent.
func TestGroupsThatABusHas(t *testing.T) {
	for _, tc := range []struct {
		broadcast string
		broken    bool
		closed    bool
	}{{"true", false, true}, {"true", true, false}, {"false", false, false}, {"false", true, false}} {
		d := fleet(t, map[string]string{"broadcast": tc.broadcast}, "01.01.09 01.01.05", "")
		d.site.broken = tc.broken
		s := d.GroupSpace()
		if s.Closed != tc.closed || !s.Shades || s.PerDevice != 16 || len(s.Names) != 254 || s.Names[0] != "01.01.FE" || s.Names[253] != "01.01.01" {
			t.Errorf("broadcast %s, an entry set aside %v: %+v", tc.broadcast, tc.broken, s)
		}
		if len(s.Declared) != 1 || !slices.Equal(s.Declared["06.1A.00"], []string{"01.01.05", "01.01.09"}) {
			t.Errorf("declared %q", s.Declared)
		}
	}
}
