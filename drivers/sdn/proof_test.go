package sdn

import (
	"log/slog"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What a standing motor's position says about an order. Only a motor that was told
// by itself, and had the time to start, may say that it has arrived short of the
// percent: after a group frame it may as well have heard nothing.
func TestStandingMotorIsJudged(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		name    string
		group   bool
		told    time.Duration // ago
		percent byte
		said    status
		reached bool
		moves   bool // the reading contradicts the order
		why     bool
	}{
		{name: "at its goal", told: time.Second / 2, percent: 100, said: status{}},
		{name: "a percent off", told: time.Second / 2, percent: 99, said: status{}},
		{name: "short of it, at once", told: time.Second / 2, percent: 96, said: status{}, moves: true},
		{name: "short of it, later", told: 2 * time.Second, percent: 96, said: status{}, reached: true},
		{name: "short of it, later, stopped by somebody", told: 2 * time.Second, percent: 96, said: status{Cause: 1}, moves: true},
		{name: "of a group, short of it, later", group: true, told: 2 * time.Second, percent: 96, said: status{}, moves: true},
		{name: "locked", told: time.Second / 2, percent: 40, said: status{State: stateLocked}, moves: true, why: true},
		{name: "blocked", told: 2 * time.Second, percent: 40, said: status{State: stateBlocked, Cause: 0x20}, moves: true, why: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &Driver{report: func([]appliance.Reading) {}}
			m := &motor{driver: d, shade: 5001, course: course{sentAt: now.Add(-tc.told)}}
			p := &proof{driver: d, wish: wish{motor: m, order: order{id: ctrlMoveTo, fn: toDownLimit}}, said: tc.said}
			if tc.group {
				p.company = &company{}
			}
			p.Ref = m.ref()
			v := appliance.Values{Has: appliance.CanPosition, Position: 100 - appliance.Position(tc.percent)}
			got := p.judge(position{Percent: tc.percent, Pulses: 100}, p.reading(v, now))
			if len(got) != 1 {
				t.Fatalf("got %+v", got)
			}
			r := got[0]
			if r.Reached != tc.reached || (r.Why != "") != tc.why || (r.Has.Has(appliance.CanMove) && !r.Reached) != tc.moves {
				t.Errorf("got %+v", r)
			}
			if tc.reached && r.Has != appliance.CanMove|appliance.CanPosition {
				t.Errorf("told %v, want that it stands and where", r.Has)
			}
			if r.Motion != appliance.Stopped || r.Position != v.Position {
				t.Errorf("shown as %+v, want stopped where it is", r)
			}
			if rests := m.course.phase == resting; rests == tc.moves {
				t.Errorf("rests %v, and its reading contradicts the order %v", rests, tc.moves)
			}
		})
	}
}

