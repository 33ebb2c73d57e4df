package api

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// History is what was: the older part of the ledger, and how things were.
type History interface {
	// Entries are those of the ledger, newest first: whose ID sorts before the given one, or all if it is empty.
	Entries(ctx context.Context, limit int, before string) ([]appliance.Entry, error)
	// Replay tells what the wanted tracks were from one time on until another: first those that are known at from, then
	// what changed, in the order of time. It ends with the error of tell, and fails with appliance.ErrNoPast.
	Replay(ctx context.Context, from, to time.Time, want func(appliance.Track) bool, tell func(appliance.Past) error) error
	// Oldest is when that begins; zero: there is nothing.
	Oldest() time.Time
}

const (
	// pastMost is the longest time that is told of at once: five weeks.
	pastMost = 35 * 24 * time.Hour
	// pointsMost bounds the values of one answer; linesMost the lines of a file, which is not made in memory.
	pointsMost, linesMost = 100_000, 1_000_000
)

// Past is what things were.
type Past struct {
	From     time.Time   `json:"from"`
	To       time.Time   `json:"to" doc:"Not later than now."`
	TimeZone string      `json:"timeZone" doc:"Of the building, by which steps and days are counted: IANA name, UTC where it is not known."`
	Oldest   *time.Time  `json:"oldest" doc:"When the history begins; null: there is none yet."`
	Step     int         `json:"step" doc:"Seconds; 0: every change, 86400: days as the building's clock counts them."`
	Tracks   []PastTrack `json:"tracks"`
}

// PastTrack is one aspect of one thing, or of all together.
type PastTrack struct {
	Node    appliance.ID `json:"node,omitempty"`
	Channel int          `json:"channel,omitempty" doc:"Of the node, from 1."`
	Shade   appliance.ID `json:"shade,omitempty"`
	Name    string       `json:"name" doc:"Of the node or shade; empty: of all that were asked for, together."`
	Aspect  string       `json:"aspect" enum:"level,power,position,online" doc:"level and position: percent, power: watts, online: 1 it answers, 0 it does not, in steps the part of the time in which it did."`
	At      []int64      `json:"at" doc:"Seconds since 1970: from here on it was so, or the step begins."`
	Value   []*float64   `json:"value" doc:"One for each time; null: not known. In steps the mean over the time in which it was known."`
}

// pastQuery is what somebody wants to know of the past.
type pastQuery struct {
	from, to time.Time
	zone     *time.Location
	step     time.Duration // 0: changes
	together bool
	tracks   []appliance.Track // ascending, of what there is
}

// past answers how things were.
func (a *API) past(c echo.Context) error {
	s := a.Core.Snapshot()
	q, err := pastQueryOf(c, s)
	if err != nil {
		return err
	}
	if c.QueryParam("format") == "csv" {
		return a.pastFile(c, s, q)
	}
	tracks, err := a.pastTracks(c.Request().Context(), s, q)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, Past{
		From: stamp(q.from), To: stamp(q.to), TimeZone: q.zone.String(), Oldest: stampOf(a.History.Oldest()), Step: int(q.step / time.Second), Tracks: tracks,
	})
}

func pastQueryOf(c echo.Context, s *appliance.Snapshot) (q pastQuery, err error) {
	q.zone = zoneOf(s)
	if q.from, q.to, err = timesOf(c, q.zone, time.Now(), 0); err != nil {
		return q, err
	}
	if q.step, err = stepOf(c.QueryParam("step")); err != nil {
		return q, err
	}
	q.together = c.QueryParam("together") == "true"
	if q.together && q.step == 0 {
		return q, refuse(http.StatusBadRequest, "together=true needs a step, such as step=15m")
	}
	q.tracks, err = tracksOf(c, s)
	return q, err
}

// zoneOf is the time zone of the building.
func zoneOf(s *appliance.Snapshot) *time.Location {
	zone, err := time.LoadLocation(s.Site.Division.TimeZone) // "" is UTC
	if err != nil {
		return time.UTC
	}
	return zone
}

