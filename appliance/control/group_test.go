package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers/drivertest"
)

// tables is copper whose devices hold group tables. Each device tells its table in
// one exchange and takes one group in one.
type tables struct {
	*copper
	space appliance.GroupSpace

	mu      sync.Mutex
	held    map[string][]string
	refuse  map[string]bool
	forget  map[string]bool // takes writes and does not keep them
	mute    map[string]bool // does not answer about groups
	writes  int
	reads   int
	strange []string
	use     appliance.GroupUse
	onWrite func()
}

func newTables(mode appliance.GroupMode, devices int) *tables {
	t := &tables{
		copper: newCopper(), held: map[string][]string{}, refuse: map[string]bool{}, forget: map[string]bool{}, mute: map[string]bool{},
		space: appliance.GroupSpace{Mode: mode, Names: []string{"g9", "g8", "g7"}, PerDevice: 4, Declared: map[string][]string{}},
	}
	for i := range devices {
		t.held[fmt.Sprint(i+1)] = nil
	}
	return t
}

func (t *tables) open(cfg appliance.BusConfig) (appliance.Opened, error) {
	o, err := t.copper.open(cfg)
	o.Driver = t
	return o, err
}

func (t *tables) GroupSpace() appliance.GroupSpace { return t.space }

func (t *tables) UseGroups(use appliance.GroupUse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.use = use
}

func (t *tables) StrangeGroups() (held, used []string) { return t.strange, nil }

func (t *tables) SurveyGroups() iter.Seq[appliance.Exchange] {
	return func(func(appliance.Exchange) bool) {}
}

func (t *tables) about(device string, act func()) appliance.Exchange {
	return appliance.Exchange{
		Device: device, Airtime: t.airtime, Worst: t.airtime + t.timeout,
		Do: func(context.Context, appliance.Yield) (appliance.Result, error) {
			time.Sleep(t.airtime)
			t.mu.Lock()
			defer t.mu.Unlock()
			switch {
			case t.refuse[device]:
				return appliance.Result{Sent: time.Now()}, fmt.Errorf("table: %w", appliance.ErrRefused)
			case t.mute[device]:
				return appliance.Result{Sent: time.Now()}, fmt.Errorf("table: %w", appliance.ErrDamaged)
			}
			act()
			return appliance.Result{Sent: time.Now()}, nil
		},
	}
}

func (t *tables) ReadGroups(device string, told func([]string)) iter.Seq[appliance.Exchange] {
	return func(yield func(appliance.Exchange) bool) {
		var held []string
		if yield(t.about(device, func() { held = slices.Clone(t.held[device]); t.reads++ })) {
			told(held)
		}
	}
}

func (t *tables) ChangeGroups(device string, join, leave []string, told func([]string)) iter.Seq[appliance.Exchange] {
	return func(yield func(appliance.Exchange) bool) {
		for _, group := range append(slices.Clone(join), leave...) {
			e := t.about(device, func() {
				t.writes++
				if t.forget[device] {
					return
				}
				t.held[device] = slices.DeleteFunc(t.held[device], func(g string) bool { return g == group })
				if slices.Contains(join, group) {
					t.held[device] = append(t.held[device], group)
					slices.Sort(t.held[device])
				}
				if t.onWrite != nil {
					t.onWrite()
				}
			})
			if !yield(e) {
				return
			}
		}
		t.ReadGroups(device, told)(yield)
	}
}

// tablesNow is what the devices hold, as text.
func (t *tables) tablesNow() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var words []string
	for _, d := range slices.Sorted(maps.Keys(t.held)) {
		words = append(words, d+":"+strings.Join(t.held[d], "+"))
	}
	return strings.Join(words, " ")
}

func (t *tables) counts() (reads, writes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reads, t.writes
}

// book is a disk that survives.
type book struct {
	mu   sync.Mutex
	kept map[appliance.UUID]appliance.BusGroups
	fail error
	n    int
}

func (b *book) SaveGroups(_ context.Context, bus appliance.UUID, g appliance.BusGroups) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	b.n++
	b.kept[bus] = g
	return nil
}

