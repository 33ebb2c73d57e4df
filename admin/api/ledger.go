package api

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// historyPage is how many entries are looked at in one go.
const historyPage = 500

// ledger lists commands and what became of them, newest first: of a node, a shade, a
// cluster, a person, a door, in a span of time.
func (a *API) ledger(c echo.Context) error {
	limit, err := number(c, "limit", 50, 1000)
	if err != nil {
		return err
	}
	match, err := a.ledgerQuery(c)
	if err != nil {
		return err
	}
	out := []Entry{}
	add := func(entries []appliance.Entry) (full bool) {
		for _, e := range entries {
			if match(e) {
				if out = append(out, entryOf(e)); len(out) >= limit {
					return true
				}
			}
		}
		return false
	}
	// What is in memory may not be on the disk yet.
	before := c.QueryParam("before")
	recent := a.Core.RecentEntries()
	slices.SortFunc(recent, func(x, y appliance.Entry) int { return strings.Compare(y.ID, x.ID) })
	recent = slices.DeleteFunc(recent, func(e appliance.Entry) bool { return before != "" && e.ID >= before })
	if add(recent) {
		return answer(c, http.StatusOK, out)
	}
	if len(recent) > 0 {
		before = recent[len(recent)-1].ID
	}
	for {
		page, err := a.History.Entries(c.Request().Context(), historyPage, before)
		if err != nil {
			return err
		}
		if add(page) || len(page) < historyPage {
			return answer(c, http.StatusOK, out)
		}
		before = page[len(page)-1].ID
	}
}

// ledgerQuery is what the query asks for.
func (a *API) ledgerQuery(c echo.Context) (func(appliance.Entry) bool, error) {
	s := a.Core.Snapshot()
	var ids [4]int
	for i, name := range []string{"node", "shade", "cluster", "members"} {
		var err error
		if ids[i], err = number(c, name, 0, int(appliance.MaxID)); err != nil {
			return nil, err
		}
	}
	var span [2]time.Time
	for i, name := range []string{"from", "to"} {
		var err error
		if span[i], err = whenOf(c, name, zoneOf(s)); err != nil {
			return nil, err
		}
	}
	who, via := c.QueryParam("who"), c.QueryParam("via")
	failed, given := c.QueryParam("failed") == "true", c.QueryParam("given") == "true"
	node, shade, cluster := appliance.ID(ids[0]), appliance.ID(ids[1]), appliance.ID(ids[2])
	of := appliance.ID(ids[3])
	if of != 0 && s.Cluster(of) == nil {
		return nil, notThere("cluster", c.QueryParam("members"))
	}
	within := func(m appliance.Member) bool {
		return slices.Contains(s.Index.ClustersOfNode[m.Ref.Node], of) || slices.Contains(s.Index.ClustersOfShade[m.Ref.Shade], of)
	}
	return func(e appliance.Entry) bool {
		switch {
		case who != "" && e.Command.Origin.Who != who, via != "" && e.Command.Origin.Via != via,
			failed && e.OK(), given && e.Command.Origin.Via == appliance.ViaShadeEngine, !span[0].IsZero() && e.AcceptedAt.Before(span[0]), !span[1].IsZero() && !e.AcceptedAt.Before(span[1]):
			return false
		case cluster != 0 && e.Command.Target != appliance.Target{Scope: appliance.InCluster, ID: cluster}:
			return false
		case of != 0 && !slices.ContainsFunc(e.Members, within):
			return false
		case node == 0 && shade == 0:
			return true
		}
		return slices.ContainsFunc(e.Members, func(m appliance.Member) bool {
			return node != 0 && m.Ref.Node == node || shade != 0 && m.Ref.Shade == shade
		})
	}, nil
}

// EntryDetail is an entry with the frames that passed on its buses meanwhile, as long
// as the flight recorders have them.
type EntryDetail struct {
	Entry
	Frames []BusFrame `json:"frames"`
}

// BusFrame is a frame and the bus it passed on.
type BusFrame struct {
	Bus string `json:"bus"`
	Frame
}

// Frame is one piece of traffic on a bus.
type Frame struct {
	At        time.Time `json:"at"`
	Direction string    `json:"direction" enum:"sent,received,discarded"`
	Hex       string    `json:"hex"`
	Note      string    `json:"note,omitempty"`
	Lost      int       `json:"lost,omitempty" doc:"Frames before this one that a slow reader missed."`
	Decoded   string    `json:"decoded,omitempty" doc:"What the bytes mean, in one line; controllerd bus decode tells every field."`
}

var directionWords = map[appliance.Direction]string{
	appliance.FrameSent: "sent", appliance.FrameReceived: "received", appliance.FrameDiscarded: "discarded",
}

func (a *API) frameOf(b *appliance.Bus, f appliance.Frame) Frame {
	out := Frame{At: f.At.UTC(), Direction: directionWords[f.Direction], Hex: hex.EncodeToString(f.Bytes), Note: f.Note, Lost: f.Lost}
	out.Decoded = a.Within.Explain(b, out)
	return out
}

// entry tells one command with its frames.
func (a *API) entry(c echo.Context) error {
	id := c.Param("id")
	e, ok := a.Core.Entry(id)
	if !ok {
		// The one whose ID is the highest below its successor.
		page, err := a.History.Entries(c.Request().Context(), 1, id+"~")
		if err != nil {
			return err
		}
		if len(page) == 0 || page[0].ID != id {
			return notThere("command", id)
		}
		e = page[0]
	}
	return answer(c, http.StatusOK, EntryDetail{entryOf(e), a.framesOf(e)})
}

// framesMost are told of one command.
const framesMost = 500

func (a *API) framesOf(e appliance.Entry) []BusFrame {
	out := []BusFrame{}
	s := a.Core.Snapshot()
	done := map[string]bool{}
	for _, m := range e.Members {
		node := m.Ref.Node
		if sh := s.Shade(m.Ref.Shade); sh != nil {
			node = sh.Shade.Node
		}
		n := s.Node(node)
		if n == nil {
			continue
		}
		bus, err := findBus(s, n.Node.Bus.String())
		if err != nil || done[bus.Bus.Name] {
			continue
		}
		done[bus.Bus.Name] = true
		rec, err := a.Core.Recorder(bus.Bus.Name)
		if err != nil {
			continue // a bus that records nothing
		}
		for _, f := range rec.Recent() {
			if !f.At.Before(e.AcceptedAt) && !f.At.After(e.DoneAt) && len(out) < framesMost {
				out = append(out, BusFrame{bus.Bus.Name, a.frameOf(bus.Bus, f)})
			}
		}
	}
	slices.SortStableFunc(out, func(x, y BusFrame) int { return x.At.Compare(y.At) })
	return out
}