// timesOf is the time that is asked for; from is midnight so many days ago if it is left out.
func timesOf(c echo.Context, zone *time.Location, now time.Time, daysAgo int) (from, to time.Time, err error) {
	y, m, d := now.In(zone).Date()
	times := [2]time.Time{time.Date(y, m, d-daysAgo, 0, 0, 0, 0, zone), now}
	for i, name := range []string{"from", "to"} {
		at, err := whenOf(c, name, zone)
		if err != nil {
			return from, to, err
		}
		if !at.IsZero() {
			times[i] = at
		}
	}
	from, to = times[0], times[1]
	switch {
	case !from.Before(to):
		return from, to, refuse(http.StatusUnprocessableEntity, "from has to be before to")
	case to.Sub(from) > pastMost+2*time.Hour: // five weeks in which the clock was changed
		return from, to, refuse(http.StatusUnprocessableEntity, "five weeks are told at once at most")
	}
	if to.After(now) {
		to = now
	}
	if to.Before(from) { // nothing of it has come yet
		to = from
	}
	return from, to, nil
}

// whenOf is a time, or the day of the building that begins then; zero if it is left out.
func whenOf(c echo.Context, name string, zone *time.Location) (time.Time, error) {
	said := c.QueryParam(name)
	if day, err := time.ParseInLocation(time.DateOnly, said, zone); err == nil {
		return day, nil
	}
	at, err := instant(c, name)
	if err != nil {
		return at, refuse(http.StatusBadRequest, name+"="+said+": want a day such as 2026-11-03, or a time such as 2026-11-03T08:00:00Z")
	}
	return at, nil
}

// stepOf reads the length of a step; empty: none.
func stepOf(said string) (time.Duration, error) {
	if said == "" {
		return 0, nil
	}
	const day = 24 * time.Hour
	step, err := time.ParseDuration(said)
	if said == "1d" {
		step, err = day, nil
	}
	if err != nil || step < time.Minute || step > day || day%step != 0 {
		return 0, refuse(http.StatusBadRequest, "step="+said+": want minutes or hours that divide a day, such as 1m, 15m, 1h, or 1d")
	}
	return step, nil
}

// tracksOf are the tracks that are asked for, ascending.
func tracksOf(c echo.Context, s *appliance.Snapshot) ([]appliance.Track, error) {
	aspects := map[string]bool{}
	for word := range strings.SplitSeq(c.QueryParam("aspect"), ",") {
		switch word = strings.TrimSpace(word); word {
		case "":
		case "level", "power", "position", "online":
			aspects[word] = true
		default:
			return nil, refuse(http.StatusBadRequest, "aspect="+word+": want level, power, position, online, or several with commas between")
		}
	}
	var ids [3]appliance.ID
	asked := 0
	for i, name := range []string{"node", "shade", "cluster"} {
		id, err := number(c, name, 0, int(appliance.MaxID))
		if err != nil {
			return nil, err
		}
		if ids[i] = appliance.ID(id); id != 0 {
			asked++
		}
	}
	if asked > 1 {
		return nil, refuse(http.StatusBadRequest, "give one of node, shade and cluster, or none for the whole building")
	}
	nodes, shades := s.Nodes, s.Shades
	if asked == 1 {
		nodes, shades = nil, nil
		switch node, shade, cluster := s.Node(ids[0]), s.Shade(ids[1]), s.Cluster(ids[2]); {
		case node != nil:
			nodes = append(nodes, node)
		case shade != nil:
			shades = append(shades, shade)
		case cluster != nil:
			nodes, shades = membersOf(s, cluster.Cluster)
		default:
			for i, what := range []string{"node", "shade", "cluster"} {
				if ids[i] != 0 {
					return nil, notThere(what, fmt.Sprint(ids[i]))
				}
			}
		}
	}
	var out []appliance.Track
	add := func(ref appliance.Ref, aspect appliance.Aspect, there bool) {
		if there && (len(aspects) == 0 || aspects[aspect.Word()]) {
			out = append(out, appliance.Track{Ref: ref, Aspect: aspect})
		}
	}
	for _, n := range nodes {
		for i, ch := range n.Channels {
			ref := appliance.Ref{Node: n.Node.ID, Channel: i + 1}
			add(ref, appliance.LevelAspect, ch.Abilities&appliance.GivesLight != 0)
			add(ref, appliance.PowerAspect, ch.Abilities.Has(appliance.CanMeasure))
		}
		add(appliance.Ref{Node: n.Node.ID}, appliance.OnlineAspect, true)
	}
	for _, sh := range shades {
		ref := appliance.Ref{Shade: sh.Shade.ID}
		add(ref, appliance.PositionAspect, true)
		add(ref, appliance.OnlineAspect, true)
	}
	return out, nil
}

