package api

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Site is the building's name and settings, and what is wrong with its configuration.
type Site struct {
	ETag         string        `json:"etag"`
	Name         string        `json:"name"`
	InvertShades bool          `json:"invertShades" doc:"Turns the direction of shades on /svc/api, for houses whose Controller 1.0 meant 0 = open."`
	Freshness    Freshness     `json:"freshness"`
	TimeZone     string        `json:"timeZone" doc:"IANA name; empty: not known, and rules go by UTC."`
	Latitude     *float64      `json:"latitude" doc:"Degrees, north positive; null: not known."`
	Longitude    *float64      `json:"longitude"`
	Holidays     []Holiday     `json:"holidays" doc:"When rules may act otherwise than on other days."`
	Faults       []Fault       `json:"faults" doc:"Entries that were set aside while the rest runs."`
	Floors       []FloorOfSite `json:"floors" doc:"From the bottom up."`
}

// Freshness is the age in seconds that values may reach before they are read again;
// 0 is the usual one.
type Freshness struct {
	Light       float64 `json:"light"`
	MovingShade float64 `json:"movingShade"`
	IdleShade   float64 `json:"idleShade"`
	Power       float64 `json:"power"`
}

// Holiday is a day, or some in a row.
type Holiday struct {
	Name  string `json:"name,omitempty"`
	Dates string `json:"dates" doc:"2026-12-24, 12-25 of every year, 12-24..01-02."`
}

// Fault names an entry that was set aside.
type Fault struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

func siteOf(s *appliance.Snapshot) Site {
	f := s.Site.Settings.Freshness
	d := s.Site.Division
	out := Site{
		ETag: etagOf(configOf(s.Site.Name, s.Site.Settings, d)), Name: s.Site.Name, InvertShades: s.Site.Settings.InvertShades,
		Freshness: Freshness{f.Light.Seconds(), f.MovingShade.Seconds(), f.IdleShade.Seconds(), f.Power.Seconds()},
		TimeZone:  d.TimeZone,
		Holidays:  []Holiday{},
		Faults:    faultsOf(s),
		Floors:    floorsOf(d),
	}
	for _, h := range d.Holidays {
		out.Holidays = append(out.Holidays, Holiday{h.Name, h.Dates.String()})
	}
	if d.Place != nil {
		out.Latitude, out.Longitude = &d.Place.Latitude, &d.Place.Longitude
	}
	return out
}

func faultsOf(s *appliance.Snapshot) []Fault {
	out := make([]Fault, len(s.Faults))
	for i, f := range s.Faults {
		out[i] = Fault(f)
	}
	return out
}

// recordsOf writes the records of a snapshot's states.
func recordsOf[S, R any](s *appliance.Snapshot, states []S, record func(*appliance.Snapshot, S) R) []R {
	out := make([]R, len(states))
	for i, state := range states {
		out[i] = record(s, state)
	}
	return out
}

// siteConfig is what the entity tag of the site is made from.
type siteConfig struct {
	Name     string
	Settings appliance.Settings
	TimeZone string
	Place    *appliance.Place
	Holidays []appliance.Holiday
}

func configOf(name string, set appliance.Settings, d appliance.Division) siteConfig {
	return siteConfig{name, set, d.TimeZone, d.Place, d.Holidays}
}

func (a *API) site(c echo.Context) error {
	s := siteOf(a.Core.Snapshot())
	return tagged(c, http.StatusOK, s.ETag, s)
}

func (a *API) nodes(c echo.Context) error {
	s := a.Core.Snapshot()
	return answer(c, http.StatusOK, recordsOf(s, s.Nodes, nodeOf))
}

func (a *API) shades(c echo.Context) error {
	s := a.Core.Snapshot()
	return answer(c, http.StatusOK, recordsOf(s, s.Shades, shadeOf))
}

func (a *API) clusters(c echo.Context) error {
	s := a.Core.Snapshot()
	return answer(c, http.StatusOK, recordsOf(s, s.Clusters, clusterOf))
}

func (a *API) buses(c echo.Context) error {
	s := a.Core.Snapshot()
	return answer(c, http.StatusOK, recordsOf(s, s.Buses, busOf))
}

func (a *API) nodeID(c echo.Context) appliance.ID {
	return pathID(c, a.Core.Snapshot().Nodes, func(n *appliance.NodeState) (appliance.UUID, appliance.ID) { return n.Node.UUID, n.Node.ID })
}

func (a *API) node(c echo.Context) error {
	s, id := a.Core.Snapshot(), a.nodeID(c)
	n := s.Node(id)
	if n == nil {
		return notThere("node", c.Param("id"))
	}
	r := nodeOf(s, n)
	return tagged(c, http.StatusOK, r.ETag, r)
}

func (a *API) shadeID(c echo.Context) appliance.ID {
	return pathID(c, a.Core.Snapshot().Shades, func(h *appliance.ShadeState) (appliance.UUID, appliance.ID) { return h.Shade.UUID, h.Shade.ID })
}

func (a *API) shade(c echo.Context) error {
	s, id := a.Core.Snapshot(), a.shadeID(c)
	sh := s.Shade(id)
	if sh == nil {
		return notThere("shade", c.Param("id"))
	}
	r := shadeOf(s, sh)
	return tagged(c, http.StatusOK, r.ETag, r)
}

func (a *API) clusterID(c echo.Context) appliance.ID {
	return pathID(c, a.Core.Snapshot().Clusters, func(cl *appliance.ClusterState) (appliance.UUID, appliance.ID) { return cl.Cluster.UUID, cl.Cluster.ID })
}

func (a *API) cluster(c echo.Context) error {
	s, id := a.Core.Snapshot(), a.clusterID(c)
	cl := s.Cluster(id)
	if cl == nil {
		return notThere("cluster", c.Param("id"))
	}
	r := clusterOf(s, cl)
	return tagged(c, http.StatusOK, r.ETag, r)
}

func (a *API) bus(c echo.Context) error {
	s := a.Core.Snapshot()
	b, err := findBus(s, c.Param("bus"))
	if err != nil {
		return err
	}
	r := busDetailOf(s, b)
	return tagged(c, http.StatusOK, r.ETag, r)
}

// findBus finds a bus by name, UUID or number.
func findBus(s *appliance.Snapshot, said string) (*appliance.BusState, error) {
	uuid, _ := appliance.ParseUUID(said)
	for _, b := range s.Buses {
		if b.Bus.Name == said || strconv.Itoa(b.Bus.Number) == said && b.Bus.Number > 0 || !uuid.IsZero() && b.Bus.UUID == uuid {
			return b, nil
		}
	}
	return nil, notThere("bus", said)
}

// pathID is the ID in a path, which may be the UUID of one of list as well; 0 if it is neither.
func pathID[T any](c echo.Context, list []T, names func(T) (appliance.UUID, appliance.ID)) appliance.ID {
	said := c.Param("id")
	if u, err := appliance.ParseUUID(said); err == nil {
		for _, v := range list {
			if uuid, id := names(v); uuid == u {
				return id
			}
		}
		return 0
	}
	n, err := strconv.ParseInt(said, 10, 32)
	if err != nil {
		return 0
	}
	return appliance.ID(n)
}

func notThere(what, said string) error {
	return refuse(http.StatusNotFound, fmt.Sprintf("there is no %s %q", what, said))
}
