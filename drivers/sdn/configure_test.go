package sdn

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// A motor that stays when the site changes is known as before, and goes by what the site
// says of it now; the new one may have an answer to somebody else under way.
func TestAChangedSiteKeepsWhatIsKnownOfMotors(t *testing.T) {
	d := fleet(t, nil, "", "")
	stays := d.site.all[1]
	stays.takeStatus(status{State: stateBlocked, Cause: 0x20}, time.Now())
	nodes := []appliance.Node{
		{ID: 7, Address: "06.1A.01", Profile: "somfy-sdn-40ac"}, {ID: 8, Address: "06.1A.05", Profile: "somfy-sdn"}, {ID: 9, Address: "06.1A.00", Profile: "somfy-sdn"},
	}
	shades := []appliance.Shade{{ID: 5007, Node: 7, Output: 1, Inverted: true}, {ID: 5008, Node: 8, Output: 1}}
	o, ok := d.Configure(busConfig(nil, nodes, shades))
	if !ok || o.Driver != appliance.Driver(d) {
		t.Fatalf("taken %v", ok)
	}
	if d.motor(stays.address) != stays || len(d.Troubles()) != 1 {
		t.Error("what was known of a motor that stays is lost")
	}
	opens := []appliance.Want{{Ref: appliance.Ref{Shade: 5007}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Open}}}
	if wishes, failing := d.wishes(opens); len(failing) > 0 || wishes[0].motor != stays || wishes[0].order.fn != toDownLimit {
		t.Errorf("the shade that it moves now: %+v, %+v; want it to go down to open", wishes, failing)
	}
	if f := d.tell(stays, order{id: ctrlStop}).frame(); f.To != 9 {
		t.Errorf("addressed as type %d, want that of its new profile", f.To)
	}
	if _, failing := d.wishes(want(appliance.Open, 0, 0, 1)); len(failing) != 2 {
		t.Errorf("%d shades that the site does not have any more can be moved", 2-len(failing))
	}
	if _, none := d.site.shades[0]; none || len(d.site.shades) != 2 {
		t.Errorf("shades %v, want two: nothing hangs off one of the motors", d.site.shades)
	}
	answer := Frame{ID: ack, Destination: d.options.host}
	for _, a := range []string{"06.1A.01", "06.1A.05"} {
		answer.Source, _ = ParseAddress(a)
		d.hear(answer)
		if m := d.motor(answer.Source); m.driver != d || m.twin != (m == stays) {
			t.Errorf("%s answers what nobody asked: twin %v", a, m.twin)
		}
	}

	if _, ok := d.Configure(busConfig(map[string]string{"quiet": "1"}, nil, nil)); ok || len(d.Polls()) != 6 {
		t.Errorf("a site with a wrong option: taken %v, %d polls", ok, len(d.Polls()))
	}
}

// What exchanges are announced to take is what their frames last: 2.29 ms a character, with
// the silence before, and the answer when it comes on average, or at the latest.
func TestWhatExchangesAreAnnouncedToTake(t *testing.T) {
	d := fleet(t, nil, "")
	m := d.site.all[0]
	var text string
	var group Address
	label, _ := d.SetLabel(m.address, "South")
	write, _ := d.SetGroup(m.address, 0, Nobody)
	wink, _ := d.Identify(m.key)
	for what, row := range map[string]struct {
		appliance.Exchange
		out, back int // characters
	}{
		"status": {d.Polls()[0].Exchange, 11, 15}, "position": {d.Polls()[1].Exchange, 11, 16}, "a move": {d.exchange(d.tell(m, order{id: ctrlMoveTo})), 15, 12},
		"a stop": {d.exchange(d.tell(m, order{id: ctrlStop})), 12, 12}, "wink": {wink, 11, 12}, "label": {d.ReadLabel(m.address, &text), 11, 27}, "writing it": {label, 27, 12},
		"version": {d.ReadVersion(m.address, &text), 11, 17}, "limits": {d.ReadLimits(m.address, new(Limits)), 11, 15},
		"a group": {d.ReadGroup(m.address, 0, &group), 12, 15}, "writing it there": {write, 15, 12},
	} {
		lasts := time.Duration(row.out+row.back) * (11 * time.Second / 4800)
		usual, most := 25*time.Millisecond+lasts+130*time.Millisecond, 25*time.Millisecond+lasts+300*time.Millisecond
		if row.Airtime != usual || row.Worst != most || row.Late != 100*time.Millisecond || row.Device != m.key {
			t.Errorf("%s of %s: %v, at worst %v, late by %v; want %v, %v", what, row.Device, row.Airtime, row.Worst, row.Late, usual, most)
		}
	}
	if refs := d.Polls()[1].Refs; len(refs) != 1 || refs[0].Shade != 5001 {
		t.Errorf("the position is that of %v, want shade 5001", refs)
	}
}

// The list of profiles says what each is for.
func TestProfilesAreListedAsWhatTheyAre(t *testing.T) {
	titles := map[string]string{}
	for _, p := range Profiles() {
		titles[p.Name] = p.Title
	}
	if len(titles) != len(profiles) || titles["somfy-sdn"] != "motor of any type" || titles["somfy-sdn-glydea"] != "Glydea" {
		t.Errorf("%v", titles)
	}
}
