package console

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"svc.internal/controller/drivers"
	"svc.internal/controller/shelf/cli"
)

func newProfiles(a *App) *cobra.Command {
	var driver string
	c := &cobra.Command{Use: "profiles", Short: "List the built-in device profiles and their sources, by driver", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.Flags().StringVar(&driver, "driver", "", "only those of one `driver`: dali, dmx, modbus or sdn")
	c.RunE = func(c *cobra.Command, _ []string) error {
		drivers.CheckOwnProfiles(a.DataDir, func(err error) {
			fmt.Fprintf(c.ErrOrStderr(), "an own profile cannot be used: %v\n", err)
		})
		list := drivers.Profiles()
		if driver != "" {
			list = slices.DeleteFunc(list, func(p drivers.Profile) bool { return p.Driver != driver })
			if len(list) == 0 {
				return cli.Usage(fmt.Errorf("--driver %q: want dali, dmx, modbus or sdn", driver))
			}
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), list)
		}
		var rows [][]string
		for _, p := range list {
			rows = append(rows, []string{p.Driver, p.Name, p.Title, p.Source})
		}
		return cli.Table(c.OutOrStdout(), []string{"DRIVER", "PROFILE", "DEVICE", "SOURCE"}, rows)
	}
	return c
}
