package assistant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// Bounds of an order.
const (
	// PreviewLife is how long a preview waits for its yes.
	PreviewLife   = 2 * time.Minute
	maxOrderZones = 50
	ordersAtOnce  = 4
	orderTimeout  = 10 * time.Second
	stepPoints    = 20 // of "brighter" and "dimmer" without a number
)

// Pending is an order that was previewed and waits for a yes.
type Pending struct {
	Controller string    `json:"controller"`
	Steps      []Step    `json:"steps"`
	At         time.Time `json:"at"`
	Text       string    `json:"text"` // of the preview
}

// Step is what is to be done in one zone.
type Step struct {
	Zone   platform.Zone   `json:"zone"`
	Action platform.Action `json:"action"`
	What   string          `json:"what"` // "set the lights to 40 %"
}

// noControl is the answer to who may not.
const noControl = "I may not switch or move anything for you: your key or login only reads. A key with the permission to control is needed; it is given when the key is made."

// preview shows what an order would do; nothing is sent before the same person says yes.
func (e *Assistant) preview(w *work, a *asked) (answer, error) {
	switch {
	case !w.in.Control:
		return answer{text: noControl}, nil
	case e.Act == nil:
		return answer{text: "I cannot switch or move anything: this platform has no way to its controllers."}, nil
	case a.q.Unclear != nil:
		return answer{text: "I did nothing: " + a.cannot()}, nil
	case !a.site.Controller.Online:
		return answer{text: fmt.Sprintf("I did nothing: the controller of %s is offline, so nothing would arrive in time.", quoted(a.site.Name()))}, nil
	}
	p := &Pending{Controller: a.site.Controller.ID, At: w.now}
	var lines []string
	for _, d := range a.q.Do { // all of them or none
		steps, line, why := a.steps(d)
		if why != "" {
			return answer{text: "I did nothing: " + why}, nil
		}
		p.Steps = append(p.Steps, steps...)
		lines = append(lines, line)
	}
	if len(p.Steps) > maxOrderZones {
		return answer{text: fmt.Sprintf("I did nothing: that would be %d zones, at most %d are possible at once.", len(p.Steps), maxOrderZones)}, nil
	}
	w.conv.Order = p
	p.Text = fmt.Sprintf("Not done yet. This would %s. Answer “yes” within %s to do it; anything else drops it.", strings.Join(lines, "; then "), length(PreviewLife))
	return answer{p.Text, p}, nil
}

// cannot says why an order is not done as it was said.
func (a *asked) cannot() string {
	u := a.q.Unclear
	var words []string
	for _, w := range u.Words {
		words = append(words, quoted(w))
	}
	said := list(words)
	switch u.Why {
	case understand.Later:
		return fmt.Sprintf("I cannot do it later (%s); I can do it now.", said)
	case understand.For:
		return fmt.Sprintf("I cannot do it for a while only (%s) and undo it afterwards; say it without, and again when it should end.", said)
	case understand.If:
		return fmt.Sprintf("I cannot wait for a condition (%s); rules on the controller can.", said)
	case understand.Heating:
		return "no controller here can set heating, cooling or ventilation; I can switch and dim lights and move shades."
	case understand.SceneSet:
		return "I cannot recall scenes; I can switch and dim lights and move shades, zone by zone."
	case understand.Coloured:
		return "I cannot set colours; I can switch and dim lights and move shades."
	case understand.Negated:
		return fmt.Sprintf("I do not understand orders with “not” (%s); say only what is to be done, and nothing happens to the rest.", said)
	case understand.Value:
		return fmt.Sprintf("I understood %s, and I need one whole number from 0 to 100: say for example “set the lobby to 60 %%”.", said)
	case understand.Elsewhere, understand.Missing:
		return sentences(a.strange(), a.around())
	case understand.Cannot:
		return fmt.Sprintf("I do not understand %s, and that is not something I can do; I can set lights to a level and move or stop shades, zone by zone.", said)
	}
	return "I need to know what to do with what, from 0 to 100 %: say for example “set the lobby to 60 %” or “move the lobby shades to 30 %”."
}

