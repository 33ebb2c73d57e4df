package engine

import (
	"errors"
	"time"

	"svc.internal/controller/appliance"
)

// task is an exchange that is done, and whom its end concerns: a piece, a poll, a job or
// the group tables.
type task struct {
	id       uint64
	exchange *appliance.Exchange
	kind     taskKind
	expiry   time.Time // zero: none
	lent     bool      // it is out while others use the bus

	piece  *piece
	mates  []*piece // that are read back with it, see shared
	poll   *pollState
	before time.Time // when the poll was last begun before
	job    *job
	table  *tableJob
}

// taskKind says what a task gives way to, and what its outcome tells.
type taskKind uint8

const (
	taskRead    taskKind = iota // gives way until it is begun
	taskWrite                   // the same, to a STOP only
	taskStop                    // the same, of a shade that nobody else stops: it costs what a probe costs
	taskJob                     // does not give way
	taskFinding                 // the same: whether a device that counts as online is gone
	taskLong                    // a job's exchange that lasts: gives way until an answer begins
	taskProbe                   // of a device that is offline: the same
	taskAttempt                 // a command to one: the same
)

// writes reports whether the task's exchange is a write.
func (t *task) writes() bool {
	return t.kind == taskWrite || t.kind == taskStop || t.kind == taskAttempt
}

// isJob reports whether a job asks, and no command, poll or probe.
func (t *task) isJob() bool { return t.kind == taskJob || t.kind == taskLong }

// spare is left to commands: what may take its whole time-out begins only if so many
// more could.
const spare = 1

// room reports whether another exchange may begin; of one that gives way to commands,
// whether one of those could as well.
func (s *State) room(yields bool) bool {
	most := s.wiring.most()
	if most == 1 || s.link.doubt {
		return len(s.tasks) == 0
	}
	if yields {
		most -= spare
	}
	return len(s.tasks) < most
}

// perform gives a task out.
func (s *State) perform(t *task) {
	s.number++
	t.id = s.number
	s.tasks[t.id] = t
	d := s.devices[t.exchange.Device]
	p := Perform{Task: t.id, Exchange: t.exchange, Expiry: t.expiry}
	p.Apart = s.wiring.most() > 1 && d != nil && !t.isJob()
	switch t.kind {
	case taskJob, taskFinding:
	case taskWrite, taskStop:
		p.GivesWay = ToStop
	default:
		p.GivesWay = ToCommands
	}
	p.Answer = t.kind >= taskLong && !p.Apart
	if t.kind == taskProbe && (d.fails%probeWhole != 0 || d.quick()) {
		p.Patience = probeWait
	}
	s.do(p)
}

func (e Out) step(s *State) {
	t := s.tasks[e.Task]
	if t.piece != nil {
		s.wentOut(t.piece, e.Sent)
	}
	s.devices[t.exchange.Device].asked = true
	t.lent = true
}

func (e Over) step(s *State) {
	t := s.tasks[e.Task]
	delete(s.tasks, e.Task)
	gone := s.devices[t.exchange.Device]
	if t.lent && gone != nil {
		gone.asked = false
	}
	took := s.now.Sub(e.Began)
	gaveUp := t.kind == taskProbe && errors.Is(e.Err, appliance.ErrPreempted) && took >= probeWait && gone != nil
	if errors.Is(e.Err, appliance.ErrPreempted) && e.Result.Sent.IsZero() { // nothing happened on the wire
		if gaveUp { // it was never free, and others have their turn too
			s.accounts.probes.spend(s.now, took)
			s.failed(gone, t, e.Err)
		}
		s.judgeTask(t, e.Result, e.Err)
		return
	}
	if gone != nil && e.Err == nil {
		gone.slowest = max(gone.slowest, took)
	}
	wasted := e.Err != nil && gone != nil && !gone.online
	silent := errors.Is(e.Err, appliance.ErrSilent) && !errors.Is(e.Err, appliance.ErrOverslept)
	s.accounts.use.add(s.now, took/time.Duration(s.wiring.most()), wasted || silent && !t.isJob())
	switch {
	case wasted && t.kind == taskAttempt:
		s.accounts.attempts.spend(s.now, took)
	case wasted && t.kind == taskProbe:
		s.accounts.probes.spend(s.now, took)
	case wasted && t.kind == taskStop:
		s.accounts.probes.owe(s.now, took)
	}
	s.listen(t, e.Result, e.Err)
	if silent {
		s.makeUpFor(t.exchange.Device, took)
	}
	s.keepStops(t.exchange, took)
	s.account(t, e.Result, e.Err)
	if gaveUp {
		s.failed(gone, t, appliance.ErrSilent)
	}
	s.judgeTask(t, e.Result, e.Err)
}

