package assistant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

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
	orderTimeout  = 12 * time.Second // a controller has 10 s at most, and its answer is on its way
	stepPoints    = 20               // of "brighter" and "dimmer" without a number
)

// Pending is an order that was previewed and waits for a yes.
type Pending struct {
	Controller string          `json:"controller"`
	Lang       understand.Lang `json:"lang,omitempty"`
	Steps      []Step          `json:"steps"`
	At         time.Time       `json:"at"`
	What       string          `json:"what"` // it would do
	Text       string          `json:"text"` // of the preview
}

// gone tells that an order is no longer waiting.
func (p *Pending) gone() string {
	return in(p.Lang, "Dropped, since you did not say yes: %s. To have it done, say it again.", p.What)
}

// Step is what is to be done in one zone.
type Step struct {
	Zone   platform.Zone   `json:"zone"`
	Action platform.Action `json:"action"`
	What   string          `json:"what"` // "set the lights to 40 %", in the language of the order
}

// noControl is the answer to who may not.
const noControl = "I may not switch or move anything for you: your key or login only reads. A key with the permission to control is needed; it is given when the key is made."

// preview shows what an order would do; nothing is sent before the same person says yes.
func (e *Assistant) preview(w *work, a *asked) (answer, error) {
	switch {
	case a.q.Unclear != nil: // nobody could have it done
		return answer{text: a.f("I did nothing: %s", a.cannot())}, nil
	case !w.in.Control:
		return answer{text: a.f(noControl)}, nil
	case e.Act == nil:
		return answer{text: a.f("I cannot switch or move anything: this platform has no way to its controllers.")}, nil
	case !a.site.Controller.Online:
		return answer{text: a.f("I did nothing: the controller of %s is offline, so nothing would arrive in time.", quoted(a.site.Name()))}, nil
	}
	p := &Pending{Controller: a.site.Controller.ID, Lang: a.q.Lang, At: w.now.In(a.site.Now.Location())}
	var lines []string
	for _, d := range a.q.Do { // all of them or none
		steps, line, why := a.steps(d)
		if why != "" {
			return answer{text: a.f("I did nothing: %s", why)}, nil
		}
		p.Steps = append(p.Steps, steps...)
		lines = append(lines, line)
	}
	if len(p.Steps) > maxOrderZones {
		return answer{text: a.f("I did nothing: that would be %d zones, at most %d are possible at once.", len(p.Steps), maxOrderZones)}, nil
	}
	w.conv.Order = p
	p.What = strings.Join(lines, a.f("; then "))
	p.Text = a.f("Not done yet. This would %s. Answer “yes” within %s to do it; anything else drops it.", p.What, length(PreviewLife))
	return answer{p.Text, p}, nil
}

// cannot says why an order is not done as it was said.
func (a *asked) cannot() string {
	u := a.q.Unclear
	var words []string
	for _, w := range u.Words {
		words = append(words, quoted(w))
	}
	said := a.list(words)
	switch u.Why {
	case understand.Later:
		return a.f("I cannot do it later (%s); I can do it now.", said)
	case understand.For:
		return a.f("I cannot do it for a while only (%s) and undo it afterwards; say it without, and again when it should end.", said)
	case understand.If:
		return a.f("I cannot wait for a condition (%s); rules on the controller can.", said)
	case understand.Heating:
		return a.f("no controller here can set heating, cooling or ventilation; I can switch and dim lights and move shades.")
	case understand.SceneSet:
		return a.f("I cannot recall scenes; I can switch and dim lights and move shades, zone by zone.")
	case understand.Coloured:
		return a.f("I cannot set colours; I can switch and dim lights and move shades.")
	case understand.Negated:
		return a.f("I do not understand orders with “not” (%s); say only what is to be done, and nothing happens to the rest.", said)
	case understand.Value:
		return a.f("I understood %s, and I need one whole number from 0 to 100: say for example “set the lobby to 60 %%”.", said)
	case understand.ToOrBy:
		return a.f("%s may be a value to set or one to change by: say “to %s” or “by %s”.", said, u.Words[0], u.Words[0])
	case understand.Undo:
		return a.f("I keep no earlier state to go back to; say to what level, from 0 to 100 %%.")
	case understand.Multiple:
		return a.f("I do not reckon with what it is now (%s); say to what level, from 0 to 100 %%.", said)
	case understand.Contrary:
		return a.f("%s exclude each other; say one of them.", said)
	case understand.Elsewhere, understand.Missing:
		return sentences(a.strange(), a.around())
	case understand.Cannot:
		return a.f("I do not understand %s, and that is not something I can do; I can set lights to a level and move or stop shades, zone by zone.", said)
	}
	return a.f("it is not clear to me what should be done, or with what: say for example “set the lobby to 60 %%” or “move the lobby shades to 30 %%”.")
}

