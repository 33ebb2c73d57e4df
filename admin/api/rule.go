package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Rule does something by itself.
type Rule struct {
	ID           appliance.ID `json:"id"`
	UUID         string       `json:"uuid"`
	ETag         string       `json:"etag"`
	Name         string       `json:"name"`
	Enabled      bool         `json:"enabled"`
	When         Trigger      `json:"when"`
	Actions      []Action     `json:"actions"`
	YieldMinutes int          `json:"yieldMinutes" doc:"For how long it leaves alone what somebody set by hand; 0: it does not."`
	Trouble      string       `json:"trouble,omitempty" doc:"Why it cannot do all that it is to do."`
	Next         *time.Time   `json:"next" doc:"When it is due by clock or sun, within 14 days; null: nobody knows."`
	Last         *Run         `json:"last" doc:"When it had reason to act last since the start."`
}

// Trigger is what a rule waits for; kind says which of the others count.
type Trigger struct {
	Kind       string       `json:"kind" enum:"time,sunrise,sunset,value"`
	Days       []string     `json:"days,omitempty" doc:"mon to sun, in the building's time zone; every day if left out."`
	Holidays   string       `json:"holidays,omitempty" enum:"not,only" doc:"Not on holidays of the site, or only on them; as on all days if left out."`
	Except     []string     `json:"except,omitempty" doc:"Days on which it does not act: 2026-12-24, 12-25 of every year, 12-24..01-02."`
	Time       string       `json:"time,omitempty" doc:"Such as 07:30, by the clock on the wall."`
	Offset     int          `json:"offset,omitempty" doc:"Minutes after sunrise or sunset; before it if negative."`
	Node       appliance.ID `json:"node,omitempty"`
	Channel    int          `json:"channel,omitempty"`
	Quantity   string       `json:"quantity,omitempty" enum:"level,power"`
	Above      *float64     `json:"above,omitempty"`
	Below      *float64     `json:"below,omitempty"`
	ForSeconds int          `json:"forSeconds,omitempty" doc:"How long it has to last."`
}

// Run is one time that a rule had reason to act.
type Run struct {
	At      time.Time    `json:"at"`
	Rule    appliance.ID `json:"rule"`
	Name    string       `json:"name"`
	Why     string       `json:"why"`
	Entries []string     `json:"entries" doc:"Of the ledger."`
	Left    string       `json:"left,omitempty" doc:"Why nothing, or not all, was done."`
}

func runOf(r appliance.RuleRun) Run {
	out := Run{At: stamp(r.At), Rule: r.Rule, Name: r.Name, Why: r.Why, Entries: r.Commands, Left: r.Left}
	if out.Entries == nil {
		out.Entries = []string{}
	}
	return out
}

var dayWords = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func triggerOf(t appliance.Trigger) Trigger {
	out := Trigger{Kind: string(t.Kind), Holidays: string(t.Holidays)}
	for _, d := range t.Except {
		out.Except = append(out.Except, d.String())
	}
	for bit, word := range dayWords {
		if t.Days&(1<<bit) != 0 {
			out.Days = append(out.Days, word)
		}
	}
	switch t.Kind {
	case appliance.AtTime:
		out.Time = fmt.Sprintf("%02d:%02d", t.Minute/60, t.Minute%60)
	case appliance.AtSunrise, appliance.AtSunset:
		out.Offset = t.Minute
	case appliance.OnValue:
		out.Node, out.Channel, out.Quantity, out.ForSeconds = t.Node, t.Channel, string(t.Quantity), int(t.For.Seconds())
		if t.Below {
			out.Below = &t.Limit
		} else {
			out.Above = &t.Limit
		}
	}
	return out
}

// trigger is what a body asks for. The store refuses what is out of range.
func (in Trigger) trigger() (appliance.Trigger, error) {
	t := appliance.Trigger{Kind: appliance.TriggerKind(in.Kind), Holidays: appliance.OnHolidays(in.Holidays)}
	for _, text := range in.Except {
		d, err := appliance.ParseDates(text)
		if err != nil {
			return t, meaningless("/when/except", err.Error())
		}
		t.Except = append(t.Except, d)
	}
	for _, word := range in.Days {
		known := false
		for bit, w := range dayWords {
			if w == word {
				t.Days |= 1 << bit
				known = true
			}
		}
		if !known {
			return t, meaningless("/when/days", "want mon to sun")
		}
	}
	switch t.Kind {
	case appliance.AtTime:
		at, err := time.Parse("15:04", in.Time)
		if err != nil {
			return t, meaningless("/when/time", "want a time of the day such as 07:30")
		}
		t.Minute = at.Hour()*60 + at.Minute()
	case appliance.AtSunrise, appliance.AtSunset:
		t.Minute = in.Offset
	case appliance.OnValue:
		t.Node, t.Channel, t.Quantity = in.Node, in.Channel, appliance.Quantity(in.Quantity)
		if in.ForSeconds < 0 || in.ForSeconds > 24*3600 {
			return t, meaningless("/when/forSeconds", "want 0 to 86400")
		}
		t.For = time.Duration(in.ForSeconds) * time.Second
		switch {
		case (in.Above == nil) == (in.Below == nil):
			return t, meaningless("/when/above", "want one of above and below")
		case in.Below != nil:
			t.Below, t.Limit = true, *in.Below
		default:
			t.Limit = *in.Above
		}
	}
	return t, nil
}

