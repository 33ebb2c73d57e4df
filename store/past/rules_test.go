package past

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A block of which one byte is another is none, nor is one that is shorter than it says.
func TestABlockIsWholeOrNone(t *testing.T) {
	t.Parallel()
	payload := appendMoment(nil, 5, []change{{key{1, 1, levelOne}, known(40)}, {key{2, 2, powerOther}, wattCode(-3)}})
	slot := make([]byte, headerSize+len(payload))
	h := header{number: 7, run: 3, begin: 1000, set: -5, follows: 2, seconds: 9, writings: 4, length: uint16(len(payload)), full: true}
	copy(slot[headerSize:], payload)
	h.put(slot, payload)
	if got, err := readHeader(slot); err != nil || got != h {
		t.Errorf("%+v, %v; want %+v", got, err, h)
	}
	if got, err := payloadOf(slot); err != nil || !bytes.Equal(got, payload) {
		t.Errorf("% x, %v", got, err)
	}
	for i := range slot {
		slot[i] ^= 0x10
		_, err := readHeader(slot)
		if _, all := payloadOf(slot); (err == nil) != (i >= headerSize) || all == nil {
			t.Errorf("with another byte %d: header %v, payload %v", i, err, all)
		}
		slot[i] ^= 0x10
	}
	if _, err := payloadOf(slot[:len(slot)-1]); err == nil {
		t.Error("a byte is missing, and it is whole")
	}
	h.put(slot, make([]byte, payloadMost+1))
	if _, err := readHeader(slot); err == nil {
		t.Error("it says that it is larger than a slot")
	}
}

// A payload that ends too soon, or tells of no kind, tells what came before, and that it is not whole.
func TestAPayloadThatEndsTooSoon(t *testing.T) {
	t.Parallel()
	want := []change{{key{1, 1, levelOne}, known(40)}, {key{300, 70, powerOther}, wattCode(-3000)}, {key{5001, 0, position}, known(7)}}
	payload := appendMoment(nil, 70000, want)
	told := func(payload []byte, most int) (got []change, err error) {
		err = eachChange(payload, func(_ int64, c change) bool { got = append(got, c); return len(got) < most })
		return got, err
	}
	for n := 1; n < len(payload); n++ {
		if got, err := told(payload[:n], 9); err == nil || len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("%d of %d bytes: %v, %v", n, len(payload), got, err)
		}
	}
	if got, err := told(payload, 2); err != nil || len(got) != 2 {
		t.Errorf("who wants to know no more is told %v, %v", got, err)
	}
	if got, err := told([]byte{0, 1, 2<<3 | byte(kindsEnd), 1, 0, 1, 2 << 3, 1}, 9); err == nil || len(got) > 0 {
		t.Errorf("no kind: %v, %v", got, err)
	}
}

