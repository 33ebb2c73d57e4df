package assistant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform/understand"
)

// frame turns a form into what the rules would have understood.
func (f form) frame(by map[string][]understand.Place, now time.Time) (understand.Frame, error) {
	if f.Parts[0].Topic != "order" {
		if len(f.Parts) > 1 {
			return understand.Frame{}, errors.New("several questions")
		}
		return f.Parts[0].question(by, now)
	}
	q := understand.Frame{Topic: understand.Order}
	for _, p := range f.Parts {
		d, err := p.order(by)
		if err != nil {
			return q, err
		}
		q.Do = append(q.Do, d)
	}
	return q, nil
}

func (p formPart) question(by map[string][]understand.Place, now time.Time) (understand.Frame, error) {
	q := understand.Frame{Topic: understand.Topic(p.Topic), Op: ops[slices.Index(formOps, p.Operation)], Kind: understand.Kind(p.Of), State: understand.State(p.State), By: p.By, Per: p.Per, Top: p.Top}
	if p.Topic == "none" {
		return q, errNotKnown
	}
	if p.Do != "" || p.Percent >= 0 {
		return q, errors.New("a question with an order in it")
	}
	if p.Form != "plain" {
		q.Form = understand.Form(p.Form)
	}
	if q.Op == understand.Can {
		q.Aspect = "can:" + p.Ability
	}
	q.Set(understand.All, p.All)
	q.Set(understand.Asked, true)
	whole := false
	var err error
	if q.Places, q.Except, whole, err = p.where(by); err != nil {
		return q, err
	}
	q.Set(understand.Whole, whole)
	if q.When, err = stretch(p.From, p.To, now); err != nil {
		return q, err
	}
	if q.Against, err = stretch(p.AgainstFrom, p.AgainstTo, now); err != nil {
		return q, err
	}
	q.Set(understand.Future, q.When != nil && q.When.From.After(now))
	if (p.Relation == "") != (p.Unit == "") {
		return q, errors.New("half a condition")
	}
	if p.Relation != "" {
		c := understand.Cond{Rel: understand.Relation(p.Relation), Value: p.Value, Unit: understand.Unit(p.Unit)}
		switch p.Unit {
		case "kWh":
			c.Unit, c.Value = understand.WattHour, 1000*p.Value
		case "minutes":
			c.Unit = understand.Minutes
		case "lights", "shades", "devices", "meters":
			c.Unit, c.Of = understand.Number, understand.Kind(strings.TrimSuffix(p.Unit, "s"))
		}
		q.Conds = []understand.Cond{c}
	}
	return q, nil
}

func (p formPart) order(by map[string][]understand.Place) (understand.Do, error) {
	d := understand.Do{Kind: understand.Light, Switch: p.Do}
	if p.Topic != "order" || p.From != "" || p.To != "" || p.Relation != "" || p.Operation != "tell" {
		return d, errors.New("an order with a question, a time or a condition in it")
	}
	percent := func(v int) { d.Switch, d.Percent = "set", &v }
	needs := p.Do == "set"
	switch {
	case p.Of == string(understand.Shade):
		d.Kind = understand.Shade
		switch p.Do {
		case "open":
			percent(100)
		case "close":
			percent(0)
		case "set", "stop":
		default:
			return d, fmt.Errorf("shades cannot be told %q", p.Do)
		}
	case p.Of != string(understand.Light):
		return d, errors.New("an order for neither lights nor shades")
	case !slices.Contains([]string{"on", "off", "set", "brighten", "dim", "toggle"}, p.Do):
		return d, fmt.Errorf("lights cannot be told %q", p.Do)
	case (p.Do == "brighten" || p.Do == "dim") && p.Percent >= 0:
		if p.Percent == 0 {
			return d, errors.New("a step of nothing")
		}
		d.By = &p.Percent
		needs = true
	}
	if needs != (p.Percent >= 0) {
		return d, errors.New("a value is missing, or one too many")
	}
	if p.Do == "set" {
		percent(p.Percent)
	}
	var err error
	d.Places, d.Except, d.Whole, err = p.where(by)
	return d, err
}

func (p formPart) where(by map[string][]understand.Place) (places, except []understand.Place, whole bool, err error) {
	for i, one := range p.Places {
		found, known := by[one.Name]
		switch {
		case !known:
			return nil, nil, false, fmt.Errorf("nothing is called %.50q", one.Name)
		case one.Name == wholeBuilding:
			if one.LeftOut {
				return nil, nil, false, errors.New("everything is left out")
			}
			whole = true
		}
		for _, place := range found {
			place.Mention = i
			if one.LeftOut {
				except = append(except, place)
			} else {
				places = append(places, place)
			}
		}
	}
	if whole && len(places) > 0 {
		return nil, nil, false, errors.New("the whole building and a part of it")
	}
	return places, except, whole, nil
}

// stretch reads a time; nil: none.
func stretch(from, to string, now time.Time) (*understand.Span, error) {
	if from == "" && to == "" {
		return nil, nil
	}
	var s understand.Span
	for text, into := range map[string]*time.Time{from: &s.From, to: &s.To} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fmt.Errorf("%.50q is no time", text)
		}
		*into = at.In(now.Location())
	}
	if !s.From.Before(s.To) || s.From.Before(now.AddDate(-10, 0, 0)) || s.To.After(now.AddDate(10, 0, 0)) {
		return nil, errors.New("a time that ends before it begins, or of another decade")
	}
	return &s, nil
}
