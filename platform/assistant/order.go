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
	"svc.internal/controller/platform/assistant/question"
)

// Bounds of an order.
const (
	// PreviewLife is how long a preview waits for its yes.
	PreviewLife   = 2 * time.Minute
	maxOrderZones = 50
	ordersAtOnce  = 4
	orderTimeout  = 10 * time.Second
)

// Pending is an order that was previewed and waits for a yes.
type Pending struct {
	Controller string          `json:"controller"`
	Zones      []platform.Zone `json:"zones"`
	Action     platform.Action `json:"action"`
	What       string          `json:"what"` // "set to 40 %"
	At         time.Time       `json:"at"`
	Text       string          `json:"text"` // of the preview
}

// noControl is the answer to who may not.
const noControl = "I may not switch or move anything for you: your key or login only reads. A key with the permission to control is needed; it is given when the key is made."

// preview shows what an order would do; nothing is sent before the same person says yes.
func (e *Assistant) preview(w *work, a *asked) (answer, error) {
	do := a.q.Do
	switch {
	case !w.in.Control:
		return answer{text: noControl}, nil
	case e.Act == nil:
		return answer{text: "I cannot switch or move anything: this platform has no way to its controllers."}, nil
	case do.Unclear != "":
		return answer{text: "I did nothing: " + clean(do.Unclear) + "."}, nil
	case len(a.q.Unknown) > 0:
		return answer{text: sentences("I did nothing.", a.strange(), a.around())}, nil
	case len(a.q.Places) == 0 && !a.q.Is(question.Whole) && !do.Stop:
		return answer{text: sentences("I did nothing: which zone or floor do you mean, or all of them?", a.around())}, nil
	case !a.site.Controller.Online:
		return answer{text: fmt.Sprintf("I did nothing: the controller of %s is offline, so nothing would arrive in time.", quoted(a.site.Name()))}, nil
	}
	return e.previewZones(w, a, platform.Action{Level: do.Level, Position: do.Position, StopShade: do.Stop})
}

// previewZones prepares an order for the zones of the scope that have what it is about.
func (e *Assistant) previewZones(w *work, a *asked, action platform.Action) (answer, error) {
	kind := platform.KindShade
	if action.Level != nil {
		kind = platform.KindLight
	}
	p := &Pending{Controller: a.site.Controller.ID, Action: action, What: actionWords(action), At: w.now}
	var lines []string
	for _, z := range a.zonesIn() {
		devices := a.site.In(a.site.ZoneScope(z.ID), kind)
		if len(devices) == 0 {
			continue
		}
		p.Zones = append(p.Zones, z)
		lines = append(lines, fmt.Sprintf("%s (%s, %s)", label(z.Name), count(len(devices), kind), a.present(z, kind)))
	}
	switch {
	case len(p.Zones) == 0:
		return answer{text: fmt.Sprintf("I did nothing: no zone%s has a %s.", a.in(), kind)}, nil
	case len(p.Zones) > maxOrderZones:
		return answer{text: fmt.Sprintf("I did nothing: that would be %d zones, at most %d are possible at once.", len(p.Zones), maxOrderZones)}, nil
	}
	w.conv.Order = p
	p.Text = fmt.Sprintf("Not done yet. This would %s: %s. Answer “yes” within %s to do it; anything else drops it.", p.What, list(lines), length(PreviewLife))
	return answer{p.Text, p}, nil
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

// carryOut does what was previewed and reports what the controller said of every zone.
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
	results := make([]result, len(p.Zones))
	var wg sync.WaitGroup
	slots := make(chan struct{}, ordersAtOnce)
	for i, z := range p.Zones {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, orderTimeout)
			defer cancel()
			out, err := e.Act.Act(ctx, p.Controller, z.ID, p.Action)
			results[i] = result{Zone: z, Outcome: out}
			if err != nil {
				results[i].Error = e.notSent(p.Controller, err)
			}
		})
	}
	wg.Wait()
	text := outcomes(p, results)
	if e.Settle > 0 && !e.settled(ctx, p, results) {
		text = sentences(text, "What it reports does not show all of it yet.")
	}
	return answer{text, results}, nil
}

// lookEvery is how often it is looked at whether an order shows.
const lookEvery = 100 * time.Millisecond

// settled waits until what the controller reported shows what was done, for at most [Config.Settle]: who asks next should
// not be told of before. States come a moment after the acknowledgement.
func (e *Assistant) settled(ctx context.Context, p Pending, results []result) bool {
	ctx, cancel := context.WithTimeout(ctx, e.Settle)
	defer cancel()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		devices, err := e.Sites.Devices(ctx, p.Controller)
		if err == nil && !slices.ContainsFunc(devices, func(d platform.Device) bool {
			return slices.ContainsFunc(results, func(r result) bool {
				return r.Outcome.Done && slices.Contains(d.Zones, r.Zone.ID) && !shows(d, p.Action)
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
	Zone    platform.Zone    `json:"zone"`
	Outcome platform.Outcome `json:"outcome"`
	Error   string           `json:"error,omitempty"`
}

func outcomes(p Pending, results []result) string {
	var done, not []string
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
			done = append(done, line)
		}
	}
	slices.Sort(not)
	text := ""
	if len(done) > 0 {
		text = fmt.Sprintf("Done, the controller confirmed it: %s, %s.", p.What, list(done))
	}
	if len(not) > 0 {
		text = sentences(text, "Not done: "+strings.Join(not, "; ")+".")
	}
	return text
}
