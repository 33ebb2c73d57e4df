package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// shelves are tables of a rig that are not read over the wire: what a talk comes to is handed in as it is wanted.
type shelves struct {
	*rig
	space         appliance.GroupSpace
	held          map[string][]string
	strange, used []string
	uses          []appliance.GroupUse
	talks         []Converse
	saves         []appliance.BusGroups
	progress      []appliance.GroupProgress
	ordered       []Ordered
	hung          int
	view          appliance.Grouping
	fails         func(Converse) error // of a talk's exchange; nil: none does
	loses         bool                 // what is written is not kept
	half          bool                 // tables are not whole
	full          bool                 // the disk is
}

func (g *shelves) GroupSpace() appliance.GroupSpace     { return g.space }
func (g *shelves) StrangeGroups() (held, used []string) { return g.strange, g.used }
func (g *shelves) UseGroups(u appliance.GroupUse)       { g.uses = append(g.uses, u) }
func (g *shelves) talksOf(kind TableKind) (out []Converse) {
	for _, c := range g.talks {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

func (g *shelves) clusters(members ...[]appliance.ID) {
	var list []appliance.Cluster
	for i, nodes := range members {
		list = append(list, appliance.Cluster{ID: appliance.ID(i + 1), Name: fmt.Sprint("c", i+1), Nodes: nodes})
	}
	g.take(Clusters{list})
}

func (g *shelves) wiringOf() *Wiring {
	w := g.wiring()
	tables := &tables{rig: g.rig}
	w.Opened.Driver = struct {
		appliance.Driver
		appliance.Grouper
	}{g.rig, shelved{tables, g}}
	return w
}

// shelved answers for shelves what a driver is asked.
type shelved struct {
	*tables
	on *shelves
}

func (s shelved) GroupSpace() appliance.GroupSpace     { return s.on.GroupSpace() }
func (s shelved) StrangeGroups() (held, used []string) { return s.on.StrangeGroups() }
func (s shelved) UseGroups(u appliance.GroupUse)       { s.on.UseGroups(u) }

func (g *shelves) carry(a Action) {
	switch a := a.(type) {
	case Converse:
		g.talks = append(g.talks, a)
		g.after(0, func() { g.take(Next{Exchange: g.exchangeOf(a)}) })
	case Continue:
		device := g.talks[len(g.talks)-1].Device
		g.after(0, func() { g.take(Next{Whole: !g.half, Held: g.held[device]}) })
	case Hang:
		g.hung++
	case Save:
		g.saves = append(g.saves, a.Groups)
		g.after(0, func() { g.take(Saved{Failed: g.full}) })
	case Progress:
		g.progress = append(g.progress, a.Step)
	case Ordered:
		g.ordered = append(g.ordered, a)
	case GroupsShown:
		g.view = a.View
	}
}

// exchangeOf is the one exchange of a talk.
func (g *shelves) exchangeOf(c Converse) *appliance.Exchange {
	return &appliance.Exchange{Device: c.Device, Airtime: g.airtime, Worst: g.airtime + g.timeout, Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
		g.now = g.now.Add(g.airtime)
		res := appliance.Result{Sent: g.now}
		if g.fails != nil {
			if err := g.fails(c); err != nil {
				return res, err
			}
		}
		if c.Kind == Changing && !g.loses {
			left := slices.DeleteFunc(slices.Clone(g.held[c.Device]), func(n string) bool { return slices.Contains(c.Leave, n) })
			g.held[c.Device] = slices.Sorted(slices.Values(append(left, c.Join...)))
		}
		return res, nil
	}}
}

func (g *shelves) heldNow() string {
	var words []string
	for _, d := range sorted(g.s.devices) {
		words = append(words, d.name+":"+strings.Join(g.held[d.name], "+"))
	}
	return strings.Join(words, " ")
}

func kept(names ...string) appliance.GroupSpace {
	return appliance.GroupSpace{Mode: appliance.GroupsKept, Names: names, PerDevice: 4}
}

// Tables are read, then who else is there is looked for, then groups are handed out, and then they are written: nothing is that would
// not be known after a power cut. What belongs to somebody else is left alone.
func TestTablesAreBroughtInStep(t *testing.T) {
	ids := func(n ...appliance.ID) []appliance.ID { return n }
	for _, row := range []struct {
		what   string
		space  appliance.GroupSpace
		change func(*shelves)
		held   string
		ready  string // groups of clusters 1 and 2
	}{
		{what: "two clusters", space: kept("a", "b"), held: "1:a+b 2:a+b 3:a 4:", ready: "a true, b true"},
		{what: "one group is left", space: kept("a"), held: "1:a 2:a 3:a 4:", ready: "a true,  false"},
		{what: "one is somebody else's", space: kept("a", "b"), change: func(g *shelves) { g.held["4"] = []string{"a"} }, held: "1:b 2:b 3:b 4:a", ready: "b true,  false"},
		{what: "one is a stranger's", space: kept("a", "b"), change: func(g *shelves) { g.strange = []string{"a"} }, held: "1:b 2:b 3:b 4:", ready: "b true,  false"},
		{what: "one is used by a stranger", space: kept("a", "b"), change: func(g *shelves) { g.used = []string{"a"} }, held: "1:b 2:b 3:b 4:", ready: "b true,  false"},
		{what: "there is room for one", space: appliance.GroupSpace{Mode: appliance.GroupsKept, Names: []string{"a", "b"}, PerDevice: 1}, held: "1:a 2:a 3:a 4:", ready: "a true, b false"},
		{what: "the room is taken by others", space: appliance.GroupSpace{Mode: appliance.GroupsKept, Names: []string{"a", "b"}, PerDevice: 2}, change: func(g *shelves) { g.held["1"] = []string{"x"} }, held: "1:a+x 2:a+b 3:a 4:", ready: "a true, b false"},
		{what: "the site lists one", space: appliance.GroupSpace{Mode: appliance.GroupsKept, Names: []string{"a", "b"}, PerDevice: 4, Declared: map[string][]string{"1": {"b"}, "2": {"b"}}},
			held: "1:a+b 2:a+b 3:a 4:", ready: "a true, b true"},
		{what: "groups are not kept", space: appliance.GroupSpace{Mode: appliance.GroupsUsed, Names: []string{"a", "b"}, PerDevice: 4}, held: "1: 2: 3: 4:", ready: " false,  false"},
		{what: "groups are off", space: appliance.GroupSpace{Mode: appliance.GroupsOff, Names: []string{"a", "b"}, PerDevice: 4}, held: "1: 2: 3: 4:"},
	} {
		g := &shelves{rig: newRig(t, 4, 0), space: row.space, held: map[string][]string{}}
		if row.change != nil {
			row.change(g)
		}
		g.begun(ids(1, 2, 3), ids(1, 2), ids(4))
		g.run(3 * time.Minute)
		if got := g.heldNow(); got != row.held {
			t.Errorf("%s: %s, want %s", row.what, got, row.held)
		}
		if row.space.Mode == appliance.GroupsOff {
			if len(g.talks)+len(g.saves) > 0 || len(g.view.Clusters) > 0 {
				t.Errorf("%s: %+v", row.what, g.talks)
			}
			continue
		}
		if c := g.view.Clusters; len(c) != 3 || fmt.Sprintf("%s %v, %s %v", c[0].Group, c[0].Ready, c[1].Group, c[1].Ready) != row.ready || c[2].Why != "one member on this bus" || !g.view.Surveyed {
			t.Errorf("%s: %+v, want %s", row.what, c, row.ready)
		}
		known := map[string]bool{}
		for i, talk := range g.talks {
			if talk.Kind == Changing && (!known["1"] || !known["4"] || !known[""]) {
				t.Errorf("%s: talk %d writes before all is known", row.what, i)
			}
			known[talk.Device] = true
		}
		for _, d := range g.view.Devices {
			there := d.Online && d.Known && !d.ReadAt.IsZero() && slices.Equal(d.Has, g.held[d.Device])
			if !there || d.Trouble != "" || !d.InStep {
				t.Errorf("%s: %+v", row.what, d)
			}
		}
		use := g.uses[len(g.uses)-1]
		if len(use.Unsure) > 0 {
			t.Errorf("%s: unsure of %v", row.what, use.Unsure)
		}
		for _, u := range use.Groups {
			for _, d := range []string{"1", "2", "3", "4"} {
				if slices.Contains(g.held[d], u.Name) != slices.Contains(u.Members, d) {
					t.Errorf("%s: group %s is used for %v, held by %s", row.what, u.Name, u.Members, g.heldNow())
				}
			}
		}
		if len(g.saves) > 0 {
			last := g.saves[len(g.saves)-1]
			if len(last.Tables) != 4 || !slices.IsSortedFunc(last.Claims, func(a, b appliance.GroupClaim) int { return int(a.Cluster) - int(b.Cluster) }) {
				t.Errorf("%s: saved %+v", row.what, last)
			}
			for _, table := range last.Tables {
				if !table.Known || !slices.Equal(table.Held, g.held[table.Device]) {
					t.Errorf("%s: saved %+v", row.what, table)
				}
			}
		}
	}
}

// begun configures a bus with clusters.
func (g *shelves) begun(clusters ...[]appliance.ID) {
	g.rig.carry = g.carry
	g.take(Configure{Wiring: g.wiringOf(), Afresh: true})
	g.take(Recall{})
	g.clusters(clusters...)
}

// The book says that a table is not known before its device is written, and until it was read again.
func TestATableIsUnknownWhileItIsWritten(t *testing.T) {
	g := &shelves{rig: newRig(t, 2, 0), space: kept("a"), held: map[string][]string{}}
	wrote := 0
	g.fails = func(c Converse) error {
		if c.Kind != Changing {
			return nil
		}
		wrote++
		last := g.saves[len(g.saves)-1]
		if i := slices.IndexFunc(last.Tables, func(t appliance.GroupTable) bool { return t.Device == c.Device }); i < 0 || last.Tables[i].Known || last.Tables[i].Writes != 1 {
			t.Errorf("device %s is written, and the book says %+v", c.Device, last)
		}
		if use := g.uses[len(g.uses)-1]; use.Groups != nil || !slices.Equal(use.Unsure, []string{c.Device}) {
			t.Errorf("device %s is written, and commands may use %+v", c.Device, use)
		}
		return nil
	}
	g.begun([]appliance.ID{1, 2})
	g.run(time.Minute)
	if wrote != 2 {
		t.Errorf("%d devices were written", wrote)
	}
	// A disk that is full: nothing is written, and it is tried again, not all the time.
	g = &shelves{rig: newRig(t, 2, 0), space: kept("a"), held: map[string][]string{}, full: true}
	g.begun([]appliance.ID{1, 2})
	g.run(65 * time.Second)
	if n := len(g.saves); len(g.talksOf(Changing)) > 0 || n < 5 || n > 8 {
		t.Errorf("with a disk that is full: %d written, %d tries to save", len(g.talksOf(Changing)), n)
	}
	g.full = false
	if g.run(time.Minute); g.heldNow() != "1:a 2:a" {
		t.Errorf("afterwards: %s", g.heldNow())
	}
}

// A device that does not keep its groups is written thrice, ever more rarely, and then left alone for a day; commands go to it by itself.
func TestADeviceThatForgetsIsNotWornOut(t *testing.T) {
	g := &shelves{rig: newRig(t, 2, 0), space: kept("a"), held: map[string][]string{}, loses: true}
	var at []time.Time
	g.fails = func(c Converse) error {
		if c.Kind == Changing && c.Device == "1" {
			at = append(at, g.now)
		}
		return nil
	}
	g.begun([]appliance.ID{1, 2})
	g.run(20 * time.Minute)
	g.now = g.now.Add(23 * time.Hour)
	g.run(time.Minute)
	if len(at) != 3 {
		t.Fatalf("written %d times within a day: %v", len(at), at)
	}
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute} {
		if gap := at[i+1].Sub(at[i]); gap < want || gap > want+10*time.Second {
			t.Errorf("written again after %v, want %v", gap, want)
		}
	}
	d := g.view.Devices[0]
	if !strings.Contains(d.Trouble, "does not keep its groups: it holds none") || d.InStep || len(d.Should) != 1 || g.view.Clusters[0].Ready || g.view.Clusters[0].Why != "not all members hold it, or others do" {
		t.Errorf("shown as %+v, %+v", d, g.view.Clusters[0])
	}
	g.now = at[2].Add(groupDay)
	g.run(time.Minute)
	if len(at) < 4 || at[3].Sub(at[2]) < groupDay {
		t.Errorf("written again after %v", at[len(at)-1].Sub(at[2]))
	}
}

