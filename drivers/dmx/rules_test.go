package dmx

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/sim/dmxsim"
)

// Answers of several at once can look like that of a device which is not there. It confirms
// nothing, and the search goes on without it.
func TestWhoDoesNotConfirmWasNeverThere(t *testing.T) {
	var s discovery
	asked := 0
	for {
		step, ok := s.next()
		if !ok {
			break
		}
		if asked++; asked > 100 {
			t.Fatalf("%d questions and no end; found %v", asked, s.found)
		}
		switch {
		case step.kind == searchBranch && step.high == maxUID && step.low == 0:
			s.heard(step, heard{uid: 5})
		case step.kind == searchUnmute:
			s.heard(step, heard{})
		default:
			s.heard(step, heard{nobody: true})
		}
	}
	if len(s.found) > 0 || s.err() != nil {
		t.Errorf("found %v, %v; want nobody, and nothing wrong", s.found, s.err())
	}
}

// An answer is that to the question that is open, of the device that was asked, to us.
func TestOnlyTheAnswerToTheQuestionConcernsIt(t *testing.T) {
	q := rdmPacket{to: 0x123456789A, from: 0x454E00000001, number: 7, class: classGet, parameter: pidLabel}
	for name, tc := range map[string]struct {
		change func(*rdmPacket)
		ours   bool
	}{
		"the answer":                   {func(*rdmPacket) {}, true},
		"to an older question":         {func(a *rdmPacket) { a.number-- }, false},
		"of another device":            {func(a *rdmPacket) { a.from++ }, false},
		"to another controller":        {func(a *rdmPacket) { a.to++ }, false},
		"that something was set":       {func(a *rdmPacket) { a.class = classSet + 1 }, false},
		"another controller's request": {func(a *rdmPacket) { a.class = classGet }, false},
		"about something else":         {func(a *rdmPacket) { a.parameter = pidDeviceInfo }, false},
	} {
		a := rdmPacket{to: q.from, from: q.to, number: q.number, class: classGet + 1, parameter: q.parameter}
		tc.change(&a)
		if got := concerns(widgetFrame{labelReceived, append([]byte{0}, a.encode()...)}, labelSendRDM, q); got != tc.ours {
			t.Errorf("%s: concerns it is %v, want %v", name, got, tc.ours)
		}
	}
}

// A question without an answer is put three times, and then the device is not there.
func TestLostAnswerIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: crowd(1, 1)}))
		p.put()
		d := openDriver(t, p, nil)
		if _, err := d.DeviceInfo(t.Context(), 0x123456789A); !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("a device that is not there: %v, want %v", err, appliance.ErrSilent)
		}
		asked := 0
		for _, f := range d.Recent() {
			if f.Direction == appliance.FrameSent && len(f.Bytes) > 1 && label(f.Bytes[1]) == labelSendRDM {
				asked++
			}
		}
		if asked != rdmTries {
			t.Errorf("it was asked %d times, want %d", asked, rdmTries)
		}
	})
}

// Where everything collides, whatever is asked, the search ends and says why.
func TestSearchInNoiseEnds(t *testing.T) {
	var s discovery
	asked := 0
	for step, ok := s.next(); ok; step, ok = s.next() {
		if asked++; asked > 2*searchSteps {
			t.Fatalf("%d questions and no end", asked)
		}
		s.heard(step, heard{collision: step.kind == searchBranch})
	}
	if err := s.err(); err == nil || len(s.found) > 0 {
		t.Errorf("found %v, %v; want nobody, and what is wrong", s.found, err)
	}
}

// Several that answer together can look like one that was not asked at all.
func TestAnswerFromOutsideTheRangeIsACollision(t *testing.T) {
	var s discovery
	for s.unmuted < unmuteTimes {
		step, _ := s.next()
		s.heard(step, heard{})
	}
	step, _ := s.next()
	s.heard(step, heard{collision: true})
	lower, _ := s.next()
	s.heard(lower, heard{uid: lower.high + 1})
	if next, ok := s.next(); !ok || next.kind != searchBranch || next.low != lower.low || next.high >= lower.high {
		t.Errorf("after an answer from outside of %v the next step is %v", lower, next)
	}
}

