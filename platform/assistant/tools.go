package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/model"
	"svc.internal/controller/platform/understand"
)

// arguments of every read tool; each uses those it names in its schema.
type arguments struct {
	Site  string     `json:"site"`
	Place string     `json:"place"`
	From  *time.Time `json:"from"`
	To    *time.Time `json:"to"`
	By    string     `json:"by"`
	Level *int       `json:"level"`
	Shade *int       `json:"position"`
	Stop  bool       `json:"stop"`
}

// tool is what an agent may read. The same facts are behind the answers by rules.
type tool struct {
	name, description string
	schema            string
	run               func(e *Assistant, w *work, a *asked, args arguments) (any, error)
}

const (
	placeSchema = `"site":{"type":"string","description":"ID or name of a site; only needed if there are several"},"place":{"type":"string","description":"name of a zone, floor, device or meter; empty: the whole building"}`
	timeSchema  = `"from":{"type":"string","format":"date-time"},"to":{"type":"string","format":"date-time"}`
)

// tools is the table of read tools, and the one that prepares an order.
var tools = []tool{
	{"building", "Floors, zones, meters and the number of devices by kind of a place, with its time zone and the present local time.",
		`{"type":"object","properties":{` + placeSchema + `}}`,
		func(_ *Assistant, _ *work, a *asked, _ arguments) (any, error) {
			a.q = understand.Frame{Topic: understand.Inventory}
			said, err := a.inventory()
			return map[string]any{"summary": said.text, "building": a.site.Building, "zones": a.zonesIn(), "localTime": a.site.Now, "meters": a.site.Meters()}, err
		}},
	{"lights", "Present levels of the lights of a place (percent; 0 is off), with age, source and condition of each reading. History is not kept.",
		`{"type":"object","properties":{` + placeSchema + `}}`,
		func(_ *Assistant, _ *work, a *asked, _ arguments) (any, error) {
			return map[string]any{"levels": a.site.Levels(a.scope), "kelvins": a.site.Kelvins(a.scope)}, nil
		}},
	{"shades", "Present positions of the shades of a place (percent open), with age, source and condition.",
		`{"type":"object","properties":{` + placeSchema + `}}`,
		func(_ *Assistant, _ *work, a *asked, _ arguments) (any, error) { return a.site.Positions(a.scope), nil }},
	{"energy", "Energy that meters measured in a place over [from, to), in watt-hours, with what was not measured, peak and mean power; by hour or day if asked.",
		`{"type":"object","properties":{` + placeSchema + `,` + timeSchema + `,"by":{"type":"string","enum":["","hour","day"]}},"required":["from","to"]}`,
		readEnergy},
	{"power", "Power that is drawn in a place now, in watts, with age and source.",
		`{"type":"object","properties":{` + placeSchema + `}}`,
		func(_ *Assistant, _ *work, a *asked, _ arguments) (any, error) { return a.site.PowerOf(a.scope), nil }},
	{"faults", "Faults of a place: present ones, and those of [from, to) if given.",
		`{"type":"object","properties":{` + placeSchema + `,` + timeSchema + `}}`,
		func(_ *Assistant, _ *work, a *asked, args arguments) (any, error) {
			from, to := args.span()
			return a.site.FaultsOf(a.ctx, a.scope, from, to)
		}},
	{"reach", "Devices of a place that do not answer, and outages of [from, to) if given.",
		`{"type":"object","properties":{` + placeSchema + `,` + timeSchema + `}}`,
		func(_ *Assistant, _ *work, a *asked, args arguments) (any, error) {
			from, to := args.span()
			return a.site.ReachOf(a.ctx, a.scope, "", from, to)
		}},
	{"controllers", "Controllers that report to the platform: online or not, last heard, firmware.",
		`{"type":"object","properties":{}}`,
		func(e *Assistant, _ *work, a *asked, _ arguments) (any, error) { return e.Sites.Controllers(a.ctx) }},
	{"preview_order", "Prepares to set lights or shades of a place and returns what it would do. It does nothing by itself: the person has to answer yes in their next message.",
		`{"type":"object","properties":{` + placeSchema + `,"level":{"type":"integer","minimum":0,"maximum":100,"description":"lights, percent"},"position":{"type":"integer","minimum":0,"maximum":100,"description":"shades, percent open"},"stop":{"type":"boolean","description":"stop shades"}},"required":["place"]}`,
		func(e *Assistant, w *work, a *asked, args arguments) (any, error) {
			d := understand.Do{Kind: understand.Shade, Switch: "set", Percent: args.Shade, Places: a.q.Places, Whole: a.q.Is(understand.Whole)}
			switch {
			case args.Level != nil:
				d.Kind, d.Percent = understand.Light, args.Level
			case args.Stop:
				d.Switch, d.Percent = "stop", nil
			case args.Shade == nil:
				return nil, platform.Invalid("say level, position or stop")
			}
			if d.Percent != nil && (*d.Percent < 0 || *d.Percent > 100) {
				return nil, platform.Invalid("level and position are from 0 to 100")
			}
			a.q.Topic, a.q.Do = understand.Order, []understand.Do{d}
			said, err := e.preview(w, a)
			return map[string]string{"preview": said.text}, err
		}},
}