// steps are what one thing that an order wants means for every zone of it, or why it cannot be done.
func (a *asked) steps(d understand.Do) (steps []Step, line, why string) {
	scope := scopeOf(a.site, d.Places, d.Except)
	if d.Kind == understand.Panel {
		return nil, "", "a panel can be opened at its device only."
	}
	if len(d.Places) == 0 && len(d.Except) == 0 && !d.Whole && d.Switch != "stop" && d.Kind != understand.Everything {
		return nil, "", sentences("which zone or floor do you mean, or all of them?", a.around())
	}
	if slices.ContainsFunc(slices.Concat(d.Places, d.Except), func(p understand.Place) bool { return p.Kind != understand.Zone && p.Kind != understand.Floor }) {
		return nil, "", "I command whole zones, not single devices; name a zone or a floor."
	}
	kind := platform.KindLight
	if d.Kind == understand.Shade {
		kind = platform.KindShade
	}
	of := &asked{ctx: a.ctx, site: a.site, q: understand.Frame{Where: understand.Where{Places: d.Places, Except: d.Except}}, scope: scope}
	var lines []string
	for _, z := range of.zonesIn() {
		devices := a.site.In(a.site.ZoneScope(z.ID), kind)
		if len(devices) == 0 {
			continue
		}
		if i := slices.IndexFunc(devices, func(one platform.Device) bool { return scope.Out != nil && scope.Out.Holds(one) }); i >= 0 {
			return nil, "", fmt.Sprintf("%s belongs to %s and to what is left out, and I command whole zones.", label(devices[i].Name), label(z.Name))
		}
		action, unknown := a.action(d, z)
		if unknown != "" {
			return nil, "", unknown
		}
		steps = append(steps, Step{z, action, actionWords(action)})
		lines = append(lines, fmt.Sprintf("%s (%s, %s)", label(z.Name), count(len(devices), kind), a.present(z, kind)))
	}
	if len(steps) == 0 {
		return nil, "", fmt.Sprintf("no zone%s has a %s.", of.in(), kind)
	}
	what := steps[0].What
	if d.Switch == "dim" || d.Switch == "brighten" || d.Switch == "toggle" { // each zone has its own
		what = ""
		for i := range lines {
			lines[i] = steps[i].What + " in " + lines[i]
		}
	}
	if what != "" {
		what += ": "
	}
	return steps, what + list(lines), ""
}

// action is what is sent to one zone. What depends on how the zone is becomes an absolute value, so that the yes is to a known thing.
func (a *asked) action(d understand.Do, z platform.Zone) (action platform.Action, why string) {
	level := func(v int) platform.Action { return platform.Action{Level: &v} }
	t := a.site.Levels(a.site.ZoneScope(z.ID))
	switch d.Switch {
	case "on":
		return level(100), ""
	case "off":
		return level(0), ""
	case "stop":
		return platform.Action{StopShade: true}, ""
	case "toggle":
		if len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 })) > 0 {
			return level(0), ""
		}
		return level(100), ""
	case "dim", "brighten":
		mean, ok := t.Mean()
		if !ok {
			return action, fmt.Sprintf("I do not know how bright %s is now; say to what level, from 0 to 100 %%.", label(z.Name))
		}
		by := stepPoints
		if d.By != nil {
			by = *d.By
		}
		if d.Switch == "dim" {
			by = -by
		}
		return level(min(100, max(1, int(mean+0.5)+by))), ""
	}
	v := 0
	switch {
	case d.Thirds > 0:
		v = []int{0, 33, 67}[d.Thirds]
	case d.Percent != nil:
		v = *d.Percent
	}
	if d.Kind == understand.Shade {
		return platform.Action{Position: &v}, ""
	}
	return level(v), ""
}

// present words what a zone is like before an order.
func (a *asked) present(z platform.Zone, kind string) string {
	scope := a.site.ZoneScope(z.ID)
	if kind == platform.KindLight {
		t := a.site.Levels(scope)
		if t.Basis.Readings == 0 {
			return "present level unknown"
		}
		on := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 }))
		return fmt.Sprintf("%d on now", on)
	}
	if mean, ok := a.site.Positions(scope).Mean(); ok {
		return fmt.Sprintf("now %s open on average", percent(mean))
	}
	return "present position unknown"
}

func actionWords(a platform.Action) string {
	switch {
	case a.Level != nil && *a.Level == 0:
		return "switch the lights off"
	case a.Level != nil:
		return fmt.Sprintf("set the lights to %d %%", *a.Level)
	case a.Position != nil && *a.Position == 0:
		return "close the shades"
	case a.Position != nil:
		return fmt.Sprintf("move the shades to %d %% open", *a.Position)
	}
	return "stop the shades"
}

