package sdn

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// What a motor is told for a want, on the wire and to people, and where it stops by itself.
func TestWhatMotorsAreTold(t *testing.T) {
	move := func(m appliance.Motion, at appliance.Position) appliance.Want {
		return appliance.Want{Values: appliance.Values{Motion: m, Position: at}}
	}
	for _, row := range []struct {
		want     appliance.Want
		inverted bool
		id       MessageID
		data     string
		goal     int
		text     string
	}{
		{move(appliance.Open, 0), false, ctrlMoveTo, "01 FF FF 00", 0, "go up"},
		{move(appliance.Close, 0), false, ctrlMoveTo, "00 FF FF 00", 100, "go down"},
		{move(appliance.Open, 0), true, ctrlMoveTo, "00 FF FF 00", 100, "go down"},
		{move(appliance.Close, 0), true, ctrlMoveTo, "01 FF FF 00", 0, "go up"},
		{move(appliance.Stop, 0), false, ctrlStop, "00", -1, "stop"},
		{move(appliance.MoveTo, 70), false, ctrlMoveTo, "04 1E 00 00", 30, "go to 30 % closed"},
		{move(appliance.MoveTo, 70), true, ctrlMoveTo, "04 46 00 00", 70, "go to 70 % closed"},
		{move(appliance.MoveTo, 150), false, ctrlMoveTo, "04 00 00 00", 0, "go to 0 % closed"},
	} {
		m := &motor{inverted: row.inverted}
		o, ok := m.orderFor(row.want)
		if !ok || o.id != row.id || fmt.Sprintf("% X", o.data()) != row.data || o.goal() != row.goal || o.String() != row.text || o.aim() != (aim{stop: row.goal < 0, goal: row.goal}) {
			t.Errorf("%v at %d, inverted %v: %v with % X, goal %d, %q", row.want.Motion, row.want.Position, row.inverted, o.id, o.data(), o.goal(), o)
		}
	}
	if _, ok := (&motor{}).orderFor(move(appliance.Opening, 0)); ok {
		t.Error("a motion that nobody can be told is told")
	}
	for _, row := range []struct {
		inverted  bool
		direction byte
		want      appliance.Motion
	}{
		{false, directionUp, appliance.Opening}, {false, directionDown, appliance.Closing}, {true, directionUp, appliance.Closing}, {true, directionDown, appliance.Opening}, {false, 0xFF, appliance.Moving}, {true, 7, appliance.Moving},
	} {
		m := &motor{inverted: row.inverted}
		if got := m.motionOf(row.direction); got != row.want {
			t.Errorf("direction %d, inverted %v: %v, want %v", row.direction, row.inverted, got, row.want)
		}
		for p := appliance.Position(0); p <= 100; p += 10 {
			if m.positionOf(m.percentOf(p)) != p {
				t.Errorf("inverted %v: %d %% is %d", row.inverted, p, m.positionOf(m.percentOf(p)))
			}
		}
	}
}

