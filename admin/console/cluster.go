package console

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newCluster(a *App) *cobra.Command {
	cluster := cli.Group(&cobra.Command{Use: "cluster", Short: "List clusters: sets of lights and shades that are commanded as one"})
	cluster.AddCommand(newClusterList(a))
	return cluster
}

func newClusterList(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List clusters, their members and how bright or open these are",
		Long: `List clusters, their members and how bright or open these are. LEVEL and POSITION are the
mean over the members that answer, with the lowest and highest where they differ.`,
		Args: cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		clusters, err := a.clusters(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), clusters)
		}
		var rows [][]string
		for _, cl := range clusters {
			members := len(cl.Nodes) + len(cl.Shades)
			rows = append(rows, []string{fmt.Sprint(cl.ID), cl.Name, fmt.Sprint(cl.Lights), fmt.Sprint(len(cl.Shades)), fmt.Sprintf("%d/%d", cl.Online, members),
				shownMean(cl.Level, cl.LevelMin, cl.LevelMax), shownMean(cl.Position, cl.PosMin, cl.PosMax)})
		}
		return cli.Listing(c, []string{"ID", "NAME", "LIGHTS", "SHADES", "ONLINE", "LEVEL", "POSITION"}, rows,
			"the site has no clusters; write them in a site file and import it: controllerd site import FILE")
	}
	return c
}

func shownMean(mean, least, most *int) string {
	switch {
	case mean == nil:
		return "-"
	case *least != *most:
		return fmt.Sprintf("%d %% (%d to %d)", *mean, *least, *most)
	}
	return fmt.Sprintf("%d %%", *mean)
}

func (a *App) clusters(ctx context.Context) (list []api.Cluster, err error) {
	err = a.local().get(ctx, "/clusters", &list)
	return list, needsDaemon(err)
}

func (a *App) findCluster(ctx context.Context, said string) (found api.Cluster, err error) {
	clusters, err := a.clusters(ctx)
	if err != nil {
		return found, err
	}
	return find(clusters, said, "cluster", "controllerd cluster list", func(c *api.Cluster) (appliance.ID, string) { return c.ID, c.Name })
}
