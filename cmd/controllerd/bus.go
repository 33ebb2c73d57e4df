package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"svc.internal/controller/appliance"
	"svc.internal/controller/console"
	"svc.internal/controller/drivers"
	"svc.internal/controller/store"
)

func newBus(a *app) *cobra.Command {
	bus := group(&cobra.Command{Use: "bus", Short: "Look at buses and search them for devices"})
	bus.AddCommand(newBusList(a), newBusScan(a), newBusMonitor(a), newBusIdentify(a), newBusGroups(a), newBusDecode())
	bus.AddCommand(newBusCommission(a), newBusService(a))
	return bus
}

func newBusList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List buses and how they are doing",
		Long: `List buses and how they are doing. BOUND is the longest a command waits for a frame in
flight when its device does not answer (TYPICAL: when it does); USE is the busy part
of the last minute, DEAD what of it went to devices that do not answer; DEMAND above
100 % means that the freshness targets cannot be met and values are older by that
factor.`,
		Args: args(cobra.NoArgs),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		buses, err := a.buses(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(c.OutOrStdout(), buses)
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
		return table(c.OutOrStdout(), []string{"BUS", "DRIVER", "PORT", "ONLINE", "USE", "DEAD", "DEMAND", "TYPICAL", "BOUND", "STATE"}, rows)
	}
	return c
}

func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

// buses asks the daemon, or lists what is configured if none runs.
func (a *app) buses(ctx context.Context) ([]console.Bus, error) {
	buses, err := console.NewClient(a.dataDir).Buses(ctx)
	if !errors.Is(err, console.ErrNotRunning) {
		return buses, err
	}
	site, err := a.site(ctx)
	if err != nil {
		return nil, err
	}
	out := []console.Bus{}
	for _, b := range site.Buses {
		row := console.Bus{Name: b.Name, Driver: b.Driver, Port: b.Port, Fault: "no daemon is running", Devices: []console.Device{}}
		for _, n := range site.Nodes {
			if n.Bus == b.UUID {
				row.Nodes++
			}
		}
		out = append(out, row)
	}
	return out, nil
}

func (a *app) site(ctx context.Context) (site appliance.Site, err error) {
	err = a.withStore(ctx, func(s *store.Store) error {
		site, _, err = s.Site(ctx)
		return err
	})
	return site, err
}

func newBusMonitor(a *app) *cobra.Command {
	var recent bool
	c := &cobra.Command{
		Use:   "monitor BUS",
		Short: "Show the frames that pass on a bus, decoded, until Ctrl-C",
		Args:  args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(c)
	c.Flags().BoolVar(&recent, "recent", false, "show the last frames from the flight recorder and end")
	c.RunE = func(c *cobra.Command, names []string) error {
		client := console.NewClient(a.dataDir)
		decode, err := decoderOfBus(c.Context(), client, names[0])
		if err != nil {
			return err
		}
		return client.Frames(c.Context(), names[0], !recent, func(f console.Frame) error {
			return showFrame(c.OutOrStdout(), f, decode, *asJSON)
		})
	}
	return c
}

// decoderOfBus picks the decoder for what a bus speaks.
func decoderOfBus(ctx context.Context, client *console.Client, name string) (func([]byte) (any, error), error) {
	buses, err := client.Buses(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range buses {
		if b.Name == name {
			return drivers.Decoders[drivers.Protocol(b.Driver, b.Port, b.Options)], nil
		}
	}
	return nil, fmt.Errorf("bus %q: %w; 'controllerd bus list' shows those there are", name, appliance.ErrNotFound)
}

// showFrame prints one frame: when, which way, the bytes, what they mean.
func showFrame(w io.Writer, f console.Frame, decode func([]byte) (any, error), asJSON bool) error {
	var fields any
	var bad error
	if raw, err := f.Bytes(); err == nil && len(raw) > 0 && decode != nil {
		fields, bad = decode(raw)
	}
	if asJSON {
		line := struct {
			console.Frame
			OK     bool   `json:"ok"`
			Error  string `json:"error,omitempty"`
			Fields any    `json:"fields,omitempty"`
		}{f, bad == nil, message(bad), fields}
		return json.NewEncoder(w).Encode(line)
	}
	arrow := map[string]string{"sent": "→", "received": "←", "discarded": "✗"}[f.Direction]
	text := f.Note
	if fields != nil && bad == nil {
		b, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		text = string(b) + " " + f.Note
	} else if bad != nil {
		text = bad.Error() + " " + f.Note
	}
	_, err := fmt.Fprintf(w, "%s %s %s  %s\n", f.At.Local().Format("15:04:05.000"), arrow, f.Hex, text)
	return err
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
