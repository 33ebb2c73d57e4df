package publicapi

import (
	"context"
	"net/http"
	"time"

	"svc.internal/controller/shelf/web"
)

// queue lets a few through at a time, some wait, and sends the rest away.
type queue struct {
	places  chan struct{} // waiting and working
	workers chan struct{} // working
}

func newQueue(workers, waiting int) queue {
	return queue{places: make(chan struct{}, workers+waiting), workers: make(chan struct{}, workers)}
}

// queueWait bounds the time in a queue.
const queueWait = 10 * time.Second

var errQueueFull = &web.Error{Status: http.StatusServiceUnavailable,
	Message: "too many requests are waiting; try again", RetryAfter: time.Second}

// enter waits for its turn. Whoever got in calls leave.
func (q queue) enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.places <- struct{}{}:
	default:
		return nil, errQueueFull
	}
	ctx, cancel := context.WithTimeout(ctx, queueWait)
	defer cancel()
	select {
	case q.workers <- struct{}{}:
		return func() { <-q.workers; <-q.places }, nil
	case <-ctx.Done():
		<-q.places
		return nil, errQueueFull
	}
}
