package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/shade"
)

// What an exchange gives way to, and how long it is waited for.
func TestWhatExchangesGiveWayTo(t *testing.T) {
	for _, row := range []struct {
		what     string
		kind     taskKind
		fails    int
		slowest  time.Duration
		several  bool
		givesWay GivesWay
		answer   bool
		patience time.Duration
		apart    bool
	}{
		{what: "a read", kind: taskRead, givesWay: ToCommands},
		{what: "a write", kind: taskWrite, givesWay: ToStop},
		{what: "a stop", kind: taskStop, givesWay: ToStop},
		{what: "a job", kind: taskJob, givesWay: ToNone},
		{what: "a question whether somebody is gone", kind: taskFinding, givesWay: ToNone},
		{what: "a long job", kind: taskLong, givesWay: ToCommands, answer: true},
		{what: "a try of who is offline", kind: taskAttempt, givesWay: ToCommands, answer: true},
		{what: "a probe", kind: taskProbe, fails: 3, givesWay: ToCommands, answer: true, patience: probeWait},
		{what: "every fourth probe of who may be slow", kind: taskProbe, fails: 4, givesWay: ToCommands, answer: true},
		{what: "every fourth of who is quick", kind: taskProbe, fails: 4, slowest: 50 * time.Millisecond, givesWay: ToCommands, answer: true, patience: probeWait},
		{what: "a read where several are out", kind: taskRead, several: true, givesWay: ToCommands, apart: true},
		{what: "a try where several are out", kind: taskAttempt, several: true, givesWay: ToCommands, apart: true},
		{what: "a job where several are out", kind: taskJob, several: true, givesWay: ToNone},
		{what: "a long job where several are out", kind: taskLong, several: true, givesWay: ToCommands, answer: true},
	} {
		r := newRig(t, 1, 0).begin()
		if row.several {
			r.s.wiring.Opened.InFlight = 4
		}
		d := r.s.devices["1"]
		d.fails, d.slowest, r.s.actions = row.fails, row.slowest, nil
		expiry := noon.Add(time.Hour)
		e := &appliance.Exchange{Device: "1"}
		r.s.perform(&task{kind: row.kind, exchange: e, expiry: expiry})
		want := Perform{Task: r.s.number, Exchange: e, Expiry: expiry, GivesWay: row.givesWay, Answer: row.answer, Patience: row.patience, Apart: row.apart}
		if got := r.s.actions[0].(Perform); got != want {
			t.Errorf("%s: %+v, want %+v", row.what, got, want)
		}
	}
}

// One exchange has the bus. Where several may be out, what gives way leaves room for a command, and in doubt there is one.
func TestHowManyAreOut(t *testing.T) {
	for _, row := range []struct {
		most, out   int
		doubt       bool
		all, yields bool
	}{
		{1, 0, false, true, true}, {1, 1, false, false, false}, {1, 0, true, true, true},
		{3, 0, true, true, true}, {3, 1, true, false, false},
		{3, 1, false, true, true}, {3, 2, false, true, false}, {3, 3, false, false, false},
	} {
		r := newRig(t, 1, 0).begin()
		r.s.wiring.Opened.InFlight, r.s.link.doubt = row.most, row.doubt
		for i := range row.out {
			r.s.tasks[uint64(1000+i)] = &task{}
		}
		if all, yields := r.s.room(false), r.s.room(true); all != row.all || yields != row.yields {
			t.Errorf("%d of %d out, in doubt %v: room %v, and for what gives way %v", row.out, row.most, row.doubt, all, yields)
		}
	}
}