// carryOut does what was previewed and reports what the controller said of every zone. What concerns one zone is done in order.
func (e *Assistant) carryOut(ctx context.Context, w *work, p Pending) (answer, error) {
	switch {
	case !w.in.Control:
		return answer{text: noControl}, nil
	case e.Act == nil:
		return answer{text: "I cannot switch or move anything: this platform has no way to its controllers."}, nil
	case w.now.Sub(p.At) > PreviewLife:
		return answer{text: fmt.Sprintf("Nothing was done: the preview is %s old. Say again what you want.", length(w.now.Sub(p.At)))}, nil
	}
	w.status("acting", User, "Sending to the controller")
	results := make([]result, len(p.Steps))
	byZone := map[int64][]int{}
	for i, s := range p.Steps {
		byZone[s.Zone.ID] = append(byZone[s.Zone.ID], i)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, ordersAtOnce)
	for _, steps := range byZone {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, i := range steps {
				ctx, cancel := context.WithTimeout(ctx, orderTimeout)
				out, err := e.Act.Act(ctx, p.Controller, p.Steps[i].Zone.ID, p.Steps[i].Action)
				cancel()
				results[i] = result{Step: p.Steps[i], Outcome: out}
				if err != nil {
					results[i].Error = e.notSent(p.Controller, err)
				}
			}
		})
	}
	wg.Wait()
	text := outcomes(results)
	if e.Settle > 0 && !e.settled(ctx, p.Controller, results) {
		text = sentences(text, "What it reports does not show all of it yet.")
	}
	return answer{text, results}, nil
}

// lookEvery is how often it is looked at whether an order shows.
const lookEvery = 100 * time.Millisecond

// settled waits until what the controller reported shows what was done, for at most [Config.Settle]: who asks next should
// not be told of before. States come a moment after the acknowledgement.
func (e *Assistant) settled(ctx context.Context, controller string, results []result) bool {
	ctx, cancel := context.WithTimeout(ctx, e.Settle)
	defer cancel()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		devices, err := e.Sites.Devices(ctx, controller)
		if err == nil && !slices.ContainsFunc(devices, func(d platform.Device) bool {
			return slices.ContainsFunc(results, func(r result) bool {
				return r.Outcome.Done && slices.Contains(d.Zones, r.Zone.ID) && !shows(d, r.Action)
			})
		}) {
			return true
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
}

// shows reports whether a device is as an action wants it, on the way there, or none that would ever tell.
func shows(d platform.Device, do platform.Action) bool {
	near := func(r *platform.Reading, goal int) bool { return r != nil && math.Abs(r.Value-float64(goal)) <= 1 }
	moves := slices.Contains([]string{"opening", "closing", "moving"}, d.Motion)
	switch {
	case !d.Online:
		return true
	case do.Level != nil && facts.Kind(d) == platform.KindLight:
		onOff := !slices.Contains(d.Abilities, "dim")
		return near(d.Level, *do.Level) || onOff && d.Level != nil && d.Level.Value > 0 == (*do.Level > 0)
	case do.Position != nil && facts.Kind(d) == platform.KindShade:
		return moves || near(d.Position, *do.Position)
	case do.StopShade && facts.Kind(d) == platform.KindShade:
		return !moves
	}
	return true
}

// notSent says for people why an order was not answered. What nobody outside could use is for the log.
func (e *Assistant) notSent(controller string, err error) string {
	switch {
	case errors.Is(err, platform.ErrOffline):
		return "its controller is offline"
	case errors.Is(err, platform.ErrNotFound):
		return "its controller is no longer known here"
	case errors.Is(err, platform.ErrUnanswered):
		return "it was sent, but its controller has not answered, so I do not know whether it was done"
	case errors.Is(err, platform.ErrOverloaded):
		return "too many orders are under way; try again"
	case errors.Is(err, platform.ErrInvalid), errors.Is(err, platform.ErrConflict):
		return err.Error()
	}
	e.Log.Warn("an order was not sent", "controller", controller, "why", err)
	return "it could not be sent; try again"
}

// result is what became of an order in one zone.
type result struct {
	Step
	Outcome platform.Outcome `json:"outcome"`
	Error   string           `json:"error,omitempty"`
}

func outcomes(results []result) string {
	var what, not []string
	done := map[string][]string{}
	for _, r := range results {
		switch {
		case r.Error != "":
			not = append(not, label(r.Zone.Name)+": "+reason(r.Error))
		case !r.Outcome.Done:
			not = append(not, label(r.Zone.Name)+": "+reason(r.Outcome.Detail))
		default:
			line := label(r.Zone.Name)
			if r.Outcome.Detail != "" {
				line += " (" + reason(r.Outcome.Detail) + ")"
			}
			if done[r.What] == nil {
				what = append(what, r.What)
			}
			done[r.What] = append(done[r.What], line)
		}
	}
	slices.Sort(not)
	var parts []string
	for _, w := range what {
		parts = append(parts, w+", "+list(done[w]))
	}
	text := ""
	if len(parts) > 0 {
		text = "Done, the controller confirmed it: " + strings.Join(parts, "; ") + "."
	}
	if len(not) > 0 {
		text = sentences(text, "Not done: "+strings.Join(not, "; ")+".")
	}
	return text
}
