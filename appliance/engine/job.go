package engine

import (
	"errors"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// Ask brings one exchange that somebody wants done behind commands: a step of an
// installer's tool or, in turn with polls, of a scan. Its end comes as [Answered]. What it
// comes to says nothing of the device that is polled there.
type Ask struct {
	Job      uint64
	Exchange appliance.Exchange
	Expiry   time.Time // zero: none
	Scan     bool
}

// Withdraw takes an exchange back that was not begun.
type Withdraw struct{ Job uint64 }

// Answered tells how the exchange of a job ended.
type Answered struct {
	Job    uint64
	Result appliance.Result
	Err    error
}

func (Answered) action() {}

// job is an exchange that waits behind commands.
type job struct {
	Ask
	device *device // that is addressed, if it is in the books
}

func (e Ask) step(s *State) {
	j := &job{Ask: e, device: s.devices[e.Exchange.Device]}
	j.Exchange.Device = ""
	s.behind.jobs = append(s.behind.jobs, j)
}

func (e Withdraw) step(s *State) {
	s.behind.jobs = slices.DeleteFunc(s.behind.jobs, func(j *job) bool { return j.Job == e.Job })
}

// scanMost is how long a step of a scan may keep a command waiting.
const scanMost = time.Second

// nextJob takes the first exchange of a tool, or of a scan, that may be begun.
func (s *State) nextJob(scan bool, fits func(time.Duration) bool) *task {
	i := slices.IndexFunc(s.behind.jobs, func(j *job) bool { return j.Scan == scan })
	if i < 0 {
		return nil
	}
	j := s.behind.jobs[i]
	// What takes long gives way to a command even while it waits for its answer, and
	// is not begun when a shade would have to be stopped meanwhile.
	long := scan && j.Exchange.Worst > scanMost
	if !scan && !fits(j.Exchange.Airtime) || long && !fits(j.Exchange.Worst) {
		return nil
	}
	s.behind.jobs = slices.Delete(s.behind.jobs, i, i+1)
	t := &task{exchange: &j.Exchange, kind: taskJob, expiry: j.Expiry, job: j}
	if long {
		t.kind = taskLong
	}
	return t
}

func (s *State) judgeJob(t *task, res appliance.Result, err error) {
	j := t.job
	switch preempted := errors.Is(err, appliance.ErrPreempted); {
	case preempted && res.Sent.IsZero():
		s.behind.jobs = slices.Insert(s.behind.jobs, 0, j)
		return
	case j.device == nil || !j.Scan: // the answer may still come
	case preempted:
		j.device.rest(false, s.now.Add(j.Exchange.Worst+j.Exchange.Late))
	case errors.Is(err, appliance.ErrSilent), errors.Is(err, appliance.ErrDamaged):
		j.device.rest(false, s.now.Add(j.Exchange.Late))
	case err == nil && j.device.restReads.After(s.now): // what came may be the answer to the question before this
		j.device.rest(false, s.now.Add(j.Exchange.Late))
	}
	s.do(Answered{j.Job, res, err})
}
