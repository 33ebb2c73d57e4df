package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// How often something is asked: by its class, as often as somebody wants it, and ever more rarely of who refuses to tell.
func TestHowOftenSomethingIsAsked(t *testing.T) {
	const s, m = time.Second, time.Minute
	if got := orDefaults(appliance.Freshness{}); got != (appliance.Freshness{Light: 5 * s, MovingShade: s, IdleShade: 15 * s, Power: 30 * s}) {
		t.Errorf("unless a site says otherwise: %+v", got)
	}
	site := appliance.Freshness{Light: 1, MovingShade: 2, IdleShade: 3, Power: 4}
	if got := orDefaults(site); got != site {
		t.Errorf("a site says %+v", got)
	}
	ref := []appliance.Ref{{Shade: 1}}
	for _, row := range []struct {
		what     string
		class    appliance.Class
		within   time.Duration
		refusals int
		answered bool
		motor    func(*motor)
		want     time.Duration
	}{
		{what: "a light", class: appliance.ClassLight, want: 5 * s},
		{what: "a power", class: appliance.ClassPower, want: 30 * s},
		{what: "a shade", class: appliance.ClassShade, want: 15 * s},
		{what: "a shade that moves", class: appliance.ClassShade, motor: func(m *motor) { m.state.Pose.Dir = 1 }, want: s},
		{what: "a shade that is calibrated", class: appliance.ClassShade, motor: func(m *motor) { m.often = true }, want: oftenest},
		{what: "a light that is wanted sooner", class: appliance.ClassLight, within: 2 * s, want: 2 * s},
		{what: "a light that is wanted later", class: appliance.ClassLight, within: m, want: 5 * s},
		{what: "who refuses", class: appliance.ClassLight, refusals: 1, want: 10 * s},
		{what: "who refuses again", class: appliance.ClassLight, refusals: 3, want: 40 * s},
		{what: "who always refuses", class: appliance.ClassLight, refusals: 60, want: 10 * m},
		{what: "who has answered before", class: appliance.ClassLight, refusals: 60, answered: true, want: m},
		{what: "what is wanted from who refuses", class: appliance.ClassLight, within: 20 * s, refusals: 60, answered: true, want: 20 * s},
		{what: "what is wanted from who never answered", class: appliance.ClassLight, within: 20 * s, refusals: 60, want: 20 * s},
	} {
		sch := &schedule{fresh: orDefaults(appliance.Freshness{}), motors: map[appliance.ID]*motor{1: newMotor(appliance.Shade{ID: 1}, appliance.Channel{PositionMeasured: true}, appliance.Freshness{}, noon)}}
		sch.motors[1].state.Pose = shade.Pose{}
		if row.motor != nil {
			row.motor(sch.motors[1])
		}
		p := &pollState{Poll: appliance.Poll{Exchange: appliance.Exchange{Refs: ref}, Class: row.class, Within: row.within}, refusals: row.refusals, answered: row.answered}
		if got := sch.period(p); got != row.want {
			t.Errorf("%s: every %v, want %v", row.what, got, row.want)
		}
	}
	if oftenest != 150*time.Millisecond {
		t.Error("how often a shade is read while it is calibrated has changed")
	}
}

