package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"svc.internal/controller/appliance"
)

// scenes reads those of the site. What an action of theirs is for may be gone: IDs are
// never used again, so that it stays gone.
func (l *siteLoader) scenes() {
	l.rows("scene", "SELECT id, uuid, name, cluster, actions FROM scene ORDER BY id", func(row scanner) error {
		var sc appliance.Scene
		err := row.Scan(&sc.ID, uuidColumn{&sc.UUID}, &sc.Name, &sc.Cluster, jsonColumn[[]appliance.Action]{&sc.Actions})
		if err == nil {
			l.site.Scenes = append(l.site.Scenes, sc)
		}
		return err
	})
}

func (l *siteLoader) rules() {
	l.rows("rule", "SELECT id, uuid, name, disabled, trigger, actions, yields FROM rule ORDER BY id", func(row scanner) error {
		var r appliance.Rule
		err := row.Scan(&r.ID, uuidColumn{&r.UUID}, &r.Name, &r.Disabled, jsonColumn[appliance.Trigger]{&r.When},
			jsonColumn[[]appliance.Action]{&r.Actions}, &r.Yields)
		if err == nil {
			l.site.Rules = append(l.site.Rules, r)
		}
		return err
	})
}

func saveScene(ctx context.Context, tx *sql.Tx, sc appliance.Scene) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO scene (id, uuid, name, cluster, actions) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, cluster = excluded.cluster, actions = excluded.actions`,
		sc.ID, sc.UUID[:], sc.Name, sc.Cluster, jsonText(sc.Actions))
	if err != nil {
		return fmt.Errorf("save scene %d (%s): %w", sc.ID, sc.Name, err)
	}
	return nil
}

func saveRule(ctx context.Context, tx *sql.Tx, r appliance.Rule) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO rule (id, uuid, name, disabled, trigger, actions, yields) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, disabled = excluded.disabled, trigger = excluded.trigger,
		actions = excluded.actions, yields = excluded.yields`,
		r.ID, r.UUID[:], r.Name, r.Disabled, jsonText(r.When), jsonText(r.Actions), int64(r.Yields))
	if err != nil {
		return fmt.Errorf("save rule %d (%s): %w", r.ID, r.Name, err)
	}
	return nil
}

// Bounds of scenes and rules.
const (
	maxActions = 500             // of one scene or rule
	maxRules   = 1000            // of one site, and as many scenes
	maxOffset  = 6 * 60          // minutes before or after sunrise or sunset
	maxYields  = 24 * time.Hour  // also how long a value may have to last
	maxAfter   = 2 * time.Hour   // until an action of a rule
	minOver    = 4 * time.Second // that an action takes: two steps, as fades go
	maxOver    = 2 * time.Hour
	maxExcept  = 100 // days, or spans of them, on which a rule does not act
)

func (p *plan) buildScenes() {
	r := p.byFamily[Scenes]
	before := map[appliance.ID]appliance.Scene{}
	for _, sc := range p.have.Scenes {
		before[sc.ID] = sc
	}
	for i, sc := range p.in.Scenes {
		sc.ID, sc.UUID = r.found[i].ID, r.found[i].UUID
		if sc.Cluster != 0 {
			sc.Cluster = p.target(r, i, "cluster", Clusters, sc.Cluster)
		}
		sc.Actions = p.actions(r, i, sc.Actions)
		was := before[sc.ID]
		var k changes
		k.add("name", was.Name != sc.Name, was.Name, sc.Name)
		k.add("cluster", was.Cluster != sc.Cluster, number(was.Cluster), number(sc.Cluster))
		k.add("actions", !reflect.DeepEqual(was.Actions, sc.Actions), jsonText(was.Actions), jsonText(sc.Actions))
		p.final.Scenes = append(p.final.Scenes, sc)
		p.note(Scenes, r.found[i], sc.Name, k)
	}
	for _, sc := range p.have.Scenes {
		if !p.opts.Replace && !p.touched[Scenes][sc.ID] && !p.removes(Scenes, sc.ID) {
			p.final.Scenes = append(p.final.Scenes, sc)
		}
	}
	slices.SortFunc(p.final.Scenes, func(a, b appliance.Scene) int { return cmp.Compare(a.ID, b.ID) })
}