// What cannot be read: a table that a device keeps to itself is what the site says; one that it does not tell now is asked for ever
// more rarely; that the bus went is nobody's fault.
func TestTablesThatAreNotTold(t *testing.T) {
	for _, row := range []struct {
		what    string
		err     error
		half    bool
		known   bool
		trouble string
		reads   int // in ten minutes
		said    string
	}{
		{what: "it is refused", err: appliance.ErrRefused, known: true, trouble: "keeps its group table to itself", reads: 1, said: "device keeps its group table to itself; the groups that its node lists are taken for true"},
		{what: "it is damaged", err: appliance.ErrDamaged, trouble: appliance.ErrDamaged.Error(), reads: 4, said: "group table of a device cannot be read or written; it is commanded by itself"},
		{what: "it is not whole", half: true, trouble: "its table is not whole", reads: 4, said: "group table of a device cannot be read or written; it is commanded by itself"},
	} {
		g := &shelves{rig: newRig(t, 2, 0), half: row.half, held: map[string][]string{}, space: appliance.GroupSpace{Mode: appliance.GroupsKept, Names: []string{"a"}, PerDevice: 4, Declared: map[string][]string{"1": {"d"}, "2": {"d"}}}}
		g.fails = func(c Converse) error {
			if c.Device == "1" {
				return row.err
			}
			return nil
		}
		g.begun([]appliance.ID{1, 2})
		g.run(10 * time.Minute)
		d := g.view.Devices[0]
		if d.Known != row.known || !strings.Contains(d.Trouble, row.trouble) || row.known && !slices.Equal(d.Has, []string{"d"}) || !row.known && d.Has != nil {
			t.Errorf("%s: %+v", row.what, d)
		}
		reads := 0
		for _, talk := range g.talksOf(Reading) {
			if talk.Device == "1" {
				reads++
			}
		}
		said := 0
		for _, l := range g.said {
			if l.Text == row.said && l.Args[1] == "1" {
				said++
			}
		}
		if reads != row.reads || said != 1 {
			t.Errorf("%s: read %d times, want %d; said %d times", row.what, reads, row.reads, said)
		}
		if unsure := g.uses[len(g.uses)-1].Unsure; slices.Contains(unsure, "1") == row.known {
			t.Errorf("%s: unsure of %v", row.what, unsure)
		}
	}
}