// judgeTask tells whoever a task was for.
func (s *State) judgeTask(t *task, res appliance.Result, err error) {
	switch {
	case t.piece != nil && t.lent:
		s.back(t, res, err)
	case t.piece != nil:
		s.judgePiece(t, res, err)
	case t.poll != nil:
		s.judgePoll(t, res, err)
	case t.job != nil:
		s.judgeJob(t, res, err)
	case t.table != nil:
		s.groups.judge(t.table, res, err)
	}
}

func (s *State) judgePiece(t *task, res appliance.Result, err error) {
	if len(t.mates) > 0 {
		s.judgeShared(t, res, err)
		return
	}
	s.judge(t.piece, res, err)
}

func (s *State) pollTask(p *pollState, kind taskKind) *task {
	t := &task{exchange: &p.Exchange, kind: kind, poll: p, before: p.last}
	p.last = s.now
	return t
}

func (s *State) judgePoll(t *task, res appliance.Result, err error) {
	p := t.poll
	switch {
	case errors.Is(err, appliance.ErrPreempted) && res.Sent.IsZero():
		p.last = t.before // it is as urgent as it was
	case errors.Is(err, appliance.ErrOverslept):
		p.last = t.before // it is asked again
	case err == nil:
		p.answered, p.refusals = true, 0
		s.learn(res.Readings, res.Sent)
	case errors.Is(err, appliance.ErrDamaged):
		// What came need not have been the answer: that may still be under way.
		s.device(p.Device).rest(false, s.now.Add(p.Late))
	case errors.Is(err, appliance.ErrRefused):
		if s.schedule.refuse(p) {
			s.warn("device refuses to tell a value; check its profile", "device", p.Device, "why", err)
		}
	}
}

func (s *State) pieceTask(p *piece) *task {
	e := p.exchange()
	s.schedule.note(e)
	t := &task{exchange: e, kind: taskRead, expiry: p.deadline(), piece: p}
	s.behind.wrote = nil
	if !p.verifying() {
		for _, w := range p.chain.Wants {
			s.behind.wrote = append(s.behind.wrote, w.Ref)
		}
	}
	switch {
	case p.offline && !p.verifying():
		t.kind = taskAttempt
	case !p.verifying() && p.duty == mustStop:
		t.kind = taskStop
	case !p.verifying():
		t.kind = taskWrite
	}
	if d := s.devices[e.Device]; d != nil && t.writes() && p.tries == 0 && d.restWrites.After(s.now) {
		p.chain.Group = true // it need not be this one that is acknowledged: only reading confirms it
	}
	s.shared(t)
	return t
}

// out reports whether the frame of a piece is out, while others use the bus.
func (p *piece) out() bool { return !p.outAt.IsZero() }

// wentOut notes that the frame of a piece is out, before others have the bus.
func (s *State) wentOut(p *piece, sent time.Time) {
	p.outAt = sent
	if !p.verifying() {
		s.noteSent(p, sent)
	}
}

// back judges a piece whose answer was awaited while others had the bus: newer commands
// may have taken parts of it, and the port may be gone.
func (s *State) back(t *task, res appliance.Result, err error) {
	p := t.piece
	left := p.open()
	switch {
	case len(left) == 0:
		s.replace(p, nil)
		if err == nil {
			s.learn(res.Readings, res.Sent)
		}
	case err != nil && !s.link.up() && !s.link.opening() && !p.stops():
		s.replace(p, nil)
		s.failPiece(p, s.link.down)
	case p.overtaken && !p.verifying():
		s.replace(p, s.again(p, left, s.driver().Plan))
	default:
		s.judgePiece(t, res, err)
	}
	p.outAt, p.overtaken = time.Time{}, false
}
