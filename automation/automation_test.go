package automation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/drivers/drivertest"
)

// fanOut is how long every command takes at most.
const fanOut = 3456 * time.Millisecond

// house is a core whose commands take a while.
type house struct {
	site *control.Controller // for the snapshot
	slow time.Duration

	mu     sync.Mutex
	done   []appliance.Command
	when   []time.Time
	inside int
	most   int
}

func newHouse(slow time.Duration) *house {
	c := control.New(control.Options{})
	c.Apply(appliance.Site{Clusters: []appliance.Cluster{{ID: 1}, {ID: 2}}}, nil)
	return &house{site: c, slow: slow}
}

func (h *house) Snapshot() *appliance.Snapshot { return h.site.Snapshot() }

func (h *house) Do(ctx context.Context, cmd appliance.Command) (appliance.Entry, error) {
	return h.DoTelling(ctx, cmd, func(time.Time) {})
}

func (h *house) DoTelling(ctx context.Context, cmd appliance.Command, told func(time.Time)) (appliance.Entry, error) {
	told(time.Now().Add(fanOut))
	told(time.Now().Add(fanOut / 2)) // of a quicker bus
	h.mu.Lock()
	h.done, h.when = append(h.done, cmd), append(h.when, time.Now())
	h.inside++
	h.most = max(h.most, h.inside)
	h.mu.Unlock()
	defer func() { h.mu.Lock(); h.inside--; h.mu.Unlock() }()
	e := appliance.Entry{ID: "entry", Command: cmd, AcceptedAt: time.Now()}
	select {
	case <-time.After(h.slow):
	case <-ctx.Done():
		return e, ctx.Err()
	}
	e.DoneAt = time.Now()
	e.Members = []appliance.Member{{Offline: true}, {Stage: appliance.StageObserved}}
	return e, nil
}

func (h *house) commands() []appliance.Command {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.done)
}

// room is an automation with a panel on cluster 1, and what it answered.
type room struct {
	*Automation
	t    *testing.T
	mu   sync.Mutex
	acks map[string][]wire.Ack
	n    int
}

func enter(t *testing.T, h *house) *room {
	r := &room{t: t, acks: map[string][]wire.Ack{}}
	r.Automation = New(Config{Core: h, Start: time.Now(), Log: slog.New(slog.DiscardHandler), Answer: func(corr string, ack wire.Ack) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.acks[corr] = append(r.acks[corr], ack)
	}})
	cfg, err := wire.Envelope{ID: "c", Type: wire.TypeConfig, TS: time.Now()}.Seal(wire.Config{Rev: 1, Panels: []wire.Panel{{DeviceID: "room", PanelID: wire.ControlsPanel, Clusters: []int64{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	r.Panels(Message{Payload: cfg, At: time.Now()})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	synctest.Wait()
	return r
}

// send makes one event and delivers it a number of times.
func (r *room) send(times int, change func(*wire.Envelope, *wire.WidgetAction)) (id string) {
	r.n++
	exp := time.Now().Add(wire.Lifetime)
	env := wire.Envelope{ID: strconv.Itoa(r.n), TS: time.Now(), Exp: &exp, Seq: int64(r.n), Epoch: "e"}
	a := power("on")
	if change != nil {
		change(&env, &a)
	}
	b := sealed(r.t, env, a)
	for range times {
		r.Widget(Message{Payload: b, At: time.Now()})
	}
	return env.ID
}

func (r *room) slide(value int, g wire.Gesture) string {
	return r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
		a.WidgetID, a.Action, a.Value = wire.LightBrightness, g, strconv.Itoa(value)
	})
}

func (r *room) outcomes(id string) []wire.AckStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []wire.AckStatus
	for _, a := range r.acks[id] {
		out = append(out, a.Status)
	}
	return out
}

func TestAnEventThatComesThreeTimesActsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(50 * time.Millisecond)
		r := enter(t, h)
		id := r.send(3, nil)
		time.Sleep(time.Second)
		if got := h.commands(); len(got) != 1 || got[0].Kind != appliance.LightOn || got[0].Target != (appliance.Target{Scope: appliance.InCluster, ID: 1}) {
			t.Errorf("carried out: %+v", got)
		}
		if got := h.done[0]; got.Origin.Via != wire.OriginPanel || got.Expiry.Sub(h.when[0]) != wire.Lifetime {
			t.Errorf("origin %+v, time %v", got.Origin, got.Expiry.Sub(h.when[0]))
		}
		if got := r.outcomes(id); !slices.Equal(got, []wire.AckStatus{wire.Duplicate, wire.Duplicate, wire.Applied}) {
			t.Errorf("answers: %v", got)
		}
		if ack := r.acks[id][2]; ack.Offline != 1 || ack.Command != "entry" {
			t.Errorf("got %+v", ack)
		}
	})
}

func TestALateEventDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(wire.Lifetime)
		r := enter(t, h)
		preset := func(value string) string {
			id := r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
				a.WidgetID, a.Action, a.Value = wire.ShadePreset, wire.Released, value
			})
			synctest.Wait()
			return id
		}
		first, waits := preset(wire.PresetOneThird), preset(wire.PresetTwoThirds) // as long as it lives
		time.Sleep(20 * time.Second)
		if got := r.outcomes(first); !slices.Equal(got, []wire.AckStatus{wire.Applied}) {
			t.Errorf("the first was %v", got)
		}
		if got := r.outcomes(waits); !slices.Equal(got, []wire.AckStatus{wire.Expired}) {
			t.Errorf("the one that waited was %v", got)
		}
		if n := len(h.commands()); n != 1 || h.most != 1 {
			t.Errorf("%d were carried out, %d at once", n, h.most)
		}
	})
}

func TestASliderActsFiveTimesASecondAndItsEndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(20 * time.Millisecond)
		r := enter(t, h)
		var moved []string
		for v := range 100 { // one second, a hundred values
			moved = append(moved, r.slide(v+1, wire.Changed))
			time.Sleep(10 * time.Millisecond)
		}
		end := r.slide(255, wire.Released)
		time.Sleep(time.Second)
		done := h.commands()
		if last := done[len(done)-1]; last.Level != 100 {
			t.Errorf("the end is %+v", last)
		}
		if len(done) < 5 || len(done) > 7 {
			t.Errorf("acted %d times in a second", len(done))
		}
		if got := r.outcomes(end); !slices.Equal(got, []wire.AckStatus{wire.Applied}) {
			t.Errorf("the end was %v", got)
		}
		applied, overtaken := 0, 0
		for _, id := range moved {
			switch got := r.acks[id]; {
			case len(got) != 1:
				t.Fatalf("event %s was answered %d times", id, len(got))
			case got[0].Status == wire.Applied:
				applied++
			case got[0].Status == wire.Stale && got[0].Detail == "superseded":
				overtaken++
			}
		}
		if applied+overtaken != len(moved) || applied < len(done)-2 { // the end may have cut one short
			t.Errorf("%d applied, %d superseded of %d", applied, overtaken, len(moved))
		}
	})
}

func TestTheEndOfASlideAndAStopWaitForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(time.Second)
		r := enter(t, h)
		began := time.Now()
		first := r.slide(10, wire.Changed)
		time.Sleep(300 * time.Millisecond)
		r.slide(200, wire.Released)
		move := r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
			a.WidgetID, a.Action, a.Value = wire.ShadePosition, wire.Released, "100"
		})
		time.Sleep(100 * time.Millisecond)
		r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
			a.WidgetID, a.Action, a.Value = wire.ShadeStop, wire.Clicked, ""
		})
		time.Sleep(5 * time.Second)
		if got := r.outcomes(first); !slices.Equal(got, []wire.AckStatus{wire.Stale}) {
			t.Errorf("the slide that was under way: %v", got)
		}
		if got := r.outcomes(move); !slices.Equal(got, []wire.AckStatus{wire.Stale}) {
			t.Errorf("the move that was under way: %v", got)
		}
		for i, c := range h.done {
			took := h.when[i].Sub(began)
			switch {
			case c.Kind == appliance.ShadeStop && took != 400*time.Millisecond:
				t.Errorf("stop after %v", took)
			case c.Level == 78 && took != 300*time.Millisecond:
				t.Errorf("the end after %v", took)
			}
		}
		if len(h.done) != 4 {
			t.Errorf("carried out: %+v", h.done)
		}
	})
}

func TestEventsForNobodyAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(0)
		r := enter(t, h)
		for name, change := range map[string]func(*wire.Envelope, *wire.WidgetAction){
			"other device":          func(_ *wire.Envelope, a *wire.WidgetAction) { a.DeviceID = "next door" },
			"other device, touched": func(_ *wire.Envelope, a *wire.WidgetAction) { a.DeviceID, a.Action = "next door", wire.Pressed },
			"voice, other device":   func(_ *wire.Envelope, a *wire.WidgetAction) { a.DeviceID, a.Origin = "", wire.OriginVoice },
			"cluster given by door": func(_ *wire.Envelope, a *wire.WidgetAction) { a.DeviceID, a.Cluster = "next door", 1 },
			"no cluster":            func(_ *wire.Envelope, a *wire.WidgetAction) { a.Origin = wire.OriginAPI },
		} {
			if got := r.outcomes(r.send(1, change)); !slices.Equal(got, []wire.AckStatus{wire.Rejected}) {
				t.Errorf("%s: %v", name, got)
			}
		}
		r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) { a.Origin, a.Cluster = wire.OriginAPI, 2 })
		time.Sleep(time.Second)
		if got := h.commands(); len(got) != 1 || got[0].Target.ID != 2 {
			t.Errorf("carried out: %+v", got)
		}
	})
}

// A hundred panels slide at five events a second for a minute.
func TestAHundredPanelsSlide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(30 * time.Millisecond)
		r := enter(t, h)
		cfg := wire.Config{Rev: 2}
		for i := range 100 {
			cfg.Panels = append(cfg.Panels, wire.Panel{DeviceID: fmt.Sprint(i), PanelID: wire.ControlsPanel, Clusters: []int64{int64(i + 1)}})
		}
		b, err := wire.Envelope{ID: "c", Type: wire.TypeConfig, TS: time.Now()}.Seal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r.Panels(Message{Payload: b, At: time.Now()})
		steps := 5 * drivertest.Size(60, 60)
		for step := range steps {
			for i := range 100 {
				r.send(1, func(_ *wire.Envelope, a *wire.WidgetAction) {
					a.DeviceID, a.WidgetID, a.Action, a.Value = fmt.Sprint(i), wire.LightBrightness, wire.Changed, strconv.Itoa(1+step%255)
					if step == steps-1 {
						a.Action, a.Value = wire.Released, strconv.Itoa(i+100)
					}
				})
			}
			time.Sleep(200 * time.Millisecond)
			r.mu.Lock()
			clear(r.acks)
			r.mu.Unlock()
		}
		time.Sleep(3 * time.Second)
		last := map[appliance.ID]appliance.Level{}
		for _, c := range h.done {
			last[c.Target.ID] = c.Level
		}
		for i := range 100 {
			if got, want := last[appliance.ID(i+1)], appliance.Level(wire.PercentOf(i+100)); got != want {
				t.Errorf("panel %d ended at %d, want %d", i, got, want)
			}
		}
		r.Automation.mu.Lock()
		defer r.Automation.mu.Unlock()
		if len(r.lanes) != 0 {
			t.Errorf("%d lanes are still there", len(r.lanes))
		}
	})
}

// Nobody knows what became of an event that was made before the controller started, so that nothing is told of it, however often it comes.
func TestOfBeforeTheStartNothingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(0)
		r := enter(t, h)
		id := r.send(3, func(env *wire.Envelope, _ *wire.WidgetAction) { env.TS = env.TS.Add(-time.Second) })
		time.Sleep(time.Minute)
		if got := r.outcomes(id); len(got) != 0 || len(h.commands()) != 0 {
			t.Errorf("it was told %v, done %v", got, h.commands())
		}
	})
}
