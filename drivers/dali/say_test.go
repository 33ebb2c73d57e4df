package dali

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
	"svc.internal/controller/drivers/scan"
	"svc.internal/controller/sim/dalisim"
)

// What each gateway says, byte by byte: the kind of message, its value or frame, and how many
// bytes of it are used up.
func TestWhatGatewaysSay(t *testing.T) {
	luba := func(command byte, payload ...byte) string { return string(lubaMessage(command, payload...)) }
	sci := func(b ...byte) string { return string(append(b, xor(b))) }
	for _, row := range []struct {
		gateway, bytes string
		said           said
		value          byte
		frame          Frame
		bits, used     int
	}{
		{"atx", "N\n", saidNone, 0, 0, 0, 2}, {"atx", "N\r\n", saidNone, 0, 0, 0, 3}, {"atx", "\n", saidJunk, 0, 0, 0, 1}, {"atx", "", saidJunk, 0, 0, 0, 0},
		{"atx", "X\n", saidGarbled, 0, 0, 0, 2}, {"atx", "X12\n", saidGarbled, 0, 0, 0, 4}, {"atx", "Z\n", saidConflict, 0, 0, 0, 2},
		{"atx", "JA5\nN\n", saidAnswer, 0xA5, 0, 8, 4}, {"atx", "JA\n", saidJunk, 0, 0, 0, 3}, {"atx", "JA5F\n", saidJunk, 0, 0, 0, 5}, {"atx", "JXY\n", saidJunk, 0, 0, 0, 4}, {"atx", "KA5\n", saidJunk, 0, 0, 0, 4},
		{"atx", "JA5", saidJunk, 0, 0, 0, 0}, {"atx", strings.Repeat("J", 64), saidJunk, 0, 0, 0, 0}, {"atx", strings.Repeat("J", 65), saidJunk, 0, 0, 0, 65}, {"atx", strings.Repeat("J", 65) + "\n", saidJunk, 0, 0, 0, 66},

		{"luba", "", saidJunk, 0, 0, 0, 0}, {"luba", "\x01\x02", saidJunk, 0, 0, 0, 2}, {"luba", "\x01\x02\x59", saidJunk, 0, 0, 0, 2}, {"luba", "\x59\x31", saidJunk, 0, 0, 0, 0},
		{"luba", "\x59\x31\x00\x31", saidJunk, 0, 0, 0, 1}, {"luba", "\x59\x31\x19", saidJunk, 0, 0, 0, 1}, {"luba", "\x59\x31\x18", saidJunk, 0, 0, 0, 0}, {"luba", luba(0x33, 0, 7)[:5], saidJunk, 0, 0, 0, 0},
		{"luba", "\x59\x33\x01\x07\x00", saidJunk, 0, 0, 0, 1},
		{"luba", luba(0x33, 7), saidRefused, 0, 0, 0, 5}, {"luba", luba(0x33, 9, 1), saidAccepted, 9, 0, 0, 6}, {"luba", luba(0x21, 0), saidInfo, 0, 0, 0, 5}, {"luba", luba(0x2B, 0), saidSettings, 0, 0, 0, 5}, {"luba", luba(0x44, 0), saidOther, 0, 0, 0, 5},
		{"luba", luba(0x31, 0, 0, 0), saidOther, 0, 0, 0, 7}, {"luba", luba(0x31, 0, 0, 0, 0), saidOther, 0, 0, 0, 8}, {"luba", luba(0x31, 0, 0, 0, 0, 3), saidSent, 3, 0, 0, 9},
		{"luba", luba(0x31, 0, 0, 0, 0, 3, 0x01, 0x90), saidSent, 3, 0x0190, 16, 11}, {"luba", luba(0x31, 0, 0, 0, 0x40, 3), saidOther, 0, 0, 0, 9}, {"luba", luba(0x31, 0, 0, 0, 0xC8, 3), saidOther, 0, 0, 0, 9},
		{"luba", luba(0x31, 0, 0, 0, 0x80|62), saidGarbled, 0, 0, 0, 8}, {"luba", luba(0x31, 0, 0, 0, 0x80|63), saidGarbled, 0, 0, 0, 8}, {"luba", luba(0x31, 0, 0, 0, 0x80|61), saidOther, 0, 0, 0, 8},
		{"luba", luba(0x31, 0, 0, 0, 0x88, 0xA5), saidAnswer, 0xA5, 0, 8, 9}, {"luba", luba(0x31, 0, 0, 0, 0x88), saidHeard, 0, 0, 8, 8},
		{"luba", luba(0x31, 0, 0, 0, 0x90, 0x05, 0x06), saidHeard, 0, 0x0506, 16, 10}, {"luba", luba(0x31, 0, 0, 0, 0x90, 0x05), saidHeard, 0, 0, 16, 9}, {"luba", luba(0x31, 0, 0, 0, 0x98, 1, 2, 3), saidHeard, 0, 0, 24, 11},
		{"luba", luba(0x31, 0, 0, 0, 0x81), saidHeard, 0, 0, 1, 8}, {"luba", luba(0x31, 0, 0, 0, 0x80), saidOther, 0, 0, 0, 8}, {"luba", luba(0x31, 0, 0, 0, 0x80|32), saidHeard, 0, 0, 32, 8}, {"luba", luba(0x31, 0, 0, 0, 0x80|33), saidOther, 0, 0, 0, 8},

		{"sci", "\x00\x00\x00\x00", saidJunk, 0, 0, 0, 0}, {"sci", "\x10\x00\x00\x00\x11", saidJunk, 0, 0, 0, 1}, {"sci", sci(0x10, 0, 0, 0) + "\x00", saidSent, 0, 0, 0, 5}, {"sci", sci(0x11, 0, 0, 0), saidNone, 0, 0, 0, 5},
		{"sci", sci(0x12, 1, 2, 0xA5), saidAnswer, 0xA5, 0, 8, 5}, {"sci", sci(0x13, 1, 5, 6), saidHeard, 0, 0x0506, 16, 5}, {"sci", sci(0x18, 1, 5, 6), saidHeard, 0, 0, 24, 5}, {"sci", sci(0x14, 1, 5, 6), saidOther, 0, 0, 0, 5},
		{"sci", sci(0x17, 0, 0, 1), saidRefused, 0, 0, 0, 5}, {"sci", sci(0x17, 0, 0, 2), saidFault, 0, 0, 0, 5}, {"sci", sci(0x17, 0, 0, 3), saidGarbled, 0, 0, 0, 5}, {"sci", sci(0x17, 0, 0, 4), saidRefused, 0, 0, 0, 5},
		{"sci", sci(0x17, 0, 0, 5), saidConflict, 0, 0, 0, 5}, {"sci", sci(0x17, 0, 0, 6), saidRefused, 0, 0, 0, 5},
	} {
		m, n := gateways[row.gateway].parse([]byte(row.bytes))
		if m.said != row.said || m.value != row.value || m.frame != row.frame || m.bits != row.bits || n != row.used {
			t.Errorf("%s says % X: %+v, %d bytes used; want %+v", row.gateway, row.bytes, m, n, row)
		}
		if bad := m.said == saidRefused || m.said == saidFault; bad && m.text == "" {
			t.Errorf("%s says % X, and not why", row.gateway, row.bytes)
		}
		// The decoder takes whole messages only, and says the same of them.
		d, err := DecodeFrom(row.gateway, []byte(row.bytes))
		if whole := n == len(row.bytes) && m.said != saidJunk; (err == nil) != whole || whole && (d.Kind != saidKinds[m.said] || d.Bits != m.bits || d.Text != m.text || d.Gateway != row.gateway) {
			t.Errorf("% X of %s is decoded as %+v, %v", row.bytes, row.gateway, d, err)
		} else if n > 0 && n < len(row.bytes) && m.said != saidJunk && !strings.HasSuffix(err.Error(), fmt.Sprintf(": %d bytes too many", len(row.bytes)-n)) {
			t.Errorf("% X of %s: %v", row.bytes, row.gateway, err)
		} else if whole && m.said == saidAnswer && (d.Value == nil || *d.Value != int(m.value)) {
			t.Errorf("% X of %s: the value is lost: %+v", row.bytes, row.gateway, d)
		}
	}
	for _, b := range []string{"", "\x01\x02\x03\x04\x05\x06"} {
		if d, err := Decode([]byte(b)); err == nil || b != "" && strings.Count(err.Error(), ";") != 2 {
			t.Errorf("% X is %+v, %v; want an error that tells what each gateway makes of it", b, d, err)
		}
	}
}