// What positions say of the direction around an order. One from before it says
// nothing of what the motor does after it, whoever gave it; and a motor that has to
// turn round runs on for a moment.
func TestDirectionIsToldByPositionsAfterTheOrder(t *testing.T) {
	const none = appliance.MotionUnknown // nothing is told
	type step struct {
		at   float64 // seconds
		do   func(m *motor, at time.Time) []appliance.Reading
		want appliance.Motion
	}
	order := func(stop bool, goal int) func(*motor, time.Time) []appliance.Reading {
		return func(m *motor, at time.Time) []appliance.Reading {
			m.driver.mu.Lock()
			defer m.driver.mu.Unlock()
			m.sent(aim{stop, goal}, at)
			return nil
		}
	}
	up, down, stop := order(false, 0), order(false, 100), order(true, -1)
	out := func(m *motor, at time.Time) []appliance.Reading { m.wasOut(at); return nil }
	overheard := func(f Frame) func(*motor, time.Time) []appliance.Reading {
		return func(m *motor, at time.Time) (told []appliance.Reading) {
			m.driver.report = func(r []appliance.Reading) { told = r }
			f.Source, f.Destination = Address{0x7F, 0x7F, 0x7F}, m.address
			m.driver.follow(f, at)
			return told
		}
	}
	is := func(pulses uint16) func(*motor, time.Time) []appliance.Reading {
		return func(m *motor, at time.Time) []appliance.Reading {
			return m.takePosition(position{Pulses: pulses, Percent: byte(pulses / 100)}, at)
		}
	}
	says := func(s status) func(*motor, time.Time) []appliance.Reading {
		return func(m *motor, at time.Time) []appliance.Reading { return m.takeStatus(s, at) }
	}
	closing := []step{{0, is(0), none}, {0.1, down, none}, {1.2, is(1000), none}, {2.2, is(2000), appliance.Closing}}
	for _, tc := range []struct {
		name     string
		inverted bool
		steps    []step
	}{
		{name: "turned round", steps: append(closing[:4:4],
			step{2.7, up, none}, step{3, is(2500), none}, step{3.2, is(2500), none}, step{3.6, is(2300), appliance.Opening})},
		{name: "turned round, inverted", inverted: true, steps: []step{
			{0, is(0), none}, {0.1, down, none}, {1.2, is(1000), none}, {2.2, is(2000), appliance.Opening},
			{2.7, up, none}, {3, is(2500), none}, {3.6, is(2300), appliance.Closing}}},
		{name: "runs on before it turns", steps: append(closing[:4:4],
			step{2.7, up, none}, step{2.8, is(2600), none}, step{3, is(2700), none}, step{3.4, is(2600), appliance.Opening})},
		{name: "turns between two reads, and is still beyond the first", steps: append(closing[:4:4],
			step{2.7, up, none}, step{2.8, is(2600), none}, step{3.3, is(2650), none}, step{3.7, is(2400), appliance.Opening})},
		{name: "sent back to where it came through", steps: append(closing[:4:4],
			step{2.7, order(false, 22), none}, step{3, is(2500), none}, step{3.4, is(2400), appliance.Opening})},
		{name: "stopped", steps: append(closing[:4:4],
			step{2.7, stop, none}, step{3, is(2500), none}, step{3.1, is(2510), none}, step{3.7, is(2510), none},
			step{3.8, says(status{Cause: 1}), appliance.Stopped})},
		{name: "does not hear the order", steps: append(closing[:4:4],
			step{2.7, up, none}, step{3, is(2800), none}, step{3.9, is(3700), none}, step{4.4, is(4200), appliance.Closing})},
		{name: "order waits for the line", steps: append(closing[:4:4],
			step{2.7, up, none}, step{3.9, is(3600), none}, step{4, out, none}, step{4.2, is(3700), none}, step{4.6, is(3500), appliance.Opening})},
		{name: "turned round by another master", steps: append(closing[:4:4],
			step{2.7, overheard(Frame{ID: ctrlMoveTo, Data: moveToData(toUpLimit, unused)}), appliance.Moving},
			step{3, is(2500), none}, step{3.4, is(2300), none}, step{4, is(1700), none}, step{4.4, is(1300), appliance.Opening})},
		{name: "turned round by another master, and says so", steps: append(closing[:4:4],
			step{2.7, overheard(Frame{ID: ctrlMoveTo, Data: moveToData(toUpLimit, unused)}), appliance.Moving},
			step{3, is(2500), none}, step{3.2, says(status{State: stateRunning, Direction: directionUp}), appliance.Opening}, step{3.4, is(2300), none})},
		{name: "stopped by another master", steps: append(closing[:4:4],
			step{2.7, overheard(Frame{ID: ctrlStop, Data: []byte{0}}), none}, step{3, is(2500), none}, step{3.6, is(2500), none},
			step{3.7, says(status{Cause: 1}), appliance.Stopped})},
		{name: "at rest, and another master stops everything", steps: []step{
			{0, is(0), none}, {5, overheard(Frame{ID: ctrlStop, Data: []byte{0}}), none}, {12, is(300), appliance.Closing}}},
		{name: "says that it stands, is read there, and says so again", steps: []step{
			{0, is(0), none}, {1, order(false, 50), none}, {3, says(status{Cause: 1}), none}, {3.2, is(4000), appliance.Stopped}, {3.4, says(status{Cause: 1}), appliance.Stopped}}},
		{name: "moved at the wall", steps: []step{{0, is(0), none}, {12, is(300), appliance.Closing}}},
		{name: "told to go where it stands, then moved at the wall", steps: []step{
			{0, is(5000), none}, {1, order(false, 50), none}, {1.2, says(status{}), appliance.Stopped},
			{12, is(5300), appliance.Moving}, {12.2, says(status{State: stateRunning, Direction: directionDown}), appliance.Closing}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &motor{shade: 5001, address: Address{0x06, 0x1A, 0x2B}, inverted: tc.inverted, course: course{phase: resting, goal: -1}}
			m.driver = &Driver{site: site{motors: map[Address]*motor{m.address: m}, all: []*motor{m}}, log: slog.New(slog.DiscardHandler)}
			begun := time.Now()
			for _, s := range tc.steps {
				told := none
				for _, r := range s.do(m, begun.Add(time.Duration(s.at*float64(time.Second)))) {
					told = r.Motion
				}
				if told != s.want {
					t.Errorf("after %v s it is %v, want %v", s.at, told, s.want)
				}
			}
		})
	}
}
