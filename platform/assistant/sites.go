package assistant

import (
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// choose finds the sites that a message is about.
func choose(all []platform.Controller, w *work) ([]platform.Controller, error) {
	same := func(c platform.Controller, name string) bool { return c.ID == name || strings.EqualFold(c.Name, name) }
	if w.in.Site != "" {
		found := slices.DeleteFunc(slices.Clone(all), func(c platform.Controller) bool { return !same(c, w.in.Site) })
		if len(found) == 0 {
			if len(all) == 0 {
				return nil, platform.Invalid("there is no site %q: none reports to this platform yet", clip(w.in.Site, 100))
			}
			return nil, platform.Invalid("there is no site %q; sites: %s", clip(w.in.Site, 100), sitesOf(all))
		}
		return found, nil
	}
	if len(all) < 2 {
		return all, nil
	}
	low := strings.ToLower(w.in.Message)
	named := slices.DeleteFunc(slices.Clone(all), func(c platform.Controller) bool {
		return !(len(c.Name) >= 3 && strings.Contains(low, strings.ToLower(c.Name))) && !(len(c.ID) >= 3 && strings.Contains(low, c.ID))
	})
	if len(named) > 0 {
		return named, nil
	}
	if w.conv.Site != "" {
		if i := slices.IndexFunc(all, func(c platform.Controller) bool { return c.ID == w.conv.Site }); i >= 0 {
			return all[i : i+1], nil
		}
	}
	return all, nil
}

// whereNamed keeps the sites that have what was named, if any has.
func whereNamed(asks []*asked) []*asked {
	named := map[*facts.Site]bool{}
	for _, a := range asks {
		if len(a.q.Places) > 0 {
			named[a.site] = true
		}
	}
	if len(named) == 0 {
		return asks
	}
	return slices.DeleteFunc(slices.Clone(asks), func(a *asked) bool { return !named[a.site] })
}

// overAll answers where there are none or too many sites to go through.
func (e *Assistant) overAll(w *work, all []platform.Controller) (Agent, answer, error) {
	q := understand.Read(w.in.Message, understand.Names{}, w.now)
	q.Lang = w.lang
	agent := route(q.Topic)
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	switch {
	case q.Topic == understand.Help || q.Topic == understand.Greeting:
		return agent, help(q.Lang), nil
	case q.Topic == understand.Controllers || len(all) == 0:
		return agent, e.controllers(q, w.now, titled(all)), nil
	}
	var names []string
	for _, c := range all {
		names = append(names, label(c.Name))
	}
	return agent, answer{text: in(q.Lang, "%d sites report to this platform; which one do you mean? For example %s.", len(all), someIn(q.Lang, names, 10))}, nil
}

func titled(all []platform.Controller) []controllerState {
	var out []controllerState
	for _, c := range all {
		title := c.Name
		if title == "" {
			title = c.ID
		}
		out = append(out, controllerState{c, title})
	}
	return out
}
