package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"svc.internal/controller/adminapi"
	"svc.internal/controller/appliance"
	"svc.internal/controller/cli"
)

func newNode(a *app) *cobra.Command {
	node := cli.Group(&cobra.Command{Use: "node", Short: "List nodes, rename them, replace their devices, find them"})
	node.AddCommand(newNodeList(a), newNodeRename(a), newNodeReplace(a), newNodeIdentify(a))
	return node
}

func newNodeList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List nodes: lights, meters and what shades hang off",
		Args:  cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		nodes, err := a.nodes(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), nodes)
		}
		var rows [][]string
		for _, n := range nodes {
			address := n.Address
			if len(n.Outputs) > 0 {
				address += fmt.Sprintf(" %v", n.Outputs)
			}
			rows = append(rows, []string{fmt.Sprint(n.ID), n.Name, orDash(n.Bus), orDash(address), orDash(n.Profile), moment(n.LastSeen), nodeState(n)})
		}
		return cli.Listing(c, []string{"ID", "NAME", "BUS", "ADDRESS", "PROFILE", "LAST SEEN", "STATE"}, rows,
			"the site has no nodes; write them in a site file and import it: controllerd site import FILE")
	}
	return c
}

// nodes asks the daemon; without one nothing is known of them but the site.
func (a *app) nodes(ctx context.Context) (list []adminapi.Node, err error) {
	err = a.local().get(ctx, "/nodes", &list)
	return list, needsDaemon(err)
}

func nodeName(n *adminapi.Node) (appliance.ID, string) { return n.ID, n.Name }

func (a *app) findNode(ctx context.Context, said string) (found adminapi.Node, err error) {
	nodes, err := a.nodes(ctx)
	if err != nil {
		return found, err
	}
	return find(nodes, said, "node", "controllerd node list", nodeName)
}

func nodeState(n adminapi.Node) string {
	switch {
	case n.Fault != "":
		return n.Fault
	case n.Waits:
		return "waits for binding"
	case n.Online:
		return "online"
	case n.LastSeen == nil:
		return "never answered"
	}
	return "offline"
}

func newNodeRename(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "rename NODE NAME",
		Short:   "Give a node another name; its ID stays",
		Example: "  controllerd node rename 7 \"Lobby south\"",
		Args:    cli.Args(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, given []string) error {
			return a.editNode(c, given[0], adminapi.NodeEdit{Name: &given[1]})
		},
	}
}

func newNodeReplace(a *app) *cobra.Command {
	var address, bus, profile string
	c := &cobra.Command{
		Use:   "replace NODE --address ADDRESS",
		Short: "Put another device in a node's place; ID, name and clusters stay",
		Long: `Put another device in a node's place: what has that address on its bus, or with --bus on
another one, is the node from now on. Its ID, name and clusters stay, so that no client
notices. --profile is for a device of another kind.`,
		Example: "  controllerd node replace 7 --address 12\n  controllerd node replace 7 --address 12 --profile wirenboard-wb-mdm3",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	c.Flags().StringVar(&address, "address", "", "`address` of the new device, in the words of the bus's driver")
	c.Flags().StringVar(&bus, "bus", "", "`name` of the bus that it is on, if that is another")
	c.Flags().StringVar(&profile, "profile", "", "`profile` of the new device, if that is another")
	c.MarkFlagRequired("address")
	c.RunE = func(c *cobra.Command, given []string) error {
		edit := adminapi.NodeEdit{Address: &address}
		if bus != "" {
			edit.Bus = &bus
		}
		if profile != "" {
			edit.Profile = &profile
		}
		return a.editNode(c, given[0], edit)
	}
	return c
}

// editNode changes a node, unless somebody else did since it was looked up.
func (a *app) editNode(c *cobra.Command, said string, edit adminapi.NodeEdit) error {
	before, err := a.findNode(c.Context(), said)
	if err != nil {
		return err
	}
	res, err := a.local().askWith(c.Context(), http.MethodPatch, pathOf("nodes", fmt.Sprint(before.ID)), edit, map[string]string{"If-Match": before.ETag})
	if err != nil {
		return err
	}
	var now adminapi.Node
	if err := received(res, &now); err != nil {
		return err
	}
	for _, row := range []struct{ what, old, now string }{
		{"name", before.Name, now.Name}, {"bus", before.Bus, now.Bus}, {"address", before.Address, now.Address}, {"profile", before.Profile, now.Profile},
	} {
		if row.old != row.now {
			fmt.Fprintf(c.OutOrStdout(), "%d %s: %s %s → %s\n", now.ID, now.Name, row.what, orDash(row.old), orDash(row.now))
		}
	}
	if now.Fault != "" {
		return errors.New("it is set aside as it is now: " + now.Fault)
	}
	return nil
}

func newNodeIdentify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "identify NODE",
		Short: "Make a node show itself: a lamp blinks, a motor winks",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, given []string) error {
			n, err := a.findNode(c.Context(), given[0])
			if err != nil {
				return err
			}
			if _, err := doJob[any](c.Context(), a.local(), adminapi.JobRequest{Kind: "identify", Node: n.ID}, nil); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%d %s was told to show itself\n", n.ID, n.Name)
			return nil
		},
	}
}
