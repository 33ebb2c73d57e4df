package sdn

import (
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
)

const (
	// lateLongest is how long an answer is waited for from a motor that was heard
	// answering too late: what the option responseTimeout takes.
	lateLongest = 2 * time.Second
	// lateCalls that a motor seemed to answer, though they went to another type, are no
	// chance any more if they are one in lateShare.
	lateCalls, lateShare = 2, 3
)

// late reports whether a motor was heard answering when its time was over. Several
// answers to one call say nothing then: the others were to calls before it.
func (k *candidate) late() bool { return k.astray >= lateCalls && lateShare*k.astray >= k.seen }

// measure tells how long a motor takes that was heard answering too late.
func (s *search) measure(a Address) {
	d, k := s.driver, s.known[a]
	if !k.late() {
		return
	}
	for over := time.Now().Add(lateLongest); time.Now().Before(over) && !s.Over(); { // answers to calls may be under way
		s.pause()
	}
	var came time.Time
	who := question{
		motor: &motor{driver: d, address: a, key: a.String(), kind: k.kind, course: course{goal: -1}},
		id:    getNodeAddress, want: postNodeAddress, most: minFrame, what: "asking who it is", patience: lateLongest,
		then: func(_ Frame, at time.Time) ([]appliance.Reading, error) {
			came = at
			return nil, nil
		},
	}
	for i := 0; i < seekTries && came.IsZero(); i++ {
		res, _ := s.Ask(a.String(), d.exchange(who)) // whether it answered is what came
		delay := came.Sub(res.Sent) - d.airtime(minFrame)
		switch {
		case came.IsZero():
		case delay > d.options.responseTimeout:
			k.delay = delay
		default:
			k.astray = 0 // it is in time
		}
	}
	if k.delay > 0 {
		s.Tell(s.found(a))
	}
}

// lateness completes what is told of a motor that answers too late.
func (k *candidate) lateness(f *appliance.Found) {
	f.Finding = appliance.FoundLate
	f.Detail += fmt.Sprintf(", answers after %v, when nobody waits for it any more", k.delay.Round(time.Millisecond))
	f.Advice = fmt.Sprintf("a motor that works answers within 255ms: check its supply, have it replaced; until then set the bus option responseTimeout to %v and scan again",
		scan.Patience(k.delay*3/2, lateLongest))
}
