package dmx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/sim/dmxsim"
)

// stage is a driver of one dimmer at slot 1, on a widget.
func stage(t *testing.T, cfg dmxsim.Config, options map[string]string) (*Driver, *plug) {
	p := newPlug(t, mustWidget(t, cfg))
	p.put()
	return openDriver(t, p, options, appliance.Node{ID: 1, Address: "1", Profile: "dmx-dimmer"}), p
}

// dim sends the dimmer to a level.
func (d *Driver) dim(ctx context.Context, l appliance.Level) error {
	_, err := d.apply(ctx, appliance.Yield{}, []appliance.Want{{
		Ref: appliance.Ref{Node: 1, Channel: 1}, Values: appliance.Values{Has: appliance.CanDim, Level: l},
	}})
	return err
}

// A fixture without RDM blinks thrice, dark where it is bright, and is left as it was.
func TestAFixtureBlinksThrice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for level, other := range map[appliance.Level]byte{20: 255, 49: 255, 50: 0, 100: 0} {
			d, p := stage(t, dmxsim.Config{}, nil)
			if err := d.dim(t.Context(), level); err != nil {
				t.Fatal(err)
			}
			own := byte(0)
			e, err := d.Identify("1")
			if err == nil {
				time.Sleep(100 * time.Millisecond)
				own, _ = p.widget.Slot(1)
				_, err = e.Do(t.Context(), appliance.Yield{})
			}
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			blinks, shown := 0, own
			for _, e := range outputs(p.widget) {
				if v := e.Data[1]; v != shown {
					if shown = v; v == other {
						blinks++
					} else if v != own {
						t.Errorf("from %d %% it went to %d", level, v)
					}
				}
			}
			if blinks != 3 || shown != own {
				t.Errorf("from %d %% it blinked %d times to %d, and is at %d; want thrice, and %d", level, blinks, other, shown, own)
			}
		}
	})
}

// What cannot show itself is said at once, not in the log later.
func TestWhatCannotShowItselfIsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{Responders: crowd(1, 3)}, nil)
		node, err := d.Identify("1")
		if err != nil {
			t.Fatal(err)
		}
		absent, err := d.Identify("7a70:00099999")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := absent.Do(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("a device that is not there: %v", err)
		}
		for i := range 8 { // one blinks, four wait
			if _, err := node.Do(t.Context(), appliance.Yield{}); errors.Is(err, appliance.ErrBusy) != (i >= 5) || err != nil && !errors.Is(err, appliance.ErrBusy) {
				t.Errorf("the %d. at once: %v", i+1, err)
			}
			synctest.Wait()
		}
		if err := d.Blink(t.Context(), 99, 1); !errors.Is(err, appliance.ErrNotFound) {
			t.Errorf("a node that is not there: %v", err)
		}
		log := &strings.Builder{}
		d.log = slog.New(slog.NewTextHandler(log, nil))
		p.pull()
		time.Sleep(20 * time.Second)
		if _, err := node.Do(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrBusDown) {
			t.Errorf("without a widget: %v", err)
		}
		if !strings.Contains(log.String(), "identifying did not come to its end") {
			t.Errorf("it was showing itself when the widget was pulled, and the log says %q", log)
		}
	})
}

// The universe is sent again when it is due, and no more often: as often as the option says, and
// at once when the widget comes back.
func TestUniverseIsSentAgainWhenItIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{}, nil)
		if err := d.dim(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		before, begun := len(outputs(p.widget)), time.Now()
		time.Sleep(20 * time.Second)
		if sent, least := len(outputs(p.widget))-before, int(time.Since(begun)/d.options.refresh); sent < least || sent > 3*least/2 {
			t.Errorf("sent %d times in %v, want about %d", sent, time.Since(begun), least)
		}
		p.pull()
		eventually(t, "the widget is gone", func() bool { return d.Link() != nil })
		before = len(outputs(p.widget))
		p.put()
		eventually(t, "it is back", func() bool { return d.Link() == nil })
		time.Sleep(2 * lookEvery)
		if sent := len(outputs(p.widget)) - before; sent < 1 || sent > 2 {
			t.Errorf("sent %d times to a widget that came back, want at once, and once", sent)
		}
	})
}