// What is most overdue for its target goes first, and before all what was never asked; what is asked for now does.
func TestWhatIsAskedFirst(t *testing.T) {
	at := func(ago time.Duration) time.Time { return noon.Add(-ago) }
	polls := func(last ...time.Time) (out []*pollState) {
		for i, l := range last {
			out = append(out, &pollState{Poll: appliance.Poll{Exchange: appliance.Exchange{Device: fmt.Sprint(i), Airtime: time.Second, Worst: 3 * time.Second, Refs: []appliance.Ref{{Shade: appliance.ID(i)}}},
				Class: []appliance.Class{appliance.ClassLight, appliance.ClassPower}[i%2]}, last: l})
		}
		return out
	}
	all := func(*pollState) bool { return true }
	for _, row := range []struct {
		what string
		last []time.Time
		want int // -1: none
	}{
		{"the most overdue by its own target", []time.Time{at(20 * time.Second), at(60 * time.Second)}, 0},
		{"the most overdue by its own target", []time.Time{at(9 * time.Second), at(60 * time.Second)}, 1},
		{"what was never asked", []time.Time{at(time.Hour), {}}, 1},
		{"of equals the first", []time.Time{at(time.Hour), at(0), at(time.Hour)}, 0},
		{"a little before its time", []time.Time{at(4 * time.Second)}, 0},
		{"nothing before that", []time.Time{at(4*time.Second - 1), at(0)}, -1},
	} {
		s := &schedule{fresh: orDefaults(appliance.Freshness{}), polls: polls(row.last...)}
		p, _ := s.pick(noon, all)
		if i := slices.Index(s.polls, p); i != row.want {
			t.Errorf("%s: %d, want %d", row.what, i, row.want)
		}
	}
	s := &schedule{fresh: orDefaults(appliance.Freshness{}), polls: polls(at(0), at(0), at(0))}
	if got, want := s.demand(), 1/(0.8*5)+1/(0.8*30)+1/(0.8*5); got < want-1e-9 || got > want+1e-9 {
		t.Errorf("the targets ask for %v of the bus, want %v", got, want)
	}
	s.note(&appliance.Exchange{Airtime: 2 * time.Second, Worst: time.Second})
	if typical, worst := s.bounds(); typical != 2*time.Second || worst != 3*time.Second {
		t.Errorf("bounds %v and %v", typical, worst)
	}
	s.note(&appliance.Exchange{Airtime: 4 * time.Second, Worst: time.Second})
	if typical, worst := s.bounds(); typical != 4*time.Second || worst != 4*time.Second {
		t.Errorf("bounds %v and %v", typical, worst)
	}
	for _, p := range s.polls {
		p.Class = appliance.ClassShade
	}
	s.polls[2].Class = appliance.ClassPower
	s.polls[2].Refs = s.polls[1].Refs
	if s.readNow(1); s.polls[0].last.IsZero() || !s.polls[1].last.IsZero() || s.polls[2].last.IsZero() {
		t.Errorf("a shade that came to rest is read at once, and nothing else: %v, %v, %v", s.polls[0].last, s.polls[1].last, s.polls[2].last)
	}
	if s.renew(); !s.polls[0].last.IsZero() || !s.polls[2].last.IsZero() {
		t.Error("after an outage everything is asked")
	}
}

// A read that a device never answered, and refuses, is taken apart; one that it has answered is asked more rarely. People are told once a device.
func TestWhatADeviceRefusesToTell(t *testing.T) {
	part := func(n appliance.ID) appliance.Exchange {
		return appliance.Exchange{Device: "1", Refs: []appliance.Ref{{Node: n}}}
	}
	whole := part(9)
	whole.Split = func() []appliance.Exchange { return []appliance.Exchange{part(1), part(2)} }
	poll := func(e appliance.Exchange) *pollState {
		return &pollState{Poll: appliance.Poll{Exchange: e, Class: appliance.ClassPower, Within: time.Hour}}
	}
	s := &schedule{polls: []*pollState{poll(part(7)), poll(whole), poll(part(8))}}
	if s.refuse(s.polls[1]) || len(s.polls) != 4 || s.refused("1") != 0 {
		t.Fatalf("%d polls, %d refused", len(s.polls), s.refused("1"))
	}
	for i, node := range []appliance.ID{7, 8, 1, 2} {
		if p := s.polls[i]; p.Refs[0].Node != node || p.Class != appliance.ClassPower || p.Within != time.Hour {
			t.Errorf("poll %d: %+v", i, p.Poll)
		}
	}
	other := part(5)
	other.Device = "2"
	s.polls = append(s.polls, poll(other))
	if !s.refuse(s.polls[2]) || s.refuse(s.polls[3]) || s.refuse(s.polls[2]) || !s.refuse(s.polls[4]) {
		t.Error("people are told once a device")
	}
	if s.polls[2].refusals != 2 || s.refused("1") != 2 || s.refused("2") != 1 || s.refused("3") != 0 {
		t.Errorf("refused %d times; %d of one device, %d of the other", s.polls[2].refusals, s.refused("1"), s.refused("2"))
	}
	s.polls = []*pollState{poll(whole)}
	s.polls[0].answered = true
	if s.refuse(s.polls[0]); len(s.polls) != 1 || s.polls[0].refusals != 1 {
		t.Error("what it has answered before is too large for it")
	}
	// A poll that asks something else keeps no turn.
	for _, row := range []struct {
		change func(*appliance.Poll)
		kept   bool
	}{
		{func(*appliance.Poll) {}, true}, {func(p *appliance.Poll) { p.Device = "2" }, false}, {func(p *appliance.Poll) { p.Class = appliance.ClassLight }, false},
		{func(p *appliance.Poll) { p.Within = time.Minute }, false}, {func(p *appliance.Poll) { p.Refs = nil }, false}, {func(p *appliance.Poll) { p.Airtime = 5 }, true},
	} {
		s.polls = []*pollState{poll(part(1))}
		s.polls[0].last, s.polls[0].refusals = noon, 3
		p := poll(part(1)).Poll
		row.change(&p)
		s.adopt(appliance.Freshness{}, []appliance.Poll{p, p}, func([]appliance.Ref) bool { return true })
		if kept := s.polls[0].last.Equal(noon); kept != row.kept || s.polls[0].Airtime != p.Airtime || !s.polls[1].last.IsZero() {
			t.Errorf("%+v keeps its turn: %v", p, kept)
		}
	}
}

