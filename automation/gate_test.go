package automation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/cloud/wire"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// sealed makes a widget event as the platform sends it.
func sealed(t testing.TB, env wire.Envelope, a wire.WidgetAction) []byte {
	t.Helper()
	env.Type = wire.TypeWidget
	b, err := env.Seal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func at(ts time.Time, life time.Duration) wire.Envelope {
	exp := ts.Add(life)
	return wire.Envelope{ID: fmt.Sprint(ts.UnixNano()), TS: ts, Exp: &exp}
}

func power(value string) wire.WidgetAction {
	return wire.WidgetAction{DeviceID: "room", PanelID: wire.ControlsPanel, WidgetID: wire.LightPower, Action: wire.Changed, Value: value, Origin: wire.OriginPanel}
}

// pass sends an event through a gate at a time of day and returns the verdict.
func pass(t *testing.T, g *gate, env wire.Envelope, now time.Time, retained bool) verdict {
	t.Helper()
	m := Message{Payload: sealed(t, env, power("on")), Retained: retained, At: now}
	ev, _, err := open(m)
	if err != nil {
		t.Fatal(err)
	}
	return g.admit(&ev, m)
}

func TestOnlyWhatIsNewAndInTimePasses(t *testing.T) {
	start := noon.Add(-time.Hour)
	noExp := wire.Envelope{ID: "1", TS: noon}
	for name, c := range map[string]struct {
		env      wire.Envelope
		now      time.Time
		retained bool
		want     wire.AckStatus
	}{
		"in time":                          {at(noon, wire.Lifetime), noon.Add(time.Second), false, ""},
		"in time, the longest life":        {at(noon, wire.MaxLifetime), noon, false, ""},
		"retained":                         {at(noon, wire.Lifetime), noon, true, wire.Rejected},
		"without exp":                      {noExp, noon, false, wire.Rejected},
		"exp over a minute after ts":       {at(noon, wire.MaxLifetime+time.Second), noon, false, wire.Rejected},
		"exp over a minute away":           {at(noon.Add(time.Hour), wire.Lifetime), noon, false, wire.Rejected},
		"after exp":                        {at(noon, wire.Lifetime), noon.Add(wire.Lifetime), false, wire.Expired},
		"exp before ts":                    {at(noon, -time.Second), noon, false, wire.Expired},
		"made before the controller began": {at(start.Add(-time.Second), 30*time.Second), start, false, wire.Expired},
		"made before that, and too late":   {at(start.Add(-time.Second), 3*time.Second), start.Add(time.Minute), false, wire.Expired},
	} {
		v := pass(t, newGate(start), c.env, c.now, c.retained)
		if v.status != c.want || v.silent != strings.HasPrefix(name, "made before") {
			t.Errorf("%s: got %+v, want %q", name, v, c.want)
		}
	}
}

// A clock that is an hour slow must neither stop the panel nor let anything old act.
func TestAWrongClockIsMeasured(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		now := noon.Add(off) // what this controller takes noon for
		g := newGate(now.Add(-time.Minute))
		g.clock(noon, now)
		if v := pass(t, g, at(noon, wire.Lifetime), now, false); v.status != "" {
			t.Errorf("clock off by %v: %+v", off, v)
		}
		late := at(noon.Add(time.Second), wire.Lifetime)
		if v := pass(t, g, late, now.Add(wire.Lifetime+2*time.Second), false); v.status != wire.Expired {
			t.Errorf("clock off by %v: late event: %+v", off, v)
		}
		if v := pass(t, g, at(noon.Add(-2*time.Minute), wire.MaxLifetime), now.Add(-70*time.Second), false); v.status != wire.Expired {
			t.Errorf("clock off by %v: event from before the start: %+v", off, v)
		}
	}
	g := newGate(noon.Add(-time.Minute))
	g.clock(noon.Add(4*time.Second), noon) // small errors are the network's
	if g.skew != 0 {
		t.Errorf("skew %v", g.skew)
	}
}

func TestSequenceIsKeptPerWidgetAndEpoch(t *testing.T) {
	g := newGate(noon.Add(-time.Hour))
	n := 0
	send := func(widget, epoch string, number int64) wire.AckStatus {
		n++
		env := at(noon.Add(time.Duration(n)), wire.Lifetime)
		env.Seq, env.Epoch = number, epoch
		a := power("on")
		a.WidgetID = widget
		m := Message{Payload: sealed(t, env, a), At: noon}
		ev, _, err := open(m)
		if err != nil {
			t.Fatal(err)
		}
		return g.admit(&ev, m).status
	}
	for i, c := range []struct {
		widget, epoch string
		number        int64
		want          wire.AckStatus
	}{
		{"a", "e", 5, ""},
		{"a", "e", 4, wire.Stale},
		{"a", "e", 5, wire.Stale}, // same number, another id
		{"b", "e", 4, ""},
		{"a", "f", 1, ""}, // another platform, or one restored from a backup
		{"a", "e", 6, ""},
		{"a", "f", 1, wire.Stale},
		{"a", "e", 0, ""}, // order does not matter
	} {
		if got := send(c.widget, c.epoch, c.number); got != c.want {
			t.Errorf("step %d %+v: got %q", i, c, got)
		}
	}
}