// An installer's order has the tables brought in step now, whether or not they are kept, and says how that went.
func TestAnOrderToBringTablesInStep(t *testing.T) {
	for _, row := range []struct {
		what   string
		change func(*shelves)
		err    string // empty: in step
		held   string
		told   []string
	}{
		{what: "all is well", held: "1:a 2:a", told: []string{"1 reading", "2 reading", " looking for devices outside the site", "1 writing: into a", "1 in step", "2 writing: into a", "2 in step"}},
		{what: "one is offline", change: func(g *shelves) { g.things[0].answers = g.silent; g.run(time.Minute) }, err: "not in step: 1 is offline", held: "1: 2:a"},
		{what: "one does not tell its table", change: func(g *shelves) {
			g.fails = func(c Converse) error {
				if c.Device == "1" {
					return appliance.ErrDamaged
				}
				return nil
			}
		}, err: "not in step: 1 ", held: "1: 2:a"},
		{what: "one does not keep it", change: func(g *shelves) { g.loses = true }, err: "does not keep its groups", held: "1: 2:"},
		{what: "the bus goes", change: func(g *shelves) {
			g.after(50*time.Millisecond, func() { g.down = appliance.ErrBusDown })
		}, err: appliance.ErrBusDown.Error(), held: "1: 2:"},
	} {
		g := &shelves{rig: newRig(t, 2, 0), space: appliance.GroupSpace{Mode: appliance.GroupsUsed, Names: []string{"a"}, PerDevice: 4}, held: map[string][]string{}}
		g.begun([]appliance.ID{1, 2})
		g.run(30 * time.Second)
		if row.change != nil {
			row.change(g)
		}
		g.progress, g.ordered = nil, nil
		g.take(Order{})
		g.run(2 * time.Minute)
		if len(g.ordered) != 1 {
			t.Errorf("%s: told %d times how it went", row.what, len(g.ordered))
			continue
		}
		if err := g.ordered[0].Err; (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v, want %q", row.what, err, row.err)
		}
		if got := g.heldNow(); got != row.held {
			t.Errorf("%s: %s, want %s", row.what, got, row.held)
		}
		var told []string
		for _, p := range g.progress {
			told = append(told, p.Device+" "+p.What)
		}
		if row.told != nil && !slices.Equal(told, row.told) {
			t.Errorf("%s: told %q, want %q", row.what, told, row.told)
		}
	}
	g := &shelves{rig: newRig(t, 2, 0), space: kept("a"), held: map[string][]string{}}
	g.begun([]appliance.ID{1, 2})
	why := errors.New("nobody waits")
	g.take(Order{})
	g.take(CountermandOrder{why})
	if g.take(CountermandOrder{why}); len(g.ordered) != 1 || g.ordered[0].Err != why {
		t.Errorf("taken back: %+v", g.ordered)
	}
}

