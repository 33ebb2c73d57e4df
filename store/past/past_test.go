package past

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// What changed is told with its time; what did not answer, or had not been read, is told as not known.
func TestChangesAreTold(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 2, 1)
	b.keep(onDisk(t), ringSlots)
	b.pass(1) // at 1 s: nothing is known yet
	b.dim(0, 40)
	b.pass(9)
	b.dim(0, 80)
	b.move(0, 30, appliance.Closing)
	b.pass(10)
	b.move(0, 20, appliance.Stopped)
	b.answers(0, false)
	b.pass(10)
	b.answers(0, true)
	b.pass(40)
	end := b.wall
	same(t, "level", b.replayed(epoch, end, of(1, appliance.LevelAspect)), "2:40", "11:80", "21:-", "31:80")
	same(t, "from the middle", b.replayed(epoch.Add(15*time.Second), end, of(1, appliance.LevelAspect)), "15:80", "21:-", "31:80")
	same(t, "to the middle", b.replayed(epoch, epoch.Add(11*time.Second), of(1, appliance.LevelAspect)), "2:40")
	same(t, "the other lamp", b.replayed(epoch, end, of(2, appliance.LevelAspect)))
	same(t, "reachability", b.replayed(epoch, end, of(1, appliance.OnlineAspect)), "1:1", "21:0", "31:1")
	position := func(track appliance.Track) bool { return track.Aspect == appliance.PositionAspect }
	same(t, "position, where it stands", b.replayed(epoch, end, position), "21:20")
	power := b.replayed(epoch, end, of(1, appliance.PowerAspect))
	if n := len(power); n == 0 || n > 4 || power[n-1].Value != 8 {
		t.Errorf("power: %v", words(power))
	}
	if !b.r.Oldest().Equal(epoch.Add(time.Second)) {
		t.Errorf("it begins at %v", b.r.Oldest())
	}
}

// Meters are never quite still: only half a watt and 2 % are a change.
func TestPowerIsCalmed(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	b.keep(newMemory(), ringSlots)
	watts := func(w float64) {
		b.change(func(s *appliance.Snapshot) {
			n := *s.Nodes[0]
			n.Channels = slices.Clone(n.Channels)
			n.Channels[0].Power = read(w)
			s.Nodes[0] = &n
		})
		b.pass(powerEvery)
	}
	for _, w := range []float64{100, 101.9, 98.1, 103, 102.6, -5, -5.4, 0.2, 0} {
		watts(w)
	}
	var got []float64
	for _, p := range b.replayed(epoch, b.wall, of(1, appliance.PowerAspect)) {
		got = append(got, p.Value)
	}
	if want := []float64{100, 103, -5, 0.2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What the site has no more ends; what is new begins.
func TestAnotherSite(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 2, 0)
	b.keep(newMemory(), ringSlots)
	b.dim(0, 10)
	b.dim(1, 20)
	b.pass(10)
	b.change(func(s *appliance.Snapshot) {
		site := *s.Site
		site.Nodes = site.Nodes[:1]
		s.Site, s.Index, s.Nodes = &site, appliance.NewIndex(&site), s.Nodes[:1]
	})
	b.pass(10)
	same(t, "what stays", b.replayed(epoch, b.wall, of(1, appliance.LevelAspect)), "1:10")
	same(t, "what is gone", b.replayed(epoch, b.wall, of(2, appliance.LevelAspect)), "1:20", "11:-")
}

// Whoever begins to read on the third day finds what was on the first, and has not read it.
func TestAllIsWrittenAgainEachDay(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 3, 1)
	b.keep(newMemory(), ringSlots)
	b.dim(0, 40)
	b.dim(1, 50)
	b.pass(3600)
	b.answers(1, false)
	b.pass(3 * 24 * 3600)
	from := epoch.Add(50 * time.Hour)
	level := func(track appliance.Track) bool { return track.Aspect == appliance.LevelAspect }
	same(t, "two days later", b.replayed(from, b.wall, level), "180000:40")
	v, err := b.r.view()
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for _, block := range v.blocks {
		if block.full {
			full++
		}
	}
	if full != 4 {
		t.Errorf("%d blocks begin with everything, in three days", full)
	}
}

