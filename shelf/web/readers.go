package web

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// Readers bounds the large answers that are made and sent at the same time: each is held in
// memory until it was taken. Whoever has to wait has whoever takes too long give up a place:
// one of their own, where they have all that a user may have, else one of the user who has
// most. Who takes their answers at once never meets the bound.
type Readers struct {
	perUser, most, waitingMost int

	mu      sync.Mutex
	here    []*reader // oldest first
	waiting map[string]int
	left    chan struct{} // closed when one of those who are here leaves
}

// reader is an answer that is made or sent.
type reader struct {
	user    string
	since   time.Time
	control *http.ResponseController
	givenUp bool
}

const (
	// readerPatience is how long an answer may take to be made and taken while others wait.
	readerPatience = 3 * time.Second
	// readersWait is how long somebody waits for a place.
	readersWait = 10 * time.Second
)

// ErrUnread is for whoever asks for more while nothing is read of what was answered before.
var ErrUnread = &Error{Status: http.StatusServiceUnavailable, Message: "too many answers are under way that nobody reads; read them, and try again", RetryAfter: time.Second}

// NewReaders has so many answers of a user, and so many in all; so many of a user may wait for a place.
func NewReaders(perUser, most, waitingMost int) *Readers {
	return &Readers{perUser: perUser, most: most, waitingMost: waitingMost, waiting: map[string]int{}, left: make(chan struct{})}
}

// Enter waits for a place to answer a user; leave gives it back. It returns [ErrUnread] where there is none for too long,
// or the error of the request's context.
func (r *Readers) Enter(c echo.Context, user string) (leave func(), err error) {
	ctx := c.Request().Context()
	me := &reader{user: user, control: http.NewResponseController(c.Response().Writer)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.enter(me) {
		return func() { r.leave(me) }, nil
	}
	if r.waiting[user] >= r.waitingMost {
		return nil, ErrUnread
	}
	r.waiting[user]++
	defer r.stopWaiting(user)
	until := time.Now().Add(readersWait)
	for time.Now().Before(until) {
		left, again := r.left, time.NewTimer(min(r.giveUpOne(user), time.Until(until)))
		r.mu.Unlock()
		select {
		case <-left:
		case <-again.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
		again.Stop()
		r.mu.Lock()
		if err != nil {
			return nil, err
		}
		if r.enter(me) {
			return func() { r.leave(me) }, nil
		}
	}
	return nil, ErrUnread
}

// The following are called under the lock.

func (r *Readers) enter(me *reader) bool {
	if len(r.here) >= r.most || r.has(me.user) >= r.perUser {
		return false
	}
	me.since = time.Now()
	r.here = append(r.here, me)
	return true
}

func (r *Readers) stopWaiting(user string) {
	if r.waiting[user]--; r.waiting[user] == 0 {
		delete(r.waiting, user)
	}
}

func (r *Readers) has(user string) (n int) {
	for _, o := range r.here {
		if o.user == user {
			n++
		}
	}
	return n
}

// giveUpOne has the oldest of whoever has too much give up its place, if its patience is over, and tells when to ask again.
func (r *Readers) giveUpOne(user string) time.Duration {
	from := user
	if r.has(user) < r.perUser {
		for _, o := range r.here {
			if r.has(o.user) > r.has(from) {
				from = o.user
			}
		}
	}
	i := slices.IndexFunc(r.here, func(o *reader) bool { return o.user == from && !o.givenUp })
	if i < 0 {
		return readerPatience // all of them are leaving
	}
	if wait := readerPatience - time.Since(r.here[i].since); wait > 0 {
		return wait
	}
	r.here[i].givenUp = true
	past := time.Unix(1, 0)
	// Whichever way it hangs. If it cannot be told so, it ends by its time-outs.
	_ = r.here[i].control.SetWriteDeadline(past)
	return readerPatience
}

func (r *Readers) leave(me *reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.here, me)
	r.here = slices.Delete(r.here, i, i+1)
	close(r.left)
	r.left = make(chan struct{})
}
