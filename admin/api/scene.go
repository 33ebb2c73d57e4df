package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Rules is what this door needs of what happens by itself.
type Rules interface {
	// Recall recalls a scene, Try does what a rule does; both return when the outcome is known.
	Recall(ctx context.Context, scene appliance.ID, by appliance.Origin) ([]appliance.Entry, error)
	Try(ctx context.Context, rule appliance.ID, by appliance.Origin) ([]appliance.Entry, error)
	// Preview lists what is due by clock and sun, Runs what rules did lately, newest first.
	Preview(from, to time.Time) []appliance.Due
	Runs() []appliance.RuleRun
	// Trial tells when a rule would have had reason to act, and from when on its value is known; replay tells what was.
	Trial(rule appliance.Rule, from, to time.Time, replay func(want func(appliance.Track) bool, tell func(appliance.Past) error) error) (
		times []time.Time, known time.Time, err error)
	// Hands are what rules leave alone now; Release lets them act on these again.
	Hands() []appliance.Hand
	Release(refs []appliance.Ref)
}

// Action is what a scene or a rule does: a command, or the recall of a scene.
type Action struct {
	Scene    appliance.ID `json:"scene,omitempty" doc:"To recall; then nothing else is given. For rules only."`
	Kind     string       `json:"kind,omitempty" enum:"light-on,light-off,light-level,light-kelvin,light-rgbw,shade-open,shade-close,shade-stop,shade-move-to"`
	Target   *Target      `json:"target,omitempty"`
	Channel  int          `json:"channel,omitempty"`
	Level    *int         `json:"level,omitempty"`
	Kelvin   *int         `json:"kelvin,omitempty"`
	RGBW     *Colour      `json:"rgbw,omitempty"`
	Position *int         `json:"position,omitempty"`
	After    int          `json:"afterSeconds,omitempty" doc:"So long after the moment of its rule, leaving alone what somebody set by hand meanwhile; up to 7200. For rules only."`
	Over     int          `json:"overSeconds,omitempty" doc:"light-level and light-off of rules only: it takes so long, in steps from the level that each light has then, 4 to 7200; what somebody sets by hand meanwhile is left alone. 0: at once."`
}

func actionOf(a appliance.Action) Action {
	if a.Scene != 0 {
		return Action{Scene: a.Scene, After: int(a.After.Seconds())}
	}
	cmd := a.Command(appliance.Origin{})
	e := entryOf(appliance.Entry{Command: cmd})
	return Action{Kind: e.Kind, Target: &e.Target, Channel: e.Channel, Level: e.Level, Kelvin: e.Kelvin, RGBW: e.RGBW, Position: e.Position, After: int(a.After.Seconds()),
		Over: int(a.Over.Seconds())}
}

func actionsOf(list []appliance.Action) []Action {
	out := make([]Action, len(list))
	for i, a := range list {
		out[i] = actionOf(a)
	}
	return out
}

// actions is what a body asks for; what is wrong with one names it.
func actions(list []Action) ([]appliance.Action, error) {
	var out []appliance.Action
	for i, in := range list {
		at := "/actions/" + itoa(appliance.ID(i))
		if in.After < 0 || in.After > 7200 {
			return nil, meaningless(at+"/afterSeconds", "want 0 to 7200")
		}
		if in.Over != 0 && (in.Over < 4 || in.Over > 7200) {
			return nil, meaningless(at+"/overSeconds", "want 4 to 7200, or 0: at once")
		}
		after := time.Duration(in.After) * time.Second
		if in.Scene != 0 {
			if !reflect.DeepEqual(in, Action{Scene: in.Scene, After: in.After}) {
				return nil, meaningless(at+"/scene", "an action recalls a scene or commands something, not both")
			}
			out = append(out, appliance.Action{Scene: in.Scene, After: after})
			continue
		}
		if in.Target == nil {
			return nil, meaningless(at+"/target", "is missing")
		}
		cmd, err := Command{Kind: in.Kind, Target: *in.Target, Channel: in.Channel, Level: in.Level, Kelvin: in.Kelvin, RGBW: in.RGBW, Position: in.Position}.command()
		if err != nil {
			return nil, below(at, err)
		}
		out = append(out, appliance.Action{Kind: cmd.Kind, Target: cmd.Target, Channel: cmd.Channel, Level: cmd.Level,
			KeepLevel: cmd.KeepLevel, Kelvin: cmd.Kelvin, RGBW: cmd.RGBW, Position: cmd.Position, After: after, Over: time.Duration(in.Over) * time.Second})
	}
	return out, nil
}

