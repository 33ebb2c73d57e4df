package sdn

import (
	"log/slog"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// An order that had to wait for the line counts from when it was out: a motor that
// says right after it that it stands has not had the time to start.
func TestOrderThatWaitedForTheLineCountsFromWhenItWasOut(t *testing.T) {
	d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler)}
	m := &motor{driver: d, shade: 5001, course: course{goal: -1}}
	d.site.all, d.site.motors = []*motor{m}, map[Address]*motor{}
	t0 := time.Now().Add(-time.Minute)
	m.takePosition(position{Percent: 0}, t0)
	m.takeStatus(status{}, t0)
	m.takePosition(position{Percent: 0}, t0.Add(time.Second))

	d.mu.Lock()
	m.sent(aim{goal: 100}, t0.Add(2*time.Second)) // announced: close
	d.mu.Unlock()
	out := t0.Add(3*time.Second - 50*time.Millisecond) // the line was busy for 950 ms
	m.wasOut(out)
	// 100 ms after the frame was out it says that it stands, as it may for startLimit.
	m.takeStatus(status{Cause: causeReached}, out.Add(100*time.Millisecond))
	got := m.takePosition(position{Percent: 0}, out.Add(150*time.Millisecond))
	for _, r := range got {
		if r.Has.Has(appliance.CanMove) && r.Motion == appliance.Stopped {
			t.Errorf("150 ms after the order was out it is shown as %v, and watched as idle (phase=%v)", r.Motion, m.course.phase)
		}
	}
	p := &proof{driver: d, wish: wish{motor: m}}
	if p.outwaited(out.Add(150 * time.Millisecond)) {
		t.Errorf("150 ms after the order was out it is said to have had the time to start")
	}
}

// What is overheard while the order waits for the line does not end the watch over a
// motor that is about to move.
func TestOverheardWhileWaiting(t *testing.T) {
	d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler)}
	m := &motor{driver: d, shade: 5001, course: course{goal: -1}}
	t0 := time.Now().Add(-time.Minute)
	d.mu.Lock()
	m.sent(aim{goal: 100}, t0)
	d.mu.Unlock()
	// Another master asks it meanwhile, twice, half a second apart, and it stands.
	m.takePosition(position{Percent: 0}, t0.Add(100*time.Millisecond))
	m.takeStatus(status{}, t0.Add(200*time.Millisecond))
	m.takePosition(position{Percent: 0}, t0.Add(700*time.Millisecond))
	m.takeStatus(status{}, t0.Add(800*time.Millisecond))
	m.wasOut(t0.Add(900 * time.Millisecond))
	if m.course.phase == resting {
		t.Error("the order is out, and the motor is not watched as one that moves")
	}
}

// Somebody presses STOP at a wall station while our order waits for the line (it waits because of that frame).
func TestStopOverheardWhileAMoveWaits(t *testing.T) {
	d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler)}
	a, _ := ParseAddress("06.1A.2B")
	m := &motor{driver: d, shade: 5001, address: a, course: course{goal: -1}}
	d.site.all, d.site.motors = []*motor{m}, map[Address]*motor{a: m}
	t0 := time.Now().Add(-time.Minute)
	m.takePosition(position{Percent: 0}, t0)
	d.mu.Lock()
	m.sent(aim{goal: 100}, t0.Add(time.Second)) // announced: close
	d.mu.Unlock()
	station, _ := ParseAddress("7F.00.01")
	d.follow(Frame{ID: ctrlStop, Source: station, Destination: a}, t0.Add(1500*time.Millisecond))
	out := t0.Add(1900 * time.Millisecond)
	m.wasOut(out) // our "close" is out: the motor starts now
	m.takeStatus(status{}, out.Add(100*time.Millisecond))
	for _, r := range m.takePosition(position{Percent: 0}, out.Add(150*time.Millisecond)) {
		if r.Has.Has(appliance.CanMove) && r.Motion == appliance.Stopped {
			t.Errorf("150 ms after 'close' was out the shade is shown as %v (phase=%v goal=%d sentAt=%v)", r.Motion, m.course.phase, m.course.goal, m.course.sentAt)
		}
	}
	if m.course.goal != 100 {
		t.Errorf("goal is %d, want 100", m.course.goal)
	}
	if !(&proof{driver: d, wish: wish{motor: m}}).outwaited(out.Add(2 * time.Second)) {
		t.Error("2 s after 'close' was out it still counts as one that was never sent anywhere")
	}
}
