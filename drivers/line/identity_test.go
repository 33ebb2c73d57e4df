package line

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// An adapter is known again by its name and its socket: where the two disagree, the less certain is believed only after a while,
// and somebody else's adapter in another socket never is.
func TestAnAdapterIsKnownAgain(t *testing.T) {
	const id, path = "serial/by-id/mine", "serial/by-path/here"
	for _, row := range []struct {
		what   string
		links  map[string]string // to devices
		noID   bool
		noPath bool
		waited time.Duration
		finds  string // a device; empty: none
		why    string
	}{
		{what: "as it was", links: map[string]string{id: "tty0", path: "tty0"}, finds: "tty0"},
		{what: "under another name", links: map[string]string{id: "tty3", path: "tty3"}, finds: "tty3"},
		{what: "gone", why: "mine is not there: is the adapter plugged in?"},
		{what: "in another socket, at first", links: map[string]string{id: "tty1"}, waited: movedGrace - 1, why: "waiting for the others to settle"},
		{what: "in another socket", links: map[string]string{id: "tty1"}, waited: movedGrace, finds: "tty1"},
		{what: "another one in its socket, and it elsewhere", links: map[string]string{id: "tty1", path: "tty0", "serial/by-id/other": "tty0"}, finds: "tty1"},
		{what: "another one in its socket, at first", links: map[string]string{path: "tty0", "serial/by-id/other": "tty0"}, waited: replacedGrace, why: "waiting for the others to settle"},
		{what: "another one in its socket", links: map[string]string{path: "tty0", "serial/by-id/other": "tty0"}, waited: replacedGrace + 1, finds: "tty0"},
		{what: "one without a name in its socket", links: map[string]string{path: "tty0"}, finds: "tty0"},
		{what: "one without a name in its socket, and its name elsewhere", links: map[string]string{path: "tty0", id: "tty1"}, finds: "tty0"},
		{what: "it has no name", noID: true, links: map[string]string{path: "tty0", "serial/by-id/other": "tty0"}, finds: "tty0"},
		{what: "it has no name, and is gone", noID: true, why: "here is not there"},
		{what: "it has no socket", noPath: true, links: map[string]string{id: "tty1"}, finds: "tty1"},
		{what: "it has neither", noID: true, noPath: true, finds: "configured"},
		{what: "something else goes by its port", links: map[string]string{"configured": "tty5"}, why: "is not the adapter that was there before (mine)"},
	} {
		root := t.TempDir()
		for _, dir := range []string{"serial/by-id", "serial/by-path"} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, device := range row.links {
			device = filepath.Join(root, device)
			err := os.WriteFile(device, nil, 0o644)
			if err := errors.Join(err, os.Symlink(device, filepath.Join(root, name))); err != nil {
				t.Fatal(err)
			}
		}
		i := identity{byID: filepath.Join(root, id), byPath: filepath.Join(root, path)}
		if row.noID {
			i.byID = ""
		}
		if row.noPath {
			i.byPath = ""
		}
		now := time.Now()
		configured := filepath.Join(root, "configured")
		got, err := i.find(configured, root, now)
		if row.waited > 0 { // it was looked for before, in vain
			if err == nil {
				t.Errorf("%s: %s at once", row.what, got)
			}
			got, err = i.find(configured, root, now.Add(row.waited))
		}
		want := ""
		if row.finds != "" {
			want = filepath.Join(root, row.finds)
		}
		if got != want || (err == nil) != (row.why == "") || err != nil && !strings.Contains(err.Error(), row.why) {
			t.Errorf("%s: %q, %v; want %q, %q", row.what, got, err, want, row.why)
		}
	}
	if movedGrace != time.Second || replacedGrace != 5*time.Second {
		t.Error("the pauses before something less certain is believed have changed")
	}
}

// What came is judged by the protocol: what it wants more of waits, what is not for us goes, and so does what is damaged, with all that
// came with it on a line that all hear.
func TestWhatCameIsJudged(t *testing.T) {
	for _, row := range []struct {
		what    string
		verdict []Verdict // of what is left, in turn
		n       int
		serial  bool
		came    string
		frame   string
		left    string
		damaged bool
		drops   bool
		stray   int
	}{
		{what: "more is wanted", verdict: []Verdict{More}, n: 1, came: "abc", left: "abc"},
		{what: "an answer", verdict: []Verdict{Accept}, n: 2, came: "abc", frame: "ab", left: "c"},
		{what: "an answer, longer than what came", verdict: []Verdict{Accept}, n: 9, came: "abc", frame: "abc"},
		{what: "something before it", verdict: []Verdict{Skip, Accept}, n: 1, came: "abc", frame: "b", left: "c", stray: 1},
		{what: "nothing is skipped", verdict: []Verdict{Skip, Accept}, n: 0, came: "abc", frame: "", left: "bc", stray: 1},
		{what: "damage", verdict: []Verdict{Reject}, n: 2, came: "abc", left: "c", damaged: true},
		{what: "damage of nothing", verdict: []Verdict{Reject}, n: 0, came: "abc", damaged: true},
		{what: "damage on a line", verdict: []Verdict{Reject}, n: 2, serial: true, came: "abc", damaged: true},
		{what: "a stream that is broken", verdict: []Verdict{Broken}, n: 3, came: "abc", damaged: true, drops: true},
		{what: "nothing", came: ""},
	} {
		l := newIdle(t)
		if row.serial {
			l.charBits = 10
		}
		l.in.buf = []byte(row.came)
		frame, _, err := l.judge(Request{Scan: func(b []byte) (int, Verdict) {
			v := row.verdict[0]
			row.verdict = row.verdict[1:]
			return row.n, v
		}})
		var f failure
		if string(frame) != row.frame || string(l.in.buf) != row.left || errors.Is(err, appliance.ErrDamaged) != row.damaged || errors.As(err, &f) && (!f.resync || f.drop != row.drops) {
			t.Errorf("%s: %q, left %q, %v", row.what, frame, l.in.buf, err)
		}
		if l.Stray() != row.stray {
			t.Errorf("%s: %d strays, want %d", row.what, l.Stray(), row.stray)
		}
	}
}

