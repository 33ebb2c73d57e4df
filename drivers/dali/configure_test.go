package dali

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim/dalisim"
)

// What is known of gear stays when the site changes, and gear of which the site says something else now goes by that.
func TestGearGoesByWhatTheSiteSaysNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, nil), Speed: 100})
		nodes := nodesOf(2, "dali-dt6")
		d := r.driver("atx", nodes...)
		for _, g := range d.known() {
			g.inGroups, g.silent, g.failure = 1<<3, 2, "lamp failure"
		}
		same, changed := d.known()[0], d.known()[1]
		nodes[0].Name = "Lamp by the door"
		nodes[1].Options = map[string]string{"fade": "4s"}
		out, ok := d.Configure(appliance.BusConfig{Bus: r.bus("atx", nil), Nodes: nodes})
		if !ok || out.Driver != appliance.Driver(d) || len(d.known()) != 2 {
			t.Fatalf("%+v, %v", out, ok)
		}
		if g := d.known()[0]; g != same || g.title != nodes[0].Name {
			t.Errorf("gear of which only the name changed is %+v", g)
		}
		if g := d.known()[1]; g == changed || g.fade == changed.fade || g.inGroups != 1<<3 || g.silent != 2 || g.failure != "lamp failure" {
			t.Errorf("gear that fades otherwise now is %+v, was %+v", g, changed)
		}
	})
}

// Options that a profile has no use for, or that say nothing, are errors that name them; the range of colour temperatures is that
// of the site where it says one.
func TestOptionsFitTheProfile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile string
		options map[string]string
		why     string // empty: they do
	}{
		{"dali-dt6", map[string]string{"kelvinMin": "3000"}, "no colour temperature"},
		{"dali-dt8-tc", map[string]string{"kelvinMin": "3000", "kelvinMax": "5000"}, ""},
		{"dali-dt8-tc", map[string]string{"kelvinMin": "5000", "kelvinMax": "3000"}, "must be lower"},
		{"dali-switch", map[string]string{"minLevel": "10"}, "only switches"},
		{"dali-dt6", map[string]string{"minLevel": "10"}, ""},
	} {
		nodes := nodesOf(1, c.profile)
		nodes[0].Options = c.options
		o, err := OpenOn(appliance.BusConfig{Bus: appliance.Bus{Name: "attic", Driver: "dali", Port: "/gateway", Options: map[string]string{"gateway": "atx"}}, Nodes: nodes}, (&cable.Net{}).Ports())
		if err != nil {
			t.Fatal(err)
		}
		switch broken := o.BrokenNodes[1]; {
		case c.why == "" && broken != nil:
			t.Errorf("%s %v: %v", c.profile, c.options, broken)
		case c.why != "" && (broken == nil || !strings.Contains(broken.Error(), c.why)):
			t.Errorf("%s %v: %v, want %q", c.profile, c.options, broken, c.why)
		}
		if c.why == "" && c.options["kelvinMin"] != "" {
			if p := o.Driver.(*Driver).known()[0].profile; p.kelvinMin != 3000 || p.kelvinMax != 5000 {
				t.Errorf("%v: from %d to %d K", c.options, p.kelvinMin, p.kelvinMax)
			}
		}
	}
}

// Lists of groups are compared, so they have one order: that of the core, by text.
func TestGroupsAreListedByText(t *testing.T) {
	if got := groupNames(1<<2 | 1<<10 | 1<<0); !slices.IsSorted(got) || len(got) != 3 {
		t.Errorf("%q, want 0, 10 and 2 by text", got)
	}
}
