package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newNode(a *App) *cobra.Command {
	node := cli.Group(&cobra.Command{Use: "node", Short: "List nodes, rename them, replace their devices, find them"})
	node.AddCommand(newNodeList(a), newNodeRename(a), newNodeReplace(a), newNodeIdentify(a))
	return node
}

func newNodeList(a *App) *cobra.Command {
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
func (a *App) nodes(ctx context.Context) (list []api.Node, err error) {
	err = a.local().get(ctx, "/nodes", &list)
	return list, needsDaemon(err)
}

func nodeName(n *api.Node) (appliance.ID, string) { return n.ID, n.Name }

func (a *App) findNode(ctx context.Context, said string) (found api.Node, err error) {
	nodes, err := a.nodes(ctx)
	if err != nil {
		return found, err
	}
	return find(nodes, said, "node", "controllerd node list", nodeName)
}

func nodeState(n api.Node) string {
	switch {
	case n.Fault != "":
		return "set aside: " + n.Fault
	case n.Waits:
		return "waits for binding"
	case n.Online:
		return "online"
	case n.LastSeen == nil:
		return "never answered"
	}
	return "offline"
}

func newNodeRename(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:     "rename NODE NAME",
		Short:   "Give a node another name; its ID stays",
		Example: "  controllerd node rename 7 \"Lobby south\"",
		Args:    cli.Args(cobra.ExactArgs(2)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		return a.editNode(c, given[0], api.NodeEdit{Name: &given[1]}, *asJSON)
	}
	return c
}

func newNodeReplace(a *App) *cobra.Command {
	var address, bus, profile string
	var device bool
	c := &cobra.Command{
		Use:   "replace NODE --address ADDRESS",
		Short: "Put another device in a node's place; ID, name and clusters stay",
		Long: `Put another device in a node's place: what has that address on its bus, or with --bus on
another one, is the node from now on. Its ID, name and clusters stay, so that no client
notices. --profile is for a device of another kind.

A device of several outputs has a node for each. With --device all of them go to the new
device, each to the output that it had; without it this one alone.

What would set this node or another one aside is refused, and nothing is changed.`,
		Example: "  controllerd node replace 7 --address 12\n  controllerd node replace 7 --address 12 --profile wirenboard-wb-mdm3\n  controllerd node replace 7 --address 12 --device",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	c.Flags().StringVar(&address, "address", "", "`address` of the new device, in the words of the bus's driver")
	c.Flags().StringVar(&bus, "bus", "", "`name` of the bus that it is on, if that is another")
	c.Flags().StringVar(&profile, "profile", "", "`profile` of the new device, if that is another")
	c.Flags().BoolVar(&device, "device", false, "replace the whole device: all nodes at the same bus and address")
	c.MarkFlagRequired("address")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		edit := api.NodeEdit{Address: &address, WholeDevice: device}
		if bus != "" {
			edit.Bus = &bus
		}
		if profile != "" {
			edit.Profile = &profile
		}
		return a.editNode(c, given[0], edit, *asJSON)
	}
	return c
}

// editNode changes a node, unless somebody else did since it was looked up, and tells what is
// another now, of the other nodes of its device too.
func (a *App) editNode(c *cobra.Command, said string, edit api.NodeEdit, asJSON bool) error {
	nodes, err := a.nodes(c.Context())
	if err != nil {
		return err
	}
	before, err := find(nodes, said, "node", "controllerd node list", nodeName)
	if err != nil {
		return err
	}
	beside := besideOf(nodes, before)
	res, err := a.local().askWith(c.Context(), http.MethodPatch, pathOf("nodes", fmt.Sprint(before.ID)), edit, map[string]string{"If-Match": before.ETag})
	stays := edit.Address != nil && *edit.Address == before.Address && edit.Profile != nil && *edit.Profile != before.Profile
	if refused := (refused{}); errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity && stays && !edit.WholeDevice && len(beside) > 0 {
		return fmt.Errorf("%w; %s at address %s too: if the whole device was exchanged, give --device", err, areNodes(beside), before.Address)
	}
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "nothing was changed"): // it names all nodes that are concerned
		return err
	case err != nil:
		return fmt.Errorf("node %d: %w", before.ID, err)
	}
	var now api.Node
	if err := received(res, &now); err != nil {
		return err
	}
	out := c.OutOrStdout()
	if asJSON {
		if err := cli.PrintJSON(out, now); err != nil {
			return err
		}
		out = io.Discard
	}
	changed := tellChanges(out, before, now)
	if edit.WholeDevice && len(beside) > 0 {
		after, err := a.nodes(c.Context())
		if err != nil {
			return err
		}
		for _, old := range beside {
			if i := slices.IndexFunc(after, func(n api.Node) bool { return n.ID == old.ID }); i >= 0 {
				changed = tellChanges(out, old, after[i]) || changed
			}
		}
	}
	if !changed {
		fmt.Fprintf(out, "%d %s: nothing changed, it was so already\n", now.ID, now.Name)
	}
	if !edit.WholeDevice && len(beside) > 0 && (now.Address != before.Address || now.Bus != before.Bus) {
		again := fmt.Sprintf("controllerd node replace %d --device --address %s", beside[0].ID, now.Address)
		if now.Bus != before.Bus {
			again += fmt.Sprintf(" --bus %q", now.Bus)
		}
		if now.Profile != before.Profile {
			again += " --profile " + now.Profile
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s still at address %s; if the whole device was exchanged, replace the rest too: %s\n", areNodes(beside), before.Address, again)
	}
	switch {
	case now.Fault == "":
	case edit.Address == nil: // no more was asked for than another name
		fmt.Fprintf(c.ErrOrStderr(), "%d %s is still set aside: %s\n", now.ID, now.Name, now.Fault)
	default:
		return errors.New("it is set aside as it is now: " + now.Fault)
	}
	return nil
}

// besideOf are the other nodes of a node's device: those at its bus and address.
func besideOf(nodes []api.Node, n api.Node) (beside []api.Node) {
	for _, other := range nodes {
		if other.ID != n.ID && !n.Waits && other.Bus == n.Bus && other.Address == n.Address {
			beside = append(beside, other)
		}
	}
	return beside
}

// areNodes begins a sentence about nodes: "3 other nodes (2, 3, 4) are".
func areNodes(nodes []api.Node) string {
	if len(nodes) == 1 {
		return fmt.Sprintf("1 other node (%d) is", nodes[0].ID)
	}
	var ids []string
	for _, n := range nodes {
		ids = append(ids, fmt.Sprint(n.ID))
	}
	return fmt.Sprintf("%d other nodes (%s) are", len(nodes), strings.Join(ids, ", "))
}

// tellChanges writes what became another of a node, and reports whether anything did.
func tellChanges(w io.Writer, before, now api.Node) (changed bool) {
	for _, row := range []struct{ what, old, now string }{
		{"name", before.Name, now.Name}, {"bus", before.Bus, now.Bus}, {"address", before.Address, now.Address}, {"profile", before.Profile, now.Profile},
	} {
		if row.old != row.now {
			fmt.Fprintf(w, "%d %s: %s %s → %s\n", now.ID, now.Name, row.what, orDash(row.old), orDash(row.now))
			changed = true
		}
	}
	return changed
}

func newNodeIdentify(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "identify NODE",
		Short: "Make a node show itself: a lamp blinks, a motor winks",
		Args:  cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		n, err := a.findNode(c.Context(), given[0])
		if err != nil {
			return err
		}
		return a.identify(c, api.JobRequest{Kind: "identify", Node: n.ID}, fmt.Sprintf("%d %s", n.ID, n.Name), *asJSON)
	}
	return c
}
