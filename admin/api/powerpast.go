package api

import (
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// sourcesMost bounds the meters and floors of one answer.
const sourcesMost = 64

// PowerPast is what was used, by the hours of the building's clock.
type PowerPast struct {
	TimeZone string        `json:"timeZone"`
	Oldest   *time.Time    `json:"oldest" doc:"When the history begins; null: there is none yet."`
	Days     []string      `json:"days" doc:"Such as 2026-11-03."`
	Sources  []PowerSource `json:"sources" doc:"Each by itself: meters may cover the same rooms."`
	More     int           `json:"more" doc:"Meters and floors that are not in the list."`
}

// PowerSource is a meter, or the lights of a floor that measure themselves.
type PowerSource struct {
	Meter  appliance.ID `json:"meter,omitempty" doc:"The node that measures; left out: lights of a floor that measure themselves."`
	Covers string       `json:"covers,omitempty" doc:"What the meter covers, as its installer said."`
	Floor  string       `json:"floor" doc:"On which all of it is; empty: on several, or the whole building."`
	Lights int          `json:"lights,omitempty" doc:"So many lights measure themselves."`
	// Days have 24 hours each. The hour that comes twice in autumn is one.
	Days [][]*HourUsed `json:"days" doc:"24 hours for each day; null: nothing was measured."`
}

// HourUsed is what was used in an hour.
type HourUsed struct {
	WattHours float64 `json:"wattHours"`
	Minutes   float64 `json:"minutes" doc:"Of the hour that were measured."`
}

// powerPast answers what was used.
func (a *API) powerPast(c echo.Context) error {
	s := a.Core.Snapshot()
	zone := zoneOf(s)
	from, to, err := timesOf(c, zone, time.Now(), 6)
	if err != nil {
		return err
	}
	out := PowerPast{TimeZone: zone.String(), Oldest: stampOf(a.History.Oldest()), Days: daysOf(from, to, zone), Sources: []PowerSource{}}
	edges := edgesOf(from, to, time.Hour, zone)
	of := map[appliance.Track]*tally{}
	sources := sourcesOf(s)
	shown := sources[:min(len(sources), sourcesMost)]
	out.More = len(sources) - len(shown)
	tallies := make([]*tally, len(shown))
	for i, source := range shown {
		tallies[i] = newTally(edges)
		for _, track := range source.tracks {
			of[track] = tallies[i]
		}
	}
	if err := a.count(c.Request().Context(), from, to, of); err != nil {
		return err
	}
	for i, source := range shown {
		source.Days = hoursOf(tallies[i], out.Days, zone, max(1, len(source.tracks)))
		out.Sources = append(out.Sources, source.PowerSource)
	}
	return answer(c, http.StatusOK, out)
}

func daysOf(from, to time.Time, zone *time.Location) []string {
	days := []string{}
	y, m, d := from.In(zone).Date()
	for i := 0; ; i++ {
		day := time.Date(y, m, d+i, 0, 0, 0, 0, zone)
		if !day.Before(to) {
			return days
		}
		days = append(days, day.Format(time.DateOnly))
	}
}

// hoursOf puts what was added up where the clock of the building stood. Of several tracks together the time in which
// they were measured is their mean.
func hoursOf(t *tally, days []string, zone *time.Location, tracks int) [][]*HourUsed {
	out := make([][]*HourUsed, len(days))
	for i := range out {
		out[i] = make([]*HourUsed, 24)
	}
	const hour, minute = 3600e3, 60e3 // ms
	for i, known := range t.known {
		at := time.UnixMilli(t.edges[i]).In(zone)
		day := slices.Index(days, at.Format(time.DateOnly))
		if known == 0 || day < 0 {
			continue
		}
		h := &out[day][at.Hour()]
		if *h == nil {
			*h = &HourUsed{}
		}
		(*h).WattHours = tenths((*h).WattHours + t.sum[i]/hour)
		(*h).Minutes = tenths((*h).Minutes + known/minute/float64(tracks))
	}
	return out
}

// sourceOf is a source with what it measures.
type sourceOf struct {
	PowerSource
	tracks []appliance.Track
}

// sourcesOf are the meters of a building, as its installer named them, and then the lights that measure themselves, floor
// by floor.
func sourcesOf(s *appliance.Snapshot) (out []sourceOf) {
	d := s.Site.Division
	powers := func(n *appliance.NodeState) (tracks []appliance.Track) {
		for i, ch := range n.Channels {
			if ch.Abilities.Has(appliance.CanMeasure) {
				tracks = append(tracks, appliance.Track{Ref: appliance.Ref{Node: n.Node.ID, Channel: i + 1}, Aspect: appliance.PowerAspect})
			}
		}
		return tracks
	}
	taken := map[appliance.ID]bool{}
	for _, m := range d.Meters {
		if n := s.Node(m.Node); n != nil && !taken[m.Node] {
			taken[m.Node] = true
			out = append(out, sourceOf{PowerSource{Meter: m.Node, Covers: m.Covers, Floor: floorOf(m.Clusters, d.Floors)}, powers(n)})
		}
	}
	for _, f := range d.Floors {
		floor := sourceOf{PowerSource: PowerSource{Floor: f.Name}}
		for _, id := range f.Clusters {
			cl := s.Cluster(id)
			if cl == nil {
				continue
			}
			nodes, _ := membersOf(s, cl.Cluster)
			for _, n := range nodes {
				if tracks := powers(n); len(tracks) > 0 && !taken[n.Node.ID] && n.IsLight() {
					taken[n.Node.ID] = true
					floor.Lights, floor.tracks = floor.Lights+1, append(floor.tracks, tracks...)
				}
			}
		}
		if floor.Lights > 0 {
			out = append(out, floor)
		}
	}
	return out
}

// floorOf is the floor on which all clusters are; empty: there is no one floor.
func floorOf(clusters []appliance.ID, floors []appliance.Floor) string {
	for _, f := range floors {
		if len(clusters) > 0 && !slices.ContainsFunc(clusters, func(id appliance.ID) bool { return !slices.Contains(f.Clusters, id) }) {
			return f.Name
		}
	}
	return ""
}

func tenths(v float64) float64 { return math.Round(v*10) / 10 }
