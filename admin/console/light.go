package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newLight(a *App) *cobra.Command {
	light := cli.Group(&cobra.Command{Use: "light", Short: "List lights, switch and dim them"})
	light.AddCommand(newLightList(a))
	light.AddCommand(newLightCommand(a, &cobra.Command{
		Use: "on [LIGHT…]", Short: "Switch lights on, at the level they had",
		Example: "  controllerd light on 7 \"Lobby south\"\n  controllerd light on --cluster Lobby",
	}, "light-on"))
	light.AddCommand(newLightCommand(a, &cobra.Command{
		Use: "off [LIGHT…]", Short: "Switch lights off",
		Example: "  controllerd light off --all",
	}, "light-off"))
	light.AddCommand(newLightCommand(a, &cobra.Command{
		Use: "dim PERCENT [LIGHT…]", Short: "Dim lights",
		Example: "  controllerd light dim 40 7 8\n  controllerd light dim 25 --cluster 3",
	}, "light-level"))
	return light
}

func newLightList(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List lights, how bright they are and whether they answer",
		Args:  cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		lights, err := a.lights(c)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), lights)
		}
		var rows [][]string
		for _, n := range lights {
			rows = append(rows, []string{fmt.Sprint(n.ID), n.Name, shownValue(n.Level, "%d %%"), shownValue(n.Kelvin, "%d K"), shownColour(n.RGBW),
				shownValue(n.Power, "%.1f W"), orDash(n.Bus), nodeState(n)})
		}
		return cli.Listing(c, []string{"ID", "NAME", "LEVEL", "COLOUR TEMPERATURE", "COLOUR", "POWER", "BUS", "STATE"}, rows,
			"the site has no lights; write them in a site file and import it: controllerd site import FILE")
	}
	return c
}

// lights are the nodes that can be switched or dimmed. What is set aside shows no abilities:
// it counts as a light, unless it is known to be something else.
func (a *App) lights(c *cobra.Command) ([]api.Node, error) {
	nodes, err := a.nodes(c.Context())
	if err != nil {
		return nil, err
	}
	others, err := a.noLights(c.Context(), nodes)
	if err != nil {
		return nil, err
	}
	lights := []api.Node{}
	for _, n := range nodes {
		lit := slices.ContainsFunc(n.Abilities, func(can string) bool { return slices.Contains([]string{"switch", "dim", "tune", "colour"}, can) })
		if n.Tag == string(appliance.TagNode) && (lit || n.Waits || n.Fault != "") || n.Fault != "" && !others[n.ID] {
			lights = append(lights, n)
		}
	}
	return lights, nil
}

// noLights are the nodes among those set aside that are known to be no lights: shades hang
// off them, or they are on a bus that is disabled, whose lights are told apart.
func (a *App) noLights(ctx context.Context, nodes []api.Node) (map[appliance.ID]bool, error) {
	if !slices.ContainsFunc(nodes, func(n api.Node) bool { return n.Fault != "" }) {
		return nil, nil
	}
	shades, err := a.shades(ctx)
	if err != nil {
		return nil, err
	}
	var buses []api.Bus
	if err := a.local().get(ctx, "/buses", &buses); err != nil {
		return nil, err
	}
	others := map[appliance.ID]bool{}
	for _, sh := range shades {
		others[sh.Node] = true
	}
	for _, n := range nodes {
		if slices.ContainsFunc(buses, func(b api.Bus) bool { return b.Name == n.Bus && b.Disabled }) {
			others[n.ID] = true
		}
	}
	return others, nil
}

// shownValue is a value, or a dash where nobody knows it.
func shownValue[T any](v *api.Value[T], format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, v.Value)
}

func shownColour(v *api.Value[api.Colour]) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%d %d %d %d", v.Value.R, v.Value.G, v.Value.B, v.Value.W)
}

// lightTargets says which lights are meant.
type lightTargets struct {
	cluster string
	all     bool
}