func (g arguments) span() (from, to time.Time) {
	if g.From == nil || g.To == nil {
		return time.Time{}, time.Time{}
	}
	return *g.From, *g.To
}

func readEnergy(_ *Assistant, _ *work, a *asked, args arguments) (any, error) {
	from, to := args.span()
	if !from.Before(to) {
		return nil, platform.Invalid("from has to be before to")
	}
	e, err := a.site.EnergyOf(a.ctx, a.scope, from.In(a.site.Now.Location()), to.In(a.site.Now.Location()))
	if err != nil {
		return nil, err
	}
	out := map[string]any{"energy": e, "known": e.Known()}
	if mean, ok := e.Mean(); ok {
		out["meanWatts"] = mean
	}
	if peak, ok := e.Peak(a.site.Now.Location()); ok {
		out["peak"], out["peakWatts"] = peak, peak.Watts()
	}
	if args.By == "hour" || args.By == "day" {
		out["slots"] = e.By(args.By, a.site.Now.Location())
	}
	return out, nil
}

// offered are the tools of an agent in the words of a model.
func offered(agent Agent, control bool) []model.Tool {
	var out []model.Tool
	for _, name := range agent.Tools {
		for _, t := range tools {
			if t.name == name && (name != "preview_order" || control) {
				out = append(out, model.Tool{Name: t.name, Description: t.description, Schema: json.RawMessage(t.schema)})
			}
		}
	}
	return out
}

// maxResult bounds what one tool tells a model, in bytes.
const maxResult = 24 << 10

// call runs one call of a model. What the agent does not have is refused, however it came to be asked for.
func (e *Assistant) call(ctx context.Context, w *work, agent Agent, asks []*asked, c model.Call) model.Result {
	fail := func(format string, values ...any) model.Result {
		return model.Result{ID: c.ID, Content: fmt.Sprintf(format, values...), Failed: true}
	}
	var found *tool
	for _, o := range offered(agent, w.in.Control) {
		for i := range tools {
			if o.Name == c.Name && tools[i].name == c.Name {
				found = &tools[i]
			}
		}
	}
	if found == nil {
		return fail("there is no tool %q", c.Name)
	}
	var args arguments
	if len(c.Arguments) > 0 {
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return fail("arguments of %s are not as its schema says: %v", c.Name, err)
		}
	}
	base := pick(asks, args.Site)
	if base == nil {
		return fail("name one of the sites: %s", siteNames(asks))
	}
	a := &asked{ctx: ctx, site: base.site, price: base.price}
	if args.Place != "" {
		places, whole := understand.Find(args.Place, names(a.site))
		a.q.Places = places
		a.q.Set(understand.Whole, whole)
		if len(a.q.Places) == 0 && !whole {
			return fail("nothing is called %q here. %s", clip(args.Place, 100), a.around())
		}
		a.scope = scopeIn(a.site, a.q.Places)
	}
	out, err := found.run(e, w, a, args)
	if err != nil {
		return fail("%s: %v", c.Name, err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return fail("%s: %v", c.Name, err)
	}
	if len(raw) > maxResult {
		return fail("the result has %d bytes, at most %d are passed on: ask for a smaller place or a shorter time", len(raw), maxResult)
	}
	return model.Result{ID: c.ID, Content: string(raw)}
}

// pick is the site that was named, or the only one.
func pick(asks []*asked, name string) *asked {
	for _, a := range asks {
		if name == "" && len(asks) == 1 || a.site.Controller.ID == name || a.site.Name() == name {
			return a
		}
	}
	return nil
}

func siteNames(asks []*asked) string {
	var names []string
	for _, a := range asks {
		names = append(names, label(a.site.Name())+" ("+a.site.Controller.ID+")")
	}
	return list(names)
}
