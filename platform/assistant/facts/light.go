package facts

import (
	"time"

	"svc.internal/controller/platform"
)

// Thing is one device in an answer.
type Thing struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Zones []int64 `json:"zones,omitempty"`
	Floor string  `json:"floor,omitempty"`
	// Value is the reading that was asked for: percent, kelvin or watts; nil: not known. It is the last known one where the
	// condition is not [Current].
	Value     *float64  `json:"value,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Source    string    `json:"source,omitempty"`
	Within    float64   `json:"within,omitempty"` // see [platform.Reading]
	Condition Condition `json:"condition"`
	Motion    string    `json:"motion,omitempty"`
	Trouble   string    `json:"trouble,omitempty"`
	LastSeen  time.Time `json:"lastSeen,omitzero"`
}

// Things are readings of one kind within a scope.
type Things struct {
	Scope Scope   `json:"scope"`
	Kind  string  `json:"kind"`
	Value string  `json:"value"` // "level", "kelvin", "position"
	All   []Thing `json:"all"`
	Basis Basis   `json:"basis"`
}

// Levels reads the levels of all lights in a scope.
func (s *Site) Levels(c Scope) Things {
	return s.things(c, platform.KindLight, "level", func(d platform.Device) *platform.Reading { return d.Level })
}

// MeanLevel is the mean of the levels of a scope that are known now; false where none is.
func (s *Site) MeanLevel(c Scope) (float64, bool) {
	sum, n := 0.0, 0
	for d := range s.within(c, platform.KindLight) {
		if s.Judge(*d, d.Level) == Current {
			sum += d.Level.Value
			n++
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

// Kelvins reads the colour temperatures of the lights in a scope that have one.
func (s *Site) Kelvins(c Scope) Things {
	t := s.things(c, platform.KindLight, "kelvin", func(d platform.Device) *platform.Reading { return d.Kelvin })
	able := t.All[:0]
	for _, one := range t.All {
		if d := s.device(one.ID, platform.KindLight); one.Value != nil || has(d, "tune") {
			able = append(able, one)
		}
	}
	t.All = able
	return t
}

// Positions reads how far the shades of a scope are open.
func (s *Site) Positions(c Scope) Things {
	return s.things(c, platform.KindShade, "position", func(d platform.Device) *platform.Reading { return d.Position })
}

func (s *Site) things(c Scope, kind, value string, read func(platform.Device) *platform.Reading) Things {
	t := Things{Scope: c, Kind: kind, Value: value, Basis: s.basis()}
	for d := range s.within(c, kind) {
		r := read(*d)
		one := s.thing(*d)
		one.Condition = s.Judge(*d, r)
		if r != nil {
			one.Value, one.At, one.Source, one.Within = &r.Value, r.At, r.Source, r.Within
		}
		if one.Condition == Current {
			t.Basis.Add(r.At, r.Source)
		}
		t.All = append(t.All, one)
	}
	return t
}

func (s *Site) thing(d platform.Device) Thing {
	return Thing{ID: d.ID, Name: d.Name, Zones: d.Zones, Floor: d.Floor, Motion: d.Motion, Trouble: d.Trouble, LastSeen: d.LastSeen, Condition: Current}
}

func (s *Site) device(id int64, kind string) platform.Device {
	for _, d := range s.Devices {
		if d.ID == id && Kind(d) == kind {
			return d
		}
	}
	return platform.Device{}
}

func has(d platform.Device, ability string) bool {
	for _, a := range d.Abilities {
		if a == ability {
			return true
		}
	}
	return false
}

// Where keeps the things of a condition for which keep holds; keep may be nil.
func (t Things) Where(condition Condition, keep func(Thing) bool) []Thing {
	var found []Thing
	for _, one := range t.All {
		if one.Condition == condition && (keep == nil || keep(one)) {
			found = append(found, one)
		}
	}
	return found
}

// Mean of the current values; false without one.
func (t Things) Mean() (float64, bool) {
	sum, n := 0.0, 0
	for _, one := range t.Where(Current, nil) {
		sum += *one.Value
		n++
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}
