package facts

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"svc.internal/controller/platform"
)

// StaleAfter is how old a reading may be before it is no longer taken for the present.
const StaleAfter = 15 * time.Minute

// Site is one building as it was last reported, at one moment.
type Site struct {
	Controller platform.Controller
	Building   platform.Building
	Zones      []platform.Zone
	Devices    []platform.Device
	Now        time.Time // in the building's time zone

	reader platform.SiteReader
	sorted *sorting // of the devices
}

// sorting is what many questions to one report would find out again and again: it is never changed.
type sorting struct {
	kinds  []string        // as [Kind] says, in the order of the devices
	zone   map[int64][]int // places of a zone's devices among all
	meters []Meter
}

// sort finds it out.
func (s *Site) sort() {
	s.sorted = &sorting{zone: map[int64][]int{}}
	for i, d := range s.Devices {
		s.sorted.kinds = append(s.sorted.kinds, Kind(d))
		for n, z := range d.Zones {
			if !slices.Contains(d.Zones[:n], z) {
				s.sorted.zone[z] = append(s.sorted.zone[z], i)
			}
		}
	}
	s.sorted.meters = s.findMeters()
}

// Look reads what is known of a controller's building.
func Look(ctx context.Context, reader platform.SiteReader, controller platform.Controller, now time.Time) (*Site, error) {
	s := &Site{Controller: controller, reader: reader}
	var err error
	if s.Building, err = reader.Building(ctx, controller.ID); err != nil {
		return nil, fmt.Errorf("read building of controller %s: %w", controller.ID, err)
	}
	if s.Zones, err = reader.Zones(ctx, controller.ID); err != nil {
		return nil, fmt.Errorf("read zones of controller %s: %w", controller.ID, err)
	}
	if s.Devices, err = reader.Devices(ctx, controller.ID); err != nil {
		return nil, fmt.Errorf("read devices of controller %s: %w", controller.ID, err)
	}
	location, err := time.LoadLocation(s.Building.TimeZone)
	if err != nil { // a name that this machine does not know; the answer names UTC
		location = time.UTC
	}
	s.Now = now.In(location)
	for i := range s.Devices {
		if s.Devices[i].Floor == "" {
			s.Devices[i].Floor = s.floorOf(s.Devices[i].Zones)
		}
	}
	for i := range s.Zones {
		if s.Zones[i].Floor == "" {
			s.Zones[i].Floor = s.floorOf([]int64{s.Zones[i].ID})
		}
	}
	slices.SortFunc(s.Devices, func(a, b platform.Device) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Zones, func(a, b platform.Zone) int { return cmp.Compare(a.ID, b.ID) })
	s.sort()
	return s, nil
}

// At is the same site at a later moment, of whose controller something else may be known. What was reported is shared with s.
func (s *Site) At(controller platform.Controller, now time.Time) *Site {
	at := *s
	at.Controller, at.Now = controller, now.In(s.Now.Location())
	return &at
}

func (s *Site) floorOf(zones []int64) string {
	for _, f := range s.Building.Floors {
		for _, z := range zones {
			if slices.Contains(f.Zones, z) {
				return f.Name
			}
		}
	}
	return ""
}

// Name of the site for people.
func (s *Site) Name() string {
	return cmp.Or(s.Building.Name, s.Controller.Name, s.Controller.ID)
}

// ZoneName is the name of a zone.
func (s *Site) ZoneName(id int64) string {
	for _, z := range s.Zones {
		if z.ID == id {
			return z.Name
		}
	}
	return fmt.Sprintf("zone %d", id)
}

// Scope is the part of the building that a question is about. The zero value is the whole building.
type Scope struct {
	Label   string  `json:"label,omitempty"` // for people; empty: the whole building
	Zones   []int64 `json:"zones,omitempty"`
	Floor   string  `json:"floor,omitempty"`
	Devices []int64 `json:"devices,omitempty"` // single lights, peripherals and meters
	Shades  []int64 `json:"shades,omitempty"`  // single shades
	Bus     string  `json:"bus,omitempty"`
	Out     *Scope  `json:"out,omitempty"` // what is left out
}

// Whole reports whether the scope is the whole building.
func (c Scope) Whole() bool {
	return c.all() && c.Out == nil
}

// all reports whether a scope is the whole building but for what is left out.
func (c Scope) all() bool {
	return len(c.Zones) == 0 && len(c.Devices) == 0 && len(c.Shades) == 0 && c.Floor == "" && c.Bus == ""
}

// HasZone reports whether a zone is within the scope.
func (c Scope) HasZone(z platform.Zone) bool {
	if c.Out != nil && c.Out.HasZone(z) {
		return false
	}
	return c.all() || slices.Contains(c.Zones, z.ID) || c.Floor != "" && z.Floor == c.Floor
}

// FloorScope is the scope of a floor.
func (s *Site) FloorScope(name string) Scope {
	c := Scope{Label: name, Floor: name}
	for _, z := range s.Zones {
		if z.Floor == name {
			c.Zones = append(c.Zones, z.ID)
		}
	}
	return c
}

