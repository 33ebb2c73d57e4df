package control

import (
	"fmt"

	"svc.internal/controller/appliance"
)

// resolve turns a command into what is wanted of each thing it addresses.
func resolve(s *appliance.Snapshot, cmd appliance.Command) ([]appliance.Want, error) {
	if err := check(cmd); err != nil {
		return nil, err
	}
	if cmd.Kind.IsShade() {
		return resolveShades(s, cmd)
	}
	return resolveLights(s, cmd)
}

// check refuses values outside their bounds.
func check(cmd appliance.Command) error {
	switch {
	case cmd.Kind < appliance.LightOn || cmd.Kind > appliance.ShadeMoveTo:
		return fmt.Errorf("command kind %d: %w", cmd.Kind, appliance.ErrOutOfRange)
	case cmd.Target.Scope < appliance.All || cmd.Target.Scope > appliance.One:
		return fmt.Errorf("target scope %d: %w: 1 to 3", cmd.Target.Scope, appliance.ErrOutOfRange)
	case cmd.Level < 0 || cmd.Level > 100:
		return fmt.Errorf("level %d: %w: 0 to 100", cmd.Level, appliance.ErrOutOfRange)
	case cmd.Position < 0 || cmd.Position > 100:
		return fmt.Errorf("position %d: %w: 0 to 100", cmd.Position, appliance.ErrOutOfRange)
	case cmd.Channel < 0:
		return fmt.Errorf("channel %d: %w: 0 means all, channels count from 1", cmd.Channel, appliance.ErrOutOfRange)
	case cmd.Kind == appliance.LightKelvin && cmd.Kelvin <= 0:
		return fmt.Errorf("colour temperature %d: %w: kelvin above 0", cmd.Kelvin, appliance.ErrOutOfRange)
	}
	return nil
}

func resolveShades(s *appliance.Snapshot, cmd appliance.Command) ([]appliance.Want, error) {
	shades, err := targetShades(s, cmd.Target)
	if err != nil {
		return nil, err
	}
	want := appliance.Values{Has: appliance.CanMove}
	switch cmd.Kind {
	case appliance.ShadeOpen:
		want.Motion = appliance.Open
	case appliance.ShadeClose:
		want.Motion = appliance.Close
	case appliance.ShadeStop:
		want.Motion = appliance.Stop
	case appliance.ShadeMoveTo:
		want.Motion, want.Position = appliance.MoveTo, cmd.Position
		want.Has |= appliance.CanPosition
	}
	var wants []appliance.Want
	waits := 0
	for _, sh := range shades {
		if sh.Waits {
			if cmd.Target.Scope == appliance.One {
				return nil, fmt.Errorf("%w: shade %d waits for binding", appliance.ErrUnable, sh.Shade.ID)
			}
			waits++
			continue
		}
		if sh.Fault != "" {
			if cmd.Target.Scope == appliance.One {
				return nil, fmt.Errorf("%w: shade %d is quarantined: %s", appliance.ErrUnable, sh.Shade.ID, sh.Fault)
			}
			continue
		}
		wants = append(wants, appliance.Want{Ref: appliance.Ref{Shade: sh.Shade.ID}, Values: want})
	}
	if len(wants) == 0 && waits > 0 {
		return nil, fmt.Errorf("%w: every shade of %s waits for binding", appliance.ErrUnable, cmd.Target)
	}
	if len(wants) == 0 {
		return nil, fmt.Errorf("%w: %s has no shade", appliance.ErrUnable, cmd.Target)
	}
	return wants, nil
}

func targetShades(s *appliance.Snapshot, t appliance.Target) ([]*appliance.ShadeState, error) {
	switch t.Scope {
	case appliance.All:
		return s.Shades, nil
	case appliance.One:
		i, ok := s.Index.Shade[t.ID]
		if !ok {
			return nil, fmt.Errorf("shade %d: %w", t.ID, appliance.ErrNotFound)
		}
		return s.Shades[i : i+1 : i+1], nil
	}
	c := s.Cluster(t.ID)
	if c == nil {
		return nil, fmt.Errorf("cluster %d: %w", t.ID, appliance.ErrNotFound)
	}
	var out []*appliance.ShadeState
	for _, id := range c.Cluster.Shades {
		if sh := s.Shade(id); sh != nil {
			out = append(out, sh)
		}
	}
	return out, nil
}

