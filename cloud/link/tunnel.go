package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/cloud/wire"
)

const (
	// tunnelMost is how many requests through the tunnel are under way at once; an instance of the platform asks 8.
	tunnelMost = 32
	// tunnelLife is how long one may take at most, whatever the platform says.
	tunnelLife = 30 * time.Second
	// tunnelIDs is how many requests are remembered, so that none is done twice.
	tunnelIDs = 1024
)

// tunnel lets requests in that the platform carries here. What may be done with them is up to the handler, which asks
// for the controller's own tokens. It outlives sessions, as a command that has begun does.
type tunnel struct {
	handler  http.Handler // nil: nobody is let in
	deadline func(exp time.Time) time.Time
	slots    chan struct{}
	done     sync.WaitGroup

	mu  sync.Mutex
	ids []string // the last ones, oldest first
}

func newTunnel(cfg Config) *tunnel {
	t := &tunnel{handler: cfg.Tunnel, deadline: cfg.Deadline, slots: make(chan struct{}, tunnelMost)}
	if t.deadline == nil {
		t.deadline = func(exp time.Time) time.Time { return exp }
	}
	return t
}

// tunnelled begins to answer a request. It must not wait for the broker.
func (s *session) tunnelled(m Message) {
	var in wire.TunnelRequest
	env, err := wire.Open(m.Payload)
	if err == nil {
		err = env.Read(&in)
	}
	if err == nil {
		err = s.tunnel.admit(env, m)
	}
	if err != nil {
		s.cfg.Log.Warn("a request through the tunnel is not answered", "why", err)
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, min(tunnelLife, s.tunnel.deadline(*env.Exp).Sub(m.At)))
	answer := &tunnelAnswer{session: s, ctx: ctx, corr: env.ID, header: http.Header{}, head: in.Method == http.MethodHead}
	s.tunnel.done.Go(func() {
		defer func() { cancel(); <-s.tunnel.slots }()
		answer.serve(in)
	})
}

// admit takes a place for a request, or says why it is not to be done; nobody waits for its answer then.
func (t *tunnel) admit(env wire.Envelope, m Message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case env.Type != wire.TypeTunnel:
		return fmt.Errorf("type %q: want %s", env.Type, wire.TypeTunnel)
	case m.Retained:
		return errors.New("a retained request is never done")
	case env.Exp == nil:
		return errors.New("there is no exp")
	case !m.At.Before(t.deadline(*env.Exp)):
		return errors.New("it came too late")
	case slices.Contains(t.ids, env.ID):
		return errors.New("it came twice")
	}
	select {
	case t.slots <- struct{}{}:
	default:
		return fmt.Errorf("%d others are under way", tunnelMost)
	}
	if t.ids = append(t.ids, env.ID); len(t.ids) > tunnelIDs {
		t.ids = slices.Delete(t.ids, 0, len(t.ids)-tunnelIDs)
	}
	return nil
}

// tunnelAnswer sends in parts what a handler writes.
type tunnelAnswer struct {
	session *session
	ctx     context.Context // of the request; nobody hears an answer after it
	corr    string
	header  http.Header
	head    bool // a body is counted, and not sent

	status int
	sent   http.Header // as it was when the body began
	buffer []byte
	part   int
	size   int
	err    error // nobody hears the rest
}

// errTunnelAnswer is an answer that is larger than a tunnel carries.
var errTunnelAnswer = fmt.Errorf("an answer through the tunnel has at most %d bytes", wire.TunnelAnswerMost)

// serve has the request answered.
func (a *tunnelAnswer) serve(in wire.TunnelRequest) {
	if a.session.tunnel.handler == nil { // it is closed
		a.say(wire.TunnelPart{Final: true})
		return
	}
	r, err := request(a.ctx, a.corr, in)
	if err != nil {
		a.WriteHeader(http.StatusBadRequest)
	} else {
		a.session.tunnel.handler.ServeHTTP(a, r)
	}
	if errors.Is(a.err, errTunnelAnswer) {
		a.session.cfg.Log.Warn("an answer is too large for the tunnel", "uri", in.URI)
		a.err = nil
		a.say(wire.TunnelPart{Part: -1, Final: true})
		return
	}
	a.flush(true)
}

// request is what the platform carried here under an ID, for the API that it is for and no other.
func request(ctx context.Context, id string, in wire.TunnelRequest) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, in.Method, "https://tunnel"+in.URI, io.NopCloser(bytes.NewReader(in.Body)))
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.URI, wire.TunnelPrefix) || !strings.HasPrefix(r.URL.Path, wire.TunnelPrefix) || strings.Contains(r.URL.Path, "..") {
		return nil, fmt.Errorf("path %q: want one below %s", in.URI, wire.TunnelPrefix)
	}
	r.RequestURI, r.Host, r.ContentLength = in.URI, in.Host, int64(len(in.Body))
	r.RemoteAddr = net.JoinHostPort(in.Peer, "0")
	for name, values := range in.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header["X-Request-Id"] = []string{id} // for the log, here as there
	return r, nil
}

// Header implements [http.ResponseWriter].
func (a *tunnelAnswer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *tunnelAnswer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status, a.sent = status, a.header.Clone()
	}
}

// Write implements [http.ResponseWriter].
func (a *tunnelAnswer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.size += len(b); a.size > wire.TunnelAnswerMost && a.err == nil {
		a.err = errTunnelAnswer
	}
	for rest := b; len(rest) > 0 && a.err == nil && !a.head; {
		n := min(len(rest), wire.TunnelPartMost-len(a.buffer))
		a.buffer, rest = append(a.buffer, rest[:n]...), rest[n:]
		if len(a.buffer) == wire.TunnelPartMost {
			a.flush(false)
		}
	}
	return len(b), a.err
}

// flush sends what has been written.
func (a *tunnelAnswer) flush(final bool) {
	a.WriteHeader(http.StatusOK)
	part := wire.TunnelPart{Part: a.part, Body: a.buffer, Final: final}
	if a.part == 0 {
		part.Status, part.Header = a.status, a.sent
	}
	a.say(part)
	a.part++
	a.buffer = a.buffer[:0]
}

// say sends a part and waits until it is on its way, so that a line that is slow holds the handler up and not the memory.
func (a *tunnelAnswer) say(part wire.TunnelPart) {
	if a.err == nil {
		a.err = a.ctx.Err()
	}
	if a.err != nil {
		return
	}
	b, err := envelope(wire.TypeTunneled, a.corr, part)
	if err == nil {
		err = within(a.session.client.Publish(wire.Topic(a.session.cfg.Credentials.Controller, wire.UpTunnel), 0, false, b))
	}
	if a.err = err; err != nil {
		a.session.cfg.Log.Debug("an answer through the tunnel was not sent", "why", err)
	}
}