// A question is answered by the device that was asked, with our own UID as its sender: the
// maker's code and the widget's serial number.
func TestWhoAsksIsTheWidget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{Responders: crowd(1, 3)}, nil)
		uid := UID(p.widget.Responders()[0].UID)
		if _, err := d.DeviceInfo(t.Context(), uid); err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, e := range p.widget.Events() {
			if e.Label != byte(labelSendRDM) {
				continue
			}
			asked++
			if q, err := parseRDM(e.Data); err != nil || q.from != UID(0x454E)<<32|0x12345678 || q.to != uid || q.port != 1 {
				t.Errorf("asked %+v, %v", q, err)
			}
		}
		if n := p.widget.Counters().ByLabel[int(labelSerial)]; asked != 1 || n != 1 {
			t.Errorf("asked %d times, for its serial number %d times", asked, n)
		}
		for slot, ok := range map[int]bool{0: false, 1: true, 512: true, 513: false, -1: false} {
			if err := d.SetStartAddress(t.Context(), uid, slot); (err == nil) != ok || err != nil && !errors.Is(err, appliance.ErrOutOfRange) {
				t.Errorf("start slot %d: %v", slot, err)
			} else if n, err := d.StartAddress(t.Context(), uid); ok && (n != slot || err != nil) {
				t.Errorf("start slot %d reads %d, %v", slot, n, err)
			}
		}
		for name, ok := range map[string]bool{strings.Repeat("x", 32): true, strings.Repeat("x", 33): false, "": true, " ~": true, "\x1f": false, "\x7f": false, "ü": false} {
			if err := d.SetLabel(t.Context(), uid, name); (err == nil) != ok {
				t.Errorf("label %q: %v", name, err)
			}
		}
	})
}

// A refusal is said in the words of the standard.
func TestReasonsOfRefusals(t *testing.T) {
	for _, row := range []struct {
		port byte
		data []byte
		want error
		text string
	}{
		{rdmAck, nil, nil, ""}, {rdmAckTimer, []byte{0, 15}, appliance.ErrBusy, "it answers in 1.5s; ask again then"}, {rdmAckTimer, []byte{1}, appliance.ErrBusy, "it answers later; ask again then"},
		{rdmNack, []byte{0, 0}, appliance.ErrRefused, "it does not know this parameter"}, {rdmNack, []byte{0, 10}, appliance.ErrRefused, "it waits for another answer"}, {rdmNack, []byte{0, 11}, appliance.ErrRefused, "reason 000B"},
		{rdmNack, []byte{0}, appliance.ErrRefused, "without a reason"}, {rdmAckOverflow, nil, appliance.ErrRefused, "longer than one packet"}, {9, nil, appliance.ErrDamaged, "answer type 9"},
	} {
		if err := judge(rdmPacket{port: row.port, data: row.data}); !errors.Is(err, row.want) || err != nil && !strings.HasSuffix(err.Error(), row.text) {
			t.Errorf("type %d % X: %v, want %v, %q", row.port, row.data, err, row.want, row.text)
		}
	}
}

// What follows an answer to a discovery, and what a widget that gave none may still say, is
// waited for.
func TestWhatIsWaitedForAfterADiscovery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{Responders: crowd(1, 3)}, nil)
		if err := d.dim(t.Context(), 20); err != nil {
			t.Fatal(err)
		}
		all := searchStep{kind: searchBranch, branch: branch{0, maxUID}}
		gap := func() time.Duration { // from the last discovery to the universe after it
			events := p.widget.Events()
			for i := len(events) - 1; i > 0; i-- {
				if events[i-1].Label == byte(labelDiscovery) {
					return events[i].At.Sub(events[i-1].At)
				}
			}
			return 0
		}
		if h, err := d.perform(t.Context(), all); err != nil || h.nobody || h.collision {
			t.Fatalf("%+v, %v", h, err)
		}
		synctest.Wait()
		answered := gap()
		if h, err := d.perform(t.Context(), searchStep{kind: searchBranch, branch: branch{0, 1}}); err != nil || !h.nobody {
			t.Fatalf("%+v, %v", h, err)
		}
		synctest.Wait()
		if silent := gap(); answered < settled || silent >= answered {
			t.Errorf("the universe follows %v after an answer, %v after none; want %v at least after an answer alone", answered, silent, settled)
		}

		p.widget.SetFaults(dmxsim.Faults{DeafUntil: time.Now().Add(100 * time.Millisecond)})
		begun := time.Now()
		if _, err := d.perform(t.Context(), all); !errors.Is(err, appliance.ErrSilent) {
			t.Errorf("a deaf widget: %v", err)
		}
		if _, err := d.perform(t.Context(), all); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begun); waited < 2*d.options.rdmTimeout {
			t.Errorf("asked again after %v, while the answer to the first question could come for %v", waited, 2*d.options.rdmTimeout)
		}
	})
}