// Between two runs nothing is known.
func TestRestart(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	d := newMemory()
	b.keep(d, ringSlots)
	b.dim(0, 40)
	b.pass(100)
	b.r.close()
	b.wall = b.wall.Add(time.Hour)
	b.mono = 0
	b.keep(d, ringSlots)
	b.pass(10)
	same(t, "level", b.replayed(epoch, b.wall, of(1, appliance.LevelAspect)), "1:40", "100:-", "3701:40")
}

// At whichever byte the power fails, everything is there that was written before the last writing under way, and nothing
// that was not.
func TestPowerCutAtAnyByte(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 40, 5)
	d := newMemory()
	b.keep(d, 4) // a ring that goes round
	random := rand.New(rand.NewPCG(1, 2))
	type written struct {
		upTo   time.Time // by then
		oldest time.Time
	}
	var marks []written // by number of writings that are whole
	for range 4 * 3600 {
		n := len(d.writes)
		b.busy(random, 1)
		for _, w := range d.writes[n:] {
			mark := written{b.wall, b.r.Oldest()}
			if string(w.data[:4]) != magic && len(marks) > 0 { // zeros that the file grows by
				mark = marks[len(marks)-1]
			}
			marks = append(marks, mark)
		}
	}
	truth := b.replayed(epoch, b.wall, everything)
	if len(d.writes) < 40 {
		t.Fatalf("%d writings: the test is too short", len(d.writes))
	}
	cuts := 0
	image := []byte(nil)
	for i, w := range d.writes {
		whole := []int{len(w.data)}
		if i%5 == 0 || i > len(d.writes)-4 { // the others at every page
			for n := 0; n < len(w.data); n += 509 {
				whole = append(whole, n)
			}
			whole = append(whole, 1, headerSize-1, headerSize, headerSize+1)
		} else {
			whole = append(whole, 0, page)
		}
		for _, n := range whole {
			n = min(n, len(w.data))
			cut := applied(slices.Clone(image), w.at, w.data[:n])
			after := i
			if n == len(w.data) {
				after++
			}
			b.afterCut(t, cut, truth, after, func() (time.Time, time.Time) {
				if after < 3 {
					return epoch, time.Time{}
				}
				return marks[after-1].upTo, marks[max(0, after-2)].oldest
			})
			if n > page && n < len(w.data) { // a flash may write the second page first
				other := slices.Clone(image)
				other = applied(other, w.at+page, w.data[page:n])
				b.afterCut(t, other, truth, i, func() (time.Time, time.Time) { return epoch, time.Time{} })
			}
			cuts++
		}
		image = applied(image, w.at, w.data)
	}
	t.Logf("%d writings, %d cuts", len(d.writes), cuts)
}

// afterCut opens what is left after a power cut. Of what is told everything has to be true, and up to a time nothing
// may be missing but what was thrown away as the oldest.
func (b *building) afterCut(t *testing.T, image []byte, truth []appliance.Past, after int, written func() (upTo, oldest time.Time)) {
	t.Helper()
	again := &building{t: t, wall: b.wall, mono: b.mono, right: true}
	d := newMemory()
	d.data = slices.Clone(image)
	again.keep(d, 4)
	again.r.mu.Lock()
	ok := again.r.ready()
	again.r.mu.Unlock()
	if !ok {
		t.Fatalf("after %d writings and a cut it cannot be opened", after)
	}
	got := again.replayed(epoch, b.wall, everything)
	if len(got) == 0 {
		if upTo, _ := written(); upTo.After(epoch) {
			t.Fatalf("after %d writings nothing is left", after)
		}
		return
	}
	first := got[0].At
	// What is known at the first moment is what was known then.
	state := stateAt(truth, first)
	last := got[len(got)-1].At // there everything is told as not known
	told := map[appliance.Track]appliance.Past{}
	i := 0
	for ; i < len(got) && !got[i].At.After(first); i++ {
		told[got[i].Track] = got[i]
	}
	for track, p := range told {
		if want := state[track]; want.Known != p.Known || want.Value != p.Value {
			t.Fatalf("after %d writings %v begins as %v, want %v", after, track, p, want)
		}
	}
	var rest []appliance.Past
	for _, p := range got[i:] {
		if p.At.Before(last) {
			rest = append(rest, p)
		}
	}
	want := slices.DeleteFunc(slices.Clone(truth), func(p appliance.Past) bool { return !p.At.After(first) || !p.At.Before(last) })
	if !slices.Equal(unordered(rest), unordered(want)) {
		t.Fatalf("after %d writings %d changes are told, want %d", after, len(rest), len(want))
	}
	upTo, oldest := written()
	if last.Before(upTo.Add(-time.Second)) {
		t.Fatalf("after %d writings it ends at %v, want %v", after, last, upTo)
	}
	if !oldest.IsZero() && first.After(oldest.Add(3*time.Hour)) {
		t.Fatalf("after %d writings it begins at %v, was %v", after, first, oldest)
	}
}