// An answer that did not end in time is damage, and the rest of it may come; nothing at all is silence.
func TestWhatIsMissingWhenTimeIsUp(t *testing.T) {
	l := newIdle(t)
	r := Request{Timeout: 1500 * time.Millisecond}
	if err := l.timeUp(r); !errors.Is(err, appliance.ErrSilent) || !strings.Contains(err.Error(), "within 1.5s") {
		t.Error(err)
	}
	l.in.buf = []byte{1, 2}
	var f failure
	if err := l.timeUp(r); !errors.As(err, &f) || !errors.Is(err, appliance.ErrDamaged) || !f.resync || !f.drop || len(l.in.buf) > 0 || !strings.Contains(err.Error(), "after 2 bytes: 01 02") {
		t.Errorf("%+v, left % X", f, l.in.buf)
	}
	if len(clip(make([]byte, 99))) != 32 || len(clip(make([]byte, 9))) != 9 {
		t.Error("how much of it an error tells")
	}
}

// An echo is what was sent; anything else is two who send at once.
func TestWhatAnEchoIs(t *testing.T) {
	for _, row := range []struct {
		came, left string
		done       bool
		wrong      bool
	}{{"", "", false, false}, {"ab", "ab", false, false}, {"abc", "", true, false}, {"abcd", "d", true, false}, {"abx", "", false, true}, {"x", "", false, true}} {
		l := newIdle(t)
		l.in.buf, l.in.at = []byte(row.came), time.Now()
		reply := Reply{Sent: l.in.at.Add(time.Second)}
		done, err := l.compareEcho([]byte("abc"), &reply)
		var f failure
		if done != row.done || errors.Is(err, ErrEcho) != row.wrong || string(l.in.buf) != row.left || errors.As(err, &f) && (!f.resync || !f.drop) {
			t.Errorf("%q: %v, %v, left %q", row.came, done, err, l.in.buf)
		}
		if row.done && (!reply.Sent.Equal(l.in.at) || !reply.Done.Equal(l.in.at)) {
			t.Errorf("%q: sent at %v, and the echo was there at %v", row.came, reply.Sent, l.in.at)
		}
	}
}

// Where there are none, other settings of a port are refused before anything is sent; a frame lasts by those it is sent with.
func TestOtherSettingsOfAPort(t *testing.T) {
	socket := newIdle(t)
	serial := newIdle(t)
	serial.address = ""
	good, bad := &appliance.LineSettings{BaudRate: 9600, DataBits: 8, Parity: "even", StopBits: 1}, &appliance.LineSettings{BaudRate: 9600, DataBits: 8, Parity: "odd?", StopBits: 1}
	for _, row := range []struct {
		l    *Line
		at   *appliance.LineSettings
		fits bool
	}{{socket, nil, true}, {serial, nil, true}, {socket, good, false}, {serial, good, true}, {serial, bad, false}} {
		if err := row.l.checkSettings(Request{At: row.at}); (err == nil) != row.fits || err != nil && !errors.Is(err, appliance.ErrRefused) {
			t.Errorf("%+v: %v", row.at, err)
		}
	}
	if got := serial.airtimeAt(good, 96); got != 96*11*time.Second/9600 {
		t.Errorf("96 characters last %v", got)
	}
	if serial.airtimeAt(bad, 96) != 0 || serial.airtimeAt(nil, 96) != serial.Airtime(96) {
		t.Error("how long frames last")
	}
}

// What was recorded since somebody looked, and no more than is kept.
func TestWhatWasRecordedSince(t *testing.T) {
	var r Recorder
	add := func(text, note string) { r.Add(time.Now(), appliance.FrameReceived, []byte(text), note) }
	since := func(seen int, want string, total int) {
		t.Helper()
		frames, n := r.since(seen)
		var got strings.Builder
		for _, f := range frames {
			got.Write(f.Bytes)
		}
		if got.String() != want || n != total {
			t.Errorf("since %d: %q of %d, want %q of %d", seen, got.String(), n, want, total)
		}
	}
	since(0, "", 0)
	add("a", "")
	add("b", NoteUnasked)
	add("c", NoteNotForUs)
	add("d", noteDamaged)
	since(0, "abcd", 4)
	since(1, "bcd", 4)
	since(4, "", 4)
	if r.stray != 2 {
		t.Errorf("%d strays, want what came unasked and what was not for us", r.stray)
	}
}