// newLightCommand makes a command for lights, the level of one that dims in front of them.
func newLightCommand(a *App, c *cobra.Command, kind string) *cobra.Command {
	var to lightTargets
	c.Long = c.Short + `. LIGHT is an ID or a name, see 'controllerd light list'; instead of lights --cluster
names a cluster, --all means every light.

Exit code: 0 every light that answers has it, 1 not.`
	c.Flags().StringVar(&to.cluster, "cluster", "", "the members of this `cluster`, by ID or name")
	c.Flags().BoolVar(&to.all, "all", false, "every light")
	c.MarkFlagsMutuallyExclusive("cluster", "all")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		cmd := api.Command{Kind: kind, Why: "controllerd light"}
		if kind == "light-level" {
			if len(given) == 0 {
				return cli.Usage(errors.New("say how bright, in percent: controllerd light dim 40 LIGHT…"))
			}
			level, err := strconv.Atoi(strings.TrimSuffix(given[0], "%"))
			if err != nil || level < 0 || level > 100 {
				return cli.Usage(fmt.Errorf("%q: want a level of 0 to 100 percent in front of the lights", given[0]))
			}
			cmd.Level, given = &level, given[1:]
		}
		if (len(given) > 0) == (to.cluster != "" || to.all) {
			return cli.Usage(oneOf("name the lights, or give --cluster or --all", len(given) > 0))
		}
		targets, err := a.lightTargets(c, to, given)
		if err != nil {
			return err
		}
		return a.command(c, cmd, targets, *asJSON)
	}
	return c
}

func (a *App) lightTargets(c *cobra.Command, to lightTargets, given []string) (targets []api.Target, err error) {
	switch {
	case to.all:
		return []api.Target{{Scope: "all"}}, nil
	case to.cluster != "":
		found, err := a.findCluster(c.Context(), to.cluster)
		return []api.Target{{Scope: "cluster", ID: found.ID}}, err
	}
	lights, err := a.lights(c)
	if err != nil {
		return nil, err
	}
	for _, said := range given {
		n, err := find(lights, said, "light", "controllerd light list", nodeName)
		if err != nil {
			return nil, err
		}
		if n.Fault != "" {
			return nil, fmt.Errorf("light %d (%s) is set aside: %s; nothing was sent", n.ID, n.Name, n.Fault)
		}
		targets = append(targets, api.Target{Scope: "node", ID: n.ID})
	}
	return targets, nil
}

// command sends one command to each target and tells what became of it.
func (a *App) command(c *cobra.Command, cmd api.Command, targets []api.Target, asJSON bool) error {
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
	if asJSON {
		if err := cli.PrintJSON(c.OutOrStdout(), entries); err != nil {
			return err
		}
	} else if err := a.showEntries(c, entries); err != nil {
		return err
	}
	if failed > 0 {
		return errors.New("not every light has it")
	}
	return nil
}

// stageSaid is what became of a command at one light.
var stageSaid = map[string]string{
	"observed": "done", "acknowledged": "done", "unverifiable": "sent; it cannot be read back", "offline": "offline, left out",
}

func (a *App) showEntries(c *cobra.Command, entries []api.Entry) error {
	nodes, err := a.nodes(c.Context())
	if err != nil {
		return err
	}
	lights := make(map[appliance.ID]api.Node, len(nodes))
	for _, n := range nodes {
		lights[n.ID] = n
	}
	var rows [][]string
	for _, e := range entries {
		first := len(rows)
		for _, m := range e.Members {
			light, became := lights[m.Node], stageSaid[m.Stage]
			switch {
			case became == "" && m.Channel > 0 && len(light.Channels) > 1:
				became = fmt.Sprintf("channel %d: %s", m.Channel, m.Error)
			case became == "":
				became = m.Error
			case became == "done" && e.Level != nil && *e.Level > 0 && *e.Level < 100 && !slices.Contains(light.Abilities, "dim"):
				became = "on: it cannot be dimmed"
			}
			row := []string{fmt.Sprint(m.Node), light.Name, became}
			if slices.ContainsFunc(rows[first:], func(r []string) bool { return slices.Equal(r, row) }) {
				continue // another channel of it, of which the same is to be said
			}
			rows = append(rows, row)
		}
	}
	return cli.Listing(c, []string{"ID", "NAME", "BECAME"}, rows, "there was no light to command")
}