// What is noted of a thing is what it has: not what it had before a restart or fell silent, and of a shade where it stands.
func TestWhatIsNotedOfAThing(t *testing.T) {
	t.Parallel()
	known := func(source appliance.Source) appliance.Known[appliance.Level] {
		return appliance.Known[appliance.Level]{Value: 40, At: epoch, Source: source}
	}
	for name, row := range map[string]struct {
		level appliance.Known[appliance.Level]
		can   appliance.Ability
		watts appliance.Known[float64]
		away  bool
		want  string // level and power of channel 2
	}{
		"read":                    {level: known(appliance.Measured), can: appliance.CanMeasure, watts: read(7.), want: "[1:40] [1:7]"},
		"acknowledged":            {level: known(appliance.Acknowledged), want: "[1:40] []"},
		"of before a restart":     {level: known(appliance.Restored), can: appliance.CanMeasure, watts: appliance.Known[float64]{Value: 7, Source: appliance.Restored}, want: "[] []"},
		"not known":               {level: appliance.Known[appliance.Level]{Value: 40}, can: appliance.CanMeasure, watts: appliance.Known[float64]{Value: 7}, want: "[] []"},
		"offline":                 {level: known(appliance.Measured), can: appliance.CanMeasure, watts: read(7.), away: true, want: "[] []"},
		"a power that it has not": {level: known(appliance.Measured), watts: read(7.), want: "[1:40] []"},
	} {
		b := newBuilding(t, 1, 0)
		b.keep(newMemory(), ringSlots)
		b.change(func(s *appliance.Snapshot) {
			n := *s.Nodes[0]
			n.Online = !row.away
			n.Channels = append(slices.Clone(n.Channels), appliance.ChannelState{Channel: appliance.Channel{Abilities: appliance.CanDim | row.can}, Level: row.level, Power: row.watts})
			s.Nodes[0] = &n
		})
		b.pass(powerEvery + 1)
		second := func(a appliance.Aspect) func(appliance.Track) bool {
			return func(t appliance.Track) bool { return t.Ref == appliance.Ref{Node: 1, Channel: 2} && t.Aspect == a }
		}
		got := strings.Join([]string{"[" + strings.Join(words(b.replayed(epoch, b.wall, second(appliance.LevelAspect))), " ") + "]", "[" + strings.Join(words(b.replayed(epoch, b.wall, second(appliance.PowerAspect))), " ") + "]"}, " ")
		if got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
	for name, row := range map[string]struct {
		source appliance.Source
		motion appliance.Motion
		away   bool
		want   string // position, reachability
	}{
		"stands":              {appliance.Estimated, appliance.Stopped, false, "1:30 1:1"},
		"of before a restart": {appliance.Restored, appliance.Stopped, false, "1:30 1:1"},
		"moves":               {appliance.Estimated, appliance.Moving, false, "1:1"},
		"opens":               {appliance.Estimated, appliance.Opening, false, "1:1"},
		"closes":              {appliance.Estimated, appliance.Closing, false, "1:1"},
		"fell silent":         {appliance.Estimated, appliance.Stopped, true, "1:0"},
		"nowhere":             {appliance.Unknown, appliance.Stopped, false, "1:1"},
	} {
		b := newBuilding(t, 0, 1)
		b.keep(newMemory(), ringSlots)
		b.change(func(s *appliance.Snapshot) {
			sh := *s.Shades[0]
			sh.Position, sh.Motion, sh.Online = appliance.Known[appliance.Position]{Value: 30, Source: row.source}, row.motion, !row.away
			s.Shades[0] = &sh
		})
		b.pass(2)
		at := func(a appliance.Aspect) []string {
			return words(b.replayed(epoch, b.wall, func(t appliance.Track) bool { return t.Shade == 5001 && t.Aspect == a }))
		}
		if got := strings.Join(append(at(appliance.PositionAspect), at(appliance.OnlineAspect)...), " "); got != row.want {
			t.Errorf("a shade that %s: %s, want %s", name, got, row.want)
		}
	}
	// One on its way falls silent: where it is nobody knows.
	b := newBuilding(t, 0, 1)
	b.keep(newMemory(), ringSlots)
	b.move(0, 30, appliance.Stopped)
	b.pass(1)
	b.move(0, 40, appliance.Opening)
	b.pass(1)
	b.change(func(s *appliance.Snapshot) {
		sh := *s.Shades[0]
		sh.Online = false
		s.Shades[0] = &sh
	})
	b.pass(1)
	same(t, "a shade that fell silent on its way", b.replayed(epoch, b.wall.Add(time.Second), func(t appliance.Track) bool { return t.Aspect == appliance.PositionAspect }), "1:30", "3:-")
}

// What leaves the site ends, shades and channels as well, and is told anew when it is back as it was.
func TestWhatLeavesTheSiteAndComesBack(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 1)
	b.keep(newMemory(), ringSlots)
	b.change(func(s *appliance.Snapshot) {
		n := *s.Nodes[0]
		n.Channels = append(slices.Clone(n.Channels), appliance.ChannelState{Channel: appliance.Channel{Abilities: appliance.CanDim}, Level: read(appliance.Level(20))})
		s.Nodes[0] = &n
	})
	b.move(0, 30, appliance.Stopped)
	before := b.snap
	b.pass(10)
	b.change(func(s *appliance.Snapshot) {
		site := *s.Site
		site.Shades = nil
		n := *s.Nodes[0]
		n.Channels = n.Channels[:1]
		s.Site, s.Index, s.Shades, s.Nodes[0] = &site, appliance.NewIndex(&site), nil, &n
	})
	b.pass(10)
	b.change(func(s *appliance.Snapshot) {
		s.Site, s.Index, s.Shades, s.Nodes = before.Site, before.Index, before.Shades, before.Nodes
	})
	b.pass(10)
	same(t, "the shade", b.replayed(epoch, b.wall, func(t appliance.Track) bool { return t.Aspect == appliance.PositionAspect }), "1:30", "11:-", "21:30")
	same(t, "reachability of it", b.replayed(epoch, b.wall, func(t appliance.Track) bool { return t.Shade != 0 && t.Aspect == appliance.OnlineAspect }), "1:1", "11:-", "21:1")
	same(t, "the channel", b.replayed(epoch, b.wall, func(t appliance.Track) bool { return t.Channel == 2 }), "1:20", "11:-", "21:20")
}