// What an exchange costs is charged to those who are gone, and counts as lost if nobody answered.
func TestWhatExchangesAreChargedTo(t *testing.T) {
	const took = 100 * time.Millisecond
	sent := appliance.Result{Sent: noon}
	overslept := fmt.Errorf("%w: %w", appliance.ErrOverslept, appliance.ErrSilent)
	for _, row := range []struct {
		what             string
		kind             taskKind
		offline          bool
		res              appliance.Result
		err              error
		probes, attempts time.Duration
		busy, dead       time.Duration
		fails            int
	}{
		{what: "an answer", kind: taskRead, res: sent, busy: took},
		{what: "silence", kind: taskRead, res: sent, err: appliance.ErrSilent, busy: took, dead: took, fails: 1},
		{what: "silence to a scan", kind: taskJob, res: sent, err: appliance.ErrSilent, busy: took},
		{what: "our own lateness", kind: taskRead, res: sent, err: overslept, busy: took},
		{what: "a refusal", kind: taskRead, res: sent, err: appliance.ErrRefused, busy: took},
		{what: "a probe in vain", kind: taskProbe, offline: true, res: sent, err: appliance.ErrSilent, probes: took, busy: took, dead: took, fails: 4},
		{what: "a probe that is answered", kind: taskProbe, offline: true, res: sent, busy: took},
		{what: "a try in vain", kind: taskAttempt, offline: true, res: sent, err: appliance.ErrDamaged, attempts: took, busy: took, dead: took, fails: 4},
		{what: "a stop in vain", kind: taskStop, offline: true, res: sent, err: appliance.ErrSilent, probes: took, busy: took, dead: took, fails: 4},
		{what: "a read in vain of who is gone", kind: taskRead, offline: true, res: sent, err: appliance.ErrSilent, busy: took, dead: took, fails: 4},
		{what: "what gave way before a byte was out", kind: taskProbe, offline: true, err: appliance.ErrPreempted, fails: 3},
	} {
		r := newRig(t, 1, 0).begin()
		s := r.s
		d := s.devices["1"]
		d.slowest = 0
		if row.offline {
			d.online, d.fails, d.firstFail = false, 3, r.now.Add(-time.Minute)
		}
		s.accounts.use = use{start: r.now.Add(-10 * time.Second)}
		s.accounts.probes.spend(r.now, 0)
		s.accounts.attempts.spend(r.now, 0)
		probes, attempts := s.accounts.probes.left, s.accounts.attempts.left
		s.tasks[7] = &task{id: 7, kind: row.kind, exchange: &appliance.Exchange{Device: "1"}, lent: true}
		d.asked = true
		r.take(Over{Task: 7, Result: row.res, Err: row.err, Began: r.now.Add(-took)})
		busy, dead := s.accounts.use.shares(r.now)
		p, a := probes-s.accounts.probes.left, attempts-s.accounts.attempts.left
		if b, dd := time.Duration(busy*10*1e9+0.5), time.Duration(dead*10*1e9+0.5); p != row.probes || a != row.attempts || b != row.busy || dd != row.dead {
			t.Errorf("%s: probes are charged %v, tries %v, %v busy, %v in vain; want %v, %v, %v, %v", row.what, p, a, b, dd, row.probes, row.attempts, row.busy, row.dead)
		}
		if d.fails != row.fails || d.asked || len(s.tasks) > 0 {
			t.Errorf("%s: %d failures, want %d; asked %v; %d out", row.what, d.fails, row.fails, d.asked, len(s.tasks))
		}
		if want := map[bool]time.Duration{true: took}[row.err == nil]; d.slowest != want {
			t.Errorf("%s: it counts as having answered within %v, want %v", row.what, d.slowest, want)
		}
	}
}

// A probe that never found the bus free in all its time has failed, and others have their turn.
func TestAProbeThatIsNeverLetInGivesUp(t *testing.T) {
	for _, row := range []struct {
		took  time.Duration
		fails int
	}{{probeWait - 1, 3}, {probeWait, 4}} {
		for _, sent := range []time.Time{{}, noon} {
			r := newRig(t, 1, 0).begin()
			d := r.s.devices["1"]
			d.online, d.fails = false, 3
			poll := r.s.schedule.polls[0]
			before := poll.last
			r.s.accounts.probes.spend(r.now, 0)
			left := r.s.accounts.probes.left
			task := r.s.pollTask(poll, taskProbe)
			r.s.tasks[7] = task
			r.take(Over{Task: 7, Result: appliance.Result{Sent: sent}, Err: appliance.ErrPreempted, Began: r.now.Add(-row.took)})
			if d.fails != row.fails {
				t.Errorf("after %v, sent %v: %d failures, want %d", row.took, !sent.IsZero(), d.fails, row.fails)
			}
			if spent := left - r.s.accounts.probes.left; sent.IsZero() && spent != map[bool]time.Duration{true: row.took}[row.fails > 3] || !sent.IsZero() && spent != row.took {
				t.Errorf("after %v, sent %v: it cost %v", row.took, !sent.IsZero(), spent)
			}
			if kept := poll.last.Equal(before); kept != sent.IsZero() {
				t.Errorf("after %v, sent %v: its turn is kept: %v", row.took, !sent.IsZero(), kept)
			}
		}
	}
}

