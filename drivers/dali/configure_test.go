package dali

import (
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
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
