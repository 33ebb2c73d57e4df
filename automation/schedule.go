package automation

import (
	"cmp"
	"slices"
	"time"

	"github.com/nathan-osman/go-sunrise"

	"svc.internal/controller/appliance"
)

// Calendar is what a building's clock and sun go by.
type Calendar struct {
	Zone  *time.Location
	Place *appliance.Place // nil: not known, and nothing goes by the sun

	Holidays []appliance.Holiday
}

// CalendarOf reads a building's calendar. A zone that is not known is UTC.
func CalendarOf(d appliance.Division) Calendar {
	zone, err := time.LoadLocation(d.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	return Calendar{zone, d.Place, d.Holidays}
}

// on is when a trigger acts on a day, which is given as its noon in UTC; false if it does not on that day. Each day has one such moment at
// most: where clocks are changed, a time that comes twice counts the first time, and one that is skipped at the end of
// the gap.
func (c Calendar) on(day time.Time, trigger appliance.Trigger) (appliance.Due, bool) {
	y, m, d := day.Date()
	if !c.holds(day, trigger) {
		return appliance.Due{}, false
	}
	var due appliance.Due
	switch trigger.Kind {
	case appliance.AtTime:
		due.At, due.Clock = c.wall(y, m, d, trigger.Minute)
		if due.At.In(c.Zone).Day() != d { // a day that the zone left out
			return due, false
		}
	case appliance.AtSunrise, appliance.AtSunset:
		if c.Place == nil {
			return due, false
		}
		rise, set := sunrise.SunriseSunset(c.Place.Latitude, c.Place.Longitude, y, m, d)
		if due.At = rise; trigger.Kind == appliance.AtSunset {
			due.At = set
		}
		if due.At.IsZero() { // the sun neither rises nor sets on that day
			return due, false
		}
		due.At = due.At.Add(time.Duration(trigger.Minute) * time.Minute)
	default:
		return due, false
	}
	return due, true
}

// holds reports whether a trigger counts on a day.
func (c Calendar) holds(day time.Time, trigger appliance.Trigger) bool {
	y, m, d := day.Date()
	holiday := slices.ContainsFunc(c.Holidays, func(h appliance.Holiday) bool { return h.Dates.Has(y, m, d) })
	except := slices.ContainsFunc(trigger.Except, func(e appliance.Dates) bool { return e.Has(y, m, d) })
	return trigger.Days.Has(day.Weekday()) && !except && (trigger.Holidays == appliance.Always || holiday == (trigger.Holidays == appliance.OnlyHolidays))
}

// wall is the moment at which clocks on the wall show a minute of a day.
func (c Calendar) wall(y int, m time.Month, d, minute int) (time.Time, appliance.ClockOddity) {
	as := time.Date(y, m, d, 0, minute, 0, 0, time.UTC) // what the clock shows, as if in UTC
	offset := func(at time.Time) time.Duration {
		_, s := at.In(c.Zone).Zone()
		return time.Duration(s) * time.Second
	}
	before, after := offset(as.Add(-24*time.Hour)), offset(as.Add(24*time.Hour))
	first, second := as.Add(-before), as.Add(-after)
	shows := func(at time.Time) bool { return at.Add(offset(at)).Equal(as) }
	switch {
	case shows(first) && shows(second) && before != after:
		return first, appliance.ClockTwice
	case shows(first):
		return first, ""
	case shows(second):
		return second, ""
	}
	gap, _ := first.In(c.Zone).ZoneBounds()
	return gap, appliance.ClockSkipped
}

// Due lists when rules are to act by clock and sun after from, up to and at to, the earliest first.
func (c Calendar) Due(rules []appliance.Rule, from, to time.Time) []appliance.Due {
	var out []appliance.Due
	// Offsets from the sun reach into the days beside, and so does a day elsewhere.
	y, m, d := from.In(c.Zone).Date()
	for day := time.Date(y, m, d-1, 12, 0, 0, 0, time.UTC); day.Before(to.Add(48 * time.Hour)); day = day.AddDate(0, 0, 1) {
		for i := range rules {
			r := &rules[i]
			due, ok := c.on(day, r.When)
			if !ok || r.Disabled || !due.At.After(from) || due.At.After(to) {
				continue
			}
			due.Rule = r.ID
			out = append(out, due)
		}
	}
	slices.SortFunc(out, func(a, b appliance.Due) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Rule, b.Rule)) })
	return out
}