// What was read of a member decides: it has what it should; it is read again, since it may show that late, or fades; or it has not.
func TestVerdicts(t *testing.T) {
	const sent = 100 * time.Millisecond // ago
	has := func(l appliance.Level) appliance.Values { return dim(l) }
	both := has(40)
	both.Has, both.Kelvin = both.Has|appliance.CanTune, 3000
	for _, row := range []struct {
		what      string
		want, got appliance.Values
		change    func(*State, *piece, *member)
		confirmed bool
		again     time.Duration // from now on; 0: not
		disproved bool
	}{
		{what: "it has it", want: has(40), got: has(40), confirmed: true},
		{what: "nothing was read of it", want: has(40), confirmed: false},
		{what: "half of it was read, and it acknowledged", want: both, got: has(40), change: func(_ *State, _ *piece, m *member) { m.stage = appliance.StageAcknowledged }, confirmed: true},
		{what: "half of it was read, and nobody acknowledged", want: both, got: has(40)},
		{what: "half of it was read, and the rest in vain", want: both, got: has(40), change: func(_ *State, p *piece, m *member) {
			m.stage, p.readErr = appliance.StageAcknowledged, appliance.ErrSilent
		}},
		{what: "all was read, and something else in vain", want: has(40), got: has(40), change: func(_ *State, p *piece, _ *member) { p.readErr = appliance.ErrSilent }, confirmed: true},
		{what: "it may show it late", want: has(40), got: has(10), again: 400 * time.Millisecond, disproved: true},
		{what: "for a moment more", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) { p.sentAt = p.sentAt.Add(sent + 30*time.Millisecond - lagUsual) }, again: 50 * time.Millisecond, disproved: true},
		{what: "later, more rarely", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) {
			p.looks, p.sentAt = 2, p.sentAt.Add(sent+30*time.Millisecond-lagUsual)
		}, again: 200 * time.Millisecond, disproved: true},
		{what: "and at its end", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) { p.looks = 9 }, again: 400 * time.Millisecond, disproved: true},
		{what: "a read that takes long is not repeated sooner", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) {
			p.chain.Verify[0].Airtime, p.sentAt = 300*time.Millisecond, p.sentAt.Add(sent+30*time.Millisecond-lagUsual)
		}, again: 300 * time.Millisecond, disproved: true},
		{what: "it would show it by now", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) { p.sentAt = p.sentAt.Add(-lagUsual) }, disproved: true},
		{what: "its profile says it shows it late", want: has(40), got: has(10), change: func(s *State, p *piece, _ *member) {
			s.wiring.Opened.Channels[1][0].Lag, p.sentAt = 2*time.Second, p.sentAt.Add(-lagUsual)
		}, again: 400 * time.Millisecond, disproved: true},
		{what: "a group frame may have been missed", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) {
			p.chain.Group, p.sentAt = true, p.sentAt.Add(-lagGroup)
		}, disproved: true},
		{what: "of a group, at first", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) { p.chain.Group = true }, again: 100 * time.Millisecond, disproved: true},
		{what: "it fades", want: has(40), got: has(10), change: func(s *State, p *piece, _ *member) { p.fadeEnd = s.now.Add(time.Second) }, again: fadeLook},
		{what: "it fades, told again", want: has(40), got: has(10), change: func(s *State, p *piece, m *member) { p.fadeEnd, m.writes = s.now.Add(time.Second), 2 }, again: fadeLook, disproved: true},
		{what: "its fade ends sooner", want: has(40), got: has(10), change: func(s *State, p *piece, _ *member) { p.fadeEnd = s.now.Add(fadeLook / 2) }, again: fadeLook / 2},
		{what: "it said that it needs time", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) {
			p.slow, p.looks, p.sentAt = true, 1, p.sentAt.Add(-time.Minute)
		}, again: 100 * time.Millisecond, disproved: true},
		{what: "it needs time, and was looked at often", want: has(40), got: has(10), change: func(_ *State, p *piece, _ *member) {
			p.slow, p.looks, p.sentAt = true, 9, p.sentAt.Add(-time.Minute)
		}, again: 400 * time.Millisecond, disproved: true},
		{what: "it went as far as it can", want: has(5), got: has(20), change: func(s *State, _ *piece, m *member) {
			s.beliefs[m.target.Ref].clips, m.before = true, has(60)
		}, confirmed: true, disproved: true},
	} {
		r := newRig(t, 1, 0).begin()
		r.s.now = r.now
		ref := r.things[0].ref()
		m := &member{command: &Command{ID: 9}, target: appliance.Want{Ref: ref, Values: row.want}, writes: 1, stage: appliance.StageSent}
		if row.got.Has != 0 {
			m.got = appliance.Reading{Ref: ref, Values: row.got, At: r.now}
		}
		p := &piece{chain: appliance.Chain{Wants: []appliance.Want{m.target}, Verify: make([]appliance.Exchange, 1)}, members: []*member{m}, sentAt: r.now.Add(-sent)}
		if row.change != nil {
			row.change(r.s, p, m)
		}
		at, confirmed := r.s.verdict(p, m)
		again := time.Duration(0)
		if !at.IsZero() {
			again = at.Sub(r.now)
		}
		if confirmed != row.confirmed || again != row.again || (m.why != nil) != row.disproved {
			t.Errorf("%s: confirmed %v, read again after %v, %v; want %v, %v, %v", row.what, confirmed, again, m.why, row.confirmed, row.again, row.disproved)
		}
	}
}