// rulesOf are the rules with what is known of their next and last time.
func (a *API) rulesOf(s *appliance.Snapshot) []Rule {
	now := time.Now()
	next, last := map[appliance.ID]*time.Time{}, map[appliance.ID]*Run{}
	for _, due := range a.Rules.Preview(now, now.AddDate(0, 0, 14)) {
		if next[due.Rule] == nil {
			next[due.Rule] = stampOf(due.At)
		}
	}
	for _, run := range a.Rules.Runs() {
		if last[run.Rule] == nil {
			last[run.Rule] = new(runOf(run))
		}
	}
	out := make([]Rule, len(s.Site.Rules))
	for i := range s.Site.Rules {
		r := &s.Site.Rules[i]
		out[i] = Rule{ID: r.ID, UUID: r.UUID.String(), ETag: etagOf(r), Name: r.Name, Enabled: !r.Disabled, When: triggerOf(r.When),
			Actions: actionsOf(r.Actions), YieldMinutes: int(r.Yields.Minutes()), Trouble: ruleTrouble(s, r), Next: next[r.ID], Last: last[r.ID]}
	}
	return out
}

// ruleTrouble says why a rule cannot do what it is to do.
func ruleTrouble(s *appliance.Snapshot, r *appliance.Rule) string {
	sun := r.When.Kind == appliance.AtSunrise || r.When.Kind == appliance.AtSunset
	switch {
	case sun && s.Site.Division.Place == nil:
		return "where the building stands is not known; set it in the settings"
	case r.When.Kind == appliance.OnValue && s.Node(r.When.Node) == nil:
		return "the node whose value it watches is not there any more"
	case len(r.Actions) == 0:
		return "it has nothing to do"
	}
	if actsOnNothing(s, r.Actions) {
		return "something that it acts on is not there any more"
	}
	return ""
}

// actsOnNothing reports whether one of the actions, or of the scenes that they recall, is for what was removed.
func actsOnNothing(s *appliance.Snapshot, actions []appliance.Action) bool {
	return slices.ContainsFunc(actions, func(a appliance.Action) bool {
		if a.Scene != 0 {
			scene := sceneIn(s, a.Scene)
			return scene == nil || actsOnNothing(s, scene.Actions) // scenes recall none
		}
		t := a.Target
		return t.Scope == appliance.InCluster && s.Cluster(t.ID) == nil ||
			t.Scope == appliance.One && s.Node(t.ID) == nil && s.Shade(t.ID) == nil
	})
}

// RuleEdit is what may be set of a rule; what is left out stays.
type RuleEdit struct {
	Name         *string   `json:"name,omitempty"`
	Enabled      *bool     `json:"enabled,omitempty"`
	When         *Trigger  `json:"when,omitempty"`
	Actions      *[]Action `json:"actions,omitempty"`
	YieldMinutes *int      `json:"yieldMinutes,omitempty"`
}

func (in RuleEdit) apply(r *appliance.Rule) error {
	set(&r.Name, in.Name)
	if in.Enabled != nil {
		r.Disabled = !*in.Enabled
	}
	if in.When != nil {
		t, err := in.When.trigger()
		if err != nil {
			return err
		}
		r.When = t
	}
	if in.Actions != nil {
		list, err := actions(*in.Actions)
		if err != nil {
			return err
		}
		r.Actions = list
	}
	if in.YieldMinutes != nil {
		if *in.YieldMinutes < 0 || *in.YieldMinutes > 24*60 {
			return meaningless("/yieldMinutes", "want 0 to 1440")
		}
		r.Yields = time.Duration(*in.YieldMinutes) * time.Minute
	}
	if len(r.Actions) == 0 {
		return meaningless("/actions", "want one at least")
	}
	return nil
}

func (a *API) rules(c echo.Context) error {
	return answer(c, http.StatusOK, a.rulesOf(a.Core.Snapshot()))
}

func ruleIn(s *appliance.Snapshot, id appliance.ID) *appliance.Rule {
	for i := range s.Site.Rules {
		if s.Site.Rules[i].ID == id {
			return &s.Site.Rules[i]
		}
	}
	return nil
}

func (a *API) ruleID(c echo.Context) appliance.ID {
	return pathID(c, a.Core.Snapshot().Site.Rules, func(r appliance.Rule) (appliance.UUID, appliance.ID) { return r.UUID, r.ID })
}

func (a *API) showRule(c echo.Context, s *appliance.Snapshot, id appliance.ID, status int) error {
	for _, r := range a.rulesOf(s) {
		if r.ID == id {
			return tagged(c, status, r.ETag, r)
		}
	}
	return notThere("rule", itoa(id))
}

