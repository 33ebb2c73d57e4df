package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newScene(a *App) *cobra.Command {
	scene := cli.Group(&cobra.Command{Use: "scene", Short: "List scenes and recall them"})
	scene.AddCommand(newSceneList(a), newSceneRecall(a))
	return scene
}

func newSceneList(a *App) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List scenes, where they are offered and how much they do", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		scenes, err := a.scenes(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), scenes)
		}
		clusters, err := a.clusters(c.Context())
		if err != nil {
			return err
		}
		names := map[appliance.ID]string{0: "the whole building"}
		for _, cl := range clusters {
			names[cl.ID] = cl.Name
		}
		var rows [][]string
		for _, s := range scenes {
			rows = append(rows, []string{fmt.Sprint(s.ID), s.Name, names[s.Cluster], fmt.Sprint(len(s.Actions))})
		}
		return cli.Listing(c, []string{"ID", "NAME", "CLUSTER", "ACTIONS"}, rows, "the site has no scenes; make one on the controller's pages, or in a site file")
	}
	return c
}

func (a *App) scenes(ctx context.Context) (list []api.Scene, err error) {
	err = a.local().get(ctx, "/scenes", &list)
	return list, needsDaemon(err)
}

func newSceneRecall(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "recall SCENE",
		Short: "Recall a scene",
		Long: `Recall a scene and tell what became of it. SCENE is an ID or a name, see 'controllerd scene list'.

Exit code: 0 everything that answers has it, 1 not.`,
		Example: "  controllerd scene recall Evening",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		scenes, err := a.scenes(c.Context())
		if err != nil {
			return err
		}
		s, err := find(scenes, given[0], "scene", "controllerd scene list", func(s *api.Scene) (appliance.ID, string) { return s.ID, s.Name })
		if err != nil {
			return err
		}
		return a.carryOut(c, pathOf("scenes", fmt.Sprint(s.ID), "recall"), *asJSON)
	}
	return c
}

// carryOut asks the daemon for what does several commands at once, and tells what became of each.
func (a *App) carryOut(c *cobra.Command, path string, asJSON bool) error {
	var done api.Done
	if err := a.local().call(c.Context(), http.MethodPost, path, nil, &done); err != nil {
		return needsDaemon(err)
	}
	if asJSON {
		if err := cli.PrintJSON(c.OutOrStdout(), done); err != nil {
			return err
		}
	} else {
		entries := []api.Entry{}
		for _, id := range done.Entries {
			var e api.EntryDetail
			if err := a.local().get(c.Context(), pathOf("ledger", id), &e); err != nil {
				return needsDaemon(err)
			}
			entries = append(entries, e.Entry)
		}
		if err := a.showEntries(c, entries, nil); err != nil {
			return err
		}
	}
	if !done.OK {
		return errors.New(done.Error)
	}
	return nil
}
