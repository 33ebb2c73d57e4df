package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/drivers/dmx"
	"svc.internal/controller/drivers/modbus"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/site/schema"
	"svc.internal/controller/site/sitefile"
)

func newSiteCheck(a *App) *cobra.Command {
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
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", operations.ShownPath(f), said)
			}
			return errors.Join(bad...)
		},
	}
}

// check tells what a good file holds.
func (a *App) check(path string, in io.Reader) (string, error) {
	data, err := operations.Contents(path, in)
	if err != nil {
		return "", err
	}
	if modbus.IsProfile(data) {
		return "profile is good", checkProfile(path, data)
	}
	site, err := operations.CheckedSite(a.DataDir, path, bytes.NewReader(data))
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
	known := schema.Peek(data, &keys) // what it is not, the drivers word
	check := modbus.CheckProfile
	if known && keys.Slots != nil {
		check = dmx.CheckProfile
	}
	if err := check(operations.ShownPath(path), data); err != nil {
		return err
	}
	if file := keys.Name + ".yaml"; path != "-" && filepath.Base(path) != file {
		return fmt.Errorf("%s: name: is %q, so that the file must be called %s, or it is not found", path, keys.Name, file)
	}
	return nil
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