// Whether a motor stands is told by its status only if it is known where: it was proven still, was read in one place for long
// enough, or says that it has reached where it was sent.
func TestWhatAStatusSaysOfAMotor(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	stands := status{State: stateStopped, Cause: 1}
	for _, row := range []struct {
		what   string
		says   status
		course course
		said   said
		phase  phase
		told   appliance.Motion // 0: nothing
	}{
		{"it runs", status{State: stateRunning, Direction: directionUp}, course{phase: resting, goal: -1}, said{}, running, appliance.Opening},
		{"it runs down", status{State: stateRunning, Direction: directionDown}, course{phase: suspect}, said{}, running, appliance.Closing},
		{"it is proven still", stands, course{phase: resting, goal: -1}, said{}, resting, appliance.Stopped},
		{"it stands, nobody knows where", stands, course{phase: running, goal: -1, sentAt: ago(2 * time.Second)}, said{}, standing, 0},
		{"it was just sent somewhere", stands, course{phase: suspect, goal: 50, sentAt: ago(startLimit)}, said{}, suspect, 0},
		{"it ran, and was just sent somewhere", stands, course{phase: running, goal: 50, sentAt: ago(startLimit)}, said{}, suspect, 0},
		{"a moment later", stands, course{phase: suspect, goal: 50, sentAt: ago(startLimit + 1)}, said{}, standing, 0},
		{"it was read in one place", stands, course{phase: suspect, goal: -1}, said{since: ago(time.Second), positionAt: ago(time.Second - stillAfter)}, resting, appliance.Stopped},
		{"it was, for a moment", stands, course{phase: suspect, goal: -1}, said{since: ago(time.Second), positionAt: ago(time.Second - stillAfter + 1)}, standing, 0},
		{"it reached its goal", status{Cause: causeReached}, course{phase: suspect, goal: 50, sentAt: ago(10)}, said{position: position{Percent: 50}, positionAt: ago(5)}, resting, appliance.Stopped},
		{"it stopped at its goal for another reason", stands, course{phase: suspect, goal: 50, sentAt: ago(10)}, said{position: position{Percent: 50}, positionAt: ago(5)}, suspect, 0},
		{"it reached somewhere else", status{Cause: causeReached}, course{phase: suspect, goal: 50, sentAt: ago(10)}, said{position: position{Percent: 51}, positionAt: ago(5)}, suspect, 0},
		{"it reached something, its goal is not known", status{Cause: causeReached}, course{phase: suspect, goal: -1}, said{position: position{}, positionAt: ago(5)}, standing, 0},
		{"it reached its goal, where it never was read", status{Cause: causeReached}, course{phase: suspect, goal: 0, sentAt: ago(10)}, said{}, suspect, 0},
	} {
		m := &motor{shade: 5001, driver: &Driver{log: slog.New(slog.DiscardHandler)}, course: row.course, said: row.said}
		got := appliance.Motion(0)
		for _, r := range m.takeStatus(row.says, now) {
			got = r.Motion
		}
		if got != row.told || m.course.phase != row.phase || m.said.status != row.says || !m.said.statusAt.Equal(now) {
			t.Errorf("%s: told %v, phase %d; want %v, %d", row.what, got, m.course.phase, row.told, row.phase)
		}
		if m.course.phase == resting && m.course.goal != -1 {
			t.Errorf("%s: it rests, and is on its way to %d", row.what, m.course.goal)
		}
	}
}

// A motor that was read elsewhere than before has not stood since: that it stands is told with the place that was read then.
func TestAMotorThatWasReadElsewhereHasNotStood(t *testing.T) {
	now := time.Now()
	m := &motor{shade: 5001, driver: &Driver{log: slog.New(slog.DiscardHandler)}, course: course{phase: resting, goal: -1}}
	for i, pulses := range []uint16{1000, 1000, 1400} {
		m.takePosition(position{Pulses: pulses, Percent: byte(pulses / 100)}, now.Add(time.Duration(i)*time.Second))
	}
	if told := m.takeStatus(status{State: stateStopped, Cause: 1}, now.Add(2100*time.Millisecond)); len(told) > 0 {
		t.Errorf("it may have gone on since it was read, and is told as %+v", told)
	}
	told := m.takePosition(position{Pulses: 1450, Percent: 14}, now.Add(2200*time.Millisecond))
	if len(told) != 1 || told[0].Motion != appliance.Stopped || told[0].Position != 86 {
		t.Errorf("told %+v, want that it stands at 86", told)
	}
}

