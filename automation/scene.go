package automation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// offered are the scenes of a room, by ID: those that set its own lights and shades and no others, and are not offered in another
// room.
func offered(s *appliance.Snapshot, clusters []appliance.ID) []wire.Scene {
	var out []wire.Scene
	for i := range s.Site.Scenes {
		sc := &s.Site.Scenes[i]
		if len(out) == wire.ScenesMost {
			break
		}
		if !ofRoom(s, sc, clusters) {
			continue
		}
		one := wire.Scene{ID: int64(sc.ID), Name: sc.Name}
		if name := []rune(sc.Name); len(name) > wire.SceneName {
			one.Name = string(name[:wire.SceneName-1]) + "…"
		}
		for _, a := range sc.Actions {
			one.Lights = one.Lights || !a.Kind.IsShade()
			one.Shades = one.Shades || a.Kind.IsShade()
		}
		out = append(out, one)
	}
	return out
}

// ofRoom reports whether a scene sets only what is in some clusters.
func ofRoom(s *appliance.Snapshot, sc *appliance.Scene, clusters []appliance.ID) bool {
	if sc.Cluster != 0 && !slices.Contains(clusters, sc.Cluster) {
		return false
	}
	return len(sc.Actions) > 0 && !slices.ContainsFunc(sc.Actions, func(a appliance.Action) bool { return !inRoom(s, a, clusters) })
}

// inRoom reports whether an action is for something in some clusters.
func inRoom(s *appliance.Snapshot, a appliance.Action, clusters []appliance.ID) bool {
	switch a.Target.Scope {
	case appliance.InCluster:
		return slices.Contains(clusters, a.Target.ID)
	case appliance.One:
		return slices.ContainsFunc(clusters, func(id appliance.ID) bool {
			c := s.Cluster(id)
			return c != nil && (a.Kind.IsShade() && slices.Contains(c.Cluster.Shades, a.Target.ID) || !a.Kind.IsShade() && slices.Contains(c.Cluster.Nodes, a.Target.ID))
		})
	}
	return false
}

// recall is what a scene of a room wants done: of its lights, and of its shades.
func recall(s *appliance.Snapshot, clusters []appliance.ID, id appliance.ID, by appliance.Origin) (parts [][]appliance.Command, err error) {
	sc := sceneOf(s, id)
	if sc == nil || !ofRoom(s, sc, clusters) {
		return nil, fmt.Errorf("this room has no scene %d", id)
	}
	by.Why = "scene " + sc.Name
	for _, shades := range []bool{false, true} {
		var part []appliance.Command
		for _, a := range sc.Actions {
			if a.Kind.IsShade() == shades {
				part = append(part, a.Command(by))
			}
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	return parts, nil
}

// together is one answer for the parts of an event, in the order in which they ended.
func together(acks []wire.Ack) wire.Ack {
	out := acks[0]
	mixed := slices.ContainsFunc(acks, func(ack wire.Ack) bool { return ack.Status != out.Status })
	if mixed {
		out.Status = wire.Failed // not all of it was done
	}
	var details, commands []string
	for i, ack := range acks {
		detail := ack.Detail
		if mixed && ack.Status == wire.Stale {
			detail = "something newer took the place of a part of it"
		}
		if detail != "" {
			details = append(details, detail)
		}
		if ack.Command != "" {
			commands = append(commands, ack.Command)
		}
		if i == 0 {
			continue
		}
		out.Offline += ack.Offline
		out.Things += ack.Things
		out.Not = append(out.Not, ack.Not...)
		out.Within = max(out.Within, ack.Within)
		if ack.Widgets != nil {
			out.Widgets = ack.Widgets
		}
	}
	slices.SortStableFunc(out.Not, func(a, b wire.Exception) int { return cmp.Compare(a.Kind, b.Kind) })
	out.Not = out.Not[:min(len(out.Not), wire.NotMost)]
	out.Detail, out.Command = strings.Join(slices.Compact(details), "; "), strings.Join(commands, ", ")
	return out
}
