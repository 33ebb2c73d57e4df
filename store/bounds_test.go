package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc.internal/controller/appliance"
)

// What is just possible is taken, and what is a little more is refused with what would be.
func TestWhatIsJustPossibleIsTaken(t *testing.T) {
	t.Parallel()
	worked := planning(t)
	off := appliance.Action{Kind: appliance.LightOff, Target: appliance.Target{Scope: appliance.All}}
	base := func() appliance.Site {
		site := demo()
		site.Clusters[0].ID = -1
		site.Scenes = []appliance.Scene{{ID: -1, Name: "Evening", Actions: []appliance.Action{off}}}
		site.Rules = []appliance.Rule{{ID: -1, Name: "Night", When: appliance.Trigger{Kind: appliance.AtTime}, Actions: []appliance.Action{off}}}
		site.Division.Floors = []appliance.Floor{{Name: "Ground"}}
		return site
	}
	action := func(change func(*appliance.Action)) func(*appliance.Site) {
		return func(s *appliance.Site) { change(&s.Rules[0].Actions[0]) }
	}
	fades := func(kind appliance.Kind, over time.Duration) func(*appliance.Action) {
		return func(a *appliance.Action) { a.Kind, a.Over = kind, over }
	}
	trigger := func(when appliance.Trigger) func(*appliance.Site) {
		return func(s *appliance.Site) { s.Rules[0].When = when }
	}
	value := func(change func(*appliance.Trigger)) func(*appliance.Site) {
		when := appliance.Trigger{Kind: appliance.OnValue, Node: -1, Quantity: appliance.OfPower}
		change(&when)
		return trigger(when)
	}
	target := func(scope appliance.Scope, id appliance.ID) func(*appliance.Site) {
		return action(func(a *appliance.Action) { a.Target = appliance.Target{Scope: scope, ID: id} })
	}
	dates, err := appliance.ParseDates("12-25")
	if err != nil {
		t.Fatal(err)
	}
	for i, tc := range []struct {
		taken, refused func(*appliance.Site) // nil: there is none
		says           string
	}{
		{func(s *appliance.Site) { s.Nodes[0].Name = strings.Repeat("ä", 200) }, func(s *appliance.Site) { s.Nodes[0].Name = strings.Repeat("ä", 201) }, "has 201 characters, at most 200"},
		{nil, func(s *appliance.Site) { s.Nodes[0].Name = "" }, "is missing"},
		{nil, func(s *appliance.Site) { s.Shades[0].Name = "a\u202Eb" }, "turn the order"},
		{nil, func(s *appliance.Site) { s.Shades[0].Name = "a\u202Ab" }, "turn the order"},
		{func(s *appliance.Site) { s.Shades[0].Name = "a\u202Fb" }, func(s *appliance.Site) { s.Shades[0].Name = "a\u2066b" }, "turn the order"},
		{nil, func(s *appliance.Site) { s.Shades[0].Name = "a\u2069b" }, "turn the order"},
		{nil, func(s *appliance.Site) { s.Clusters[0].Name = "a\tb" }, "control characters"},
		{nil, func(s *appliance.Site) { s.Clusters[0].Name = "a\xffb" }, "not valid UTF-8"},
		{nil, func(s *appliance.Site) { s.Clusters[0].Name = " b" }, "begins or ends with a space"},
		{nil, func(s *appliance.Site) { s.Name = " b" }, "begins or ends with a space"},
		{nil, func(s *appliance.Site) { s.Name = "" }, "although there are settings"},
		{func(s *appliance.Site) { s.Nodes[0].Note = strings.Repeat("ä", 499) + "\n" }, func(s *appliance.Site) { s.Nodes[0].Note = strings.Repeat("ä", 501) }, "at most 500"},
		{nil, func(s *appliance.Site) { s.Nodes[0].Note = "a\tb" }, "control characters"},
		{func(s *appliance.Site) { s.Nodes[0].Tag = appliance.TagNode }, func(s *appliance.Site) { s.Nodes[0].Tag = "LAMP" }, `"LAMP" is unknown`},
		{func(s *appliance.Site) { s.Nodes[0].Outputs = []int{2, 1} }, func(s *appliance.Site) { s.Nodes[0].Outputs = []int{2, 2} }, "appear once"},
		{nil, func(s *appliance.Site) { s.Nodes[0].Outputs = []int{0} }, "count from 1"},
		{nil, func(s *appliance.Site) { s.Shades[0].Output = 0 }, "count from 1"},
		{func(s *appliance.Site) { s.Shades[0].TravelUp = 0 }, func(s *appliance.Site) { s.Shades[0].TravelUp = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Shades[0].TravelDown = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Buses[0].Driver = "" }, "is missing"},
		{nil, func(s *appliance.Site) { s.Buses[0].Line.BaudRate = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Buses[0].Line.DataBits = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Buses[0].Line.StopBits = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Settings.Freshness.Light = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Settings.Freshness.MovingShade = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Settings.Freshness.IdleShade = -1 }, "cannot be negative"},
		{nil, func(s *appliance.Site) { s.Settings.Freshness.Power = -1 }, "cannot be negative"},

		{func(s *appliance.Site) { s.Division.Floors[0].AreaM2 = 1e7 }, func(s *appliance.Site) { s.Division.Floors[0].AreaM2 = 1.1e7 }, "square metres"},
		{nil, func(s *appliance.Site) { s.Division.Floors[0].AreaM2 = math.NaN() }, "square metres"},
		{nil, func(s *appliance.Site) { s.Division.Floors[0].AreaM2 = -1 }, "square metres"},
		{nil, func(s *appliance.Site) { s.Division.Floors[0].Name = "" }, "is missing"},
		{nil, func(s *appliance.Site) {
			s.Division.Floors = append(s.Division.Floors, appliance.Floor{Name: "Ground"})
		}, "another floor has this name"},
		{floors(200), floors(201), "at most 200 floors"},
		{nil, func(s *appliance.Site) { s.Division.Floors[0].Clusters = []appliance.ID{9} }, "there is no cluster 9"},
		{nil, func(s *appliance.Site) { s.Division.Meters = []appliance.Meter{{Node: 9}} }, "there is no node 9"},
		{func(s *appliance.Site) { s.Division.Meters = []appliance.Meter{{Node: -1}} }, func(s *appliance.Site) {
			s.Division.Meters = []appliance.Meter{{Node: -1, Clusters: []appliance.ID{9}}}
		}, "there is no cluster 9"},
		{nil, func(s *appliance.Site) { s.Division.Holidays = []appliance.Holiday{{Name: " x", Dates: dates}} }, "begins or ends"},

		{action(func(a *appliance.Action) { a.After = 2 * time.Hour }), action(func(a *appliance.Action) { a.After = 2*time.Hour + 1 }), "want 0 to 2h"},
		{nil, action(func(a *appliance.Action) { a.After = -1 }), "want 0 to 2h"},
		{nil, func(s *appliance.Site) { s.Scenes[0].Actions[0].After = 1 }, "everything at once"},
		{action(fades(appliance.LightLevel, 4*time.Second)), action(fades(appliance.LightLevel, 4*time.Second-1)), "want 4s to 2h"},
		{action(fades(appliance.LightOff, 2*time.Hour)), action(fades(appliance.LightOff, 2*time.Hour+1)), "want 4s to 2h"},
		{nil, action(fades(appliance.LightOff, -1)), "want 4s to 2h"},
		{nil, action(fades(appliance.LightOn, time.Minute)), "may take a time"},
		{nil, action(fades(appliance.ShadeOpen, time.Minute)), "may take a time"},
		{nil, action(func(a *appliance.Action) { *a = appliance.Action{Scene: -1, Over: time.Minute} }), "may take a time"},
		{nil, func(s *appliance.Site) { s.Scenes[0].Actions[0].Over = time.Minute }, "everything at once"},
		{action(func(a *appliance.Action) { a.Kind = appliance.LightOn }), action(func(a *appliance.Action) { a.Kind = 0 }), "no such command"},
		{action(func(a *appliance.Action) { a.Kind = appliance.ShadeMoveTo }), action(func(a *appliance.Action) { a.Kind = appliance.ShadeMoveTo + 1 }), "no such command"},
		{target(appliance.InCluster, -1), target(appliance.InCluster, 0), "want everything, a cluster"},
		{target(appliance.One, -1), target(appliance.All, -1), "want everything, a cluster"},
		{nil, target(0, 0), "want everything, a cluster"},
		{nil, target(4, -1), "want everything, a cluster"},
		{action(func(a *appliance.Action) { a.Level = 100 }), action(func(a *appliance.Action) { a.Level = 101 }), "want 0 to 100"},
		{nil, action(func(a *appliance.Action) { a.Level = -1 }), "want 0 to 100"},
		{action(func(a *appliance.Action) { a.Position = 100 }), action(func(a *appliance.Action) { a.Position = 101 }), "want 0 to 100"},
		{nil, action(func(a *appliance.Action) { a.Position = -1 }), "want 0 to 100"},
		{action(func(a *appliance.Action) { a.Kind, a.Kelvin = appliance.LightKelvin, 1000 }), action(func(a *appliance.Action) { a.Kind, a.Kelvin = appliance.LightKelvin, 999 }), "want 1000 to 20000"},
		{action(func(a *appliance.Action) { a.Kind, a.Kelvin = appliance.LightKelvin, 20000 }), action(func(a *appliance.Action) { a.Kind, a.Kelvin = appliance.LightKelvin, 20001 }), "want 1000 to 20000"},
		{action(func(a *appliance.Action) { a.Channel = 1 }), action(func(a *appliance.Action) { a.Channel = -1 }), "a channel number"},
		{action(func(a *appliance.Action) { a.Kind = appliance.ShadeStop }), action(func(a *appliance.Action) { a.Kind, a.Channel = appliance.ShadeStop, 1 }), "a channel number"},
		{actions(500), actions(501), "at most 500"},
		{rules(1000), rules(1001), "at most 1000"},
		{func(s *appliance.Site) { s.Rules[0].Yields = 24 * time.Hour }, func(s *appliance.Site) { s.Rules[0].Yields = 24*time.Hour + 1 }, "want 0 to 24 hours"},
		{nil, func(s *appliance.Site) { s.Rules[0].Yields = -1 }, "want 0 to 24 hours"},
		{nil, func(s *appliance.Site) { s.Rules[0].Name = "" }, "is missing"},
		{nil, func(s *appliance.Site) { s.Scenes[0].Name = "" }, "is missing"},

		{trigger(appliance.Trigger{Kind: appliance.AtTime, Minute: 1439}), trigger(appliance.Trigger{Kind: appliance.AtTime, Minute: 1440}), "00:00 to 23:59"},
		{trigger(appliance.Trigger{Kind: appliance.AtTime}), trigger(appliance.Trigger{Kind: appliance.AtTime, Minute: -1}), "00:00 to 23:59"},
		{trigger(appliance.Trigger{Kind: appliance.AtSunrise, Minute: -360}), trigger(appliance.Trigger{Kind: appliance.AtSunrise, Minute: -361}), "want -360 to 360"},
		{trigger(appliance.Trigger{Kind: appliance.AtSunset, Minute: 360}), trigger(appliance.Trigger{Kind: appliance.AtSunset, Minute: 361}), "want -360 to 360"},
		{trigger(appliance.Trigger{Kind: appliance.AtTime, Days: 127}), trigger(appliance.Trigger{Kind: appliance.AtTime, Days: 128}), "seven days"},
		{trigger(appliance.Trigger{Kind: appliance.AtTime, Holidays: appliance.NotHolidays}), trigger(appliance.Trigger{Kind: appliance.AtTime, Holidays: "some"}), "want not, only"},
		{trigger(appliance.Trigger{Kind: appliance.AtTime, Holidays: appliance.OnlyHolidays, Except: make([]appliance.Dates, 100)}), trigger(appliance.Trigger{Kind: appliance.AtTime, Except: make([]appliance.Dates, 101)}), "at most 100"},
		{value(func(w *appliance.Trigger) { w.Limit = -1e9 }), value(func(w *appliance.Trigger) { w.Limit = 1.1e9 }), "want a number"},
		{value(func(w *appliance.Trigger) { w.Quantity = appliance.OfLevel }), nil, ""},
		{value(func(w *appliance.Trigger) { w.For = 24 * time.Hour }), value(func(w *appliance.Trigger) { w.For = 24*time.Hour + 1 }), "want 0 to 24 hours"},
		{nil, value(func(w *appliance.Trigger) { w.For = -1 }), "want 0 to 24 hours"},
		{value(func(w *appliance.Trigger) { w.Channel = 1 }), value(func(w *appliance.Trigger) { w.Channel = -1 }), "a channel number"},
		{nil, value(func(w *appliance.Trigger) { w.Node = 0 }), "is missing"},
	} {
		for _, c := range []struct {
			change func(*appliance.Site)
			says   string
		}{{tc.taken, ""}, {tc.refused, tc.says}} {
			if c.change == nil {
				continue
			}
			site := base()
			c.change(&site)
			err := worked(site)
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d: %.200v, want %q", i, err, c.says)
			}
		}
	}
}

