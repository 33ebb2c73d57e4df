package api_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/store"
)

// madeUp is a history that a test wrote, beside the ledger of a store.
type madeUp struct {
	*store.Store
	list   []appliance.Past // ascending
	oldest time.Time
}

func (m *madeUp) Oldest() time.Time { return m.oldest }

func (m *madeUp) Replay(_ context.Context, from, to time.Time, want func(appliance.Track) bool, tell func(appliance.Past) error) error {
	if m.oldest.IsZero() {
		return appliance.ErrNoPast
	}
	state, begun := map[appliance.Track]appliance.Past{}, false
	begin := func() error {
		if begun {
			return nil
		}
		begun = true
		for _, p := range state {
			p.At = from
			if err := tell(p); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range m.list {
		switch {
		case !want(p.Track) || !p.At.Before(to):
		case p.At.Before(from):
			state[p.Track] = p
		default:
			if err := begin(); err != nil {
				return err
			}
			if err := tell(p); err != nil {
				return err
			}
		}
	}
	return begin()
}

// yesterday at midnight UTC, which is the building's time.
func yesterday() time.Time {
	return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
}

func (h *house) lived() (from, to string) {
	day := yesterday()
	at := func(hours float64) time.Time { return day.Add(time.Duration(hours * float64(time.Hour))) }
	level := func(node appliance.ID) appliance.Track {
		return appliance.Track{Ref: appliance.Ref{Node: node, Channel: 1}, Aspect: appliance.LevelAspect}
	}
	position := appliance.Track{Ref: appliance.Ref{Shade: 5001}, Aspect: appliance.PositionAspect}
	online := appliance.Track{Ref: appliance.Ref{Node: 1}, Aspect: appliance.OnlineAspect}
	h.past.oldest = at(-5)
	h.past.list = []appliance.Past{
		{At: at(-5), Track: level(1), Value: 20, Known: true},
		{At: at(-5), Track: online, Value: 1, Known: true},
		{At: at(6), Track: level(2), Value: 100, Known: true},
		{At: at(8), Track: level(1), Value: 60, Known: true},
		{At: at(8.5), Track: position, Value: 30, Known: true},
		{At: at(10), Track: level(1)},
		{At: at(10), Track: online, Known: true},
		{At: at(10.5), Track: level(1), Value: 40, Known: true},
		{At: at(10.5), Track: online, Value: 1, Known: true},
	}
	return day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly)
}

func told(t api.PastTrack, day time.Time) string {
	var words []string
	for i, at := range t.At {
		value := "-"
		if t.Value[i] != nil {
			value = fmt.Sprint(*t.Value[i])
		}
		words = append(words, fmt.Sprintf("%g:%s", time.Unix(at, 0).Sub(day).Hours(), value))
	}
	return strings.Join(words, " ")
}

// A thing's day is told as it changed, or by steps as means over what is known; a room's as one.
func TestHistoryOfADay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	from, to := h.lived()
	day := yesterday()
	c := h.as(account.RoleViewer)
	for _, want := range []struct{ query, aspect, told string }{
		{"node=1&aspect=level", "level", "0:20 8:60 10:- 10.5:40"},
		{"node=1&aspect=online", "online", "0:1 10:0 10.5:1"},
		{"node=1&aspect=level&step=6h", "level", "0:20 6:40 12:40 18:40"},
		{"node=1&aspect=level&step=1d", "level", "0:34.89"},
		{"node=1&aspect=online&step=12h", "online", "0:0.96 12:1"},
		{"cluster=1&aspect=level&step=12h&together=true", "level", "0:53.71 12:70"},
		{"shade=5001&aspect=position", "position", "8.5:30"},
	} {
		var got api.Past
		c.must(200, "GET", "/history?from="+from+"&to="+to+"&"+want.query, nil, &got)
		if len(got.Tracks) != 1 || got.Tracks[0].Aspect != want.aspect || told(got.Tracks[0], day) != want.told {
			t.Errorf("%s: %+v, told %s, want %s", want.query, got.Tracks, told(got.Tracks[0], day), want.told)
		}
		if got.TimeZone != "UTC" || got.Oldest == nil || !got.Oldest.Equal(h.past.oldest) {
			t.Errorf("%s: %s, %v", want.query, got.TimeZone, got.Oldest)
		}
	}
	var all api.Past
	c.must(200, "GET", "/history?from="+from+"&to="+to, nil, &all)
	if n := len(all.Tracks); n != 2+3+2 { // levels; nodes; position and reachability of the shade
		t.Errorf("%d tracks of the whole building: %+v", n, all.Tracks)
	}
	c.must(200, "GET", "/history?node=1", nil, &all)
	if all.To.After(time.Now()) || all.From.After(all.To) {
		t.Errorf("today is %v to %v", all.From, all.To)
	}
}

