package dmx

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
	"svc.internal/controller/sim/dmxsim"
)

// scanned is what a scan of a running driver tells, in order; during is called before every
// question.
func scanned(t *testing.T, d *Driver, opts appliance.ScanOptions, during func(what string)) (told []appliance.Found) {
	t.Helper()
	for step := range d.Scan(opts) {
		during(step.Address)
		res, err := step.Exchange.Do(t.Context(), appliance.Yield{})
		if f, ok := step.Judge(res, err); ok {
			told = append(told, f)
		}
	}
	return told
}

// Every RDM device is told as what it is, with whom it shares slots, and what the site says of
// the place where it is.
func TestScanTellsWhatDevicesAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maker = uint64(0x454E) << 32
		responders := []dmxsim.Responder{
			{UID: maker | 1, Start: 1, Footprint: 4, Model: 7, Label: "north"},
			{UID: maker | 2, Start: 10, Footprint: 3, Model: 8},
			{UID: maker | 3, Start: 0, Footprint: 0, Model: 9},
			{UID: maker | 4, Start: 13, Footprint: 1, Model: 7},
			{UID: maker | 5, Start: 14, Footprint: 1, Model: 7},
			{UID: maker | 6, Start: 2, Footprint: 4, Model: 7},
			{UID: maker | 7, Start: 100, Footprint: 77, Model: 7},
		}
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders}))
		p.put()
		d := openDriver(t, p, nil, appliance.Node{ID: 1, Address: "1", Profile: "dmx-rgbw"}, appliance.Node{ID: 2, Address: "10", Profile: "dmx-rgbw"},
			appliance.Node{ID: 3, Address: "200", Profile: "dmx-dimmer"}, appliance.Node{ID: 4, Address: "300", Profile: "dmx-dimmer"})
		told := map[string]appliance.Found{}
		for _, f := range scanned(t, d, appliance.ScanOptions{First: 0, Last: 299, AllSettings: true}, func(what string) {
			if what == UID(maker|5).String() { // found, and to be asked what it is
				responders[4].Damaged = true
				p.widget.SetResponders(responders)
			}
		}) {
			key := f.Serial
			if key == "" {
				key = strings.Fields(f.Detail)[0]
			}
			told[key] = f
		}
		uid := func(n uint64) string { return UID(maker | n).String() }
		for key, want := range map[string]struct {
			address, kind, label, detail string
			finding                      appliance.Finding
			lights                       int
		}{
			uid(1): {address: "1", kind: "dmx-rgbw", label: "north", detail: "model 0007, slots 1 to 4, personality 1 of 1", lights: 1},
			uid(2): {address: "10", kind: "dmx-rgb", detail: "slots 10 to 12, personality 1 of 1, and the site says dmx-rgbw, which takes 4", finding: appliance.FoundProfile, lights: 1},
			uid(3): {address: uid(3), detail: "model 0009, takes no slots"},
			uid(4): {address: "13", kind: "dmx-dimmer", detail: "slots 13 to 13, personality 1 of 1", lights: 1},
			uid(5): {address: uid(5), detail: "is there, but does not say what it is", finding: appliance.FoundDamaged},
			uid(6): {address: "2", kind: "dmx-rgbw", detail: "OVERLAPS with " + uid(1) + " at slot 2", finding: appliance.FoundCollision, lights: 1},
			uid(7): {address: "100", detail: "slots 100 to 176, personality 1 of 1"},
			"DMX":  {detail: "there are no other settings to try", finding: appliance.FoundNote},
			"1":    {detail: "1 start slots of the site have no RDM device", finding: appliance.FoundNote}, // 300 is not looked at
		} {
			f, ok := told[key]
			if !ok || f.Address != want.address || f.Kind != want.kind || f.Label != want.label || !strings.HasSuffix(f.Detail, want.detail) && !strings.Contains(f.Detail, want.detail+" ") && !strings.Contains(f.Detail, want.detail+":") || f.Finding != want.finding || f.Lights != want.lights {
				t.Errorf("%s: told %+v; want %+v", key, f, want)
			}
			if f.Finding.Trouble() != (f.Advice != "") {
				t.Errorf("%s: %q, and the advice %q", key, f.Finding, f.Advice)
			}
		}
		if len(told) != 9 {
			t.Errorf("%d things told: %+v", len(told), told)
		}

		responders[4].Damaged = false
		p.widget.SetResponders(responders)
		for _, row := range []struct {
			first, last int
			told        string
		}{
			{10, 13, uid(2) + " " + uid(3) + " " + uid(4)}, // at both ends, and one without slots
			{11, 12, uid(3)},
			{200, 300, uid(3) + " 2 start slots of the site have no RDM device"},
			{201, 299, uid(3)},
		} {
			told := ""
			for _, f := range scanned(t, d, appliance.ScanOptions{First: row.first, Last: row.last}, func(string) {}) {
				if what, _, _ := strings.Cut(f.Detail, ":"); f.Serial == "" {
					told += " " + what
				} else {
					told += " " + f.Serial
				}
			}
			if told = strings.TrimSpace(told); told != row.told {
				t.Errorf("from slot %d to %d: told %q, want %q", row.first, row.last, told, row.told)
			}
		}
	})
}

