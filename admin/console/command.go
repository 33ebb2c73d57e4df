package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

// meant is what a command is for: lights or shades.
type meant struct {
	one, all string // "light", "lights"
	// value is the kind of command that a number comes with, and what the number is, said with how to say it.
	value, number, example string
	target                 func(*App, *cobra.Command, string) (api.Target, error) // of an ID or a name
}

var (
	lightsMeant = meant{"light", "lights", "light-level", "a level", "how bright, in percent: controllerd light dim 40 LIGHT…", (*App).lightTarget}
	shadesMeant = meant{"shade", "shades", "shade-move-to", "a position", "how far open, in percent: controllerd shade set 40 SHADE…", (*App).shadeTarget}
)

// newCommand makes a command for lights or shades; a number of percent stands in front of them where the kind takes one.
func (a *App) newCommand(what meant, c *cobra.Command, kind string) *cobra.Command {
	var cluster string
	var all bool
	var wait time.Duration
	name := strings.ToUpper(what.one)
	c.Long = fmt.Sprintf(`%s.

%s is an ID or a name, see 'controllerd %s list'; instead of %s --cluster
names a cluster, --all means every %s.

Exit code: 0 every %s that answers has it, 1 not.`, c.Short, name, what.one, what.all, what.one, what.one)
	c.Flags().StringVar(&cluster, "cluster", "", "the members of this `cluster`, by ID or name")
	c.Flags().BoolVar(&all, "all", false, "every "+what.one)
	c.MarkFlagsMutuallyExclusive("cluster", "all")
	if what.one == "shade" {
		c.Long += `
With --wait it ends when all stand: 0 where they were sent, 1 elsewhere or not known.`
		c.Flags().DurationVar(&wait, "wait", 0, "wait until they stand, at most this `long`, such as 3m; without a value "+waitMost.String())
		c.Flags().Lookup("wait").NoOptDefVal = waitMost.String()
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		cmd := api.Command{Kind: kind, Why: "controllerd " + what.one}
		if kind == what.value {
			if len(given) == 0 {
				return cli.Usage(errors.New("say " + what.example))
			}
			percent, err := strconv.Atoi(strings.TrimSuffix(given[0], "%"))
			if err != nil || percent < 0 || percent > 100 {
				return cli.Usage(fmt.Errorf("%q: want %s of 0 to 100 percent in front of the %s", given[0], what.number, what.all))
			}
			if given = given[1:]; what.one == "light" {
				cmd.Level = &percent
			} else {
				cmd.Position = &percent
			}
		}
		if (len(given) > 0) == (cluster != "" || all) {
			return cli.Usage(oneOf(fmt.Sprintf("name the %s, or give --cluster or --all", what.all), len(given) > 0))
		}
		targets, err := a.targets(c, what, cluster, all, given)
		if err != nil {
			return err
		}
		return a.command(c, what, cmd, targets, *asJSON, wait)
	}
	return c
}

