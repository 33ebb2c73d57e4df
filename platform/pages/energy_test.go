package pages

import (
	"math"
	"testing"
	"time"

	"svc.internal/controller/platform"
)

func zurich(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestEnergyIsDrawnWhereTheClockOnSiteStood(t *testing.T) {
	zone := zurich(t)
	days := lastDays(time.Date(2026, 3, 4, 0, 30, 0, 0, zone))
	if days[0].Format(time.DateOnly) != "2026-02-26" || days[6].Format(time.DateOnly) != "2026-03-04" {
		t.Fatalf("days %v", days)
	}
	quarter, minute := 15*time.Minute, time.Minute
	rows := byHour(days, []platform.Energy{
		{Start: time.Date(2026, 3, 3, 22, 45, 0, 0, time.UTC), Length: quarter, WattHours: 10, Covered: 1}, // 23:45 on site
		{Start: time.Date(2026, 3, 3, 23, 0, 0, 0, time.UTC), Length: minute, WattHours: 2, Covered: 0.5},  // the next day there
		{Start: time.Date(2026, 3, 3, 23, 1, 0, 0, time.UTC), Length: minute, WattHours: 3, Covered: 1},
		{Start: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Length: minute, Covered: 1}, // measured, and nothing
		{Start: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Length: minute, WattHours: 9},
		{Start: time.Date(2026, 2, 25, 22, 59, 0, 0, time.UTC), Length: minute, WattHours: 9, Covered: 1}, // before the week
	})
	if h := rows[5][23]; h == nil || *h != (hour{10, 15}) {
		t.Errorf("23 h: %+v", h)
	}
	if h := rows[6][0]; h == nil || *h != (hour{5, 1.5}) {
		t.Errorf("midnight: %+v", h)
	}
	if h := rows[3][9]; h == nil || *h != (hour{0, 1}) {
		t.Errorf("an hour in which nothing was used: %+v", h)
	}
	known := 0
	for _, row := range rows {
		for _, h := range row {
			if h != nil {
				known++
			}
		}
	}
	if known != 3 {
		t.Errorf("%d hours are known, want 3: what was not measured is not there", known)
	}
}

// The days on which clocks are changed have 23 and 25 hours.
func TestEnergyOfDaysOnWhichClocksChange(t *testing.T) {
	zone := zurich(t)
	for _, c := range []struct {
		day     time.Time
		two     float64 // minutes of 2 h
		minutes float64
	}{{time.Date(2026, 3, 29, 0, 0, 0, 0, zone), 0, 23 * 60}, {time.Date(2026, 10, 25, 0, 0, 0, 0, zone), 120, 25 * 60}} {
		var read []platform.Energy
		for at := c.day; at.Before(c.day.AddDate(0, 0, 1)); at = at.Add(15 * time.Minute) {
			read = append(read, platform.Energy{Start: at, Length: 15 * time.Minute, WattHours: 1, Covered: 1})
		}
		row := byHour(lastDays(c.day.Add(20*time.Hour)), read)[6]
		minutes, two := 0.0, 0.0
		for i, h := range row {
			if h == nil {
				continue
			}
			if minutes += h.Minutes; i == 2 {
				two = h.Minutes
			}
		}
		if math.Abs(minutes-c.minutes) > 1e-6 || two != c.two {
			t.Errorf("%s: %v minutes, %v at two; want %v, %v", c.day.Format(time.DateOnly), minutes, two, c.minutes, c.two)
		}
	}
}

func TestFloorOfAMeter(t *testing.T) {
	floors := []platform.Floor{{Name: "Ground", Zones: []int64{1, 2}}, {Name: "First", Zones: []int64{3}}}
	for _, c := range []struct {
		zones []int64
		want  string
	}{{[]int64{1, 2}, "Ground"}, {[]int64{3}, "First"}, {[]int64{2, 3}, ""}, {nil, ""}, {[]int64{9}, ""}} {
		if got := floorOf(platform.Meter{Zones: c.zones}, floors); got != c.want {
			t.Errorf("%v: %q, want %q", c.zones, got, c.want)
		}
	}
}