func membersOf(s *appliance.Snapshot, c *appliance.Cluster) (nodes []*appliance.NodeState, shades []*appliance.ShadeState) {
	for _, id := range c.Nodes {
		if n := s.Node(id); n != nil {
			nodes = append(nodes, n)
		}
	}
	for _, id := range c.Shades {
		if sh := s.Shade(id); sh != nil {
			shades = append(shades, sh)
		}
	}
	return nodes, shades
}

// pastTracks are the values that are asked for.
func (a *API) pastTracks(ctx context.Context, s *appliance.Snapshot, q pastQuery) ([]PastTrack, error) {
	if q.step == 0 {
		return a.pastChanges(ctx, s, q)
	}
	edges := edgesOf(q.from, q.to, q.step, q.zone)
	of := map[appliance.Track]*tally{}
	var out []PastTrack
	var tallies []*tally
	if q.together {
		all := map[appliance.Aspect]*tally{}
		for _, t := range q.tracks {
			if all[t.Aspect] == nil {
				all[t.Aspect] = newTally(edges)
				tallies, out = append(tallies, all[t.Aspect]), append(out, PastTrack{Aspect: t.Aspect.Word()})
			}
			of[t] = all[t.Aspect]
		}
	} else {
		if len(q.tracks)*len(edges) > pointsMost {
			return nil, tooMuch(pointsMost)
		}
		for _, t := range q.tracks {
			of[t] = newTally(edges)
			tallies, out = append(tallies, of[t]), append(out, trackOf(s, t))
		}
	}
	if err := a.count(ctx, q.from, q.to, of); err != nil {
		return nil, err
	}
	for i, t := range tallies {
		out[i].At, out[i].Value = t.starts(), t.means(q.together && out[i].Aspect == "power")
	}
	return listOf(out), nil
}

// pastChanges are all changes.
func (a *API) pastChanges(ctx context.Context, s *appliance.Snapshot, q pastQuery) ([]PastTrack, error) {
	out, at := make([]PastTrack, len(q.tracks)), make(map[appliance.Track]int, len(q.tracks))
	for i, t := range q.tracks {
		out[i], at[t] = trackOf(s, t), i
	}
	points := 0
	err := a.replay(ctx, q, func(p appliance.Past) error {
		if points++; points > pointsMost {
			return tooMuch(pointsMost)
		}
		t := &out[at[p.Track]]
		t.At, t.Value = append(t.At, p.At.Unix()), append(t.Value, valueThen(p))
		return nil
	})
	return out, err
}

func (a *API) replay(ctx context.Context, q pastQuery, tell func(appliance.Past) error) error {
	wanted := make(map[appliance.Track]bool, len(q.tracks))
	for _, t := range q.tracks {
		wanted[t] = true
	}
	return pastError(a.History.Replay(ctx, q.from, q.to, func(t appliance.Track) bool { return wanted[t] }, tell))
}

func pastError(err error) error {
	if errors.Is(err, appliance.ErrNoPast) {
		return &refusal{status: http.StatusServiceUnavailable, detail: err.Error(), wait: time.Minute}
	}
	return err
}

func tooMuch(most int) error {
	return refuse(http.StatusUnprocessableEntity, fmt.Sprintf("that would be more than %d values: ask for a shorter time, for fewer things or aspects, or for longer steps", most))
}

func valueThen(p appliance.Past) *float64 {
	if !p.Known {
		return nil
	}
	return &p.Value
}

func trackOf(s *appliance.Snapshot, t appliance.Track) PastTrack {
	out := PastTrack{Node: t.Node, Channel: t.Channel, Shade: t.Shade, Aspect: t.Aspect.Word(), At: []int64{}, Value: []*float64{}}
	if sh := s.Shade(t.Shade); sh != nil {
		out.Name = sh.Shade.Name
	} else if n := s.Node(t.Node); n != nil {
		out.Name = n.Node.Name
	}
	return out
}

// pastTime is how long a file may take to be sent.
const pastTime = 2 * time.Minute