// What was known before a restart is used at once and read again; a device that was away may be another.
func TestWhatIsRememberedOfTables(t *testing.T) {
	g := &shelves{rig: newRig(t, 3, 0), space: kept("a", "b"), held: map[string][]string{"1": {"b"}, "2": {"b"}, "3": {"c"}}}
	g.rig.carry = g.carry
	g.take(Configure{Wiring: g.wiringOf(), Afresh: true})
	g.take(Recall{appliance.BusGroups{
		Claims: []appliance.GroupClaim{{Cluster: 1, Group: "b"}}, Leaving: []string{"c"},
		Tables: []appliance.GroupTable{{Device: "1", Held: []string{"b"}, Known: true}, {Device: "2", Held: []string{"b"}, Known: true}, {Device: "3", Held: []string{"c"}, Writes: 31, Since: noon}, {Device: "9", Known: true}},
	}})
	g.clusters([]appliance.ID{1, 2})
	use := g.uses[len(g.uses)-1]
	if len(use.Groups) != 1 || use.Groups[0].Name != "b" || !slices.Equal(use.Unsure, []string{"3"}) {
		t.Errorf("used at once: %+v", use)
	}
	if d := g.view.Devices[0]; !d.Known || !d.ReadAt.IsZero() {
		t.Errorf("as it was before: %+v", d)
	}
	g.run(time.Minute)
	if got := g.heldNow(); got != "1:b 2:b 3:" {
		t.Errorf("%s: a cluster keeps its group, and what is over is taken out", got)
	}
	if d := g.view.Devices[0]; d.ReadAt.IsZero() {
		t.Errorf("it was read again: %+v", d)
	}
	if g.s.groups.byName["3"].writes != 32 || len(g.s.groups.claims.leaving) > 0 {
		t.Errorf("written %d times today, leaving %v", g.s.groups.byName["3"].writes, g.s.groups.claims.leaving)
	}
	// One that goes offline, and comes back with another table.
	g.things[0].answers = g.silent
	g.run(30 * time.Second)
	if d := g.view.Devices[0]; d.Online || !d.Known {
		t.Errorf("offline: %+v", d)
	}
	g.held["1"] = nil
	g.things[0].answers = nil
	for range 400 {
		if g.run(50 * time.Millisecond); g.online[1] {
			break
		}
	}
	if use := g.uses[len(g.uses)-1]; len(use.Groups) > 0 || !slices.Contains(use.Unsure, "1") {
		t.Errorf("one that came back may be another: %+v", use)
	}
	g.run(time.Minute)
	if got := g.heldNow(); got != "1:b 2:b 3:" {
		t.Errorf("one that came back: %s", got)
	}
	// A frame to its group that it missed shows that its table may be another; read again in vain, ever more rarely.
	d := g.s.groups.byName["1"]
	m := &member{command: &Command{Wants: make([]appliance.Want, 2)}, target: appliance.Want{Ref: g.things[0].ref()}, writes: 1}
	for _, row := range []struct {
		what   string
		change func(p *piece, m *member)
		ago    time.Duration
		doubts int
		read   bool
	}{
		{"it missed one", func(*piece, *member) {}, groupDoubt, 0, true},
		{"it was read just now", func(*piece, *member) {}, groupDoubt - 1, 0, false},
		{"it was in vain before", func(*piece, *member) {}, groupDoubt, 1, false},
		{"it was in vain before, long ago", func(*piece, *member) {}, 2 * groupDoubt, 1, true},
		{"it was often in vain", func(*piece, *member) {}, groupPauseMost, 99, true},
		{"it was told by itself", func(p *piece, _ *member) { p.chain.Group = false }, time.Hour, 0, false},
		{"it was told again", func(_ *piece, m *member) { m.writes = 2 }, time.Hour, 0, false},
		{"it was meant alone", func(_ *piece, m *member) { m.command = &Command{Wants: make([]appliance.Want, 1)} }, time.Hour, 0, false},
	} {
		one := *m
		p := &piece{chain: appliance.Chain{Group: true}}
		row.change(p, &one)
		g.s.now = g.now
		d.table, d.readAt, d.doubts = tableRead, g.now.Add(-row.ago), row.doubts
		g.s.groups.doubt(p, &one)
		if read := !d.known(); read != row.read || read && d.doubts != row.doubts+1 {
			t.Errorf("%s: it is read again %v, doubted %d times", row.what, read, d.doubts)
		}
	}
}