// What is shown as discarded on its way in was understood after all if it is a gateway's word.
func TestReportsOfAGatewayAreNoNoise(t *testing.T) {
	d, _ := still(t, 1, nil)
	for _, row := range []struct {
		is, shown appliance.Direction
		bytes     string
	}{
		{appliance.FrameDiscarded, appliance.FrameReceived, "N\n"}, {appliance.FrameDiscarded, appliance.FrameDiscarded, "K\n"}, {appliance.FrameDiscarded, appliance.FrameDiscarded, "N\nN\n"},
		{appliance.FrameDiscarded, appliance.FrameDiscarded, ""}, {appliance.FrameSent, appliance.FrameSent, "N\n"}, {appliance.FrameReceived, appliance.FrameReceived, "K\n"},
	} {
		f := d.relabel(appliance.Frame{Direction: row.is, Bytes: []byte(row.bytes), Note: "not asked for"})
		if f.Direction != row.shown || (f.Note == "") != (row.is != row.shown) {
			t.Errorf("%v %q is shown as %v, %q", row.is, row.bytes, f.Direction, f.Note)
		}
	}
}

// What a bus is when little is said of it, and how far its options go.
func TestOptionsOfALine(t *testing.T) {
	for text, want := range map[string]busOptions{
		"gateway=atx":                       {gateway: "atx", answerWait: 45 * time.Millisecond, broadcast: true},
		"gateway=sci,gatewayTimeout=50ms":   {gateway: "sci", gatewayTimeout: 50 * time.Millisecond, answerWait: 45 * time.Millisecond, broadcast: true},
		"gateway=luba,gatewayTimeout=5s":    {gateway: "luba", gatewayTimeout: 5 * time.Second, answerWait: 45 * time.Millisecond, broadcast: true},
		"gateway=atx,answerWait=22ms":       {gateway: "atx", answerWait: 22 * time.Millisecond, broadcast: true},
		"gateway=atx,answerWait=500ms":      {gateway: "atx", answerWait: 500 * time.Millisecond, broadcast: true},
		"gateway=atx,broadcast=false":       {gateway: "atx", answerWait: 45 * time.Millisecond},
		"gateway=atx,gatewayTimeout=49ms":   {},
		"gateway=atx,gatewayTimeout=5001ms": {},
		"gateway=atx,answerWait=21ms":       {},
		"gateway=atx,answerWait=501ms":      {},
		"gateway=x":                         {},
		"answerWait=22ms":                   {},
	} {
		options := map[string]string{}
		for part := range strings.SplitSeq(text, ",") {
			name, value, _ := strings.Cut(part, "=")
			options[name] = value
		}
		if got, err := readBusOptions(options); (err == nil) != (want.gateway != "") || err == nil && got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, ok := range map[string]bool{"fade=0s": true, "fade=17m": true, "fade=17m1s": false, "minLevel=0": true, "minLevel=100": true, "minLevel=101": false, "kelvinMin=1000": true,
		"kelvinMin=999": false, "kelvinMin=20000": true, "kelvinMin=20001": false, "kelvinMax=1000": true, "kelvinMax=999": false, "kelvinMax=20000": true, "kelvinMax=20001": false, "curve=linear": true, "curve=bent": false} {
		name, value, _ := strings.Cut(text, "=")
		if _, err := readNodeOptions(map[string]string{name: value}); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, row := range []struct {
		options busOptions
		want    time.Duration
	}{{busOptions{gateway: "atx"}, 300 * time.Millisecond}, {busOptions{gateway: "luba"}, time.Second}, {busOptions{gateway: "atx", gatewayTimeout: 1}, 1}} {
		if got := row.options.timeout(); got != row.want {
			t.Errorf("%+v: waits %v for the gateway, want %v", row.options, got, row.want)
		}
	}
	for _, row := range []struct {
		port, want string
		line, is   appliance.LineSettings
	}{
		{"/dev/ttyS0", "/dev/ttyS0", appliance.LineSettings{}, appliance.LineSettings{BaudRate: 38400, Parity: "none", DataBits: 8, StopBits: 1}},
		{"/dev/ttyS0", "/dev/ttyS0", appliance.LineSettings{BaudRate: 9600, Parity: "odd", DataBits: 7, StopBits: 2}, appliance.LineSettings{BaudRate: 9600, Parity: "odd", DataBits: 7, StopBits: 2}},
		{"tcp://10.0.0.9:23", "rtu+tcp://10.0.0.9:23", appliance.LineSettings{}, appliance.LineSettings{}},
		{"tcp://10.0.0.9:23", "", appliance.LineSettings{BaudRate: 9600}, appliance.LineSettings{}},
		{"udp://10.0.0.9:23", "", appliance.LineSettings{}, appliance.LineSettings{}},
	} {
		port, is, err := portOf(appliance.Bus{Port: row.port, Line: row.line}, luba{})
		if port != row.want || (err == nil) != (row.want != "") || err == nil && is != row.is {
			t.Errorf("%s %+v: %q, %+v, %v", row.port, row.line, port, is, err)
		}
	}
}

// What a scan takes gear for, by what it says of its device and colour types.
func TestWhatGearIsTakenFor(t *testing.T) {
	none := Answer{}
	for _, row := range []struct {
		device, colour Answer
		kind, detail   string
	}{
		{answerOf(6, true), none, "dali-dt6", "device type 6, LED"}, {answerOf(7, true), none, "dali-switch", "device type 7, switching"}, {answerOf(Mask, true), none, "dali-dt6", "several device types"},
		{answerOf(4, true), none, "dali-dt6", "device type 4"}, {none, none, "dali-dt6", "device type not told"}, {answerOf(8, true), answerOf(2, true), "dali-dt8-tc", "device type 8, colour temperature"},
		{answerOf(8, true), answerOf(0x63, true), "dali-dt8-rgbw", "device type 8, 3 colour channels"}, {none, answerOf(0x80, true), "dali-dt8-rgbw", "device type 8, 4 colour channels"},
		{answerOf(8, true), answerOf(0x41, true), "dali-dt6", "device type 8"}, {answerOf(6, true), Answer{Kind: AnswerGarbled, Value: 2}, "dali-dt6", "device type 6, LED"},
	} {
		if kind, detail := kindOf(row.device, row.colour); kind != row.kind || detail != row.detail {
			t.Errorf("types %v and %v: %s, %q; want %s, %q", row.device, row.colour, kind, detail, row.kind, row.detail)
		}
	}
}

// What a gear tells a scan of itself goes into the site file as the installer would write it.
func TestWhatGearTellsOfItself(t *testing.T) {
	for _, row := range []struct {
		says    map[byte]byte
		kind    string
		detail  string
		options map[string]string
		groups  []string
	}{
		{map[byte]byte{OpQueryDeviceType: 6, OpQueryMin: 1, OpQueryMax: 254, OpQueryFade: 0x07, OpQueryGroupsLow: 0, OpQueryGroupsHigh: 0}, "dali-dt6", "device type 6, LED; levels 1 to 254 (1 to 100 %)", nil, nil},
		{map[byte]byte{OpQueryDeviceType: 6, OpQueryMin: 170, OpQueryMax: 254, OpQueryFade: 0x47, OpQueryGroupsLow: 0x81, OpQueryGroupsHigh: 2}, "dali-dt6",
			"device type 6, LED; levels 170 to 254 (10 to 100 %); fades for 2s; in groups 0 7 9", map[string]string{"minLevel": "10", "fade": "2s"}, []string{"0", "7", "9"}},
		{map[byte]byte{OpQueryDeviceType: 7, OpQueryMin: 254, OpQueryMax: 254, OpQueryFade: 0x47}, "dali-switch", "device type 7, switching; levels 254 to 254 (100 to 100 %)", nil, nil},
		{map[byte]byte{OpQueryDeviceType: 6, OpQueryMin: 170}, "dali-dt6", "device type 6, LED", nil, nil},
		{map[byte]byte{OpQueryDeviceType: 6, OpQueryFade: 0x10}, "dali-dt6", "device type 6, LED; fades for 700ms", map[string]string{"fade": "700ms"}, nil},
	} {
		random := 0
		r := &resident{short: 3, send: func(seq ...Send) ([]Answer, error) {
			f := seq[len(seq)-1].Frame
			if f.AddressByte() != 7 {
				t.Errorf("%v was asked", f)
			}
			switch f.Data() {
			case OpQueryRandomHigh, OpQueryRandomMid, OpQueryRandomLow:
				random++
			}
			v, ok := row.says[f.Data()]
			return []Answer{answerOf(v, ok)}, nil
		}}
		var f appliance.Found
		words := r.describe(&f)
		if f.Kind != row.kind || strings.Join(words, "; ") != row.detail || fmt.Sprint(f.Options) != fmt.Sprint(row.options) || !slices.Equal(f.Groups, row.groups) || random != 3 {
			t.Errorf("%v: %s, %q, %v, %v", row.says, f.Kind, words, f.Options, f.Groups)
		}
	}
}

// Who talks on a line, and what that makes of a scan.
func TestWhatTalkOfOthersMakesOfAScan(t *testing.T) {
	for _, row := range []struct {
		what           string
		frames, sent   int // of others, of ours
		hits           uint64
		after          time.Duration
		constant, told bool
		finding        appliance.Finding
		detail         string
	}{
		{what: "nobody", sent: 100, after: time.Minute},
		{what: "two frames at once", frames: 2, sent: 1, after: time.Millisecond},
		{what: "a push button", frames: 3, sent: 100, after: time.Second, told: true, finding: appliance.FoundNote, detail: "3 frames of others in 1s, such as 0105"},
		{what: "an eighth of the time", frames: 8, sent: 100, after: 1100 * time.Millisecond, told: true, finding: appliance.FoundNote, detail: "8 frames of others in 1.1s, such as 0105"},
		{what: "more than an eighth", frames: 8, sent: 100, after: time.Second, constant: true, told: true, finding: appliance.FoundBabble, detail: "8 frames of others in 1s, such as 0105"},
		{what: "a fifth of our frames collided", sent: 12, hits: 3, after: time.Minute},
		{what: "more than a fifth", sent: 11, hits: 3, after: time.Minute, constant: true, told: true, finding: appliance.FoundBabble, detail: "3 of 14 frames of ours collided"},
		{what: "two of three", sent: 1, hits: 2, after: time.Minute},
		{what: "a push button, and one collision", frames: 3, sent: 100, hits: 1, after: time.Minute, told: true, finding: appliance.FoundNote, detail: "3 frames of others in 1m0s, such as 0105; 1 of 101 frames of ours collided"},
		{what: "both", frames: 5, sent: 6, hits: 4, after: time.Minute, constant: true, told: true, finding: appliance.FoundBabble, detail: "5 frames of others in 1m0s, such as 0105; 4 of 10 frames of ours collided"},
	} {
		w := &wire{}
		w.collisions.Store(7) // from before
		e := newEavesdropper(w)
		e.began, e.frames, e.sent, e.sample = time.Now().Add(-row.after), row.frames, row.sent, message{bits: 16, frame: 0x0105}.String()
		w.collisions.Add(row.hits)
		f, ok := e.found()
		if e.constant() != row.constant || ok != row.told || f.Finding != row.finding || ok && !strings.HasSuffix(f.Detail, ": "+row.detail) || (f.Advice != "") != row.constant {
			t.Errorf("%s: constant %v, told %v: %+v; want %+v", row.what, e.constant(), ok, f, row)
		}
	}
	if got := (message{bits: 24}).String(); got != "a frame of 24 bits" {
		t.Error(got)
	}

	for _, row := range []struct {
		gateway string
		noisy   bool
		frames  int
		blind   bool
	}{{"sci", true, 3, true}, {"sci", true, 2, false}, {"sci", false, 3, false}, {"luba", true, 3, false}, {"atx", true, 3, false}} {
		d, _ := still(t, 1, map[string]string{"gateway": row.gateway})
		told := conduct(func(s *search) {
			s.noisy, s.heard.frames = row.noisy, row.frames
			if s.blind() != row.blind || s.Over() != row.blind {
				t.Errorf("%+v: %v, ended %v", row, !row.blind, s.Over())
			}
		}, d)
		if row.blind != (len(told) == 1 && told[0].Finding == appliance.FoundHindered && told[0].Advice != "") {
			t.Errorf("%+v: told %+v", row, told)
		}
	}
}

// A scan whose questions do not get through is given up after four in a row, and says whether
// somebody talks or the gateway is to be looked at.
func TestAScanIsGivenUpWhenNobodyCanBeAsked(t *testing.T) {
	d, _ := still(t, 1, nil)
	broken := errors.New("no gateway")
	for _, row := range []struct {
		errs    []error
		finding appliance.Finding
		words   string
	}{
		{[]error{broken, broken, broken, nil, broken, broken, broken}, "", ""},
		{[]error{broken, broken, broken, broken, broken}, appliance.FoundHindered, "nobody could be asked: no gateway"},
		{[]error{nil, broken, broken, broken, errConflict}, appliance.FoundBabble, "SOMEBODY TALKS WITHOUT A PAUSE, so that nobody could be asked"},
		{[]error{broken, broken, broken, line.ErrBabble}, appliance.FoundBabble, "SOMEBODY TALKS WITHOUT A PAUSE"},
	} {
		told := conduct(func(s *search) {
			for _, err := range row.errs {
				s.despair(err)
			}
			if s.Over() != (row.finding != "") {
				t.Errorf("%v: ended %v", row.errs, s.Over())
			}
		}, d)
		if row.finding == "" && len(told) > 0 || row.finding != "" && (len(told) != 1 || told[0].Finding != row.finding || !strings.Contains(told[0].Detail, row.words) || told[0].Advice == "") {
			t.Errorf("%v: told %+v", row.errs, told)
		}
	}
}

// Gear whose answers were garbled each time while somebody talked shares its address only if
// those of other gear came through.
func TestGarbledAnswersAccuseGearOnlyAmongClearOnes(t *testing.T) {
	d, _ := still(t, 1, nil)
	for clean, words := range map[int]string{0: "", 1: "those of another gear were not", 3: "those of 3 others were not"} {
		told := conduct(func(s *search) {
			s.clean, s.suspects = clean, []appliance.Found{{Address: "7", Finding: appliance.FoundDamaged, Detail: "garbled", Advice: "find out"}}
			s.judge()
		}, d)
		if words == "" && len(told) > 0 || words != "" && (len(told) != 1 || told[0].Finding != appliance.FoundCollision || !strings.Contains(told[0].Detail, words) || !strings.Contains(told[0].Advice, "commissioning") || told[0].Address != "7") {
			t.Errorf("%d others: told %+v", clean, told)
		}
	}
}

// conduct goes through a part of a scan, and returns what it tells.
func conduct(part func(*search), d *Driver) (told []appliance.Found) {
	for step := range scan.Steps(func(c *scan.Course) { part(&search{Course: c, driver: d, heard: newEavesdropper(d.wire)}) }) {
		res, err := step.Exchange.Do(context.Background(), appliance.Yield{})
		if f, ok := step.Judge(res, err); ok {
			told = append(told, f)
		}
	}
	return told
}

// What a scan finds at an address, by what comes back when it is asked.
func TestWhatAScanFindsAtAnAddress(t *testing.T) {
	status := Command(Short(0), OpQueryStatus).Frame
	lamp := map[byte]string{OpQueryStatus: "J04", OpQueryDeviceType: "J06", OpQueryMin: "J01", OpQueryMax: "JFE", OpQueryGroupsLow: "J00", OpQueryGroupsHigh: "J00", OpQueryPresent: "JFF"}
	all := func(said string) map[byte]string {
		says := map[byte]string{}
		for op := range lamp {
			says[op] = said
		}
		for _, op := range []byte{OpQueryRandomHigh, OpQueryRandomMid, OpQueryRandomLow, OpQueryFade} {
			says[op] = said
		}
		return says
	}
	with := func(says map[byte]string, op byte, said string) map[byte]string {
		says = maps.Clone(says)
		says[op] = said
		return says
	}
	for _, row := range []struct {
		what    string
		gear    int // of the site
		kind    string
		noisy   bool
		says    map[byte]string
		asked   int // for its status
		finding appliance.Finding
		told    string // empty: nothing is
		clean   int
	}{
		{what: "nobody", asked: 1},
		{what: "nobody, where the site has gear", gear: 1, asked: 3, finding: appliance.FoundSilent, told: "does not answer"},
		{what: "nobody, while somebody talks", gear: 1, noisy: true, asked: 3, finding: appliance.FoundSilent, told: "does not answer, or somebody else's frames were in the way of its answers each time"},
		{what: "a lamp", says: lamp, asked: 1, told: "answers, lamp on; device type 6, LED; levels 1 to 254 (1 to 100 %)", clean: 1},
		{what: "a lamp, one of its answers garbled", says: with(lamp, OpQueryMin, "X once"), asked: 1, told: "answers, lamp on; device type 6, LED; levels 1 to 254 (1 to 100 %)", clean: 1},
		{what: "a lamp of the site", gear: 1, says: lamp, asked: 1, told: "answers, lamp on; device type 6, LED; levels 1 to 254 (1 to 100 %)", clean: 1},
		{what: "a lamp where the site has a relay", gear: 1, kind: "dali-switch", says: lamp, asked: 1, finding: appliance.FoundProfile, told: "is not the dali-switch that the site says: answers, lamp on; device type 6, LED; levels 1 to 254 (1 to 100 %)", clean: 1},
		{what: "a relay where the site has a lamp", gear: 1, says: with(lamp, OpQueryDeviceType, "J07"), asked: 1, finding: appliance.FoundProfile, told: "is not the dali-dt6 that the site says: answers, lamp on; device type 7, switching; levels 1 to 254 (1 to 100 %)", clean: 1},
		{what: "several", says: all("X"), asked: 8, finding: appliance.FoundCollision, told: "SEVERAL GEARS share this address"},
		{what: "several that answer one question alike", says: with(lamp, OpQueryRandomLow, "X"), asked: 1, finding: appliance.FoundCollision, told: "SEVERAL GEARS share this address: 8 answers were garbled, since they answer at once"},
		{what: "several, while somebody talks", noisy: true, says: all("X"), asked: 8, finding: appliance.FoundDamaged, told: "answers were garbled: somebody talks on this line, and it cannot be told whether several gears share this address"},
		{what: "a lamp, while somebody talks", noisy: true, says: lamp, asked: 1, told: "answers, lamp on; what it is, and whether it is alone, cannot be told while somebody talks on this line", clean: 1},
		{what: "an answer to somebody else", noisy: true, says: map[byte]string{OpQueryStatus: "J04"}, asked: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := running(t, row.gear, func(frame string) string {
				var f Frame
				fmt.Sscanf(frame, "%04X", &f)
				if f == status {
					asked++
				}
				if said, ok := row.says[f.Data()]; ok && f.AddressByte() == 1 {
					if said == "X once" {
						row.says[f.Data()], said = "J01", "X"
					}
					return said
				}
				return "N"
			})
			if row.kind != "" {
				d.gears[0].kind = row.kind
			}
			clean, suspects := 0, 0
			told := conduct(func(s *search) {
				s.noisy = row.noisy
				s.gear(0)
				clean, suspects = s.clean, len(s.suspects)
			}, d)
			if row.what == "a lamp, one of its answers garbled" && len(told) == 1 && !strings.HasSuffix(told[0].Detail, "; 1 of 12 answers were garbled: check the line") {
				t.Errorf("%s: %q", row.what, told[0].Detail)
			}
			switch {
			case row.told == "" && len(told) > 0, row.told != "" && (len(told) != 1 || told[0].Finding != row.finding || !strings.Contains(told[0].Detail, row.told) || told[0].Finding.Trouble() != (told[0].Advice != "")):
				t.Errorf("%s: told %+v, want %s: %q", row.what, told, row.finding, row.told)
			case row.finding == appliance.FoundCollision && (told[0].Kind != "" || told[0].Options != nil || told[0].Groups != nil):
				t.Errorf("%s: told what it is: %+v", row.what, told[0])
			}
			if asked != row.asked || clean != row.clean || suspects > 0 != (row.finding == appliance.FoundDamaged) {
				t.Errorf("%s: asked %d times, clean %d, %d suspects", row.what, asked, clean, suspects)
			}
		})
	}
}

// Gear without an address is told of by one answer; while somebody talks it takes six.
func TestGearWithoutAnAddressIsToldOf(t *testing.T) {
	for _, row := range []struct {
		noisy bool
		says  string // one letter for each answer: Yes, another value, Garbled, None
		told  bool
		asked int
	}{{false, "Y", true, 1}, {false, "G", true, 1}, {false, "N", false, 1}, {true, "YYYYYY", true, 6}, {true, "YYYYYN", false, 6}, {true, "Yv", false, 2}, {true, "YG", true, 6}} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := running(t, 0, func(string) string {
				asked++
				return map[byte]string{'Y': "JFF", 'v': "J12", 'G': "X", 'N': "N"}[row.says[min(asked, len(row.says))-1]]
			})
			told := conduct(func(s *search) { s.noisy = row.noisy; s.strangers() }, d)
			if (len(told) == 1) != row.told || asked != row.asked || row.told && (told[0].Finding != appliance.FoundNoAddress || told[0].Address != "none" || told[0].Advice == "") {
				t.Errorf("%+v: asked %d times, told %+v", row, asked, told)
			}
		})
	}
}

