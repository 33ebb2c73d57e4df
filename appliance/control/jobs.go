package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/appliance"
)

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
	number  atomic.Uint64 // of the last exchange that a job asked a bus for
}

// jobRecord is a job as the registry keeps it; its fields are guarded by Jobs.mu.
type jobRecord struct {
	appliance.Job
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
func (l *Jobs) Start(about appliance.Job, work JobWork) (appliance.Job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	running := 0
	for _, j := range l.list {
		if j.State.Over() {
			continue
		}
		running++
		if j.Subject == about.Subject {
			return appliance.Job{}, &appliance.JobConflict{Job: j.Job}
		}
	}
	if running >= jobsMost || l.over {
		return appliance.Job{}, fmt.Errorf("%s: %w", about.Subject, appliance.ErrOverloaded)
	}
	now := time.Now()
	about.ID, about.State, about.StartedAt = newEntryID(now), appliance.JobRunning, now
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
			j.State, j.Err = appliance.JobCancelled, context.Cause(ctx).Error()
		case err != nil:
			j.State, j.Err = appliance.JobFailed, err.Error()
		default:
			j.State, j.Result = appliance.JobDone, result
		}
		cancel(nil)
		l.changed(j)
	})
	return j.Job, nil
}

// forget drops the oldest of those that are over; l.mu is held. Who names a hundred devices has each show itself, and
// needs what the scan found until the last: that goes after them.
func (l *Jobs) forget() {
	over := 0
	for _, j := range l.list {
		if j.State.Over() {
			over++
		}
	}
	for _, shown := range []bool{true, false} {
		for i := 0; over > jobsKept && i < len(l.list); {
			if j := l.list[i]; !j.State.Over() || shown && j.Kind != appliance.JobIdentify {
				i++
				continue
			}
			l.list = slices.Delete(l.list, i, i+1)
			over--
		}
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
func (l *Jobs) List() []appliance.Job {
	jobs, _ := l.Since(0)
	return jobs
}

// Since returns the jobs that changed after that version, and the version to go on
// from. A follower who is slow sees fewer steps between, and loses nothing else.
func (l *Jobs) Since(version uint64) ([]appliance.Job, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []appliance.Job
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
func (l *Jobs) Get(id string) (appliance.Job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j := l.find(id); j != nil {
		return j.Job, true
	}
	return appliance.Job{}, false
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
func (l *Jobs) Cancel(id string, by appliance.Origin) (appliance.Job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.find(id)
	if j == nil {
		return appliance.Job{}, fmt.Errorf("job %s: %w", id, appliance.ErrNotFound)
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
		return fmt.Errorf("job %s: %w", id, appliance.ErrNotFound)
	case j.Question == nil || j.Question.Number != number:
		return fmt.Errorf("job %s, question %d: %w", id, number, appliance.ErrNoQuestion)
	case len(j.Question.Choices) > 0 && !slices.Contains(j.Question.Choices, said):
		return fmt.Errorf("job %s: the answer %q: %w: want one of %s", id, said, appliance.ErrOutOfRange, strings.Join(j.Question.Choices, ", "))
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
func (h *JobHand) Progress(p appliance.JobProgress) {
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

// Ask waits for a person's answer. It numbers the question.
func (h *JobHand) Ask(ctx context.Context, q appliance.JobQuestion) (string, error) {
	answers := make(chan string, 1)
	h.change(func(j *jobRecord) {
		j.asked++
		q.Number = j.asked
		j.Question = &q
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
