package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/engine"
)

// What becomes of a member, by how its part ended; nothing that comes after that changes it.
func TestWhatBecomesOfAMember(t *testing.T) {
	now := time.Now()
	for outcome, want := range map[engine.Outcome]appliance.Member{
		engine.Confirmed:    {Stage: appliance.StageObserved, AcknowledgedAt: now, ObservedAt: now},
		engine.Unverifiable: {Stage: appliance.StageUnverifiable},
		engine.LeftOut:      {Offline: true},
	} {
		run := newRecord(1, appliance.Command{}, []appliance.Want{{Ref: appliance.Ref{Node: 1, Channel: 1}}}, now)
		want.Ref = appliance.Ref{Node: 1, Channel: 1}
		run.ended(engine.Ended{Outcome: outcome, At: now})
		run.staged(engine.Staged{Stage: appliance.StageSent, At: now.Add(time.Second)})
		e := run.finish(now, func(appliance.Ref) string { return "node 1" })
		if got := e.Members[0]; got != want || e.OK() != (outcome != engine.LeftOut) {
			t.Errorf("%v: %+v, OK %v; want %+v", outcome, got, e.OK(), want)
		}
		run.staged(engine.Staged{Stage: appliance.StageSent, At: now.Add(time.Second)})
		if again := run.view(); again.Members[0] != want {
			t.Errorf("%v: afterwards %+v", outcome, again.Members[0])
		}
	}
	// What is told after the whole was judged comes too late, also of a member that was open until then.
	run := newRecord(1, appliance.Command{}, []appliance.Want{{}}, now)
	before := run.finish(now, func(appliance.Ref) string { return "" })
	run.staged(engine.Staged{Stage: appliance.StageSent, At: now})
	run.ended(engine.Ended{Outcome: engine.Confirmed, At: now})
	if after := run.view(); after.Members[0] != before.Members[0] || after.OK() {
		t.Errorf("judged as %+v, and then told as %+v", before.Members[0], after.Members[0])
	}
}

// A node is shown by its channels: by their mean, as old as the oldest, and with the power of all together.
func TestANodeIsShownByItsChannels(t *testing.T) {
	now := time.Now()
	power := func(watts float64, ago time.Duration) appliance.Known[float64] {
		return appliance.Known[float64]{Value: watts, At: now.Add(-ago), Source: appliance.Measured}
	}
	level := func(l appliance.Level) appliance.Known[appliance.Level] {
		return appliance.Known[appliance.Level]{Value: l, At: now, Source: appliance.Measured}
	}
	n := &appliance.NodeState{Channels: []appliance.ChannelState{
		{Level: level(20), Power: power(3, time.Second)}, {Level: level(40), Power: power(4, time.Minute)}, {},
	}}
	summarise(n)
	if n.Power.Value != 7 || !n.Power.At.Equal(now.Add(-time.Minute)) || n.Power.Source != appliance.Measured || n.Level.Value != 30 {
		t.Errorf("power %+v, level %+v", n.Power, n.Level)
	}
}

// Shades of a cluster move as all of them do; where they differ, they move.
func TestTheMotionOfACluster(t *testing.T) {
	const opening, closing, moving, stopped = appliance.Opening, appliance.Closing, appliance.Moving, appliance.Stopped
	for _, tc := range []struct {
		of   []appliance.Motion
		gone []bool
		want appliance.Motion
	}{
		{nil, nil, appliance.MotionUnknown}, {[]appliance.Motion{opening}, nil, opening}, {[]appliance.Motion{opening, opening}, nil, opening}, {[]appliance.Motion{stopped, stopped}, nil, stopped},
		{[]appliance.Motion{opening, closing}, nil, moving}, {[]appliance.Motion{stopped, opening, stopped}, nil, moving}, {[]appliance.Motion{stopped, opening}, []bool{true, false}, opening},
	} {
		snap, c := &appliance.Snapshot{Site: &appliance.Site{}}, &appliance.Cluster{ID: 1}
		for i, m := range tc.of {
			c.Shades = append(c.Shades, appliance.ID(i+1))
			snap.Site.Shades = append(snap.Site.Shades, appliance.Shade{ID: appliance.ID(i + 1)})
			snap.Shades = append(snap.Shades, &appliance.ShadeState{Shade: &appliance.Shade{ID: appliance.ID(i + 1)}, Motion: m, Online: tc.gone == nil || !tc.gone[i]})
		}
		snap.Index = appliance.NewIndex(snap.Site)
		if got := clusterState(snap, c).Motion; got != tc.want {
			t.Errorf("%v, gone %v: %v, want %v", tc.of, tc.gone, got, tc.want)
		}
	}
}

