package pages

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
)

const (
	// weekDays is how many days are drawn, today among them.
	weekDays = 7
	// metersShown bounds the answer for one site; each takes some 3,400 intervals to read.
	metersShown = 32
)

// hour is what a meter measured in one hour of a day; nil: nothing was measured.
type hour struct {
	WattHours float64 `json:"wattHours"`
	Minutes   float64 `json:"minutes"` // of it that were measured
}

// measured is a week of one meter.
type measured struct {
	Node   int64  `json:"node"`
	Covers string `json:"covers"`
	Floor  string `json:"floor"` // on which all that it covers lies; empty: several, or the whole building
	// Days have 24 hours each, as clocks on site show them, in the order of energy.Days.
	Days [][]*hour `json:"days"`
}

// energy is the last week of a site.
type energy struct {
	TimeZone string     `json:"timeZone"`
	Days     []string   `json:"days"` // 2006-01-02
	Meters   []measured `json:"meters"`
	More     int        `json:"more"` // meters that are not in the list
}

// energy answers what the meters of a site measured in the last week, hour by hour.
func (d *Desk) energy(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	b, err := d.cfg.Sites.Building(ctx, id)
	if err != nil {
		return unnamed(err)
	}
	zone, err := time.LoadLocation(b.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	now := time.Now().In(zone)
	days := lastDays(now)
	out := energy{TimeZone: zone.String(), Meters: []measured{}, More: max(0, len(b.Meters)-metersShown)}
	for _, day := range days {
		out.Days = append(out.Days, day.Format(time.DateOnly))
	}
	for _, m := range b.Meters[:min(len(b.Meters), metersShown)] {
		read, err := d.cfg.Sites.Energy(ctx, id, m.Node, days[0], now)
		if err != nil {
			return err
		}
		out.Meters = append(out.Meters, measured{Node: m.Node, Covers: m.Covers, Floor: floorOf(m, b.Floors), Days: byHour(days, read)})
	}
	return answer(c, http.StatusOK, out)
}

// lastDays are the beginnings of the last days up to that of now, in its zone.
func lastDays(now time.Time) []time.Time {
	days := make([]time.Time, weekDays)
	y, m, d := now.Date()
	for i := range days {
		days[i] = time.Date(y, m, d-(weekDays-1)+i, 0, 0, 0, 0, now.Location())
	}
	return days
}

// byHour puts intervals where the clock on site stood. The hour that comes twice in autumn is
// one of up to 120 minutes.
func byHour(days []time.Time, read []platform.Energy) [][]*hour {
	out := make([][]*hour, len(days))
	row := map[string][]*hour{}
	for i, day := range days {
		out[i] = make([]*hour, 24)
		row[day.Format(time.DateOnly)] = out[i]
	}
	for _, e := range read {
		at := e.Start.In(days[0].Location())
		hours := row[at.Format(time.DateOnly)]
		if hours == nil || e.Covered <= 0 {
			continue
		}
		h := hours[at.Hour()]
		if h == nil {
			h = &hour{}
			hours[at.Hour()] = h
		}
		h.WattHours += e.WattHours
		h.Minutes += e.Covered * e.Length.Minutes()
	}
	return out
}

// floorOf is the floor on which everything lies that a meter covers; empty: there is no one floor.
func floorOf(m platform.Meter, floors []platform.Floor) string {
	on := map[int64]string{}
	for _, f := range floors {
		for _, z := range f.Zones {
			on[z] = f.Name
		}
	}
	if len(m.Zones) == 0 {
		return ""
	}
	floor := on[m.Zones[0]]
	for _, z := range m.Zones {
		if on[z] != floor {
			return ""
		}
	}
	return floor
}