// Whether a gateway is there shows in what it confirms, or complains of.
func TestScanThatFindsOutWhetherAGatewayIsThere(t *testing.T) {
	for said, row := range map[string]struct {
		told  string
		asked int
	}{"N": {"a DALI gateway, which confirms what it is asked", 4}, "K": {"", 2}} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			d := running(t, 0, func(string) string { asked++; return said })
			told := conduct(func(s *search) { s.findOut() }, d)
			if asked != row.asked || row.told == "" && len(told) > 0 || row.told != "" && (len(told) != 1 || !told[0].Gateway || told[0].Detail != row.told) {
				t.Errorf("%q: asked %d times, told %+v", said, asked, told)
			}
		})
	}
}

// Scenes of all gear of the site are read; of gear that does not answer that it does not.
func TestScenesOfAllGear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := map[string]bool{}
		d := running(t, 3, func(frame string) string {
			var f Frame
			fmt.Sscanf(frame, "%04X", &f)
			switch {
			case f.AddressByte() == 1 && f.Data() == OpQueryScene+2 && !lost[frame]:
				lost[frame] = true // once
				return "N"
			case f.AddressByte() == 1 && f.Data() == OpQueryScene+2:
				return "J00"
			case f.AddressByte() == 1:
				return "JFF"
			case f.AddressByte() == 3:
				return "X"
			}
			return "N"
		})
		told, err := serve(t, d, "scenes", nil)
		if err != nil || len(told) != 3 {
			t.Fatalf("%+v, %v", told, err)
		}
		for i, want := range []string{"scene2: 0 (0 %)", "several gears answer", "'bus scan' shows who is there"} {
			got := ""
			for _, f := range told[i].Facts {
				got += fmt.Sprintf("%s: %v", f.Name, f.Value)
			}
			if told[i].Address != fmt.Sprint(i) || !strings.HasSuffix(got, want) || (i > 0) != strings.HasPrefix(got, "error: ") {
				t.Errorf("gear %s: %q, want %q", told[i].Address, got, want)
			}
		}
		for address, want := range map[string]error{"1": appliance.ErrDamaged, "2": appliance.ErrSilent} {
			if _, err := serve(t, d, "scenes", map[string]string{"address": address}); !errors.Is(err, want) {
				t.Errorf("gear %s alone: %v, want %v", address, err, want)
			}
		}
		if _, err := serve(t, d, "scenes", map[string]string{"address": "64"}); err == nil {
			t.Error("there is no address 64")
		}
		none := running(t, 0, func(string) string { return "N" })
		if _, err := serve(t, none, "scenes", nil); err == nil || !strings.Contains(err.Error(), "no gear") {
			t.Errorf("a line without gear: %v", err)
		}
	})
}