func (p *plan) buildRules() {
	r := p.byFamily[Rules]
	before := map[appliance.ID]appliance.Rule{}
	for _, rule := range p.have.Rules {
		before[rule.ID] = rule
	}
	for i, rule := range p.in.Rules {
		rule.ID, rule.UUID = r.found[i].ID, r.found[i].UUID
		if rule.When.Node != 0 {
			rule.When.Node = p.target(r, i, "when/node", Nodes, rule.When.Node)
		}
		rule.Actions = p.actions(r, i, rule.Actions)
		was := before[rule.ID]
		var k changes
		k.add("name", was.Name != rule.Name, was.Name, rule.Name)
		k.add("disabled", was.Disabled != rule.Disabled, yes(was.Disabled), yes(rule.Disabled))
		k.add("when", !reflect.DeepEqual(was.When, rule.When), jsonText(was.When), jsonText(rule.When))
		k.add("actions", !reflect.DeepEqual(was.Actions, rule.Actions), jsonText(was.Actions), jsonText(rule.Actions))
		k.add("yields", was.Yields != rule.Yields, span(was.Yields), span(rule.Yields))
		p.final.Rules = append(p.final.Rules, rule)
		p.note(Rules, r.found[i], rule.Name, k)
	}
	for _, rule := range p.have.Rules {
		if !p.opts.Replace && !p.touched[Rules][rule.ID] && !p.removes(Rules, rule.ID) {
			p.final.Rules = append(p.final.Rules, rule)
		}
	}
	slices.SortFunc(p.final.Rules, func(a, b appliance.Rule) int { return cmp.Compare(a.ID, b.ID) })
}

// actions of an entry, with the IDs of what they are for.
func (p *plan) actions(r *resolver, i int, list []appliance.Action) []appliance.Action {
	list = slices.Clone(nilIfEmpty(list))
	for j := range list {
		a, key := &list[j], fmt.Sprintf("actions/%d", j)
		switch {
		case a.Scene != 0:
			a.Scene = p.target(r, i, key+"/scene", Scenes, a.Scene)
		case a.Target.Scope == appliance.InCluster:
			a.Target.ID = p.target(r, i, key+"/target", Clusters, a.Target.ID)
		case a.Target.Scope == appliance.One && a.Kind.IsShade():
			a.Target.ID = p.target(r, i, key+"/target", Shades, a.Target.ID)
		case a.Target.Scope == appliance.One:
			a.Target.ID = p.target(r, i, key+"/target", Nodes, a.Target.ID)
		}
	}
	return list
}

// target is the ID of something that has to be there.
func (p *plan) target(r *resolver, i int, key string, f Family, ref appliance.ID) appliance.ID {
	id, ok := p.refer(f, ref)
	if !ok {
		r.complain(i, key, "there is no %s %d", f, ref)
	}
	return id
}

// checkRules refuses scenes and rules that mean nothing.
func (p *plan) checkRules() {
	for i, sc := range p.in.Scenes {
		complain := p.byFamily[Scenes].complain
		if bad := badName(sc.Name); bad != "" {
			complain(i, "name", "%s", bad)
		}
		for j, a := range sc.Actions {
			if a.Scene != 0 {
				complain(i, fmt.Sprintf("actions/%d/scene", j), "a scene recalls no other scene")
			}
			if a.After != 0 {
				complain(i, fmt.Sprintf("actions/%d/after", j), "scenes do everything at once")
			}
			if a.Over != 0 {
				complain(i, fmt.Sprintf("actions/%d/over", j), "scenes do everything at once")
			}
		}
		p.checkActions(complain, i, sc.Actions)
	}
	for i, r := range p.in.Rules {
		complain := p.byFamily[Rules].complain
		if bad := badName(r.Name); bad != "" {
			complain(i, "name", "%s", bad)
		}
		if r.Yields < 0 || r.Yields > maxYields {
			complain(i, "yields", "want 0 to 24 hours")
		}
		if key, bad := badTrigger(r.When); bad != "" {
			complain(i, "when/"+key, "%s", bad)
		}
		p.checkActions(complain, i, r.Actions)
	}
	for f, n := range map[Family]int{Scenes: len(p.in.Scenes), Rules: len(p.in.Rules)} {
		if n > maxRules {
			p.problem(f.key(), "", "%d entries, at most %d are possible", n, maxRules)
		}
	}
}

