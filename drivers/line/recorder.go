package line

import (
	"context"
	"sync"
	"time"

	"svc.internal/controller/appliance"
)

// Bounds of the flight recorder: 256 frames of up to 640 bytes (the longest of
// any protocol here, a DMX widget message of 605 bytes, fits).
const (
	recordedFrames = 256
	recordedBytes  = 640
	followBuffer   = 256
)

// Recorder keeps the last frames. Its slots are used again and again: recording
// allocates only while they grow, or while somebody follows. The zero value is empty.
type Recorder struct {
	mu    sync.Mutex
	ring  [recordedFrames]appliance.Frame
	next  int // slot of the next frame
	count int // used slots
	total int // frames so far
	stray int // of them those that nobody asked for
	// followers, with how many frames each has lost since the last one it got.
	followers map[chan appliance.Frame]int
}

// Add records a frame. A note must be a constant: notes are kept as they are.
func (r *Recorder) Add(at time.Time, dir appliance.Direction, b []byte, note string) {
	if len(b) > recordedBytes {
		b = b[:recordedBytes]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := &r.ring[r.next]
	slot.At, slot.Direction, slot.Note = at, dir, note
	slot.Bytes = append(slot.Bytes[:0], b...)
	r.next = (r.next + 1) % recordedFrames
	r.count = min(r.count+1, recordedFrames)
	r.total++
	if note == NoteUnasked || note == NoteNotForUs {
		r.stray++
	}
	if len(r.followers) == 0 {
		return
	}
	frame := copyFrame(slot)
	for ch, lost := range r.followers {
		frame.Lost = lost
		select {
		case ch <- frame:
			r.followers[ch] = 0
		default: // too slow: it loses this one, and is told with the next
			r.followers[ch]++
		}
	}
}

func copyFrame(f *appliance.Frame) appliance.Frame {
	c := *f
	c.Bytes = append([]byte(nil), f.Bytes...)
	return c
}

// Recent returns the last frames, as [Recorder.Recent] does.
func (l *Line) Recent() []appliance.Frame { return l.rec.Recent() }

// Stray counts what came and was no answer to what had been asked, so far: whether to look
// for it among the last frames.
func (l *Line) Stray() int {
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	return l.rec.stray
}

// Follow sends every frame from now on, as [Recorder.Follow] does.
func (l *Line) Follow(ctx context.Context) <-chan appliance.Frame { return l.rec.Follow(ctx) }

// Since returns what was recorded after the first so many frames, as [Recorder.Recent] does,
// and how many that makes.
func (l *Line) Since(seen int) (frames []appliance.Frame, total int) { return l.rec.since(seen) }

// Recent returns the last frames, oldest first; 256 at most, of each at most the
// first 640 bytes. They are the caller's own.
func (r *Recorder) Recent() []appliance.Frame {
	frames, _ := r.since(0)
	return frames
}

func (r *Recorder) since(seen int) (frames []appliance.Frame, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.total-seen, r.count)
	frames = make([]appliance.Frame, 0, n)
	for i := range n {
		frames = append(frames, copyFrame(&r.ring[(r.next-n+i+recordedFrames)%recordedFrames]))
	}
	return frames, r.total
}

// Follow sends every frame from now on until ctx ends, then closes the channel.
// A reader that is more than 256 frames behind loses frames; the next one it gets
// tells how many. Followers share the bytes of a frame: nobody may change them.
func (r *Recorder) Follow(ctx context.Context) <-chan appliance.Frame {
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
