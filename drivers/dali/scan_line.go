package dali

import (
	"errors"
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// A gateway that does not tell what others say is asked to send, instead of listening:
// whoever talks without a pause is in the way of its frames.
const (
	listenSlices = 16
	listenProbes = 20
)

// A line is talked on without a pause if others take more than an eighth of the
// time, or a fifth of our frames collide. A button that is held, or another
// controller that polls, does less.
const (
	talkShare    = 8
	collideShare = 5
	// chance is how many frames of others, or collisions, mean nothing.
	chance = 2
)

// eavesdropper counts what others say on the line.
type eavesdropper struct {
	wire     *wire
	began    time.Time
	frames   int    // of others
	sample   string // the last of them
	sent     int    // frames of ours
	collided uint64 // frames of ours, at the beginning
}

func newEavesdropper(w *wire) *eavesdropper {
	return &eavesdropper{wire: w, began: time.Now(), collided: w.collisions.Load()}
}

// take counts the messages of others that passed.
func (e *eavesdropper) take(frames []appliance.Frame) {
	for _, f := range frames {
		if f.Direction == appliance.FrameSent {
			continue
		}
		for b := f.Bytes; len(b) > 0; {
			m, n := e.wire.gw.parse(b)
			if n == 0 {
				break
			}
			if b = b[n:]; m.said == saidHeard {
				e.frames++
				e.sample = m.String()
			}
		}
	}
}

// String tells people of a frame of another master.
func (m message) String() string {
	if m.bits == 16 {
		return fmt.Sprintf("%04X", uint16(m.frame))
	}
	return fmt.Sprintf("a frame of %d bits", m.bits)
}

// collisions of our frames since the scan began.
func (e *eavesdropper) collisions() int {
	return int(e.wire.collisions.Load() - e.collided)
}

// constant reports whether somebody talks all the time.
func (e *eavesdropper) constant() bool {
	taken, hits := time.Duration(e.frames)*forwardTime, e.collisions()
	return e.frames > chance && taken*talkShare > time.Since(e.began) || hits > chance && hits*collideShare > e.sent+hits
}

// found tells who else talks on the line; ok is false if nobody does.
func (e *eavesdropper) found() (f appliance.Found, ok bool) {
	hits := e.collisions()
	told := ""
	if e.frames > 0 {
		told = fmt.Sprintf("%d frames of others in %v, such as %s", e.frames, time.Since(e.began).Round(100*time.Millisecond), e.sample)
	}
	if hits > 0 {
		if told != "" {
			told += "; "
		}
		told += fmt.Sprintf("%d of %d frames of ours collided", hits, e.sent+hits)
	}
	switch {
	case e.constant():
		return appliance.Found{
			Finding: appliance.FoundBabble,
			Detail:  "SOMEBODY TALKS WITHOUT BEING ASKED: " + told,
			Advice:  "disconnect gear, sensors and other controllers of this line one by one until 'bus monitor' is quiet; the last one was it. What is said of gear below may be due to this",
		}, true
	case e.frames > chance:
		return appliance.Found{
			Finding: appliance.FoundNote,
			Detail:  "another master shares this line, a button, a sensor or another controller: " + told,
		}, true
	}
	return appliance.Found{}, false
}

// listen finds out who talks before anybody is asked, and says so first.
func (s *search) listen() {
	if s.driver.wire.gw.traits().has(reports) {
		s.Listen(listenSlices)
	} else {
		for i := 0; i < listenProbes && !s.Over(); i++ {
			_, _ = s.send("listening", Command(Broadcast, OpQueryPresent)) // despair judges
		}
	}
	if s.noisy = s.heard.constant(); s.noisy {
		f, _ := s.heard.found()
		s.Tell(f)
	}
}

// blind ends a scan that somebody's talk makes worthless: behind a gateway that does
// not tell to which question an answer belongs, gear would be seen where none is.
func (s *search) blind() bool {
	if t := s.driver.wire.gw.traits(); !s.noisy || s.heard.frames <= chance || t.has(ordered) || t.has(explicit) {
		return false
	}
	s.Tell(appliance.Found{
		Finding: appliance.FoundHindered,
		Detail:  "gear could not be looked for any further: this gateway does not tell to whose question an answer belongs, and somebody else asks all the time",
		Advice:  "find out who talks on this line, and scan again",
	})
	s.End()
	return true
}

// judge tells at the end what the whole scan showed: who else is on the line, and
// which gears share an address although somebody disturbed the answers.
func (s *search) judge() {
	if f, ok := s.heard.found(); ok && (!s.noisy || f.Finding == appliance.FoundBabble) {
		s.Tell(f) // in place of what was told at the beginning
	}
	if s.clean == 0 {
		return // every gear's answers were garbled: that may be the noise
	}
	for _, f := range s.suspects {
		f.Finding = appliance.FoundCollision
		f.Detail = fmt.Sprintf("SEVERAL GEARS share this address: its answers were garbled every time, %s were not", others(s.clean))
		f.Advice = "commissioning gives them addresses of their own"
		s.Tell(f)
	}
}

func others(n int) string {
	if n == 1 {
		return "those of another gear"
	}
	return fmt.Sprintf("those of %d others", n)
}

// hopeless is how many questions in a row may fail before a scan is given up.
const hopeless = 4

// despair gives a scan up whose questions do not get through.
func (s *search) despair(err error) {
	if err == nil {
		s.lost = 0
		return
	}
	if s.lost++; s.lost < hopeless || s.Over() {
		return
	}
	f := appliance.Found{Finding: appliance.FoundHindered, Detail: "nobody could be asked: " + err.Error(), Advice: "check the gateway: its power, its type in the site file, the serial cable"}
	if errors.Is(err, errConflict) || errors.Is(err, line.ErrBabble) {
		f.Finding = appliance.FoundBabble
		f.Detail = "SOMEBODY TALKS WITHOUT A PAUSE, so that nobody could be asked: " + err.Error()
		f.Advice = "disconnect gear and other controllers of this line one by one until 'bus monitor' is quiet; the last one was it"
	}
	s.Tell(f)
	s.End()
}