// ZoneScope is the scope of a zone.
func (s *Site) ZoneScope(id int64) Scope { return Scope{Label: s.ZoneName(id), Zones: []int64{id}} }

// Overlap reports whether any device is in both of two scopes.
func (s *Site) Overlap(a, b Scope) bool {
	return slices.ContainsFunc(s.Devices, func(d platform.Device) bool { return a.Holds(d) && b.Holds(d) })
}

// Holds reports whether a device is within the scope.
func (c Scope) Holds(d platform.Device) bool {
	switch {
	case c.Out != nil && c.Out.Holds(d):
		return false
	case c.all():
		return true
	case d.Kind == platform.KindShade && slices.Contains(c.Shades, d.ID), d.Kind != platform.KindShade && slices.Contains(c.Devices, d.ID), c.Bus != "" && d.Bus == c.Bus, c.Floor != "" && d.Floor == c.Floor:
		return true
	}
	return slices.ContainsFunc(d.Zones, func(z int64) bool { return slices.Contains(c.Zones, z) })
}

// In returns the devices of a kind within a scope.
func (s *Site) In(c Scope, kind string) []platform.Device {
	var found []platform.Device
	for d := range s.within(c, kind) {
		found = append(found, *d)
	}
	return found
}

// within goes through the devices of a kind within a scope.
func (s *Site) within(c Scope, kind string) iter.Seq[*platform.Device] {
	return func(yield func(*platform.Device) bool) {
		if len(c.Zones) == 1 && c.Floor == "" && len(c.Devices)+len(c.Shades) == 0 && c.Bus == "" && c.Out == nil {
			for _, i := range s.sorted.zone[c.Zones[0]] {
				if s.sorted.kinds[i] == kind && !yield(&s.Devices[i]) {
					return
				}
			}
			return
		}
		for i := range s.Devices {
			if s.sorted.kinds[i] == kind && c.Holds(s.Devices[i]) && !yield(&s.Devices[i]) {
				return
			}
		}
	}
}

// KindMeter is a device that measures and does nothing else.
const KindMeter = "meter"

// Kind of a device as people see it: what only measures is a meter, whatever it was entered as.
func Kind(d platform.Device) string {
	acts := slices.ContainsFunc(d.Abilities, func(a string) bool { return a != "measure" })
	if d.Kind != platform.KindShade && slices.Contains(d.Abilities, "measure") && !acts {
		return KindMeter
	}
	return d.Kind
}

// Condition tells how far a reading can be taken for the present.
type Condition string

// The conditions.
const (
	Current Condition = "current"
	Stale   Condition = "stale"   // too old, or from before a restart
	Away    Condition = "offline" // the device, or its controller, does not answer
	Unknown Condition = "unknown" // never read
)

// Judge tells the condition of a reading of a device.
func (s *Site) Judge(d platform.Device, r *platform.Reading) Condition {
	switch {
	case r == nil:
		if !d.Online {
			return Away
		}
		return Unknown
	case !d.Online || !s.Controller.Online:
		return Away
	case r.Source == "restored" || s.Now.Sub(r.At) > StaleAfter:
		return Stale
	}
	return Current
}

// Basis tells what an answer rests on.
type Basis struct {
	Readings int       `json:"readings"`          // used for the numbers
	Sources  []string  `json:"sources,omitempty"` // how they came about
	Oldest   time.Time `json:"oldest,omitzero"`
	Newest   time.Time `json:"newest,omitzero"`
	// The controller whose words these are.
	Controller       string    `json:"controller"`
	ControllerOnline bool      `json:"controllerOnline"`
	ControllerSeen   time.Time `json:"controllerSeen,omitzero"`
}

// basis is an empty one of this site.
func (s *Site) basis() Basis {
	return Basis{Controller: s.Name(), ControllerOnline: s.Controller.Online, ControllerSeen: s.Controller.LastSeen}
}

// Join counts in what something else rests on.
func (b *Basis) Join(o Basis) {
	if b.Controller == "" {
		*b = o
		b.Sources = slices.Clone(o.Sources)
		return
	}
	b.Readings += o.Readings
	for _, source := range o.Sources {
		if !slices.Contains(b.Sources, source) {
			b.Sources = append(b.Sources, source)
		}
	}
	if b.Oldest.IsZero() || !o.Oldest.IsZero() && o.Oldest.Before(b.Oldest) {
		b.Oldest = o.Oldest
	}
	if o.Newest.After(b.Newest) {
		b.Newest = o.Newest
	}
}

// Add counts a reading in.
func (b *Basis) Add(at time.Time, source string) {
	b.Readings++
	if source != "" && !slices.Contains(b.Sources, source) {
		b.Sources = append(b.Sources, source)
	}
	if b.Oldest.IsZero() || at.Before(b.Oldest) {
		b.Oldest = at
	}
	if at.After(b.Newest) {
		b.Newest = at
	}
}