// Where there is no credit nothing is noted, and powers wait while there is little; what waited is noted when there is some.
func TestWhatWaitsForCredit(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	b.keep(newMemory(), ringSlots)
	b.pass(1)
	for _, row := range []struct {
		credit float64
		level  appliance.Level
		noted  string // levels and powers so far
	}{{powerCredit - 100, 30, "2:30 "}, {0, 50, "2:30 "}, {creditMost, 50, "2:30 4:50 4:5"}} {
		b.r.credit = row.credit - dayMost/(24*3600.) // of the second until it is looked
		b.r.looks = powerEvery - 2
		b.dim(0, row.level)
		b.pass(1)
		got := strings.Join(words(b.replayed(epoch, b.wall.Add(time.Second), of(1, appliance.LevelAspect))), " ") + " " +
			strings.Join(words(b.replayed(epoch, b.wall.Add(time.Second), of(1, appliance.PowerAspect))), " ")
		if got != row.noted {
			t.Errorf("with a credit of %v: %q, want %q", row.credit, got, row.noted)
		}
	}
	// What is noted costs its bytes.
	b.r.credit = creditMost / 2
	length := len(b.r.now.payload)
	b.dim(0, 70)
	b.pass(1)
	if bytes, cost := len(b.r.now.payload)-length, creditMost/2+dayMost/(24*3600.)-b.r.credit; bytes == 0 || math.Abs(cost-float64(bytes)) > 0.1 {
		t.Errorf("%d bytes more cost %v", bytes, cost)
	}
}

// The present block is written each five minutes in which something changed, else once an hour; and at the end.
func TestWhenItIsWritten(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	d := newMemory()
	b.keep(d, ringSlots)
	b.dim(0, 10)
	b.pass(290)
	n := len(d.writes)
	count := func(what string, want int) {
		t.Helper()
		if got := len(d.writes) - n; got != want {
			t.Errorf("%s: written %d times, want %d", what, got, want)
		}
		n = len(d.writes)
	}
	b.pass(20)
	count("five minutes after something changed", 1)
	b.pass(3 * 3600)
	count("three quiet hours", 3)
	for range 360 {
		b.dim(0, 10+(b.snap.Nodes[0].Channels[0].Level.Value+1)%2)
		b.pass(10)
	}
	count("an hour in which it changed all the time", 12)
	b.dim(0, 90)
	b.pass(1)
	last := b.wall
	b.pass(1)
	b.r.close()
	count("at the end", 1)
	b.keep(d, ringSlots)
	b.pass(10)
	if got := b.replayed(last.Add(-2*time.Second), b.wall, of(1, appliance.LevelAspect)); !slices.ContainsFunc(got, func(p appliance.Past) bool { return p.At.Equal(last) && p.Value == 90 }) {
		t.Errorf("around the end it is told as %v", words(got))
	}
}