func (b *book) LoadGroups(context.Context) (map[appliance.UUID]appliance.BusGroups, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.kept), nil
}

// keep runs a controller on tables until stop is called.
func keep(t *testing.T, c *tables, site appliance.Site, on *book) (*control.Controller, func()) {
	t.Helper()
	ctl := control.New(control.Options{Drivers: map[string]appliance.OpenFunc{"copper": c.open}, GroupBook: on})
	ctl.Apply(site, nil)
	if err := ctl.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ctl.Run(ctx) }()
	return ctl, func() { cancel(); <-done }
}

// dimmers is a site of n dimmers with clusters of some of them.
func dimmers(n int, clusters ...[]appliance.ID) appliance.Site {
	site := siteOf(slices.Repeat([]string{"dimmer"}, n)...)
	site.Settings.Freshness.Light = time.Minute // these tests last days
	site.Clusters = nil
	for i, members := range clusters {
		site.Clusters = append(site.Clusters, appliance.Cluster{ID: appliance.ID(i + 1), Nodes: members})
	}
	return site
}

func newBook() *book { return &book{kept: map[appliance.UUID]appliance.BusGroups{}} }

func TestClustersGetGroupsAndKeepThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, disk := newTables(appliance.GroupsKept, 5), newBook()
		c.held["1"], c.strange = []string{"g9"}, []string{"g8"} // two are somebody else's
		site := dimmers(5, []appliance.ID{1, 2}, []appliance.ID{3, 4, 5})
		_, stop := keep(t, c, site, disk)
		time.Sleep(time.Minute)
		stop()
		if got, want := c.tablesNow(), "1:g9 2: 3:g7 4:g7 5:g7"; got != want {
			t.Fatalf("%s, want the only free group with the larger cluster: %s", got, want)
		}
		// After a restart and with a new, equally large cluster everything stays.
		site.Clusters = append(site.Clusters, appliance.Cluster{ID: 3, Nodes: []appliance.ID{1, 2, 3}})
		c.strange = nil
		_, stop = keep(t, c, site, disk)
		time.Sleep(time.Minute)
		stop()
		if got, want := c.tablesNow(), "1:g8+g9 2:g8 3:g7+g8 4:g7 5:g7"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		// A cluster takes over what another gives up.
		site.Clusters = []appliance.Cluster{{ID: 2, Nodes: []appliance.ID{3, 4}}, {ID: 9, Nodes: []appliance.ID{1, 2, 3, 4}}}
		c.strange = []string{"g9"}
		ctl, stop := keep(t, c, site, disk)
		time.Sleep(time.Minute)
		if got, want := c.tablesNow(), "1:g8+g9 2:g8 3:g7+g8 4:g7+g8 5:"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if g, err := ctl.Groups("test"); err != nil || !g.Clusters[1].Ready {
			t.Errorf("%+v, %v", g, err)
		}
		stop()
	})
}

func TestNothingIsWrittenUnlessTheSiteAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsUsed, 3)
		ctl, stop := keep(t, c, dimmers(3, []appliance.ID{1, 2}), newBook())
		defer stop()
		time.Sleep(6 * time.Hour)
		if reads, writes := c.counts(); writes != 0 || reads < 3 {
			t.Errorf("%d writes, %d reads", writes, reads)
		}
		if err := ctl.WriteGroups(t.Context(), "test", func(appliance.GroupProgress) {}); err != nil {
			t.Fatal(err)
		}
		if got := c.tablesNow(); got != "1:g9 2:g9 3:" {
			t.Errorf("after an installer's order %s", got)
		}
		// What the order made is not kept up by itself.
		c.mu.Lock()
		c.held["1"] = nil
		c.mu.Unlock()
		time.Sleep(6 * time.Hour)
		if _, writes := c.counts(); writes != 2 {
			t.Errorf("%d writes", writes)
		}
	})
}

