package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/cli"
)

func newBusService(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "service BUS [JOB [NAME=VALUE …]]",
		Short: "Do a job of a bus's own kind: labels and locks of motors, scenes of gear",
		Long: `Do a job that devices of one kind know and others do not: read and write a motor's
label, lock it, read the scenes of DALI gear. With a bus alone the jobs of its driver
are listed, with what each has to be told. The daemon must be running; the bus goes on
obeying commands between the frames of a job.`,
		Example: `  controllerd bus service shades-east
  controllerd bus service shades-east motor address=06.1A.2B
  controllerd bus service shades-east label address=06.1A.2B text="Board room 1"
  controllerd bus service second-floor scenes address=5`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		client := a.local()
		if len(given) == 1 {
			return listServices(c, client, given[0], *asJSON)
		}
		inputs := make(map[string]string)
		for _, text := range given[2:] {
			key, value, ok := strings.Cut(text, "=")
			if _, twice := inputs[key]; !ok || twice {
				return cli.Usage(fmt.Errorf("%q: want each input once, as NAME=VALUE", text))
			}
			inputs[key] = value
		}
		view := newServiceView(c)
		if err := view.run(c.Context(), client, given[0], given[1], inputs); err != nil {
			return err
		}
		return view.show(*asJSON)
	}
	return c
}

// listServices shows which jobs a bus has.
func listServices(c *cobra.Command, client *local, bus string, asJSON bool) error {
	var list []api.Service
	if err := client.get(c.Context(), pathOf("buses", bus, "services"), &list); err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(c.OutOrStdout(), list)
	}
	if len(list) == 0 {
		fmt.Fprintf(c.OutOrStdout(), "the driver of %s has no jobs of its own\n", bus)
		return nil
	}
	for _, s := range list {
		fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", s.Name, s.About)
		for _, in := range s.Inputs {
			need := ""
			if in.Required {
				need = " (required)"
			}
			fmt.Fprintf(c.OutOrStdout(), "    %s=…  %s%s\n", in.Name, in.About, need)
		}
	}
	return nil
}

// serviceView follows a job: steps for people on a terminal, what was learned for
// the end.
type serviceView struct {
	out      io.Writer
	progress io.Writer // nil: nobody is watching
	told     []api.ServiceStep
}

func newServiceView(c *cobra.Command) *serviceView {
	v := &serviceView{out: c.OutOrStdout()}
	if f, ok := c.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		v.progress = f
	}
	return v
}

// run does a job. What was learned before an error is kept.
func (v *serviceView) run(ctx context.Context, client *local, bus, name string, inputs map[string]string) error {
	done, err := doJob(ctx, client, api.JobRequest{Kind: "service", Bus: bus, Service: name, Inputs: inputs}, v.follow)
	return v.ended(done, err)
}

// follow shows how far a job is.
func (v *serviceView) follow(j job[api.ServiceStep]) error {
	switch {
	case v.progress == nil || j.Progress.Text == "":
	case j.Progress.Share > 0:
		fmt.Fprintf(v.progress, "\r%3.0f %% %-60.60s", 100*j.Progress.Share, j.Progress.Text)
	default:
		fmt.Fprintf(v.progress, "\r      %-60.60s", j.Progress.Text)
	}
	return nil
}

// ended takes what a job learned.
func (v *serviceView) ended(j job[api.ServiceStep], err error) error {
	v.endProgress()
	v.told = j.Items
	if errors.Is(err, errStopped) {
		return errors.New("stopped before the job was done")
	}
	return err
}

func (v *serviceView) endProgress() {
	if v.progress != nil {
		fmt.Fprintf(v.progress, "\r%66s\r", "")
	}
}

// show prints what was learned: a table of devices, or a list about one.
func (v *serviceView) show(asJSON bool) error {
	if asJSON {
		out := []map[string]any{}
		for _, e := range v.told {
			row := map[string]any{"address": e.Address}
			for _, f := range e.Facts {
				row[f.Name] = f.Value
			}
			out = append(out, row)
		}
		return cli.PrintJSON(v.out, out)
	}
	switch len(v.told) {
	case 0:
		fmt.Fprintln(v.out, "done")
		return nil
	case 1:
		rows := [][]string{}
		if len(v.told[0].Facts) == 0 {
			rows = append(rows, []string{"nothing is set", ""})
		}
		for _, f := range v.told[0].Facts {
			rows = append(rows, []string{f.Name, fmt.Sprint(f.Value)})
		}
		return cli.Table(v.out, []string{"ADDRESS", v.told[0].Address}, rows)
	}
	var names []string
	for _, e := range v.told {
		for _, f := range e.Facts {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	var rows [][]string
	for _, e := range v.told {
		row := append([]string{e.Address}, slices.Repeat([]string{"-"}, len(names))...)
		for _, f := range e.Facts {
			row[1+slices.Index(names, f.Name)] = fmt.Sprint(f.Value)
		}
		if len(e.Facts) == 0 {
			row = []string{e.Address, "nothing is set"}
		}
		rows = append(rows, row)
	}
	return cli.Table(v.out, append([]string{"ADDRESS"}, upper(names)...), rows)
}

func upper(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, strings.ToUpper(w))
	}
	return out
}
