package reader

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.internal/controller/site/migration"
)

// collect puts everything in order, with names as they may stand here.
func (r *reading) collect() {
	name := func(word string, id int64, old string) string {
		clean, changed := cleaned(old)
		if changed != "" {
			r.warn("%s %d: %s", strings.ToLower(word), id, changed)
		}
		if clean == "" {
			clean = fmt.Sprintf("%s %d", word, id)
			r.warn("%s %d has no name: it becomes %q", strings.ToLower(word), id, clean)
		}
		return clean
	}
	for i := range r.house.Clusters {
		c := &r.house.Clusters[i]
		c.Name = name("Cluster", c.ID, c.Name)
		c.CreatedBy, _ = cleaned(c.CreatedBy)
		c.Nodes, c.Shades = sorted(c.Nodes), sorted(c.Shades)
	}
	for _, n := range r.nodes {
		r.house.Nodes = append(r.house.Nodes, *n)
	}
	slices.SortFunc(r.house.Nodes, func(a, b migration.Node) int { return int(a.ID - b.ID) })
	for i := range r.house.Nodes {
		r.house.Nodes[i].Name = name("Node", r.house.Nodes[i].ID, r.house.Nodes[i].Name)
	}
	for _, s := range r.shades {
		r.house.Shades = append(r.house.Shades, *s)
	}
	slices.SortFunc(r.house.Shades, func(a, b migration.Shade) int { return int(a.ID - b.ID) })
	for i := range r.house.Shades {
		r.house.Shades[i].Name = name("Shade", r.house.Shades[i].ID, r.house.Shades[i].Name)
	}
	if len(r.house.Clusters)+len(r.nodes)+len(r.shades)+len(r.house.Reserved) == 0 {
		r.warn("there is nothing in the old house")
	}
}

// nameMost is how many characters a name may have here.
const nameMost = 200

// cleaned is a name as it may stand here, and what was done to it.
func cleaned(name string) (clean, changed string) {
	clean = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if clean != name {
		changed = "characters that cannot be shown were left out of its name"
	}
	if utf8.RuneCountInString(clean) > nameMost {
		clean = string([]rune(clean)[:nameMost])
		changed = fmt.Sprintf("its name was cut to %d characters", nameMost)
	}
	return clean, changed
}