// Who may be told again: not thrice, not who acknowledged and was not read, and no shade whose way is timed.
func TestWhoIsToldAgain(t *testing.T) {
	for _, row := range []struct {
		what  string
		m     member
		read  bool
		again bool
	}{
		{"it has something else", member{writes: 2, stage: appliance.StageAcknowledged}, true, true},
		{"for the third time", member{writes: 3, stage: appliance.StageAcknowledged}, true, false},
		{"it acknowledged and was not read", member{writes: 1, stage: appliance.StageAcknowledged}, false, false},
		{"nobody acknowledged", member{writes: 1, stage: appliance.StageSent}, false, true},
		{"a shade whose way is timed", member{writes: 1, target: appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: motion(appliance.Open)}}, true, false},
		{"its stop", member{writes: 1, target: appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: motion(appliance.Stop)}}, true, true},
	} {
		r := newRig(t, 1, 1).begin()
		if got := r.s.repairable(&row.m, row.read); got != row.again {
			t.Errorf("%s: told again %v", row.what, got)
		}
	}
}

// When a piece goes on: a read after the answers that may still come, a write at once unless nothing else confirms it, and a stop that
// nobody hears when what it costs is allowed.
func TestWhenAPieceGoesOn(t *testing.T) {
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	level := []appliance.Want{{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: dim(40)}}
	stop := []appliance.Want{{Ref: appliance.Ref{Shade: 5001}, Values: motion(appliance.Stop)}}
	one := make([]appliance.Exchange, 1)
	for _, row := range []struct {
		what    string
		chain   appliance.Chain
		pos     int
		rank    rank
		nobody  bool
		offline bool
		want    time.Time // not before 1 s, reads rest until 2 s, writes until 3 s, probes until 5 s
	}{
		{"a write", appliance.Chain{Wants: level, Steps: one, Verify: one}, 0, rankWrite, false, false, at(1)},
		{"a read", appliance.Chain{Wants: level, Steps: one, Verify: one}, 1, rankRead, false, false, at(2)},
		{"a write that nothing else confirms", appliance.Chain{Wants: level, Steps: one}, 0, rankWrite, false, false, at(3)},
		{"a write that nothing confirms", appliance.Chain{Wants: level, Steps: one, Unverifiable: true}, 0, rankWrite, false, false, at(1)},
		{"a stop that nothing else confirms", appliance.Chain{Wants: stop, Steps: one}, 0, rankStop, false, false, at(1)},
		{"who addresses no device", appliance.Chain{Wants: level, Steps: one}, 0, rankWrite, true, false, at(1)},
		{"a stop that nobody hears", appliance.Chain{Wants: stop, Steps: one, Verify: one}, 0, rankStopBehind, false, true, at(5)},
		{"one behind others, of who is online", appliance.Chain{Wants: stop, Steps: one, Verify: one}, 0, rankStopBehind, false, false, at(1)},
		{"a retry of who is offline", appliance.Chain{Wants: stop, Steps: one, Verify: one}, 0, rankRetry, false, true, at(1)},
	} {
		s := New()
		s.now = noon
		s.accounts.probes.spend(noon, 0)
		debt := 5*time.Second - time.Millisecond
		s.accounts.probes.left = -time.Duration(probeShare * float64(debt))
		d := &device{online: !row.offline, fails: 3, restReads: at(2), restWrites: at(3)}
		if row.nobody {
			d = nil
		}
		p := &piece{chain: row.chain, pos: row.pos, notBefore: at(1)}
		if got := s.readyAt(p, row.rank, d); got.Sub(row.want).Abs() > time.Millisecond {
			t.Errorf("%s: after %v, want %v", row.what, got.Sub(noon), row.want.Sub(noon))
		}
	}
}

