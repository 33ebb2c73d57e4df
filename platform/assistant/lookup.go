package assistant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

var _ platform.Reader = (*Assistant)(nil)

// Look implements [platform.Reader].
func (e *Assistant) Look(ctx context.Context, in platform.Lookup) (platform.Found, error) {
	l, err := e.lookAt(ctx, in.Site)
	if err != nil {
		return platform.Found{}, err
	}
	l.in = in
	if l.scope, err = l.place(in.Place); err != nil {
		return platform.Found{}, err
	}
	switch in.What {
	case platform.LookPlaces:
		return l.places()
	case platform.LookLights:
		return l.lights()
	case platform.LookShades:
		return l.shades()
	case platform.LookMeters:
		return l.meters()
	case platform.LookEnergy:
		return l.energy(ctx)
	case platform.LookFaults:
		return l.faults(ctx)
	case platform.LookLedger:
		return l.ledger(ctx, e.Sites)
	case platform.LookAbilities:
		return l.abilities(e.Act != nil && in.Control), nil
	}
	return platform.Found{}, platform.Invalid("%q cannot be looked up", in.What)
}

// lookup is a typed question to one site while it is answered.
type lookup struct {
	in    platform.Lookup
	site  *facts.Site
	names understand.Names
	by    map[string][]understand.Place
	scope facts.Scope
}

// lookAt finds a site by ID or name; an empty one is the only one there is.
func (e *Assistant) lookAt(ctx context.Context, name string) (*lookup, error) {
	all, err := e.Sites.Controllers(ctx)
	if err != nil {
		return nil, fmt.Errorf("list controllers: %w", err)
	}
	chosen, err := choose(all, &work{in: platform.Inquiry{Site: name}})
	switch {
	case err != nil:
		return nil, err
	case len(chosen) == 0:
		return nil, platform.Invalid("no site reports to this platform yet")
	case len(chosen) > 1:
		return nil, platform.Invalid("say which site: %s", sitesOf(chosen))
	}
	b, err := e.look(ctx, chosen[0], e.Now())
	if err != nil {
		return nil, err
	}
	return &lookup{site: b.Site, names: b.names, by: b.named}, nil
}

// sitesOf names sites for whoever named none of them.
func sitesOf(all []platform.Controller) string {
	var names []string
	for _, c := range titled(all) {
		names = append(names, label(c.Title)+" ("+c.ID+")")
	}
	return some(names, 20)
}

// place is the scope of a name, or an error that says what there is.
func (l *lookup) place(name string) (facts.Scope, error) {
	if name == "" {
		return facts.Scope{}, nil
	}
	places, err := l.named(name)
	return scopeIn(l.site, places), err
}

// named are the places of a name, which is the whole one, or, if there is none, as people say it.
func (l *lookup) named(name string) ([]understand.Place, error) {
	if places := l.by[label(name)]; places != nil {
		return places, nil
	}
	places, whole := understand.Find(name, l.names)
	if len(places) == 0 && !whole {
		a := &asked{site: l.site}
		return nil, platform.Invalid("nothing is called “%s” in “%s”. %s", clip(name, 100), label(l.site.Name()), a.around())
	}
	return places, nil
}

func (l *lookup) ref() platform.SiteRef {
	c := l.site.Controller
	return platform.SiteRef{ID: c.ID, Name: label(l.site.Name()), Online: c.Online, LastSeen: c.LastSeen, Now: l.site.Now.Truncate(time.Second)}
}

// in is where, for a sentence.
func (l *lookup) where() string {
	if l.scope.Label == "" {
		return quoted(l.site.Name())
	}
	return quoted(l.scope.Label)
}

// page cuts the rows that the question wants out of all of them.
func page[T any](l *lookup, all []T, notes ...string) (platform.Page[T], error) {
	p := platform.Page[T]{Site: l.ref(), Total: len(all), Items: []T{}, Notes: slices.DeleteFunc(notes, func(n string) bool { return n == "" })}
	limit, from := l.in.Limit, 0
	switch {
	case limit == 0:
		limit = platform.PageDefault
	case limit < 0 || limit > platform.PageMost:
		return p, platform.Invalid("limit is from 1 to %d", platform.PageMost)
	}
	if l.in.Cursor != "" {
		n, err := strconv.Atoi(l.in.Cursor)
		if err != nil || n < 0 || n > len(all) {
			return p, platform.Invalid("cursor is none of an answer's next, or fewer rows are left since; begin again without")
		}
		from = n
	}
	end := min(len(all), from+limit)
	p.Items = append(p.Items, all[from:end]...)
	if end < len(all) {
		p.Next = strconv.Itoa(end)
	}
	return p, nil
}

// summed words a page: how many rows of how many, and where the others are.
func summed[T any](what string, p platform.Page[T]) platform.Found {
	text := what
	if len(p.Items) < p.Total {
		text += fmt.Sprintf(" %s of them are here", count(len(p.Items), "row"))
		if p.Next != "" {
			text += fmt.Sprintf("; cursor %q has more", p.Next)
		}
		text += "."
	}
	return platform.Found{Text: sentences(append([]string{text}, p.Notes...)...), Data: p}
}

// state refuses what the rows do not have.
func (l *lookup) state(known ...string) error {
	if l.in.State != "" && !slices.Contains(known, l.in.State) {
		return platform.Invalid("state %q is not one of %s", clip(l.in.State, 50), strings.Join(known, ", "))
	}
	return nil
}

func (l *lookup) offline() string {
	if l.site.Controller.Online {
		return ""
	}
	return "The controller is offline: nothing newer is known."
}

func (l *lookup) zoneNames(ids []int64) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, label(l.site.ZoneName(id)))
	}
	return out
}

// read is how a reading of a device came about.
func (l *lookup) read(d platform.Device, r *platform.Reading) platform.Read {
	out := platform.Read{Condition: string(l.site.Judge(d, r))}
	if r != nil {
		out.At, out.Source = new(r.At.In(l.site.Now.Location()).Truncate(time.Second)), r.Source
	}
	return out
}

func value(r *platform.Reading) *float64 {
	if r == nil {
		return nil
	}
	return rounded(r.Value)
}

// rounded to a tenth: what lies below is noise of a mean or a meter.
func rounded(v float64) *float64 { return new(math.Round(v*10) / 10) }
