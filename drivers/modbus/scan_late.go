package modbus

import (
	"fmt"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
)

const (
	// lateLongest is how long after a question its answer is still known as such, and
	// waited for from who was heard answering too late.
	lateLongest = 3 * time.Second
	// quietTries is how often it is waited for a unit that nobody asked lately: a daemon
	// polls those of the site.
	quietTries = 3
	// longestTimeout is what the option responseTimeout takes.
	longestTimeout = 10 * time.Second
)

// late asks those again who were heard answering when their time was over, and tells
// how long they take.
func (s *search) late(first, last int) {
	for n := first; n <= last && !s.over(); n++ {
		if !s.heard.late[byte(n)] || s.there[n] {
			continue
		}
		s.awaitQuiet(byte(n))
		_, delay, err := s.ask(probe{request: question(byte(n)), timeout: lateLongest})
		switch {
		case s.over():
		case !answered(err):
			s.there[n] = true
			s.Tell(appliance.Found{
				Address: unitKey(byte(n)), Finding: appliance.FoundLate,
				Detail: "answered when nobody waited for it any more, and not again when it was waited for",
				Advice: "scan again; if it stays so, check its connector and what else it is busy with",
			})
		case delay+s.driver.characters(7) < s.driver.patience(byte(n), 7):
			s.whoIs(byte(n), err) // it was a frame that got lost
		default:
			s.there[n] = true
			s.Tell(lateFound(byte(n), delay, s.driver.characters(maxFrame)))
		}
	}
}

// maxFrame is the longest frame of Modbus RTU.
const maxFrame = 256

// lateFound tells of a unit whose answers begin so long after the question; longest is
// how long its longest answer takes on the wire.
func lateFound(n byte, delay, longest time.Duration) appliance.Found {
	return appliance.Found{
		Address: unitKey(n), Finding: appliance.FoundLate,
		Detail: fmt.Sprintf("answers after %v, when nobody waits for it any more", delay.Round(time.Millisecond)),
		Advice: fmt.Sprintf("give its node the option responseTimeout: %v; a scan of a bus that has this option tells what it is", scan.Patience(delay*3/2+longest, longestTimeout)),
	}
}

// awaitQuiet leaves the line alone until no answer of a unit can be under way any more:
// else one to an earlier question would be taken for that to the next.
func (s *search) awaitQuiet(n byte) {
	for range quietTries {
		asked := s.heard.askedAt[n]
		for time.Since(asked) < lateLongest && !s.over() {
			s.Listen(1)
		}
		if s.heard.askedAt[n].Equal(asked) {
			return
		}
	}
}