// What the end of a poll says: whether it is asked again at once, and how often it is asked from now on.
func TestWhatThePollsComeTo(t *testing.T) {
	sent := appliance.Result{Sent: noon}
	for _, row := range []struct {
		what     string
		res      appliance.Result
		err      error
		kept     bool // its turn
		answered bool
		refusals int
		rests    bool
		said     int
	}{
		{what: "it is answered", res: sent, answered: true},
		{what: "it gave way before a byte was out", err: appliance.ErrPreempted, kept: true, refusals: 2},
		{what: "it gave way afterwards", res: sent, err: appliance.ErrPreempted, refusals: 2},
		{what: "we were late", res: sent, err: appliance.ErrOverslept, kept: true, refusals: 2},
		{what: "the answer is damaged", res: sent, err: appliance.ErrDamaged, refusals: 2, rests: true},
		{what: "it is refused", res: sent, err: appliance.ErrRefused, refusals: 3, said: 1},
		{what: "it is silent", res: sent, err: appliance.ErrSilent, refusals: 2},
	} {
		r := newRig(t, 2, 0)
		r.late = 70 * time.Millisecond
		r.begin()
		r.said = nil
		p := r.s.schedule.polls[0]
		p.last, p.answered, p.refusals = noon, false, 2
		d := r.s.devices["1"]
		d.restReads = time.Time{}
		r.s.now = r.now
		task := r.s.pollTask(p, taskRead)
		if !p.last.Equal(r.now) || task.poll != p || task.exchange != &p.Exchange || task.kind != taskRead {
			t.Fatalf("%s: %+v of %+v", row.what, task, p)
		}
		r.s.actions = nil
		r.s.judgePoll(task, row.res, row.err)
		if p.last.Equal(noon) != row.kept || p.answered != row.answered || p.refusals != row.refusals {
			t.Errorf("%s: asked last at %v, answered %v, %d refusals; want its turn kept %v, %v, %d", row.what, p.last, p.answered, p.refusals, row.kept, row.answered, row.refusals)
		}
		if rests := d.restReads.Equal(r.now.Add(r.late)); rests != row.rests {
			t.Errorf("%s: it is left alone until %v, want so: %v", row.what, d.restReads, row.rests)
		}
		said := 0
		for _, a := range r.s.actions {
			if _, is := a.(Log); is {
				said++
			}
		}
		if said != row.said {
			t.Errorf("%s: said %d times", row.what, said)
		}
	}
}

// What an exchange of a command is: a write gives way to stops only, the one try of who is offline to all; and a write that may be
// acknowledged by the answer to an older one is confirmed by reading only.
func TestWhatExchangesOfCommandsAre(t *testing.T) {
	for _, row := range []struct {
		what    string
		piece   piece
		reading bool
		rests   time.Duration // of writes to its device
		kind    taskKind
		doubted bool
	}{
		{what: "a write", kind: taskWrite},
		{what: "a read", reading: true, kind: taskRead},
		{what: "a try", piece: piece{offline: true}, kind: taskAttempt},
		{what: "reading back of who was offline", piece: piece{offline: true}, reading: true, kind: taskRead},
		{what: "a stop that must be", piece: piece{duty: mustStop}, kind: taskStop},
		{what: "whether it was obeyed", piece: piece{duty: mustStop}, reading: true, kind: taskRead},
		{what: "a stop that may be", piece: piece{duty: mayStop}, kind: taskWrite},
		{what: "a write while an answer may come", rests: time.Second, kind: taskWrite, doubted: true},
		{what: "the same again", piece: piece{tries: 1}, rests: time.Second, kind: taskWrite},
		{what: "a read while an answer to a write may come", reading: true, rests: time.Second, kind: taskRead},
	} {
		r := newRig(t, 1, 0).begin()
		p := row.piece
		want := appliance.Want{Ref: appliance.Ref{Node: 1, Channel: 1}, Values: dim(40)}
		p.chain = appliance.Chain{Wants: []appliance.Want{want}, Steps: []appliance.Exchange{{Device: "1", Airtime: time.Second, Worst: time.Minute}}, Verify: []appliance.Exchange{{Device: "1"}}}
		p.members = []*member{{target: want}}
		p.expires, p.ceiling = noon.Add(time.Minute), noon.Add(time.Hour)
		if row.reading {
			p.pos = 1
		}
		r.s.now = r.now
		r.s.devices["1"].restWrites = r.now.Add(row.rests)
		r.s.behind.wrote = []appliance.Ref{{Node: 9}}
		task := r.s.pieceTask(&p)
		if task.kind != row.kind || p.chain.Group != row.doubted || task.piece != &p || task.exchange != p.exchange() {
			t.Errorf("%s: kind %d, doubted %v", row.what, task.kind, p.chain.Group)
		}
		until, wrote := p.expires, "[{1 1 0}]"
		if row.reading {
			until, wrote = p.ceiling, "[]"
		}
		if !task.expiry.Equal(until) || fmt.Sprint(r.s.behind.wrote) != wrote {
			t.Errorf("%s: until %v, wrote %v", row.what, task.expiry, r.s.behind.wrote)
		}
		if typical, worst := r.s.schedule.bounds(); !row.reading && (typical != time.Second || worst != time.Minute) {
			t.Errorf("%s: the bounds are %v and %v", row.what, typical, worst)
		}
	}
}

// lend gives out what a bus with several questions at once is to do, up to n of them, and tells that their frames are out.
func (r *rig) lend(n int) (out []*Perform) {
	for len(out) < n {
		task, _ := r.take(Look{Down: r.down})
		if task == nil {
			break
		}
		r.take(Out{Task: task.Task, Sent: r.now})
		out = append(out, task)
	}
	return out
}