// Entries of a table wear out: without an order a device gets 32 a day.
func TestWhatMayBeWrittenADay(t *testing.T) {
	for _, row := range []struct {
		what   string
		d      groupDevice
		n      int
		order  bool
		tried  bool
		may    bool
		writes int
	}{
		{what: "the first", n: 3, may: true, writes: 3},
		{what: "up to 32", d: groupDevice{writes: 29, since: noon}, n: 3, may: true, writes: 32},
		{what: "not more", d: groupDevice{writes: 30, since: noon}, n: 3, writes: 30},
		{what: "many at once, if they are the first", n: 60, may: true, writes: 60},
		{what: "a day later", d: groupDevice{writes: 32, since: noon.Add(-groupDay - 1)}, n: 3, may: true, writes: 3},
		{what: "before the day is over", d: groupDevice{writes: 32, since: noon.Add(-groupDay)}, n: 3, writes: 32},
		{what: "the clock was set back", d: groupDevice{writes: 32, since: noon.Add(1)}, n: 3, may: true, writes: 3},
		{what: "not before it is due", d: groupDevice{due: noon.Add(1)}, n: 3},
		{what: "counted already", d: groupDevice{armed: true, writes: 32, since: noon, due: noon.Add(time.Hour)}, n: 3, may: true, writes: 32},
		{what: "by an order", d: groupDevice{writes: 32, since: noon, due: noon.Add(time.Hour)}, n: 3, order: true, may: true, writes: 32},
		{what: "once an order", n: 3, order: true, tried: true},
	} {
		g := &shelves{rig: newRig(t, 1, 0), space: kept("a"), held: map[string][]string{}}
		g.begun()
		of := g.s.groups
		g.s.now = noon
		row.d.name = "1"
		if row.order {
			of.work.order = &groupOrder{tried: map[string]bool{"1": row.tried}}
		}
		if may := of.affordable(&row.d, row.n); may != row.may || row.d.writes != row.writes {
			t.Errorf("%s: %v, written %d; want %v, %d", row.what, may, row.d.writes, row.may, row.writes)
		}
		if worn := strings.Contains(row.d.trouble, "wears it out"); worn != (row.what == "not more" || row.what == "before the day is over") {
			t.Errorf("%s: %q", row.what, row.d.trouble)
		}
	}
	if writingWhat([]string{"a", "b"}, []string{"c"}) != "writing: into a b, out of c" || writingWhat(nil, []string{"c"}) != "writing: out of c" || orNone(nil) != "none" || orNone([]string{"a", "b"}) != "a b" {
		t.Error("what is written is not told as it is")
	}
}