func (p *plan) checkActions(complain complain, i int, list []appliance.Action) {
	if len(list) > maxActions {
		complain(i, "actions", "%d actions, at most %d are possible", len(list), maxActions)
	}
	for j, a := range list {
		bad := func(key, format string, args ...any) {
			complain(i, fmt.Sprintf("actions/%d/%s", j, key), format, args...)
		}
		if a.After < 0 || a.After > maxAfter {
			bad("after", "want 0 to %v", maxAfter)
		}
		switch {
		case a.Over == 0:
		case a.Scene != 0 || a.Kind != appliance.LightLevel && a.Kind != appliance.LightOff:
			bad("over", "only lights to a level, and lights off, may take a time")
		case a.Over < minOver || a.Over > maxOver:
			bad("over", "want %v to %v, or 0: at once", minOver, maxOver)
		}
		if a.Scene != 0 {
			continue
		}
		if a.Kind < appliance.LightOn || a.Kind > appliance.ShadeMoveTo {
			bad("kind", "there is no such command")
		}
		if t := a.Target; t.Scope < appliance.All || t.Scope > appliance.One || (t.Scope == appliance.All) != (t.ID == 0) {
			bad("target", "want everything, a cluster, a node or a shade")
		}
		if a.Level < 0 || a.Level > 100 || a.Position < 0 || a.Position > 100 {
			bad("level", "want 0 to 100")
		}
		if a.Kind == appliance.LightKelvin && (a.Kelvin < 1000 || a.Kelvin > 20_000) {
			bad("kelvin", "want 1000 to 20000")
		}
		if a.Channel < 0 || a.Channel > 0 && a.Kind.IsShade() {
			bad("channel", "want 0 (all channels) or a channel number from 1, for lights")
		}
	}
}

// badTrigger says what is wrong with a trigger, and with which part of it.
func badTrigger(t appliance.Trigger) (key, what string) {
	switch t.Kind {
	case appliance.AtTime:
		if t.Minute < 0 || t.Minute >= 24*60 {
			return "time", "want a time from 00:00 to 23:59"
		}
	case appliance.AtSunrise, appliance.AtSunset:
		if t.Minute < -maxOffset || t.Minute > maxOffset {
			return "offset", fmt.Sprintf("want -%d to %[1]d minutes", maxOffset)
		}
	case appliance.OnValue:
		switch {
		case t.Node == 0:
			return "node", "is missing"
		case t.Quantity != appliance.OfLevel && t.Quantity != appliance.OfPower:
			return "quantity", "want level or power"
		case math.Abs(t.Limit) > 1e9:
			return "limit", "want a number"
		case t.For < 0 || t.For > maxYields:
			return "for", "want 0 to 24 hours"
		case t.Channel < 0:
			return "channel", "want 0 or a channel number from 1"
		}
	default:
		return "kind", "want time, sunrise, sunset or value"
	}
	switch {
	case t.Days > appliance.EveryDay:
		return "days", "there are seven days"
	case t.Holidays != appliance.Always && t.Holidays != appliance.NotHolidays && t.Holidays != appliance.OnlyHolidays:
		return "holidays", `want not, only, or nothing`
	case len(t.Except) > maxExcept:
		return "except", fmt.Sprintf("has %d entries, at most %d are possible", len(t.Except), maxExcept)
	}
	return "", ""
}

// roomFor refuses one more than there may be.
func roomFor(word string, have int) error {
	if have >= maxRules {
		return fmt.Errorf("there are %d %ss, no more are possible: %w", have, word, appliance.ErrInUse)
	}
	return nil
}
