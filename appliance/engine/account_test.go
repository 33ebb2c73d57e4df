package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What an exchange ended with is counted once, and as what it was; that we were late, or that a device
// needs time, is no fault of the wiring.
func TestHowExchangesAreCounted(t *testing.T) {
	type stats = appliance.BusStats
	for _, row := range []struct {
		err  error
		want stats
	}{
		{nil, stats{}},
		{appliance.ErrAccepted, stats{}},
		{fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent), stats{}},
		{errors.New("what nobody knows"), stats{}},
		{fmt.Errorf("unit 3: %w", appliance.ErrSilent), stats{Silent: 1}},
		{fmt.Errorf("unit 3: %w", appliance.ErrDamaged), stats{Damaged: 1}},
		{fmt.Errorf("unit 3: %w", appliance.ErrRefused), stats{Refused: 1}},
		{fmt.Errorf("unit 3: %w", appliance.ErrBusy), stats{Busy: 1}},
		{fmt.Errorf("unit 3: %w", appliance.ErrBusDown), stats{Down: 1}},
		{fmt.Errorf("unit 3: %w", appliance.ErrExpired), stats{Expired: 1}},
		{fmt.Errorf("unit 3: %w", appliance.ErrPreempted), stats{Preempted: 1}},
	} {
		var got stats
		row.want.Exchanges = 1
		if count(&got, row.err); got != row.want {
			t.Errorf("%v: %+v, want %+v", row.err, got, row.want)
		}
	}
}

// What the end of an exchange says of its device: whether it is there, and how long an answer to it may still come, which
// must not be taken for that of the next.
func TestWhatAnExchangeSaysOfItsDevice(t *testing.T) {
	const late, worst = 30 * time.Millisecond, 100 * time.Millisecond
	sent := appliance.Result{Sent: noon}
	deadline := fmt.Errorf("%w: %w", appliance.ErrSilent, context.DeadlineExceeded)
	overslept := fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent)
	for _, row := range []struct {
		what     string
		offline  bool
		unread   bool // it cannot be read
		kind     taskKind
		res      appliance.Result
		err      error
		online   bool
		fails    int
		rests    time.Duration // with questions of the same kind
		uncounts bool
	}{
		{what: "it answers", kind: taskRead, res: sent, online: true},
		{what: "it answers again", offline: true, kind: taskProbe, res: sent, online: true},
		{what: "it acknowledges", kind: taskWrite, res: sent, online: true},
		{what: "it acknowledges a stop", kind: taskStop, res: sent, online: true},
		{what: "an adapter may have acknowledged for it", offline: true, kind: taskWrite, res: sent, fails: 1},
		{what: "or when it was tried", offline: true, kind: taskAttempt, res: sent, fails: 1},
		{what: "nothing else could tell", offline: true, unread: true, kind: taskAttempt, res: sent, online: true},
		{what: "a refusal is an answer", offline: true, kind: taskRead, res: sent, err: appliance.ErrRefused, online: true},
		{what: "so is that it is busy", offline: true, kind: taskWrite, res: sent, err: appliance.ErrBusy, online: true},
		{what: "and that it needs time", offline: true, kind: taskWrite, res: sent, err: appliance.ErrAccepted, online: true},
		{what: "silence to a read", kind: taskRead, res: sent, err: appliance.ErrSilent, online: true, fails: 2, rests: late},
		{what: "silence to a write", kind: taskWrite, res: sent, err: appliance.ErrSilent, online: true, fails: 2, rests: late},
		{what: "damage", kind: taskRead, res: sent, err: appliance.ErrDamaged, online: true, fails: 2},
		{what: "the command's time was over", kind: taskWrite, res: sent, err: deadline, online: true, fails: 1, rests: worst + late},
		{what: "we woke too late", kind: taskRead, res: sent, err: overslept, online: true, fails: 1, rests: late},
		{what: "we woke too late for a write", kind: taskWrite, res: sent, err: overslept, online: true, fails: 1, rests: late},
		{what: "it gave way", kind: taskProbe, res: sent, err: appliance.ErrPreempted, online: true, fails: 1, rests: late},
		{what: "it gave way before a byte was out", kind: taskProbe, err: appliance.ErrPreempted, online: true, fails: 1},
		{what: "the port was gone", kind: taskRead, err: appliance.ErrBusDown, online: true, fails: 1},
		{what: "a scan finds nobody", kind: taskJob, res: sent, err: appliance.ErrSilent, online: true, fails: 1, uncounts: true},
		{what: "a long step of one", kind: taskLong, res: sent, err: appliance.ErrSilent, online: true, fails: 1, uncounts: true},
	} {
		r := newRig(t, 1, 0).begin()
		s := r.s
		s.now = r.now
		d := s.devices["1"]
		d.online, d.polled, d.fails, d.firstFail, d.restReads, d.restWrites, d.lastSeen = !row.offline, !row.unread, 1, r.now, r.now, r.now, noon
		before, of := s.accounts.stats.Exchanges, d.stats.Exchanges
		s.account(&task{kind: row.kind, exchange: &appliance.Exchange{Device: "1", Late: late, Worst: worst}}, row.res, row.err)
		fails := row.fails
		if d.online != row.online || d.fails != fails || d.online && fails == 0 && !d.lastSeen.Equal(r.now) {
			t.Errorf("%s: online %v after %d failures, seen at %v; want %v after %d", row.what, d.online, d.fails, d.lastSeen, row.online, row.fails)
		}
		reads, writes := d.restReads.Sub(r.now), d.restWrites.Sub(r.now)
		if row.kind == taskWrite || row.kind == taskStop || row.kind == taskAttempt {
			reads, writes = writes, reads
		}
		if reads != row.rests || writes != 0 {
			t.Errorf("%s: it is left alone for %v, with the other kind for %v; want %v", row.what, reads, writes, row.rests)
		}
		if n := map[bool]int{false: 1}[row.uncounts]; int(s.accounts.stats.Exchanges-before) != n || int(d.stats.Exchanges-of) != n {
			t.Errorf("%s: counted %d and %d times", row.what, s.accounts.stats.Exchanges-before, d.stats.Exchanges-of)
		}
	}
}