// While the frame of a command is out, a newer one may take its lamp, and the port may go: what comes back is not taken for more
// than it is.
func TestWhatHappensWhileAFrameIsOut(t *testing.T) {
	gone := errors.New("pulled")
	for _, row := range []struct {
		what   string
		newer  bool
		down   error
		err    error
		first  Outcome
		why    error
		second Outcome
	}{
		{what: "nothing", first: Confirmed},
		{what: "it is silent once", err: appliance.ErrSilent, first: Confirmed},
		{what: "a newer command", newer: true, first: Failed, why: appliance.ErrSuperseded, second: Confirmed},
		{what: "a newer command, and silence", newer: true, err: appliance.ErrSilent, first: Failed, why: appliance.ErrSuperseded, second: Confirmed},
		{what: "the port goes", down: gone, err: appliance.ErrBusDown, first: Failed, why: gone},
	} {
		r := newRig(t, 3, 0)
		r.begin()
		w := r.wiring()
		w.Opened.InFlight = 4
		r.take(Configure{Wiring: w})
		lamp := r.things[0]
		first := r.command(dim(40), lamp)
		out := r.lend(1)
		if len(out) != 1 || !r.s.devices["1"].asked || len(r.lend(4)) > 0 {
			t.Fatalf("%s: %d are out, or the device is asked twice", row.what, len(out))
		}
		var second uint64
		if row.newer {
			second = r.command(dim(60), lamp)
		}
		if row.down != nil {
			r.down = row.down
			r.take(Look{Down: r.down})
		}
		began := r.now
		res, _ := out[0].Exchange.Do(t.Context(), appliance.Yield{})
		r.take(Over{Task: out[0].Task, Result: res, Err: row.err, Began: began})
		if r.s.devices["1"].asked {
			t.Errorf("%s: it still counts as asked", row.what)
		}
		r.run(5 * time.Second)
		if as, why := r.outcome(first); as != row.first || !errors.Is(why, row.why) {
			t.Errorf("%s: the first is %v, %v; want %v, %v", row.what, as, why, row.first, row.why)
		}
		if as, why := r.outcome(second); row.newer && (as != row.second || lamp.level != 60) {
			t.Errorf("%s: the second is %v, %v; the lamp has %d", row.what, as, why, lamp.level)
		}
	}
}

// asks is a job of a tool or a scan that asks a thing of a rig, or somebody whom nobody knows.
func (r *rig) asks(job uint64, th *thing, scan bool) {
	e := r.exchange(th, nil)
	r.take(Ask{Job: job, Exchange: e, Scan: scan})
}

// What a tool asks is told its outcome, behind commands and before polls, and says nothing of the device that is polled there.
func TestWhatToolsAsk(t *testing.T) {
	r := newRig(t, 2, 0).begin()
	once := false
	r.things[0].answers = func(write bool) (bool, time.Duration, error) {
		if once {
			return true, 0, nil
		}
		once = true
		return r.silent(write)
	}
	r.asks(1, r.things[0], false)
	r.asks(2, r.things[1], false)
	r.asks(3, r.things[1], false)
	r.take(Withdraw{Job: 3})
	r.command(dim(70), r.things[1])
	r.frames = nil
	r.run(300 * time.Millisecond)
	var order []string
	for _, f := range r.frames {
		order = append(order, fmt.Sprint(f.node, f.write))
	}
	if got := strings.Join(order[:min(4, len(order))], " "); got != "2 true 2 false 1 false 2 false" {
		t.Errorf("%s", got)
	}
	if a, ok := r.jobs[1]; !ok || !errors.Is(a.Err, appliance.ErrSilent) {
		t.Errorf("the first: %+v", a)
	}
	if a, ok := r.jobs[2]; !ok || a.Err != nil || len(a.Result.Readings) != 1 {
		t.Errorf("the second: %+v", a)
	}
	if _, ok := r.jobs[3]; ok {
		t.Error("what was taken back is answered")
	}
	if d := r.s.devices["1"]; !d.online || d.fails > 0 || d.stats.Silent > 0 {
		t.Errorf("the device: %+v", d)
	}
}