// What is kept of a lamp that fades is what was read last: its goal is not where it is when the power fails.
func TestWhatIsKeptOfALampThatFades(t *testing.T) {
	s := lamps(1)
	ref := appliance.Ref{Node: 1, Channel: 1}
	tell := func(l appliance.Level, source appliance.Source) {
		s.learn([]appliance.Reading{{Ref: ref, Values: appliance.Values{Has: appliance.CanDim, Level: l}, At: time.Now()}}, source)
	}
	tell(20, appliance.Measured)
	s.expect(ref, 80, time.Hour)
	s.mu.Lock()
	v, ok := s.saved(ref)
	s.mu.Unlock()
	if !ok || v.Level != 20 {
		t.Errorf("kept %v: %+v, want the 20 that was read", ok, v)
	}
}

// Each value that is learned is shown and makes a new snapshot, by itself and beside others; one that is known already makes none.
func TestWhatIsLearnedOfAChannel(t *testing.T) {
	ref := appliance.Ref{Node: 1, Channel: 1}
	red := appliance.RGBW{R: 255}
	for _, tc := range []struct {
		has    appliance.Ability
		change bool // it is worth keeping
	}{{appliance.CanDim, true}, {appliance.CanTune, true}, {appliance.CanColour, true}, {appliance.CanMeasure, false}, {appliance.CanDim | appliance.CanMeasure, true}, {appliance.CanTune | appliance.CanColour, true}, {appliance.CanDim | appliance.CanTune | appliance.CanColour | appliance.CanMeasure, true}} {
		s := lamps(1)
		v := appliance.Values{Has: tc.has, Level: 40, Kelvin: 3000, RGBW: red, Power: 7}
		read := func(v appliance.Values) {
			s.learn([]appliance.Reading{{Ref: ref, Values: v, At: time.Now()}}, appliance.Measured)
		}
		before := s.values
		read(v)
		c := s.nodes[0].Channels[0]
		if tc.has.Has(appliance.CanDim) != (c.Level.Value == 40) || tc.has.Has(appliance.CanTune) != (c.Kelvin.Value == 3000) || tc.has.Has(appliance.CanColour) != (c.RGBW.Value == red) || tc.has.Has(appliance.CanMeasure) != (c.Power.Value == 7) {
			t.Errorf("%v: shown %+v", tc.has, c)
		}
		if s.values == before || s.unsaved[ref] != tc.change {
			t.Errorf("%v: a new snapshot %v, worth keeping %v", tc.has, s.values != before, s.unsaved[ref])
		}
		clear(s.unsaved)
		before = s.values
		if read(v); s.values != before || s.unsaved[ref] {
			t.Errorf("%v, learned again: a new snapshot %v, worth keeping %v", tc.has, s.values != before, s.unsaved[ref])
		}
		// One value among those that stay.
		if v.Level = 41; tc.has.Has(appliance.CanDim) {
			if read(v); s.values == before || !s.unsaved[ref] {
				t.Errorf("%v: the level alone makes no new snapshot", tc.has)
			}
		}
	}
}

