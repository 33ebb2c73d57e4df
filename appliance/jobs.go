package appliance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// JobKind is a kind of long work.
type JobKind string

// The kinds.
const (
	JobScan      JobKind = "scan"      // search a bus for devices
	JobIdentify  JobKind = "identify"  // make a device show itself
	JobService   JobKind = "service"   // what the driver of a bus does for an installer, such as commissioning
	JobGroups    JobKind = "groups"    // bring the groups of a bus in step
	JobCalibrate JobKind = "calibrate" // measure the travel of a shade
	JobDirection JobKind = "direction" // find out which way a shade runs
	JobMigration JobKind = "migration" // read the house of another controller
	JobDrill     JobKind = "drill"     // try whether a backup can be restored
)

// JobState is how far a job is.
type JobState string

// The states; the last three are final.
const (
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Over reports whether the job has ended.
func (s JobState) Over() bool { return s == JobDone || s == JobFailed || s == JobCancelled }

// Job is long work that goes on when whoever began it has left, and can be watched,
// answered and cancelled from anywhere. A Job is a value: how it stood at one moment.
type Job struct {
	ID   string
	Kind JobKind
	// Subject is what it works on, in words: "bus ground-floor", "shade 5001". There is
	// one job a subject at a time.
	Subject string
	// Bus, Address and Shade say the same for programs; empty where they do not matter.
	Bus, Address string
	Shade        ID
	By           Origin
	State        JobState
	StartedAt    time.Time
	EndedAt      time.Time // zero: not yet
	Progress     JobProgress
	Question     *JobQuestion // open now; nil: none
	// Items are what it found out so far, in order: of a scan [Found], of a service
	// [Told], of groups [GroupProgress], of a calibration [MeasuredLeg].
	Items  []any
	Result any // of a job that is done: [ShadeOutcome], or nil
	Err    string
	// Version grows with every change of any job.
	Version uint64
}

// JobProgress is how far a job is, as far as anybody knows.
type JobProgress struct {
	Text  string  // what is being done
	Done  int     // how many steps were
	Share float64 // 0 to 1; 0: not known
	// Moving is where a shade on its way is, in a calibration.
	Moving *Progress
}

// JobQuestion is what a job wants to know of a person. The first answer counts.
type JobQuestion struct {
	Number  int    // from 1, within the job
	Ask     string // "begin", "stands", "went"
	Leg     Leg    // that it is about
	Choices []string
}

// What callers of jobs branch on.
var (
	// ErrJobRunning: another job works on the same thing. See [JobConflict].
	ErrJobRunning = errors.New("a job is under way already")
	// ErrNoQuestion: nobody waits for that answer any more.
	ErrNoQuestion = errors.New("nobody waits for this answer")
)

// JobConflict is ErrJobRunning with the job that is in the way.
type JobConflict struct{ Job Job }

func (e *JobConflict) Error() string {
	return fmt.Sprintf("%s: %v (%s, begun by %s); wait for it or cancel it", e.Job.Subject, ErrJobRunning, e.Job.Kind, e.Job.By.Who)
}

// Is makes it ErrJobRunning.
func (e *JobConflict) Is(target error) bool { return target == ErrJobRunning }

const (
	// jobsKept jobs that are over are remembered.
	jobsKept = 64
	// jobsMost run at a time.
	jobsMost = 64
	// jobItems are remembered of one job; what comes after is counted only.
	jobItems = 2000
	// jobsEnd is how long the end of the program waits for jobs, which may have shades
	// to stop.
	jobsEnd = 5 * time.Second
)

// Jobs are all jobs under way and the last that ended.
type Jobs struct {
	mu      sync.Mutex
	list    []*jobRecord // in the order they began
	version uint64
	fresh   chan struct{}
	over    bool // no job begins any more
	wg      sync.WaitGroup
}

// jobRecord is a job as the registry keeps it; its fields are guarded by Jobs.mu.
type jobRecord struct {
	Job
	all     *Jobs
	cancel  context.CancelCauseFunc
	answers chan string
	asked   int
}

func newJobs() *Jobs { return &Jobs{fresh: make(chan struct{})} }

// JobWork does a job. What it returns is the result; ctx ends when it is cancelled.
type JobWork func(ctx context.Context, on *JobHand) (result any, err error)

// Start begins a job. Of about, the kind, the subject and who began it count. It
// fails with a [*JobConflict] if the subject has one.
func (l *Jobs) Start(about Job, work JobWork) (Job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	running := 0
	for _, j := range l.list {
		if j.State.Over() {
			continue
		}
		running++
		if j.Subject == about.Subject {
			return Job{}, &JobConflict{j.Job}
		}
	}
	if running >= jobsMost || l.over {
		return Job{}, fmt.Errorf("%s: %w", about.Subject, ErrOverloaded)
	}
	now := time.Now()
	about.ID, about.State, about.StartedAt = newEntryID(now), JobRunning, now
	about.EndedAt, about.Items, about.Result, about.Err, about.Question = time.Time{}, nil, nil, "", nil
	ctx, cancel := context.WithCancelCause(context.Background()) // it outlives who began it
	j := &jobRecord{Job: about, all: l, cancel: cancel}
	l.list = append(l.list, j)
	l.forget()
	l.changed(j)
	l.wg.Go(func() {
		result, err := work(ctx, &JobHand{j})
		l.mu.Lock()
		defer l.mu.Unlock()
		j.EndedAt, j.Question, j.answers, j.Progress.Moving = time.Now(), nil, nil, nil
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errJobCancelled):
			j.State, j.Err = JobCancelled, context.Cause(ctx).Error()
		case err != nil:
			j.State, j.Err = JobFailed, err.Error()
		default:
			j.State, j.Result = JobDone, result
		}
		cancel(nil)
		l.changed(j)
	})
	return j.Job, nil
}

