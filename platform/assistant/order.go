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
	for i, d := range a.q.Do { // all of them or none
		if i > 0 && len(d.Places)+len(d.Except) == 0 && !d.Whole && d.Kind != a.q.Do[i-1].Kind && len(a.q.Do[i-1].Except) == 0 { // "blinds up in the canteen, lights off"
			d.Places = a.q.Do[i-1].Places
		}
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
	said := a.list(a.unclear())
	switch u.Why {
	case understand.SomeOf:
		return a.f("I command whole zones, not single devices or a part of them (%s); name a zone or a floor.", said)
	case understand.Later:
		if slices.ContainsFunc(u.Words, func(w string) bool {
			return slices.ContainsFunc(bareWords(w), func(w string) bool { return repeating[w] })
		}) {
			return a.f("I cannot do it again and again (%s); a schedule on the controller can. I can do it now.", said)
		}
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
		if !slices.ContainsFunc(u.Words, func(w string) bool { return !whiteness[strings.ToLower(w)] }) {
			return a.f("I cannot set colour temperatures from here; a scene of the controller can. I can switch and dim lights and move shades.")
		}
		return a.f("I cannot set colours from here; a scene of the controller can. I can switch and dim lights and move shades.")
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
		return sentences(a.strange(), a.nearest())
	case understand.Cannot:
		return a.f("I do not understand %s, and that is not something I can do; I can set lights to a level and move or stop shades, zone by zone.", said)
	}
	return a.f("it is not clear to me what should be done, or with what: say for example “set the lobby to 60 %%” or “move the lobby shades to 30 %%”.")
}

// repeating words ask for something time and again, whiteness words for a colour temperature.
var (
	repeating = map[string]bool{"every": true, "each": true, "daily": true, "nightly": true, "weekly": true, "hourly": true, "always": true, "from": true, "jeden": true, "jede": true, "jedes": true, "täglich": true, "immer": true, "von": true}
	whiteness = map[string]bool{"kelvin": true, "warmer": true, "cooler": true, "warm": true, "cool": true, "cold": true, "warm white": true, "cold white": true, "daylight": true, "candlelight": true, "colour temperature": true,
		"warmweiss": true, "kaltweiss": true, "warmweiß": true, "kaltweiß": true, "warmes weiss": true}
)

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