// Which commands join: those that want the same of all that is open in a piece; and they have as long as if nobody had been before.
func TestWhoJoins(t *testing.T) {
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	for _, row := range []struct {
		what   string
		change func(*State, *piece)
		level  appliance.Level
		things int // that the later command is for
		joins  bool
		until  time.Time
	}{
		{what: "the same", level: 40, things: 2, joins: true, until: at(2).Add(41 * time.Millisecond)},
		{what: "more than that", level: 40, things: 3, joins: true, until: at(2).Add(41 * time.Millisecond)},
		{what: "less than that", level: 40, things: 1},
		{what: "less, but the other is done", level: 40, things: 1, change: func(_ *State, p *piece) { p.members[1].outcome = Confirmed }, joins: true, until: at(2).Add(41 * time.Millisecond)},
		{what: "another level", level: 41, things: 2},
		{what: "a part was taken", level: 40, things: 2, change: func(_ *State, p *piece) { p.members[0].taken = true }},
		{what: "it was overtaken", level: 40, things: 2, change: func(_ *State, p *piece) { p.overtaken = true }},
		{what: "a bus that is being opened", level: 40, things: 2, change: func(s *State, _ *piece) { s.link.down = appliance.ErrOpening }, joins: true, until: at(8)},
		{what: "one that lives longer", level: 40, things: 2, change: func(_ *State, p *piece) { p.expires = at(9) }, joins: true, until: at(9)},
	} {
		s := New()
		s.now, s.link.down = noon, nil
		wants := func(n int, l appliance.Level) (out []appliance.Want) {
			for i := range n {
				out = append(out, appliance.Want{Ref: appliance.Ref{Node: appliance.ID(i + 1), Channel: 1}, Values: dim(l)})
			}
			return out
		}
		p := &piece{chain: appliance.Chain{Wants: wants(2, 40), Steps: []appliance.Exchange{{Airtime: 41 * time.Millisecond}}}, expires: at(1), ceiling: at(5)}
		for i, w := range p.chain.Wants {
			p.members = append(p.members, &member{command: &Command{ID: 1}, place: i, target: w})
		}
		if row.change != nil {
			row.change(s, p)
		}
		s.pieces = []*piece{p}
		c := &Command{ID: 2, Wants: wants(row.things, row.level), Places: []int{5, 6, 7}, Ceiling: at(8)}
		joined, until := s.joinPieces(c)
		if (len(joined) > 0) != row.joins || !until.Equal(row.until) {
			t.Errorf("%s: joined %v until %v, want %v until %v", row.what, joined, until.Sub(noon), row.joins, row.until.Sub(noon))
		}
		if row.joins {
			if !p.expires.Equal(row.until) || !p.ceiling.Equal(at(8)) || !slices.Equal(p.members[0].also, []Member{{2, 5}}) {
				t.Errorf("%s: until %v and %v, told also %v", row.what, p.expires, p.ceiling, p.members[0].also)
			}
			if got, ok := s.actions[0].(Pending); !ok || got.Command != 1 {
				t.Errorf("%s: why it would fail is not told: %v", row.what, s.actions)
			}
		} else if len(p.members[0].also) > 0 {
			t.Errorf("%s: told also %v", row.what, p.members[0].also)
		}
	}
}