// Entries that cannot work are set aside by themselves, and say why.
func TestEntriesThatCannotWorkAreSetAside(t *testing.T) {
	good := nodesOf(1, "dali-dt6")[0]
	for words, bad := range map[string]appliance.Node{
		`profile "x" is unknown`:    {Address: "5", Profile: "x"},
		"want a DALI short address": {Address: "64", Profile: "dali-dt6"},
		"want a DALI group":         {Address: "5", Profile: "dali-dt6", Groups: []string{"16"}},
		"x":                         {Address: "5", Profile: "dali-dt6", Options: map[string]string{"x": "1"}},
		"has one output":            {Address: "5", Profile: "dali-dt6", Outputs: []int{2}},
		"outputs [1 2]":             {Address: "5", Profile: "dali-dt6", Outputs: []int{1, 2}},
		"taken by node 1":           {Address: "0", Profile: "dali-dt6"},
		"this profile only switch":  {Address: "5", Profile: "dali-switch", Options: map[string]string{"minLevel": "5"}},
	} {
		bad.ID = 2
		cfg := appliance.BusConfig{Bus: appliance.Bus{Name: "hall", Driver: "dali", Port: "/dev/none", Options: map[string]string{"gateway": "atx"}}, Nodes: []appliance.Node{good, bad}, Shades: []appliance.Shade{{ID: 5001}}}
		o, err := Open(cfg)
		if err != nil || o.BrokenNodes[2] == nil || !strings.Contains(o.BrokenNodes[2].Error(), words) || o.BrokenNodes[1] != nil || o.Device[1] != "0" || len(o.Device) != 1 || o.BrokenShades[5001] == nil {
			t.Errorf("%s: %v, %v", words, o.BrokenNodes, err)
		}
		// Nobody sends to all where gear is that cannot be commanded, also when it comes later.
		d, _ := still(t, 2, nil)
		if chains := d.Plan(levels(40, 2)); len(chains) != 1 {
			t.Fatalf("%d chains for all gear", len(chains))
		}
		cfg.Nodes = append(nodesOf(2, "dali-dt6"), appliance.Node{ID: 9, Address: "x"})
		if _, ok := d.Configure(cfg); !ok || len(d.Plan(levels(40, 2))) != 2 {
			t.Errorf("%s: with gear that was set aside: taken %v, %d chains", words, ok, len(d.Plan(levels(40, 2))))
		}
	}
	nodes := nodesOf(3, "dali-dt6")
	slices.Reverse(nodes)
	o, err := Open(appliance.BusConfig{Bus: appliance.Bus{Name: "hall", Driver: "dali", Port: "/dev/none", Options: map[string]string{"gateway": "atx"}}, Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range o.Driver.Polls()[:3] {
		if p.Device != fmt.Sprint(i) {
			t.Errorf("poll %d is that of gear %s: they go by address, whatever the order of the site is", i, p.Device)
		}
	}
	d, _ := still(t, 3, nil)
	d.gears[1].groups = 1<<2 | 1<<10
	if s := d.GroupSpace(); len(s.Declared) != 1 || !slices.Equal(s.Declared["1"], []string{"10", "2"}) || len(s.Names) != 16 || s.Names[0] != "15" || s.Names[15] != "0" || s.PerDevice != 16 {
		t.Errorf("groups %+v", s)
	}
}

// What keeps a frame from being confirmed is said: bytes that are no message, or a gateway
// that says nothing, which is not used before it took its settings.
func TestWhyAGatewayIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := running(t, 1, func(string) string { return "K" })
		if _, err := d.Transmit(t.Context(), Arc(Short(0), 9)); !errors.Is(err, appliance.ErrDamaged) || !strings.Contains(err.Error(), "the gateway sent 2 bytes that are no message") {
			t.Errorf("a gateway that says something else: %v", err)
		}
		mute, end := still(t, 1, map[string]string{"gateway": "luba"})
		t.Cleanup(func() { end.Close() })
		go mute.Run(t.Context())
		time.Sleep(time.Second)
		var came []byte
		go func() {
			b := make([]byte, 64)
			for {
				n, err := end.Read(b)
				if came = append(came, b[:n]...); err != nil {
					return
				}
			}
		}()
		if _, err := mute.Transmit(t.Context(), Arc(Short(0), 9)); !errors.Is(err, appliance.ErrSilent) || !strings.Contains(err.Error(), "set up the gateway") {
			t.Errorf("a gateway that is mute: %v", err)
		}
		synctest.Wait()
		if want := (luba{}).setup(); !slices.Equal(came, want) {
			t.Errorf("% X went out, want % X alone", came, want)
		}
	})
}

