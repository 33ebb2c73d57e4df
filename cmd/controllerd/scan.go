package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"svc.internal/controller/appliance"
	"svc.internal/controller/console"
	"svc.internal/controller/drivers"
	"svc.internal/controller/store"
)

// scanFlags are the settings of a port that no site knows yet.
type scanFlags struct {
	port, driver, parity string
	baud, stopBits       int
	first, last          int
}

func newBusScan(a *app) *cobra.Command {
	var f scanFlags
	c := &cobra.Command{
		Use:   "scan [BUS]",
		Short: "Search a bus for devices, configured or not",
		Long: `Search a bus for devices. A running daemon does it behind all other traffic, and
lights go on obeying; without one the port is opened for the scan. A port that is not
in the site is given with --port.`,
		Example: "  controllerd bus scan ground-floor --last 32\n  controllerd bus scan --port /dev/ttyUSB0 --baud 9600 --parity none",
		Args:    args(cobra.MaximumNArgs(1)),
	}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&f.port, "port", "", "`port` to open: /dev/…, tcp://host:port or rtu+tcp://host:port")
	c.Flags().StringVar(&f.driver, "driver", "modbus", "`driver` for --port")
	c.Flags().IntVar(&f.baud, "baud", 0, "bit rate for --port")
	c.Flags().StringVar(&f.parity, "parity", "", "parity for --port: none, even or odd")
	c.Flags().IntVar(&f.stopBits, "stop-bits", 0, "stop bits for --port: 1 or 2")
	c.Flags().IntVar(&f.first, "first", 0, "first address to try")
	c.Flags().IntVar(&f.last, "last", 0, "last address to try")
	c.RunE = func(c *cobra.Command, names []string) error {
		if (len(names) == 0) == (f.port == "") {
			return usageError{errors.New("name a bus of the site, or give a port with --port")}
		}
		show := &scanView{out: c.OutOrStdout(), asJSON: *asJSON}
		if f, ok := c.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			show.progress = f
		}
		if err := a.scan(c.Context(), names, f, show.event); err != nil {
			return err
		}
		return show.end()
	}
	return c
}

func (a *app) scan(ctx context.Context, names []string, f scanFlags, each func(console.ScanEvent) error) error {
	opts := appliance.ScanOptions{First: f.first, Last: f.last}
	if len(names) == 1 {
		err := console.NewClient(a.dataDir).Scan(ctx, names[0], opts, each)
		if !errors.Is(err, console.ErrNotRunning) {
			return err
		}
	}
	bus := appliance.Bus{
		UUID: appliance.NewUUID(), Name: f.port, Driver: f.driver, Port: f.port,
		Line: appliance.LineSettings{BaudRate: f.baud, Parity: f.parity, StopBits: f.stopBits},
	}
	if len(names) == 1 {
		// As the daemon of these buses would: two on one line disturb each other.
		guard, err := store.Lock(a.dataDir)
		if err != nil {
			return err
		}
		defer guard.Release()
		if bus, err = a.findBus(ctx, names[0]); err != nil {
			return err
		}
	}
	return scanAlone(ctx, bus, opts, each)
}

func (a *app) findBus(ctx context.Context, name string) (appliance.Bus, error) {
	site, err := a.site(ctx)
	if err != nil {
		return appliance.Bus{}, err
	}
	for _, b := range site.Buses {
		if b.Name == name {
			return b, nil
		}
	}
	return appliance.Bus{}, fmt.Errorf("bus %q: %w; 'controllerd bus list' shows those there are", name, appliance.ErrNotFound)
}

// portWait is how long a scan without a daemon waits for its port to open.
const portWait = 5 * time.Second

// scanAlone opens a bus without nodes, so that nothing but the scan is sent.
func scanAlone(ctx context.Context, bus appliance.Bus, opts appliance.ScanOptions, each func(console.ScanEvent) error) error {
	core := appliance.New(appliance.Options{Drivers: drivers.All})
	core.Apply(appliance.Site{Buses: []appliance.Bus{bus}}, nil)
	if faults := core.Snapshot().Faults; len(faults) > 0 {
		return fmt.Errorf("%s: %s", faults[0].Where, faults[0].What)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- core.Run(ctx) }()
	defer func() { cancel(); <-done }()
	if err := awaitUp(ctx, core); err != nil {
		return err
	}
	events := make(chan console.ScanEvent, 1)
	go func() {
		defer close(events)
		err := core.Scan(ctx, bus.Name, opts,
			func(address string) { events <- console.ScanEvent{Probing: address} },
			func(f appliance.Found) { found := console.Found(f); events <- console.ScanEvent{Found: &found} })
		last := console.ScanEvent{Done: true}
		if err != nil {
			last.Error = err.Error()
		}
		events <- last
	}()
	var err error
	for e := range events {
		if err == nil {
			if err = each(e); err != nil {
				cancel()
			}
		}
	}
	return err
}

// awaitUp waits until the only bus is up.
func awaitUp(ctx context.Context, core *appliance.Controller) error {
	ctx, cancel := context.WithTimeout(ctx, portWait)
	defer cancel()
	for {
		s := core.Snapshot()
		if s.Buses[0].Up {
			return nil
		}
		select {
		case <-s.Superseded():
		case <-ctx.Done():
			return errors.New(s.Buses[0].Fault) // names the bus, its port and the reason
		}
	}
}

// scanView shows a scan: progress for people on a terminal, devices on standard
// output.
type scanView struct {
	out      io.Writer
	progress io.Writer // nil: nobody is watching
	asJSON   bool
	found    []console.Found
}

func (v *scanView) event(e console.ScanEvent) error {
	switch {
	case e.Error != "":
		return errors.New(e.Error)
	case e.Found != nil:
		v.add(*e.Found)
	case e.Probing != "" && v.progress != nil:
		fmt.Fprintf(v.progress, "\rprobing %-12s %d found ", e.Probing, len(v.found))
	}
	return nil
}

// add keeps one row for each address: what is learned later about a device tells
// more than what was known before.
func (v *scanView) add(f console.Found) {
	i := slices.IndexFunc(v.found, func(have console.Found) bool { return have.Address == f.Address })
	if i < 0 {
		v.found = append(v.found, f)
		return
	}
	if f.Kind == "" {
		f.Kind = v.found[i].Kind
	}
	v.found[i] = f
}

func (v *scanView) end() error {
	if v.progress != nil {
		fmt.Fprint(v.progress, "\r                                        \r")
	}
	if v.asJSON {
		if v.found == nil {
			v.found = []console.Found{}
		}
		return printJSON(v.out, v.found)
	}
	if len(v.found) == 0 {
		fmt.Fprintln(v.out, "nobody answered; check wiring, bit rate and parity")
		return nil
	}
	var rows [][]string
	for _, f := range v.found {
		kind := f.Kind
		if kind == "" {
			kind = "-"
		}
		rows = append(rows, []string{f.Address, kind, f.Detail})
	}
	return table(v.out, []string{"ADDRESS", "LOOKS LIKE", "DETAIL"}, rows)
}