func resolveLights(s *appliance.Snapshot, cmd appliance.Command) ([]appliance.Want, error) {
	nodes, err := targetNodes(s, cmd.Target)
	if err != nil {
		return nil, err
	}
	var wants []appliance.Want
	channelExists, waits := false, 0
	for _, n := range nodes {
		if n.Waits {
			if cmd.Target.Scope == appliance.One {
				return nil, fmt.Errorf("%w: node %d waits for binding", appliance.ErrUnable, n.Node.ID)
			}
			waits++
			continue
		}
		if n.Fault != "" && cmd.Target.Scope == appliance.One {
			return nil, fmt.Errorf("%w: node %d is quarantined: %s", appliance.ErrUnable, n.Node.ID, n.Fault)
		}
		for i := range n.Channels {
			if cmd.Channel != 0 && cmd.Channel != i+1 {
				continue
			}
			channelExists = true
			if v, ok := wanted(&n.Channels[i], cmd); ok {
				wants = append(wants, appliance.Want{Ref: appliance.Ref{Node: n.Node.ID, Channel: i + 1}, Values: v})
			}
		}
	}
	switch {
	case len(wants) > 0:
		return wants, nil
	case cmd.Channel != 0 && !channelExists:
		return nil, fmt.Errorf("%s has no channel %d: %w", cmd.Target, cmd.Channel, appliance.ErrNotFound)
	}
	if waits > 0 && waits == len(nodes) {
		return nil, fmt.Errorf("%w: every node of %s waits for binding", appliance.ErrUnable, cmd.Target)
	}
	return nil, fmt.Errorf("%w: %s has no light that can %s", appliance.ErrUnable, cmd.Target, verb(cmd.Kind))
}

func targetNodes(s *appliance.Snapshot, t appliance.Target) ([]*appliance.NodeState, error) {
	switch t.Scope {
	case appliance.All:
		return lights(s.Nodes), nil
	case appliance.One:
		i, ok := s.Index.Node[t.ID]
		if !ok {
			return nil, fmt.Errorf("node %d: %w", t.ID, appliance.ErrNotFound)
		}
		return s.Nodes[i : i+1 : i+1], nil
	}
	c := s.Cluster(t.ID)
	if c == nil {
		return nil, fmt.Errorf("cluster %d: %w", t.ID, appliance.ErrNotFound)
	}
	var out []*appliance.NodeState
	for _, id := range c.Cluster.Nodes {
		if n := s.Node(id); n != nil {
			out = append(out, n)
		}
	}
	return lights(out), nil
}

// lights leaves out what is no light: a relay tagged as a peripheral is switched
// when it is meant, not by "all lights".
func lights(nodes []*appliance.NodeState) []*appliance.NodeState {
	var out []*appliance.NodeState
	for _, n := range nodes {
		if n.Tag == appliance.TagNode {
			out = append(out, n)
		}
	}
	return out
}

// wanted is what a command wants of one channel; ok is false if it cannot do it.
func wanted(ch *appliance.ChannelState, cmd appliance.Command) (v appliance.Values, ok bool) {
	light := ch.Abilities & (appliance.CanSwitch | appliance.CanDim)
	switch cmd.Kind {
	case appliance.LightOn, appliance.LightOff, appliance.LightLevel:
		if light == 0 {
			return v, false
		}
		v.Has, v.Level = light, levelFor(ch, cmd)
	case appliance.LightKelvin:
		if !ch.Abilities.Has(appliance.CanTune) {
			return v, false
		}
		v.Has, v.Kelvin = appliance.CanTune, cmd.Kelvin
		if ch.KelvinMin > 0 {
			v.Kelvin = max(v.Kelvin, ch.KelvinMin)
		}
		if ch.KelvinMax > 0 {
			v.Kelvin = min(v.Kelvin, ch.KelvinMax)
		}
	case appliance.LightRGBW:
		if !ch.Abilities.Has(appliance.CanColour) {
			return v, false
		}
		v.Has, v.RGBW = appliance.CanColour, cmd.RGBW
		if !cmd.KeepLevel && light != 0 {
			v.Has |= light
			v.Level = levelFor(ch, cmd)
		}
	}
	return v, true
}

// levelFor is the level a command means for a channel: a switched output knows 0
// and 100 only, and every lamp has a lowest level above off.
func levelFor(ch *appliance.ChannelState, cmd appliance.Command) appliance.Level {
	l := cmd.Level
	switch cmd.Kind {
	case appliance.LightOff:
		return 0
	case appliance.LightOn:
		l = 100
		if ch.LastLevel > 0 {
			l = ch.LastLevel
		}
	}
	if l == 0 {
		return 0
	}
	if !ch.Abilities.Has(appliance.CanDim) {
		return 100
	}
	return max(l, ch.MinLevel)
}

func verb(k appliance.Kind) string {
	switch k {
	case appliance.LightKelvin:
		return "change its colour temperature"
	case appliance.LightRGBW:
		return "show colours"
	}
	return "be dimmed or switched"
}