// A lamp that goes as far as it can has what was wanted, if it was seen going there: of its level and of its colour temperature.
func TestWhoWentAsFarAsItCan(t *testing.T) {
	ref := appliance.Ref{Node: 1, Channel: 1}
	tuned := func(k appliance.Kelvin) appliance.Values {
		return appliance.Values{Has: appliance.CanTune, Kelvin: k}
	}
	with := func(v appliance.Values, k appliance.Kelvin) appliance.Values {
		v.Has, v.Kelvin = v.Has|appliance.CanTune, k
		return v
	}
	for _, row := range []struct {
		what           string
		had, want, got appliance.Values
		whole          bool // it has no limits
		believed       bool
	}{
		{what: "down to its limit", had: dim(60), want: dim(5), got: dim(20), believed: true},
		{what: "up to its limit", had: dim(60), want: dim(100), got: dim(90), believed: true},
		{what: "less than a step", had: dim(60), want: dim(5), got: dim(58)},
		{what: "a step", had: dim(60), want: dim(5), got: dim(57), believed: true},
		{what: "a step up", had: dim(60), want: dim(100), got: dim(63), believed: true},
		{what: "the other way", had: dim(60), want: dim(5), got: dim(80)},
		{what: "where it stood", had: dim(60), want: dim(5), got: dim(60)},
		{what: "nobody knows where it was", want: dim(5), got: dim(20)},
		{what: "one without limits", had: dim(60), want: dim(5), got: dim(20), whole: true},
		{what: "off is no limit", had: dim(60), want: dim(0), got: dim(20)},
		{what: "nor is what is off", had: dim(60), want: dim(5), got: dim(0)},
		{what: "a temperature at its limit", had: tuned(4000), want: tuned(2000), got: tuned(2700), believed: true},
		{what: "a temperature that stood", had: tuned(2700), want: tuned(2000), got: tuned(2700)},
		{what: "a temperature of which nothing was known", want: tuned(2000), got: tuned(2700)},
		{what: "a level at its limit, and its temperature as wanted", had: with(dim(60), 4000), want: with(dim(5), 3000), got: with(dim(20), 3000), believed: true},
		{what: "a level at its limit, and its temperature as it was", had: with(dim(60), 4000), want: with(dim(5), 3000), got: with(dim(20), 4000)},
		{what: "a level as wanted, and its temperature at its limit", had: with(dim(60), 4000), want: with(dim(5), 2000), got: with(dim(5), 2700), believed: true},
		{what: "a level of which nothing was read", had: with(dim(60), 4000), want: with(dim(5), 2000), got: tuned(2700), believed: true},
	} {
		known := beliefs{ref: &belief{clips: !row.whole}}
		m := &member{target: appliance.Want{Ref: ref, Values: row.want}, before: row.had, got: appliance.Reading{Ref: ref, Values: row.got, At: noon}}
		if got := known.explain(m); got != row.believed {
			t.Errorf("%s: believed %v", row.what, got)
		}
		if !row.believed {
			continue
		}
		// It stands there now: told to go on, it is at its limit; after it was seen beyond, it is not.
		m.before = row.got
		if !known.explain(m) {
			t.Errorf("%s: its limit is not known", row.what)
		}
		beyond := row.got
		if row.want.Level < row.got.Level || row.want.Kelvin < row.got.Kelvin {
			beyond.Level, beyond.Kelvin = max(1, beyond.Level-1), beyond.Kelvin-1
		} else {
			beyond.Level, beyond.Kelvin = beyond.Level+1, beyond.Kelvin+1
		}
		known.saw([]appliance.Reading{{Ref: ref, Values: beyond}})
		if known.explain(m) {
			t.Errorf("%s: it was seen beyond %+v, and that is its limit", row.what, row.got)
		}
	}
	// What was lost on its way may be obeyed yet: no limit is learned from that for a while.
	for _, row := range []struct {
		m    member
		lost bool
	}{
		{member{stage: appliance.StageAccepted, outcome: Failed}, false}, {member{stage: appliance.StageSent, outcome: Failed}, true},
		{member{stage: appliance.StageSent, outcome: Confirmed}, false}, {member{stage: appliance.StageSent, outcome: Failed, why: errors.New("read")}, false},
	} {
		known := beliefs{ref: &belief{}}
		row.m.target.Ref = ref
		if known.ended(&row.m, noon); known[ref].lost.Equal(noon) != row.lost {
			t.Errorf("%+v: lost at %v", row.m, known[ref].lost)
		}
		known[ref].lost = noon
		if row.m.stage >= appliance.StageSent && !row.lost {
			if known.ended(&row.m, noon.Add(1)); !known[ref].lost.IsZero() {
				t.Errorf("%+v: something is still under way", row.m)
			}
		}
	}
	(beliefs{}).ended(&member{stage: appliance.StageSent}, noon) // of what is not on the bus nothing is kept
}

