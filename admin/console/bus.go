package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

func newBus(a *App) *cobra.Command {
	bus := cli.Group(&cobra.Command{Use: "bus", Short: "Add buses, look at them, and search them for devices"})
	bus.AddCommand(newBusList(a), newBusScan(a), newBusMonitor(a), newBusIdentify(a), newBusGroups(a), newBusDecode())
	bus.AddCommand(newBusCommission(a), newBusService(a))
	bus.AddCommand(newBusPorts(a), newBusFindOut(a), newBusAdd(a), newBusChange(a), newBusRemove(a))
	return bus
}

func newBusList(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List buses and how they are doing",
		Long: `List buses and how they are doing. BOUND is the longest a command waits for a frame in
flight when its device does not answer (TYPICAL: when it does); USE is the busy part
of the last minute, DEAD what of it went to devices that do not answer; DEMAND above
100 % means that the freshness targets cannot be met and values are older by that
factor.

--devices lists the devices of each bus instead, and what they say is wrong with them:
a lamp that failed, a motor that is blocked or locked; of those that are offline, how they
were last asked in vain.`,
		Args: cli.Args(cobra.NoArgs),
	}
	devices := c.Flags().Bool("devices", false, "list the devices of each bus (the JSON has them always)")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		buses, err := a.buses(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), buses)
		}
		if *devices {
			return a.listDevices(c, buses)
		}
		var rows [][]string
		for _, b := range buses {
			state := "up"
			if !b.Up {
				state = b.Fault
			}
			rows = append(rows, []string{
				b.Name, b.Driver, b.Port, fmt.Sprintf("%d/%d", b.Online, b.Nodes), percent(b.Use), percent(b.DeadUse), percent(b.Demand),
				fmt.Sprintf("%.0f ms", b.TypicalMs), fmt.Sprintf("%.0f ms", b.BoundMs), state,
			})
		}
		return cli.Listing(c, []string{"BUS", "DRIVER", "PORT", "ONLINE", "USE", "DEAD", "DEMAND", "TYPICAL", "BOUND", "STATE"}, rows,
			"the site has no buses; find what is on a port with: "+HowToBegin)
	}
	return c
}

// HowToBegin is what whoever has nothing yet does first.
const HowToBegin = "controllerd bus scan --port /dev/… --site found.yaml (docs/installing.md, 5)"

// listDevices shows how each device is.
func (a *App) listDevices(c *cobra.Command, buses []api.BusDetail) error {
	names, err := a.nodeNames(c.Context())
	if err != nil {
		return err
	}
	var rows [][]string
	for _, b := range buses {
		slices.SortStableFunc(b.Devices, func(x, y api.Device) int { return compareAddresses(x.Device, y.Device) })
		for _, d := range b.Devices {
			state, seen, nodes := "offline", time.Time{}, []string{}
			if d.Online {
				state = "online"
			}
			if d.LastSeen != nil {
				seen = *d.LastSeen
			}
			for _, id := range d.Nodes {
				nodes = append(nodes, fmt.Sprintf("%d %s", id, names[id]))
			}
			rows = append(rows, []string{b.Name, d.Device, orDash(strings.Join(few(nodes), ", ")), state, cli.When(seen), orDash(cmp.Or(d.Trouble, d.Why))})
		}
	}
	return cli.Listing(c, []string{"BUS", "DEVICE", "NODES", "STATE", "LAST SEEN", "TROUBLE"}, rows,
		"no devices to show: they are those of the site, as a running daemon (controllerd serve) sees them")
}

// few are the first of many names, and how many more there are.
func few(names []string) []string {
	if len(names) > 3 {
		return append(names[:2:2], fmt.Sprintf("and %d more", len(names)-2))
	}
	return names
}

func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

// buses asks the daemon, or lists what is configured if none runs.
func (a *App) buses(ctx context.Context) ([]api.BusDetail, error) {
	buses, err := a.local().buses(ctx)
	if !errors.Is(err, errNotRunning) {
		return buses, err
	}
	site, err := a.site(ctx)
	if err != nil {
		return nil, err
	}
	out := []api.BusDetail{}
	for _, b := range site.Buses {
		row := api.BusDetail{Bus: api.Bus{
			ID: b.Number, UUID: b.UUID.String(), Name: b.Name, Driver: b.Driver, Port: b.Port, Line: api.Line(b.Line),
			Options: b.Options, Disabled: b.Disabled, Fault: "no daemon is running",
		}, Devices: []api.Device{}}
		for _, n := range site.Nodes {
			if n.Bus == b.UUID {
				row.Nodes++
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// nodeNames asks the store, which knows them whether or not a daemon runs.
func (a *App) nodeNames(ctx context.Context) (map[appliance.ID]string, error) {
	site, err := a.site(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[appliance.ID]string, len(site.Nodes))
	for _, n := range site.Nodes {
		names[n.ID] = n.Name
	}
	return names, nil
}

func (a *App) site(ctx context.Context) (appliance.Site, error) {
	site, _, err := a.siteAndFaults(ctx)
	return site, err
}

// siteAndFaults tells as well what of the site cannot be read.
func (a *App) siteAndFaults(ctx context.Context) (site appliance.Site, faults []appliance.Fault, err error) {
	err = a.withStore(ctx, func(s *store.Store) error {
		site, faults, err = s.Site(ctx)
		return err
	})
	return site, faults, err
}