// A port that cannot be used says so once, and once more when the reason is another; packets
// that repeat what was shown are recorded once a second, changes always.
func TestWhatAnOpenPortTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &strings.Builder{}
		p := idlePort()
		p.log = slog.New(slog.NewTextHandler(log, nil))
		for _, why := range []string{"gone", "gone", "busy", "", "busy"} {
			if why == "" {
				p.opened(nil)
				continue
			}
			p.opened(errors.New(why))
		}
		if lost, found := strings.Count(log.String(), "cannot be used"), strings.Count(log.String(), "port open"); lost != 3 || found != 1 {
			t.Errorf("told %d times that it cannot be used, want 3, and %d times that it is open: %s", lost, found, log)
		}

		p = idlePort()
		recorded := func() int { return len(p.recent()) }
		slots := []byte{7}
		for i, row := range []struct {
			after  time.Duration
			slots  []byte
			change bool
			more   int
		}{{0, slots, false, 1}, {time.Second, slots, false, 0}, {1001 * time.Millisecond, slots, false, 1}, {0, slots, true, 1}, {0, []byte{8}, false, 1}, {0, []byte{8}, false, 0}} {
			time.Sleep(row.after)
			before := recorded()
			var change *showing
			if row.change {
				change = &showing{slots: row.slots, done: make(chan struct{})}
			}
			p.over(row.slots, change, time.Now(), nil)
			if recorded()-before != row.more {
				t.Errorf("packet %d: %d recorded, want %d", i, recorded()-before, row.more)
			}
		}
		before := recorded()
		failed := &showing{slots: []byte{9}, done: make(chan struct{})}
		p.over(failed.slots, failed, time.Time{}, fmt.Errorf("no bytes"))
		if recorded() != before || !errors.Is(failed.err, appliance.ErrBusDown) || p.shown[0] != 8 {
			t.Errorf("a packet that failed: %v, %d recorded, shows %v", failed.err, recorded()-before, p.shown)
		}
	})
}

// An Open DMX port is well as long as packets go out, or none is due; that none did for a
// second is its fault only if it was given one.
func TestWhetherAnOpenPortIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		for name, row := range map[string]struct {
			shown       bool
			sent, given time.Duration // ago; 0: never
			err         error
			overslept   bool
		}{
			"nothing to show":  {sent: 5 * time.Second},
			"nothing sent yet": {shown: true},
			"a second ago":     {shown: true, sent: time.Second},
			"longer ago":       {shown: true, sent: time.Second + time.Millisecond, err: appliance.ErrSilent, overslept: true},
			"it was given one": {shown: true, sent: 2 * time.Second, given: takeLimit, err: appliance.ErrSilent},
			"it has just been": {shown: true, sent: 2 * time.Second, given: takeLimit - 1, err: appliance.ErrSilent, overslept: true},
		} {
			p := idlePort()
			p.ports = &line.Ports{}
			if p.shown = nil; row.shown {
				p.shown = []byte{7}
			}
			now := time.Now()
			if row.sent > 0 {
				p.sentAt = now.Add(-row.sent)
			}
			if row.given > 0 {
				p.given = now.Add(-row.given)
			}
			at, err := p.check(t.Context(), appliance.Yield{})
			if !errors.Is(err, row.err) || errors.Is(err, appliance.ErrOverslept) != row.overslept || !at.Equal(p.sentAt) {
				t.Errorf("%s: %v at %v", name, err, at)
			}
			if err != nil && !strings.HasSuffix(err.Error(), fmt.Sprintf("no packet went out for %v", row.sent.Round(time.Millisecond))) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