// A device is offline after three failures that span five seconds, and is then asked ever more rarely; a command that was in vain
// changes nothing of that, and one answer everything.
func TestWhenADeviceIsOffline(t *testing.T) {
	d := &device{}
	if !d.success(noon) || d.success(noon) {
		t.Error("it comes online once")
	}
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
	for i, row := range []struct {
		at    float64
		probe bool
		gone  bool
		next  float64 // asked again
	}{
		{0, true, false, 2.5}, {2.4, true, false, 4.9}, {4.9, true, false, 7.4}, {5, true, true, 6},
		{6, true, false, 8}, {7, false, false, 8}, {8, true, false, 12}, {12, true, false, 20}, {20, true, false, 32}, {32, true, false, 44},
	} {
		if gone := d.failure(row.probe, at(row.at)); gone != row.gone || !d.probeAt.Equal(at(row.next)) {
			t.Errorf("failure %d, after %v s: gone %v, asked again after %v; want %v, %v s", i+1, row.at, gone, d.probeAt.Sub(noon), row.gone, row.next)
		}
	}
	if !d.suspect() || !d.success(at(44)) || d.suspect() || !d.lastSeen.Equal(at(44)) {
		t.Errorf("an answer: %+v", d)
	}
	d.failure(true, at(50))
	if d.failure(true, at(60)); !d.online {
		t.Error("it is offline after two failures")
	}
	for _, row := range []struct {
		slowest time.Duration
		quick   bool
	}{{0, false}, {probeWait/2 - 1, true}, {probeWait / 2, false}} {
		if d.slowest = row.slowest; d.quick() != row.quick {
			t.Errorf("one that answered within %v: quick %v", row.slowest, d.quick())
		}
	}
}

// What devices that do not answer may cost is a share of the bus's time, of which little is saved up.
func TestWhatTheSilentMayCost(t *testing.T) {
	b := budget{share: 0.1}
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	spend := func(ms int) func(time.Time) {
		return func(now time.Time) { b.spend(now, time.Duration(ms)*time.Millisecond) }
	}
	owe := func(ms int) func(time.Time) {
		return func(now time.Time) { b.owe(now, time.Duration(ms)*time.Millisecond) }
	}
	for i, row := range []struct {
		at   int
		cost func(time.Time)
		wait int // until more may be spent, and a millisecond
	}{
		{0, spend(0), 0}, {0, spend(250), 0}, {0, spend(60), 101}, {100, spend(0), 1}, {101, spend(0), 0},
		{100_000, spend(299), 0}, {100_000, spend(1), 1},
		{200_000, owe(310), 101}, {200_000, owe(5000), 3001}, {200_000, owe(5000), 3001}, {200_000, spend(100), 4001}, {200_000, owe(5000), 4001},
	} {
		row.cost(at(row.at))
		want := time.Time{}
		if row.wait > 0 {
			want = at(row.at + row.wait)
		}
		if got := b.allowed(at(row.at)); got.Sub(want).Abs() > 10*time.Microsecond {
			t.Errorf("row %d: allowed at %v, want %v", i, got, want)
		}
	}
}