// A file for a spreadsheet has the same, line by line.
func TestHistoryAsCSV(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	from, to := h.lived()
	c := h.as(account.RoleViewer)
	status, header, body := c.do("GET", "/history?format=csv&aspect=level&from="+from+"&to="+to, nil)
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/csv") || !strings.Contains(header.Get("Content-Disposition"), from+".csv") {
		t.Fatalf("%d %v", status, header)
	}
	lines, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	if err != nil || len(lines) != 6 {
		t.Fatalf("%v\n%s", err, body)
	}
	if got := strings.Join(lines[2], "|"); got != from+"T06:00:00Z|2|1||Lobby 2|level|100" {
		t.Error(got)
	}
	if got := strings.Join(lines[4], "|"); got != from+"T10:00:00Z|1|1||Lobby 1|level|" {
		t.Error(got)
	}
	_, _, body = c.do("GET", "/history?format=csv&node=1&aspect=level&step=12h&from="+from+"&to="+to, nil)
	if lines := strings.Split(strings.TrimSpace(string(body)), "\n"); len(lines) != 3 || !strings.HasSuffix(lines[2], ",level,40") {
		t.Errorf("%q", lines)
	}
}

// What cannot be told is refused with what to do.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleViewer)
	var p api.Problem
	c.must(503, "GET", "/history", nil, &p)
	if !strings.Contains(p.Detail, "no history") {
		t.Error(p.Detail)
	}
	from, to := h.lived()
	for query, status := range map[string]int{
		"node=99": 404, "cluster=99": 404, "shade=1": 404, "node=1&shade=5001": 400, "node=x": 400,
		"aspect=colour": 400, "from=yesterday": 400, "step=7m": 400, "step=1s": 400, "step=2d": 400, "together=true": 400,
		"from=" + to + "&to=" + from: 422, "from=2026-01-01&to=2026-03-01": 422,
	} {
		if got, _, body := c.do("GET", "/history?"+query, nil); got != status {
			t.Errorf("%s: %d, want %d: %s", query, got, status, body)
		}
	}
	level := h.past.list[0].Track
	h.past.list = nil
	for i := range 100_001 {
		h.past.list = append(h.past.list, appliance.Past{At: yesterday().Add(time.Duration(i) * time.Millisecond), Track: level, Value: float64(i % 100), Known: true})
	}
	c.must(422, "GET", "/history?node=1&aspect=level&from="+from+"&to="+to, nil, &p)
	if !strings.Contains(p.Detail, "longer steps") {
		t.Error(p.Detail)
	}
	if status, _, _ := c.do("GET", "/history?node=1&aspect=level&step=1m&from="+from+"&to="+to, nil); status != 200 {
		t.Errorf("by steps: %d", status)
	}
	if status, _, _ := c.do("GET", "/history?format=csv&node=1&aspect=level&from="+from+"&to="+to, nil); status != 200 {
		t.Errorf("as a file: %d", status)
	}
	if status, _, _ := h.client().do("GET", "/history", nil); status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", status)
	}
}

// Who did what in a room: whatever the command's target was, on a day of the building.
func TestLedgerOfARoom(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.lived()
	c := h.as(account.RoleOperator)
	level := 30
	for _, target := range []api.Target{{Scope: "node", ID: 1}, {Scope: "all"}} {
		c.must(200, "POST", "/commands", api.Command{Kind: "light-level", Target: target, Level: &level}, nil)
	}
	today := time.Now().UTC().Format(time.DateOnly)
	var got []api.Entry
	c.must(200, "GET", "/ledger?members=1&from="+yesterday().Format(time.DateOnly), nil, &got)
	if len(got) != 2 {
		t.Errorf("%d commands since yesterday, want 2", len(got))
	}
	c.must(200, "GET", "/ledger?members=1&to="+today, nil, &got)
	if len(got) != 0 {
		t.Errorf("%d commands before today", len(got))
	}
	c.must(404, "GET", "/ledger?members=9", nil, nil)
}