// A port that goes takes commands with it and nobody's stop; one that comes has everything asked, by whom nothing is held against.
func TestAPortGoesAndComes(t *testing.T) {
	r := newRig(t, 2, 1)
	r.late = 300 * time.Millisecond
	r.begin()
	r.run(30 * time.Second)
	s := r.s
	sh := r.things[2]
	s.devices["1"].fails, s.devices["1"].backoff = 2, time.Minute
	level := r.command(dim(40), r.things[0])
	why := errors.New("pulled")
	var health []Health
	r.carry = func(a Action) {
		if h, ok := a.(Health); ok {
			health = append(health, h)
		}
	}
	r.said = nil
	r.take(Link{Down: why})
	if as, because := r.outcome(level); as != Failed || because != why {
		t.Errorf("a level: %v, %v", as, because)
	}
	if r.online[1] || r.online[2] || r.online[101] || s.devices["1"].online {
		t.Errorf("online: %v", r.online)
	}
	if late := r.command(motion(appliance.Open), sh); len(r.ended[late]) != 1 || r.ended[late][0].Why != why {
		t.Errorf("a shade: %+v", r.ended[late])
	}
	r.take(Look{Down: why})
	if len(r.said) != 1 || r.said[0].Text != "bus is down" || len(health) != 1 || health[0].State.Up || health[0].State.Fault != "pulled" {
		t.Errorf("said %v, health %+v", r.said, health)
	}
	r.take(Look{Down: errors.New("pulled")})
	if len(r.said) != 1 {
		t.Errorf("said again: %v", r.said)
	}
	if r.take(Look{Down: errors.New("no such device")}); len(r.said) != 2 || s.link.down.Error() != "no such device" {
		t.Errorf("another reason: %v", r.said)
	}
	r.take(Link{})
	for _, d := range s.inTurn() {
		if d.fails != 0 || d.backoff != 0 || !d.restReads.Equal(r.now.Add(r.late)) || !d.restWrites.Equal(r.now.Add(r.late)) {
			t.Errorf("whoever had the port before may have asked: %+v", d)
		}
	}
	for _, p := range s.schedule.polls {
		if !p.last.IsZero() {
			t.Error("what was known before an outage is asked in its turn only")
		}
	}
	if s.motors[5001].state.Down || r.said[len(r.said)-1].Text != "bus is up" {
		t.Errorf("the shade's machine is not told; said %v", r.said)
	}
	health = nil
	r.run(2500 * time.Millisecond)
	if n := len(health); n != 3 || !health[n-1].State.Up || health[n-1].State.Fault != "" || len(health[n-1].State.Devices) != 3 || health[n-1].State.Bound != r.airtime+r.timeout || health[n-1].State.Typical != r.airtime {
		t.Errorf("health was told %d times: %+v", n, health[n-1])
	}
}