// An answer to a scan may come late, too, and must not be taken for that of a poll; a step that may last is not begun when a shade
// has to be stopped meanwhile, and gives way.
func TestWhatScansAsk(t *testing.T) {
	const late, worst = 40 * time.Millisecond, 900 * time.Millisecond
	sent := appliance.Result{Sent: noon}
	for _, row := range []struct {
		what   string
		tool   bool
		res    appliance.Result
		err    error
		rested bool // an answer to a read before may still come
		rests  time.Duration
		again  bool
	}{
		{what: "silence", res: sent, err: appliance.ErrSilent, rests: late},
		{what: "damage", res: sent, err: appliance.ErrDamaged, rests: late},
		{what: "silence to a tool", tool: true, res: sent, err: appliance.ErrSilent},
		{what: "an answer", res: sent},
		{what: "an answer that may be an older one", res: sent, rested: true, rests: late},
		{what: "it gave way", res: sent, err: appliance.ErrPreempted, rests: worst + late},
		{what: "it gave way before a byte was out", err: appliance.ErrPreempted, again: true},
		{what: "a refusal", res: sent, err: appliance.ErrRefused},
	} {
		r := newRig(t, 1, 0).begin()
		s, d := r.s, r.s.devices["1"]
		s.now, s.actions, d.restReads = r.now, nil, time.Time{}
		if row.rested {
			d.restReads = r.now.Add(1)
		}
		r.take(Ask{Job: 4, Exchange: appliance.Exchange{Device: "1", Late: late, Worst: worst}, Scan: !row.tool})
		if s.behind.jobs[0].Exchange.Device != "" {
			t.Errorf("%s: it is counted as the device's", row.what)
		}
		task := s.nextJob(!row.tool, func(time.Duration) bool { return true })
		if task == nil || task.kind != taskJob || len(s.behind.jobs) > 0 || s.nextJob(row.tool, func(time.Duration) bool { return true }) != nil {
			t.Fatalf("%s: %+v", row.what, task)
		}
		s.actions = nil
		s.judgeJob(task, row.res, row.err)
		if again := len(s.behind.jobs) == 1; again != row.again || again == (len(s.actions) == 1) {
			t.Errorf("%s: it is done again %v, told %v", row.what, again, s.actions)
		}
		if got := max(0, d.restReads.Sub(r.now)); got != row.rests {
			t.Errorf("%s: the device is left alone for %v, want %v", row.what, got, row.rests)
		}
	}
	r := newRig(t, 1, 0).begin()
	for _, row := range []struct {
		what  string
		scan  bool
		worst time.Duration
		room  time.Duration
		begun bool
		kind  taskKind
	}{
		{"a tool", false, time.Hour, 20 * time.Millisecond, true, taskJob},
		{"a tool, a shade is to be stopped", false, time.Millisecond, 19 * time.Millisecond, false, 0},
		{"a short step of a scan", true, scanMost, 0, true, taskJob},
		{"a long step of a scan", true, scanMost + 1, scanMost + 1, true, taskLong},
		{"a long step, a shade is to be stopped", true, scanMost + 1, scanMost, false, 0},
	} {
		r.s.behind.jobs = nil
		r.take(Ask{Job: 5, Exchange: appliance.Exchange{Airtime: 20 * time.Millisecond, Worst: row.worst}, Scan: row.scan, Expiry: noon})
		task := r.s.nextJob(row.scan, func(took time.Duration) bool { return took <= row.room })
		if (task != nil) != row.begun || task != nil && (task.kind != row.kind || task.expiry != noon || task.job.Job != 5) {
			t.Errorf("%s: %+v", row.what, task)
		}
	}
}

// Parts of values: what a newer command takes, what is left, and what two speak of.
func TestPartsOfValues(t *testing.T) {
	const level, tune, colour, move = appliance.CanSwitch | appliance.CanDim, appliance.CanTune, appliance.CanColour, appliance.CanMove | appliance.CanPosition
	for _, row := range []struct {
		has  appliance.Ability
		want aspect
	}{
		{appliance.CanSwitch, aspectLight}, {appliance.CanDim, aspectLight}, {tune, aspectTune}, {colour, aspectColour},
		{appliance.CanMove, aspectMotion}, {appliance.CanPosition, aspectMotion}, {0, 0}, {level | tune | colour | move, aspectLight | aspectTune | aspectColour | aspectMotion},
	} {
		if got := aspectsOf(row.has); got != row.want {
			t.Errorf("%v: %v, want %v", row.has, got, row.want)
		}
	}
	for _, row := range []struct {
		takes aspect
		left  appliance.Ability
	}{
		{0, level | tune | colour | move}, {aspectLight, tune | colour | move}, {aspectTune, level | colour | move}, {aspectColour, level | tune | move}, {aspectMotion, level | tune | colour},
		{aspectLight | aspectColour, tune | move},
	} {
		if got := without(level|tune|colour|move, row.takes); got != row.left {
			t.Errorf("without %v: %v, want %v", row.takes, got, row.left)
		}
	}
	all := appliance.Values{Has: level | tune | colour | move, Level: 40, Kelvin: 3000, RGBW: appliance.RGBW{R: 1}, Motion: appliance.Opening, Position: 30}
	with := func(change func(*appliance.Values)) appliance.Reading {
		v := all
		change(&v)
		return appliance.Reading{Values: v}
	}
	for _, row := range []struct {
		what string
		got  appliance.Reading
		want bool
	}{
		{"the same", with(func(*appliance.Values) {}), true},
		{"another level", with(func(v *appliance.Values) { v.Level = 41 }), false},
		{"another level of which nothing is said", with(func(v *appliance.Values) { v.Level, v.Has = 41, v.Has&^level }), true},
		{"another temperature", with(func(v *appliance.Values) { v.Kelvin = 2700 }), false},
		{"another temperature of which nothing is said", with(func(v *appliance.Values) { v.Kelvin, v.Has = 2700, v.Has&^tune }), true},
		{"another colour", with(func(v *appliance.Values) { v.RGBW.R = 2 }), false},
		{"another colour of which nothing is said", with(func(v *appliance.Values) { v.RGBW.R, v.Has = 2, v.Has&^colour }), true},
	} {
		if got := agrees(all, row.got); got != row.want {
			t.Errorf("%s agrees: %v", row.what, got)
		}
	}
	// A second read of the same thing adds what it speaks of.
	whole := appliance.Values{Has: level | tune | colour | move, Level: 1, Kelvin: 2, RGBW: appliance.RGBW{R: 3}, Motion: appliance.Stopped, Position: 4}
	for _, has := range []appliance.Ability{level, tune, colour, appliance.CanMove, appliance.CanPosition} {
		part := whole
		part.Has = has
		want := all
		switch has {
		case level:
			want.Level = 1
		case tune:
			want.Kelvin = 2
		case colour:
			want.RGBW = whole.RGBW
		case appliance.CanMove:
			want.Motion = whole.Motion
		case appliance.CanPosition:
			want.Position = 4
		}
		got := merge(appliance.Reading{Values: all}, appliance.Reading{Values: part, At: noon, Reached: true, Why: "hot"})
		if got.Values != want || got.At != noon || !got.Reached || got.Why != "hot" {
			t.Errorf("with %v: %+v, want %+v", has, got, want)
		}
	}
	if got := merge(appliance.Reading{}, appliance.Reading{Values: whole}); got.Values != whole {
		t.Errorf("of nothing: %+v", got)
	}
}

