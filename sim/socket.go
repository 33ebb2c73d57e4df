package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Bounds of a simulated gateway.
const (
	maxConnections = 16
	// frameGap is how long a serial server waits for the rest of a frame.
	frameGap     = 200 * time.Millisecond
	writeTimeout = 5 * time.Second
)

// runSocket serves a TCP bus until ctx ends. ready is called once it listens.
func (b *bus) runSocket(ctx context.Context, ready func()) error {
	where := b.port
	for ctx.Err() == nil {
		ln, err := b.listen(ctx, where)
		if err != nil {
			return fmt.Errorf("bus %s: listen on %s: %w", b.name, where, err)
		}
		where = ln.Addr().String() // the same port again after an unplug
		b.setUp(fmt.Sprintf("%s://%s", b.kind, where))
		ready()
		b.serve(ctx, ln)
		b.setUp("")
		b.waitPlugged(ctx)
	}
	return nil
}

// listen takes an address of the machine, or of the cables.
func (b *bus) listen(ctx context.Context, where string) (net.Listener, error) {
	if b.cables != nil {
		return b.cables.Listen(where)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", where)
}

// serve accepts until ctx ends or the gateway is switched off.
func (b *bus) serve(ctx context.Context, ln net.Listener) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	conns := &connSet{open: map[net.Conn]bool{}}
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				b.slog.Warn("accept", "error", err)
				return
			}
			if !conns.add(c) {
				b.count(func(n *counters) { n.rejections++ })
				c.Close()
				continue
			}
			b.count(func(n *counters) { n.connections++ })
			wg.Go(func() {
				defer conns.remove(c)
				b.converse(ctx, c)
			})
		}
	})
	cuts := b.cutCount()
	for on := true; on; {
		select {
		case <-ctx.Done():
			on = false
		case <-b.wake:
			if n := b.cutCount(); n != cuts {
				cuts = n
				conns.closeAll()
			}
			on = !b.isPulled()
		}
	}
	cancel()
	ln.Close()
	conns.closeAll()
	wg.Wait()
}

// connSet is the bounded set of open connections.
type connSet struct {
	mu   sync.Mutex
	open map[net.Conn]bool
}

func (s *connSet) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxConnections {
		return false
	}
	s.open[c] = true
	return true
}

func (s *connSet) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	c.Close()
}

func (s *connSet) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
	}
}

// converse serves one connection.
func (b *bus) converse(ctx context.Context, c net.Conn) {
	if b.player != nil {
		if b.take(ctx) == nil { // a serial server has one line
			defer b.giveBack()
			if err := b.player.serve(ctx, c); err != nil && ctx.Err() == nil {
				b.slog.Debug("connection ended", "error", err)
			}
		}
		return
	}
	r := bufio.NewReaderSize(c, maxRTUFrame)
	for ctx.Err() == nil {
		var err error
		if b.kind == kindTCP {
			err = b.answerTCP(ctx, c, r)
		} else {
			err = b.answerStream(ctx, c, r)
		}
		if err != nil {
			return
		}
	}
}

func (b *bus) answerTCP(ctx context.Context, c net.Conn, r *bufio.Reader) error {
	f, err := readMBAP(r)
	if err != nil {
		return err
	}
	raw := f.bytes()
	b.count(func(n *counters) { n.bytesIn += uint64(len(raw)) })
	return b.answer(ctx, c, raw, f.unit, f.pdu, func(unit byte, pdu []byte) []byte {
		return mbap{transaction: f.transaction, unit: unit, pdu: pdu}.bytes()
	})
}

// answer handles one request and writes what goes back. The devices behind a
// port take one request at a time, from however many connections.
func (b *bus) answer(ctx context.Context, c net.Conn, raw []byte, unit byte, pdu []byte, pack func(byte, []byte) []byte) error {
	if err := b.take(ctx); err != nil {
		return err
	}
	defer b.giveBack()
	if err := b.awaken(ctx); err != nil {
		return err
	}
	rep := b.handle(time.Now(), raw, unit, pdu, pack)
	if rep.bytes == nil {
		return nil
	}
	if rep.delay > 0 {
		timer := time.NewTimer(rep.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.Write(rep.bytes)
	b.mu.Lock()
	b.counts.bytesOut += uint64(len(rep.bytes))
	b.log(time.Now(), Answer, rep.bytes, "", nil)
	b.mu.Unlock()
	return err
}

// answerStream reads one RTU frame from a stream. A frame ends where its first
// bytes say; what cannot be read is dropped at the next pause, as behind a real
// serial server the silence on the line would have it dropped.
func (b *bus) answerStream(ctx context.Context, c net.Conn, r *bufio.Reader) error {
	if _, err := r.Peek(1); err != nil { // idle connections wait for ever
		return err
	}
	c.SetReadDeadline(time.Now().Add(frameGap))
	defer c.SetReadDeadline(time.Time{})
	want := 2
	for {
		head, err := r.Peek(want)
		if err != nil {
			return b.discard(r, err)
		}
		need := requestLength(head)
		switch {
		case need < 0 || need > maxRTUFrame:
			_, err = r.Peek(maxRTUFrame) // until the pause
			return b.afterPause(ctx, c, r, err)
		case need == 0:
			want++
			continue
		case need > len(head):
			want = need
			continue
		}
		raw := append([]byte(nil), head[:need]...)
		unit, pdu, err := parseRTU(raw)
		if err != nil {
			_, perr := r.Peek(maxRTUFrame)
			return b.discard(r, perr)
		}
		r.Discard(need)
		c.SetReadDeadline(time.Time{})
		b.count(func(n *counters) { n.bytesIn += uint64(need) })
		return b.answer(ctx, c, raw, unit, pdu, rtuFrame)
	}
}

// afterPause takes what is buffered as one frame, which is how requests of
// functions that tell no length are recognised.
func (b *bus) afterPause(ctx context.Context, c net.Conn, r *bufio.Reader, err error) error {
	whole, _ := r.Peek(r.Buffered())
	unit, pdu, bad := parseRTU(whole)
	if bad != nil {
		return b.discard(r, err)
	}
	raw := append([]byte(nil), whole...)
	r.Discard(len(raw))
	b.count(func(n *counters) { n.bytesIn += uint64(len(raw)) })
	return b.answer(ctx, c, raw, unit, pdu, rtuFrame)
}

// discard drops what is buffered after a pause. Only errors other than the pause
// are returned.
func (b *bus) discard(r *bufio.Reader, err error) error {
	junk, _ := r.Peek(r.Buffered())
	b.mu.Lock()
	b.counts.garbled++
	b.counts.bytesIn += uint64(len(junk))
	b.log(time.Now(), Discarded, junk, "not a frame", nil)
	b.mu.Unlock()
	r.Discard(len(junk))
	var timeout net.Error
	if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		return nil
	}
	return err
}

func (b *bus) count(f func(*counters)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.counts)
}

func (b *bus) cutCount() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cuts
}

func (b *bus) isPulled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pulled > 0
}

// setUp notes that the port is there, at where, or gone.
func (b *bus) setUp(where string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.up = where != ""
	note := "port is gone"
	if b.up {
		b.where = where
		note = "port is at " + where
		if b.began.IsZero() {
			b.began = time.Now()
		}
	}
	b.log(time.Now(), Event, nil, note, nil)
}

// waitPlugged returns when no unplug fault is in force, or ctx ended.
func (b *bus) waitPlugged(ctx context.Context) {
	for b.isPulled() {
		select {
		case <-b.wake:
		case <-ctx.Done():
			return
		}
	}
}
