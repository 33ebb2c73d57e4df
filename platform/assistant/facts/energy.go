package facts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"svc.internal/controller/platform"
)

// Duration is a length of time that is written in seconds.
type Duration time.Duration

// MarshalJSON writes seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(d).Seconds(), 'f', -1, 64), nil
}

// Hours is d as hours.
func (d Duration) Hours() float64 { return time.Duration(d).Hours() }

// Energy is what was measured in a scope over a period.
type Energy struct {
	Scope     Scope     `json:"scope"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"` // not after now
	WattHours float64   `json:"wattHours"`
	// Measured is the time that samples cover, of the meter that covers least; Gap tells what is missing of the period.
	Measured Duration `json:"measuredSeconds"`
	Gap      Duration `json:"gapSeconds"`
	Parts    []Part   `json:"parts"` // by meter
	Metering
	Basis Basis `json:"basis"`

	series []platform.Energy // all meters added up, oldest first
}

// Part is what one meter measured.
type Part struct {
	Meter     Meter     `json:"meter"`
	WattHours float64   `json:"wattHours"`
	Measured  Duration  `json:"measuredSeconds"`
	Since     time.Time `json:"since,omitzero"` // first sample ever
}

// Known reports whether there is a figure at all.
func (e Energy) Known() bool { return len(e.Parts) > 0 && e.Measured > 0 }

// EnergyOf reads what the meters of a scope measured in [from, to), no further than now.
func (s *Site) EnergyOf(ctx context.Context, c Scope, from, to time.Time) (Energy, error) {
	if to.After(s.Now) {
		to = s.Now
	}
	if from.After(to) {
		from = to
	}
	e := Energy{Scope: c, From: from, To: to, Metering: s.MeteringOf(c), Basis: s.basis()}
	sums := map[time.Time]*platform.Energy{}
	counts := map[time.Time]int{}
	for i, m := range e.Meters {
		rows, err := s.reader.Energy(ctx, s.Controller.ID, m.Node, from, to)
		if err != nil {
			return e, fmt.Errorf("read energy of meter %d: %w", m.Node, err)
		}
		part := Part{Meter: m}
		if part.Since, err = s.reader.MeasuredSince(ctx, s.Controller.ID, m.Node); err != nil {
			return e, fmt.Errorf("read when meter %d began: %w", m.Node, err)
		}
		for _, row := range rows {
			part.WattHours += row.WattHours
			part.Measured += Duration(row.Covered * float64(row.Length))
			counts[row.Start]++
			if sum := sums[row.Start]; sum != nil {
				sum.WattHours += row.WattHours
				sum.Covered = min(sum.Covered, row.Covered)
			} else {
				sums[row.Start] = &row
			}
			if row.Covered > 0 {
				e.Basis.Add(earlierOf(row.Start.Add(row.Length), s.Now), "measured")
			}
		}
		e.WattHours += part.WattHours
		if i == 0 || part.Measured < e.Measured {
			e.Measured = part.Measured
		}
		e.Parts = append(e.Parts, part)
	}
	for start, sum := range sums {
		if counts[start] == len(e.Meters) {
			e.series = append(e.series, *sum)
		}
	}
	slices.SortFunc(e.series, func(a, b platform.Energy) int { return a.Start.Compare(b.Start) })
	e.Gap = Duration(max(0, to.Sub(from)-time.Duration(e.Measured)).Truncate(time.Second))
	return e, nil
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Mean power in watts over the time that was measured; false without any.
func (e Energy) Mean() (float64, bool) {
	if e.Measured <= 0 {
		return 0, false
	}
	sum := 0.0
	for _, p := range e.Parts {
		if p.Measured > 0 {
			sum += p.WattHours / p.Measured.Hours()
		}
	}
	return sum, true
}

// Slot is a stretch of a series.
type Slot struct {
	Start     time.Time `json:"start"`
	Length    Duration  `json:"lengthSeconds"`
	WattHours float64   `json:"wattHours"`
	Measured  Duration  `json:"measuredSeconds"`
}

// Watts is the mean power of a slot.
func (s Slot) Watts() float64 {
	if s.Measured <= 0 {
		return 0
	}
	return s.WattHours / s.Measured.Hours()
}

// By adds the series up by "quarter", "hour", "day", "week" or "month" of the building's time zone.
func (e Energy) By(unit string, location *time.Location) []Slot {
	slots := map[time.Time]*Slot{}
	for _, row := range e.series {
		at := row.Start.In(location)
		y, m, d := at.Date()
		start := time.Date(y, m, d, 0, 0, 0, 0, location)
		end := start.AddDate(0, 0, 1)
		switch unit {
		case "week":
			start = start.AddDate(0, 0, -(int(start.Weekday())+6)%7)
			end = start.AddDate(0, 0, 7)
		case "month":
			start = time.Date(y, m, 1, 0, 0, 0, 0, location)
			end = start.AddDate(0, 1, 0)
		case "hour":
			start = at.Truncate(time.Hour)
			end = start.Add(time.Hour)
		case "quarter":
			start = at.Truncate(15 * time.Minute)
			end = start.Add(15 * time.Minute)
		}
		slot := slots[start]
		if slot == nil {
			slot = &Slot{Start: start, Length: Duration(end.Sub(start))}
			slots[start] = slot
		}
		slot.WattHours += row.WattHours
		slot.Measured += Duration(row.Covered * float64(row.Length))
	}
	var out []Slot
	for _, slot := range slots {
		if slot.Measured > 0 {
			out = append(out, *slot)
		}
	}
	slices.SortFunc(out, func(a, b Slot) int { return a.Start.Compare(b.Start) })
	return out
}

// Peak is the quarter of an hour of the highest mean power, of those that were measured for at least half; false without.
func (e Energy) Peak(location *time.Location) (Slot, bool) {
	slots := slices.DeleteFunc(e.By("quarter", location), func(s Slot) bool { return s.Measured < s.Length/2 })
	if len(slots) == 0 {
		return Slot{}, false
	}
	return slices.MaxFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Watts(), b.Watts()), b.Start.Compare(a.Start))
	}), true
}

