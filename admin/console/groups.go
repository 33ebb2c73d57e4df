package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/cli"
)

func newBusGroups(a *App) *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use:   "groups BUS",
		Short: "Show which groups the devices of a bus hold, and bring them in step with the clusters",
		Long: `Show which groups the devices of a bus hold and which they should hold, so that a
cluster moves by one frame. Groups marked * are somebody else's and are left alone.
The daemon must be running. What is shown is what it last read; it reads the tables
after the start, when a device comes back, and now and then.

--write reads all tables again and writes what differs, whether or not the bus has the
option groups: keep. Lights and shades go on obeying meanwhile. Without groups: keep
nothing else ever writes a table.

Exit code 1 if devices are not in step after --write.`,
		Example: "  controllerd bus groups facade-east\n  controllerd bus groups facade-east --write",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.Flags().BoolVar(&write, "write", false, "bring the tables in step now")
	c.RunE = func(c *cobra.Command, names []string) error {
		client := a.local()
		var failed error
		if write {
			failed = writeGroups(c.Context(), client, names[0], c.ErrOrStderr())
		}
		var groups api.Groups
		if err := client.get(c.Context(), pathOf("buses", names[0], "groups"), &groups); err != nil {
			return cmp.Or(failed, err)
		}
		show := showGroups
		if *asJSON {
			show = func(w io.Writer, g api.Groups) error { return cli.PrintJSON(w, g) }
		}
		return cmp.Or(failed, show(c.OutOrStdout(), groups))
	}
	return c
}

// writeGroups brings the tables in step and tells people how it goes.
func writeGroups(ctx context.Context, client *local, bus string, progress io.Writer) error {
	_, err := doJob(ctx, client, api.JobRequest{Kind: "groups", Bus: bus}, stepTeller(progress))
	return err
}

// stepTeller prints each step of a job that brings groups in step once.
func stepTeller(progress io.Writer) func(job[api.GroupStep]) error {
	told := map[string]string{}
	return func(j job[api.GroupStep]) error {
		for _, s := range j.Items {
			if told[s.Device] == s.What {
				continue
			}
			told[s.Device] = s.What
			if s.Device == "" {
				fmt.Fprintln(progress, s.What)
			} else {
				fmt.Fprintf(progress, "%s: %s\n", s.Device, s.What)
			}
		}
		return nil
	}
}

// showGroups prints the clusters with their groups, then the devices.
func showGroups(w io.Writer, g api.Groups) error {
	var rows [][]string
	inClusters := map[string][]string{}
	for _, c := range g.Clusters {
		state := c.Why
		if c.Ready {
			state = "in use"
		}
		rows = append(rows, []string{fmt.Sprint(c.ID), c.Name, fmt.Sprint(len(c.Members)), cmp.Or(c.Group, "-"), state})
		for _, m := range c.Members {
			inClusters[m] = append(inClusters[m], c.Name)
		}
	}
	mode := map[string]string{
		"use":  "groups: use (tables are read, and written only with --write)",
		"keep": "groups: keep (tables are read and written)",
		"off":  "groups: off (tables are neither read nor written)",
	}[g.Mode]
	if _, err := fmt.Fprintln(w, mode); err != nil || g.Mode == "off" {
		return err
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
		if err := cli.Table(w, []string{"CLUSTER", "NAME", "MEMBERS", "GROUP", "STATE"}, rows); err != nil {
			return err
		}
	}
	rows = nil
	for _, d := range g.Devices {
		has := slices.Clone(d.Has)
		for i := range has {
			if slices.Contains(d.Foreign, has[i]) {
				has[i] += "*"
			}
		}
		held := cmp.Or(strings.Join(has, " "), "none")
		if !d.Known {
			held = "not read yet"
		}
		rows = append(rows, []string{d.Device, held, cmp.Or(strings.Join(d.Should, " "), "none"), deviceState(d), strings.Join(inClusters[d.Device], ", ")})
	}
	fmt.Fprintln(w)
	return cli.Table(w, []string{"DEVICE", "HAS", "SHOULD HAVE", "STATE", "CLUSTERS"}, rows)
}

func deviceState(d api.GroupDevice) string {
	switch {
	case !d.Online:
		return "offline"
	case d.Trouble != "":
		return d.Trouble
	case !d.Known:
		return "being read"
	case !d.InStep:
		return "to be written"
	}
	return "in step"
}