func TestDuplicatesAreRememberedWithWhatBecameOfThem(t *testing.T) {
	g := newGate(noon.Add(-time.Hour))
	env := at(noon, wire.Lifetime)
	if v := pass(t, g, env, noon, false); v.status != "" {
		t.Fatalf("%+v", v)
	}
	if v := pass(t, g, env, noon, false); v.status != wire.Duplicate || v.first != "" {
		t.Errorf("under way: %+v", v)
	}
	g.done(env.ID, wire.Failed)
	if v := pass(t, g, env, noon, false); v.status != wire.Duplicate || v.first != wire.Failed {
		t.Errorf("done: %+v", v)
	}
	for i := range idsMost - 1 {
		pass(t, g, at(noon.Add(time.Duration(i+1)), wire.Lifetime), noon, false)
	}
	if v := pass(t, g, env, noon, false); v.status != wire.Duplicate {
		t.Errorf("after %d others: %+v", idsMost-1, v)
	}
	pass(t, g, at(noon.Add(time.Second), wire.Lifetime), noon, false)
	if len(g.ids) > idsMost || len(g.ring) > idsMost {
		t.Errorf("remembers %d IDs, %d in order", len(g.ids), len(g.ring))
	}
	// What is forgotten has expired long since.
	if v := pass(t, g, env, noon.Add(idsLast+time.Second), false); v.status != wire.Expired {
		t.Errorf("after ten minutes: %+v", v)
	}
}

func TestSequencesAreBounded(t *testing.T) {
	g := newGate(noon.Add(-time.Hour))
	for i := range seqsMost + 100 {
		now := noon.Add(time.Duration(i))
		env := at(now, wire.Lifetime)
		env.Seq, env.Epoch = 1, fmt.Sprint(i)
		pass(t, g, env, now, false)
	}
	if len(g.seqs) > seqsMost {
		t.Errorf("%d sequences", len(g.seqs))
	}
	last := at(noon.Add(time.Second), wire.Lifetime)
	last.Seq, last.Epoch = 1, fmt.Sprint(seqsMost+99)
	if v := pass(t, g, last, noon.Add(time.Second), false); v.status != wire.Stale {
		t.Errorf("the newest was forgotten: %+v", v)
	}
}

func TestWhatCannotBeReadIsAnsweredIfItHasAnID(t *testing.T) {
	for name, c := range map[string]struct{ payload, id string }{
		"malformed exp":  {`{"v":1,"id":"7","type":"widget.action","ts":"2026-11-22T12:00:00Z","exp":"soon","data":{}}`, "7"},
		"other version":  {`{"v":2,"id":"7"}`, "7"},
		"other type":     {`{"v":1,"id":"7","type":"ack","ts":"2026-11-22T12:00:00Z","data":{}}`, "7"},
		"data no object": {`{"v":1,"id":"7","type":"widget.action","ts":"2026-11-22T12:00:00Z","data":[]}`, "7"},
		"no id":          {`{"v":1}`, ""},
		"endless id":     {`{"v":1,"id":"` + strings.Repeat("7", 65) + `"}`, ""},
		"nonsense":       {`7{`, ""},
	} {
		_, id, err := open(Message{Payload: []byte(c.payload)})
		if err == nil || id != c.id {
			t.Errorf("%s: got id %q, error %v", name, id, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"1","type":"widget.action","ts":"2026-11-22T12:00:00Z","exp":"2026-11-22T12:00:10Z","data":{"panelId":"platformControls","widgetId":"light_brightness","action":"released","value":"128"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := Message{Payload: b, At: noon}
		ev, _, err := open(m)
		if err != nil {
			return
		}
		g := newGate(noon.Add(-time.Hour))
		if v := g.admit(&ev, m); v.status == "" && (ev.deadline.IsZero() || ev.deadline.Sub(noon) > wire.MaxLifetime) {
			t.Errorf("passed until %v", ev.deadline)
		}
		_, _, _ = read(ev.WidgetAction)
	})
}