// Fixtures that touch share nothing, and one that is asked twice does not overlap with itself.
func TestWhoOverlaps(t *testing.T) {
	for _, row := range []struct {
		start, size int
		uid         UID
		same        bool
		at          int // the first slot that they share; 0: none
	}{{14, 4, 2, false, 0}, {6, 4, 2, false, 0}, {13, 4, 2, false, 13}, {7, 4, 2, false, 10}, {10, 4, 2, true, 0}, {10, 3, 2, false, 10}, {10, 4, 1, false, 0}, {1, 512, 2, false, 10}} {
		s := search{owner: map[int]fixture{}}
		var first, f appliance.Found
		s.overlap(&first, fixture{1, 10, 4})
		s.overlap(&f, fixture{row.uid, row.start, row.size})
		if (f.Finding == appliance.FoundCollision) != (row.at != 0) || row.at != 0 && !strings.Contains(f.Detail, fmt.Sprintf("at slot %d", row.at)) || strings.Contains(f.Detail, "does the same") != row.same {
			t.Errorf("%+v: %q, %s", row, f.Detail, f.Finding)
		}
	}
}

// What was odd in a search is told with what to do; a search that was given up says nothing
// of who is missing.
func TestWhatASearchAsAWholeShowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const twice = uint64(0x454E)<<32 | 1
		for name, row := range map[string]struct {
			responders []dmxsim.Responder
			want       map[appliance.Finding]string
		}{
			"two with one UID": {[]dmxsim.Responder{{UID: twice, Start: 1, Footprint: 1, NeverMutes: true}}, map[appliance.Finding]string{"": "RDM device", appliance.FoundCollision: "ANOTHER DEVICE has the same UID"}},
			"nobody":           {nil, map[appliance.Finding]string{appliance.FoundNote: "no RDM device answered"}},
		} {
			p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: row.responders}))
			p.put()
			d := openDriver(t, p, nil)
			told := map[appliance.Finding]string{}
			for _, f := range scanned(t, d, appliance.ScanOptions{}, func(string) {}) {
				told[f.Finding] = f.Detail
				if f.Finding == appliance.FoundCollision && (f.Address != UID(twice).String() || !strings.Contains(f.Advice, "unplug one")) {
					t.Errorf("%s: %+v", name, f)
				}
			}
			for finding, words := range row.want {
				if !strings.Contains(told[finding], words) {
					t.Errorf("%s: told %q, want %q of %q", name, told, finding, words)
				}
			}
		}
		d := &Driver{starts: map[int]*Profile{5: nil}}
		var told []appliance.Found
		given := discovery{steps: searchSteps + 1, odd: []oddity{{appliance.FoundDamaged, 5, "answers are garbled"}}}
		for step := range scanPart(func(s *search) { s.driver, s.devices, s.last = d, given, 512; s.conclude() }) {
			f, _ := step.Judge(appliance.Result{}, nil)
			told = append(told, f)
		}
		if len(told) != 2 || told[0].Finding != appliance.FoundDamaged || told[0].Address != UID(5).String() || !strings.Contains(told[0].Advice, "termination") || told[1].Finding != appliance.FoundHindered || !strings.Contains(told[1].Detail, "given up") || told[1].Advice == "" {
			t.Errorf("given up: told %+v", told)
		}
	})
}