// What becomes of a job of tables when one of its exchanges has ended: it goes on, is tried again, waits, or ends; and a device that
// was being written is one of which nothing is known.
func TestWhatBecomesOfAnExchangeOfTables(t *testing.T) {
	const goesOn, again, ends = "goes on", "again", "ends"
	for _, row := range []struct {
		what   string
		kind   TableKind
		err    error
		unsent bool
		tries  int
		is     string
		wait   time.Duration
		fails  int // of its device
	}{
		{what: "it was answered", kind: Reading, is: goesOn},
		{what: "it gave way before anything was sent", kind: Reading, err: appliance.ErrPreempted, unsent: true, tries: 9, is: again},
		{what: "it gave way too often after it was sent", kind: Reading, err: appliance.ErrPreempted, tries: 9, is: ends, fails: 1},
		{what: "this machine overslept", kind: Reading, err: appliance.ErrOverslept, tries: 9, is: again},
		{what: "silence", kind: Reading, err: appliance.ErrSilent, is: again},
		{what: "silence again and again", kind: Reading, err: appliance.ErrSilent, tries: 2, is: ends, fails: 1},
		{what: "it is busy", kind: Reading, err: appliance.ErrBusy, is: again, wait: 500 * time.Millisecond},
		{what: "the bus goes", kind: Reading, err: appliance.ErrBusDown, is: ends},
		{what: "it is late", kind: Reading, err: appliance.ErrExpired, is: ends},
		{what: "silence of what is written", kind: Changing, err: appliance.ErrSilent, tries: 2, is: ends, fails: 1},
		{what: "who writes is refused", kind: Changing, err: appliance.ErrRefused, is: ends, fails: 1},
		{what: "nobody else is there", kind: Surveying, err: appliance.ErrSilent, tries: 9, is: goesOn},
		{what: "the bus goes while others are looked for", kind: Surveying, err: appliance.ErrBusDown, is: ends},
	} {
		g := &shelves{rig: newRig(t, 2, 0), space: kept("a"), held: map[string][]string{}}
		g.begun([]appliance.ID{1, 2})
		g.run(time.Minute)
		on := g.s.groups
		j := &tableJob{kind: row.kind, tries: row.tries, step: &appliance.Exchange{Airtime: time.Second}}
		d := on.devices[0]
		if row.kind != Surveying {
			j.device, d.armed = d, row.kind == Changing
		}
		was := *d
		on.work.job, on.survey.at, g.s.actions = j, time.Time{}, nil
		var res appliance.Result
		if !row.unsent {
			res.Sent = g.s.now
		}
		on.judge(j, res, row.err)
		is := again
		for _, a := range g.s.actions {
			switch a.(type) {
			case Continue:
				is = goesOn
			case Hang:
				is = ends
			}
		}
		if is != row.is || (on.work.job == nil) != (is == ends) || (j.step == nil) != (is == goesOn) {
			t.Errorf("%s: it %s, want %s", row.what, is, row.is)
		}
		if cost := map[bool]time.Duration{true: time.Second}[row.err == nil]; j.cost != cost {
			t.Errorf("%s: it took %v", row.what, j.cost)
		}
		if row.wait > 0 && !j.notBefore.Equal(g.s.now.Add(row.wait)) || row.wait == 0 && j.notBefore.After(g.s.now) {
			t.Errorf("%s: not before %v", row.what, j.notBefore)
		}
		if d.fails != row.fails || (row.fails > 0) != d.due.After(g.s.now) || row.fails == 0 && d.trouble != was.trouble {
			t.Errorf("%s: the device failed %d times, due %v, %q", row.what, d.fails, d.due, d.trouble)
		}
		if row.kind == Changing && row.is == ends && (d.armed || d.known()) {
			t.Errorf("%s: its table counts as known", row.what)
		}
		if row.kind != Changing && d.table != was.table {
			t.Errorf("%s: what is known of its table has changed", row.what)
		}
		if row.kind == Surveying && row.is == ends && !on.survey.at.Equal(g.s.now.Add(groupPause)) {
			t.Errorf("%s: looked for again at %v", row.what, on.survey.at)
		}
		before := on.work.job
		g.s.actions = nil
		if on.judge(&tableJob{}, res, nil); len(g.s.actions) > 0 || on.work.job != before {
			t.Errorf("%s: the end of another's job did something", row.what)
		}
	}
}