// The use of a bus is that of its last minute, and of less than that at the beginning.
func TestTheUseOfABusIsThatOfItsLastMinute(t *testing.T) {
	var u use
	shares := func(second float64, busy, dead float64) {
		t.Helper()
		b, d := u.shares(noon.Add(time.Duration(second * float64(time.Second))))
		if b-busy > 1e-9 || busy-b > 1e-9 || d-dead > 1e-9 || dead-d > 1e-9 {
			t.Errorf("after %v s: %v busy and %v in vain, want %v and %v", second, b, d, busy, dead)
		}
	}
	add := func(second float64, dead bool) {
		u.add(noon.Add(time.Duration(second*float64(time.Second))), time.Second, dead)
	}
	shares(0, 0, 0)
	add(1, false)
	shares(0, 0, 0)
	shares(0.5, 1, 0)
	shares(2, 0.5, 0)
	add(4, true)
	shares(4, 0.5, 0.25)
	shares(40, 2/40., 1/40.)
	shares(60, 2/60., 1/60.)
	shares(61, 1/60., 1/60.)
	add(63.5, false)
	add(64, false)
	shares(64, 2/60., 0)
	add(-5, true) // the clock was set back
	shares(200, 0, 0)
}

// The time that a silent device took is given to the commands of others, and in doubt to all, but not beyond what anybody waits
// for; nor to a stop that has an end of its own.
func TestWhoIsGivenTheTimeOfTheSilent(t *testing.T) {
	const took = time.Second
	of := func(device string, wants appliance.Want, change func(*piece)) *piece {
		p := &piece{chain: appliance.Chain{Wants: []appliance.Want{wants}, Steps: []appliance.Exchange{{Device: device}}, Verify: []appliance.Exchange{{Device: device}}},
			expires: noon.Add(5 * time.Second), ceiling: noon.Add(time.Minute)}
		change(p)
		return p
	}
	level := appliance.Want{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: dim(40)}
	stop := appliance.Want{Ref: appliance.Ref{Shade: 5001}, Values: motion(appliance.Stop)}
	as := func(*piece) {}
	for _, row := range []struct {
		what  string
		piece *piece
		doubt bool
		given time.Duration // by makeUpFor
		kept  time.Duration // by keepStops
	}{
		{"another's", of("2", level, as), false, took, 0},
		{"its own", of("1", level, as), false, 0, 0},
		{"its own in doubt", of("1", level, as), true, took, 0},
		{"one for which nobody waits longer", of("2", level, func(p *piece) { p.ceiling = noon.Add(5*time.Second + took/4) }), false, took / 4, 0},
		{"a stop with an end of its own", of("2", stop, func(p *piece) { p.duty, p.tries = mustStop, 1 }), false, 0, 0},
		{"a stop", of("2", stop, as), false, took, 0},
		{"a stop that is tried again", of("2", stop, func(p *piece) { p.tries = 1 }), false, took, took},
		{"whether a stop was obeyed", of("2", stop, func(p *piece) { p.tries, p.pos = 1, 1 }), false, took, 0},
		{"a level that is tried again", of("2", level, func(p *piece) { p.tries = 1 }), false, took, 0},
	} {
		s := New()
		s.pieces, s.link.doubt = []*piece{row.piece}, row.doubt
		before := row.piece.expires
		if s.makeUpFor("1", took); row.piece.expires.Sub(before) != row.given {
			t.Errorf("%s: is given %v, want %v", row.what, row.piece.expires.Sub(before), row.given)
		}
		row.piece.expires = before
		if s.keepStops(&appliance.Exchange{}, took); row.piece.expires.Sub(before) != row.kept {
			t.Errorf("%s: keeps %v behind others, want %v", row.what, row.piece.expires.Sub(before), row.kept)
		}
		row.piece.expires = before
		if s.keepStops(row.piece.exchange(), took); row.piece.expires != before {
			t.Errorf("%s: keeps the time that it took itself", row.what)
		}
	}
}

