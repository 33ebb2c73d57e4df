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
		p.pull()
		time.Sleep(20 * time.Second)
		if _, err := node.Do(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrBusDown) {
			t.Errorf("without a widget: %v", err)
		}
	})
}

// The universe is sent again when it is due, and no more often: as often as the option says, and
// when the widget comes back.
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
		eventually(t, "it is back, and shows the universe", func() bool { return len(outputs(p.widget)) > before })
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

// How far the options of a bus and of a fixture go, and what they are when nobody says.
func TestOptionsOfAUniverse(t *testing.T) {
	pro := busOptions{kind: interfacePro, slots: 24, rate: 40, refresh: 500 * time.Millisecond, responseTimeout: 200 * time.Millisecond, rdmTimeout: 250 * time.Millisecond}
	open := busOptions{kind: interfaceOpen, slots: 24, rate: 30, breakTime: 200 * time.Microsecond, markTime: 100 * time.Microsecond}
	for kind, want := range map[string]busOptions{interfacePro: pro, interfaceOpen: open} {
		if o, err := readBusOptions(map[string]string{"interface": kind}); err != nil || o != want {
			t.Errorf("%s: %+v, %v; want %+v", kind, o, err, want)
		}
	}
	if o, err := readBusOptions(nil); err != nil || o != pro {
		t.Errorf("%+v, %v; want %+v", o, err, pro)
	}
	for text, ok := range map[string]bool{
		"slots=24": true, "slots=23": false, "slots=512": true, "slots=513": false, "rate=1": true, "rate=0": false, "rate=40": true, "rate=41": false, "refresh=50ms": true, "refresh=49ms": false, "refresh=1s": true, "refresh=1001ms": false,
		"responseTimeout=10ms": true, "responseTimeout=9ms": false, "responseTimeout=5s": true, "responseTimeout=5001ms": false, "rdmTimeout=20ms": true, "rdmTimeout=19ms": false, "rdmTimeout=2s": true, "rdmTimeout=2001ms": false, "breakTime=1ms": false,
		"interface=open-dmx,rate=25": true, "interface=open-dmx,rate=24": false, "interface=open-dmx,rate=44": true, "interface=open-dmx,rate=45": false, "interface=open-dmx,breakTime=92us": true, "interface=open-dmx,breakTime=91us": false,
		"interface=open-dmx,breakTime=10ms": true, "interface=open-dmx,breakTime=10001us": false, "interface=open-dmx,markTime=12us": true, "interface=open-dmx,markTime=11us": false, "interface=open-dmx,markTime=10ms": true, "interface=open-dmx,markTime=10001us": false,
	} {
		options := map[string]string{}
		for part := range strings.SplitSeq(text, ",") {
			name, value, _ := strings.Cut(part, "=")
			options[name] = value
		}
		if _, err := readBusOptions(options); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, ok := range map[string]bool{"kelvinMin=1000": true, "kelvinMin=999": false, "kelvinMin=20000": true, "kelvinMin=20001": false, "kelvinMax=1000": true, "kelvinMax=999": false, "kelvinMax=20000": true, "kelvinMax=20001": false,
		"minLevel=0": true, "minLevel=100": true, "minLevel=101": false, "startLevel=0": true, "startLevel=100": true, "startLevel=101": false} {
		name, value, _ := strings.Cut(text, "=")
		if _, err := readNodeOptions(map[string]string{name: value}); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]UID{"7a70:00012345": 0x7A7000012345, "FFFF:ffffffff": BroadcastUID, "0:0": 0, "10000:0": 1 << 63, "0:100000000": 1 << 63, "7a70": 1 << 63, "x:0": 1 << 63, "0:x": 1 << 63} {
		if got, err := ParseUID(text); (err == nil) != (want <= maxUID) || err == nil && got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// A lamp that nobody has commanded comes on white, and as warm as most rooms are lit, as far
// as it can.
func TestANewLampIsWhite(t *testing.T) {
	red, white, warm := slotSpec{Slot: 1}, slotSpec{Slot: 4}, slotSpec{Slot: 1}
	for name, row := range map[string]struct {
		out  outputSpec
		want lampState
	}{
		"RGB":           {outputSpec{Red: red}, lampState{level: 7, colour: appliance.RGBW{R: 255, G: 255, B: 255}}},
		"RGBW":          {outputSpec{Red: red, White: white}, lampState{level: 7, colour: appliance.RGBW{W: 255}}},
		"two whites":    {outputSpec{Warm: warm, KelvinMin: 2700, KelvinMax: 6500}, lampState{level: 7, colour: appliance.RGBW{R: 255, G: 255, B: 255}, kelvin: 4000}},
		"two warm ones": {outputSpec{Warm: warm, KelvinMin: 2200, KelvinMax: 3000}, lampState{level: 7, colour: appliance.RGBW{R: 255, G: 255, B: 255}, kelvin: 3000}},
		"two cold ones": {outputSpec{Warm: warm, KelvinMin: 5000, KelvinMax: 8000}, lampState{level: 7, colour: appliance.RGBW{R: 255, G: 255, B: 255}, kelvin: 5000}},
	} {
		if got := (&lamp{out: row.out, startLevel: 7}).fresh(); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

// An RDM device shows itself for ten seconds and is then told to stop; who has no turn for a
// frame before its deadline does not get one later.
func TestADeviceShowsItselfForTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, p := stage(t, dmxsim.Config{Responders: crowd(1, 3)}, nil)
		e, err := d.Identify(UID(p.widget.Responders()[0].UID).String())
		if err == nil {
			_, err = e.Do(t.Context(), appliance.Yield{})
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		if !p.widget.Responders()[0].Identifying {
			t.Error("after 9 s it does not show itself any more")
		}
		time.Sleep(3 * time.Second)
		if p.widget.Responders()[0].Identifying {
			t.Error("after 12 s it still shows itself")
		}
		for _, bad := range []string{"", "x", "0", "513"} {
			if _, err := d.Identify(bad); err == nil || !strings.Contains(err.Error(), "want a slot") {
				t.Errorf("address %q: %v", bad, err)
			}
		}
		if err := d.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := d.dim(ctx, 50); !errors.Is(err, appliance.ErrExpired) {
			t.Errorf("while another has the turn: %v", err)
		}
		if _, err := d.Polls()[0].Do(ctx, appliance.Yield{}); !errors.Is(err, appliance.ErrExpired) {
			t.Errorf("a poll, meanwhile: %v", err)
		}
		d.give()
		time.Sleep(time.Second)
		if v, _ := p.widget.Slot(1); v != 0 {
			t.Errorf("slot 1 is at %d after a command that expired", v)
		}
	})
}

// Own profiles that are wrong are told, where those of fixtures lie.
func TestOwnProfilesThatAreWrongAreTold(t *testing.T) {
	dir := t.TempDir()
	writeProfile(t, dir, "wrong", "name: wrong\n")
	told := 0
	CheckOwn(dir, func(err error) {
		if told++; !strings.Contains(err.Error(), "wrong.yaml") {
			t.Error(err)
		}
	})
	if told == 0 {
		t.Error("nothing is told of a profile that is wrong")
	}
}

// The monitor explains what a widget received, whatever it is.
func TestWhatAWidgetReceivedIsExplained(t *testing.T) {
	for name, row := range map[string]struct {
		data []byte
		says func(*Decoded) bool
	}{
		"nothing":  {nil, func(d *Decoded) bool { return d.Status == nil }},
		"a status": {[]byte{1}, func(d *Decoded) bool { return *d.Status == 1 && d.StartCode == nil }},
		"DMX": {[]byte{0, 0, 5, 0, 7}, func(d *Decoded) bool {
			return *d.StartCode == 0 && *d.Slots == 3 && len(d.NonzeroSlots) == 2 && d.NonzeroSlots["1"] == 5 && d.NonzeroSlots["3"] == 7
		}},
		"a collision": {[]byte{0, branchPreamble, 1, 2, 3}, func(d *Decoded) bool { return d.Collision != "" && d.Discovery == nil }},
	} {
		got, err := Decode(widgetFrame{labelReceived, row.data}.encode(nil))
		if err != nil || !row.says(got.(*Decoded)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	two := widgetFrame{labelSerial, nil}.encode(widgetFrame{labelOutput, []byte{0, 9}}.encode(nil))
	if got, err := Decode(two); err != nil || got.(*Decoded).Next == nil || got.(*Decoded).Next.Label != int(labelSerial) || *got.(*Decoded).Slots != 1 {
		t.Errorf("two in one write: %+v, %v", got, err)
	}
	if _, err := Decode(append(two, 9)); err == nil {
		t.Error("bytes behind them are nothing")
	}
}