// below moves the fields of a refusal to where they stand in a larger body.
func below(at string, err error) error {
	r, ok := err.(*refusal)
	if !ok {
		return err
	}
	out := *r
	out.fields = nil
	for _, f := range r.fields {
		out.fields = append(out.fields, FieldError{at + f.Pointer, f.Detail})
	}
	return &out
}

// Scene is a set of stored targets, recalled together.
type Scene struct {
	ID      appliance.ID `json:"id"`
	UUID    string       `json:"uuid"`
	ETag    string       `json:"etag"`
	Name    string       `json:"name"`
	Cluster appliance.ID `json:"cluster" doc:"That it is offered in; 0: the whole building."`
	Actions []Action     `json:"actions"`
}

func sceneOf(sc *appliance.Scene) Scene {
	return Scene{ID: sc.ID, UUID: sc.UUID.String(), ETag: etagOf(sc), Name: sc.Name, Cluster: sc.Cluster, Actions: actionsOf(sc.Actions)}
}

// SceneEdit is what may be set of a scene; what is left out stays.
type SceneEdit struct {
	Name    *string       `json:"name,omitempty"`
	Cluster *appliance.ID `json:"cluster,omitempty"`
	Actions *[]Action     `json:"actions,omitempty"`
	Capture bool          `json:"capture,omitempty" doc:"Take the lights and shades of its cluster as they are now, instead of actions."`
}

// apply takes over what was given.
func (in SceneEdit) apply(s *appliance.Snapshot, sc *appliance.Scene) error {
	set(&sc.Name, in.Name)
	set(&sc.Cluster, in.Cluster)
	if in.Actions != nil {
		list, err := actions(*in.Actions)
		if err != nil {
			return err
		}
		sc.Actions = list
	}
	if in.Capture {
		if sc.Actions = captured(s, sc.Cluster); len(sc.Actions) == 0 {
			return meaningless("/capture", "nothing is known of the lights and shades there")
		}
	}
	if len(sc.Actions) == 0 {
		return meaningless("/actions", "want one at least")
	}
	return nil
}

// captured is what would make a cluster, or everything, as it is now. Lights that are all the same become one action.
func captured(s *appliance.Snapshot, cluster appliance.ID) []appliance.Action {
	target := appliance.Target{Scope: appliance.All}
	nodes, shades := s.Nodes, s.Shades
	if cluster != 0 {
		c := s.Cluster(cluster)
		if c == nil {
			return nil
		}
		target = appliance.Target{Scope: appliance.InCluster, ID: cluster}
		nodes, shades = nil, nil
		for _, id := range c.Cluster.Nodes {
			if n := s.Node(id); n != nil {
				nodes = append(nodes, n)
			}
		}
		for _, id := range c.Cluster.Shades {
			if h := s.Shade(id); h != nil {
				shades = append(shades, h)
			}
		}
	}
	var lights, motors []appliance.Action
	for _, n := range nodes {
		lights = append(lights, capturedLight(n)...)
	}
	for _, h := range shades {
		if h.Online && h.Position.OK() {
			motors = append(motors, appliance.Action{Kind: appliance.ShadeMoveTo, Position: h.Position.Value, Target: appliance.Target{Scope: appliance.One, ID: h.Shade.ID}})
		}
	}
	return append(together(lights, target), together(motors, target)...)
}

func capturedLight(n *appliance.NodeState) []appliance.Action {
	if !n.Online || !n.IsLight() || !n.Level.OK() {
		return nil
	}
	one := appliance.Target{Scope: appliance.One, ID: n.Node.ID}
	switch {
	case n.Level.Value == 0:
		return []appliance.Action{{Kind: appliance.LightOff, Target: one}}
	case n.RGBW.OK():
		return []appliance.Action{{Kind: appliance.LightRGBW, RGBW: n.RGBW.Value, Level: n.Level.Value, Target: one}}
	}
	out := []appliance.Action{{Kind: appliance.LightLevel, Level: n.Level.Value, Target: one}}
	if n.Kelvin.OK() {
		out = append(out, appliance.Action{Kind: appliance.LightKelvin, Kelvin: n.Kelvin.Value, Target: one})
	}
	return out
}

