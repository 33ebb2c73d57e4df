package sdn

import "math"

// census counts who answers the calls of one type of motor, to know when nobody is
// missing any more. Answers to a call collide: of a dozen motors one in a call is
// heard whole. How often those that are known were heard tells how likely it is that
// another one never was.
type census struct {
	calls int
	clean int             // calls in a row that all known motors answered, and that brought nothing else
	first map[Address]int // the call that each motor was first heard at
	again int             // answers of motors that were known already
	since int             // calls that those could have answered
}

const (
	// cleanCalls in a row are sure by themselves: a frame may be lost by chance, not twice.
	cleanCalls = 2
	// missedAtMost motors may be missing on average when the census counts as complete.
	missedAtMost = 1e-4
	// mostCalls of one type, two minutes: enough for some fifteen motors.
	mostCalls = 400
	// nobodyCalls that brought nothing but noise are enough to tell that more is needed.
	nobodyCalls = 40
)

// take counts a call: who answered, and whether something came that was no frame.
func (c *census) take(answered []Address, noise bool) {
	if c.first == nil {
		c.first = make(map[Address]int)
	}
	c.calls++
	c.since += len(c.first)
	for _, a := range answered {
		if _, known := c.first[a]; known {
			c.again++
			continue
		}
		c.first[a] = c.calls
	}
	if c.clean++; noise || len(answered) < len(c.first) {
		c.clean = 0
	}
}

// missing is how many motors were never heard, on average over all lines that sound
// like this one. It is infinite while nothing is known.
func (c *census) missing() float64 {
	if c.again == 0 {
		return math.Inf(1)
	}
	// Less than was counted, since the count is chance too.
	again := float64(c.again)
	p := max(0, again-math.Sqrt(again)) / float64(c.since)
	never := math.Pow(1-p, float64(c.calls))
	return float64(len(c.first)) * never / (1 - never)
}

// complete reports whether further calls would bring nobody. Where others disturb the
// line, noise says nothing about motors that were not heard yet.
func (c *census) complete(disturbed bool) bool {
	if c.clean >= cleanCalls || disturbed && len(c.first) == 0 && c.calls >= busyRounds {
		return true
	}
	return len(c.first) > 0 && c.missing() < missedAtMost
}

// exhausted reports whether calling on is given up, complete or not.
func (c *census) exhausted() bool {
	return c.calls >= mostCalls || len(c.first) == 0 && c.calls >= nobodyCalls
}
