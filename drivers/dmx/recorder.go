package dmx

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// Bounds of the recorder of an Open DMX port.
const (
	recordedFrames = 128
	followBuffer   = 64
)

// recorder keeps what an Open DMX port sent: every change, and one packet a second
// of those between. A packet is kept as the widget frame that carries the same.
type recorder struct {
	mu     sync.Mutex
	frames []appliance.Frame // oldest first
	// followers, with how many frames each has lost since the last one it got.
	followers map[chan appliance.Frame]int
}

func (r *recorder) add(b []byte, note string) {
	f := appliance.Frame{At: time.Now(), Direction: appliance.FrameSent, Bytes: b, Note: note}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.frames) == recordedFrames {
		r.frames = slices.Delete(r.frames, 0, recordedFrames/4)
	}
	r.frames = append(r.frames, f)
	for ch, lost := range r.followers {
		f.Lost = lost
		select {
		case ch <- f:
			r.followers[ch] = 0
		default: // too slow: it loses this one, and is told with the next
			r.followers[ch]++
		}
	}
}

func (r *recorder) recent() []appliance.Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	frames := slices.Clone(r.frames)
	for i := range frames {
		frames[i].Bytes = bytes.Clone(frames[i].Bytes)
	}
	return frames
}

func (r *recorder) follow(ctx context.Context) <-chan appliance.Frame {
	ch := make(chan appliance.Frame, followBuffer)
	r.mu.Lock()
	if r.followers == nil {
		r.followers = make(map[chan appliance.Frame]int)
	}
	r.followers[ch] = 0
	r.mu.Unlock()
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.followers, ch)
		close(ch)
	})
	return ch
}
