package control

import (
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// timing is one travel measured: the truth is taken to be within off of took.
type timing struct{ took, off time.Duration }

// credit is the part of a travel, in percent points from either end, in which a
// motor is taken to be no faster than on the whole: it starts and stops gently.
const credit = 10

// watched works out a travel from the reads of a shade that tells its position. The
// order to move was on the wire at sent; the shade went from start to stop, in
// percent. ok is false if too little was seen.
//
// Nothing tells when exactly the motor started and arrived. It started after the
// order was out and before the first read that shows it elsewhere; it arrived
// after the question of the last read that shows it short of its goal, and before
// the first answer that shows it there. An answer may have been made up at any
// moment since its question. What it was away from an end in percent narrows that.
func watched(samples []sample, sent time.Time, start, stop appliance.Position) (timing, bool) {
	arrived := slices.IndexFunc(samples, func(s sample) bool {
		return s.Has.Has(appliance.CanPosition) && !s.read.Before(sent) && s.Position == stop
	})
	if arrived < 0 {
		return timing{}, false
	}
	way := samples[:arrived]
	least, most := time.Duration(0), samples[arrived].read.Sub(sent)
	for range 3 { // each round narrows the credit of the next
		leftBy, thereAt := samples[arrived].read, sent
		for _, s := range way {
			if !s.Has.Has(appliance.CanPosition) || s.asked.Before(sent) {
				continue
			}
			if gone := away(s.Position, start); gone >= 2 {
				leftBy = earlier(leftBy, s.read.Add(-share(min(gone, credit)-1, least)))
			}
			left := away(s.Position, stop)
			if left <= credit {
				thereAt = later(thereAt, s.asked.Add(share(left, least)-share(0.5, least)))
			} else {
				thereAt = later(thereAt, s.asked)
			}
		}
		// The last half percent is rounded away, and the slowest.
		thereBy := samples[arrived].read.Add(share(1, most))
		least, most = max(0, thereAt.Sub(leftBy)), thereBy.Sub(sent)
	}
	return timing{(least + most) / 2, (most - least + 1) / 2}, true
}

func away(a, b appliance.Position) float64 {
	if a < b {
		a, b = b, a
	}
	return float64(a - b)
}

// share of a travel, in percent points.
func share(points float64, of time.Duration) time.Duration {
	return time.Duration(points / 100 * float64(of))
}

// alike is how far two measurements of the same travel may be apart: 5 %, a second
// at least, and what each is off.
func alike(a, b timing) bool {
	return apart(a.took, b.took) <= max(time.Second, time.Duration(0.05*float64(max(a.took, b.took))), a.off+b.off)
}

func apart(a, b time.Duration) time.Duration { return max(a-b, b-a) }

// travelOf judges measurements of one direction. If they are not all alike, only
// the two closest count; ok is false if not even these are.
func travelOf(all []timing) (tr appliance.Travel, ok bool) {
	for _, t := range all {
		tr.Runs = append(tr.Runs, t.took)
	}
	sorted := slices.SortedFunc(slices.Values(all), func(a, b timing) int { return int(a.took - b.took) })
	if len(sorted) == 0 {
		return tr, false
	}
	if first, last := sorted[0], sorted[len(sorted)-1]; !alike(first, last) {
		best := 0
		for i := range sorted[1:] {
			if apart(sorted[i].took, sorted[i+1].took) < apart(sorted[best].took, sorted[best+1].took) {
				best = i
			}
		}
		sorted = sorted[best : best+2]
		if !alike(sorted[0], sorted[1]) {
			return tr, false
		}
	}
	var sum time.Duration
	for _, t := range sorted {
		sum += t.took
		tr.Uncertainty = max(tr.Uncertainty, t.off)
	}
	tr.Spread = sorted[len(sorted)-1].took - sorted[0].took
	tr.Mean = sum / time.Duration(len(sorted))
	tr.Uncertainty = max(tr.Uncertainty, tr.Spread/2)
	return tr, true
}