// A job that brings groups in step tells of each device once, with what became of it last.
func TestAJobOfGroupsTellsOfEachDeviceOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsUsed, 3)
		ctl, stop := keep(t, c, dimmers(3, []appliance.ID{1, 2}), newBook())
		defer stop()
		job, err := ctl.StartGroups("test", appliance.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		for job.State == appliance.JobRunning {
			time.Sleep(time.Second)
			job, _ = ctl.Jobs().Get(job.ID)
		}
		told := map[string]int{}
		for _, item := range job.Items {
			told[item.(appliance.GroupProgress).Device]++
		}
		if job.State != appliance.JobDone || len(told) < 3 || len(job.Items) != len(told) || job.Progress.Done <= len(told) {
			t.Errorf("%s after %d steps: %v, want each once after more", job.State, job.Progress.Done, told)
		}
	})
}

// Tables wear out.
func TestDeviceThatDoesNotKeepItsGroupsIsWrittenRarely(t *testing.T) {
	drivertest.Long(t)
	synctest.Test(t, func(t *testing.T) {
		c, disk := newTables(appliance.GroupsKept, 3), newBook()
		c.forget["2"] = true
		ctl, stop := keep(t, c, dimmers(3, []appliance.ID{1, 2}), disk)
		time.Sleep(23 * time.Hour)
		if _, writes := c.counts(); writes != 1+3 {
			t.Errorf("%d writes in a day, want 1 and three tries", writes)
		}
		g, err := ctl.Groups("test")
		if err != nil || !strings.Contains(g.Devices[1].Trouble, "does not keep") || g.Clusters[0].Ready {
			t.Errorf("%+v, %v", g, err)
		}
		stop()
		// Whoever wipes a device again and again wears it out through us.
		c.forget["2"] = false
		_, stop = keep(t, c, dimmers(3, []appliance.ID{1, 2}), newBook())
		defer stop()
		_, before := c.counts()
		for range 12 * 6 { // what a day allows is used up in three hours
			time.Sleep(5 * time.Minute)
			c.mu.Lock()
			c.held["2"] = nil
			c.mu.Unlock()
		}
		if _, writes := c.counts(); writes-before > 2*32 || writes == before {
			t.Errorf("%d writes in six hours, want 32 at most", writes-before)
		}
	})
}

func TestDeviceThatComesBackIsReadAgainFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsKept, 3)
		_, stop := keep(t, c, dimmers(3, []appliance.ID{1, 2}), newBook())
		defer stop()
		time.Sleep(3 * time.Minute)
		c.copper.mu.Lock()
		c.silent[2] = true
		c.copper.mu.Unlock()
		time.Sleep(time.Hour)
		c.mu.Lock()
		c.held["2"] = nil // another one was put in its place
		c.mu.Unlock()
		c.copper.mu.Lock()
		c.silent[2] = false
		c.copper.mu.Unlock()
		time.Sleep(3 * time.Minute)
		if got := c.tablesNow(); got != "1:g9 2:g9 3:" {
			t.Errorf("%s", got)
		}
		if reads, writes := c.counts(); writes != 3 {
			t.Errorf("%d writes, %d reads", writes, reads)
		}
	})
}

// A power cut in the middle of writing leaves a table of which nothing is known.
func TestTableThatWasBeingWrittenIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, disk := newTables(appliance.GroupsKept, 3), newBook()
		var cut appliance.BusGroups
		c.onWrite = func() {
			disk.mu.Lock()
			defer disk.mu.Unlock()
			cut = disk.kept[dimmers(0).Buses[0].UUID] // what is on the disk at that moment
		}
		_, stop := keep(t, c, dimmers(3, []appliance.ID{1, 2}), disk)
		time.Sleep(time.Minute)
		stop()
		known := map[string]bool{}
		for _, table := range cut.Tables {
			known[table.Device] = table.Known
		}
		if len(cut.Claims) != 1 || known["2"] || !known["1"] {
			t.Errorf("on the disk while device 2 was written: %+v", cut)
		}
	})
}

