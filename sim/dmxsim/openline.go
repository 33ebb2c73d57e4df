package dmxsim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// OpenGap is the silence that stands for a break where none can be seen: a
// pseudo-terminal carries bytes only.
const OpenGap = 5 * time.Millisecond

// ServeOpen listens to an Open DMX interface instead of being a widget: packets
// are start code 00 and slots, told apart by silence of [OpenGap]. rw needs read
// deadlines, as the master side of a pseudo-terminal has. The light of the
// fixtures, the events (as label 6) and the counters are those of a widget.
func (w *Widget) ServeOpen(ctx context.Context, rw interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}) error {
	stop := context.AfterFunc(ctx, func() { rw.Close() })
	defer stop()
	var packet []byte
	var begun time.Time
	buf := make([]byte, 4096)
	for {
		until := time.Time{}
		if len(packet) > 0 {
			until = time.Now().Add(OpenGap)
		}
		if err := rw.SetReadDeadline(until); err != nil || ctx.Err() != nil {
			return ended(ctx, err) // Close may be a deadline, which this one has replaced
		}
		n, err := rw.Read(buf)
		if n > 0 && len(packet) == 0 {
			begun = time.Now()
		}
		packet = append(packet, buf[:n]...)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && len(packet) > 0:
			w.hear(begun, packet)
			packet = nil
		case err != nil:
			return ended(ctx, err)
		case len(packet) > 8192:
			packet = nil // a host that never pauses
		}
	}
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return fmt.Errorf("simulated DMX line: %w", err)
}

// hear takes one packet of the line.
func (w *Widget) hear(at time.Time, b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counters.Received++
	if len(b) > 513 || b[0] != 0 || w.faults.deaf(at) {
		w.counters.Noise += len(b)
		return
	}
	w.counters.ByLabel[6]++
	w.everSent, w.stoppedAt = false, time.Time{} // no rate of a widget's own
	changed, onWire := w.output(at, b)
	w.log = append(w.log, Event{Number: w.counters.Received, At: at, Label: 6, Data: append([]byte(nil), b...), Changed: changed, OnWire: onWire})
	if len(w.log) > maxEvents {
		w.log = append(w.log[:0], w.log[maxEvents/4:]...)
	}
}
