package appliance

import "fmt"

// resolve turns a command into what is wanted of each thing it addresses.
func resolve(s *Snapshot, cmd Command) ([]Want, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	if cmd.Kind.IsShade() {
		return resolveShades(s, cmd)
	}
	return resolveLights(s, cmd)
}

// check refuses values outside their bounds.
func (cmd Command) check() error {
	switch {
	case cmd.Kind < LightOn || cmd.Kind > ShadeMoveTo:
		return fmt.Errorf("command kind %d: %w", cmd.Kind, ErrOutOfRange)
	case cmd.Target.Scope < All || cmd.Target.Scope > One:
		return fmt.Errorf("target scope %d: %w: 1 to 3", cmd.Target.Scope, ErrOutOfRange)
	case cmd.Level < 0 || cmd.Level > 100:
		return fmt.Errorf("level %d: %w: 0 to 100", cmd.Level, ErrOutOfRange)
	case cmd.Position < 0 || cmd.Position > 100:
		return fmt.Errorf("position %d: %w: 0 to 100", cmd.Position, ErrOutOfRange)
	case cmd.Channel < 0:
		return fmt.Errorf("channel %d: %w: 0 means all, channels count from 1", cmd.Channel, ErrOutOfRange)
	case cmd.Kind == LightKelvin && cmd.Kelvin <= 0:
		return fmt.Errorf("colour temperature %d: %w: kelvin above 0", cmd.Kelvin, ErrOutOfRange)
	}
	return nil
}

func resolveShades(s *Snapshot, cmd Command) ([]Want, error) {
	shades, err := targetShades(s, cmd.Target)
	if err != nil {
		return nil, err
	}
	want := Values{Has: CanMove}
	switch cmd.Kind {
	case ShadeOpen:
		want.Motion = Open
	case ShadeClose:
		want.Motion = Close
	case ShadeStop:
		want.Motion = Stop
	case ShadeMoveTo:
		want.Motion, want.Position = MoveTo, cmd.Position
		want.Has |= CanPosition
	}
	var wants []Want
	waits := 0
	for _, sh := range shades {
		if sh.Waits {
			if cmd.Target.Scope == One {
				return nil, fmt.Errorf("%w: shade %d waits for binding", ErrUnable, sh.Shade.ID)
			}
			waits++
			continue
		}
		if sh.Fault != "" {
			if cmd.Target.Scope == One {
				return nil, fmt.Errorf("%w: shade %d is quarantined: %s", ErrUnable, sh.Shade.ID, sh.Fault)
			}
			continue
		}
		wants = append(wants, Want{Ref{Shade: sh.Shade.ID}, want})
	}
	if len(wants) == 0 && waits > 0 {
		return nil, fmt.Errorf("%w: every shade of %s waits for binding", ErrUnable, cmd.Target)
	}
	if len(wants) == 0 {
		return nil, fmt.Errorf("%w: %s has no shade", ErrUnable, cmd.Target)
	}
	return wants, nil
}

func targetShades(s *Snapshot, t Target) ([]*ShadeState, error) {
	switch t.Scope {
	case All:
		return s.Shades, nil
	case One:
		i, ok := s.index.shade[t.ID]
		if !ok {
			return nil, fmt.Errorf("shade %d: %w", t.ID, ErrNotFound)
		}
		return s.Shades[i : i+1 : i+1], nil
	}
	c := s.Cluster(t.ID)
	if c == nil {
		return nil, fmt.Errorf("cluster %d: %w", t.ID, ErrNotFound)
	}
	var out []*ShadeState
	for _, id := range c.Cluster.Shades {
		if sh := s.Shade(id); sh != nil {
			out = append(out, sh)
		}
	}
	return out, nil
}