// A change whose packet would be too late is given up as it is taken up, and what was shown is
// shown on.
func TestOpenDMXChangeThatIsTooLateIsNotTakenUp(t *testing.T) {
	p := idlePort()
	p.shown = []byte{1}
	for _, late := range []bool{false, true} {
		change := &showing{slots: []byte{2}, done: make(chan struct{}), until: time.Now().Add(time.Hour)}
		if late {
			change.until = time.Now().Add(-time.Hour)
		}
		p.want = change
		slots, taken := p.next()
		if (taken == nil) != late || (slots[0] == 1) != late || late != errors.Is(change.err, appliance.ErrExpired) {
			t.Errorf("late %v: slots %v, taken %v, %v", late, slots, taken != nil, change.err)
		}
	}
}

// A widget that heard a universe and did not answer may show it: what was acknowledged is sent
// again at once, not when it is due.
func TestUniverseThatWasNotAcknowledgedIsTakenBackAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlug(t, mustWidget(t, dmxsim.Config{}))
		p.put()
		d := openDriver(t, p, map[string]string{"responseTimeout": "100ms"}, appliance.Node{ID: 1, Address: "1", Profile: "dmx-dimmer"})
		time.Sleep(time.Second + 10*time.Millisecond) // it is looked after, and nothing is due
		to := func(l appliance.Level) error {
			_, err := d.apply(t.Context(), appliance.Yield{}, []appliance.Want{{
				Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: l},
			}})
			return err
		}
		if err := to(20); err != nil {
			t.Fatal(err)
		}
		p.widget.SetFaults(dmxsim.Faults{NoParameters: true})
		if err := to(100); !errors.Is(err, appliance.ErrSilent) {
			t.Fatalf("a widget that says nothing: %v, want %v", err, appliance.ErrSilent)
		}
		if v, _ := p.widget.Slot(1); v != 255 {
			t.Fatalf("slot 1 is at %d, want the 255 that nobody acknowledged; this test shows nothing", v)
		}
		time.Sleep(100 * time.Millisecond)
		if v, _ := p.widget.Slot(1); v != 51 {
			t.Errorf("a tenth of a second later slot 1 is at %d, want 51 as before", v)
		}
	})
}

// A universe that could not be sent again stays due, and is not waited for as long as one that was.
func TestUniverseThatCouldNotBeSentStaysDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{}, nil)
		if err := d.dim(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		p.pull()
		eventually(t, "the widget is gone", func() bool { return d.Link() != nil })
		widget := d.out.(*pro)
		if widget.refresh(t.Context(), true) || widget.refresh(t.Context(), false) {
			t.Error("without a widget the universe was sent, or it is not due any more")
		}
	})
}

// fullPort is an adapter that takes bytes and sends none.
type fullPort struct{}

func (fullPort) Break(time.Duration) error                { return nil }
func (fullPort) Write(b []byte, _ time.Time) (int, error) { return len(b), nil }
func (fullPort) Unsent() int                              { return 1 }
func (fullPort) Abort()                                   {}

func TestOpenDMXAdapterThatSendsNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*takeLimit)
		defer cancel()
		port, begun := idlePort(), time.Now()
		port.ports = &line.Ports{} // virtual time
		_, err := port.packet(ctx, fullPort{}, []byte{1}, nil)
		if took := time.Since(begun); err == nil || took < 500*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("after %v: %v; want it lost after %v", took, err, takeLimit)
		}
	})
}

// Fixtures that have the same slots are meant to do the same, and are told as such.
func TestScanTellsWhoDoesTheSame(t *testing.T) {
	s := search{owner: map[int]fixture{}}
	var first, second, across appliance.Found
	s.overlap(&first, fixture{1, 10, 4})
	s.overlap(&second, fixture{2, 10, 4})
	s.overlap(&across, fixture{3, 12, 4})
	if first.Detail != "" || !strings.Contains(second.Detail, "does the same") || second.Finding != "" || across.Finding != appliance.FoundCollision {
		t.Errorf("the first %q, the second %q (%s), one across %q (%s)", first.Detail, second.Detail, second.Finding, across.Detail, across.Finding)
	}
}