// How often what has failed is tried again, and how long a busy device is left alone before that.
func TestHowOftenSomethingIsTried(t *testing.T) {
	const forever = 100
	for _, row := range []struct {
		of    patience
		err   error
		tries int // in all
		waits []time.Duration
	}{
		{ofCommands, appliance.ErrSilent, 3, make([]time.Duration, 2)},
		{ofCommands, appliance.ErrPreempted, 3, make([]time.Duration, 2)},
		{ofCommands, appliance.ErrDamaged, 6, make([]time.Duration, 5)},
		{ofCommands, appliance.ErrRefused, 1, nil},
		{ofCommands, appliance.ErrBusDown, 1, nil},
		{ofCommands, appliance.ErrBusy, forever, []time.Duration{50e6, 100e6, 200e6, 400e6, 800e6, 800e6, 800e6, 800e6, 800e6, 800e6}},
		{ofCommands, appliance.ErrAccepted, forever, []time.Duration{50e6, 100e6}},
		{ofTables, appliance.ErrSilent, 3, make([]time.Duration, 2)},
		{ofTables, appliance.ErrDamaged, 3, make([]time.Duration, 2)},
		{ofTables, appliance.ErrBusy, 7, []time.Duration{500e6, 500e6, 500e6, 500e6, 500e6, 500e6}},
	} {
		var waits []time.Duration
		n := 1
		for ; n < forever; n++ {
			wait, ok := row.of.again(fmt.Errorf("unit 1: %w", row.err), n-1)
			if !ok {
				break
			}
			waits = append(waits, wait)
		}
		if n != row.tries || !slices.Equal(waits[:min(len(waits), len(row.waits))], row.waits) {
			t.Errorf("%v: tried %d times, after %v; want %d, after %v", row.err, n, waits, row.tries, row.waits)
		}
	}
}

// Who is tried again by its piece: a stop that somebody must send until its time is over, one that may be sent once, and
// nobody who is known to be gone.
func TestWhichPiecesAreTriedAgain(t *testing.T) {
	overslept := fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent)
	for _, row := range []struct {
		what    string
		err     error
		late    bool // its time is over
		gone    bool // its device
		piece   piece
		reading bool
		again   bool
		wait    time.Duration
	}{
		{what: "silence", err: appliance.ErrSilent, again: true},
		{what: "silence, when its time is over", err: appliance.ErrSilent, late: true},
		{what: "the third silence", err: appliance.ErrSilent, piece: piece{tries: 2}},
		{what: "silence of who is gone", err: appliance.ErrSilent, gone: true},
		{what: "silence of who was gone when it was asked", err: appliance.ErrSilent, piece: piece{offline: true}},
		{what: "damage of who is gone", err: appliance.ErrDamaged, gone: true, again: true},
		{what: "busy", err: appliance.ErrBusy, again: true, wait: 50 * time.Millisecond},
		{what: "what gave way", err: appliance.ErrPreempted, late: true, piece: piece{tries: 9}, again: true},
		{what: "our own lateness", err: overslept, piece: piece{tries: 9}, again: true},
		{what: "our own lateness when its time is over", err: overslept, late: true},
		{what: "a refusal", err: appliance.ErrRefused},
		{what: "a refusal to stop", err: appliance.ErrRefused, piece: piece{duty: mustStop}, again: true, wait: stopPause},
		{what: "a stop that nobody else sends", err: appliance.ErrSilent, gone: true, piece: piece{duty: mustStop, tries: 20}, again: true, wait: stopPause},
		{what: "whether that was obeyed", err: appliance.ErrSilent, gone: true, piece: piece{duty: mustStop}, reading: true},
		{what: "a stop that may be", err: appliance.ErrSilent, piece: piece{duty: mayStop}},
		{what: "whether that was obeyed", err: appliance.ErrSilent, piece: piece{duty: mayStop}, reading: true, again: true},
	} {
		r := newRig(t, 1, 0).begin()
		r.s.now = r.now
		p := row.piece
		p.chain = appliance.Chain{Steps: []appliance.Exchange{{Device: "1"}}, Verify: []appliance.Exchange{{Device: "1"}}}
		p.expires = r.now.Add(time.Second)
		if row.late {
			p.expires = r.now
		}
		if p.ceiling = p.expires; row.reading {
			p.pos = 1
		}
		d := r.s.devices["1"]
		if row.gone {
			d.online, d.fails = false, 1
		}
		again := r.s.tryAgain(&p, row.err)
		if wait := max(0, p.notBefore.Sub(r.now)); again != row.again || again && wait != row.wait {
			t.Errorf("%s: again %v after %v, want %v after %v", row.what, again, wait, row.again, row.wait)
		}
	}
}