// A shade that is not driven any more takes its work with it; what is under way when a bus is opened anew ends as it began.
func TestWhatASiteTakesAway(t *testing.T) {
	r := newRig(t, 1, 2).begin()
	r.run(30 * time.Second)
	gone, stays := r.things[1], r.things[2]
	lamp := r.command(dim(40), r.things[0])
	first, second := r.command(motion(appliance.Open), gone), r.command(motion(appliance.Open), stays)
	w := r.wiring()
	delete(w.Opened.Shades, 5001)
	r.take(Configure{Wiring: w})
	if as, why := r.outcome(first); as != Failed || !errors.Is(why, appliance.ErrNotFound) || r.s.motors[5001] != nil || r.s.beliefs[appliance.Ref{Shade: 5001}] != nil || len(r.s.order) != 1 {
		t.Errorf("a shade that is gone: %v, %v", as, why)
	}
	r.run(2 * time.Second)
	for _, id := range []uint64{lamp, second} {
		if as, why := r.outcome(id); as != Confirmed {
			t.Errorf("what stays: %v, %v", as, why)
		}
	}
	if r.writes(gone) > 0 {
		t.Error("a shade that is gone is ordered something")
	}
	// A lamp that is gone, and a command for it.
	level := r.command(dim(70), r.things[0])
	w = r.wiring()
	delete(w.Opened.Shades, 5001)
	w.Opened.Channels[1] = nil
	r.take(Configure{Wiring: w})
	if as, why := r.outcome(level); as != Failed || !errors.Is(why, appliance.ErrNotFound) || len(r.s.pieces) > 0 {
		t.Errorf("a lamp that is gone: %v, %v", as, why)
	}
	// Parked, a run whose time counts already ends as ordered, and a level waits.
	r = newRig(t, 1, 1).begin()
	r.run(30 * time.Second)
	r.command(motion(appliance.Open), r.things[1])
	level = r.command(dim(40), r.things[0])
	run := r.s.pieces[0]
	run.pos, run.members[0].writes = 1, 1
	var ends []error
	id := run.members[0].command.ID
	r.take(Park{})
	for _, e := range r.ended[id] {
		ends = append(ends, e.Why)
	}
	if len(ends) != 1 || !errors.Is(ends[0], appliance.ErrBusDown) || len(r.s.pieces) != 1 || !r.s.pieces[0].expires.Equal(r.s.pieces[0].ceiling) {
		t.Errorf("parked: %v, %d pieces", ends, len(r.s.pieces))
	}
	r.take(Configure{Wiring: r.wiring(), Afresh: true})
	r.run(2 * time.Second)
	if as, why := r.outcome(level); as != Confirmed {
		t.Errorf("a level that waited: %v, %v", as, why)
	}
}