// An order ends what is known of where a motor stands, and so does that it runs: only what is read twice from then on says that it does.
func TestWhatEndsStanding(t *testing.T) {
	here := position{Pulses: 1000, Percent: 10}
	for what, ends := range map[string]func(*motor, time.Time){
		"an order": func(m *motor, at time.Time) { m.sent(aim{goal: 100}, at) },
		"it runs":  func(m *motor, at time.Time) { m.takeStatus(status{State: stateRunning}, at) },
	} {
		m, t0 := alone(), time.Now()
		for i := range 2 {
			m.takePosition(here, t0.Add(time.Duration(i)*time.Second))
		}
		ends(m, t0.Add(1100*time.Millisecond))
		if told := m.takeStatus(status{State: stateStopped, Cause: 1}, t0.Add(1200*time.Millisecond)); len(told) > 0 {
			t.Errorf("%s: told %+v", what, told)
		}
		m.ordered(aim{goal: 100}, t0.Add(1300*time.Millisecond)) // nothing but the place says that it stands
		for _, at := range []time.Duration{1400, 2000} {
			m.takePosition(here, t0.Add(at*time.Millisecond))
		}
		if told := m.takeStatus(status{State: stateStopped, Cause: 1}, t0.Add(2100*time.Millisecond)); len(told) != 1 || told[0].Motion != appliance.Stopped {
			t.Errorf("%s: read twice in one place, and told %+v", what, told)
		}
	}
}

// A motor without limits does not know where it is: neither that nor what it says next is a way.
func TestAPlaceThatIsNotKnownIsNoWay(t *testing.T) {
	nowhere, here := position{Pulses: 0xFFFF, Percent: 0xFF}, position{Pulses: 1000, Percent: 10}
	for _, row := range [][2]position{{nowhere, here}, {here, nowhere}} {
		m, t0 := alone(), time.Now()
		m.rest()
		for i, p := range row {
			for _, r := range m.takePosition(p, t0.Add(time.Duration(i)*2*time.Second)) {
				if r.Has.Has(appliance.CanMove) || r.Has.Has(appliance.CanPosition) != p.known() {
					t.Errorf("from %+v to %+v: told %+v", row[0], row[1], r)
				}
			}
		}
		if m.course.phase != resting {
			t.Errorf("from %+v to %+v: it is watched as one that moves", row[0], row[1])
		}
	}
}

// Soon after an order only the way to its goal is the way that a motor goes; a motor that was proven to stand and is read elsewhere moves, nobody knows where to.
func TestTheWayOfAMotor(t *testing.T) {
	for _, row := range []struct {
		since    time.Duration // the first of the two readings, after the order
		goal     int
		from, to byte
		sure     bool
	}{
		{0, 100, 40, 50, false}, {time.Second, 100, 40, 50, true}, {time.Second, 50, 40, 50, true}, {time.Second, 49, 40, 50, false}, {time.Second, -1, 40, 50, false},
		{time.Second, 0, 50, 40, true}, {time.Second, 40, 50, 40, true}, {time.Second, 41, 50, 40, false}, {time.Second, -1, 50, 40, false}, {1001 * time.Millisecond, -1, 50, 40, true},
	} {
		m, t0 := alone(), time.Now()
		m.ordered(aim{goal: row.goal}, t0)
		direction, sure := m.way(position{Pulses: 100 * uint16(row.from), Percent: row.from}, position{Pulses: 100 * uint16(row.to), Percent: row.to}, t0.Add(row.since))
		if sure != row.sure || (direction == directionUp) != (row.to < row.from) {
			t.Errorf("%+v: direction %d, sure %v", row, direction, sure)
		}
	}
	m, t0 := alone(), time.Now()
	m.ordered(aim{goal: -1}, t0)
	m.takePosition(position{Pulses: 1000, Percent: 10}, t0.Add(100*time.Millisecond))
	if m.standsAt(10) {
		t.Error("it may be on its way, and stands at 10")
	}
	if m.rest(); !m.standsAt(10) || m.standsAt(11) {
		t.Error("it rests, and does not stand at 10")
	}
	told := m.takePosition(position{Pulses: 2000, Percent: 20}, t0.Add(200*time.Millisecond))
	if len(told) != 1 || told[0].Motion != appliance.Moving || m.course.phase != suspect {
		t.Errorf("told %+v, phase %d", told, m.course.phase)
	}
}

