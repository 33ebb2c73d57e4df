package console

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newLight(a *App) *cobra.Command {
	light := cli.Group(&cobra.Command{Use: "light", Short: "List lights, switch and dim them"})
	light.AddCommand(newLightList(a))
	light.AddCommand(a.newCommand(lightsMeant, &cobra.Command{
		Use: "on [LIGHT…]", Short: "Switch lights on, at the level they had",
		Example: "  controllerd light on 7 \"Lobby south\"\n  controllerd light on --cluster Lobby",
	}, "light-on"))
	light.AddCommand(a.newCommand(lightsMeant, &cobra.Command{
		Use: "off [LIGHT…]", Short: "Switch lights off",
		Example: "  controllerd light off --all",
	}, "light-off"))
	light.AddCommand(a.newCommand(lightsMeant, &cobra.Command{
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
