package operations

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/drivers"
	"svc.internal/controller/site/schema"
	"svc.internal/controller/site/sitefile"
)

// Contents reads a file, or for - what comes in. A byte more than any may have is
// enough to see that it has too many.
func Contents(path string, in io.Reader) ([]byte, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, schema.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ShownPath(path), err)
	}
	return data, nil
}

// ShownPath is how a file is called in what is said about it.
func ShownPath(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// CheckedSite reads a site file, or for - what comes in, and asks every driver what
// it thinks of its part, whatever else is wrong with the file.
func CheckedSite(dataDir, path string, in io.Reader) (appliance.Site, error) {
	data, err := Contents(path, in)
	if err != nil {
		return appliance.Site{}, fmt.Errorf("read the site file: %w", err)
	}
	site, doc, err := sitefile.Decode(ShownPath(path), data)
	if doc == nil {
		return appliance.Site{}, err
	}
	var problems schema.Problems
	errors.As(err, &problems)
	if problems.Full() {
		return site, err
	}
	asked := site
	asked.Buses = slices.Clone(site.Buses)
	for i := range asked.Buses {
		if saidOf(problems, fmt.Sprintf("buses[%d].line", i)) {
			asked.Buses[i].Line = appliance.LineSettings{}
		}
	}
	s := control.New(control.Options{Drivers: drivers.All, DataDir: dataDir}).Rehearse(asked)
	say := inWordsOf(site)
	for i, b := range site.Buses {
		for _, fault := range s.Faults {
			if fault.Where == "bus "+b.Name {
				problems = append(problems, doc.Problem(fmt.Sprintf("buses[%d]", i), "%s", withoutBus(say(fault.What), b)))
			}
		}
	}
	nodeAt, shadeAt := map[appliance.ID]int{}, map[appliance.ID]int{}
	for i, n := range site.Nodes {
		nodeAt[n.ID] = i
	}
	for i, sh := range site.Shades {
		shadeAt[sh.ID] = i
	}
	for _, n := range s.Nodes {
		if problems.Full() {
			return site, problems.Err()
		}
		if n.Fault != "" && !strings.HasPrefix(n.Fault, "its bus") {
			problems = append(problems, doc.Problem(fmt.Sprintf("nodes[%d]", nodeAt[n.Node.ID]), "%s", say(n.Fault)))
		}
	}
	for _, sh := range s.Shades {
		// What follows from a broken bus or node is told there.
		entry := fmt.Sprintf("shades[%d]", shadeAt[sh.Shade.ID])
		if sh.Fault != "" && !strings.HasPrefix(sh.Fault, "its bus") && !strings.Contains(sh.Fault, " is set aside: ") && !saidOf(problems, entry+".output") {
			problems = append(problems, doc.Problem(entry, "%s", say(sh.Fault)))
		}
	}
	return site, problems.Err()
}

// saidOf reports whether a key, or what is below it, is among the problems already.
func saidOf(problems schema.Problems, key string) bool {
	return slices.ContainsFunc(problems, func(p schema.Problem) bool { return p.Key == key || strings.HasPrefix(p.Key, key+".") })
}

// placeholder is how a message names an entry that has no ID yet: by a number below 0.
var placeholder = regexp.MustCompile(`\b(node|shade) (-[0-9]+)`)

// inWordsOf turns what a driver says of entries without an ID into places of the
// file: "node -1" becomes "nodes[0] (Lobby)".
func inWordsOf(site appliance.Site) func(string) string {
	type entry struct{ place, name string }
	entries := map[string]entry{}
	for i, n := range site.Nodes {
		entries[fmt.Sprintf("node %d", n.ID)] = entry{fmt.Sprintf("nodes[%d]", i), " (" + n.Name + ")"}
	}
	for i, sh := range site.Shades {
		entries[fmt.Sprintf("shade %d", sh.ID)] = entry{fmt.Sprintf("shades[%d]", i), " (" + sh.Name + ")"}
	}
	return func(text string) string {
		var out strings.Builder
		for {
			at := placeholder.FindStringIndex(text)
			if at == nil {
				out.WriteString(text)
				return out.String()
			}
			e, ok := entries[text[at[0]:at[1]]]
			out.WriteString(text[:at[0]])
			switch rest := text[at[1]:]; {
			case !ok:
				out.WriteString(text[at[0]:at[1]])
			case strings.HasPrefix(rest, e.name):
				out.WriteString(e.place) // the name follows
			default:
				out.WriteString(e.place + e.name)
			}
			text = text[at[1]:]
		}
	}
}

// withoutBus leaves out what the place in the file tells already.
func withoutBus(text string, b appliance.Bus) string {
	text = strings.TrimPrefix(text, "bus "+b.Name+": ")
	return strings.TrimPrefix(text, "bus "+b.Name+" ("+b.Port+"): ")
}
