package automation

import (
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

const (
	// fadeApart is the least time between two steps of a fade.
	fadeApart = 2 * time.Second
	// fadeMost bounds the commands of a fade before its last step, and with them what it puts into the ledger: lights that
	// have to be commanded one by one take fewer and larger steps.
	fadeMost = 200
	// fadeAlike percent of difference, as reading back rounds, keep no light from beginning together with the brightest.
	fadeAlike = 3
)

// fade is an action that takes time, under way.
type fade struct {
	at, begun  time.Time // when it began; when its rule had reason to act
	rule       *appliance.Rule
	action     appliance.Action
	why        string
	from       map[appliance.ID]appliance.Level // at which each of its lights began; what another rule took over is gone
	steps      int                              // of which the last is the goal
	seen, sent int                              // the last step whose time came, and the last that was commanded
	spent      int                              // commands
	ended      string                           // why it does not go on

	// What became of it, for the one run that it is.
	busy     bool // a step is under way
	commands []string
	left     []string
}

// begin takes the actions that take time out of a firing, and begins them.
func (e *engine) begin(f *firing, s *appliance.Snapshot) {
	if f.left != "" {
		return
	}
	set := map[appliance.ID]appliance.Level{} // by what the firing does before that, at once
	f.actions = slices.DeleteFunc(f.actions, func(a appliance.Action) bool {
		if a.Over > 0 {
			e.fade(a, f, s, set)
			return true
		}
		sets := []appliance.Action{a}
		if sc := sceneOf(s, a.Scene); sc != nil {
			sets = sc.Actions
		}
		for _, a := range sets {
			if a.Kind != appliance.LightLevel && a.Kind != appliance.LightOff {
				continue
			}
			lights, _ := members(a.Command(appliance.Origin{}), s)
			for _, l := range lights {
				set[l.Node] = a.Level
			}
		}
		return false
	})
}

// fade begins one action that takes time. Each of its lights goes from its own level; one whose level is not known goes with
// the brightest.
func (e *engine) fade(a appliance.Action, f *firing, s *appliance.Snapshot, set map[appliance.ID]appliance.Level) {
	fd := &fade{at: f.at, begun: f.begun, rule: f.rule, action: a, from: map[appliance.ID]appliance.Level{}, steps: 1,
		why: fmt.Sprintf("%s, fading to %d %% over %s", f.why, a.Level, shortly(a.Over))}
	if fd.begun.IsZero() {
		fd.begun = f.at
	}
	if len(e.later)+len(e.fades) >= laterMost {
		fd.ended = "too many rules have something to do later"
	}
	lights, _ := members(a.Command(appliance.Origin{}), s)
	brightest, known := appliance.Level(0), false
	for _, l := range lights {
		level, ok := set[l.Node]
		if !ok {
			level, ok = levelOf(s.Node(l.Node), a.Channel)
		}
		if ok {
			fd.from[l.Node], brightest, known = level, max(brightest, level), true
		}
	}
	if !known {
		brightest = a.Level
		fd.leave("the level from which it was to fade was not known")
	}
	way := 1
	for _, l := range lights {
		level, ok := fd.from[l.Node]
		if !ok || level > 0 && brightest-level <= fadeAlike {
			level = brightest
		}
		fd.from[l.Node] = level
		way = max(way, int(level-a.Level), int(a.Level-level))
	}
	fd.steps = max(1, min(way, int(a.Over/fadeApart)))
	e.takeOver(lights, f.rule, func(*fade) bool { return true })
	e.fades = append(e.fades, fd)
}

// levelOf is the level that a light, or a channel of it, has; false if nobody knows.
func levelOf(n *appliance.NodeState, channel int) (appliance.Level, bool) {
	level := n.Level
	if channel > 0 && channel <= len(n.Channels) {
		level = n.Channels[channel-1].Level
	}
	return level.Value, n.Online && level.OK()
}

// takeOver ends fades for lights that a rule sets otherwise.
func (e *engine) takeOver(lights []appliance.Ref, by *appliance.Rule, which func(*fade) bool) {
	for _, fd := range e.fades {
		if !which(fd) {
			continue
		}
		for _, l := range lights {
			if _, has := fd.from[l.Node]; has {
				delete(fd.from, l.Node)
				fd.leave(fmt.Sprintf("rule %s took lights over", by.Name))
			}
		}
	}
}

// due is when a step is.
func (fd *fade) due(step int) time.Time {
	return fd.at.Add(fd.action.Over * time.Duration(step) / time.Duration(fd.steps))
}

// level that a light has at a step, if it began at from: never nearer to the goal than its time tells.
func (fd *fade) level(from appliance.Level, step int) appliance.Level {
	return from + (fd.action.Level-from)*appliance.Level(step)/appliance.Level(fd.steps)
}

// leave notes, once, what was not done, or why.
func (fd *fade) leave(why string) {
	if !slices.Contains(fd.left, why) {
		fd.left = append(fd.left, why)
	}
}

// run is what became of the fade.
func (fd *fade) run() appliance.RuleRun {
	return appliance.RuleRun{At: fd.at, Rule: fd.rule.ID, Name: fd.rule.Name, Why: fd.why, Commands: fd.commands, Left: summary(fd.left)}
}

// faded are the steps whose time has come: of each fade one, however many passed meanwhile, and none while the one before is
// under way, unless it is the last.
func (e *engine) faded(now time.Time, s *appliance.Snapshot) []firing {
	var out []firing
	e.fades = slices.DeleteFunc(e.fades, func(fd *fade) bool {
		step := int(min(now.Sub(fd.at), fd.action.Over) * time.Duration(fd.steps) / fd.action.Over)
		late := now.Sub(fd.due(step)) > grace
		f := firing{at: fd.at, begun: fd.begun, rule: fd.rule, fade: fd}
		switch {
		case fd.ended != "":
			f.left = fd.ended
		case now.Before(fd.at.Add(-backMost)):
			f.left = notReady
		case step <= fd.seen:
			return false
		case changed(fd.rule, s):
			f.left = changedMeanwhile
		case late && step == fd.steps:
			f.left = notReady
		case step < fd.steps && (late || fd.busy):
			fd.seen = step
			return false
		default:
			fd.seen = step
		}
		out = append(out, f)
		return f.left != "" || step == fd.steps
	})
	return out
}

// step is what the step of a fade commands: one command while all its lights go the same way, else one for each.
func (e *engine) step(f firing, s *appliance.Snapshot) (list []appliance.Command) {
	fd, last := f.fade, f.fade.seen == f.fade.steps
	cmd := fd.action.Command(appliance.Origin{Who: fd.rule.Name, Via: byRule, Why: fd.why})
	lights, ok := members(cmd, s)
	if !ok {
		fd.leave(isGone)
	}
	together := true
	for _, ref := range lights {
		from, has := fd.from[ref.Node]
		if h, held := e.held(ref, f); has && held {
			fd.leave(fmt.Sprintf("%s was set by %s", nameOf(s, ref), h.Who))
			has = false
		}
		one := cmd
		if !last {
			one.Kind, one.Level = appliance.LightLevel, fd.level(from, fd.seen)
		}
		if !has || !last && one.Level == fd.level(from, fd.sent) {
			together = false
			continue
		}
		together = together && (len(list) == 0 || one.Level == list[0].Level)
		one.Target = appliance.Target{Scope: appliance.One, ID: ref.Node}
		list = append(list, one)
	}
	if together && len(list) > 0 {
		list[0].Target = cmd.Target
		list = list[:1]
	}
	if !last && fd.spent+len(list) > fadeMost*fd.seen/fd.steps {
		return nil
	}
	fd.spent, fd.sent = fd.spent+len(list), fd.seen
	return list
}
