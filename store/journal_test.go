package store

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

var morning = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

// someBatch is what one moment of a small building leaves behind.
func someBatch(n int) appliance.Batch {
	at := morning.Add(time.Duration(n) * time.Second)
	return appliance.Batch{
		States: []appliance.Saved{
			{Ref: appliance.Ref{Node: 1, Channel: 1}, LastLevel: 40, At: at, Values: appliance.Values{
				Has: appliance.CanDim | appliance.CanColour | appliance.CanMeasure, Level: appliance.Level(n % 101),
				RGBW: appliance.RGBW{R: 255, G: 1, B: 2, W: 254}, Power: -3.25}},
			{Ref: appliance.Ref{Shade: 5001}, At: at, Values: appliance.Values{
				Has: appliance.CanMove | appliance.CanPosition, Motion: appliance.Opening, Position: 33}},
		},
		Entries: []appliance.Entry{someEntry(n, 2)},
	}
}

func someEntry(n, members int) appliance.Entry {
	at := morning.Add(time.Duration(n) * time.Second)
	e := appliance.Entry{
		ID: fmt.Sprintf("%012d", n),
		Command: appliance.Command{Kind: appliance.LightRGBW, Target: appliance.Target{Scope: appliance.InCluster, ID: 4}, Channel: 2,
			Level: 50, KeepLevel: true, Kelvin: 3000, RGBW: appliance.RGBW{R: 1, G: 2, B: 3, W: 4}, Position: 7,
			Origin: appliance.Origin{Who: "anna", Via: "public-api", Why: "dark"}, Expiry: at.Add(2 * time.Second)},
		AcceptedAt: at, DoneAt: at.Add(30 * time.Millisecond), Err: "1 of 2 failed",
	}
	for i := range members {
		m := appliance.Member{Ref: appliance.Ref{Node: appliance.ID(i + 1), Channel: 1}, Stage: appliance.StageObserved,
			SentAt: at, AcknowledgedAt: at.Add(12345 * time.Microsecond), ObservedAt: at.Add(20 * time.Millisecond)}
		if i == 1 {
			m = appliance.Member{Ref: appliance.Ref{Shade: 5001}, Stage: appliance.StageFailed, Err: "no answer", Offline: true}
		}
		e.Members = append(e.Members, m)
	}
	return e
}

