package control

import (
	"context"
	"maps"
	"time"

	"svc.internal/controller/appliance"
)

// restore fills in what was known before a restart, marked as such.
func (s *state) restore(saved []appliance.Saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range saved {
		if v.Shade != 0 {
			if i, ok := s.index.Shade[v.Shade]; ok && v.Has.Has(appliance.CanPosition) {
				sh := s.editShade(i)
				sh.Position, sh.Uncertainty, sh.LastSeen = appliance.Known[appliance.Position]{Value: v.Position, At: v.At, Source: appliance.Restored}, v.Uncertainty, v.At
			}
			continue
		}
		i, ok := s.index.Node[v.Node]
		if !ok || v.Channel < 1 || v.Channel > len(s.nodes[i].Channels) {
			continue
		}
		n := s.edit(i)
		c := &n.Channels[v.Channel-1]
		c.LastLevel = v.LastLevel
		if v.Has.Has(appliance.CanDim) {
			c.Level = appliance.Known[appliance.Level]{Value: v.Level, At: v.At, Source: appliance.Restored}
		}
		if v.Has.Has(appliance.CanTune) {
			c.Kelvin = appliance.Known[appliance.Kelvin]{Value: v.Kelvin, At: v.At, Source: appliance.Restored}
		}
		if v.Has.Has(appliance.CanColour) {
			c.RGBW = appliance.Known[appliance.RGBW]{Value: v.RGBW, At: v.At, Source: appliance.Restored}
		}
		n.LastSeen = later(n.LastSeen, v.At)
		summarise(n)
	}
	s.values++
	s.publishLocked()
}

// takeUnsaved returns what changed since it was last called, for the journal.
func (s *state) takeUnsaved() []appliance.Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []appliance.Saved
	for ref := range maps.Keys(s.unsaved) {
		if v, ok := s.saved(ref); ok {
			out = append(out, v)
		}
	}
	clear(s.unsaved)
	return out
}

// putUnsaved takes back what could not be written.
func (s *state) putUnsaved(states []appliance.Saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range states {
		s.unsaved[v.Ref] = true
	}
}

// last returns the last value known of a thing, for a driver being opened.
func (s *state) last(ref appliance.Ref) (appliance.Values, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.saved(ref)
	return v.Values, ok
}

func (s *state) saved(ref appliance.Ref) (appliance.Saved, bool) {
	v := appliance.Saved{Ref: ref}
	if ref.Shade != 0 {
		i, ok := s.index.Shade[ref.Shade]
		if !ok {
			return v, false
		}
		sh := s.shades[i]
		if moves(sh) || s.unheard[ref.Shade] || !sh.Position.OK() {
			// Where it stops is not known should the power fail now.
			v.Has, v.Motion, v.At = appliance.CanMove, sh.Motion, time.Now()
			return v, true
		}
		v.Has, v.Position, v.Uncertainty, v.At = appliance.CanPosition, sh.Position.Value, sh.Uncertainty, sh.Position.At
		return v, true
	}
	i, ok := s.index.Node[ref.Node]
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
		v.Has, v.Level, v.At = v.Has|appliance.CanDim, level.Value, later(v.At, level.At)
	}
	if c.Kelvin.OK() {
		v.Has, v.Kelvin, v.At = v.Has|appliance.CanTune, c.Kelvin.Value, later(v.At, c.Kelvin.At)
	}
	if c.RGBW.OK() {
		v.Has, v.RGBW, v.At = v.Has|appliance.CanColour, c.RGBW.Value, later(v.At, c.RGBW.At)
	}
	return v, v.Has != 0
}

// keepJournal writes behind until ctx ends.
func (c *Controller) keepJournal(ctx context.Context) {
	t := time.NewTicker(journalEvery)
	defer t.Stop()
	failing := false // said once, and once when it is over: a disk may be full for days
	for many := c.ledger.many; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-many:
		case <-c.state.begun:
			select {
			case <-ctx.Done():
				return
			case <-time.After(motionWritten):
			}
		}
		many = nil // a journal that fails is tried again at its usual time
		err := c.saveJournal(ctx)
		switch {
		case err != nil && !failing:
			c.opts.Log.Error("last state and ledger could not be written; trying again", "why", err)
		case err == nil && failing:
			c.opts.Log.Info("last state and ledger are written again")
		}
		if failing = err != nil; !failing {
			many = c.ledger.many
		}
	}
}

// saveJournal writes what changed; nothing is written when nothing did. What fails is
// kept for the next time.
func (c *Controller) saveJournal(ctx context.Context) error {
	if c.opts.Journal == nil {
		return nil
	}
	batch := appliance.Batch{States: c.state.takeUnsaved(), Entries: c.ledger.takeUnsaved()}
	if len(batch.States) == 0 && len(batch.Entries) == 0 {
		return nil
	}
	err := c.opts.Journal.SaveBatch(ctx, batch)
	if err != nil {
		c.state.putUnsaved(batch.States)
		c.ledger.putUnsaved(batch.Entries)
	}
	return err
}
