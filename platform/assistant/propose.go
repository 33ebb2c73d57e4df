package assistant

import (
	"context"
	"fmt"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// Propose implements [platform.Asker].
func (e *Assistant) Propose(ctx context.Context, wish platform.Wish, tell func(platform.Progress)) (platform.Reply, error) {
	if wish.Period != nil && !wish.Period.Start.Before(wish.Period.End) {
		return platform.Reply{}, platform.Invalid("timeRange ends before it starts")
	}
	if err := checkSession(&wish.Session); err != nil {
		return platform.Reply{}, err
	}
	w := &work{in: platform.Inquiry{Owner: wish.Owner, Session: wish.Session, Site: wish.Site}, tell: tell, now: e.Now(), clock: e.Now, lang: understand.Lang(wish.Lang)}
	w.status("thinking", "", w.f("Reading the target"))
	agent := route(understand.Saving)
	if wish.Target == platform.TargetComfort {
		agent = route(understand.Comfort)
	}
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	all, err := e.Sites.Controllers(ctx)
	if err != nil {
		return platform.Reply{}, fmt.Errorf("list controllers: %w", err)
	}
	chosen, err := choose(all, w)
	if err != nil {
		return platform.Reply{}, err
	}
	if len(chosen) == 0 || len(chosen) > manySites {
		_, said, err := e.overAll(w, all)
		if err != nil {
			return platform.Reply{}, err
		}
		return w.reply(agent.Name, said)
	}
	var texts []string
	var data []any
	for _, c := range chosen {
		site, err := facts.Look(ctx, e.Sites, c, w.now)
		if err != nil {
			return platform.Reply{}, err
		}
		w.status("reading", agent.Name, w.f("Reading what %s reported", label(site.Name())))
		a := &asked{ctx: ctx, site: site, q: understand.Frame{Lang: w.lang}, price: e.Price}
		p, err := a.proposals(wish)
		if err != nil {
			return platform.Reply{}, err
		}
		texts = append(texts, a.proposalText(p))
		data = append(data, p)
	}
	said := answer{text: strings.Join(texts, "\n\n"), data: data[0]}
	if len(data) > 1 {
		said.data = data
	}
	w.delta(said.text)
	w.status("done", agent.Name, w.f("The answer is complete"))
	return w.reply(agent.Name, said)
}
