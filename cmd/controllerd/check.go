package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cli"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/dmx"
	"svc.internal/controller/drivers/modbus"
	"svc.internal/controller/schema"
	"svc.internal/controller/sitefile"
)

func newSiteCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE…",
		Short: "Check site files and device profiles; report file, line and key",
		Long: `Check site files and device profiles without changing anything. A file whose top level
has the key "outputs" and no "buses" is taken for a device profile (of a DMX fixture if
it has "slots", else of a Modbus device), any other for a site. Everything wrong is reported as file:line:column: key: what to do.
Profiles that a site names are looked up among the built-in ones and in the folder
profiles of the data directory. With - for a file standard input is read.`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			var bad []error
			for _, f := range files {
				said, err := a.check(f, c.InOrStdin())
				if err != nil {
					bad = append(bad, err)
					continue
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", shownPath(f), said)
			}
			return errors.Join(bad...)
		},
	}
}

// check tells what a good file holds.
func (a *app) check(path string, in io.Reader) (string, error) {
	data, err := contents(path, in)
	if err != nil {
		return "", err
	}
	if modbus.IsProfile(data) {
		return "profile is good", checkProfile(path, data)
	}
	site, err := a.checkedSite(path, bytes.NewReader(data))
	return fmt.Sprintf("site is good: %d buses, %d nodes, %d shades, %d clusters",
		len(site.Buses), len(site.Nodes), len(site.Shades), len(site.Clusters)), err
}

// checkProfile tells what is wrong with a profile: of a DMX fixture if it counts slots,
// else of a Modbus device.
func checkProfile(path string, data []byte) error {
	var keys struct {
		Name  string
		Slots any
	}
	mistyped := yaml.Unmarshal(data, &keys) // which the drivers word
	check := modbus.CheckProfile
	if mistyped == nil && keys.Slots != nil {
		check = dmx.CheckProfile
	}
	if err := check(shownPath(path), data); err != nil {
		return err
	}
	if file := keys.Name + ".yaml"; path != "-" && filepath.Base(path) != file {
		return fmt.Errorf("%s: name: is %q, so that the file must be called %s, or it is not found", path, keys.Name, file)
	}
	return nil
}

// contents reads a file, or for - what comes in. A byte more than any may have is
// enough to see that it has too many.
func contents(path string, in io.Reader) ([]byte, error) {
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
		return nil, fmt.Errorf("read %s: %w", shownPath(path), err)
	}
	return data, nil
}

// shownPath is how a file is called in what is said about it.
func shownPath(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// checkedSite reads a site file, or for - what comes in, and asks every driver what
// it thinks of its part, whatever else is wrong with the file.
func (a *app) checkedSite(path string, in io.Reader) (appliance.Site, error) {
	data, err := contents(path, in)
	if err != nil {
		return appliance.Site{}, fmt.Errorf("read the site file: %w", err)
	}
	site, doc, err := sitefile.Decode(shownPath(path), data)
	if doc == nil {
		return appliance.Site{}, err
	}
	var problems schema.Problems
	errors.As(err, &problems)
	asked := site
	asked.Buses = slices.Clone(site.Buses)
	for i := range asked.Buses {
		if saidOf(problems, fmt.Sprintf("buses[%d].line", i)) {
			asked.Buses[i].Line = appliance.LineSettings{}
		}
	}
	s := appliance.New(appliance.Options{Drivers: drivers.All, DataDir: a.dataDir}).Rehearse(asked)
	say := inWordsOf(site)
	for i, b := range site.Buses {
		for _, fault := range s.Faults {
			if fault.Where == "bus "+b.Name {
				problems = append(problems, doc.Problem(fmt.Sprintf("buses[%d]", i), "%s", withoutBus(say(fault.What), b)))
			}
		}
	}
	for _, n := range s.Nodes {
		if n.Fault != "" && !strings.HasPrefix(n.Fault, "its bus") {
			problems = append(problems, doc.Problem(fmt.Sprintf("nodes[%d]", slices.IndexFunc(site.Nodes, func(o appliance.Node) bool { return o.ID == n.Node.ID })), "%s", say(n.Fault)))
		}
	}
	for _, sh := range s.Shades {
		// What follows from a broken bus or node is told there.
		entry := fmt.Sprintf("shades[%d]", slices.IndexFunc(site.Shades, func(o appliance.Shade) bool { return o.ID == sh.Shade.ID }))
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

func newSiteSchema() *cobra.Command {
	return &cobra.Command{
		Use:       "schema site|profile|dmx-profile",
		Short:     "Print the JSON Schema of site files or device profiles, for editors",
		ValidArgs: []string{"site", "profile", "dmx-profile"},
		Args:      cli.Args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		RunE: func(c *cobra.Command, which []string) error {
			schemas := map[string]func() []byte{"site": sitefile.Schema, "profile": modbus.ProfileSchema, "dmx-profile": dmx.ProfileSchema}
			_, err := c.OutOrStdout().Write(schemas[which[0]]())
			return err
		},
	}
}
