package sdn

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/scan"
)

// listenSlices are listened to before and after.
const listenSlices = 16

// listen leaves the line alone for a while, to hear who talks without being asked.
func (s *search) listen() {
	for i := 0; i < listenSlices && !s.Over(); i++ {
		s.pause()
	}
}

// pause leaves the line alone for one slice.
func (s *search) pause() {
	e := scan.Silence(scan.Slice)
	wait := e.Do
	e.Do = func(ctx context.Context, y appliance.Yield) (appliance.Result, error) {
		s.driver.strayBytes()
		res, err := wait(ctx, y)
		if n := s.driver.strayBytes(); n > 0 {
			s.heard.alone += n
			s.heard.bursts++
		}
		return res, err
	}
	_, _ = s.Ask("listening", e) // the line is left alone for less if the bus ends
}

// eavesdropper sorts what others say on the line.
type eavesdropper struct {
	host    Address
	asked   map[[2]Address]int // questions of other masters: who asked whom
	told    map[[2]Address]int // what motors told other masters: who told whom
	sample  map[Address]Frame
	noise   int  // bytes that made no frame, after a call
	alone   int  // bytes that made no frame, while nobody was asked
	bursts  int  // slices in which such bytes came
	drowned bool // a call could not be sent, since the line is never silent
}

func newEavesdropper(host Address) *eavesdropper {
	return &eavesdropper{host: host, asked: map[[2]Address]int{}, told: map[[2]Address]int{}, sample: map[Address]Frame{}}
}

// strayBytes counts the bytes that made no frame since it was asked last.
func (d *Driver) strayBytes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.strangers.noise
	d.strangers.noise = 0
	return n
}

// take sorts what passed on the line.
func (e *eavesdropper) take(frames []appliance.Frame) {
	for _, f := range frames {
		if f.Direction == appliance.FrameSent {
			continue
		}
		for b := f.Bytes; len(b) >= minFrame; {
			frame, n, ok := peel(b)
			if n == 0 {
				break
			}
			if b = b[n:]; ok {
				e.sort(frame)
			}
		}
	}
}

func (e *eavesdropper) sort(f Frame) {
	switch {
	case f.Source == e.host, f.Destination == e.host:
	case f.From != 0: // a node speaks
		e.told[[2]Address{f.Source, f.Destination}]++
		e.sample[f.Source] = f
	default:
		e.asked[[2]Address{f.Source, f.Destination}]++
	}
}

// chance is how many frames of a motor to another master may have been asked for
// without our hearing the question.
const chance = 2

// questions counts those that a motor may have answered to a master.
func (e *eavesdropper) questions(pair [2]Address) int {
	motor, master := pair[0], pair[1]
	return e.asked[[2]Address{master, motor}] + e.asked[[2]Address{master, Everybody}]
}

// babbles reports whether a motor talks without being asked, so that damaged answers
// of others say nothing about these.
func (e *eavesdropper) babbles() bool {
	for pair, told := range e.told {
		if told > e.questions(pair)+chance {
			return true
		}
	}
	return false
}

// disturbed reports whether others talk so much that their frames collide with answers.
func (e *eavesdropper) disturbed() bool {
	n := 0
	for _, asked := range e.asked {
		n += asked
	}
	return n > chance || e.babbles()
}

// noisy reports whether what is no frame may be anybody's, not only motors' answers that
// collided.
func (e *eavesdropper) noisy() bool { return e.disturbed() || e.drowned || e.babblesAlone() }

// line tells what is wrong with the line as a whole, and who shares it.
func (s *search) line() []appliance.Found {
	e := s.heard
	var list []appliance.Found
	for _, pair := range slices.SortedFunc(maps.Keys(e.told), func(a, b [2]Address) int { return slices.Compare(a[0][:], b[0][:]) }) {
		motor := pair[0]
		told, asked := e.told[pair], e.questions(pair)
		if told <= asked+chance {
			continue
		}
		list = append(list, appliance.Found{
			Address: motor.String(), Finding: appliance.FoundBabble,
			Detail: fmt.Sprintf("THIS MOTOR TALKS WITHOUT BEING ASKED: %d times while the scan ran (%v), asked %d times", told, e.sample[motor].ID, asked),
			Advice: "unplug it from the bus and scan again; have it replaced",
		})
	}
	masters := map[Address]int{}
	for pair, n := range e.asked {
		masters[pair[0]] += n
	}
	for _, m := range slices.SortedFunc(maps.Keys(masters), func(a, b Address) int { return slices.Compare(a[:], b[:]) }) {
		if m != Nobody && !m.IsGroup() {
			list = append(list, appliance.Found{Address: m.String(), Finding: appliance.FoundNote,
				Detail: fmt.Sprintf("another master asked %d questions or gave orders while the scan ran: a keypad, an interface or another controller", masters[m])})
		}
	}
	return append(list, s.noise(len(list) > 0)...)
}

// noise tells of bytes that make no frame.
func (s *search) noise(named bool) []appliance.Found {
	e := s.heard
	const why = "wrong bit rate or parity (SDN has 4800 8O1), swapped wires, noise"
	switch {
	case e.drowned && !named:
		return []appliance.Found{{Finding: appliance.FoundBabble, Detail: "SOMEBODY TALKS WITHOUT A PAUSE, so that nobody could be asked",
			Advice: "unplug motors one by one until 'bus monitor' is quiet; the last one was it"}}
	case e.babblesAlone() && !named:
		return []appliance.Found{{Finding: appliance.FoundBabble,
			Detail: fmt.Sprintf("SOMEBODY TALKS WITHOUT BEING ASKED, and no frame is whole: %d bytes while nobody was asked: %s", e.alone, why),
			Advice: "unplug devices one by one until 'bus monitor' is quiet; check the two bus wires for polarity"}}
	case e.noise > 0 && len(s.known) == 0:
		return []appliance.Found{{Finding: appliance.FoundDamaged,
			Detail: "somebody answers, but no frame is whole: " + why + ", or too many answers at once",
			Advice: "check the bus wires and what the adapter is set to; then scan with half of the motors unplugged"}}
	}
	return nil
}

// noiseLeast is how many stray bytes may be chance: an adapter plugged in, a motor
// that starts. burstsLeast is in how many slices they must come: answers that collided
// and were late lie in two at most.
const noiseLeast, burstsLeast = 3, 3

// babblesAlone reports whether what is no frame comes without being asked for.
func (e *eavesdropper) babblesAlone() bool { return e.alone > noiseLeast && e.bursts >= burstsLeast }
