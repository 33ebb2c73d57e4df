package store

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc.internal/controller/appliance"
)

// Bounds of what an import may hold.
const (
	maxEntries = 50_000 // of each kind
	maxName    = 200    // characters
	maxNote    = 500    // characters
)

// checkText refuses what no database of ours should hold, whoever wrote it.
func (p *plan) checkText() {
	for what, n := range map[string]int{"buses": len(p.in.Buses), "nodes": len(p.in.Nodes),
		"shades": len(p.in.Shades), "clusters": len(p.in.Clusters)} {
		if n > maxEntries {
			p.problem(what, "", "%d entries, at most %d are possible", n, maxEntries)
		}
	}
	for i, b := range p.in.Buses {
		p.checkBus(fmt.Sprintf("buses[%d] (%s)", i, b.Name), b)
	}
	for i, n := range p.in.Nodes {
		p.checkNode(i, n)
	}
	for i, h := range p.in.Shades {
		p.checkShade(i, h)
	}
	for i, c := range p.in.Clusters {
		if bad := p.badName(c.UUID, c.Name); bad != "" {
			p.byFamily[Clusters].complain(i, "name", "%s", bad)
		}
		if !moment(nanos(c.CreatedOn)).Equal(c.CreatedOn) {
			p.byFamily[Clusters].complain(i, "createdOn", "%v cannot be stored, want a time from 1970 to 2262", c.CreatedOn)
		}
	}
	p.checkRules()
	if p.in.Name != "" && badName(p.in.Name) != "" {
		p.problem("site", "name", "%s", badName(p.in.Name))
	}
	if p.in.Name == "" && p.in.Settings != (appliance.Settings{}) {
		p.problem("site", "name", "is missing, although there are settings")
	}
	f := p.in.Settings.Freshness
	if f.Light < 0 || f.MovingShade < 0 || f.IdleShade < 0 || f.Power < 0 {
		p.problem("site", "freshness", "a target age cannot be negative")
	}
}

func (p *plan) checkBus(entry string, b appliance.Bus) {
	if bad := p.badName(b.UUID, b.Name); bad != "" {
		p.problem(entry, "name", "%s", bad)
	}
	if b.Driver == "" {
		p.problem(entry, "driver", "is missing")
	}
	if l := b.Line; l.BaudRate < 0 || l.DataBits < 0 || l.StopBits < 0 {
		p.problem(entry, "line", "a setting cannot be negative")
	}
}

func (p *plan) checkNode(i int, n appliance.Node) {
	complain := p.byFamily[Nodes].complain
	if bad := p.badName(n.UUID, n.Name); bad != "" {
		complain(i, "name", "%s", bad)
	}
	switch n.Tag {
	case "", appliance.TagNode, appliance.TagPeripheral:
	default:
		complain(i, "tag", "%q is unknown, want NODE or PERIPHERAL", n.Tag)
	}
	if bad := badNote(n.Note); bad != "" {
		complain(i, "note", "%s", bad)
	}
	seen := map[int]bool{}
	for _, o := range n.Outputs {
		if o < 1 || seen[o] {
			complain(i, "outputs", "%d: outputs count from 1 and appear once", o)
		}
		seen[o] = true
	}
}

func (p *plan) checkShade(i int, h appliance.Shade) {
	complain := p.byFamily[Shades].complain
	if bad := p.badName(h.UUID, h.Name); bad != "" {
		complain(i, "name", "%s", bad)
	}
	if h.Output < 1 {
		complain(i, "output", "%d: outputs count from 1", h.Output)
	}
	if h.TravelUp < 0 || h.TravelDown < 0 {
		complain(i, "travelUp, travelDown", "a time cannot be negative")
	}
}

// overridesOrder reports whether r has what follows shown in another order than it is
// written in (Unicode TR 9, 2.1 to 2.3): two names could look alike.
func overridesOrder(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// badName is the rule for one name of this import. Spaces around it, which other controllers allowed, stay where it has them
// already, here or where it was exported.
func (p *plan) badName(u appliance.UUID, s string) string {
	if was, here := p.called[u]; p.opts.asItWas || !u.IsZero() && (!here || was == s) {
		s = strings.TrimSpace(s)
	}
	return badName(s)
}

// calledNow are the names of what is living.
func calledNow(have appliance.Site) map[appliance.UUID]string {
	called := map[appliance.UUID]string{}
	for _, b := range have.Buses {
		called[b.UUID] = b.Name
	}
	for _, n := range have.Nodes {
		called[n.UUID] = n.Name
	}
	for _, h := range have.Shades {
		called[h.UUID] = h.Name
	}
	for _, c := range have.Clusters {
		called[c.UUID] = c.Name
	}
	return called
}

// badNote says what is wrong with a note, which may have several lines; empty if nothing is.
func badNote(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case utf8.RuneCountInString(s) > maxNote:
		return fmt.Sprintf("has %d characters, at most %d are possible", utf8.RuneCountInString(s), maxNote)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }):
		return "holds control characters"
	case strings.ContainsFunc(s, overridesOrder):
		return "holds characters that turn the order of others round"
	}
	return ""
}

// badName says what is wrong with a name; empty if nothing is.
func badName(s string) string {
	switch {
	case s == "":
		return "is missing"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("has %d characters, at most %d are possible", utf8.RuneCountInString(s), maxName)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "holds control characters"
	case strings.ContainsFunc(s, overridesOrder):
		return "holds characters that turn the order of others round"
	case strings.TrimSpace(s) != s:
		return "begins or ends with a space"
	}
	return ""
}
