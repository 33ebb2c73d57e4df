package console

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/cli"
)

func newBusIdentify(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "identify BUS ADDRESS",
		Short: "Make one device show itself: a lamp blinks, a motor winks",
		Long: `Make one device show itself, configured or not, so that somebody in the room sees which
one it is. The daemon must be running; its bus goes on obeying commands meanwhile.

Modbus devices cannot show themselves: their lights blink three times by ordinary commands
and are left as they were. Of several nodes that share a device, 'controllerd node identify'
blinks one. Of a device that the site does not have, say what it is with --profile: the
first of its outputs is switched, or that of --output, and put back.`,
		Example: "  controllerd bus identify shades-east 1A.2B.3C",
		Args:    cli.Args(cobra.ExactArgs(2)),
	}
	in := api.JobRequest{Kind: "identify"}
	c.Flags().StringVar(&in.Profile, "profile", "", "what the device is, where the site does not say it")
	c.Flags().IntVar(&in.Output, "output", 0, "which output of it is switched; 0: the first")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		in.Bus, in.Address = given[0], given[1]
		return a.identify(c, in, given[1]+" on "+given[0], *asJSON)
	}
	return c
}

// identify has the daemon make something show itself, and tells that it did.
func (a *App) identify(c *cobra.Command, in api.JobRequest, what string, asJSON bool) error {
	done, err := doJob[any](c.Context(), a.local(), in, nil)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), done.Job)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s was told to show itself\n", what)
	return err
}
