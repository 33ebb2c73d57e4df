package past

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// The demo building for a month at full activity, on its own clock, and one of 5,000 lights for three days. Without SOAK=1 it is a day of the first.
//
// From 6 to 22 h somebody or something sets each lamp five times an hour and each shade twice, three meters are never still, and
// every lamp measures itself; at night a hundredth of that goes on. Now and then a device does not answer for a while. What is counted
// as written is every byte that is handed to the file system, whole pages, zeros included that the file grows by; there is no other
// writing, since the file's blocks are there before (fdatasync then writes no journal: see the package).
func TestMonthCampaign(t *testing.T) {
	long := os.Getenv("SOAK") != ""
	for _, c := range []struct {
		name           string
		lights, shades int
		perHour        float64 // of a lamp
		days           int
	}{{"demo building", 175, 40, 5, 30}, {"5,000 lights", 5000, 400, 1, 3}} {
		days := c.days
		if !long {
			days = 1
		}
		if !long && c.lights > 1000 {
			continue // takes a minute
		}
		d := &counting{disk: onDisk(t)}
		b := newBuilding(t, c.lights, c.shades)
		b.keep(d, ringSlots)
		random := rand.New(rand.NewPCG(11, 12))
		var byDay []int64
		began := time.Now()
		for range days {
			before := d.written
			b.day(random, c.perHour)
			byDay = append(byDay, d.written-before)
		}
		played := time.Since(began)
		size, err := d.Size()
		if err != nil {
			t.Fatal(err)
		}
		var most, all int64
		for _, n := range byDay {
			most, all = max(most, n), all+n
		}
		changes, oldest := 0, b.r.Oldest()
		week := b.wall.AddDate(0, 0, -7)
		began = time.Now()
		if err := b.r.Replay(t.Context(), week, b.wall, everything, func(appliance.Past) error { changes++; return nil }); err != nil {
			t.Fatal(err)
		}
		whole := time.Since(began)
		began = time.Now()
		if err := b.r.Replay(t.Context(), week, b.wall, of(7, appliance.LevelAspect), func(appliance.Past) error { return nil }); err != nil {
			t.Fatal(err)
		}
		one := time.Since(began)
		t.Logf("%s, %d days: %.1f MB on disk, %d blocks; written a day %.2f MB in the mean, %.2f at most; the last week has %d changes, read in %v, one lamp of it in %v; it begins %v ago; played in %v",
			c.name, days, float64(size)/1e6, len(b.r.ring.blocks), float64(all)/float64(days)/1e6, float64(most)/1e6, changes, whole, one, b.wall.Sub(oldest), played)
		if size > Size {
			t.Errorf("%s: the file has %d bytes", c.name, size)
		}
		if most > 10e6 {
			t.Errorf("%s: %d bytes are written on a day", c.name, most)
		}
		if want := time.Duration(min(days, 30)) * 24 * time.Hour; b.wall.Sub(oldest) < want-time.Minute {
			t.Errorf("%s: the history begins %v ago, want %v", c.name, b.wall.Sub(oldest), want)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// counting counts what is written.
type counting struct {
	disk
	written int64
}

func (c *counting) WriteAt(p []byte, at int64) (int, error) {
	c.written += int64(len(p))
	return c.disk.WriteAt(p, at)
}

// day is one of a busy building.
func (b *building) day(random *rand.Rand, perHour float64) {
	lights, shades := len(b.snap.Nodes), len(b.snap.Shades)
	for second := range 24 * 3600 {
		share := 1.0
		if hour := second / 3600; hour < 6 || hour >= 22 {
			share = .01
		}
		happens := func(each float64, n int) int { // so many things of n, each so often an hour
			want := each * share * float64(n) / 3600
			whole := int(want)
			if random.Float64() < want-float64(whole) {
				whole++
			}
			return whole
		}
		for range happens(perHour, lights) {
			b.dim(random.IntN(lights), appliance.Level(random.IntN(101)))
		}
		for range happens(2, shades) {
			b.move(random.IntN(shades), appliance.Position(random.IntN(101)), appliance.Stopped)
		}
		if second%30 == 0 {
			for i := range 3 {
				b.meter(i, 1000+random.Float64()*500)
			}
		}
		if random.IntN(600) == 0 {
			i := random.IntN(lights)
			b.answers(i, !b.snap.Nodes[i].Online)
		}
		b.pass(1)
	}
}

func (b *building) meter(i int, watts float64) {
	b.change(func(s *appliance.Snapshot) {
		n := *s.Nodes[i]
		n.Channels = append([]appliance.ChannelState(nil), n.Channels...)
		n.Channels[0].Power = read(watts)
		s.Nodes[i] = &n
	})
}
