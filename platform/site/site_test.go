package site_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/platform/site"
	"svc.internal/controller/platform/store"
)

// house is a platform's site data of one controller.
type house struct {
	*site.Reader
	db *store.Store
	t  *testing.T
	in func(below string, typ wire.Type, retained bool, data any)
}

func open(t *testing.T) *house {
	t.Helper()
	db, err := store.Open(t.Context(), t.TempDir(), "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AddController(t.Context(), "house", "Main street 5", [32]byte{1}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Enrol(t.Context(), [32]byte{1}, func(id string) platform.Credential { return platform.Credential{Username: id, Controller: id} }); err != nil {
		t.Fatal(err)
	}
	r := site.NewRecorder(db, quota.NewBook(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; db.Close() })
	n := 0
	return &house{site.NewReader(db), db, t, func(below string, typ wire.Type, retained bool, data any) {
		t.Helper()
		n++
		b, err := wire.Envelope{ID: string(typ) + time.Now().String(), Type: typ, TS: time.Now()}.Seal(data)
		if err != nil {
			t.Fatal(err)
		}
		r.Take(t.Context(), site.Message{Controller: "house", Below: below, Payload: b, Retained: retained, At: time.Now()})
	}}
}

func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("still not: %s", what)
		}
	}
}

func (h *house) devices() []platform.Device {
	h.t.Helper()
	d, err := h.Devices(h.t.Context(), "house")
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func TestWhatIsReportedIsReadWithItsAge(t *testing.T) {
	h := open(t)
	if d := h.devices(); d == nil || len(d) != 0 {
		t.Errorf("before anything was reported: %#v", d)
	}
	if _, err := h.Devices(t.Context(), "nowhere"); !errors.Is(err, platform.ErrNotFound) {
		t.Errorf("an unknown controller: %v", err)
	}
	read := time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)
	yes := true
	h.in("up/state/node/7", wire.TypeState, true, wire.State{
		Kind: wire.KindNode, ID: 7, Name: "Lobby", Tag: "NODE", Clusters: []int64{3}, Abilities: []string{"dim"}, Online: &yes,
		Level: &wire.Value{Value: 40, At: read, Source: wire.Measured},
	})
	h.in("up/state/node/8", wire.TypeState, true, wire.State{Kind: wire.KindNode, ID: 8, Name: "Gone", Tag: "NODE", Online: &yes})
	h.in("up/state/node/127", wire.TypeState, true, wire.State{Kind: wire.KindNode, ID: 127, Name: "Meter", Tag: "PERIPHERAL", Online: &yes})
	h.in("up/state/cluster/3", wire.TypeState, true, wire.State{Kind: wire.KindCluster, ID: 3, Name: "Lobby"})
	h.in("up/state/site/0", wire.TypeState, true, wire.State{Kind: wire.KindSite, Name: "House", Site: &wire.Site{
		TimeZone: "Europe/Zurich", Floors: []wire.Floor{{Name: "Ground", Clusters: []int64{3}, AreaM2: 12}},
		Meters: []wire.Meter{{Node: 127, Covers: "lobby", Clusters: []int64{3}}}, NodeIDs: []int64{7, 127}, ClusterIDs: []int64{3},
	}})
	h.in("up/state/node/9", wire.TypeState, true, wire.State{Kind: wire.KindNode, ID: 10, Name: "Impostor"}) // on another's topic
	h.until("light and meter are known, and what is gone is not", func() bool { return len(h.devices()) == 2 })
	d := h.devices()[0]
	if d.ID != 7 || d.Kind != platform.KindLight || d.Floor != "Ground" || d.Level == nil || d.Level.Value != 40 || !d.Level.At.Equal(read) || d.Kelvin != nil {
		t.Errorf("got %+v level %+v", d, d.Level)
	}
	if m := h.devices()[1]; m.Kind != platform.KindPeripheral || m.Power != nil {
		t.Errorf("a meter that measured nothing yet: %+v", m)
	}
	// Read again, unchanged: only the age is another one.
	again := time.Now().UTC().Truncate(time.Microsecond)
	h.in("up/tele", wire.TypeTele, false, wire.Telemetry{
		Seen:    []wire.Seen{{Kind: wire.KindNode, ID: 7, At: again}},
		Samples: []wire.Sample{{Node: 127, Power: 412, At: again}, {Node: 127, Power: 9999, At: again.Add(24 * time.Hour)}},
	})
	h.until("the light's age is the new one", func() bool { return h.devices()[0].Level.At.Equal(again) })
	if m := h.devices()[1]; m.Power == nil || m.Power.Value != 412 || !m.Power.At.Equal(again) {
		t.Errorf("meter: %+v", m.Power)
	}
	if since, err := h.MeasuredSince(t.Context(), "house", 127); err != nil || !since.Equal(again) {
		t.Errorf("measured since %v %v", since, err)
	}
	if since, err := h.MeasuredSince(t.Context(), "house", 7); err != nil || !since.IsZero() {
		t.Errorf("the light measured since %v %v", since, err)
	}
	b, err := h.Building(t.Context(), "house")
	if err != nil || b.TimeZone != "Europe/Zurich" || len(b.Floors) != 1 || len(b.Meters) != 1 || b.Meters[0].Zones[0] != 3 {
		t.Errorf("building: %+v %v", b, err)
	}
	if z, err := h.Zones(t.Context(), "house"); err != nil || len(z) != 1 || z[0].Floor != "Ground" {
		t.Errorf("zones: %+v %v", z, err)
	}
}