// planning works out imports into a new building, without asking the database anew for each.
func planning(t *testing.T) func(appliance.Site) error {
	t.Helper()
	s := open(t, t.TempDir())
	var empty *plan
	if err := s.view(t.Context(), func(tx *sql.Tx) (err error) {
		empty, err = newPlan(t.Context(), tx, appliance.Site{}, ImportOptions{}, time.Now())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return func(site appliance.Site) error {
		p := *empty
		p.in, p.byFamily, p.marks, p.touched = site, map[Family]*resolver{}, map[Family]appliance.ID{}, map[Family]map[appliance.ID]bool{}
		for _, f := range families {
			p.touched[f] = map[appliance.ID]bool{}
			p.byFamily[f] = &resolver{family: f, ids: empty.byFamily[f].ids, entries: entriesOf(site, f), complain: p.complain(f, site)}
		}
		return p.work()
	}
}

func floors(n int) func(*appliance.Site) {
	return func(s *appliance.Site) {
		s.Division.Floors = nil
		for i := range n {
			s.Division.Floors = append(s.Division.Floors, appliance.Floor{Name: fmt.Sprint(i)})
		}
	}
}

func actions(n int) func(*appliance.Site) {
	return func(s *appliance.Site) {
		for len(s.Scenes[0].Actions) < n {
			s.Scenes[0].Actions = append(s.Scenes[0].Actions, s.Scenes[0].Actions[0])
		}
	}
}

func rules(n int) func(*appliance.Site) {
	return func(s *appliance.Site) {
		for i := range n - 1 {
			r := s.Rules[0]
			r.ID, r.Name = appliance.ID(-2-i), fmt.Sprint(i)
			s.Rules = append(s.Rules, r)
		}
	}
}

// A writer that does not come free is told before the watchdog has the daemon started anew; a copy in memory has none.
func TestAWriterThatDoesNotComeFreeIsTold(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	alive := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return s.Alive(ctx)
	}
	if err := alive(); err != nil {
		t.Error(err)
	}
	h := s.db.Load()
	for name, db := range map[string]*sql.DB{"the configuration's": h.conf, "the last state's": h.behind} {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, giveUp := context.WithCancel(t.Context())
		told, before := make(chan error, 1), db.Stats().WaitCount
		go func() { told <- s.Alive(ctx) }()
		eventually(t, "somebody waits for the writer", func() bool { return db.Stats().WaitCount > before })
		giveUp()
		if err := <-told; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), name) {
			t.Errorf("with %s writer in use: %v", name, err)
		}
		conn.Close()
	}
	s.db.Store(&handles{read: h.read})
	if err := alive(); err != nil {
		t.Errorf("without writers: %v", err)
	}
	s.db.Store(h)
}

