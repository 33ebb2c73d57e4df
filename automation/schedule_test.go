package automation

import (
	"testing"
	"time"
	_ "time/tzdata"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// TestSchedulesFireOnceADayWhateverClocksDo goes through all days of ten years in zones that change their clocks in
// different ways, with a rule for every half hour, minute by minute around the changes.
func TestSchedulesFireOnceADayWhateverClocksDo(t *testing.T) {
	for _, name := range []string{
		"Europe/Berlin",       // an hour, at 02:00 and 03:00
		"America/New_York",    // the other half of the world's habit
		"Australia/Lord_Howe", // half an hour, in the southern summer
		"America/Santiago",    // at midnight: 00:00 is skipped, 23:00 comes twice
		"Africa/Cairo",        // at midnight, on a Friday
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			var rules []appliance.Rule
			for i := range 48 {
				rules = append(rules, appliance.Rule{ID: appliance.ID(i + 1), When: appliance.Trigger{Kind: appliance.AtTime, Minute: 30*i + i%2}})
			}
			changes, years := 0, drivertest.Size(10, 10)
			for y := range years {
				y += 2027
				for d := time.Date(y, 1, 1, 12, 0, 0, 0, time.UTC); d.Year() == y; d = d.AddDate(0, 0, 1) {
					if dayIs(t, zone, rules, d) {
						changes++
					}
				}
			}
			if changes < max(1, 2*years-2) {
				t.Errorf("the clocks changed %d times in %d years; the test sees too little", changes, years)
			}
		})
	}
}

// dayIs lets the engine run through one day and checks it; it reports whether clocks change on that day.
func dayIs(t *testing.T, zone *time.Location, rules []appliance.Rule, noon time.Time) bool {
	y, m, d := noon.Date()
	begin, end := firstOf(zone, y, m, d), firstOf(zone, y, m, d+1)
	changes := end.Sub(begin) != 24*time.Hour
	if !changes && (d != 15 || m != time.June) {
		return false // of days like others, one a year is enough
	}
	s := siteOf(rules, appliance.Division{TimeZone: zone.String()})
	e := newEngine(begin.Add(-time.Second))
	fired := map[appliance.ID][]time.Time{}
	for now := begin.Add(-time.Second); now.Before(end); now = now.Add(10 * time.Minute) {
		for _, f := range e.tick(now, s) {
			fired[f.rule.ID] = append(fired[f.rule.ID], f.at)
		}
	}
	for _, f := range e.tick(end.Add(-time.Second), s) {
		fired[f.rule.ID] = append(fired[f.rule.ID], f.at)
	}
	// The first moment of the day at which each minute is shown, found by looking at the clock all day.
	shows, gap := map[int]time.Time{}, time.Time{}
	_, offset := begin.Add(-time.Second).In(zone).Zone()
	for now := begin; now.Before(end); now = now.Add(time.Minute) {
		local := now.In(zone)
		if _, before := shows[minuteOf(local)]; !before {
			shows[minuteOf(local)] = now
		}
		if _, o := local.Zone(); o > offset {
			gap = now
		}
		_, offset = local.Zone()
	}
	for _, r := range rules {
		at := fired[r.ID]
		if len(at) != 1 {
			t.Errorf("%s %02d:%02d fires %d times: %v", noon.Format("2006-01-02"), r.When.Minute/60, r.When.Minute%60, len(at), at)
			continue
		}
		want, there := shows[r.When.Minute]
		if !there { // skipped: the end of the gap
			want = gap
		}
		if !at[0].Equal(want) {
			t.Errorf("%s %02d:%02d fires at %v, want %v", noon.Format("2006-01-02"), r.When.Minute/60, r.When.Minute%60, at[0].In(zone), want.In(zone))
		}
	}
	return changes
}

func minuteOf(t time.Time) int { return t.Hour()*60 + t.Minute() }

// firstOf is the first moment of a day, which need not be at midnight.
func firstOf(zone *time.Location, y int, m time.Month, d int) time.Time {
	at := time.Date(y, m, d, 12, 0, 0, 0, zone).Add(-15 * time.Hour)
	for at.In(zone).Day() != time.Date(y, m, d, 12, 0, 0, 0, time.UTC).Day() {
		at = at.Add(time.Minute)
	}
	return at
}

