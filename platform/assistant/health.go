package assistant

import (
	"context"
	"fmt"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// state is what works now.
type state struct {
	Status       string          `json:"status"` // "ok", "degraded" (no controller is online), "empty" (none reports yet)
	Agents       []agentState    `json:"agents"`
	Model        modelState      `json:"languageModel"`
	Controllers  controllerCount `json:"controllers"`
	Sites        []siteState     `json:"sites,omitempty"` // at most manySites
	Capabilities []string        `json:"capabilities"`
	NotMeasured  []string        `json:"notMeasured"`
	Control      controlState    `json:"control"`
	Orders       []Gave          `json:"orders,omitempty"` // of this owner, the newest last
	Time         time.Time       `json:"time"`
}

type agentState struct {
	Name    string `json:"name"`
	Purpose string `json:"purpose"`
	Status  string `json:"status"`
}

type modelState struct {
	Configured bool   `json:"configured"`
	Name       string `json:"name,omitempty"`
	Without    string `json:"without"` // what happens without it
}

type controllerCount struct {
	Total  int `json:"total"`
	Online int `json:"online"`
}

type siteState struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Online   bool          `json:"online"`
	LastSeen time.Time     `json:"lastSeen,omitzero"`
	Zones    int           `json:"zones"`
	Places   []string      `json:"places"` // names of zones, placesMost of them
	Floors   []string      `json:"floors,omitempty"`
	Devices  int           `json:"devices"`
	Meters   []facts.Meter `json:"meters"`
}

type controlState struct {
	Possible  bool `json:"possible"`  // the platform can reach controllers
	Permitted bool `json:"permitted"` // this asker may
}

// placesMost is how many zones of a site are named.
const placesMost = 200

// notMeasured is what no controller reports.
var notMeasured = []string{"occupancy", "temperature", "humidity", "air quality", "noise", "daylight", "automation"}

// Health implements [platform.Asker].
func (e *Assistant) Health(ctx context.Context, in platform.Inquiry) (platform.Reply, error) {
	if err := checkSession(&in.Session); err != nil {
		return platform.Reply{}, err
	}
	w := &work{in: in, now: e.Now(), clock: e.Now, lang: understand.Lang(in.Lang)}
	w.status("reading", User, w.f("Looking at what works"))
	all, err := e.Sites.Controllers(ctx)
	if err != nil {
		return platform.Reply{}, fmt.Errorf("list controllers: %w", err)
	}
	s := state{Status: "ok", Time: w.now.UTC(), Control: controlState{e.Act != nil, in.Control},
		Model:        modelState{Without: "agents answer by rules and templates"},
		Capabilities: []string{"energy", "power", "lights", "shades", "faults", "offline devices", "inventory", "controllers", "reports", "proposals"},
		NotMeasured:  notMeasured}
	if e.Model != nil {
		s.Model.Configured, s.Model.Name = true, e.Model.Name()
	}
	if s.Orders, err = e.ordered(ctx, in.Owner, w.now); err != nil {
		return platform.Reply{}, err
	}
	for _, a := range Agents {
		s.Agents = append(s.Agents, agentState{a.Name, a.Purpose, "ready"})
	}
	for _, c := range all {
		s.Controllers.Total++
		if c.Online {
			s.Controllers.Online++
		}
		if len(s.Sites) < manySites {
			site, err := e.look(ctx, c, w.now)
			if err != nil {
				return platform.Reply{}, err
			}
			one := siteState{ID: c.ID, Name: site.Name(), Online: c.Online, LastSeen: c.LastSeen, Zones: len(site.Zones), Places: []string{}, Devices: len(site.Devices), Meters: site.Meters()}
			for _, z := range site.Zones[:min(len(site.Zones), placesMost)] {
				one.Places = append(one.Places, label(z.Name))
			}
			for _, f := range site.Building.Floors {
				one.Floors = append(one.Floors, label(f.Name))
			}
			s.Sites = append(s.Sites, one)
		}
	}
	switch {
	case s.Controllers.Total == 0:
		s.Status = "empty"
	case s.Controllers.Online == 0:
		s.Status = "degraded"
	}
	withModel := w.f("not configured, answers are worded by rules")
	if s.Model.Configured {
		withModel = w.f("configured (%s)", label(s.Model.Name))
	}
	var missing []string
	for _, what := range s.NotMeasured {
		missing = append(missing, w.f(what))
	}
	text := w.f("Status %s: %s ready; %d of %s online; language model %s. Not measured: %s.", s.Status, countIn(w.lang, len(s.Agents), "agent"),
		s.Controllers.Online, countIn(w.lang, s.Controllers.Total, "controller"), withModel, listIn(w.lang, missing))
	if n := len(s.Orders); n > 0 {
		last := s.Orders[n-1]
		text += " " + w.f("Your last order, at %s: %s", momentIn(w.lang, last.At, w.now), last.Text)
	}
	return w.reply(User, answer{text, s})
}
