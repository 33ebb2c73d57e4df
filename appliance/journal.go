package appliance

import (
	"context"
	"maps"
	"time"
)

// Saved is the last known state of one thing as it survives a restart.
type Saved struct {
	Ref
	Values
	LastLevel   Level     // see [ChannelState.LastLevel]
	Uncertainty int       // see [ShadeState.Uncertainty]
	At          time.Time // of its newest value
}

// Batch is what one write-behind stores together.
type Batch struct {
	States  []Saved
	Entries []Entry
}

// Journal keeps last known state and the ledger across restarts. It is written
// behind: a power cut may lose the last 5 s of it, never configuration.
type Journal interface {
	// SaveBatch stores the batch, all of it or none.
	SaveBatch(ctx context.Context, b Batch) error
	// LoadStates returns the last state saved of every thing.
	LoadStates(ctx context.Context) ([]Saved, error)
}

// restore fills in what was known before a restart, marked as such.
func (s *state) restore(saved []Saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range saved {
		if v.Shade != 0 {
			if i, ok := s.index.shade[v.Shade]; ok && v.Has.Has(CanPosition) {
				sh := s.editShade(i)
				sh.Position, sh.Uncertainty, sh.LastSeen = Known[Position]{v.Position, v.At, Restored}, v.Uncertainty, v.At
			}
			continue
		}
		i, ok := s.index.node[v.Node]
		if !ok || v.Channel < 1 || v.Channel > len(s.nodes[i].Channels) {
			continue
		}
		n := s.edit(i)
		c := &n.Channels[v.Channel-1]
		c.LastLevel = v.LastLevel
		if v.Has.Has(CanDim) {
			c.Level = Known[Level]{v.Level, v.At, Restored}
		}
		if v.Has.Has(CanTune) {
			c.Kelvin = Known[Kelvin]{v.Kelvin, v.At, Restored}
		}
		if v.Has.Has(CanColour) {
			c.RGBW = Known[RGBW]{v.RGBW, v.At, Restored}
		}
		n.LastSeen = later(n.LastSeen, v.At)
		summarise(n)
	}
	s.values++
	s.publishLocked()
}

// takeUnsaved returns what changed since it was last called, for the journal.
func (s *state) takeUnsaved() []Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Saved
	for ref := range maps.Keys(s.unsaved) {
		if v, ok := s.saved(ref); ok {
			out = append(out, v)
		}
	}
	clear(s.unsaved)
	return out
}

// putUnsaved takes back what could not be written.
func (s *state) putUnsaved(states []Saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range states {
		s.unsaved[v.Ref] = true
	}
}

// last returns the last value known of a thing, for a driver being opened.
func (s *state) last(ref Ref) (Values, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.saved(ref)
	return v.Values, ok
}

func (s *state) saved(ref Ref) (Saved, bool) {
	v := Saved{Ref: ref}
	if ref.Shade != 0 {
		i, ok := s.index.shade[ref.Shade]
		if !ok {
			return v, false
		}
		sh := s.shades[i]
		if moves(sh) || sh.unheard || !sh.Position.OK() {
			// Where it stops is not known should the power fail now.
			v.Has, v.Motion, v.At = CanMove, sh.Motion, time.Now()
			return v, true
		}
		v.Has, v.Position, v.Uncertainty, v.At = CanPosition, sh.Position.Value, sh.Uncertainty, sh.Position.At
		return v, true
	}
	i, ok := s.index.node[ref.Node]
	if !ok || ref.Channel < 1 || ref.Channel > len(s.nodes[i].Channels) {
		return v, false
	}
	c := s.nodes[i].Channels[ref.Channel-1]
	v.LastLevel = c.LastLevel
	level := c.Level
	if h, fading := s.hold[ref]; fading {
		level = h.read
	}
	if level.OK() {
		v.Has, v.Level, v.At = v.Has|CanDim, level.Value, later(v.At, level.At)
	}
	if c.Kelvin.OK() {
		v.Has, v.Kelvin, v.At = v.Has|CanTune, c.Kelvin.Value, later(v.At, c.Kelvin.At)
	}
	if c.RGBW.OK() {
		v.Has, v.RGBW, v.At = v.Has|CanColour, c.RGBW.Value, later(v.At, c.RGBW.At)
	}
	return v, v.Has != 0
}
