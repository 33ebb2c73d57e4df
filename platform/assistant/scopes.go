package assistant

import (
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant/facts"
	"svc.internal/controller/platform/understand"
)

// names of a site, for the reader of questions.
func names(s *facts.Site, also ...understand.Name) understand.Names {
	n := slices.Clone(also)
	floors := map[int64]string{}
	for _, z := range s.Zones {
		floors[z.ID] = z.Floor
	}
	add := func(kind understand.Kind, id int64, name string, also ...string) {
		p := understand.Place{Kind: kind, ID: id, Name: name}
		if kind == understand.Zone {
			p.On = floors[id]
		}
		for _, text := range append([]string{name}, also...) {
			n = append(n, understand.Name{Place: p, Text: text})
		}
	}
	n = append(n, understand.Name{Text: s.Name()}, understand.Name{Text: s.Controller.Name}, understand.Name{Text: s.Controller.ID})
	for _, z := range s.Zones {
		add(understand.Zone, z.ID, z.Name)
	}
	for _, f := range s.Building.Floors {
		add(understand.Floor, 0, f.Name, floorAliases(f.Name)...)
	}
	meters := map[int64]bool{}
	for _, m := range s.Meters() {
		meters[m.Node] = true
		if m.Covers == "" || len(m.Covers) > 60 {
			add(understand.Meter, m.Node, m.Name)
		} else {
			add(understand.Meter, m.Node, m.Name, m.Covers+" meter")
		}
	}
	buses := map[string]bool{}
	for _, d := range s.Devices {
		switch {
		case d.Kind == platform.KindShade:
			add(understand.Shade, d.ID, d.Name)
		case !meters[d.ID]:
			add(understand.Device, d.ID, d.Name)
		}
		if d.Bus != "" && !buses[d.Bus] {
			buses[d.Bus] = true
			n = append(n, understand.Name{Place: understand.Place{Kind: understand.Bus, Name: d.Bus}, Text: "bus " + d.Bus}, understand.Name{Place: understand.Place{Kind: understand.Bus, Name: d.Bus}, Text: d.Bus + " bus"})
		}
	}
	return understand.NewNames(n)
}

// floorAliases are other ways to say a floor: "1st floor" for "Floor 1" and the like.
func floorAliases(name string) []string {
	low := strings.ToLower(name)
	ordinals := []string{"zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	for i, o := range ordinals {
		n := fmt.Sprint(i)
		for _, form := range []string{"floor " + n, "level " + n, o + " floor", o + " level", n + ". floor", "storey " + n, n + " floor", n + ". etage", n + ". stock", n + ". og"} {
			if low == form || low == strings.Replace(form, o, ordinalDigits(i), 1) {
				return []string{"floor " + n, "level " + n, o + " floor", o + " level", o + " storey", n + ". etage", n + ". stock", "etage " + n}
			}
		}
	}
	for _, same := range [][]string{
		{"ground floor", "ground level", "downstairs", "erdgeschoss", "eg"},
		{"upper floor", "upstairs", "top floor", "obergeschoss", "og"},
		{"basement", "cellar", "keller", "untergeschoss", "ug"},
		{"attic", "dachgeschoss", "dg"},
	} {
		if slices.Contains(same, low) {
			return same
		}
	}
	return nil
}

func ordinalDigits(i int) string {
	switch i {
	case 1:
		return "1st"
	case 2:
		return "2nd"
	case 3:
		return "3rd"
	}
	return fmt.Sprintf("%dth", i)
}

// scopeOf turns places, without those that are left out, into a scope.
func scopeOf(s *facts.Site, lang understand.Lang, places, except []understand.Place) facts.Scope {
	c := scopeSaid(s, lang, places)
	if len(except) == 0 {
		return c
	}
	out := scopeSaid(s, lang, except)
	c.Out = &out
	if within := slices.DeleteFunc(slices.Clone(except), func(p understand.Place) bool { return !s.Overlap(c, scopeSaid(s, lang, []understand.Place{p})) }); len(within) > 0 {
		out.Label = scopeSaid(s, lang, within).Label // "the tower apart from the office" names no other office
	}
	c.Label = strings.TrimPrefix(c.Label+in(lang, " without ")+out.Label, " ")
	return c
}

// scopeIn is the scope of places, whose label is for who knows English.
func scopeIn(s *facts.Site, places []understand.Place) facts.Scope {
	return scopeSaid(s, understand.English, places)
}

func (a *asked) scopeIn(places []understand.Place) facts.Scope {
	return scopeSaid(a.site, a.q.Lang, places)
}

// scopeSaid is the scope of places, with a label in a language.
func scopeSaid(s *facts.Site, lang understand.Lang, places []understand.Place) facts.Scope {
	var c facts.Scope
	var labels []string
	for _, p := range places {
		labels = append(labels, label(p.Name))
		switch p.Kind {
		case understand.Zone:
			c.Zones = append(c.Zones, p.ID)
		case understand.Floor:
			f := s.FloorScope(p.Name)
			c.Zones = append(c.Zones, f.Zones...)
			if len(places) == 1 {
				c.Floor = p.Name
			} else if len(f.Zones) == 0 {
				c.Floor = p.Name
			}
		case understand.Device, understand.Meter:
			c.Devices = append(c.Devices, p.ID)
		case understand.Shade:
			c.Shades = append(c.Shades, p.ID)
		case understand.Bus:
			c.Bus = p.Name
		}
	}
	c.Label = someIn(lang, labels, 6)
	if len(places) == 0 {
		c.Label = ""
	}
	return c
}
