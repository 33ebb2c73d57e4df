// Package sse answers a request with a stream of events that proxies leave alone and that does not outlive its reader.
package sse

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/web"
)

// beat is how often a comment shows proxies that the stream lives.
const beat = 15 * time.Second

// writeTimeout bounds how long a reader may take for one event. It is a variable for tests only.
var writeTimeout = 10 * time.Second

// Stream is an answer that has begun. Its methods may be called from any goroutine.
type Stream struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	done chan struct{}
	wg   sync.WaitGroup

	mu  sync.Mutex
	err error // the first that a write met; nothing is written after it
}

// Open begins the answer. Close the stream when done.
func Open(c echo.Context) *Stream {
	w := c.Response()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	s := &Stream{w: w, ctl: http.NewResponseController(w), done: make(chan struct{})}
	s.wg.Go(s.keepAlive)
	return s
}

func (s *Stream) keepAlive() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			s.write([]byte(": alive\n\n"))
		}
	}
}

// Send writes one event with data as JSON. The error says that the reader is gone.
func (s *Stream) Send(event string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("pack event %s: %w", event, err)
	}
	return s.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, body))
}

func (s *Stream) write(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	// Servers bound the whole answer; a stream is bounded by event instead.
	if err := s.ctl.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && s.err == nil {
		s.err = err
	}
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
	if s.err == nil {
		s.err = s.ctl.Flush()
	}
	// With HTTP/2 a deadline that passes ends the stream, although nothing is being written.
	if err := s.ctl.SetWriteDeadline(time.Time{}); s.err == nil {
		s.err = err
	}
	return s.err
}

// Displaced tells the reader that the stream makes room for another one, and is not to be opened anew at once.
func (s *Stream) Displaced() { _ = s.write([]byte(web.Displaced)) }

// Close ends the stream.
func (s *Stream) Close() {
	close(s.done)
	s.wg.Wait()
}
