package engine

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What asks the same as before keeps its turn; what is new, or about something else now,
// comes first.
func TestPollsKeepTheirTurnThroughAChange(t *testing.T) {
	poll := func(node appliance.ID) appliance.Poll {
		return appliance.Poll{Exchange: appliance.Exchange{Device: "1", Refs: []appliance.Ref{{Node: node, Channel: 1}}}}
	}
	s := &schedule{}
	s.adopt(appliance.Freshness{}, []appliance.Poll{poll(1), poll(2), poll(3)}, func([]appliance.Ref) bool { return false })
	asked := time.Now()
	for _, p := range s.polls {
		p.last, p.answered = asked, true
	}
	s.adopt(appliance.Freshness{}, []appliance.Poll{poll(4), poll(2), poll(1)}, func(refs []appliance.Ref) bool { return refs[0].Node != 2 })
	for i, kept := range []bool{false, false, true} {
		if p := s.polls[i]; p.answered != kept || p.last.Equal(asked) != kept {
			t.Errorf("poll %d of node %d: %+v, want it kept: %v", i, p.Refs[0].Node, p, kept)
		}
	}
}

// Nothing due, it is told when the first will be: a bus that slept on would read late.
func TestWhenTheNextPollIsDueIsTold(t *testing.T) {
	s := &schedule{fresh: appliance.Freshness{Light: 10 * time.Second, Power: 4 * time.Second}}
	for _, class := range []appliance.Class{appliance.ClassLight, appliance.ClassPower, appliance.ClassLight} {
		s.polls = append(s.polls, &pollState{Poll: appliance.Poll{Class: class}, last: noon})
	}
	all := func(*pollState) bool { return true }
	p, at := s.pick(noon, all)
	if p != nil || at.Sub(noon) != time.Duration(refresh*float64(4*time.Second)) {
		t.Errorf("%v due, else at %v", p, at.Sub(noon))
	}
	if p, _ := s.pick(at, all); p != s.polls[1] {
		t.Errorf("%+v is due then", p)
	}
}

// The table is in the order in which things go.
func TestWhatGoesFirst(t *testing.T) {
	stop := []appliance.Want{{Ref: appliance.Ref{Shade: 7}, Values: appliance.Values{Has: appliance.CanMove, Motion: appliance.Stop}}}
	level := []appliance.Want{{Ref: appliance.Ref{Node: 7, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: 40}}}
	chain := func(wants []appliance.Want) appliance.Chain {
		return appliance.Chain{Wants: wants, Steps: make([]appliance.Exchange, 1), Verify: make([]appliance.Exchange, 1)}
	}
	written := func(n int) []*member { return []*member{{writes: n}} }
	for _, row := range []struct {
		what   string
		piece  piece
		silent bool
		rank   rank
	}{
		{"a stop", piece{chain: chain(stop)}, false, rankStop},
		{"a stop for who did not answer", piece{chain: chain(stop)}, true, rankStop},
		{"a level", piece{chain: chain(level), members: written(0)}, false, rankWrite},
		{"whether a stop was obeyed", piece{chain: chain(stop), members: written(1), pos: 1}, false, rankStopRead},
		{"reading back", piece{chain: chain(level), members: written(1), pos: 1}, false, rankRead},
		{"a level, once more", piece{chain: chain(level), members: written(1)}, false, rankRepair},
		{"reading back what was told twice", piece{chain: chain(level), members: written(2), pos: 1}, false, rankRepair},
		{"reading back once more", piece{chain: chain(level), members: written(1), pos: 1, looks: 1}, false, rankRepair},
		{"a stop that was not heard", piece{chain: chain(stop), tries: 1}, false, rankStopRetry},
		{"a level that was not heard", piece{chain: chain(level), tries: 1}, true, rankRetry},
		{"a level whose answer was damaged", piece{chain: chain(level), tries: 1}, false, rankRepair},
		{"a level for who did not answer", piece{chain: chain(level)}, true, rankRetry},
		{"reading back from who did not answer", piece{chain: chain(level), members: written(1), pos: 1}, true, rankRetry},
		{"a level for who is offline", piece{chain: chain(level), offline: true}, false, rankOffline},
		{"reading back from who is offline", piece{chain: chain(level), members: written(1), pos: 1, offline: true}, false, rankRead},
		{"a stop that may be", piece{chain: chain(stop), duty: mayStop}, false, rankStopBehind},
		{"a stop that must be", piece{chain: chain(stop), duty: mustStop}, false, rankStop},
		{"a stop that must be, unheard thrice", piece{chain: chain(stop), duty: mustStop, tries: ofCommands.silent}, false, rankStopBehind},
	} {
		if got := row.piece.rankOf(row.silent); got != row.rank {
			t.Errorf("%s: rank %d, want %d", row.what, got, row.rank)
		}
	}
}