// The end of the program writes what is not written yet, and closes the file.
func TestTheEndWritesWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, d := newBuilding(t, 1, 0), &closing{memory: newMemory()}
		b.keep(d, ringSlots)
		began := time.Now()
		b.r.clock.Wall, b.r.clock.Mono = time.Now, func() time.Duration { return time.Since(began) }
		ctx, cancel := contextOf(t)
		done := make(chan error)
		b.dim(0, 40)
		go func() { done <- b.r.Run(ctx, func() *appliance.Snapshot { return b.snap }) }()
		time.Sleep(2500 * time.Millisecond)
		cancel()
		if err := <-done; err != nil || d.closed != 1 {
			t.Errorf("closed %d times, %v", d.closed, err)
		}
		b.wall, b.mono = time.Now(), 0
		b.r.clock.Wall = time.Now
		b.keep(d, ringSlots)
		b.pass(1)
		if got := b.replayed(began, b.wall, of(1, appliance.LevelAspect)); len(got) == 0 || got[0].Value != 40 {
			t.Errorf("kept %v", words(got))
		}
	})
}

// A disk that takes nothing is tried once a minute; that is told once, and that it takes something again; what is not kept is not told as if it were.
func TestTroubleIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	d := &closing{memory: newMemory()}
	b.keep(d, ringSlots)
	var log bytes.Buffer
	b.r.log = slog.New(slog.NewTextHandler(&log, nil))
	b.dim(0, 10)
	b.pass(600)
	d.refuse = syscall.ENOSPC
	b.dim(0, 20)
	b.pass(30)
	same(t, "while nothing is kept", b.replayed(epoch, b.wall, of(1, appliance.LevelAspect)))
	b.pass(570)
	if lost := strings.Count(log.String(), "no history is kept"); lost != 1 || d.tried > 8 {
		t.Errorf("told %d times, tried %d times in ten minutes", lost, d.tried)
	}
	d.refuse = nil
	b.pass(600)
	if lost, again := strings.Count(log.String(), "no history is kept"), strings.Count(log.String(), "history is kept again"); lost != 1 || again != 1 {
		t.Errorf("told %d times that nothing is kept and %d times that it is again:\n%s", lost, again, log.String())
	}
}

// A run that hears what time it is while its clock agrees is as good as one that knew: set later, it leaves what was noted where it is.
func TestAClockThatProvesRight(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	b.right = false
	b.keep(newMemory(), ringSlots)
	b.dim(0, 10)
	b.pass(10)
	b.right = true
	b.pass(1)
	b.right = false
	b.wall = b.wall.Add(time.Hour)
	b.pass(1)
	same(t, "level", b.replayed(epoch, b.wall, of(1, appliance.LevelAspect)), "1:10", "12:-")
}

// Nothing is told of longer ago than is kept.
func TestNothingIsToldOfLongAgo(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	b.keep(newMemory(), ringSlots)
	b.dim(0, 10)
	b.pass(10)
	b.mono += Kept
	b.wall = b.wall.Add(Kept)
	b.r.look(b.snap)
	same(t, "from the begin", b.replayed(epoch, b.wall, of(1, appliance.LevelAspect)), "10:10")
}

// full is a ring of n slots, each with a block, of a memory.
func full(t *testing.T, n int) (*ring, *memory) {
	t.Helper()
	d := newMemory()
	r, err := openRing(d, n)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := r.put(header{number: r.number, run: 1, begin: int64(r.number) * 1000, full: r.number == 1}, []byte{byte(r.number)}); err != nil {
			t.Fatal(err)
		}
		r.number++
	}
	return r, d
}