func (a *API) rule(c echo.Context) error {
	return a.showRule(c, a.Core.Snapshot(), a.ruleID(c), http.StatusOK)
}

func (a *API) createRule(c echo.Context) error {
	var in RuleEdit
	if err := read(c, &in); err != nil {
		return err
	}
	var r appliance.Rule
	if err := in.apply(&r); err != nil {
		return err
	}
	id, err := a.Editor.CreateRule(c.Request().Context(), r, callerOf(c).name)
	if err != nil {
		return edited(err)
	}
	a.audit(c, "rule.create", subjectOf("rule", id, r.Name), in)
	c.Response().Header().Set("Location", prefix+"/rules/"+itoa(id))
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool { return ruleIn(s, id) != nil })
	return a.showRule(c, s, id, http.StatusCreated)
}

func (a *API) editRule(c echo.Context) error {
	var in RuleEdit
	match, id, err := a.edit(c, &in, a.ruleID(c))
	if err != nil {
		return err
	}
	var now appliance.Rule
	err = a.Editor.UpdateRule(c.Request().Context(), id, callerOf(c).name, func(r *appliance.Rule) error {
		if err := match.holds(r); err != nil {
			return err
		}
		err := in.apply(r)
		now = *r
		return err
	})
	if err != nil {
		return edited(err)
	}
	a.audit(c, "rule.change", subjectOf("rule", id, now.Name), in)
	s := a.inForce(c.Request().Context(), func(s *appliance.Snapshot) bool {
		return ruleIn(s, id) == nil || reflect.DeepEqual(*ruleIn(s, id), now)
	})
	return a.showRule(c, s, id, http.StatusOK)
}

func (a *API) removeRule(c echo.Context) error {
	id := a.ruleID(c)
	return remove(a, c, "rule", id, a.Editor.RemoveRule, func(v appliance.Rule) string { return v.Name },
		func(s *appliance.Snapshot) bool { return ruleIn(s, id) != nil })
}

func (a *API) tryRule(c echo.Context) error {
	id := a.ruleID(c)
	if ruleIn(a.Core.Snapshot(), id) == nil {
		return notThere("rule", c.Param("id"))
	}
	return answer(c, http.StatusOK, doneOf(a.Rules.Try(context.WithoutCancel(c.Request().Context()), id, callerOf(c).origin(""))))
}

func (a *API) runs(c echo.Context) error {
	out := []Run{}
	for _, r := range a.Rules.Runs() {
		out = append(out, runOf(r))
	}
	return answer(c, http.StatusOK, out)
}

// Schedule is what is due by clock and sun.
type Schedule struct {
	TimeZone string `json:"timeZone" doc:"IANA name; empty: not known, it is UTC."`
	Due      []Due  `json:"due"`
}

// Due is a moment at which a rule is to act.
type Due struct {
	At    time.Time    `json:"at"`
	Rule  appliance.ID `json:"rule"`
	Name  string       `json:"name"`
	Clock string       `json:"clock,omitempty" enum:"twice,skipped" doc:"Clocks are changed then: twice, the time comes twice and counts once; skipped, it does not come, and the moment after the gap counts."`
}

func (a *API) schedule(c echo.Context) error {
	days, err := number(c, "days", 14, 31)
	if err != nil {
		return err
	}
	s, now := a.Core.Snapshot(), time.Now()
	out := Schedule{TimeZone: s.Site.Division.TimeZone, Due: []Due{}}
	for _, d := range a.Rules.Preview(now, now.AddDate(0, 0, days)) {
		if r := ruleIn(s, d.Rule); r != nil {
			out.Due = append(out.Due, Due{stamp(d.At), d.Rule, r.Name, string(d.Clock)})
		}
	}
	return answer(c, http.StatusOK, out)
}

// Override is something that rules leave alone because somebody set it by hand.
type Override struct {
	Node  appliance.ID `json:"node,omitempty"`
	Shade appliance.ID `json:"shade,omitempty"`
	At    time.Time    `json:"at" doc:"When it was set; each rule yields for a time of its own."`
	Who   string       `json:"who"`
}

func (a *API) overrides(c echo.Context) error {
	out := []Override{}
	for _, h := range a.Rules.Hands() {
		out = append(out, Override{h.Ref.Node, h.Ref.Shade, stamp(h.At), h.Who})
	}
	return answer(c, http.StatusOK, out)
}

// release lets rules act again on a cluster.
func (a *API) release(c echo.Context) error {
	cl := a.Core.Snapshot().Cluster(a.clusterID(c))
	if cl == nil {
		return notThere("cluster", c.Param("id"))
	}
	refs := []appliance.Ref{}
	for _, id := range cl.Cluster.Nodes {
		refs = append(refs, appliance.Ref{Node: id})
	}
	for _, id := range cl.Cluster.Shades {
		refs = append(refs, appliance.Ref{Shade: id})
	}
	a.Rules.Release(refs)
	a.audit(c, "override.end", subjectOf("cluster", cl.Cluster.ID, cl.Cluster.Name), nil)
	return c.NoContent(http.StatusNoContent)
}