// What is known of a channel goes over to the same one of a changed site, as far as they can do the same.
func TestWhatIsCarriedOverOfANode(t *testing.T) {
	at := func(abilities ...appliance.Ability) (list []appliance.ChannelState) {
		for i, a := range abilities {
			list = append(list, appliance.ChannelState{Channel: appliance.Channel{Abilities: a}, LastLevel: appliance.Level(10 * (i + 1))})
		}
		return list
	}
	const dim, relay = appliance.CanDim, appliance.CanSwitch
	for _, tc := range []struct {
		old, now []appliance.ChannelState
		moved    bool
		want     []appliance.Level
	}{
		{at(dim, dim), at(dim, dim), false, []appliance.Level{10, 20}}, {at(dim, dim), at(dim), false, []appliance.Level{10}}, {at(dim), at(dim, dim), false, []appliance.Level{10, 0}},
		{at(dim, dim), at(relay, dim), false, []appliance.Level{0, 0}}, {at(dim, relay), at(dim, dim), false, []appliance.Level{10, 0}}, {at(dim), at(dim), true, []appliance.Level{0}},
	} {
		old := &appliance.NodeState{Node: &appliance.Node{ID: 1, Address: "1"}, Online: true, LastSeen: time.Now(), Channels: tc.old}
		now := &appliance.NodeState{Node: &appliance.Node{ID: 1, Address: "1"}, Channels: tc.now}
		if tc.moved {
			now.Node.Address = "2"
		}
		for i := range now.Channels {
			now.Channels[i].LastLevel = 0
		}
		abilities := make([]appliance.Ability, len(tc.now))
		for i, c := range tc.now {
			abilities[i] = c.Abilities
		}
		carryNode(now, old)
		for i, want := range tc.want {
			if c := now.Channels[i]; c.LastLevel != want || c.Abilities != abilities[i] {
				t.Errorf("%+v: channel %d is %+v", tc, i+1, c)
			}
		}
		if now.Online == tc.moved || now.LastSeen.IsZero() != tc.moved {
			t.Errorf("%+v: online %v, last seen %v", tc, now.Online, now.LastSeen)
		}
		now.Fault = "gone"
		if carryNode(now, old); now.Online {
			t.Error("one that is set aside is online")
		}
	}
}

// A bus that makes no progress is shown as down, and no other.
func TestAStuckBusIsShownAsThat(t *testing.T) {
	s := newState()
	s.buses = []*appliance.BusState{
		{Bus: &appliance.Bus{UUID: appliance.UUID{1}}, Up: true}, {Bus: &appliance.Bus{UUID: appliance.UUID{2}}, Up: true}, {Bus: &appliance.Bus{UUID: appliance.UUID{3}}, Fault: "unplugged"},
	}
	s.stuck(appliance.UUID{1})
	s.stuck(appliance.UUID{3})
	if s.buses[0].Up || s.buses[0].Fault == "" || !s.buses[1].Up || s.buses[2].Fault != "unplugged" {
		t.Errorf("%+v, %+v, %+v", s.buses[0], s.buses[1], s.buses[2])
	}
}

// What nobody drives has failed at once, beside what somebody does.
func TestWhatNobodyDrivesHasFailed(t *testing.T) {
	c := New(Options{})
	c.Apply(appliance.Site{Nodes: []appliance.Node{{ID: 1, Name: "a"}}}, nil)
	run := newRecord(1, appliance.Command{}, []appliance.Want{{Ref: appliance.Ref{Node: 1, Channel: 1}}, {Ref: appliance.Ref{Shade: 9}}}, time.Now())
	c.dispatch(run)
	select {
	case <-run.done:
	default:
		t.Fatal("it is waited for")
	}
	for _, m := range run.view().Members {
		if m.Stage != appliance.StageFailed || !errors.Is(m.Cause, appliance.ErrBusDown) || !strings.Contains(m.Err, "its bus is not running") {
			t.Errorf("%+v", m)
		}
	}
}

// Only who says yes is sure.
func TestWhoIsSure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{})
		for _, said := range []string{"yes", "no"} {
			job, err := c.jobs.Start(appliance.Job{Subject: said}, func(ctx context.Context, on *JobHand) (any, error) {
				return (&jobWatcher{on: on}).Sure(ctx, appliance.Leg{}, time.Second, time.Minute)
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := c.jobs.Answer(job.ID, 1, said); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if j, _ := c.jobs.Get(job.ID); j.Result != (said == "yes") {
				t.Errorf("%s: %v", said, j.Result)
			}
		}
	})
}

// A shade of a changed site is where it was, and reachable only if it can be used.
func TestWhatIsCarriedOverOfAShade(t *testing.T) {
	for _, online := range []bool{true, false} {
		for _, fault := range []string{"", "gone"} {
			old := &appliance.ShadeState{Online: online, Motion: appliance.Opening, Uncertainty: 7, LastSeen: time.Now(), Position: appliance.Known[appliance.Position]{Value: 40, Source: appliance.Measured}}
			now := &appliance.ShadeState{Fault: fault}
			carryShade(now, old)
			if now.Online != (online && fault == "") || now.Motion != old.Motion || now.Uncertainty != 7 || now.LastSeen != old.LastSeen || now.Position != old.Position {
				t.Errorf("online %v, fault %q: %+v", online, fault, now)
			}
		}
	}
}
