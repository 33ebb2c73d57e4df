package sdn

import (
	"fmt"
	"time"

	"svc.internal/controller/appliance"
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
func (s *search) measure(a Address, yield func(appliance.ScanStep) bool) bool {
	d, k := s.driver, s.known[a]
	if !k.late() {
		return true
	}
	for over := time.Now().Add(lateLongest); time.Now().Before(over); { // answers to calls may be under way
		if !s.pause(yield) {
			return false
		}
	}
	var came time.Time
	who := question{
		motor: &motor{driver: d, address: a, key: a.String(), kind: k.kind, goal: -1},
		id:    getNodeAddress, want: postNodeAddress, most: minFrame, what: "asking who it is", patience: lateLongest,
		then: func(_ Frame, at time.Time) ([]appliance.Reading, error) {
			came = at
			return nil, nil
		},
	}
	for i := 0; i < seekTries && came.IsZero(); i++ {
		if !yield(appliance.ScanStep{Exchange: d.exchange(who), Address: a.String(), Judge: func(res appliance.Result, _ error) (appliance.Found, bool) {
			s.heard.take()
			delay := came.Sub(res.Sent) - d.airtime(minFrame)
			switch {
			case came.IsZero():
			case delay > d.options.responseTimeout:
				k.delay = delay
			default:
				k.astray = 0 // it is in time
			}
			return appliance.Found{}, false
		}}) {
			return false
		}
	}
	if k.delay == 0 {
		return true
	}
	return yield(s.tell(s.found(a)))
}

// lateness completes what is told of a motor that answers too late.
func (k *candidate) lateness(f *appliance.Found) {
	const step = 100 * time.Millisecond
	f.Finding = appliance.FoundLate
	f.Detail += fmt.Sprintf(", answers after %v, when nobody waits for it any more", k.delay.Round(time.Millisecond))
	f.Advice = fmt.Sprintf("a motor that works answers within 255ms: check its supply, have it replaced; until then set the bus option responseTimeout to %v and scan again",
		min((k.delay*3/2+step-1)/step*step, lateLongest))
}