func TestOnlyALiveBirthMakesAControllerOnline(t *testing.T) {
	h := open(t)
	online := func() bool {
		all, err := h.Controllers(t.Context())
		return err == nil && len(all) == 1 && all[0].Online
	}
	h.in("up/status", wire.TypeStatus, true, wire.Status{State: wire.Online, Boot: 1})
	h.in("up/event", wire.TypeEvent, false, wire.Event{Code: "node.offline", Kind: wire.KindNode, Thing: 7, At: time.Now()})
	events := func() []platform.Event {
		e, err := h.Events(t.Context(), "house", time.Now().Add(-time.Hour), time.Now().Add(time.Hour), 10)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	h.until("the event is there", func() bool { return len(events()) == 1 })
	if online() {
		t.Error("online because of what the broker had kept")
	}
	h.in("up/status", wire.TypeStatus, false, wire.Status{State: wire.Online, Boot: 2, Name: "House"})
	h.until("it is online", online)
	h.in("up/status", wire.TypeStatus, false, wire.Status{State: wire.Offline, Boot: 1}) // a slow will
	h.in("up/status", wire.TypeStatus, false, wire.Status{State: wire.Online, Boot: 3})
	h.in("up/status", wire.TypeStatus, true, wire.Status{State: wire.Offline, Boot: 3})
	h.until("it is offline", func() bool { return !online() })
	count := func() (came, went int) {
		for _, e := range events() {
			if e.Code == "controller.offline" && e.Cleared {
				came++
			} else if e.Code == "controller.offline" {
				went++
			}
		}
		return came, went
	}
	h.until("that is an event", func() bool { _, went := count(); return went > 0 })
	if came, went := count(); came != 1 || went != 1 {
		t.Errorf("it came %d times and went %d times", came, went)
	}
}

// What does not answer is counted with what there is: neither what a site has no more, nor
// what somebody else has, nor a zone.
func TestDevicesThatDoNotAnswerAreCounted(t *testing.T) {
	h := open(t)
	yes, no := true, false
	state := func(kind wire.Kind, topic string, id int64, online *bool) {
		h.in("up/state/"+topic, wire.TypeState, true, wire.State{Kind: kind, ID: id, Name: topic, Tag: "NODE", Online: online})
	}
	state(wire.KindNode, "node/7", 7, &yes)
	state(wire.KindNode, "node/8", 8, &no)
	state(wire.KindNode, "node/9", 9, nil) // nobody said that it answers
	state(wire.KindNode, "node/10", 10, &no)
	state(wire.KindShade, "shade/5001", 5001, &no)
	state(wire.KindCluster, "cluster/3", 3, nil)
	h.in("up/state/site/0", wire.TypeState, true, wire.State{Kind: wire.KindSite, Name: "House", Site: &wire.Site{NodeIDs: []int64{7, 8, 9}, ShadeIDs: []int64{5001}}})
	counted := func() platform.Answering {
		t.Helper()
		all, err := site.Answering(t.Context(), h.db)
		if err != nil {
			t.Fatal(err)
		}
		return all["house"]
	}
	h.until("3 of 4 do not answer", func() bool { return counted() == platform.Answering{Devices: 4, Silent: 3} })
	state(wire.KindNode, "node/8", 8, &yes)
	h.until("2 of 4 do not answer", func() bool { return counted() == platform.Answering{Devices: 4, Silent: 2} })
	silent := 0
	for _, d := range h.devices() {
		if !d.Online {
			silent++
		}
	}
	if silent != counted().Silent {
		t.Errorf("the site's own page counts %d, the list %d", silent, counted().Silent)
	}
}

func TestWhatWasCommandedAndWhatChangedIsKept(t *testing.T) {
	h := open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	if l, err := h.Ledger(t.Context(), "house", now.Add(-time.Hour), now.Add(time.Hour), 10); err != nil || !l.Since.IsZero() {
		t.Errorf("before it was reported: %+v %v", l, err)
	}
	if _, err := h.Ledger(t.Context(), "nowhere", now, now, 10); !errors.Is(err, platform.ErrNotFound) {
		t.Errorf("an unknown controller: %v", err)
	}
	yes, no := true, false
	light := func(level float64, source wire.Source, online *bool) {
		h.in("up/state/node/7", wire.TypeState, false, wire.State{Kind: wire.KindNode, ID: 7, Tag: "NODE", Abilities: []string{"switch"}, Online: online,
			Level: &wire.Value{Value: level, At: time.Now(), Source: source}})
	}
	is := func(aspect platform.Aspect, kind string) (words []string) {
		t.Helper()
		all, err := h.Changes(t.Context(), "house", kind, aspect)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			words = append(words, c.Is)
		}
		return words
	}
	light(40, wire.Measured, &yes)
	light(60, wire.Measured, &yes)
	light(0, wire.Acknowledged, &yes)
	light(100, wire.Restored, &yes) // from before a restart: no news
	light(0, wire.Measured, &no)
	for _, position := range []float64{0, 40, 100} {
		h.in("up/state/shade/5001", wire.TypeState, false, wire.State{Kind: wire.KindShade, ID: 5001, Online: &yes, Position: &wire.Value{Value: position, At: time.Now(), Source: wire.Measured}})
	}
	h.in("up/state/node/127", wire.TypeState, false, wire.State{Kind: wire.KindNode, ID: 127, Abilities: []string{"measure"}, Online: &yes})
	part := wire.Ledger{Since: now.Add(-time.Minute), Until: now, Commands: []wire.Commanded{{ID: "a", At: now.Add(-time.Second), Done: now, Who: "ada", Via: "public-api", Do: "light-off", Kind: wire.KindCluster, Thing: 3, Things: 2}}}
	h.in("up/ledger", wire.TypeLedger, false, part)
	part.Until = now.Add(24 * time.Hour) // of a clock that is wrong
	h.in("up/ledger", wire.TypeLedger, false, part)
	part.Until, part.Commands = now, []wire.Commanded{{ID: "b", At: now.Add(24 * time.Hour), Do: "light-off"}}
	h.in("up/ledger", wire.TypeLedger, false, part)
	h.in("up/state/node/8", wire.TypeState, false, wire.State{Kind: wire.KindNode, ID: 8, Online: &yes})
	h.until("the last is saved", func() bool { return len(h.devices()) == 4 })
	if got := is(platform.Doing, "node"); !slices.Equal(got, []string{"unknown", "off", "on"}) {
		t.Errorf("the light was %q", got)
	}
	if got := is(platform.Doing, "shade"); !slices.Equal(got, []string{"open", "between", "closed"}) {
		t.Errorf("the shade was %q", got)
	}
	if got := is(platform.Reach, "node"); !slices.Equal(got, []string{"offline", "online", "online", "online"}) {
		t.Errorf("the nodes were %q", got)
	}
	l, err := h.Ledger(t.Context(), "house", now.Add(-time.Hour), now.Add(48*time.Hour), 10)
	if err != nil || !l.Until.Equal(now) || len(l.Commands) != 1 || l.Commands[0].Who != "ada" || l.Commands[0].Kind != "cluster" {
		t.Errorf("ledger: %+v %v", l, err)
	}
}