// A job goes on beside another site, but for a device that is another there: what is heard then is not of it.
func TestAJobOfTablesAndAnotherSite(t *testing.T) {
	for what, same := range map[string]bool{"its device stays": true, "its device is another": false} {
		g := &shelves{rig: newRig(t, 2, 0), space: kept("a"), held: map[string][]string{}}
		g.begun([]appliance.ID{1, 2})
		g.run(time.Minute)
		on := g.s.groups
		d := on.devices[0]
		if !same {
			d = &groupDevice{name: d.name}
		}
		on.work.job, g.hung = &tableJob{kind: Reading, device: d, notBefore: g.now.Add(time.Hour)}, 0
		g.take(Configure{Wiring: g.wiringOf()})
		if (g.hung == 0) != same || (on.work.job != nil) != same {
			t.Errorf("%s: given up %d times", what, g.hung)
		}
	}
}

// What an order came to names five devices at most, and each with what is wrong.
func TestWhatAnOrderOfTablesCameTo(t *testing.T) {
	g := &shelves{rig: newRig(t, 8, 0), space: kept("a"), held: map[string][]string{}}
	g.begun([]appliance.ID{1, 2})
	g.run(time.Minute)
	on := g.s.groups
	if err := on.verdict(); err != nil {
		t.Error(err)
	}
	on.devices[2].table = tableUnknown
	if err := on.verdict(); err == nil || err.Error() != "not in step: 3 did not tell its table: not read" {
		t.Error(err)
	}
	on.devices[2].trouble = "it is broken"
	for _, d := range on.devices[3:7] {
		d.table = tableUnknown
	}
	if err := on.verdict(); err == nil || strings.Count(err.Error(), "did not tell") != 5 || !strings.Contains(err.Error(), "3 did not tell its table: it is broken;") || strings.Contains(err.Error(), "more") {
		t.Error(err)
	}
	on.devices[7].table = tableUnknown
	if err := on.verdict(); err == nil || strings.Count(err.Error(), "did not tell") != 5 || !strings.HasSuffix(err.Error(), "; and 1 more") {
		t.Error(err)
	}
}