func unordered(list []appliance.Past) []appliance.Past {
	slices.SortFunc(list, func(a, b appliance.Past) int {
		if d := a.At.Compare(b.At); d != 0 {
			return d
		}
		return compareKeys(keyOf(a.Track), keyOf(b.Track))
	})
	return list
}

func stateAt(truth []appliance.Past, at time.Time) map[appliance.Track]appliance.Past {
	state := map[appliance.Track]appliance.Past{}
	for _, p := range truth {
		if !p.At.After(at) {
			state[p.Track] = p
		}
	}
	return state
}

// The file never grows beyond its size; the oldest goes.
func TestTheFileKeepsItsSize(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 100, 10)
	d := newMemory()
	const slots = 20
	b.keep(d, slots)
	random := rand.New(rand.NewPCG(3, 4))
	b.busy(random, 3600)
	first := b.r.Oldest()
	for range 80 {
		b.busy(random, 3600)
		if len(d.data) > (tailSlots+slots)*slotSize {
			t.Fatalf("the file has %d bytes", len(d.data))
		}
	}
	if oldest := b.r.Oldest(); !oldest.After(first) || b.wall.Sub(oldest) < 9*time.Hour {
		t.Errorf("after 81 hours it begins at %v, in the first hour at %v", oldest, first)
	}
	if len(b.r.ring.blocks) > slots {
		t.Errorf("%d blocks are known of", len(b.r.ring.blocks))
	}
}

// A building that changes without end costs no more than what 30 days fill the file with; powers wait first, and each
// comes in its turn.
func TestADayHasItsPrice(t *testing.T) {
	t.Parallel()
	lamps := drivertest.Size(600, 600)
	b := newBuilding(t, lamps, 0)
	d := newMemory()
	b.keep(d, ringSlots)
	b.r.credit = powerCredit
	random := rand.New(rand.NewPCG(5, 6))
	const hours = 3
	for range hours * 60 {
		b.change(func(s *appliance.Snapshot) {
			for i := range s.Nodes {
				n := *s.Nodes[i]
				n.Channels = slices.Clone(n.Channels)
				n.Channels[0].Level, n.Channels[0].Power = read(appliance.Level(50)), read(random.Float64()*100)
				s.Nodes[i] = &n
			}
		})
		b.pass(60)
	}
	b.dim(7, 51)
	b.pass(1)
	if got := b.replayed(b.wall.Add(-time.Hour), b.wall.Add(time.Second), of(8, appliance.LevelAspect)); got[len(got)-1].Value != 51 {
		t.Errorf("powers kept a level from being noted: %v", words(got))
	}
	blocks := int64(len(b.r.ring.blocks)) * slotSize
	if most := int64(creditMost + dayMost*hours/24 + growth*slotSize); blocks > most {
		t.Errorf("%d bytes of blocks in %d hours, want at most %d", blocks, hours, most)
	}
	heard := map[appliance.ID]bool{}
	for _, p := range b.replayed(b.wall.Add(-2*time.Hour), b.wall, func(track appliance.Track) bool { return track.Aspect == appliance.PowerAspect }) {
		if p.At.After(b.wall.Add(-2 * time.Hour)) {
			heard[p.Node] = true
		}
	}
	if len(heard) < lamps*59/60 {
		t.Errorf("in two hours the powers of %d of %d were noted", len(heard), lamps)
	}
}