// To find out what a port is, a widget is asked for its parameters and nothing else; an Open
// DMX port is silent whatever is on it.
func TestScanThatFindsOutWhetherAWidgetIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, row := range []struct {
			open, mute bool
			told       int
		}{{told: 1}, {mute: true}, {open: true}} {
			p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: crowd(1, 1)}))
			p.open = row.open
			p.put()
			options := map[string]string{}
			if row.open {
				options["interface"] = "open-dmx"
			}
			d := openDriver(t, p, options)
			p.widget.SetFaults(dmxsim.Faults{NoParameters: row.mute})
			told := scanned(t, d, appliance.ScanOptions{FindOut: []appliance.LineSettings{}}, func(string) {})
			if len(told) != row.told || row.told == 1 && (!told[0].Gateway || told[0].Finding != "") {
				t.Errorf("%+v: told %+v", row, told)
			}
			if n := p.widget.Counters().ByLabel[11] + p.widget.Counters().ByLabel[7]; n > 0 {
				t.Errorf("%+v: %d RDM questions", row, n)
			}
		}
	})
}

// Lamps that stay when the site changes keep what they were sent, and new ones have what is
// known of them from before; slots of those that are gone go dark with the next frame.
func TestAChangedSiteKeepsWhatLampsWereSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlug(t, mustWidget(t, dmxsim.Config{}))
		p.put()
		node := func(id appliance.ID, slot string) appliance.Node {
			return appliance.Node{ID: id, Address: slot, Profile: "dmx-dimmer"}
		}
		d := openDriver(t, p, nil, node(1, "1"), node(2, "2"))
		to := func(id appliance.ID, l appliance.Level) error {
			_, err := d.apply(t.Context(), appliance.Yield{}, []appliance.Want{{
				Ref: appliance.Ref{Node: id, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: l},
			}})
			return err
		}
		if err := errors.Join(to(1, 20), to(2, 40)); err != nil {
			t.Fatal(err)
		}
		cfg := appliance.BusConfig{
			Bus: appliance.Bus{Name: "stage", Driver: "dmx", Port: p.path}, Nodes: []appliance.Node{node(2, "2"), node(3, "30"), node(4, "40")},
			Last: func(ref appliance.Ref) (appliance.Values, bool) {
				return appliance.Values{Has: appliance.CanDim, Level: 60}, ref.Node == 3 || ref.Node == 2
			},
		}
		if o, ok := d.Configure(cfg); !ok || o.Driver != appliance.Driver(d) || len(o.Channels) != 3 {
			t.Fatalf("%+v, %v", o, ok)
		}
		time.Sleep(2 * time.Second)
		for slot, want := range map[int]byte{1: 0, 2: 102, 30: 153, 40: 0} {
			if v, _ := p.widget.Slot(slot); v != want {
				t.Errorf("slot %d is at %d, want %d", slot, v, want)
			}
		}
		if err := to(4, 100); err != nil {
			t.Error(err)
		}
		time.Sleep(100 * time.Millisecond)
		if v, _ := p.widget.Slot(40); v != 255 {
			t.Errorf("the new lamp is at %d", v)
		}
		cfg.Bus.Options = map[string]string{"rate": "x"}
		if _, ok := d.Configure(cfg); ok || len(d.order) != 3 {
			t.Errorf("a wrong option: taken %v, %d lamps", ok, len(d.order))
		}
	})
}

// scanPart goes through a part of a scan.
func scanPart(part func(*search)) iter.Seq[appliance.ScanStep] {
	return scan.Steps(func(c *scan.Course) { part(&search{Course: c, seen: map[int]bool{}}) })
}
