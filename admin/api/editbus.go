package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// BusEdit is what may be set of a bus; what is left out stays.
type BusEdit struct {
	Name     *string            `json:"name,omitempty"`
	Driver   *string            `json:"driver,omitempty"`
	Port     *string            `json:"port,omitempty"`
	Line     *Line              `json:"line,omitempty"`
	Options  *map[string]string `json:"options,omitempty"`
	Disabled *bool              `json:"disabled,omitempty" doc:"Configured, but not opened."`
}

func (in BusEdit) apply(b *appliance.Bus) {
	set(&b.Name, in.Name)
	set(&b.Driver, in.Driver)
	set(&b.Port, in.Port)
	set(&b.Options, in.Options)
	b.Options = emptyAsNone(b.Options)
	set(&b.Disabled, in.Disabled)
	if in.Line != nil {
		b.Line = appliance.LineSettings(*in.Line)
	}
}

func (a *API) createBus(c echo.Context) error {
	var in BusEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var b appliance.Bus
	in.apply(&b)
	id, err := a.Editor.CreateBus(c.Request().Context(), b, callerOf(c).name, a.unharmed)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "bus.create", "bus "+b.Name, in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return busIn(s, id) != nil })
	c.Response().Header().Set("Location", prefix+"/buses/"+id.String())
	if busIn(s, id) == nil {
		return c.NoContent(http.StatusCreated)
	}
	r := busDetailOf(s, busIn(s, id))
	return tagged(c, http.StatusCreated, r.ETag, r)
}

func busIn(s *appliance.Snapshot, id appliance.UUID) *appliance.BusState {
	for _, b := range s.Buses {
		if b.Bus.UUID == id {
			return b
		}
	}
	return nil
}

func (a *API) editBus(c echo.Context) error {
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	before, err := findBus(a.Core.Snapshot(), c.Param("bus"))
	if err != nil {
		return err
	}
	var in BusEdit
	if err := read(c, &in); err != nil {
		return err
	}
	id := before.Bus.UUID
	var now string
	err = a.Editor.UpdateBus(c.Request().Context(), id, callerOf(c).name, func(b *appliance.Bus) error {
		if err := match.holds(b); err != nil {
			return err
		}
		in.apply(b)
		now = etagOf(b)
		return nil
	}, a.unharmed)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "bus.change", "bus "+before.Bus.Name, in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return busIn(s, id) == nil || etagOf(busIn(s, id).Bus) == now })
	if busIn(s, id) == nil {
		return notThere("bus", c.Param("bus"))
	}
	r := busDetailOf(s, busIn(s, id))
	return tagged(c, http.StatusOK, r.ETag, r)
}

func (a *API) removeBus(c echo.Context) error {
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	before, err := findBus(a.Core.Snapshot(), c.Param("bus"))
	if err != nil {
		return err
	}
	id := before.Bus.UUID
	err = a.Editor.RemoveBus(c.Request().Context(), id, callerOf(c).name, func(b appliance.Bus) error { return match.holds(&b) })
	if err != nil {
		return edited(err)
	}
	a.audit(c, "bus.remove", "bus "+before.Bus.Name, nil)
	a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return busIn(s, id) == nil })
	return c.NoContent(http.StatusNoContent)
}

// SiteEdit is what may be set of the site; what is left out stays.
type SiteEdit struct {
	Name         *string    `json:"name,omitempty"`
	InvertShades *bool      `json:"invertShades,omitempty"`
	Freshness    *Freshness `json:"freshness,omitempty"`
	TimeZone     *string    `json:"timeZone,omitempty" doc:"IANA name such as Europe/Zurich."`
	Latitude     *float64   `json:"latitude,omitempty" doc:"Degrees, north positive; together with longitude."`
	Longitude    *float64   `json:"longitude,omitempty" doc:"Degrees, east positive."`
	Holidays     *[]Holiday `json:"holidays,omitempty" doc:"All of them."`
}

// applyHolidays takes over when the building is used otherwise.
func (in SiteEdit) applyHolidays(d *appliance.Division) error {
	if in.Holidays == nil {
		return nil
	}
	d.Holidays = nil
	for i, h := range *in.Holidays {
		dates, err := appliance.ParseDates(h.Dates)
		if err != nil {
			return meaningless(fmt.Sprintf("/holidays/%d/dates", i), err.Error())
		}
		d.Holidays = append(d.Holidays, appliance.Holiday{Name: h.Name, Dates: dates})
	}
	return nil
}

// applyPlace takes over when and where the building is.
func (in SiteEdit) applyPlace(d *appliance.Division) error {
	if in.TimeZone != nil {
		if _, err := time.LoadLocation(*in.TimeZone); err != nil || *in.TimeZone == "Local" {
			return meaningless("/timeZone", "want a time zone such as Europe/Zurich")
		}
		d.TimeZone = *in.TimeZone
	}
	switch lat, long := in.Latitude, in.Longitude; {
	case lat == nil && long == nil:
		return nil
	case lat == nil || *lat < -90 || *lat > 90:
		return meaningless("/latitude", "want -90 to 90")
	case long == nil || *long < -180 || *long > 180:
		return meaningless("/longitude", "want -180 to 180")
	}
	d.Place = &appliance.Place{Latitude: *in.Latitude, Longitude: *in.Longitude}
	return nil
}

func (a *API) editSite(c echo.Context) error {
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	var in SiteEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var now string
	err = a.Editor.UpdateSettings(c.Request().Context(), callerOf(c).name, func(name *string, settings *appliance.Settings, d *appliance.Division) error {
		if err := match.holds(configOf(*name, *settings, *d)); err != nil {
			return err
		}
		set(name, in.Name)
		set(&settings.InvertShades, in.InvertShades)
		if f := in.Freshness; f != nil {
			s := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
			settings.Freshness = appliance.Freshness{Light: s(f.Light), MovingShade: s(f.MovingShade), IdleShade: s(f.IdleShade), Power: s(f.Power)}
		}
		if err := errors.Join(in.applyPlace(d), in.applyHolidays(d)); err != nil {
			return err
		}
		now = etagOf(configOf(*name, *settings, *d))
		return nil
	})
	if err != nil {
		return edited(err)
	}
	a.audit(c, "site.change", "site", in)
	s := siteOf(a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return siteOf(s).ETag == now }))
	return tagged(c, http.StatusOK, s.ETag, s)
}
