package gate

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/web"
)

// How many requests are with the assistant at the same time: each holds an answer in memory
// until it is read.
const (
	AtOnceMost = 8  // of one key, or of a person's pages
	ownerMost  = 16 // of one person with all keys
	allMost    = 64 // of all together
)

// crowd counts the requests that are under way, by bucket.
type crowd struct {
	mu   sync.Mutex
	here map[string]int
}

// enter lets a request of a bucket and its owner in, or says why not.
func (c *crowd) enter(bucket, owner string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.here[bucket] >= AtOnceMost:
		return inTheWay(http.StatusTooManyRequests, fmt.Sprintf("%d requests of this key are under way; read their answers first", AtOnceMost))
	case c.here[owner] >= ownerMost:
		return inTheWay(http.StatusTooManyRequests, fmt.Sprintf("%d requests of this person's keys are under way; read their answers first", ownerMost))
	case c.here[everybody] >= allMost:
		return inTheWay(http.StatusServiceUnavailable, "The assistant answers many others; try again")
	}
	for _, id := range []string{bucket, owner, everybody} {
		c.here[id]++
	}
	return nil
}

const everybody = "everybody"

func inTheWay(status int, message string) error {
	return &web.Error{Status: status, Message: message, RetryAfter: time.Second}
}

func (c *crowd) leave(bucket, owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range []string{bucket, owner, everybody} {
		if c.here[id]--; c.here[id] == 0 {
			delete(c.here, id)
		}
	}
}

// AtOnce tells how many requests of a bucket are with the assistant now.
func (g *Gate) AtOnce(b platform.Bucket) int {
	g.crowd.mu.Lock()
	defer g.crowd.mu.Unlock()
	return g.crowd.here[b.ID]
}

// Metered bounds what a key or user has of the assistant: requests at the same time, and
// bytes of answers in a window.
func (g *Gate) Metered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx := c.Request().Context()
		who := platform.IdentityOf(ctx)
		bucket, owner := who.Bucket, "owner:"+who.User.ID
		if err := g.crowd.enter(bucket.ID, owner); err != nil {
			return err
		}
		defer g.crowd.leave(bucket.ID, owner)
		bytes := bucket.Answers()
		if a := g.cfg.Limit.Show(ctx, bytes); a.Remaining == 0 {
			wait := a.Reset.Sub(g.now())
			return &web.Error{Status: http.StatusTooManyRequests, RetryAfter: wait,
				Message: fmt.Sprintf("The assistant has answered %d MB to this key; it goes on in %s", bytes.Limit>>20, wait.Round(time.Second))}
		}
		err := next(c)
		if n := int(c.Response().Size); n > 0 {
			g.cfg.Limit.Take(ctx, bytes, min(n, g.cfg.Limit.Show(ctx, bytes).Remaining))
		}
		return err
	}
}

// More counts n further requests of whoever asks, all or none: what one request asks for
// at once.
func (g *Gate) More(c echo.Context, n int) error {
	a := g.cfg.Limit.Take(c.Request().Context(), platform.IdentityOf(c.Request().Context()).Bucket, n)
	show(c, a)
	if a.OK {
		return nil
	}
	return TooMany(a.Limit, a.Window, a.Reset.Sub(g.now()))
}