// What a motor that may move is asked next.
func TestWhatAMovingMotorIsAsked(t *testing.T) {
	now := time.Now()
	at := func(percent byte) said {
		return said{position: position{Percent: percent}, positionAt: now}
	}
	still := at(30)
	still.since = now.Add(-stillAfter)
	older := at(30)
	older.statusAt = now.Add(1)
	for _, row := range []struct {
		what   string
		phase  phase
		goal   int
		said   said
		status bool
	}{
		{"at rest", resting, 30, at(30), false}, {"standing", standing, 30, at(30), false}, {"never read", running, 30, said{}, false},
		{"its status is newer", running, 30, older, false}, {"it may move", suspect, -1, at(30), true}, {"it was read in one place", running, -1, still, true},
		{"on its way", running, 50, at(30), false}, {"at its goal", running, 30, at(30), true}, {"at the top", running, -1, at(0), true}, {"at the bottom", running, -1, at(100), true},
		{"nobody knows where", running, -1, at(0xFF), true}, {"just above the bottom", running, -1, at(99), false}, {"just below the top", running, -1, at(1), false},
	} {
		m := &motor{driver: &Driver{}, course: course{phase: row.phase, goal: row.goal}, said: row.said}
		if got := m.asksStatus(); got != row.status {
			t.Errorf("%s: asked for its status %v", row.what, got)
		}
	}
}

// A motor that cannot move until somebody sees to it is told of once, and once that it is well again.
func TestTroubleIsToldOnce(t *testing.T) {
	var log strings.Builder
	d := &Driver{log: slog.New(slog.NewTextHandler(&log, nil))}
	m := &motor{driver: d, key: "06.1A.2B", course: course{goal: -1}}
	d.site.all = []*motor{m}
	blocked, hot, locked := status{State: stateBlocked, Cause: 0x20}, status{State: stateBlocked, Cause: 0x22}, status{State: stateLocked, Cause: 0x22}
	for i, row := range []struct {
		says    status
		warned  int
		well    int
		trouble bool
	}{{status{}, 0, 0, false}, {blocked, 1, 0, true}, {blocked, 1, 0, true}, {hot, 2, 0, true}, {locked, 3, 0, true}, {status{}, 3, 1, false}, {status{}, 3, 1, false}, {blocked, 4, 1, true}} {
		m.takeStatus(row.says, time.Now())
		warned, well := strings.Count(log.String(), "has trouble"), strings.Count(log.String(), "is well again")
		if _, trouble := d.Troubles()[m.key]; warned != row.warned || well != row.well || trouble != row.trouble {
			t.Errorf("status %d: warned %d times, well %d times, trouble %v; want %d, %d, %v", i, warned, well, trouble, row.warned, row.well, row.trouble)
		}
	}
	if got := d.Troubles()[m.key]; got != "blocked, last down, by the motor itself: obstacle" {
		t.Error(got)
	}
}