func TestNothingIsWrittenThatCouldNotBeRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, disk := newTables(appliance.GroupsKept, 3), newBook()
		disk.fail = errors.New("disk full")
		_, stop := keep(t, c, dimmers(3, []appliance.ID{1, 2}), disk)
		defer stop()
		time.Sleep(time.Hour)
		if _, writes := c.counts(); writes != 0 {
			t.Errorf("%d writes although no claim could be saved", writes)
		}
		disk.mu.Lock()
		disk.fail = nil
		disk.mu.Unlock()
		time.Sleep(5 * time.Minute)
		if got := c.tablesNow(); got != "1:g9 2:g9 3:" {
			t.Errorf("%s", got)
		}
	})
}

func TestDevicesThatDoNotTellTheirTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsKept, 4)
		c.refuse["3"], c.mute["4"] = true, true
		ctl, stop := keep(t, c, dimmers(4, []appliance.ID{1, 2}), newBook())
		defer stop()
		time.Sleep(30 * time.Minute)
		g, err := ctl.Groups("test")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(g.Devices[2].Trouble, "to itself") || g.Devices[3].Known || g.Devices[3].Trouble == "" {
			t.Errorf("%+v", g.Devices)
		}
		if got := c.tablesNow(); got != "1:g9 2:g9 3: 4:" {
			t.Errorf("%s: those that tell theirs are written all the same", got)
		}
		c.mu.Lock()
		use := c.use
		c.mu.Unlock()
		if len(use.Groups) != 1 || !slices.Equal(use.Unsure, []string{"4"}) {
			t.Errorf("%+v, want the group, and device 4 not to be moved along", use)
		}
	})
}

// Reading tables must not cost the devices their freshness, nor a command its turn.
func TestTablesAreReadInTimeThatNobodyWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsUsed, 300)
		site := dimmers(300, []appliance.ID{1, 2})
		site.Settings.Freshness.Light = 0 // as usual, which is more than the bus can do
		ctl, stop := keep(t, c, site, newBook())
		defer stop()
		time.Sleep(20 * time.Second)
		_, mark := c.frames(0)
		began, _ := c.counts()
		var worst time.Duration
		for i := range 50 {
			time.Sleep(200*time.Millisecond + time.Duration(i)*1300*time.Microsecond)
			asked := time.Now()
			e := do(t, ctl, level(one(appliance.ID(1+i)), 40))
			if !e.OK() {
				t.Fatal(e.Err)
			}
			worst = max(worst, e.Members[0].SentAt.Sub(asked))
		}
		frames, _ := c.frames(mark)
		took := time.Since(frames[0].at)
		reads, _ := c.counts()
		if worst > 2*c.airtime {
			t.Errorf("a command waited %v", worst)
		}
		if share := float64(reads-began) * float64(c.airtime) / float64(took); share > 0.25 || reads == began {
			t.Errorf("reading tables took %.0f %% of a bus that is never idle", 100*share)
		}
	})
}

// Whoever asks why a cluster has no group of its own is told.
func TestWhyAClusterHasNoGroupIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTables(appliance.GroupsKept, 5)
		c.strange, c.space.Closed = []string{"g9", "g8"}, true // one is left, and nobody else hears a broadcast
		site := dimmers(5, []appliance.ID{1, 2, 3}, []appliance.ID{2, 3}, []appliance.ID{5}, []appliance.ID{1, 2, 3, 4, 5}, []appliance.ID{3, 2, 1})
		ctl, stop := keep(t, c, site, newBook())
		for early := ""; early == ""; time.Sleep(10 * time.Millisecond) { // as soon as anything is known
			g, err := ctl.Groups("test")
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Clusters) > 0 {
				if early = g.Clusters[0].Why; early != "tables are still being read" {
					t.Errorf("at first: %q", early)
				}
			}
		}
		time.Sleep(time.Minute)
		g, err := ctl.Groups("test")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cluster := range g.Clusters {
			got = append(got, fmt.Sprintf("%d %s %t %s", cluster.Cluster, cluster.Group, cluster.Ready, cluster.Why))
		}
		want := []string{
			"1 g7 true ", "2  false no group is left; larger clusters have them", "3  false one member on this bus",
			"4  false all of the bus: one frame to everybody", "5 g7 true ",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		stop()
	})
}