// A gear that comes without an address is given one that the site does not use, unless the
// installer says which, or that all are to be given anew.
func TestAddressesOfTheSiteAreNotGiven(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ addresses, all, want string }{{"", "", "1"}, {"0", "", "0"}, {"2", "", "2"}, {"", "yes", "0"}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(1), Speed: 100, Seed: 3})
			told, err := serve(t, r.driver("atx", nodesOf(1, "dali-dt6")...), "commission", map[string]string{"addresses": row.addresses, "all": row.all})
			if err != nil || len(told) != 1 || told[0].Address != row.want {
				t.Errorf("%+v: %+v, %v", row, told, err)
			}
		})
	}
}

// A kelvin that nobody named is none, as is a mirek that means nothing.
func TestColourTemperaturesOfNothing(t *testing.T) {
	for k, want := range map[appliance.Kelvin]uint16{0: 0, -1: 0, 1: 0xFFFE, 4000: 250, 10000000: 1} {
		if got := mirek(k); got != want {
			t.Errorf("%d K is %d mirek, want %d", k, got, want)
		}
	}
	for m, want := range map[uint16]appliance.Kelvin{0: 0, 0xFFFF: 0, 0xFFFE: 15, 250: 4000, 1: 1000000} {
		if got := kelvin(m); got != want {
			t.Errorf("%d mirek is %d K, want %d", m, got, want)
		}
	}
}

