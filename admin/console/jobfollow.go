package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc.internal/controller/admin/api"
)

// job is a job whose items are of one kind.
type job[T any] struct {
	api.Job
	Items []T `json:"items"`
}

// over reports whether a job has ended.
func over(j api.Job) bool { return j.State != "queued" && j.State != "running" }

// errStopped is why a job is over that was given up here.
var errStopped = errors.New("stopped before the end")

// endsWithin is how long whoever gives a job up waits until that is done.
const endsWithin = 1500 * time.Millisecond

// start begins a job.
func (l *local) start(ctx context.Context, in api.JobRequest) (j api.Job, err error) {
	return j, l.call(ctx, http.MethodPost, "/jobs", in, &j)
}

// cancel gives a job up; one that is over stays as it is.
func (l *local) cancel(ctx context.Context, id string) (j api.Job, err error) {
	return j, l.call(ctx, http.MethodDelete, pathOf("jobs", id), nil, &j)
}

// watchJob calls each whenever a job has changed, until it is over. Items are there each
// time. It returns how the job stands.
func watchJob[T any](ctx context.Context, l *local, id string, each func(job[T]) error) (last job[T], err error) {
	err = events(ctx, l, pathOf("jobs", id, "events"), nil, func(j job[T]) error {
		if j.Items == nil {
			j.Items = last.Items // they have not changed
		}
		last = j
		if each == nil {
			return nil
		}
		return each(j)
	})
	switch {
	case err != nil:
	case !over(last.Job):
		err = fmt.Errorf("%w before job %s was over", errHungUp, id)
	case last.State != "done":
		err = errors.New(last.Error)
	}
	return last, err
}

// doJob begins a job and sees it through. When ctx ends before, it is cancelled, and the
// error is errStopped. What was found until then is in the job.
func doJob[T any](ctx context.Context, l *local, in api.JobRequest, each func(job[T]) error) (job[T], error) {
	begun, err := l.start(ctx, in)
	if err != nil {
		return job[T]{}, err
	}
	done, err := watchJob(ctx, l, begun.ID, each)
	if ctx.Err() == nil {
		return done, err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endsWithin)
	defer cancel()
	if _, err := l.cancel(late, begun.ID); err != nil {
		return done, fmt.Errorf("%w: %w", errStopped, err)
	}
	if ended, _ := watchJob[T](late, l, begun.ID, nil); ended.ID != "" {
		done = ended
	}
	return done, errStopped
}
