package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/sse"
	"svc.internal/controller/shelf/web"
)

// site is one line of the list of sites.
type site struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	State    string     `json:"state"` // "online", "offline", "invited", "expired", "revoked"
	LastSeen *time.Time `json:"lastSeen"`
	Firmware string     `json:"firmware"`
	Devices  int        `json:"devices"`
	Silent   int        `json:"silent"` // of the devices, those that do not answer
}

func siteOf(e platform.Enrolment, now time.Time) site {
	s := site{ID: e.ID, Name: e.Name, State: "offline", Firmware: e.Firmware}
	if !e.LastSeen.IsZero() {
		at := e.LastSeen.UTC()
		s.LastSeen = &at
	}
	switch {
	case e.Revoked:
		s.State = "revoked"
	case e.EnrolledAt.IsZero() && now.After(e.CodeUntil):
		s.State = "expired"
	case e.EnrolledAt.IsZero():
		s.State = "invited"
	case platform.Reachable(e.Controller, now):
		s.State = "online"
	}
	return s
}

// sites lists all controllers by ID.
func (d *Desk) sites(ctx context.Context) ([]site, error) {
	all, err := d.cfg.Store.Enrolments(ctx)
	if err != nil {
		return nil, err
	}
	answering, err := d.cfg.Answering(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]site, len(all))
	for i, e := range all {
		out[i] = siteOf(e, time.Now())
		out[i].Devices, out[i].Silent = answering[e.ID].Devices, answering[e.ID].Silent
	}
	return out, nil
}

func (d *Desk) list(c echo.Context) error {
	all, err := d.news.sites(c.Request().Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, all)
}

// eventsShown is how many of the latest events a page shows, from at most eventsFrom ago.
const (
	eventsShown = 20
	eventsFrom  = 30 * 24 * time.Hour
)

// zone is a zone with how it is.
type zone struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Floor  string `json:"floor"`
	Lights int    `json:"lights"`
	LitNow int    `json:"litNow"`
	Shades int    `json:"shades"`
	Silent int    `json:"silent"` // devices that do not answer
}

// trouble is a device that needs somebody.
type trouble struct {
	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	What     string    `json:"what"` // empty: it does not answer
	LastSeen time.Time `json:"lastSeen"`
}

// read tells how a site is, as its controller last said.
func (d *Desk) read(c echo.Context) error {
	ctx, id := c.Request().Context(), c.Param("id")
	e, err := d.cfg.Store.Enrolment(ctx, id)
	if err != nil {
		return unnamed(err)
	}
	now := time.Now()
	out := struct {
		site
		TimeZone string           `json:"timeZone"`
		Zones    []zone           `json:"zones"`
		Troubles []trouble        `json:"troubles"`
		Events   []platform.Event `json:"events"`
		LeftOut  any              `json:"leftOut"` // null: nothing
	}{site: siteOf(e, now), Zones: []zone{}, Troubles: []trouble{}}
	b, err := d.cfg.Sites.Building(ctx, id)
	if err != nil {
		return unnamed(err)
	}
	out.TimeZone, out.LeftOut = b.TimeZone, d.cfg.LeftOut(id)
	devices, err := d.cfg.Sites.Devices(ctx, id)
	if err != nil {
		return err
	}
	out.Devices = len(devices)
	for _, dev := range devices {
		if !dev.Online {
			out.Silent++
		}
		if !dev.Online || dev.Trouble != "" {
			out.Troubles = append(out.Troubles, trouble{dev.Name, dev.Kind, dev.Trouble, dev.LastSeen})
		}
	}
	zones, err := d.cfg.Sites.Zones(ctx, id)
	if err != nil {
		return err
	}
	for _, z := range zones {
		out.Zones = append(out.Zones, count(z, devices))
	}
	if out.Events, err = d.cfg.Sites.Events(ctx, id, now.Add(-eventsFrom), now.Add(time.Minute), eventsShown); err != nil {
		return err
	}
	return answer(c, http.StatusOK, out)
}

func count(z platform.Zone, devices []platform.Device) zone {
	out := zone{ID: z.ID, Name: z.Name, Floor: z.Floor}
	for _, dev := range devices {
		if !slices.Contains(dev.Zones, z.ID) {
			continue
		}
		switch dev.Kind {
		case platform.KindLight:
			out.Lights++
			if dev.Online && dev.Level != nil && dev.Level.Value > 0 {
				out.LitNow++
			}
		case platform.KindShade:
			out.Shades++
		}
		if !dev.Online {
			out.Silent++
		}
	}
	return out
}

// freshFor is how long a list of sites is new enough for everybody who looks.
const freshFor = 1500 * time.Millisecond

// news shares one look at the database among all streams.
type news struct {
	load func(context.Context) ([]site, error)

	mu  sync.Mutex
	all []site
	at  time.Time
}

func (n *news) sites(ctx context.Context) ([]site, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.at) < freshFor {
		return n.all, nil
	}
	all, err := n.load(ctx)
	if err == nil {
		n.all, n.at = all, time.Now()
	}
	return all, err
}

// Streams that are open at a time: of a user, from an address, which may be a proxy, and in all.
const streamsUser, streamsAddress, streamsMost = 16, 256, 1024

// Rhythm of a stream.
const (
	lookEvery = 2 * time.Second
	tickEvery = 15 * time.Second
	checkMost = 5 * time.Second // between looks at whether one is still logged in
)

// events streams the list of sites whenever it changes, and a tick, until whoever reads is gone or may no longer.
func (d *Desk) events(c echo.Context) error {
	ctx := c.Request().Context()
	all, err := d.news.sites(ctx)
	if err != nil {
		return err
	}
	who, _ := web.CallerOf(c)
	mine, err := d.streams.Enter(who.Name, web.Peer(c.Request()))
	if err != nil {
		return fmt.Errorf("%w: %w", platform.ErrOverloaded, err)
	}
	defer mine.Leave()
	s := sse.Open(c)
	defer s.Close()
	tick := func() error { return s.Send("tick", map[string]time.Time{"time": time.Now().UTC()}) }
	if tick() != nil || s.Send("sites", all) != nil {
		return nil // the reader is gone
	}
	look, beat, check := time.NewTicker(lookEvery), time.NewTicker(tickEvery), time.NewTicker(checkMost)
	defer look.Stop()
	defer beat.Stop()
	defer check.Stop()
	for {
		var gone error
		select {
		case <-ctx.Done():
			return nil
		case <-d.cfg.Ending:
			return nil
		case <-mine.Displaced():
			s.Displaced()
			return nil
		case <-check.C:
			if !d.cfg.Still(c.Request()) {
				return nil
			}
		case <-beat.C:
			gone = tick()
		case <-look.C:
			now, err := d.news.sites(ctx)
			if err != nil || slices.EqualFunc(now, all, site.same) {
				continue // the next look may know more
			}
			all = now
			gone = s.Send("sites", all)
		}
		if gone != nil {
			return nil
		}
	}
}

// same reports whether a page would show the same; that a controller was heard of again is told with what changes.
func (s site) same(o site) bool {
	s.LastSeen, o.LastSeen = nil, nil
	return s == o
}
