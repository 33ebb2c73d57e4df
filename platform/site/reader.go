package site

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Reports is what a [Reader] reads.
type Reports interface {
	Enrolments(ctx context.Context) ([]platform.Enrolment, error)
	Enrolment(ctx context.Context, id string) (platform.Enrolment, error)
	Reports(ctx context.Context, controller, kind string) ([]platform.Report, error)
	Events(ctx context.Context, controller string, from, to time.Time, limit int) ([]platform.Event, error)
	Energy(ctx context.Context, controller string, node int64, length time.Duration, from, to time.Time) ([]platform.Energy, error)
	Meters(ctx context.Context, controller string) ([]platform.MeterState, error)
	Ledger(ctx context.Context, controller string, from, to time.Time, limit int) (platform.Ledger, error)
	Changes(ctx context.Context, controller, kind string, aspect platform.Aspect) ([]platform.Change, error)
}

// Reader implements [platform.SiteReader].
type Reader struct {
	db   Reports
	now  func() time.Time
	room *semaphore.Weighted // for those who read all devices of a controller
}

var _ platform.SiteReader = (*Reader)(nil)

// NewReader reads what a [Recorder] saved. All devices of a large building take a tenth of a second of a processor and some
// megabytes: half of the processors do so at once, the others are for who asks for less.
func NewReader(db Reports) *Reader {
	return &Reader{db: db, now: time.Now, room: semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))}
}

// Controllers lists those that enrolled, by ID.
func (r *Reader) Controllers(ctx context.Context) ([]platform.Controller, error) {
	all, err := r.db.Enrolments(ctx)
	if err != nil {
		return nil, err
	}
	out := []platform.Controller{}
	for _, e := range all {
		if !e.EnrolledAt.IsZero() && !e.Revoked {
			e.Online = platform.Reachable(e.Controller, r.now())
			out = append(out, e.Controller)
		}
	}
	return out, nil
}

// Building tells how the site of a controller is divided.
func (r *Reader) Building(ctx context.Context, controller string) (platform.Building, error) {
	e, err := r.db.Enrolment(ctx, controller)
	if err != nil {
		return platform.Building{}, err
	}
	site, err := r.site(ctx, controller)
	if err != nil {
		return platform.Building{}, err
	}
	b := platform.Building{Controller: controller, Name: e.Name, Floors: []platform.Floor{}, Meters: []platform.Meter{}}
	if site == nil {
		return b, nil
	}
	if site.Building != "" {
		b.Name = site.Building
	}
	b.TimeZone = site.TimeZone
	for _, f := range site.Floors {
		b.Floors = append(b.Floors, platform.Floor{Name: f.Name, Zones: orEmpty(f.Clusters), AreaM2: f.AreaM2})
	}
	for _, m := range site.Meters {
		b.Meters = append(b.Meters, platform.Meter{Node: m.Node, Covers: m.Covers, Zones: orEmpty(m.Clusters)})
	}
	return b, nil
}

// site is what a controller said of its site; nil if it has not yet.
func (r *Reader) site(ctx context.Context, controller string) (*wire.Site, error) {
	reports, err := r.db.Reports(ctx, controller, string(wire.KindSite))
	if err != nil || len(reports) == 0 {
		return nil, err
	}
	s, err := stateOf(reports[0])
	if err != nil {
		return nil, err
	}
	return s.Site, nil
}

// Zones lists the clusters of a controller by ID.
func (r *Reader) Zones(ctx context.Context, controller string) ([]platform.Zone, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return nil, err
	}
	site, err := r.site(ctx, controller)
	if err != nil {
		return nil, err
	}
	reports, err := r.db.Reports(ctx, controller, string(wire.KindCluster))
	if err != nil {
		return nil, err
	}
	floors := floorsOf(site)
	out := []platform.Zone{}
	for _, rep := range reports {
		if gone(site, rep) {
			continue
		}
		s, err := stateOf(rep)
		if err != nil {
			return nil, err
		}
		out = append(out, platform.Zone{Controller: controller, ID: s.ID, Name: s.Name, Floor: floors[s.ID]})
	}
	return out, nil
}

// Devices lists lights, shades and peripherals of a controller: nodes, then shades, by ID.
func (r *Reader) Devices(ctx context.Context, controller string) ([]platform.Device, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return nil, err
	}
	if err := r.room.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait to read the devices of controller %s: %w", controller, err)
	}
	defer r.room.Release(1)
	reports, err := r.db.Reports(ctx, controller, "")
	if err != nil {
		return nil, err
	}
	meters, err := r.db.Meters(ctx, controller)
	if err != nil {
		return nil, err
	}
	power := map[int64]platform.Sample{}
	for _, m := range meters {
		power[m.Node] = m.Last
	}
	site, err := r.site(ctx, controller)
	if err != nil {
		return nil, err
	}
	floors := floorsOf(site)
	out := []platform.Device{}
	for _, rep := range reports {
		if rep.Kind != string(wire.KindNode) && rep.Kind != string(wire.KindShade) || gone(site, rep) {
			continue
		}
		s, err := stateOf(rep)
		if err != nil {
			return nil, err
		}
		d := device(rep, s)
		for _, z := range d.Zones {
			if d.Floor == "" {
				d.Floor = floors[z]
			}
		}
		if p, ok := power[s.ID]; ok && s.Kind == wire.KindNode && (d.Power == nil || p.At.After(d.Power.At)) {
			d.Power = &platform.Reading{Value: p.Watts, At: p.At, Source: string(wire.Measured)}
		}
		out = append(out, d)
	}
	return out, nil
}