// An answer that contradicted the one before is not what the next one is held against, and a
// level that cannot be told of is no reading.
func TestAContradictionIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []string{"J50", "J60", "J40", "J40"}
		asked := 0
		d := running(t, 1, func(string) string { asked++; return answers[asked-1] })
		g := d.gears[0]
		g.last = raw{0x40, true}
		if _, _, err := d.askLevel(t.Context(), appliance.Yield{}, g); !errors.Is(err, appliance.ErrDamaged) || asked != 2 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		if v, _, err := d.askLevel(t.Context(), appliance.Yield{}, g); v != 0x40 || err != nil || asked != 4 {
			t.Errorf("after a contradiction: %d, %v, asked %d times; want it twice", v, err, asked-2)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := running(t, 1, says(map[byte]byte{OpQueryActualLevel: 100}))
		d.gears[0].told(50, time.Now())
		if res, err := d.Polls()[0].Do(t.Context(), appliance.Yield{}); !errors.Is(err, appliance.ErrSilent) || len(res.Readings) > 0 {
			t.Errorf("one that may fade and does not say so: %+v, %v", res, err)
		}
	})
}

// Each gateway has its serial settings, and its manners with what it was not asked.
func TestMannersOfGateways(t *testing.T) {
	for name, rate := range map[string]int{"atx": 19200, "luba": 38400, "sci": 38400} {
		if s := gateways[name].settings(); s != (appliance.LineSettings{BaudRate: rate, Parity: "none", DataBits: 8, StopBits: 1}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := DecodeFrom("x", []byte("N\n")); err == nil || !strings.Contains(err.Error(), gatewayNames) {
		t.Errorf("a gateway that does not exist: %v", err)
	}
	// Nobody answers a search address: who does was asked by somebody else.
	for op, stray := range map[byte]bool{OpSearchHigh: true, OpSearchMid: true, OpSearchLow: true, OpDTR0: false, OpCompare: false} {
		h := &hearing{gw: atx{}, send: Special(op, 0)}
		h.take(message{said: saidAnswer, value: 9, bits: 8})
		if errors.Is(h.err, errConflict) != stray || !h.over {
			t.Errorf("an answer to %02X: %v, over %v", op, h.err, h.over)
		}
	}
}

// What is kept silent before a frame, and what explains that a command came too late.
func TestWhatACollisionLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		for _, row := range []struct {
			gateway         gateway
			stray, collided bool
			want            time.Duration
		}{
			{atx{}, false, false, 0}, {atx{}, true, false, time.Second}, {atx{}, true, true, time.Second}, {atx{}, false, true, 17830 * time.Microsecond},
			{luba{}, true, false, 50 * time.Millisecond}, {luba{}, false, true, 17830 * time.Microsecond},
		} {
			w := &wire{gw: row.gateway, stray: row.stray, collided: row.collided}
			if got := w.guard(); got != row.want || w.guard() != 0 {
				t.Errorf("%T, stray %v, collided %v: %v before the next frame, want %v, and none before the one after", row.gateway, row.stray, row.collided, got, row.want)
			}
		}
		for ago, explains := range map[time.Duration]bool{0: true, 3*time.Second - 1: true, 3 * time.Second: false} {
			w := &wire{conflictAt: time.Now().Add(-ago)}
			if err := w.why(appliance.ErrExpired); strings.Contains(err.Error(), "collided") != explains || !errors.Is(err, appliance.ErrExpired) {
				t.Errorf("%v after a collision: %v", ago, err)
			}
			if err := w.why(appliance.ErrSilent); err != appliance.ErrSilent {
				t.Errorf("silence is explained by a collision: %v", err)
			}
		}
	})
}