// Times of the Nautical Almanac's kind, to the minute, from the U.S. Naval Observatory and timeanddate.com.
func TestTheSunRisesWhereTheBuildingStands(t *testing.T) {
	zurich := Calendar{mustZone(t, "Europe/Zurich"), &appliance.Place{Latitude: 47.37, Longitude: 8.54}, nil}
	sydney := Calendar{mustZone(t, "Australia/Sydney"), &appliance.Place{Latitude: -33.87, Longitude: 151.21}, nil}
	for _, c := range []struct {
		where Calendar
		day   string
		kind  appliance.TriggerKind
		want  string
	}{
		{zurich, "2026-06-21", appliance.AtSunrise, "05:29"},
		{zurich, "2026-06-21", appliance.AtSunset, "21:26"},
		{zurich, "2026-12-21", appliance.AtSunrise, "08:10"},
		{zurich, "2026-12-21", appliance.AtSunset, "16:38"},
		{sydney, "2026-12-21", appliance.AtSunrise, "05:41"},
		{sydney, "2026-12-21", appliance.AtSunset, "20:05"},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		due, ok := c.where.on(day.Add(12*time.Hour), appliance.Trigger{Kind: c.kind})
		want, err := time.ParseInLocation("2006-01-02 15:04", c.day+" "+c.want, c.where.Zone)
		if err != nil {
			t.Fatal(err)
		}
		if off := due.At.Sub(want).Abs(); !ok || off > 2*time.Minute {
			t.Errorf("%s of %s: %v, want %v", c.kind, c.day, due.At.In(c.where.Zone), want)
		}
	}
	tromso := Calendar{mustZone(t, "Europe/Oslo"), &appliance.Place{Latitude: 69.65, Longitude: 18.96}, nil}
	if due, ok := tromso.on(time.Date(2026, 12, 21, 12, 0, 0, 0, time.UTC), appliance.Trigger{Kind: appliance.AtSunrise}); ok {
		t.Errorf("in the polar night the sun rises at %v", due.At)
	}
	if _, ok := (Calendar{Zone: time.UTC}).on(time.Date(2026, 6, 21, 12, 0, 0, 0, time.UTC), appliance.Trigger{Kind: appliance.AtSunset}); ok {
		t.Error("the sun sets at a place that nobody knows")
	}
}

func mustZone(t *testing.T, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestPreviewTellsOfOddClocks(t *testing.T) {
	c := Calendar{Zone: mustZone(t, "Europe/Berlin")}
	rules := []appliance.Rule{{ID: 1, When: appliance.Trigger{Kind: appliance.AtTime, Minute: 150, Days: 64}}} // Sundays, 02:30
	for _, want := range []struct {
		from, at string
		oddity   appliance.ClockOddity
	}{
		{"2026-03-23T00:00:00Z", "2026-03-29T03:00:00+02:00", appliance.ClockSkipped},
		{"2026-10-19T00:00:00Z", "2026-10-25T02:30:00+02:00", appliance.ClockTwice},
		{"2026-11-16T00:00:00Z", "2026-11-22T02:30:00+01:00", ""},
	} {
		from, err := time.Parse(time.RFC3339, want.from)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Due(rules, from, from.AddDate(0, 0, 7))
		if len(got) != 1 || got[0].At.In(c.Zone).Format(time.RFC3339) != want.at || got[0].Clock != want.oddity {
			t.Errorf("from %s: %+v, want %s %q", want.from, got, want.at, want.oddity)
		}
	}
}

// Holidays of the building, and days of a rule's own, with those that come every year and over its turn.
func TestHolidaysAndExceptions(t *testing.T) {
	dates := func(text string) appliance.Dates {
		d, err := appliance.ParseDates(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	zurich := mustZone(t, "Europe/Zurich")
	c := CalendarOf(appliance.Division{TimeZone: "Europe/Zurich", Holidays: []appliance.Holiday{{Name: "Christmas", Dates: dates("12-25..12-26")}, {Dates: dates("2027-01-01")}}})
	at := func(id appliance.ID, kind appliance.OnHolidays, except ...appliance.Dates) appliance.Rule {
		return off(id, appliance.Trigger{Kind: appliance.AtTime, Minute: 7 * 60, Holidays: kind, Except: except})
	}
	rules := []appliance.Rule{at(1, appliance.Always), at(2, appliance.NotHolidays), at(3, appliance.OnlyHolidays), at(4, appliance.Always, dates("12-24..01-01"), dates("2027-01-03"))}
	days := map[appliance.ID]string{}
	for _, due := range c.Due(rules, time.Date(2026, 12, 23, 0, 0, 0, 0, zurich), time.Date(2027, 1, 4, 23, 0, 0, 0, zurich)) {
		days[due.Rule] += " " + due.At.In(zurich).Format("2")
	}
	for id, want := range map[appliance.ID]string{1: " 23 24 25 26 27 28 29 30 31 1 2 3 4", 2: " 23 24 27 28 29 30 31 2 3 4", 3: " 25 26 1", 4: " 23 2 4"} {
		if days[id] != want {
			t.Errorf("rule %d acts on%s, want%s", id, days[id], want)
		}
	}
}