// forget drops the oldest of those that are over; l.mu is held.
func (l *Jobs) forget() {
	over := 0
	for _, j := range l.list {
		if j.State.Over() {
			over++
		}
	}
	for i := 0; over > jobsKept && i < len(l.list); {
		if !l.list[i].State.Over() {
			i++
			continue
		}
		l.list = slices.Delete(l.list, i, i+1)
		over--
	}
}

// changed wakes the followers; l.mu is held.
func (l *Jobs) changed(j *jobRecord) {
	l.version++
	j.Version = l.version
	close(l.fresh)
	l.fresh = make(chan struct{})
}

// List returns the jobs that are known, in the order they began.
func (l *Jobs) List() []Job {
	jobs, _ := l.Since(0)
	return jobs
}

// Since returns the jobs that changed after that version, and the version to go on
// from. A follower who is slow sees fewer steps between, and loses nothing else.
func (l *Jobs) Since(version uint64) ([]Job, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Job
	for _, j := range l.list {
		if j.Version > version || version > l.version {
			out = append(out, j.Job)
		}
	}
	return out, l.version
}

// Fresh is closed when any job changes after this call.
func (l *Jobs) Fresh() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh
}

// Get returns a job.
func (l *Jobs) Get(id string) (Job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j := l.find(id); j != nil {
		return j.Job, true
	}
	return Job{}, false
}

func (l *Jobs) find(id string) *jobRecord {
	for _, j := range l.list {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// errJobCancelled is why the context of a cancelled job has ended.
var errJobCancelled = errors.New("cancelled")

// Cancel ends a job; who did is part of it. It returns before the job has ended: a
// shade has to be stopped first. One that is over stays as it is.
func (l *Jobs) Cancel(id string, by Origin) (Job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.find(id)
	if j == nil {
		return Job{}, fmt.Errorf("job %s: %w", id, ErrNotFound)
	}
	if !j.State.Over() {
		j.cancel(fmt.Errorf("%w by %s", errJobCancelled, by.Who))
	}
	return j.Job, nil
}

// Answer answers the open question of a job, of which there is one at a time.
func (l *Jobs) Answer(id string, number int, said string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.find(id)
	switch {
	case j == nil:
		return fmt.Errorf("job %s: %w", id, ErrNotFound)
	case j.Question == nil || j.Question.Number != number:
		return fmt.Errorf("job %s, question %d: %w", id, number, ErrNoQuestion)
	case len(j.Question.Choices) > 0 && !slices.Contains(j.Question.Choices, said):
		return fmt.Errorf("job %s: the answer %q: %w: want one of %s", id, said, ErrOutOfRange, strings.Join(j.Question.Choices, ", "))
	}
	j.answers <- said // has room for one, and the question closes with it
	j.Question, j.answers = nil, nil
	l.changed(j)
	return nil
}

// end cancels all jobs and waits until they have ended, jobsEnd at most.
func (l *Jobs) end() {
	l.mu.Lock()
	l.over = true
	for _, j := range l.list {
		if !j.State.Over() {
			j.cancel(fmt.Errorf("%w: the program ends", errJobCancelled))
		}
	}
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() { l.wg.Wait(); close(ended) }()
	late := time.NewTimer(jobsEnd)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
}

// JobHand is how the work of a job tells how it goes, and asks.
type JobHand struct{ job *jobRecord }

// Progress tells how far the job is.
func (h *JobHand) Progress(p JobProgress) {
	h.change(func(j *jobRecord) { j.Progress = p })
}

// Item adds something that was found out. One that replaces tells of the same thing
// as an earlier item stands in its place.
func (h *JobHand) Item(v any, replaces func(old any) bool) {
	h.change(func(j *jobRecord) {
		// Copied: the old list was handed out.
		if replaces != nil {
			if i := slices.IndexFunc(j.Items, replaces); i >= 0 {
				j.Items = slices.Clone(j.Items)
				j.Items[i] = v
				return
			}
		}
		if len(j.Items) < jobItems {
			j.Items = append(slices.Clip(j.Items), v)
		}
	})
}

func (h *JobHand) change(do func(*jobRecord)) {
	h.job.all.mu.Lock()
	defer h.job.all.mu.Unlock()
	do(h.job)
	h.job.all.changed(h.job)
}

// Ask waits for a person's answer.
func (h *JobHand) Ask(ctx context.Context, ask string, leg Leg, choices ...string) (string, error) {
	answers := make(chan string, 1)
	h.change(func(j *jobRecord) {
		j.asked++
		j.Question = &JobQuestion{Number: j.asked, Ask: ask, Leg: leg, Choices: choices}
		j.answers = answers
	})
	select {
	case said := <-answers:
		return said, nil
	case <-ctx.Done():
		h.change(func(j *jobRecord) { j.Question, j.answers = nil, nil })
		return "", ctx.Err()
	}
}