// targets are the things that were named, all of a cluster, or all there are.
func (a *App) targets(c *cobra.Command, what meant, cluster string, all bool, given []string) (targets []api.Target, err error) {
	switch {
	case all:
		return []api.Target{{Scope: "all"}}, nil
	case cluster != "":
		found, err := a.findCluster(c.Context(), cluster)
		return []api.Target{{Scope: "cluster", ID: found.ID}}, err
	}
	for _, said := range given {
		t, err := what.target(a, c, said)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (a *App) lightTarget(c *cobra.Command, said string) (api.Target, error) {
	lights, err := a.lights(c)
	if err != nil {
		return api.Target{}, err
	}
	n, err := find(lights, said, "light", "controllerd light list", nodeName)
	if err == nil && n.Fault != "" {
		err = fmt.Errorf("light %d (%s) is set aside: %s; nothing was sent", n.ID, n.Name, n.Fault)
	}
	return api.Target{Scope: "node", ID: n.ID}, err
}

func (a *App) shadeTarget(c *cobra.Command, said string) (api.Target, error) {
	s, err := a.findShade(c.Context(), said)
	if err == nil && s.Fault != "" {
		err = fmt.Errorf("shade %d (%s) is set aside: %s; nothing was sent", s.ID, s.Name, s.Fault)
	}
	return api.Target{Scope: "shade", ID: s.ID}, err
}

// command sends one command to each target and tells what became of it; it waits until the shades among them stand if wait is above 0.
func (a *App) command(c *cobra.Command, what meant, cmd api.Command, targets []api.Target, asJSON bool, wait time.Duration) error {
	entries := []api.Entry{}
	failed := 0
	for _, cmd.Target = range targets {
		var e api.Entry
		if err := a.local().call(c.Context(), http.MethodPost, "/commands", cmd, &e); err != nil {
			return needsDaemon(err)
		}
		if entries = append(entries, e); !e.OK {
			failed++
		}
	}
	var ends []stood
	if wait > 0 {
		var err error
		if ends, err = a.awaitShades(c.Context(), entries, wait); err != nil {
			return err
		}
	}
	if asJSON {
		if err := cli.PrintJSON(c.OutOrStdout(), entries); err != nil {
			return err
		}
	} else if err := a.showEntries(c, entries, ends); err != nil {
		return err
	}
	if failed > 0 || slices.ContainsFunc(ends, func(s stood) bool { return !s.there }) {
		return fmt.Errorf("not every %s has it", what.one)
	}
	return nil
}

// stageSaid is what became of a command at one light or shade.
var stageSaid = map[string]string{
	"observed": "done", "acknowledged": "done", "unverifiable": "sent; it cannot be read back", "offline": "offline, left out",
}

// showEntries lists what became of commands at each light and shade, and where shades that were waited for stand.
func (a *App) showEntries(c *cobra.Command, entries []api.Entry, ends []stood) error {
	nodes, err := a.nodes(c.Context())
	if err != nil {
		return err
	}
	lights := make(map[appliance.ID]api.Node, len(nodes))
	for _, n := range nodes {
		lights[n.ID] = n
	}
	shades := map[appliance.ID]string{}
	if slices.ContainsFunc(entries, func(e api.Entry) bool {
		return slices.ContainsFunc(e.Members, func(m api.Member) bool { return m.Shade != 0 })
	}) {
		list, err := a.shades(c.Context())
		if err != nil {
			return err
		}
		for _, s := range list {
			shades[s.ID] = s.Name
		}
	}
	var rows [][]string
	for _, e := range entries {
		first := len(rows)
		for _, m := range e.Members {
			row := lightRow(e, m, lights[m.Node])
			if m.Shade != 0 {
				row = shadeRow(m, shades[m.Shade], ends)
			}
			if slices.ContainsFunc(rows[first:], func(r []string) bool { return slices.Equal(r, row) }) {
				continue // another channel of it, of which the same is to be said
			}
			rows = append(rows, row)
		}
	}
	return cli.Listing(c, []string{"ID", "NAME", "BECAME"}, rows, "there was nothing to command")
}

func lightRow(e api.Entry, m api.Member, light api.Node) []string {
	became := stageSaid[m.Stage]
	switch {
	case became == "" && m.Channel > 0 && len(light.Channels) > 1:
		became = fmt.Sprintf("channel %d: %s", m.Channel, m.Error)
	case became == "":
		became = m.Error
	case became == "done" && e.Level != nil && *e.Level > 0 && *e.Level < 100 && !slices.Contains(light.Abilities, "dim"):
		became = "on: it cannot be dimmed"
	}
	return []string{fmt.Sprint(m.Node), light.Name, became}
}

func shadeRow(m api.Member, name string, ends []stood) []string {
	became := stageSaid[m.Stage]
	switch i := slices.IndexFunc(ends, func(s stood) bool { return s.id == m.Shade }); {
	case i >= 0:
		became = ends[i].said
	case became == "done":
		became = "begun"
	case became == "":
		became = m.Error
	}
	return []string{fmt.Sprint(m.Shade), name, became}
}
