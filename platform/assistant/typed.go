package assistant

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// typedOrder begins the sessions of typed orders: each is a conversation of its own.
const typedOrder = "order:"

// Order implements [platform.Reader]. A preview and its yes are those of a conversation (order.go).
func (e *Assistant) Order(ctx context.Context, in platform.OrderWish) (platform.Found, error) {
	if !in.Control {
		return platform.Found{}, platform.Invalid("%s", noControl)
	}
	if e.Act == nil {
		return platform.Found{}, platform.Invalid("this platform has no way to its controllers")
	}
	w := &work{in: platform.Inquiry{Owner: in.Owner, Control: in.Control, Session: in.ID}, now: e.Now(), clock: e.Now}
	if in.ID == "" {
		return e.previewTyped(ctx, w, in)
	}
	conv, err := e.recall(ctx, in.Owner, typedOrder+in.ID)
	if err != nil {
		return platform.Found{}, err
	}
	w.conv = conv
	switch {
	case conv.Order == nil && conv.Sent == nil:
		return platform.Found{}, platform.Invalid("there is no order %q, or it was dropped", clip(in.ID, 50))
	case conv.Order == nil, in.Confirm == nil:
		return e.standing(ctx, w)
	case !*in.Confirm:
		dropped := *conv.Order
		w.conv.Order = nil
		return orderFound(in.ID, "dropped", dropped), e.keep(ctx, in.Owner, typedOrder+in.ID, w.conv)
	}
	pending := *conv.Order
	w.conv.Order = nil
	// What is confirmed is confirmed once: it is noted before anything is sent.
	if err := e.keep(ctx, in.Owner, typedOrder+in.ID, w.conv); err != nil {
		return platform.Found{}, err
	}
	said, err := e.carryOut(ctx, w, pending)
	if err != nil {
		return platform.Found{}, err
	}
	results, done := said.data.([]result)
	if !done {
		return platform.Found{}, platform.Invalid("%s", said.text)
	}
	if w.conv.Sent == nil { // it is over
		w.conv.Sent = &Ordered{Controller: pending.Controller, Lang: pending.Lang, At: w.now.In(pending.At.Location()), EndedAt: e.Now(), Results: results}
	}
	e.following.keepIn(w.conv.Sent.ID, typedOrder+in.ID)
	return sent(in.ID, *w.conv.Sent), e.keep(context.WithoutCancel(ctx), in.Owner, typedOrder+in.ID, w.conv)
}

// previewTyped shows what a typed order would do.
func (e *Assistant) previewTyped(ctx context.Context, w *work, in platform.OrderWish) (platform.Found, error) {
	l, err := e.lookAt(ctx, in.Site)
	if err != nil {
		return platform.Found{}, err
	}
	of := map[string]understand.Kind{"lights": understand.Light, "shades": understand.Shade}[in.Things]
	part := formPart{Topic: "order", Operation: "tell", Of: string(of), Do: in.Do, Percent: -1}
	if in.Percent != nil {
		if *in.Percent < 0 || *in.Percent > 100 {
			return platform.Found{}, platform.Invalid("percent is from 0 to 100")
		}
		part.Percent = *in.Percent
	}
	by := map[string][]understand.Place{wholeBuilding: nil}
	for _, list := range []struct {
		names []string
		out   bool
	}{{in.Places, false}, {in.Except, true}} {
		for _, name := range list.names {
			places, err := l.named(name)
			if err != nil {
				return platform.Found{}, err
			}
			if len(places) == 0 {
				name = wholeBuilding
			}
			by[name] = places
			part.Places = append(part.Places, formPlace{name, list.out})
		}
	}
	d, err := part.order(by)
	if err != nil {
		return platform.Found{}, platform.Invalid("%v", err)
	}
	a := &asked{ctx: ctx, site: l.site, q: understand.Frame{Topic: understand.Order, Lang: understand.English, Do: []understand.Do{d}}}
	said, err := e.preview(w, a)
	if err != nil {
		return platform.Found{}, err
	}
	if w.conv.Order == nil {
		return platform.Found{}, platform.Invalid("%s", said.text)
	}
	id := uuid.NewString()
	found := orderFound(id, "previewed", *w.conv.Order)
	return found, e.keep(ctx, in.Owner, typedOrder+id, w.conv)
}

// standing is what became of an order, or what waits for its confirmation.
func (e *Assistant) standing(ctx context.Context, w *work) (platform.Found, error) {
	if p := w.conv.Order; p != nil {
		return orderFound(w.in.Session, "previewed", *p), nil
	}
	o := *w.conv.Sent
	if o.EndedAt.IsZero() {
		if devices, err := e.Sites.Devices(ctx, o.Controller); err == nil {
			o.judge(devices)
		}
	}
	return sent(w.in.Session, o), nil
}

func orderFound(id, state string, p Pending) platform.Found {
	out := platform.OrderFound{ID: id, State: state, Zones: []platform.OrderZone{}}
	text := "Dropped: nothing was done."
	if state == "previewed" {
		text = "Not done yet. This would " + p.What + ". It is done if this order is confirmed within " + length(PreviewLife) + "."
		out.ValidUntil = new(p.At.Add(PreviewLife).UTC().Truncate(time.Second))
	}
	for _, s := range p.Steps {
		out.Zones = append(out.Zones, platform.OrderZone{ID: s.Zone.ID, Name: label(s.Zone.Name), What: s.What, State: state})
	}
	return platform.Found{Text: text, Data: out}
}

// sent tells how an order stands that was sent: as its worst zone.
func sent(id string, o Ordered) platform.Found {
	out := platform.OrderFound{ID: id, Zones: []platform.OrderZone{}}
	worst := 0
	fates := []fate{fateDone, fateUnder, fateNot}
	for _, r := range o.Results {
		worst = max(worst, slices.Index(fates, r.Fate))
		out.Zones = append(out.Zones, platform.OrderZone{ID: r.Zone.ID, Name: label(r.Zone.Name), What: r.What, State: string(r.Fate), Things: r.Things, Not: r.Not, Error: r.Error})
	}
	out.State = string(fates[worst])
	return platform.Found{Text: o.text(), Data: out}
}