// What no other start of the daemon mends.
func TestWhatNoOtherStartMends(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	_, readonly := s.db.Load().read.Exec("UPDATE site SET name = 'x'")
	_, twice := s.db.Load().conf.Exec("INSERT INTO revision (subject, number) VALUES ('site', 1)")
	for err, broken := range map[error]bool{
		fmt.Errorf("open: %w", unix.EROFS): true, unix.ENOSPC: true, unix.EIO: true, unix.EDQUOT: true, readonly: true,
		unix.EAGAIN: false, twice: false, fs.ErrNotExist: false, errors.New("other"): false,
	} {
		if err == nil || Broken(err) != broken {
			t.Errorf("%v is of a disk or a file: %v", err, !broken)
		}
	}
}

// What is done once a night is done at three, or at any hour if the board was off for two nights.
func TestOnceANight(t *testing.T) {
	night := time.Date(2026, 11, 26, 3, 0, 0, 0, time.Local)
	for _, tc := range []struct {
		age  time.Duration // of the last
		hour int
		due  bool
	}{
		{24 * time.Hour, 3, true}, {23 * time.Hour, 3, true}, {23*time.Hour - 1, 3, false}, {24 * time.Hour, 2, false}, {24 * time.Hour, 4, false},
		{48*time.Hour - 1, 12, false}, {48 * time.Hour, 12, true}, {0, 3, false},
	} {
		now := night.Add(time.Duration(tc.hour-3) * time.Hour)
		if DueByNight(now.Add(-tc.age), now) != tc.due {
			t.Errorf("after %v, at %d o'clock: due %v", tc.age, tc.hour, !tc.due)
		}
	}
}

// A drill counts what a restore would bring.
func TestADrillTellsWhatWouldCome(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	imports(t, s, demo(), ImportOptions{})
	for _, name := range []string{"a", "b"} {
		if _, _, err := s.AddKey(t.Context(), name, true); err != nil {
			t.Fatal(err)
		}
	}
	file := t.TempDir() + "/house.backup"
	if err := s.Backup(t.Context(), file, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err := Drill(t.Context(), file, nil)
	if err != nil || d.Buses != 1 || d.Nodes != 3 || d.Shades != 2 || d.Clusters != 2 || d.Users != 0 || d.Keys != 2 || d.Profiles != 0 || d.Certificate || len(d.Unreadable) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Drill(t.Context(), file+"x", nil); err == nil {
		t.Error("a backup that is not there would be restored")
	}
	if _, err := s.db.Load().conf.Exec("UPDATE node SET options = '{' WHERE id = 3"); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), file, BackupOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	d, err = Drill(t.Context(), file, nil)
	if err != nil || d.Nodes != 2 || d.Shades != 0 || len(d.Unreadable) != 3 || !strings.HasPrefix(d.Unreadable[0], "node 3: ") {
		t.Errorf("with a node that cannot be read: %+v, %v; want it told, and its two shades", d, err)
	}
}