// Base is the quarter of an hour of the lowest mean power.
func (e Energy) Base(location *time.Location) (Slot, bool) {
	slots := slices.DeleteFunc(e.By("quarter", location), func(s Slot) bool { return s.Measured < s.Length/2 })
	if len(slots) == 0 {
		return Slot{}, false
	}
	return slices.MinFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Watts(), b.Watts()), a.Start.Compare(b.Start))
	}), true
}

// Power is what is drawn now.
type Power struct {
	Scope Scope   `json:"scope"`
	Watts float64 `json:"watts"`
	Parts []Thing `json:"parts"` // by meter or by light
	// ByLight: there is no meter, but every light of the scope measures itself.
	ByLight bool `json:"byLight,omitempty"`
	Metering
	Basis Basis `json:"basis"`
}

// Known reports whether every part has a current value.
func (p Power) Known() bool {
	return len(p.Parts) > 0 && !slices.ContainsFunc(p.Parts, func(t Thing) bool { return t.Condition != Current })
}

// PowerOf reads what a scope draws now.
func (s *Site) PowerOf(c Scope) Power {
	p := Power{Scope: c, Metering: s.MeteringOf(c), Basis: s.basis()}
	add := func(d platform.Device) {
		one := s.thing(d)
		one.Condition = s.Judge(d, d.Power)
		if d.Power != nil {
			one.Value, one.At, one.Source = &d.Power.Value, d.Power.At, d.Power.Source
		}
		if one.Condition == Current {
			p.Watts += *one.Value
			p.Basis.Add(one.At, one.Source)
		}
		p.Parts = append(p.Parts, one)
	}
	for _, m := range p.Meters {
		for _, d := range s.Devices {
			if d.ID == m.Node && d.Kind != platform.KindShade {
				add(d)
			}
		}
	}
	if len(p.Meters) > 0 && len(p.Missing) == 0 || c.Whole() {
		return p
	}
	lights := s.In(c, platform.KindLight)
	own := slices.DeleteFunc(slices.Clone(lights), func(d platform.Device) bool { return d.Power == nil })
	if len(lights) > 0 && len(own) == len(lights) {
		p.ByLight, p.Parts, p.Watts, p.Basis = true, nil, 0, s.basis()
		p.Missing, p.Shared, p.Meters = nil, nil, nil
		for _, d := range own {
			add(d)
		}
	}
	return p
}
