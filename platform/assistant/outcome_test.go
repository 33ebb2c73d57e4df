package assistant

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sitetest"
)

// answering is a building whose controller answers orders with an outcome.
type answering struct {
	*house
	out platform.Outcome
}

func (a *answering) Act(ctx context.Context, controller string, cluster int64, do platform.Action) (platform.Outcome, error) {
	return a.out, nil
}

// ordered gives an order, says yes, and returns what is said of it; then changes the building and asks something else.
func ordered(t *testing.T, a *answering, order, yes string, then func()) (first, later string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Sites: a, Act: a, History: sitetest.NewHistory(), Settle: 2 * time.Second, Now: func() time.Time { return sitetest.Now }, Log: slog.New(slog.DiscardHandler)})
		ask(t, e, platform.Inquiry{Session: "s", Message: order, Control: true})
		first = ask(t, e, platform.Inquiry{Session: "s", Message: yes, Control: true}).Text
		if then != nil {
			then()
		}
		later = ask(t, e, platform.Inquiry{Session: "s", Message: "is the controller online?", Control: true}).Text
	})
	return first, later
}

func TestWhatBecameOfAnOrderIsToldInThreeWords(t *testing.T) {
	shade := func(a *answering, name string, change func(*platform.Device)) {
		for i := range a.DeviceList {
			if a.DeviceList[i].Name == name {
				change(&a.DeviceList[i])
			}
		}
	}
	var lobby []platform.Device
	for _, d := range sitetest.New().DeviceList {
		if d.Kind == platform.KindShade && d.Zones[0] == sitetest.Lobby {
			lobby = append(lobby, d)
		}
	}
	all := func(a *answering, change func(*platform.Device)) {
		for _, d := range lobby {
			shade(a, d.Name, change)
		}
	}
	stuck := platform.Exception{Kind: platform.KindShade, ID: lobby[1].ID, Name: lobby[1].Name, Why: "silent"}

	a := &answering{sitetest.New(), platform.Outcome{Done: true, Things: 2}}
	all(a, func(d *platform.Device) { d.Motion = "closing" })
	first, later := ordered(t, a, "close the lobby shades", "yes", func() { all(a, func(d *platform.Device) { d.Motion, d.Position.Value = "stopped", 0 }) })
	if first != "On its way: shades closed: Lobby." || !strings.Contains(later, "Of what you told me at 14:32: Done: shades closed: Lobby.") {
		t.Errorf("moving: %s\n%s", first, later)
	}
	if _, later = ordered(t, a, "close the lobby shades", "yes", nil); strings.Contains(later, "told me") {
		t.Errorf("what was done at once is told again: %s", later)
	}

	a = &answering{sitetest.New(), platform.Outcome{Detail: "shade 2: motor on bus facade (/dev/ttyUSB0): no answer", Things: 2, Not: []platform.Exception{stuck}}}
	shade(a, lobby[0].Name, func(d *platform.Device) { d.Motion, d.Position.Value = "stopped", 0 })
	if first, _ = ordered(t, a, "close the lobby shades", "yes", nil); first != "Done: shades closed: Lobby (1 of 2; "+stuck.Name+" does not answer)." {
		t.Errorf("one is silent: %s", first)
	}
	if first, _ = ordered(t, a, "schließe die Rollos in der Lobby", "ja", nil); first != "Erledigt: Rollos geschlossen: Lobby (1 von 2; "+stuck.Name+" antwortet nicht)." {
		t.Errorf("in German: %s", first)
	}
	both := a.out
	both.Not = []platform.Exception{{Kind: stuck.Kind, ID: lobby[0].ID, Name: lobby[0].Name, Why: "bus"}, stuck}
	a = &answering{sitetest.New(), both}
	if first, _ = ordered(t, a, "close the lobby shades", "yes", nil); !strings.HasPrefix(first, "Not done: shades closed: Lobby, ") || strings.Contains(first, "/dev") {
		t.Errorf("none: %s", first)
	}

	refused := platform.Exception{Kind: stuck.Kind, ID: stuck.ID, Name: stuck.Name, Why: "unconfirmed"}
	a = &answering{sitetest.New(), platform.Outcome{Things: 2, Not: []platform.Exception{refused}}}
	all(a, func(d *platform.Device) { d.Motion = "stopped" })
	if first, _ = ordered(t, a, "stop the lobby shades", "yes", nil); first != "Done: shades stopped: Lobby." {
		t.Errorf("a stop of what stands: %s", first)
	}
	a.out.Not[0].Why = "silent"
	if first, _ = ordered(t, a, "stop the lobby shades", "yes", nil); !strings.Contains(first, "does not answer") {
		t.Errorf("a stop that nobody heard: %s", first)
	}
}

// How long an answer waits for the reports that show it follows what the controller says of its hardware; one that says nothing is
// waited for as before.
func TestTheAnswerWaitsAsLongAsTheControllerSays(t *testing.T) {
	for _, test := range []struct{ within, reported, want time.Duration }{
		{0, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{0, 5 * time.Second, 2 * time.Second},
		{2100 * time.Millisecond, 5 * time.Second, 3100 * time.Millisecond},
		{7 * time.Second, 5 * time.Second, 5 * time.Second},
		{7 * time.Second, 20 * time.Second, 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &answering{sitetest.New(), platform.Outcome{Done: true, Things: 4, Within: test.within}}
			slow := &reporting{answering: a, after: test.reported}
			e := New(Config{Sites: slow, Act: a, History: sitetest.NewHistory(), Settle: 2 * time.Second, Now: func() time.Time { return sitetest.Now }, Log: slog.New(slog.DiscardHandler)})
			ask(t, e, platform.Inquiry{Session: "s", Message: "set the lobby to 31 %", Control: true})
			slow.began = time.Now()
			got := ask(t, e, platform.Inquiry{Session: "s", Message: "yes", Control: true}).Text
			took := time.Since(slow.began)
			if word := map[bool]string{true: "Done: ", false: "On its way: "}[test.reported <= test.want]; took < test.want || took > test.want+lookEvery || !strings.HasPrefix(got, word) {
				t.Errorf("%+v: %s after %v", test, got, took)
			}
		})
	}
}

// reporting is a building of which the platform hears some time after an order that its lights are at 31 %.
type reporting struct {
	*answering
	began time.Time
	after time.Duration
}

func (r *reporting) Devices(ctx context.Context, controller string) ([]platform.Device, error) {
	all, err := r.answering.Devices(ctx, controller)
	if r.began.IsZero() || time.Since(r.began) < r.after {
		return all, err
	}
	all = slices.Clone(all)
	for i := range all {
		if all[i].Level != nil {
			l := *all[i].Level
			l.Value = 31
			all[i].Level = &l
		}
	}
	return all, err
}

// When something was ordered is told in the time of the building, wherever the platform runs, and after a restart.
func TestWhenItWasOrderedIsTheBuildingsTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(Ordered{At: time.Date(2026, 11, 18, 13, 32, 0, 0, time.UTC).In(berlin)})
	if err != nil {
		t.Fatal(err)
	}
	var o Ordered
	if err := json.Unmarshal(kept, &o); err != nil {
		t.Fatal(err)
	}
	if got := o.ended("Done.", false, time.Date(2026, 11, 18, 13, 33, 0, 0, time.UTC)); got != "Of what you told me at 14:32: Done." {
		t.Error(got)
	}
}