// What the monitor says of frames: every field of each message, and of one that is cut that it is.
func TestFramesAreExplained(t *testing.T) {
	for _, row := range []struct {
		id   MessageID
		data []byte
		args string
		text string
	}{
		{ctrlMove, []byte{1, 5, 2}, "map[direction:up duration_10ms:5 speed:2]", ""},
		{ctrlMoveTo, []byte{4, 30, 1, 2}, "map[function:position_percent position:286 speed:2]", ""},
		{ctrlMoveTo, []byte{0, 0xFF, 0xFF, 0}, "map[function:down_limit position:<nil> speed:0]", ""},
		{ctrlMoveOf, []byte{2, 5, 1, 0}, "map[function:jog_down_pulses value:261]", ""},
		{ctrlMoveOf, []byte{4, 5, 0, 0}, "map[function:jog_down_ms value:50]", ""}, {ctrlMoveOf, []byte{5, 5, 0, 0}, "map[function:jog_up_ms value:50]", ""},
		{ctrlMoveOf, []byte{0, 0xFF, 0xFF, 0}, "map[function:next_ip value:<nil>]", ""}, {ctrlMoveOf, []byte{1, 3, 0, 0}, "map[function:previous_ip value:3]", ""}, {ctrlMoveOf, []byte{9, 3, 0, 0}, "map[function:unknown (09) value:3]", ""},
		{ctrlLock, []byte{5, 1, 2, 9, 0}, "map[function:unlock priority:9 value:513]", ""},
		{postMotorPosition, []byte{1, 2, 30, 4, 5}, "map[ip:5 percent:30 pulses:513 tilt:4]", "30 % closed"},
		{postMotorPosition, []byte{1, 2, 0xFF, 4, 5}, "map[ip:5 percent:255 pulses:513 tilt:4]", "position not known: the limits are not set"},
		{postMotorStatus, []byte{1, 1, 2, 1}, "map[cause:1 direction:1 source:2 state:1]", "running, last up, by a local input: explicit command"},
		{postMotorLimits, []byte{1, 2, 3, 4}, "map[down_limit:1027 up_limit:513]", ""},
		{getMotorIP, []byte{3}, "map[ip:3]", ""}, {postMotorIP, []byte{3, 1, 2, 40}, "map[ip:3 percent:40 pulses:513]", ""},
		{postMotorSpeed, []byte{1, 2, 3}, "map[down:2 slow:3 up:1]", ""}, {postMotorDirection, []byte{1}, "map[direction:1]", ""},
		{getGroup, []byte{3}, "map[index:3]", ""}, {setGroup, []byte{3, 1, 2, 3}, "map[group:03.02.01 index:3]", ""}, {postGroup, []byte{3, 1, 2, 3}, "map[group:03.02.01 index:3]", ""},
		{postNodeLabel, []byte("South 1         "), "map[label:South 1]", ""}, {setNodeLabel, []byte("South 1         "), "map[label:South 1]", ""}, {postAppVersion, []byte{1, 2, 3, 4, 5, 6, 7}, "map[version:010203040506]", ""},
		{ctrlStop, []byte{0}, "map[]", ""}, {ack, nil, "map[]", ""},
	} {
		args, text := explain(row.id, row.data)
		if got := fmt.Sprint(args); got != row.args || text != row.text {
			t.Errorf("%v % X: %s, %q; want %s, %q", row.id, row.data, got, text, row.args, row.text)
		}
	}
	for id, need := range dataLen {
		args, text := explain(id, make([]byte, need-1))
		if args != nil || text != fmt.Sprintf("%d bytes of data, %v has %d", need-1, id, need) {
			t.Errorf("%v with a byte too few: %v, %q", id, args, text)
		}
		if args, _ := explain(id, make([]byte, need)); args == nil {
			t.Errorf("%v with %d bytes says nothing", id, need)
		}
	}
	if args, text := explain(nack, []byte{byte(reasonInMotion)}); fmt.Sprint(args) != "map[code:38]" || text == "" {
		t.Errorf("a refusal: %v, %q", args, text)
	}
}

// What people enter at a service of a motor is held to its bounds, and what is not entered is what is usual.
func TestInputsOfServices(t *testing.T) {
	for _, row := range []struct {
		text string
		want int
		ok   bool
	}{{"", 7, true}, {"1", 1, true}, {"16", 16, true}, {"0", 0, false}, {"17", 0, false}, {"x", 0, false}} {
		b := &bench{session: appliance.Session{Inputs: map[string]string{"number": row.text}}}
		if n, err := b.number("number", -1, 16, 7); (err == nil) != (row.ok || row.text == "0") {
			t.Errorf("%q from -1 on: %d, %v", row.text, n, err)
		}
		n, err := b.number("number", 1, 16, 7)
		if n != row.want || (err == nil) != row.ok || err != nil && !errors.Is(err, appliance.ErrOutOfRange) {
			t.Errorf("%q: %d, %v", row.text, n, err)
		}
	}
	for text, ok := range map[string]bool{"06.1A.2B": true, "": false, "06.1A": false, Nobody.String(): false, Everybody.String(): false, "01.01.05": false} {
		if _, err := (&Driver{}).motorAddress(text); (err == nil) != ok {
			t.Errorf("address %q: %v", text, err)
		}
	}
}
