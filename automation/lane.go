package automation

import (
	"slices"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

const (
	// slideEvery bounds how often a moving slider acts.
	slideEvery = 200 * time.Millisecond
	// waitingMost bounds what one room's lights or shades may have waiting.
	waitingMost = 32
)

// task is an event that passed the gate, or its part for lights or for shades, with what it asks for.
type task struct {
	event
	order    order
	clusters []appliance.ID // of the panel
	// commands to carry out, without expiry: all of lights, or all of shades. Those for the same thing are done in their order.
	commands []appliance.Command
	asked    *asked
}

// asked is an event under way, in its parts.
type asked struct {
	left     int        // parts that are not over
	acks     []wire.Ack // of those that are
	has      allowance
	accepted sync.Once // it was told that it is under way
}

func (t task) isShades() bool { return t.commands[0].Kind.IsShade() }

// lane keeps what is asked of the lights, or of the shades, of one room in order: one thing is done at a time. It sees
// no clock.
type lane struct {
	waiting []task
	running *task
	slid    map[string]time.Time // widget → when its slider last acted
}

// offer puts a task in line. It returns the tasks that it makes worthless, as older ones of the same widget are, and whether the one that is being carried
// out must not be waited for any longer.
func (l *lane) offer(t task) (overtaken []task, interrupt bool) {
	l.waiting = slices.DeleteFunc(l.waiting, func(old task) bool {
		worthless := t.order.stops() || old.WidgetID == t.WidgetID
		if worthless {
			overtaken = append(overtaken, old)
		}
		return worthless
	})
	if len(l.waiting) >= waitingMost {
		overtaken = append(overtaken, l.waiting[0])
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	l.waiting = append(l.waiting, t)
	if r := l.running; r != nil {
		interrupt = t.order.stops() || r.order.slide && t.order.slide && t.order.final && r.WidgetID == t.WidgetID
	}
	return overtaken, interrupt
}

// next takes the task that is to be carried out now. Without one, it says how long until there may be; wait is 0 if
// nothing is in line.
func (l *lane) next(now time.Time) (t task, wait time.Duration, ok bool) {
	if len(l.waiting) == 0 {
		return task{}, 0, false
	}
	t = l.waiting[0]
	if t.order.slide {
		if !t.order.final {
			if left := l.slid[t.WidgetID].Add(slideEvery).Sub(now); left > 0 {
				return task{}, left, false
			}
		}
		if l.slid == nil {
			l.slid = map[string]time.Time{}
		}
		l.slid[t.WidgetID] = now
	}
	l.waiting = slices.Delete(l.waiting, 0, 1)
	l.running = &t
	return t, 0, true
}
