package console

import (
	"sync"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/line"
)

// joinGap is the silence within what comes unasked that is an adapter's, which hands
// over what it receives in pieces, and not the end of a frame.
const joinGap = 50 * time.Millisecond

// joiner puts the pieces together in which bytes came that nobody asked for, so that
// they are shown, and explained, as one.
type joiner struct {
	each func(api.Frame) error
	fail func() // ends the watching when a frame that was held cannot be shown

	mu    sync.Mutex
	held  *api.Frame
	until time.Time // when the last of its pieces came
	timer *time.Timer
	err   error
}

// take shows a frame, or holds it while more of it may come.
func (j *joiner) take(f api.Frame) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	piece := f.Direction == "discarded" && f.Note == line.NoteUnasked
	if piece && j.held != nil && f.Lost == 0 && f.At.Sub(j.until) < joinGap {
		j.held.Hex += f.Hex
		j.until = f.At
		j.timer.Reset(joinGap)
		return j.err
	}
	if err := j.flush(); err != nil || !piece {
		if err == nil {
			err = j.each(f)
		}
		return err
	}
	j.held, j.until = &f, f.At
	j.timer = time.AfterFunc(joinGap, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.flush() != nil {
			j.fail()
		}
	})
	return nil
}

// end shows what is still held.
func (j *joiner) end() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.flush()
}

// flush shows what is held. Called with the lock held.
func (j *joiner) flush() error {
	if j.held == nil || j.err != nil {
		return j.err
	}
	f := *j.held
	j.held = nil
	j.timer.Stop()
	j.err = j.each(f)
	return j.err
}
