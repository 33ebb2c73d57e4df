package assistant

import (
	"context"
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
)

// byAgent routes the question and words the answer.
func (e *Assistant) byAgent(ctx context.Context, w *work, asks []*asked, all []platform.Controller) (Agent, answer, error) {
	one := !slices.ContainsFunc(asks, func(a *asked) bool { return a.site != asks[0].site })
	for _, a := range asks {
		if one && e.unread(w, a) { // of several sites each would be asked about
			if e.reread(ctx, w, a); ctx.Err() != nil {
				return Agent{}, answer{}, ctx.Err()
			}
		}
	}
	agent := route(asks[0].q.Topic)
	w.status("routing", agent.Name, w.f("Routed to %s", agent.Name))
	var texts []string
	var data []any
	for _, a := range asks {
		if a.site != asks[0].site && a.q.Topic.General() { // it is answered already
			continue
		}
		agent := route(a.q.Topic)
		w.status("reading", agent.Name, w.f("Reading what %s reported", label(a.site.Name())))
		said, err := e.say(w, a, all)
		if err != nil {
			return agent, answer{}, err
		}
		said.text = sentences(a.took, said.text, a.note)
		if !one && !a.q.Topic.General() {
			said.text = quoted(a.site.Name()) + ": " + said.text
		}
		texts = append(texts, said.text)
		data = append(data, said.data)
	}
	e.lean(w, asks)
	said := answer{text: strings.Join(texts, "\n\n")}
	if len(data) == 1 {
		said.data = data[0]
	} else {
		said.data = data
	}
	return agent, said, nil
}

// lean keeps what the next sentence may lean on.
func (e *Assistant) lean(w *work, asks []*asked) {
	a := asks[len(asks)-1]
	if a.q.Topic != understand.Nothing && a.q.Topic != understand.Greeting && a.q.Topic != understand.Help && a.q.Unclear == nil {
		q := a.q
		w.conv.Last = &q
	}
	if asks[0].site == asks[len(asks)-1].site {
		w.conv.Site = a.site.Controller.ID
	}
}

// say words the answer of one site by rules.
func (e *Assistant) say(w *work, a *asked, all []platform.Controller) (answer, error) {
	if a.q.Topic == understand.Order {
		return e.preview(w, a)
	}
	if text := a.refused(); text != "" {
		return answer{text: text}, nil
	}
	return e.sayTopic(w, a, all)
}

func (e *Assistant) sayTopic(w *work, a *asked, all []platform.Controller) (answer, error) {
	if a.q.Is(understand.Future) && !a.q.Topic.General() && a.q.Topic != understand.Automation && a.q.Topic != understand.Saving {
		return answer{text: a.f("I do not know: that has not happened yet, and I make no forecasts. I can tell what was measured up to now.")}, nil
	}
	switch a.q.Topic {
	case understand.Energy:
		return a.energy()
	case understand.Power:
		return a.power()
	case understand.Cost:
		return a.cost()
	case understand.Carbon:
		return a.carbon()
	case understand.Lights:
		return a.lights()
	case understand.Colour:
		return a.colour()
	case understand.Shades:
		return a.shades()
	case understand.Faults:
		return a.faults()
	case understand.Offline:
		return a.offline()
	case understand.Inventory:
		return a.inventory()
	case understand.Controllers:
		return e.controllers(a.q, a.site.Now, titled(all)), nil
	case understand.Comfort:
		return a.comfort()
	case understand.Occupancy:
		return a.occupancy()
	case understand.Automation:
		return a.automation()
	case understand.Report:
		return a.report()
	case understand.Sources:
		return a.sources()
	case understand.Saving:
		p, err := a.proposals(platform.Wish{Target: platform.TargetEnergy})
		if err == nil && !a.scope.Whole() {
			p.Ranked = slices.DeleteFunc(p.Ranked, func(one Proposal) bool {
				return !slices.ContainsFunc(a.zonesIn(), func(z platform.Zone) bool { return slices.Contains(one.Zones, z.ID) })
			})
			p.Notes = append(p.Notes, a.f("Only what concerns %s.", a.where()))
		}
		return answer{a.proposalText(p), p}, err
	case understand.Help:
		return help(a.q.Lang), nil
	case understand.Greeting:
		if thanks := bareWords(a.message); slices.ContainsFunc(thanks, func(w string) bool {
			return slices.Contains([]string{"thanks", "thank", "cheers", "danke", "merci"}, w)
		}) {
			return answer{text: a.f("You are welcome.")}, nil
		}
		return answer{text: sentences(a.f("Hello."), help(a.q.Lang).text)}, nil
	}
	return answer{text: sentences(a.f("I did not understand that, so I will not guess."), help(a.q.Lang).text)}, nil
}