// A ring grows while there is room for it and the database, and stays as it is where there is none.
func TestARingGrowsWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	for room, grows := range map[int64]bool{spare + growth*slotSize: true, spare + growth*slotSize - 1: false} {
		d := newMemory()
		r, err := openRing(d, 3*growth)
		if err != nil {
			t.Fatal(err)
		}
		d.room = room
		size := len(d.data)
		err = r.put(header{number: 1, run: 1}, []byte{1})
		if (err == nil) != grows || !grows && (!errors.Is(err, errNoRoom) || len(d.data) != size || len(r.blocks) > 0) {
			t.Errorf("with room for %d: %v, %d bytes, %d blocks", room, err, len(d.data), len(r.blocks))
		}
	}
	d := newMemory()
	d.refuse = syscall.EIO
	if _, err := openRing(d, 3); err == nil || len(d.data) > 0 {
		t.Errorf("a disk that takes nothing: %v, %d bytes", err, len(d.data))
	}
}

// A ring that went round is opened as it was: its blocks in order, the oldest next to go, numbers going on.
func TestARingThatWentRound(t *testing.T) {
	t.Parallel()
	r, d := full(t, 5)
	for range 2 {
		if err := r.put(header{number: r.number, run: 1}, []byte{byte(r.number)}); err != nil {
			t.Fatal(err)
		}
		r.number++
	}
	again, err := openRing(d, 5)
	if err != nil {
		t.Fatal(err)
	}
	if again.number != 8 || again.next != 2 || !slices.Equal(again.blocks, r.blocks) {
		t.Errorf("number %d, next slot %d, blocks %v; want %v", again.number, again.next, again.blocks, r.blocks)
	}
	// Whoever still reads what was there before is not told what is there now.
	old := again.blocks[0]
	if got, err := again.read(old); err != nil || got[0] != byte(old.number) {
		t.Errorf("block %d: %v, %v", old.number, got, err)
	}
	if err := again.put(header{number: 8, run: 1}, []byte{8}); err != nil {
		t.Fatal(err)
	}
	if got, err := again.read(old); !errors.Is(err, errNoBlock) {
		t.Errorf("block %d is overwritten and reads %v, %v", old.number, got, err)
	}
}

// A clock that is set moves the runs that followed one another to it, once, however often the file is opened.
func TestRunsAreMovedOnce(t *testing.T) {
	t.Parallel()
	d := newMemory()
	r, err := openRing(d, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []header{{number: 1, run: 1, begin: 1000}, {number: 2, run: 2, begin: 2000, follows: 1, set: 50}, {number: 3, run: 2, begin: 3000}, {number: 4, run: 4, begin: 9000, follows: 2, set: 600}, {number: 5, run: 5, begin: 10000}} {
		if err := r.put(h, []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	want := []int64{1650, 2600, 3600, 9000, 10000}
	for opened := range 3 {
		r.settle(header{run: 4, follows: 2, set: 600}) // which was done
		var begins []int64
		for _, b := range r.blocks {
			begins = append(begins, b.begin)
		}
		if !slices.Equal(begins, want) {
			t.Errorf("opened %d times: %v, want %v", opened, begins, want)
		}
		if r, err = openRing(d, 8); err != nil {
			t.Fatal(err)
		}
	}
}

// A block in the middle that cannot be read is a gap: what was known before is not known in it, and is told again behind it.
func TestABlockThatIsMissingIsAGap(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	d := newMemory()
	b.keep(d, ringSlots)
	b.dim(0, 40)
	b.pass(4 * 24 * 3600)
	v, err := b.r.view()
	if err != nil || len(v.blocks) < 4 {
		t.Fatal(err, len(v.blocks))
	}
	gone := v.blocks[1]
	d.data[b.r.ring.offset(int(gone.slot))+headerSize] ^= 1
	got := b.replayed(epoch, b.wall, of(1, appliance.LevelAspect))
	from, to := time.UnixMilli(gone.begin).UTC(), time.UnixMilli(v.blocks[2].begin).UTC()
	if len(got) != 3 || got[1].Known || !got[1].At.Equal(from) || !got[2].Known || got[2].Value != 40 || !got[2].At.Equal(to) {
		t.Errorf("%v, want a gap from %v to %v", words(got), from, to)
	}
}