// A disk that takes nothing costs history and nothing else; when it takes something again, so does the history.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	d := newMemory()
	d.room = spare - 1
	b.keep(d, ringSlots)
	b.dim(0, 10)
	b.pass(30)
	if err := b.r.Replay(t.Context(), epoch, b.wall, everything, nil); !errors.Is(err, appliance.ErrNoPast) {
		t.Errorf("without a file: %v", err)
	}
	if len(d.data) > 0 {
		t.Errorf("it took %d bytes of the last room", len(d.data))
	}
	d.room = 1 << 30
	b.pass(60)
	same(t, "since there is room", b.replayed(epoch, b.wall, of(1, appliance.LevelAspect)), "61:10")

	b.dim(0, 20)
	d.refuse = syscall.ENOSPC
	b.pass(600)
	d.refuse = nil
	b.pass(600)
	got := b.replayed(epoch, b.wall, of(1, appliance.LevelAspect))
	if w := words(got); len(got) == 0 || got[len(got)-1].Value != 20 {
		t.Errorf("after a time without room: %v", w)
	}

	d.room = spare // no growing any more
	random := rand.New(rand.NewPCG(1, 1))
	size := len(d.data)
	b.busy(random, 48*3600)
	if len(d.data) > max(size, (tailSlots+growth)*slotSize) {
		t.Errorf("it grew from %d to %d bytes on a disk without room", size, len(d.data))
	}
}

// A board without a battery begins in 1970 and hears later what time it is: what it noted until then is where it was.
func TestClockThatIsSetLate(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	d := newMemory()
	b.keep(d, ringSlots)
	b.dim(0, 10)
	b.pass(3600)
	b.r.close()

	real := b.wall.Add(time.Hour)
	b.wall, b.mono, b.right = time.Unix(0, 0).UTC(), 0, false
	b.keep(d, ringSlots)
	b.dim(0, 20)
	b.pass(1800)
	b.dim(0, 30)
	b.pass(1200)
	b.wall, b.right = real.Add(3000*time.Second), true
	b.pass(1)
	b.dim(0, 40)
	b.pass(600)
	want := []string{"1:10", "3600:-", "7201:20", "9001:30", "10201:-", "10201:30", "10202:40"}
	level := of(1, appliance.LevelAspect)
	same(t, "now", b.replayed(epoch, b.wall, level), want...)
	b.r.close()
	b.mono = 0
	b.keep(d, ringSlots)
	b.pass(1)
	same(t, "after another start", b.replayed(epoch, b.wall, level), append(want, "10801:-")...)
	same(t, "in 1970", b.replayed(time.Unix(0, 0), time.Unix(86400, 0), level))
}

// A clock that was right and is set back: what is said twice counts as it was said last. One that is wrong for a
// while hides nothing else.
func TestClockThatJumpsBack(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 1, 0)
	b.keep(newMemory(), ringSlots)
	b.dim(0, 10)
	b.pass(100)
	b.dim(0, 20)
	b.pass(100) // until 200
	b.wall = b.wall.Add(-150 * time.Second)
	b.dim(0, 30)
	b.pass(50) // from 51 until 100
	b.wall = b.wall.Add(200 * time.Second)
	b.pass(10)
	level := of(1, appliance.LevelAspect)
	same(t, "level", b.replayed(epoch, b.wall, level), "1:10", "51:-", "51:30", "101:-", "101:20", "201:-", "301:30")
	b.wall = b.wall.Add(10 * 365 * 24 * time.Hour)
	b.pass(100)
	b.wall = b.wall.Add(-10 * 365 * 24 * time.Hour)
	b.pass(100)
	got := words(b.replayed(epoch, b.wall, level))
	if i := slices.Index(got, "301:30"); i != 6 {
		t.Errorf("a time in another decade hides what was: %v", got)
	}
}

