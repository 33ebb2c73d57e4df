package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
	"svc.internal/controller/drivers/dali"
	"svc.internal/controller/drivers/dmx"
	"svc.internal/controller/drivers/modbus"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

// scanFlags are the settings of a scan, those of a port that no site knows yet
// among them.
type scanFlags struct {
	port, driver, parity string
	baud, stopBits       int
	options              map[string]string
	first, last          int
	allSettings          bool
	draft                string
	relays               string
}

func newBusScan(a *App) *cobra.Command {
	var f scanFlags
	c := &cobra.Command{
		Use:   "scan [BUS]",
		Short: "Search a bus for devices and for what is wrong with it",
		Long: `Search a bus for devices, configured or not, and for what is wrong with it: devices that
share an address, talk without being asked, run at other settings, are silent although
the site has them, or are not what the site says. A running daemon does it behind all
other traffic, and lights go on obeying; without one the port is opened for the scan. A
port that is not in the site is given with --port.

--all-settings tries the other usual bit rates and parities of a Modbus line as well.
Devices hear frames then that are none to them. It takes long: narrow it with --first and
--last.

--site writes what was found and is not in the site yet as a site file; look through it,
then import it. It never writes over a file.

Exit code: 0 nothing wrong, 3 something is, 1 the scan could not be done or was stopped,
2 called wrongly.`,
		Example: `  controllerd bus scan ground-floor --last 32
  controllerd bus scan ground-floor --site found.yaml
  controllerd bus scan --port /dev/ttyUSB0 --baud 9600 --parity none
  controllerd bus scan --port /dev/ttyUSB0 --driver dali --option gateway=atx`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.Flags().StringVar(&f.port, "port", "", "`port` to open: /dev/…, tcp://host:port or rtu+tcp://host:port")
	c.Flags().StringVar(&f.driver, "driver", "modbus", "`driver` for --port")
	c.Flags().StringToStringVar(&f.options, "option", nil, "`key=value` that the driver needs for --port; may be repeated")
	c.Flags().IntVar(&f.baud, "baud", 0, "bit rate for --port")
	c.Flags().StringVar(&f.parity, "parity", "", "parity for --port: none, even or odd")
	c.Flags().IntVar(&f.stopBits, "stop-bits", 0, "stop bits for --port: 1 or 2")
	c.Flags().IntVar(&f.first, "first", 0, "first address to try")
	c.Flags().IntVar(&f.last, "last", 0, "last address to try")
	c.Flags().BoolVar(&f.allSettings, "all-settings", false, "try other bit rates and parities too")
	c.Flags().StringVar(&f.draft, "site", "", "write what is new to this site `file`; - for standard output")
	c.Flags().StringVar(&f.relays, "relays", "", "`what` hangs off relays that may move shades, for --site: lights or shades; comments if not given")
	c.RunE = func(c *cobra.Command, names []string) error {
		if (len(names) == 0) == (f.port == "") {
			return cli.Usage(oneOf("name a bus of the site, or give a port with --port", f.port != ""))
		}
		if f.draft == "-" && *asJSON {
			return cli.Usage(errors.New("--json and --site - would both write to standard output"))
		}
		if err := f.check(); err != nil {
			return cli.Usage(err)
		}
		return a.runScan(c, names, f, *asJSON)
	}
	return c
}

// check refuses what no bus can have, before its port is opened.
func (f scanFlags) check() error {
	switch {
	case f.first < 0:
		return fmt.Errorf("--first %d: want 0 or more", f.first)
	case f.last < 0:
		return fmt.Errorf("--last %d: want 0 or more", f.last)
	case f.last > 0 && f.first > f.last:
		return fmt.Errorf("--first %d --last %d: the first address comes after the last", f.first, f.last)
	case !slices.Contains([]string{"", "none", "even", "odd"}, f.parity):
		return fmt.Errorf("--parity %q: want none, even or odd", f.parity)
	case !slices.Contains([]string{"", relaysLights, relaysShades}, f.relays):
		return fmt.Errorf("--relays %q: want lights or shades", f.relays)
	case f.relays != "" && f.draft == "":
		return errors.New("--relays says what to draft: give --site FILE too")
	case f.baud < 0:
		return fmt.Errorf("--baud %d: want a bit rate, such as 9600", f.baud)
	case f.stopBits < 0 || f.stopBits > 2:
		return fmt.Errorf("--stop-bits %d: want 1 or 2", f.stopBits)
	}
	return nil
}

// lastAddresses that there can be; drivers that are not here have other addresses than
// numbers, or none.
var lastAddresses = map[string]int{"modbus": modbus.LastUnit, "dali": dali.Shorts - 1, "dmx": dmx.UniverseSlots}

// within refuses a range that begins behind the last address of a bus.
func (f scanFlags) within(bus appliance.Bus) error {
	if last, ok := lastAddresses[bus.Driver]; ok && f.first > last {
		return fmt.Errorf("--first %d: the last address of a %s bus is %d", f.first, bus.Driver, last)
	}
	return nil
}

// runScan does a scan and shows it.
func (a *App) runScan(c *cobra.Command, names []string, f scanFlags, asJSON bool) error {
	ctx := c.Context()
	bus, site, err := a.scanned(ctx, names, f)
	if err != nil {
		return err
	}
	if err := f.within(bus); err != nil {
		return cli.Usage(err)
	}
	if err := draftable(f.draft); err != nil {
		return err
	}
	show := &scanView{out: c.OutOrStdout(), asJSON: asJSON, bus: bus, site: site, known: len(names) == 1, drafts: f.draft != "", relays: f.relays}
	if f, ok := c.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		show.progress = f
	}
	if f.allSettings {
		fmt.Fprintf(c.ErrOrStderr(), "bus %s: frames go out at other bit rates and parities too; its devices hear them as noise, and go on obeying in between\n", bus.Name)
	}
	scanErr := a.scan(ctx, bus, site, f, show)
	if err := ctx.Err(); err != nil {
		scanErr = errors.New("stopped before the end; what is not listed was not looked for")
	}
	if scanErr != nil && len(show.found) == 0 {
		show.endProgress()
		return scanErr
	}
	if f.draft == "-" {
		show.out = c.ErrOrStderr()
	}
	if err := show.end(); err != nil {
		return err
	}
	if asJSON {
		show.out = c.ErrOrStderr() // standard output is JSON, and nothing else
	}
	if f.draft != "" {
		if err := show.writeDraft(c.OutOrStdout(), f.draft); err != nil {
			return err
		}
	}
	if scanErr != nil {
		return scanErr
	}
	return show.verdict()
}