func resolveLights(s *Snapshot, cmd Command) ([]Want, error) {
	nodes, err := targetNodes(s, cmd.Target)
	if err != nil {
		return nil, err
	}
	var wants []Want
	channelExists, waits := false, 0
	for _, n := range nodes {
		if n.Waits {
			if cmd.Target.Scope == One {
				return nil, fmt.Errorf("%w: node %d waits for binding", ErrUnable, n.Node.ID)
			}
			waits++
			continue
		}
		if n.Fault != "" && cmd.Target.Scope == One {
			return nil, fmt.Errorf("%w: node %d is quarantined: %s", ErrUnable, n.Node.ID, n.Fault)
		}
		for i := range n.Channels {
			if cmd.Channel != 0 && cmd.Channel != i+1 {
				continue
			}
			channelExists = true
			if v, ok := wanted(&n.Channels[i], cmd); ok {
				wants = append(wants, Want{Ref{Node: n.Node.ID, Channel: i + 1}, v})
			}
		}
	}
	switch {
	case len(wants) > 0:
		return wants, nil
	case cmd.Channel != 0 && !channelExists:
		return nil, fmt.Errorf("%s has no channel %d: %w", cmd.Target, cmd.Channel, ErrNotFound)
	}
	if waits > 0 && waits == len(nodes) {
		return nil, fmt.Errorf("%w: every node of %s waits for binding", ErrUnable, cmd.Target)
	}
	return nil, fmt.Errorf("%w: %s has no light that can %s", ErrUnable, cmd.Target, cmd.Kind.verb())
}

func targetNodes(s *Snapshot, t Target) ([]*NodeState, error) {
	switch t.Scope {
	case All:
		return lights(s.Nodes), nil
	case One:
		i, ok := s.index.node[t.ID]
		if !ok {
			return nil, fmt.Errorf("node %d: %w", t.ID, ErrNotFound)
		}
		return s.Nodes[i : i+1 : i+1], nil
	}
	c := s.Cluster(t.ID)
	if c == nil {
		return nil, fmt.Errorf("cluster %d: %w", t.ID, ErrNotFound)
	}
	var out []*NodeState
	for _, id := range c.Cluster.Nodes {
		if n := s.Node(id); n != nil {
			out = append(out, n)
		}
	}
	return lights(out), nil
}

// lights leaves out what is no light: a relay tagged as a peripheral is switched
// when it is meant, not by "all lights".
func lights(nodes []*NodeState) []*NodeState {
	var out []*NodeState
	for _, n := range nodes {
		if n.Tag == TagNode {
			out = append(out, n)
		}
	}
	return out
}

// wanted is what a command wants of one channel; ok is false if it cannot do it.
func wanted(ch *ChannelState, cmd Command) (v Values, ok bool) {
	light := ch.Abilities & (CanSwitch | CanDim)
	switch cmd.Kind {
	case LightOn, LightOff, LightLevel:
		if light == 0 {
			return v, false
		}
		v.Has, v.Level = light, levelFor(ch, cmd)
	case LightKelvin:
		if !ch.Abilities.Has(CanTune) {
			return v, false
		}
		v.Has, v.Kelvin = CanTune, cmd.Kelvin
		if ch.KelvinMin > 0 {
			v.Kelvin = max(v.Kelvin, ch.KelvinMin)
		}
		if ch.KelvinMax > 0 {
			v.Kelvin = min(v.Kelvin, ch.KelvinMax)
		}
	case LightRGBW:
		if !ch.Abilities.Has(CanColour) {
			return v, false
		}
		v.Has, v.RGBW = CanColour, cmd.RGBW
		if !cmd.KeepLevel && light != 0 {
			v.Has |= light
			v.Level = levelFor(ch, cmd)
		}
	}
	return v, true
}

// levelFor is the level a command means for a channel: a switched output knows 0
// and 100 only, and every lamp has a lowest level above off.
func levelFor(ch *ChannelState, cmd Command) Level {
	l := cmd.Level
	switch cmd.Kind {
	case LightOff:
		return 0
	case LightOn:
		l = 100
		if ch.LastLevel > 0 {
			l = ch.LastLevel
		}
	}
	if l == 0 {
		return 0
	}
	if !ch.Abilities.Has(CanDim) {
		return 100
	}
	return max(l, ch.MinLevel)
}

// String names a target for people.
func (t Target) String() string {
	switch t.Scope {
	case All:
		return "the site"
	case InCluster:
		return fmt.Sprintf("cluster %d", t.ID)
	}
	return fmt.Sprintf("target %d", t.ID)
}

func (k Kind) verb() string {
	switch k {
	case LightKelvin:
		return "change its colour temperature"
	case LightRGBW:
		return "show colours"
	}
	return "be dimmed or switched"
}