// What a flash forgot or somebody wrote into the file is not told, and no trouble.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	b := newBuilding(t, 50, 0)
	d := newMemory()
	b.keep(d, 30)
	random := rand.New(rand.NewPCG(7, 8))
	b.busy(random, 10*3600)
	b.r.close()
	b.keep(d, 30)
	b.pass(1)
	truth := map[appliance.Track][]appliance.Past{}
	for _, p := range b.replayed(epoch, b.wall, everything) {
		truth[p.Track] = append(truth[p.Track], p)
	}
	whole := slices.Clone(d.data)
	for range 30 {
		damaged := newMemory()
		damaged.data = slices.Clone(whole)
		for range 1 + random.IntN(3) {
			at := random.IntN(len(damaged.data) - 512)
			for i := range 1 + random.IntN(512) {
				damaged.data[at+i] = byte(random.Uint32())
			}
		}
		b.keep(damaged, 30)
		b.pass(1)
		for _, p := range b.replayed(epoch, b.wall.Add(-time.Minute), everything) {
			was := truth[p.Track]
			i, exact := slices.BinarySearchFunc(was, p.At, func(q appliance.Past, at time.Time) int { return q.At.Compare(at) })
			if !exact {
				i--
			}
			if p.Known && (i < 0 || was[i].Value != p.Value || !was[i].Known) {
				t.Fatalf("%v was never so", p)
			}
		}
		b.r.close()
	}
}

// Blocks that are made up end, and tell nothing that cannot be.
func FuzzBlock(f *testing.F) {
	f.Add(appendMoment(nil, 5, []change{{key{1, 1, levelOne}, known(40)}, {key{1, 3, powerOther}, wattCode(-12.5)}, {key{5001, 0, position}, 0}}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		n := 0
		_ = eachChange(payload, func(_ int64, c change) bool {
			n++
			if c.kind >= kindsEnd {
				t.Fatalf("kind %d", c.kind)
			}
			c.past(epoch, c.code)
			return true
		})
		if n > len(payload) {
			t.Fatalf("%d changes in %d bytes", n, len(payload))
		}
	})
}

// What is written is read.
func TestMomentsRoundTrip(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	for range 1000 {
		var want []change
		for range 1 + random.IntN(20) {
			c := change{key: key{id: int32(random.IntN(int(appliance.MaxID)) + 1), kind: kind(random.IntN(int(kindsEnd)))}, code: known(random.IntN(101))}
			switch c.kind {
			case levelOne, powerOne:
				c.channel = 1
			case levelOther, powerOther:
				c.channel = uint16(2 + random.IntN(60))
			}
			if c.kind == powerOne || c.kind == powerOther {
				c.code = wattCode((random.Float64() - .5) * 1e6)
			}
			if back := keyOf(c.track()); back != c.key {
				t.Fatalf("%v became %v", c.key, back)
			}
			want = append(want, c)
		}
		payload := appendMoment(nil, 70000, want)
		if most := momentMost + len(want)*changeMost; len(payload) > most {
			t.Fatalf("%d bytes, reckoned with %d", len(payload), most)
		}
		var got []change
		if err := eachChange(payload, func(seconds int64, c change) bool {
			got = append(got, c)
			return seconds == 70000
		}); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
}

// The recorder as the daemon runs it: on a real file, by itself.
func TestRunWritesBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newBuilding(t, 3, 0)
		began := time.Now()
		clock := Clock{Wall: time.Now, Mono: func() time.Duration { return time.Since(began) }, Right: func() bool { return true }}
		r := New(dir, clock, slog.New(slog.DiscardHandler))
		done := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		b.dim(0, 40)
		go func() { done <- r.Run(ctx, func() *appliance.Snapshot { return b.snap }) }()
		time.Sleep(24 * time.Hour)
		info, err := os.Stat(filepath.Join(dir, FileName))
		if err != nil || info.Mode() != 0o600 {
			t.Fatal(info, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		// Who asks right after the next start finds it.
		b.r = New(dir, clock, slog.New(slog.DiscardHandler))
		ctx, cancel = context.WithCancel(t.Context())
		go func() { done <- b.r.Run(ctx, func() *appliance.Snapshot { return b.snap }) }()
		synctest.Wait()
		got := b.replayed(began, time.Now(), of(1, appliance.LevelAspect))
		if len(got) == 0 || got[0].Value != 40 {
			t.Errorf("%v", words(got))
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