// together makes one action for all of those that are the same.
func together(list []appliance.Action, target appliance.Target) []appliance.Action {
	if len(list) < 2 {
		return list
	}
	first := list[0]
	for _, a := range list {
		a.Target = first.Target
		if a != first {
			return list
		}
	}
	first.Target = target
	return []appliance.Action{first}
}

func (a *API) scenes(c echo.Context) error {
	s := a.Core.Snapshot()
	out := make([]Scene, len(s.Site.Scenes))
	for i := range s.Site.Scenes {
		out[i] = sceneOf(&s.Site.Scenes[i])
	}
	return answer(c, http.StatusOK, out)
}

func sceneIn(s *appliance.Snapshot, id appliance.ID) *appliance.Scene {
	for i := range s.Site.Scenes {
		if s.Site.Scenes[i].ID == id {
			return &s.Site.Scenes[i]
		}
	}
	return nil
}

func (a *API) sceneID(c echo.Context) appliance.ID {
	return pathID(c, a.Core.Snapshot().Site.Scenes, func(sc appliance.Scene) (appliance.UUID, appliance.ID) { return sc.UUID, sc.ID })
}

// showScene answers with a scene as it is in s.
func (a *API) showScene(c echo.Context, s *appliance.Snapshot, id appliance.ID, status int) error {
	sc := sceneIn(s, id)
	if sc == nil {
		return notThere("scene", itoa(id))
	}
	r := sceneOf(sc)
	return tagged(c, status, r.ETag, r)
}

func (a *API) scene(c echo.Context) error {
	return a.showScene(c, a.Core.Snapshot(), a.sceneID(c), http.StatusOK)
}

func (a *API) createScene(c echo.Context) error {
	var in SceneEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var sc appliance.Scene
	if err := in.apply(a.Core.Snapshot(), &sc); err != nil {
		return err
	}
	id, err := a.Editor.CreateScene(c.Request().Context(), sc, callerOf(c).name)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "scene.create", subjectOf("scene", id, sc.Name), in)
	c.Response().Header().Set("Location", prefix+"/scenes/"+itoa(id))
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return sceneIn(s, id) != nil })
	return a.showScene(c, s, id, http.StatusCreated)
}

func (a *API) editScene(c echo.Context) error {
	var in SceneEdit
	match, id, err := a.edit(c, &in, a.sceneID(c))
	if err != nil {
		return err
	}
	var now appliance.Scene
	err = a.Editor.UpdateScene(c.Request().Context(), id, callerOf(c).name, func(sc *appliance.Scene) error {
		if err := match.holds(sc); err != nil {
			return err
		}
		err := in.apply(a.Core.Snapshot(), sc)
		now = *sc
		return err
	})
	if err != nil {
		return edited(err)
	}
	a.audit(c, "scene.change", subjectOf("scene", id, now.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool {
		return sceneIn(s, id) == nil || reflect.DeepEqual(*sceneIn(s, id), now)
	})
	return a.showScene(c, s, id, http.StatusOK)
}

func (a *API) removeScene(c echo.Context) error {
	id := a.sceneID(c)
	return remove(a, c, "scene", id, a.Editor.RemoveScene, func(v appliance.Scene) string { return v.Name },
		func(s *appliance.Snapshot) bool { return sceneIn(s, id) != nil })
}

// Done is what became of several commands.
type Done struct {
	OK      bool     `json:"ok" doc:"All of them succeeded."`
	Error   string   `json:"error,omitempty"`
	Entries []string `json:"entries" doc:"Their IDs in the ledger."`
}

func doneOf(entries []appliance.Entry, err error) Done {
	out := Done{OK: err == nil, Entries: []string{}}
	if err != nil {
		out.Error = err.Error()
	}
	for _, e := range entries {
		out.Entries = append(out.Entries, e.ID)
		if !e.OK() {
			out.OK = false
			if out.Error == "" {
				out.Error = e.Err
			}
		}
	}
	return out
}

func (a *API) recall(c echo.Context) error {
	id := a.sceneID(c)
	if sceneIn(a.Core.Snapshot(), id) == nil {
		return notThere("scene", c.Param("id"))
	}
	return answer(c, http.StatusOK, doneOf(a.Rules.Recall(context.WithoutCancel(c.Request().Context()), id, callerOf(c).origin(""))))
}