// Groups that other masters use are kept, as far as a gateway tells their frames.
func TestGroupsOfOtherMasters(t *testing.T) {
	d, _ := still(t, 1, nil)
	for _, m := range []message{
		{said: saidHeard, bits: 16, frame: Arc(Group(5), 9).Frame}, {said: saidHeard, bits: 16, frame: Command(Group(0), OpOff).Frame}, {said: saidHeard, bits: 16, frame: Arc(Short(7), 9).Frame},
		{said: saidHeard, bits: 16, frame: Arc(Broadcast, 9).Frame}, {said: saidHeard, bits: 16, frame: Special(OpDTR0, 9).Frame}, {said: saidHeard, bits: 24, frame: Arc(Group(6), 9).Frame}, {said: saidSent, bits: 16, frame: Arc(Group(8), 9).Frame},
	} {
		d.wire.heardGroups.note(m)
	}
	if held, used := d.StrangeGroups(); len(held) > 0 || !slices.Equal(used, []string{"0", "5"}) {
		t.Errorf("held %q, used %q", held, used)
	}
}

// A gateway that complains of its line is one.
func TestAGatewayThatComplainsIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, end := still(t, 0, map[string]string{"gateway": "sci"})
		t.Cleanup(func() { end.Close() })
		go d.Run(t.Context())
		go func() {
			b := make([]byte, sciLength)
			for {
				if _, err := io.ReadFull(end, b); err != nil {
					return
				}
				said := []byte{0x17, 0, 0, 2}
				end.Write(append(said, xor(said)))
			}
		}()
		time.Sleep(time.Minute)
		told := conduct(func(s *search) { s.findOut() }, d)
		if len(told) != 1 || !told[0].Gateway || !strings.HasPrefix(told[0].Detail, "a DALI gateway, and ") || !strings.Contains(told[0].Detail, "the DALI line is short-circuited") {
			t.Errorf("told %+v", told)
		}
	})
}