// steps are what one thing that an order wants means for every zone of it, or why it cannot be done.
func (a *asked) steps(d understand.Do) (steps []Step, line, why string) {
	d.Places = a.wholeZones(d.Places)
	if d.Kind == understand.Light && len(d.Places) > 0 && !slices.ContainsFunc(d.Places, func(p understand.Place) bool { return !a.onlyShades(p) }) && d.Percent != nil {
		d.Kind = understand.Shade // "tower east shades to 30"
	}
	scope := scopeOf(a.site, a.q.Lang, d.Places, d.Except)
	if d.Kind == understand.Panel {
		return nil, "", a.f("a panel can be opened at its device only.")
	}
	if len(d.Places) == 0 && len(d.Except) == 0 && !d.Whole && d.Switch != "stop" && d.Kind != understand.Everything {
		return nil, "", sentences(a.f("which zone or floor do you mean, or all of them?"), a.around())
	}
	if slices.ContainsFunc(slices.Concat(d.Places, d.Except), func(p understand.Place) bool { return p.Kind != understand.Zone && p.Kind != understand.Floor }) {
		return nil, "", a.f("I command whole zones, not single devices; name a zone or a floor.")
	}
	kind := platform.KindLight
	if d.Kind == understand.Shade {
		kind = platform.KindShade
	}
	of := &asked{ctx: a.ctx, site: a.site, q: understand.Frame{Lang: a.q.Lang, Where: understand.Where{Places: d.Places, Except: d.Except}}, scope: scope}
	var lines []string
	for _, z := range of.zonesIn() {
		devices := a.site.In(a.site.ZoneScope(z.ID), kind)
		if len(devices) == 0 {
			continue
		}
		if i := slices.IndexFunc(devices, func(one platform.Device) bool { return scope.Out != nil && scope.Out.Holds(one) }); i >= 0 {
			return nil, "", a.f("%s belongs to %s and to what is left out, and I command whole zones.", label(devices[i].Name), label(z.Name))
		}
		action, unknown := a.action(d, z)
		if unknown != "" {
			return nil, "", unknown
		}
		steps = append(steps, Step{z, action, actionWords(a.q.Lang, action)})
		lines = append(lines, a.f("%s (%s, %s)", label(z.Name), a.count(len(devices), kind), a.present(z, kind)))
	}
	if len(steps) == 0 {
		return nil, "", a.f("no zone%s has a %s.", of.in(), a.noun(kind))
	}
	what := steps[0].What
	if d.Switch == "dim" || d.Switch == "brighten" || d.Switch == "toggle" { // each zone has its own
		what = ""
		for i := range lines {
			lines[i] = steps[i].What + a.f(" in ") + lines[i]
		}
	}
	if what != "" {
		what += ": "
	}
	return steps, what + a.list(lines), ""
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
			return action, a.f("I do not know how bright %s is now; say to what level, from 0 to 100 %%.", label(z.Name))
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
			return a.f("present level unknown")
		}
		on := len(t.Where(facts.Current, func(one facts.Thing) bool { return *one.Value > 0 }))
		return a.f("%d on now", on)
	}
	t := a.site.Positions(scope)
	if mean, ok := t.Mean(); ok {
		text := a.f("now %s open on average", percent(mean))
		if n := len(t.All) - t.Basis.Readings; n > 0 {
			text += a.f(", %d unknown", n)
		}
		return text
	}
	return a.f("present position unknown")
}

func actionWords(lang understand.Lang, a platform.Action) string {
	switch {
	case a.Level != nil && *a.Level == 0:
		return in(lang, "switch the lights off")
	case a.Level != nil:
		return in(lang, "set the lights to %d %%", *a.Level)
	case a.Position != nil && *a.Position == 0:
		return in(lang, "close the shades")
	case a.Position != nil:
		return in(lang, "move the shades to %d %% open", *a.Position)
	}
	return in(lang, "stop the shades")
}

// carryOut does what was previewed and reports what the controller said of every zone. What concerns one zone is done in order.
func (e *Assistant) carryOut(ctx context.Context, w *work, p Pending) (answer, error) {
	switch {
	case !w.in.Control:
		return answer{text: in(p.Lang, noControl)}, nil
	case e.Act == nil:
		return answer{text: in(p.Lang, "I cannot switch or move anything: this platform has no way to its controllers.")}, nil
	case w.now.Sub(p.At) > PreviewLife:
		return answer{text: in(p.Lang, "Nothing was done: the preview is %s old. Say again what you want.", length(w.now.Sub(p.At)))}, nil
	}
	w.status("acting", User, w.f("Sending to the controller"))
	began, results := time.Now(), make([]result, len(p.Steps))
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
					results[i].Sent = errors.Is(err, platform.ErrUnanswered)
					results[i].Error = e.notSent(p.Lang, p.Controller, err)
				}
			}
		})
	}
	wg.Wait()
	o := &Ordered{ID: uuid.NewString(), Controller: p.Controller, Lang: p.Lang, At: w.now.In(p.At.Location()), Results: results}
	o.judge(nil)
	if e.Settle > 0 {
		e.settleOrder(ctx, o, time.Since(began))
	}
	if !o.under() {
		o.EndedAt = e.Now()
	}
	if err := e.note(context.WithoutCancel(ctx), w.in.Owner, o); err != nil { // what was done is told all the same
		e.Log.Warn("an order was not kept", "controller", p.Controller, "why", err)
	}
	if o.under() { // how it ends is told when it has
		w.conv.Sent = o
		e.following.take(w.in.Owner, *o)
	}
	return answer{o.text(), results}, nil
}

// notSent says for people why an order was not answered. What nobody outside could use is for the log.
func (e *Assistant) notSent(lang understand.Lang, controller string, err error) string {
	switch {
	case errors.Is(err, platform.ErrOffline):
		return in(lang, "its controller is offline")
	case errors.Is(err, platform.ErrNotFound):
		return in(lang, "its controller is no longer known here")
	case errors.Is(err, platform.ErrUnanswered):
		return in(lang, "sent, and its controller has not answered yet")
	case errors.Is(err, platform.ErrOverloaded):
		return in(lang, "too many orders are under way; try again")
	case errors.Is(err, platform.ErrInvalid), errors.Is(err, platform.ErrConflict):
		return err.Error()
	}
	e.Log.Warn("an order was not sent", "controller", controller, "why", err)
	return in(lang, "it could not be sent; try again")
}
