package modbus

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line"
)

// What comes unasked is told apart: whole frames of a unit, wherever they begin, questions of another master, answers that are
// late, and noise; what hangs on an answer, and an adapter's echo, is none of these.
func TestWhatCameUnaskedIsSorted(t *testing.T) {
	const gap = 20 * time.Millisecond
	begun := time.Now().Add(-time.Hour)
	said := func(after time.Duration, d appliance.Direction, note string, b ...byte) appliance.Frame {
		return appliance.Frame{At: begun.Add(after), Direction: d, Note: note, Bytes: b}
	}
	sent := func(after time.Duration, b []byte) appliance.Frame {
		return said(after, appliance.FrameSent, "", b...)
	}
	got := func(after time.Duration, b []byte) appliance.Frame {
		return said(after, appliance.FrameReceived, "", b...)
	}
	unasked := func(after time.Duration, b ...byte) appliance.Frame {
		return said(after, appliance.FrameDiscarded, line.NoteUnasked, b...)
	}
	other := func(after time.Duration, b ...byte) appliance.Frame {
		return said(after, appliance.FrameDiscarded, line.NoteNotForUs, b...)
	}
	noise := []byte{0xF8, 0xF8}
	question5, answer5, another5 := rtuFrame(5, []byte{3, 0, 0, 0, 1}), rtuFrame(5, []byte{3, 2, 1, 2}), rtuFrame(5, []byte{3, 2, 1, 3})
	written5, answer17 := rtuFrame(5, []byte{6, 0, 0, 0, 1}), rtuFrame(17, []byte{3, 2, 1, 2})
	question17 := rtuFrame(17, []byte{3, 0, 0, 0, 1})
	for _, tc := range []struct {
		name   string
		strict bool
		frames []appliance.Frame
		want   string // who talks, how often, with how many questions and how often after an answer; who is late; how often noise came
	}{
		{"nothing", false, nil, "junk 0"},
		{"a frame", false, []appliance.Frame{unasked(0, answer17...)}, "17: 1 0 0, junk 0"},
		{"a frame behind noise", false, []appliance.Frame{unasked(0, append(slices.Clone(noise), answer17...)...)}, "17: 1 0 0, junk 0"},
		{"two frames in one burst", false, []appliance.Frame{unasked(0, append(slices.Clone(answer17), answer17...)...)}, "17: 2 0 0, junk 0"},
		{"two pieces of a frame", false, []appliance.Frame{unasked(0, answer17[:3]...), unasked(gap, answer17[3:]...)}, "17: 1 0 0, junk 0"},
		{"two pieces that do not belong together", false, []appliance.Frame{unasked(0, answer17[:3]...), unasked(gap+1, answer17[3:]...)}, "junk 2"},
		{"more than a burst has", false, []appliance.Frame{unasked(0, bytes.Repeat(noise, mostPiece/2)...), unasked(gap, noise...)}, "junk 2"},
		{"all that a burst has", false, []appliance.Frame{unasked(0, bytes.Repeat(noise, mostPiece/2-1)...), unasked(gap, noise...)}, "junk 1"},
		{"noise", false, []appliance.Frame{unasked(0, noise...)}, "junk 1"},
		{"noise on the heels of an answer", false, []appliance.Frame{got(0, answer5), unasked(gap-1, noise...)}, "junk 0"},
		{"noise after an answer", false, []appliance.Frame{got(0, answer5), unasked(gap, noise...)}, "junk 1"},
		{"noise while an answer was awaited", false, []appliance.Frame{other(0, noise...)}, "junk 0"},
		{"noise on the heels of it", false, []appliance.Frame{other(0, noise...), unasked(gap-1, noise...)}, "junk 0"},
		{"a frame while an answer was awaited", false, []appliance.Frame{other(0, answer17...)}, "17: 1 0 0, junk 0"},
		{"another master", false, []appliance.Frame{unasked(0, question17...), unasked(time.Second, answer17...)}, "17: 2 1 0, junk 0"},
		{"an echo", false, []appliance.Frame{sent(0, question5), unasked(1, question5...)}, "junk 0"},
		{"a question that was not the last", false, []appliance.Frame{sent(0, question5), sent(1, question17), unasked(2, question5...)}, "5: 1 1 0, junk 0"},
		{"a late answer", false, []appliance.Frame{sent(0, question5), unasked(lateLongest-1, answer5...)}, "late 5, junk 0"},
		{"one that is too late for that", false, []appliance.Frame{sent(0, question5), unasked(lateLongest, answer5...)}, "5: 1 0 0, junk 0"},
		{"a late refusal", false, []appliance.Frame{sent(0, question5), unasked(1, rtuFrame(5, []byte{0x83, 2})...)}, "late 5, junk 0"},
		{"one to another question", false, []appliance.Frame{sent(0, question5), unasked(1, rtuFrame(5, []byte{4, 2, 1, 2})...)}, "5: 1 0 0, junk 0"},
		{"one of another unit", false, []appliance.Frame{sent(0, question5), unasked(1, answer17...)}, "17: 1 0 0, junk 0"},
		{"a second answer, in a scan", false, []appliance.Frame{sent(0, question5), got(1, answer5), unasked(gap+1, answer5...)}, "late 5, junk 0"},
		{"a second answer, at work", true, []appliance.Frame{sent(0, question5), got(1, answer5), unasked(gap+1, answer5...)}, "5: 1 0 0, junk 0"},
		{"a second answer that says something else", true, []appliance.Frame{sent(0, question5), got(1, answer5), unasked(gap+1, another5...)}, "5: 1 0 1, junk 0"},
		{"one of another form", true, []appliance.Frame{sent(0, question5), got(1, answer5), unasked(gap+1, rtuFrame(5, []byte{0x83, 2})...)}, "5: 1 0 0, junk 0"},
		{"something else after a write", true, []appliance.Frame{sent(0, written5), got(1, written5), unasked(gap+1, rtuFrame(5, []byte{6, 0, 0, 0, 2})...)}, "5: 1 0 0, junk 0"},
		{"next to nothing in place of an answer", true, []appliance.Frame{sent(0, question5), got(1, answer5[:1])}, "junk 0"},
		{"nothing in place of an answer", true, []appliance.Frame{sent(0, question5), got(1, nil)}, "junk 0"},
	} {
		e := &eavesdropper{gap: gap, strict: tc.strict, askedAt: map[byte]time.Time{}, late: map[byte]bool{}, units: map[byte]*talker{}, answers: map[byte][]byte{}}
		e.take(tc.frames)
		var list []string
		for _, n := range slices.Sorted(maps.Keys(e.units)) {
			u := e.units[n]
			list = append(list, fmt.Sprintf("%d: %d %d %d", n, u.times, u.requests, u.followed))
		}
		for _, n := range slices.Sorted(maps.Keys(e.late)) {
			list = append(list, fmt.Sprintf("late %d", n))
		}
		if got := strings.Join(append(list, fmt.Sprintf("junk %d", e.junk.times)), ", "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// A burst that may go on is not sorted yet.
func TestABurstThatMayGoOnIsNotSorted(t *testing.T) {
	e := &eavesdropper{gap: time.Hour, units: map[byte]*talker{}}
	e.take([]appliance.Frame{{At: time.Now(), Direction: appliance.FrameDiscarded, Note: line.NoteUnasked, Bytes: []byte{0xF8}}})
	if len(e.piece) != 1 || e.anything() {
		t.Errorf("sorted already: %+v", e.junk)
	}
	if e.flush(); e.junk.times != 1 || len(e.piece) > 0 {
		t.Errorf("not sorted when it is over: %+v", e.junk)
	}
}

// A scan names the units that talk more often than by chance, and of noise says that there is some, unless who talks explains it.
func TestWhomAScanSaysToTalk(t *testing.T) {
	talks, asks := talker{times: chance + 1, sample: []byte{17, 3}}, talker{times: 4, requests: 2, sample: []byte{17, 3}}
	for _, tc := range []struct {
		name  string
		unit  talker
		junk  int
		sure  bool // noise was in the way
		named bool // it was told already that somebody makes noise
		want  string
	}{
		{name: "nobody"},
		{name: "nobody, and answers were damaged", sure: true},
		{name: "a unit by chance", unit: talker{times: chance}},
		{name: "a unit by chance, and answers were damaged", unit: talker{times: chance}, sure: true},
		{name: "a unit", unit: talks, want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 3 times"},
		{name: "a unit that is asked now and then", unit: talker{times: 5, requests: 2, sample: []byte{17, 3}}, want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 5 times"},
		{name: "another master", unit: asks, want: "17 ANOTHER MASTER asks unit 17: 4 questions"},
		{name: "noise by chance", junk: chance},
		{name: "noise that was in the way", junk: 1, sure: true, want: " SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 1 times"},
		{name: "noise", junk: chance + 1, want: " SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 3 times"},
		{name: "noise of a unit that talks", unit: talks, junk: chance + 1, want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 3 times"},
		{name: "noise that was told before", unit: talks, junk: 4, named: true,
			want: "17 UNIT 17 TALKS WITHOUT BEING ASKED: 3 times;  SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 4 times"},
		{name: "noise beside a unit by chance", unit: talker{times: chance}, junk: chance + 1, want: " SOMEBODY TALKS WITHOUT BEING ASKED, and it is no Modbus frame: 3 times"},
	} {
		e := &eavesdropper{units: make(map[byte]*talker)}
		e.named, e.junk = tc.named, talker{times: tc.junk, sample: []byte{0xFF}}
		if tc.unit.times > 0 {
			e.units[17] = &tc.unit
		}
		var got []string
		for _, f := range e.found(tc.sure) {
			said, sample, _ := strings.Cut(f.Detail, " while ")
			got = append(got, f.Address+" "+said)
			if f.Finding != appliance.FoundBabble || !strings.Contains(sample, "such as ") || f.Advice == "" {
				t.Errorf("%s: told as %+v", tc.name, f)
			}
		}
		if got := strings.Join(got, "; "); got != tc.want {
			t.Errorf("%s: told %q, want %q", tc.name, got, tc.want)
		}
		if noise := strings.Contains(tc.want, "SOMEBODY"); e.named != (tc.named || noise) {
			t.Errorf("%s: remembered %v that somebody makes noise was told", tc.name, e.named)
		}
	}
}
