package console

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

// commissionFlags say how gear is given addresses.
type commissionFlags struct {
	all, unaddressed, dryRun, yes bool
	addresses, draft              string
}

func newBusCommission(a *App) *cobra.Command {
	var f commissionFlags
	c := &cobra.Command{
		Use:   "commission BUS",
		Short: "Give addresses to gear of a DALI line",
		Long: `Give short addresses to the gear of a DALI line that has none, and new ones to gear that
shares its address with another: one of them keeps it. Addresses of the site are not
given away, since lamps that are dark or taken down come back to them; --addresses names
those to give, such as that of a gear which was replaced.

--all takes the address of every gear away first: afterwards the nodes of the site mean
other lamps. --dry-run changes no address and tells how many would be given.

It takes about 2.5 s for each gear, twice that while the line is polled. Commands are
obeyed meanwhile, after at most one frame. A run that was interrupted, even by a power
cut, is continued by starting it again (without --all).

--site writes gear that the site does not have yet as a site file, with the profile that
fits; find out with 'bus identify' which lamp is which, change the names, import it.`,
		Example: `  controllerd bus commission second-floor --dry-run
  controllerd bus commission second-floor --site new.yaml
  controllerd bus commission second-floor --addresses 7 --yes`,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.Flags().BoolVar(&f.unaddressed, "unaddressed", false, "only gear without an address of its own (the default)")
	c.Flags().BoolVar(&f.all, "all", false, "all gear, from the beginning")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "change no address")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask before addresses are changed")
	c.Flags().StringVar(&f.addresses, "addresses", "", "give only these addresses: a `list` such as 7 or 10-20,30")
	c.Flags().StringVar(&f.draft, "site", "", "write what is new to this site `file`; - for standard output")
	c.MarkFlagsMutuallyExclusive("all", "unaddressed")
	c.RunE = func(c *cobra.Command, names []string) error {
		if f.draft == "-" && *asJSON {
			return cli.Usage(errors.New("--json and --site - would both write to standard output"))
		}
		if _, err := os.Stat(f.draft); f.draft != "" && err == nil {
			return cli.Usage(fmt.Errorf("--site %s: there is a file of that name already", f.draft))
		}
		return a.commission(c, names[0], f, *asJSON)
	}
	return c
}

// addressedBy says how devices get their addresses where that is not done from here,
// by driver.
var addressedBy = map[string]string{
	"dmx":    "start addresses are set at the fixture; 'controllerd bus scan' shows those that answer RDM",
	"modbus": "unit IDs are set at the device, with its switches or its maker's program; 'controllerd bus scan' shows who answers at which",
	"sdn":    "every motor has the address that is printed on it; 'controllerd bus scan' finds them and writes a site file with --site",
}

// commission gives addresses and shows who has which.
func (a *App) commission(c *cobra.Command, name string, f commissionFlags, asJSON bool) error {
	bus, site, err := a.scanned(c.Context(), []string{name}, scanFlags{})
	if err != nil {
		return err
	}
	if instead := addressedBy[bus.Driver]; instead != "" {
		return fmt.Errorf("bus %s: only the gear of DALI lines (driver dali) is given addresses from here; on a bus of driver %s %s", bus.Name, bus.Driver, instead)
	}
	if err := f.confirm(c, bus, site); err != nil {
		return err
	}
	inputs := map[string]string{"addresses": f.addresses}
	for key, set := range map[string]bool{"all": f.all, "dry": f.dryRun} {
		if set {
			inputs[key] = "yes"
		}
	}
	view := newServiceView(c)
	runErr := view.run(c.Context(), a.local(), name, "commission", inputs)
	if runErr != nil && !f.dryRun && (c.Context().Err() != nil || errors.Is(runErr, errHungUp)) {
		runErr = fmt.Errorf("%w; gear that got an address keeps it. Go on with: controllerd bus commission %s", runErr, name)
	}
	if runErr != nil && len(view.told) == 0 {
		return runErr
	}
	if f.draft == "-" {
		view.out = c.ErrOrStderr()
	}
	if len(view.told) > 0 || asJSON {
		err = view.show(asJSON)
	} else {
		fmt.Fprintln(view.out, "no gear answers on this line; check its DALI supply and wires")
	}
	if err == nil && f.draft != "" && !f.dryRun {
		err = view.draft(bus, site).writeDraft(c.OutOrStdout(), f.draft)
	}
	return errors.Join(runErr, err)
}

// confirm asks before addresses are changed.
func (f commissionFlags) confirm(c *cobra.Command, bus appliance.Bus, site appliance.Site) error {
	if f.yes || f.dryRun {
		return nil
	}
	warning := fmt.Sprintf("Gear on %s that has no address of its own will be given one.", bus.Name)
	if f.all {
		known := 0
		for _, n := range site.Nodes {
			if n.Bus == bus.UUID {
				known++
			}
		}
		warning = fmt.Sprintf("Every gear on %s will be given another address; %d nodes of the site will mean other lamps.", bus.Name, known)
	}
	in, ok := c.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return cli.Usage(fmt.Errorf("%s Say that you mean it with --yes, or look first with --dry-run", warning))
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s\nGo on? Type yes: ", warning)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// draft is what commissioning learned, as a scan would have found it.
func (v *serviceView) draft(bus appliance.Bus, site appliance.Site) *scanView {
	found := &scanView{out: v.out, bus: bus, site: site, known: true}
	for _, e := range v.told {
		f := api.Found{Address: e.Address, Finding: string(appliance.FoundDevice)}
		for _, fact := range e.Facts {
			text, _ := fact.Value.(string)
			switch fact.Name {
			case "profile":
				f.Kind = text
			case "detail":
				f.Detail = text
			}
		}
		for _, n := range site.Nodes {
			if n.Bus == bus.UUID && n.Address == f.Address {
				f.Nodes = append(f.Nodes, n.ID)
			}
		}
		found.found = append(found.found, f)
	}
	return found
}