// device is a state in the platform's words.
func device(rep platform.Report, s wire.State) platform.Device {
	d := platform.Device{
		Controller: rep.Controller, Kind: platform.KindLight, ID: s.ID, Name: s.Name, Zones: orEmpty(s.Clusters), Bus: s.Bus, Node: s.Node,
		Profile: s.Profile, Abilities: s.Abilities, ReportedAt: rep.ReportedAt, Motion: s.Motion, Trouble: s.Trouble,
		Level: reading(s.Level, rep.Seen), Kelvin: reading(s.Kelvin, rep.Seen), Position: reading(s.Position, rep.Seen),
		Power: reading(s.Power, time.Time{}),
	}
	switch {
	case s.Kind == wire.KindShade:
		d.Kind = platform.KindShade
	case s.Tag == "PERIPHERAL":
		d.Kind = platform.KindPeripheral
	}
	if s.RGBW != nil {
		d.Colour = (*platform.Colour)(&s.RGBW.RGBW)
	}
	if d.Abilities == nil {
		d.Abilities = []string{}
	}
	if s.Online != nil {
		d.Online = *s.Online
	}
	if s.LastSeen != nil {
		d.LastSeen = *s.LastSeen
	}
	if rep.Seen.After(d.LastSeen) {
		d.LastSeen = rep.Seen
	}
	return d
}

// reading is a value that was read again, unchanged, at a later time; zero: it was not.
func reading(v *wire.Value, seen time.Time) *platform.Reading {
	if v == nil {
		return nil
	}
	at := v.At
	if seen.After(at) {
		at = seen
	}
	return &platform.Reading{Value: v.Value, At: at, Source: string(v.Source), Within: v.Within}
}

// gone reports whether a site does not have a thing any more that it once reported.
func gone(site *wire.Site, rep platform.Report) bool {
	if site == nil {
		return false
	}
	var ids []int64 // ascending
	switch wire.Kind(rep.Kind) {
	case wire.KindNode:
		ids = site.NodeIDs
	case wire.KindShade:
		ids = site.ShadeIDs
	case wire.KindCluster:
		ids = site.ClusterIDs
	default:
		return false
	}
	_, there := slices.BinarySearch(ids, rep.ID)
	return !there
}

func floorsOf(site *wire.Site) map[int64]string {
	floors := map[int64]string{}
	if site == nil {
		return floors
	}
	for _, f := range site.Floors {
		for _, c := range f.Clusters {
			floors[c] = f.Name
		}
	}
	return floors
}

func stateOf(rep platform.Report) (wire.State, error) {
	var s wire.State
	if err := json.Unmarshal(rep.State, &s); err != nil {
		return s, fmt.Errorf("read what controller %q reported of %s %d: %w", rep.Controller, rep.Kind, rep.ID, err)
	}
	return s, nil
}

func orEmpty(list []int64) []int64 {
	if list == nil {
		return []int64{}
	}
	return list
}

// Events returns those in [from, to), newest first, at most limit.
func (r *Reader) Events(ctx context.Context, controller string, from, to time.Time, limit int) ([]platform.Event, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return nil, err
	}
	return r.db.Events(ctx, controller, from, to, limit)
}

// Energy returns what a meter measured in the intervals that begin in [from, to): quarters of an hour as far as minutes
// are not kept any more, then minutes. An interval of which nothing was measured is not there.
func (r *Reader) Energy(ctx context.Context, controller string, node int64, from, to time.Time) ([]platform.Energy, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return nil, err
	}
	const quarter = 15 * time.Minute
	cut := r.now().Add(-MinutesKept).Truncate(quarter).Add(2 * quarter) // whole quarters of which every minute is there
	if cut.After(to) {
		cut = to
	}
	if from.After(cut) {
		cut = from
	}
	var quarters []platform.Energy
	if from.Before(cut) {
		var err error
		if quarters, err = r.db.Energy(ctx, controller, node, quarter, from, cut); err != nil {
			return nil, err
		}
	}
	minutes, err := r.db.Energy(ctx, controller, node, time.Minute, cut, to)
	if err != nil {
		return nil, err
	}
	return append(quarters, minutes...), nil
}

// MeasuredSince is when the first sample of a meter arrived; zero: none yet.
func (r *Reader) MeasuredSince(ctx context.Context, controller string, node int64) (time.Time, error) {
	if _, err := r.db.Enrolment(ctx, controller); err != nil {
		return time.Time{}, err
	}
	meters, err := r.db.Meters(ctx, controller)
	for _, m := range meters {
		if m.Node == node {
			return m.Since, nil
		}
	}
	return time.Time{}, err
}