// A group that nobody here made may be used where nobody but the devices of the site can be in it: on a bus whose every device is
// known, once it was looked for others.
func TestWhoseGroupsMayBeUsed(t *testing.T) {
	for _, row := range []struct {
		closed, looked bool
		strange        []string
		members        []string
		used           bool
	}{
		{true, true, nil, []string{"x"}, true}, {true, false, nil, []string{"x"}, false}, {false, true, nil, []string{"x"}, false},
		{true, true, []string{"x"}, []string{"x"}, false}, {true, true, []string{"y"}, []string{"x"}, true}, {true, true, nil, nil, false},
	} {
		g := &shelves{rig: newRig(t, 2, 0), space: appliance.GroupSpace{Names: []string{"a"}, PerDevice: 4, Closed: row.closed}, held: map[string][]string{"1": {"x"}, "2": row.members}, strange: row.strange}
		g.rig.carry = g.carry
		g.take(Configure{Wiring: g.wiringOf(), Afresh: true})
		g.run(time.Minute)
		g.s.groups.survey.looked = row.looked
		if use := g.s.groups.usable(); len(use.Groups) > 0 != row.used || len(use.Unsure) > 0 {
			t.Errorf("%+v: %+v", row, use)
		}
	}
}

// Clusters of a bus of shades are those of its shades' devices.
func TestClustersOfShades(t *testing.T) {
	for _, shades := range []bool{true, false} {
		g := &shelves{rig: newRig(t, 2, 2), space: kept("a"), held: map[string][]string{}}
		g.space.Shades = shades
		g.rig.carry = g.carry
		g.take(Configure{Wiring: g.wiringOf(), Afresh: true})
		list := g.s.groups.sectionsOf([]appliance.Cluster{{ID: 1, Name: "c", Nodes: []appliance.ID{1, 2}, Shades: []appliance.ID{5002, 5001, 5001, 5009}}, {ID: 2, Name: "none", Shades: []appliance.ID{5009}}})
		want := []string{"1", "2"}
		if shades {
			want = []string{"101", "102"}
		}
		if len(list) != 1 || list[0].cluster != 1 || !slices.Equal(list[0].members, want) {
			t.Errorf("shades %v: %+v, want %v", shades, list, want)
		}
	}
}