// scanned is the bus to scan, with the site it belongs to; for --port a bus that no
// site has.
func (a *App) scanned(ctx context.Context, names []string, f scanFlags) (appliance.Bus, appliance.Site, error) {
	if len(names) == 0 {
		name := f.port[strings.LastIndexByte(f.port, '/')+1:]
		return appliance.Bus{
			UUID: appliance.NewUUID(), Name: name, Driver: f.driver, Port: f.port, Options: f.options, Line: f.line(),
		}, appliance.Site{}, nil
	}
	site, err := a.site(ctx)
	if err != nil {
		return appliance.Bus{}, site, err
	}
	for _, b := range site.Buses {
		if b.Name == names[0] {
			return b, site, nil
		}
	}
	return appliance.Bus{}, site, fmt.Errorf("bus %q: %w; 'controllerd bus list' shows those there are", names[0], appliance.ErrNotFound)
}

// line settings of a port. For a Modbus line all are given, also what nobody said, so
// that a draft of the bus says at which its devices answered.
func (f scanFlags) line() appliance.LineSettings {
	line := appliance.LineSettings{BaudRate: f.baud, Parity: f.parity, StopBits: f.stopBits}
	if f.driver == "modbus" && !strings.Contains(f.port, "://") {
		line.BaudRate, line.Parity, line.StopBits = cmp.Or(f.baud, 9600), cmp.Or(f.parity, "none"), cmp.Or(f.stopBits, 1)
	}
	return line
}

// scan has the daemon do it or, if none runs or the bus is not its own, does it
// here.
func (a *App) scan(ctx context.Context, bus appliance.Bus, site appliance.Site, f scanFlags, show *scanView) error {
	opts := appliance.ScanOptions{First: f.first, Last: f.last, AllSettings: f.allSettings}
	if f.port == "" {
		in := api.JobRequest{Kind: "scan", Bus: bus.Name, First: f.first, Last: f.last, AllSettings: f.allSettings}
		if found, err := doJob(ctx, a.local(), in, show.follow); !errors.Is(err, errNotRunning) {
			show.take(found)
			switch {
			case errors.Is(err, errHungUp):
				return errors.New("the daemon ended before the scan did; what is not listed was not looked for: scan again")
			case found.State == "cancelled" && ctx.Err() == nil:
				return fmt.Errorf("%w; what is not listed was not looked for", err)
			}
			return err
		}
		// As the daemon of these buses would: two on one line disturb each other.
		guard, err := store.Lock(a.DataDir)
		if err != nil {
			return err
		}
		defer guard.Release()
	}
	return a.scanAlone(ctx, bus, site, opts, show)
}

// portWait is how long a scan without a daemon waits for its port to open.
const portWait = 5 * time.Second

// scanAlone opens a bus for a scan and nothing else.
func (a *App) scanAlone(ctx context.Context, bus appliance.Bus, site appliance.Site, opts appliance.ScanOptions, show *scanView) error {
	mine := appliance.Site{Buses: []appliance.Bus{bus}}
	mine.Buses[0].Disabled = false
	for _, n := range site.Nodes {
		if n.Bus == bus.UUID {
			mine.Nodes = append(mine.Nodes, n)
		}
	}
	for _, s := range site.Shades {
		for _, n := range mine.Nodes {
			if s.Node == n.ID {
				mine.Shades = append(mine.Shades, s)
			}
		}
	}
	var all appliance.Findings
	alone := operations.Alone{Drivers: drivers.On(a.Ports), DataDir: a.DataDir, Wait: portWait}
	return alone.Scan(ctx, mine, opts, show.probing, func(f appliance.Found) {
		all, _ = all.With(f)
		show.found = show.found[:0]
		for _, f := range all {
			show.found = append(show.found, api.FoundOf(f))
		}
	})
}