// What is not exactly a packet of RDM, an answer to a search, or what a widget tells of itself, is nothing.
func TestWhatIsNoAnswer(t *testing.T) {
	summed := func(change func([]byte) []byte) []byte { // with a sum that is right
		b := rdmPacket{to: 0x454E00000001, from: 0x123456789A, number: 7, class: classGet + 1, parameter: pidLabel, data: []byte("Bay")}.encode()
		b = change(b[:len(b)-2])
		return binary.BigEndian.AppendUint16(b, sum(b))
	}
	whole := func(b []byte) []byte { return b }
	if p, err := parseRDM(summed(whole)); err != nil || string(p.data) != "Bay" {
		t.Errorf("%+v, %v", p, err)
	}
	for name, b := range map[string][]byte{
		"another start code":   summed(func(b []byte) []byte { b[0] = 0; return b }),
		"another subcode":      summed(func(b []byte) []byte { b[1] = 2; return b }),
		"more than it says":    summed(func(b []byte) []byte { return append(b, 0) }),
		"less data":            summed(func(b []byte) []byte { b[23]--; return b }),
		"more data":            summed(func(b []byte) []byte { b[23]++; return b }),
		"a length that is not": summed(func(b []byte) []byte { b[2]--; return b }),
	} {
		if p, err := parseRDM(b); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for b := summed(whole); len(b) > 0; {
		b = b[:len(b)-1]
		if p, err := parseRDM(b); err == nil {
			t.Errorf("%d bytes: %+v", len(b), p)
		}
	}
	for _, b := range [][]byte{{}, {branchPreamble}, {branchPreamble, 0x55}, {branchPreamble, branchSeparator}, append([]byte{branchSeparator}, make([]byte, branchBytes-1)...)} {
		if uid, err := parseBranch(b); !errors.Is(err, errCollision) {
			t.Errorf("% X: %v, %v", b, uid, err)
		}
	}
	for n := range 7 {
		if w, err := parseWidget([]byte{1, 2, 3, 4, 40, 0, 0}[:n]); (err == nil) != (n >= 5) || err == nil && (w.Rate != 40 || !w.RDM()) {
			t.Errorf("%d bytes of a widget: %+v, %v", n, w, err)
		}
		if text, err := parseSerial([]byte{1, 2, 3, 4, 5, 6, 7}[:n]); (err == nil) != (n == 4) || err == nil && text != "04030201" {
			t.Errorf("%d bytes of a serial number: %q, %v", n, text, err)
		}
	}
	q := rdmPacket{to: 0x123456789A, from: 0x454E00000001, number: 7, class: classGet, parameter: pidLabel}
	for name, tc := range map[string]struct {
		frame     widgetFrame
		ask, find bool // it is the outcome of a question, of a search
	}{
		"a time-out":        {widgetFrame{labelRDMTimeout, nil}, true, true},
		"parameters":        {widgetFrame{labelParameters, []byte{0, rdmStartCode}}, false, false},
		"nothing":           {widgetFrame{labelReceived, nil}, false, false},
		"a byte":            {widgetFrame{labelReceived, []byte{0}}, false, false},
		"another's DMX":     {widgetFrame{labelReceived, []byte{0, 0, 1, 2}}, false, false},
		"a damaged answer":  {widgetFrame{labelReceived, append([]byte{0}, summed(whole)[:20]...)}, true, true},
		"noise of a search": {widgetFrame{labelReceived, []byte{0, branchPreamble, 1}}, false, true},
	} {
		if ask, find := concerns(tc.frame, labelSendRDM, q), concerns(tc.frame, labelDiscovery, q); ask != tc.ask || find != tc.find {
			t.Errorf("%s: outcome of a question %v, of a search %v", name, ask, find)
		}
	}
}

// What cannot be out before its deadline is given up at once, and holds up nobody: behind the frames of a second, and behind an answer that may come late.
func TestWhoComesTooLateWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			begun, late time.Duration // from now
			within      time.Duration
			expired     bool
			waits       time.Duration
		}{
			"nothing is in the way":     {begun: -time.Second, late: -time.Second, within: time.Millisecond},
			"a frame is":                {late: -time.Second, within: 30 * time.Millisecond, waits: 25 * time.Millisecond},
			"a frame is for too long":   {late: -time.Second, within: 20 * time.Millisecond, expired: true},
			"an answer is":              {begun: -time.Second, late: 100 * time.Millisecond, within: 200 * time.Millisecond, waits: 100 * time.Millisecond},
			"an answer is for too long": {begun: -time.Second, late: 100 * time.Millisecond, within: 50 * time.Millisecond, expired: true},
		} {
			now := time.Now()
			p := &pro{driver: &Driver{name: "stage"}, gap: 25 * time.Millisecond, begun: now.Add(tc.begun), ports: new(line.Ports)}
			ctx, cancel := context.WithDeadline(t.Context(), now.Add(tc.within))
			err := p.outwait(ctx, appliance.Yield{}, now.Add(tc.late))
			if err == nil {
				err = p.pace(ctx)
			}
			cancel()
			if errors.Is(err, appliance.ErrExpired) != tc.expired || err != nil && !tc.expired || time.Since(now) != tc.waits {
				t.Errorf("%s: %v after %v", name, err, time.Since(now))
			}
		}
	})
}