// pastFile sends the same as lines for a spreadsheet.
func (a *API) pastFile(c echo.Context, s *appliance.Snapshot, q pastQuery) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), pastTime)
	defer cancel()
	var steps []PastTrack
	var err error
	if q.step != 0 {
		steps, err = a.pastTracks(ctx, s, q)
	} else {
		lines := 0
		err = a.replay(ctx, q, func(appliance.Past) error {
			if lines++; lines > linesMost {
				return tooMuch(linesMost)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="history-`+q.from.In(q.zone).Format(time.DateOnly)+`.csv"`)
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(time.Now().Add(pastTime)) // where it cannot be set, the server's own holds
	w := csv.NewWriter(c.Response())
	_ = w.Write([]string{"time", "node", "channel", "shade", "name", "aspect", "value"}) // Flush tells
	line := func(t PastTrack, at time.Time, value *float64) {
		_ = w.Write([]string{at.In(q.zone).Format(time.RFC3339), orEmpty(int(t.Node)), orEmpty(t.Channel), orEmpty(int(t.Shade)), harmless(t.Name), t.Aspect, decimal(value)})
	}
	for _, t := range steps {
		for i, at := range t.At {
			line(t, time.Unix(at, 0), t.Value[i])
		}
	}
	if q.step == 0 {
		known := make(map[appliance.Track]PastTrack, len(q.tracks))
		for _, t := range q.tracks {
			known[t] = trackOf(s, t)
		}
		err = a.replay(ctx, q, func(p appliance.Past) error {
			line(known[p.Track], p.At, valueThen(p))
			return w.Error()
		})
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

func orEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// harmless keeps a spreadsheet from taking a name for a formula.
func harmless(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}

// edgesOf are the begins of the steps of a time, and its end, in milliseconds. Steps are counted from each midnight.
func edgesOf(from, to time.Time, step time.Duration, zone *time.Location) []int64 {
	edges := []int64{from.UnixMilli()}
	y, m, d := from.In(zone).Date()
	for i := 0; ; i++ {
		midnight, next := time.Date(y, m, d+i, 0, 0, 0, 0, zone), time.Date(y, m, d+i+1, 0, 0, 0, 0, zone)
		for at := midnight; at.Before(next); at = at.Add(step) {
			if !at.Before(to) {
				return append(edges, to.UnixMilli())
			}
			if at.After(from) {
				edges = append(edges, at.UnixMilli())
			}
			if step >= 24*time.Hour {
				break
			}
		}
	}
}

// tally adds up values over the steps of a time.
type tally struct {
	edges []int64   // ms
	sum   []float64 // value * ms
	known []float64 // ms
}

func newTally(edges []int64) *tally {
	return &tally{edges: edges, sum: make([]float64, len(edges)-1), known: make([]float64, len(edges)-1)}
}

// add says what a track was from one time on until another, in ms.
func (t *tally) add(value float64, from, to int64) {
	i, exact := slices.BinarySearch(t.edges, from)
	if !exact {
		i--
	}
	for i = max(i, 0); i < len(t.sum) && t.edges[i] < to; i++ {
		ms := float64(min(to, t.edges[i+1]) - max(from, t.edges[i]))
		t.sum[i] += value * ms
		t.known[i] += ms
	}
}

func (t *tally) starts() []int64 {
	out := make([]int64, len(t.sum))
	for i := range out {
		out[i] = t.edges[i] / 1000
	}
	return out
}

// means of the steps over the time in which something was known, or of a sum over the whole step.
func (t *tally) means(sum bool) []*float64 {
	out := make([]*float64, len(t.sum))
	for i := range out {
		over := t.known[i]
		if over == 0 {
			continue
		}
		if sum {
			over = float64(t.edges[i+1] - t.edges[i])
		}
		mean := math.Round(t.sum[i]/over*100) / 100
		out[i] = &mean
	}
	return out
}

// count adds up the tracks in their tallies.
func (a *API) count(ctx context.Context, from, to time.Time, of map[appliance.Track]*tally) error {
	last := make(map[appliance.Track]appliance.Past, len(of))
	err := a.History.Replay(ctx, from, to, func(t appliance.Track) bool { return of[t] != nil }, func(p appliance.Past) error {
		if was := last[p.Track]; was.Known {
			of[p.Track].add(was.Value, was.At.UnixMilli(), p.At.UnixMilli())
		}
		last[p.Track] = p
		return nil
	})
	if err != nil {
		return pastError(err)
	}
	for track, was := range last {
		if was.Known {
			of[track].add(was.Value, was.At.UnixMilli(), to.UnixMilli())
		}
	}
	return nil
}