// People are told what was there instead of what was wanted.
func TestValuesAreToldToPeople(t *testing.T) {
	at := func(m appliance.Motion, has appliance.Ability) appliance.Values {
		return appliance.Values{Has: has, Motion: m, Position: 30}
	}
	for _, row := range []struct {
		v    appliance.Values
		want string
	}{
		{at(appliance.MoveTo, appliance.CanMove|appliance.CanPosition), "go to 30 %"},
		{at(appliance.Opening, appliance.CanMove|appliance.CanPosition), "opening at 30 %"},
		{at(appliance.Opening, appliance.CanPosition), "at 30 %"},
		{at(appliance.Opening, appliance.CanMove), "opening"},
		{appliance.Values{Has: appliance.CanColour | appliance.CanDim, Level: 5, RGBW: appliance.RGBW{R: 1, G: 2, B: 3, W: 4}}, "1:2:3:4"},
		{appliance.Values{Has: appliance.CanTune | appliance.CanDim, Level: 5, Kelvin: 2700}, "2700 K"},
		{dim(40), "40 %"},
	} {
		if got := describe(row.v); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
	got := mismatch(dim(40), appliance.Reading{Values: dim(10), Why: "lamp failure"})
	if !errors.Is(got, appliance.ErrMismatch) || !strings.HasSuffix(got.Error(), "10 % instead of 40 %: lamp failure") {
		t.Error(got)
	}
	if got := mismatch(dim(40), appliance.Reading{Values: dim(10)}); !strings.HasSuffix(got.Error(), "10 % instead of 40 %") {
		t.Error(got)
	}
	s := New()
	s.link.down = errors.New("pulled")
	for _, row := range []struct {
		why, want error
	}{{shade.ErrDown, s.link.down}, {shade.ErrExpired, errTooLate}, {shade.ErrSuperseded, appliance.ErrSuperseded}} {
		if got := s.refusal(row.why, appliance.Want{}); got != row.want {
			t.Errorf("%v: %v, want %v", row.why, got, row.want)
		}
	}
	if got := s.refusal(shade.ErrNoTravel, appliance.Want{Values: at(appliance.MoveTo, 0)}); !errors.Is(got, appliance.ErrUnable) || !strings.Contains(got.Error(), "go to 30 %") {
		t.Error(got)
	}
	long := strings.Repeat("é", BriefMost)
	if Brief(long) != long || len([]rune(Brief(long+"é"))) != BriefMost || !strings.HasSuffix(Brief(long+"é"), "é…") {
		t.Error("what devices say is not cut to what is kept")
	}
	if lastSeen(&device{}, noon) == lastSeen(&device{lastSeen: noon.Add(-61 * time.Second)}, noon) || !strings.Contains(lastSeen(&device{lastSeen: noon.Add(-61 * time.Second)}, noon), "1m1s ago") {
		t.Error("when a device was last seen is not said")
	}
}

// Why a command failed is told as what matters to people: what the device has instead, how the last try of it ended, or that time ran out.
func TestWhyACommandFailed(t *testing.T) {
	other := mismatch(dim(40), appliance.Reading{Values: dim(10)})
	for _, row := range []struct {
		what  string
		m     member
		err   error
		is    error
		apart error // what it does not say
	}{
		{"superseded", member{why: other, tried: appliance.ErrSilent}, appliance.ErrSuperseded, appliance.ErrSuperseded, other},
		{"refused", member{why: other}, appliance.ErrRefused, appliance.ErrRefused, other},
		{"something else was read", member{}, other, other, ErrUnconfirmed},
		{"read as something else before time ran out", member{why: other}, ErrUnconfirmed, other, ErrUnconfirmed},
		{"the same, at its end", member{why: other}, errTooLate, other, errTooLate},
		{"the same, and then acknowledged and silent", member{why: other, stage: appliance.StageAcknowledged}, appliance.ErrSilent, other, appliance.ErrSilent},
		{"silent after something else was read before it was told again", member{why: other}, appliance.ErrSilent, appliance.ErrSilent, other},
		{"the last try was silence", member{tried: appliance.ErrSilent}, ErrUnconfirmed, appliance.ErrSilent, ErrUnconfirmed},
		{"the same, too late", member{tried: appliance.ErrSilent}, errTooLate, appliance.ErrSilent, errTooLate},
		{"the last try, acknowledged", member{tried: appliance.ErrSilent, stage: appliance.StageAcknowledged}, ErrUnconfirmed, errUnread, ErrUnconfirmed},
		{"acknowledged, and not read in time", member{stage: appliance.StageAcknowledged}, ErrUnconfirmed, errUnread, ErrUnconfirmed},
		{"acknowledged, and too late", member{stage: appliance.StageAcknowledged}, errTooLate, errUnread, errTooLate},
		{"acknowledged, and the bus went", member{stage: appliance.StageAcknowledged}, appliance.ErrBusDown, appliance.ErrBusDown, nil},
		{"the bus went", member{}, appliance.ErrBusDown, appliance.ErrBusDown, errUnread},
		{"nothing was heard", member{}, ErrUnconfirmed, ErrUnconfirmed, errUnread},
	} {
		got := row.m.reason(row.err)
		if !errors.Is(got, row.is) || row.apart != nil && errors.Is(got, row.apart) {
			t.Errorf("%s: %v, want %v and not %v", row.what, got, row.is, row.apart)
		}
		if row.m.stage == appliance.StageAcknowledged && row.m.why == nil && !errors.Is(got, errUnread) {
			t.Errorf("%s: %v does not say that it was acknowledged", row.what, got)
		}
	}
}

// A bus that is being opened keeps what it is told until it is there; one that is gone does not.
func TestCommandsWaitForABusThatIsBeingOpened(t *testing.T) {
	for _, row := range []struct {
		why error
		as  Outcome
	}{{appliance.ErrOpening, Confirmed}, {errors.New("pulled"), Failed}} {
		r := newRig(t, 1, 1)
		r.down = row.why
		r.take(Configure{Wiring: r.wiring(), Afresh: true})
		r.run(time.Second)
		id, sh := r.command(dim(40), r.things[0]), r.command(motion(appliance.Open), r.things[1])
		r.run(6 * time.Second)
		if len(r.frames) > 0 {
			t.Errorf("%v: %d frames are out", row.why, len(r.frames))
		}
		r.down = nil
		r.run(2 * time.Second)
		for _, of := range []uint64{id, sh} {
			if as, why := r.outcome(of); as != row.as || as == Failed && why != row.why {
				t.Errorf("%v: %v, %v; want %v", row.why, as, why, row.as)
			}
		}
	}
	// What nobody waits for any more is not done, and takes nothing from what is older.
	r := newRig(t, 2, 0).begin()
	older := r.command(dim(40), r.things[0])
	late := Command{ID: 99, Wants: []appliance.Want{{Ref: r.things[0].ref(), Values: dim(50)}, {Ref: appliance.Ref{Node: 77, Channel: 1}, Values: dim(50)}}, Places: []int{3, 4}, Accepted: r.now, Ceiling: r.now}
	r.take(late)
	r.run(time.Second)
	if as, why := r.outcome(older); as != Confirmed || r.writes(r.things[0]) != 1 {
		t.Errorf("the older: %v, %v", as, why)
	}
	if e := r.ended[99]; len(e) != 2 || e[0].Place != 3 || !errors.Is(e[0].Why, appliance.ErrExpired) || e[1].Place != 4 || e[1].Why != errGone {
		t.Errorf("one that came too late, and one to nobody: %+v", e)
	}
}

// What is known of shades reaches readers, tools and the bus that takes the place of this one.
func TestWhatIsToldOfShades(t *testing.T) {
	r := newRig(t, 0, 2).begin()
	sh := r.things[0]
	var views []Shade
	r.carry = func(a Action) {
		if v, ok := a.(Shade); ok && v.ID == 5001 {
			views = append(views, v)
		}
	}
	if !r.s.Rests(5001) || !r.s.Rests(77) {
		t.Error("something is under way with a shade that rests, or with none")
	}
	r.command(motion(appliance.Open), sh)
	if len(views) == 0 || r.s.Rests(5001) {
		t.Fatalf("told %d views, rests %v", len(views), r.s.Rests(5001))
	}
	r.run(time.Second)
	if v := views[len(views)-1]; v.View.Motion != shade.Opening {
		t.Errorf("it opens, and is told to: %+v", v)
	}
	// Another travel time changes when it is thought to have arrived.
	other := r.s.motors[5001].shade
	other.TravelUp = 3 * time.Second
	r.take(Retune{Shade: other})
	if got := r.s.Shades()[5001].Settings.TravelUp; got != other.TravelUp || r.s.motors[5001].shade.TravelUp != got {
		t.Errorf("its way up takes %v", got)
	}
	r.take(Retune{Shade: appliance.Shade{ID: 77}})
	r.take(Watch{Shade: 77, Often: true})
	r.take(ForShade{Shade: 77, Event: shade.Tick{}})
	r.run(20 * time.Second)
	// A shade that is calibrated is read as often as can be.
	reads := func() (n int) {
		r.frames = nil
		r.run(3 * time.Second)
		for _, f := range r.frames {
			if f.node == sh.node && !f.write {
				n++
			}
		}
		return n
	}
	before := reads()
	r.take(Watch{Shade: 5001, Often: true})
	if often := reads(); before > 3 || often < 15 {
		t.Errorf("read %d times in 3 s, and %d times while it is calibrated", before, often)
	}
	r.take(Watch{Shade: 5001})
	if again := reads(); again > 3 {
		t.Errorf("read %d times in 3 s after that", again)
	}
	// An event for its machine is for it alone.
	other = r.s.motors[5002].shade
	state := r.s.Shades()[5002]
	r.take(ForShade{Shade: 5001, Event: shade.Lost{}})
	if r.s.Shades()[5001].Down != true || r.s.Shades()[5002].Down != state.Down {
		t.Error("an event went to another shade")
	}
}

// A shade that is on its way when its bus is closed is stopped by the bus that takes its place.
func TestTheNextBusStopsWhatMoves(t *testing.T) {
	r := newRig(t, 0, 1).begin()
	sh := r.things[0]
	r.command(motion(appliance.Open), sh)
	r.run(30 * time.Second)
	id := r.command(appliance.Values{Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.MoveTo, Position: 50}, sh)
	r.run(3 * time.Second)
	r.take(Close{})
	if as, why := r.outcome(id); as == Open || as == Failed && why != ErrClosed {
		t.Errorf("the command when its bus is closed: %v, %v", as, why)
	}
	r.frames = nil
	r.run(12 * time.Second)
	if len(r.frames) > 0 {
		t.Errorf("%d frames over a closed bus", len(r.frames))
	}
	next := newRig(t, 0, 1)
	next.now, next.things = r.now, r.things
	next.take(Configure{Wiring: next.wiring(), Afresh: true})
	next.take(TakeOver{Shades: r.s.Shades()})
	next.run(time.Second)
	i := slices.IndexFunc(next.frames, func(f sentFrame) bool { return f.write })
	if i < 0 || next.frames[i].want.Motion != appliance.Stop || sh.motion != appliance.Stopped {
		t.Errorf("the next bus: %+v; it is %v", next.frames, sh.motion)
	}
}

// A newer command takes one of two lamps while the frame for both is out: the other is written again as it was wanted, and read back,
// whatever the answer was, since the frame is not what is wanted of both any more.
func TestAPartIsTakenWhileAFrameIsOut(t *testing.T) {
	for _, err := range []error{nil, appliance.ErrSilent} {
		r := newRig(t, 3, 0)
		r.begin()
		w := r.wiring()
		w.Opened.InFlight = 4
		r.take(Configure{Wiring: w})
		r.plan = func(wants []appliance.Want) []appliance.Chain {
			if len(wants) != 2 {
				return r.Repair(wants)
			}
			one := r.together(well, true)(wants)
			one[0].Steps[0].Device = "1"
			return one
		}
		older := r.command(dim(40), r.things[0], r.things[1])
		out := r.lend(1)
		if len(out) != 1 {
			t.Fatalf("%d are out", len(out))
		}
		newer := r.command(dim(60), r.things[0])
		began, frames := r.now, len(r.frames)
		res, _ := out[0].Exchange.Do(t.Context(), appliance.Yield{})
		r.take(Over{Task: out[0].Task, Result: res, Err: err, Began: began})
		r.run(5 * time.Second)
		if as, why := r.outcome(newer); as != Confirmed || r.things[0].level != 60 {
			t.Errorf("%v: the newer is %v, %v; its lamp has %d", err, as, why, r.things[0].level)
		}
		if e := r.ended[older]; len(e) != 2 || e[0].Why != appliance.ErrSuperseded || e[0].Place != 0 || e[1].Outcome != Confirmed || e[1].Place != 1 || r.things[1].level != 40 {
			t.Errorf("%v: the older is %+v; its lamp has %d", err, e, r.things[1].level)
		}
		written := 0
		for _, f := range r.frames[frames:] {
			if f.write && f.node == r.things[1].node && f.want.Level == 40 {
				written++
			}
		}
		if written == 0 {
			t.Errorf("%v: the other lamp was not written again by itself", err)
		}
	}
}