func TestStateAndLedgerSurviveARestart(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	want := someBatch(1)
	for _, b := range []appliance.Batch{someBatch(0), {}, want} {
		if err := s.SaveBatch(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	s = reopen(t, s)
	states, err := s.LoadStates(t.Context())
	if err != nil || !reflect.DeepEqual(states, want.States) {
		t.Errorf("states %+v (%v)\nwant %+v", states, err, want.States)
	}
	entries, err := s.Entries(t.Context(), 1, "")
	if err != nil || !reflect.DeepEqual(entries, want.Entries) {
		t.Errorf("entries %+v (%v)\nwant %+v", entries, err, want.Entries)
	}
}

// What is turned round or corrected has the time of its last reading still.
func TestChangedStateOfTheSameTimeIsSaved(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	v := appliance.Saved{Ref: appliance.Ref{Shade: 5001}, At: morning}
	for name, change := range map[string]func(){
		"has":        func() { v.Has = appliance.CanMove | appliance.CanPosition },
		"position":   func() { v.Position = 70 },
		"motion":     func() { v.Motion = appliance.Closing },
		"level":      func() { v.Level = 12 },
		"kelvin":     func() { v.Kelvin = 3500 },
		"colour":     func() { v.RGBW = appliance.RGBW{B: 7} },
		"power":      func() { v.Power = 0.5 },
		"last level": func() { v.LastLevel = 99 },
		"certainty":  func() { v.Uncertainty = 17 },
	} {
		change()
		for range 2 {
			if err := s.SaveBatch(t.Context(), appliance.Batch{States: []appliance.Saved{v}}); err != nil {
				t.Fatal(err)
			}
		}
		if states, err := s.LoadStates(t.Context()); err != nil || !reflect.DeepEqual(states, []appliance.Saved{v}) {
			t.Errorf("%s: states %+v (%v)\nwant %+v", name, states, err, v)
		}
	}
}

func TestUnchangedStateCostsNoWrite(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	changes := func() (n int) {
		if err := s.db.Load().behind.QueryRow("SELECT total_changes()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	batch := appliance.Batch{States: someBatch(1).States}
	for i, want := range []int{len(batch.States), 0, 1} {
		if i == 2 {
			batch.States[1].Position++
		}
		before := changes()
		if err := s.SaveBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if got := changes() - before; got != want {
			t.Errorf("batch %d writes %d rows, want %d", i+1, got, want)
		}
	}
}

func TestEveryKindAndStageIsKept(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var want []appliance.Entry
	for kind := appliance.LightOn; kind <= appliance.ShadeMoveTo; kind++ {
		e := someEntry(int(kind), 0)
		e.Command.Kind = kind
		for stage := appliance.StageAccepted; stage <= appliance.StageFailed; stage++ {
			e.Members = append(e.Members, appliance.Member{Stage: stage})
		}
		want = append([]appliance.Entry{e}, want...)
	}
	want[0] = someEntry(int(appliance.ShadeMoveTo), 2000) // long enough to be deflated
	if err := s.SaveBatch(t.Context(), appliance.Batch{Entries: want}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Entries(t.Context(), 100, "")
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d entries (%v), want %d", len(got), err, len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("entry %s with %d members is not what was saved", want[i].ID, len(want[i].Members))
		}
	}
	if body, err := packEntry(want[0]); err != nil || len(body) > 30_000 {
		t.Errorf("an entry of 2,000 members takes %d bytes (%v), want at most 30,000", len(body), err)
	}
}

func TestEntryIsReplacedByItsOutcome(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	e := someEntry(1, 2)
	running := e
	running.DoneAt = time.Time{}
	for _, v := range []appliance.Entry{running, e} {
		if err := s.SaveBatch(t.Context(), appliance.Batch{Entries: []appliance.Entry{v}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Entries(t.Context(), 10, ""); err != nil || !reflect.DeepEqual(got, []appliance.Entry{e}) {
		t.Errorf("entries %+v (%v), want only the finished one", got, err)
	}
}

func TestLedgerKeepsTheNewest(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var b appliance.Batch
	for n := range maxHistory + 25 {
		b.Entries = append(b.Entries, someEntry(n, 0))
		if len(b.Entries) == 1000 || n == maxHistory+24 {
			if err := s.SaveBatch(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			b.Entries = nil
		}
	}
	page, err := s.Entries(t.Context(), 10, "")
	if err != nil || len(page) != 10 || page[0].ID != fmt.Sprintf("%012d", maxHistory+24) {
		t.Fatalf("first page %+v (%v), want the newest 10", page, err)
	}
	next, err := s.Entries(t.Context(), maxHistory, page[9].ID)
	if err != nil || len(next) != maxHistory-10 || next[0].ID >= page[9].ID || next[len(next)-1].ID != fmt.Sprintf("%012d", 25) {
		t.Errorf("the rest: %d entries (%v), want %d down to number 25", len(next), err, maxHistory-10)
	}
	if none, err := s.Entries(t.Context(), -1, ""); err != nil || len(none) != 0 {
		t.Errorf("a negative limit gives %d entries (%v)", len(none), err)
	}
}

func TestRetiredThingsLeaveNoState(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	if err := s.SaveBatch(t.Context(), someBatch(1)); err != nil {
		t.Fatal(err)
	}
	imports(t, s, appliance.Site{}, ImportOptions{Replace: true})
	if states, err := s.LoadStates(t.Context()); err != nil || len(states) != 0 {
		t.Errorf("states %+v (%v), want none", states, err)
	}
}

func TestWrittenBehindIsSyncedSoon(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := s.SaveBatch(t.Context(), someBatch(1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the keeper synced the log", func() bool { return s.keeper.synced.Load() > 0 })
}

// written is how many bytes this process caused to be written to disk.
func written(t testing.TB) int64 {
	for line := range strings.Lines(readFile(t, "/proc/self/io")) {
		if text, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("/proc/self/io has no write_bytes")
	return 0
}

// BenchmarkSmallBatch measures bytes written to disk per batch of a building of
// 160 things in which a few change, log and checkpoints included, each batch
// synced by itself as if seconds lay between them.
func BenchmarkSmallBatch(b *testing.B) {
	for _, changed := range []int{1, 5, 160} {
		for _, entries := range []int{0, 1} {
			b.Run(fmt.Sprintf("states=%d/entries=%d", changed, entries), func(b *testing.B) {
				dir := b.TempDir()
				if fs := os.Getenv("STORE_DIR"); fs != "" { // a disk that counts, where /tmp is memory
					dir = fs + "/" + fmt.Sprint(changed, entries, b.N)
				}
				s := open(b, dir)
				saveBuilding(b, s, 160, 0, 0)
				before := written(b)
				for n := range b.N {
					saveBuilding(b, s, changed, entries, n+1)
					s.syncLog()
				}
				b.ReportMetric(float64(written(b)-before)/float64(b.N), "disk-B/op")
			})
		}
	}
}

func saveBuilding(b *testing.B, s *Store, changed, entries, n int) {
	var batch appliance.Batch
	for i := range changed {
		node := appliance.ID(1 + (i+n*7)%160)
		batch.States = append(batch.States, appliance.Saved{Ref: appliance.Ref{Node: node, Channel: 1}, LastLevel: 50,
			At: morning.Add(time.Duration(n) * time.Second), Values: appliance.Values{Has: appliance.CanDim | appliance.CanMeasure, Level: 50, Power: float64(n) / 7}})
	}
	for range entries {
		batch.Entries = append(batch.Entries, someEntry(n, 10))
	}
	if err := s.SaveBatch(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
}
