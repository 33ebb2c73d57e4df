package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/panel/roomos"
	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/trust"
)

const (
	// rolloutMost devices are spoken to at once.
	rolloutMost = 16
	// rolloutWithin bounds what is done with one device.
	rolloutWithin = 5 * time.Minute
)

const rolloutHelp = `LIST is a CSV file, or - for standard input: one device a line,

  ADDRESS,DEVICE[,FINGERPRINT]

with the host name or IP address of the device, its ID on the page "Rooms", and the SHA-256
fingerprint of its certificate. Devices are known by that, by --ca-file, or else by the
system's authorities; a device that is not known is sent nothing, and its fingerprint is told.

User name and password of an administrator of the devices come from the environment
(ROOMOS_USERNAME, ROOMOS_PASSWORD) or from two lines of --credentials-file. Nobody keeps them.

Exits with 1 if it is not done on every device; again is harmless.`

// rolloutFlags are those of both directions.
type rolloutFlags struct{ credentials, ca, fingerprint string }

func (f *rolloutFlags) add(c *cobra.Command) (asJSON *bool) {
	c.Flags().StringVar(&f.credentials, "credentials-file", "", "`file` with user name and password of the devices, a line each; ROOMOS_USERNAME and ROOMOS_PASSWORD otherwise")
	c.Flags().StringVar(&f.ca, "ca-file", "", "PEM `file` with the authority that signed the devices' certificates")
	c.Flags().StringVar(&f.fingerprint, "fingerprint", "", "SHA-256 `fingerprint` of the certificate of the one device of the list")
	c.MarkFlagsMutuallyExclusive("ca-file", "fingerprint")
	return cli.JSONFlag(c)
}

// rollout is one run over a list.
type rollout struct {
	rows               []row
	username, password string
	ca                 []byte
}

// read finds everything that is wrong before any device is asked.
func (f *rolloutFlags) read(c *cobra.Command, list string, bare bool) (r rollout, err error) {
	if r.rows, err = readList(c, list, bare); err != nil {
		return r, err
	}
	if f.fingerprint != "" {
		if len(r.rows) > 1 {
			return r, cli.Usage(errors.New("--fingerprint is of one device; give each line of the list its own"))
		}
		r.rows[0].fingerprint = f.fingerprint
	}
	r.username, r.password = os.Getenv("ROOMOS_USERNAME"), os.Getenv("ROOMOS_PASSWORD")
	if f.credentials != "" {
		b, err := os.ReadFile(f.credentials)
		if err != nil {
			return r, fmt.Errorf("read the credentials: %w", err)
		}
		name, password, _ := strings.Cut(string(b), "\n")
		r.username, r.password = strings.TrimRight(name, "\r"), strings.TrimRight(password, "\r\n")
	}
	if r.username == "" || r.password == "" || strings.Contains(r.username, ":") {
		return r, cli.Usage(errors.New("set ROOMOS_USERNAME and ROOMOS_PASSWORD, or --credentials-file with a line of each; a user name has no colon"))
	}
	if f.ca != "" {
		if r.ca, err = os.ReadFile(f.ca); err != nil {
			return r, fmt.Errorf("read the authority of the devices: %w", err)
		}
	}
	for _, at := range r.rows {
		if _, err := r.device(at); err != nil {
			return r, cli.Usage(err)
		}
	}
	return r, nil
}

func (r rollout) device(at row) (*roomos.Device, error) {
	return roomos.New(at.address, r.username, r.password, trust.Trust{CA: r.ca, Fingerprint: at.fingerprint})
}

// became is what became of a device.
type became struct {
	Address string `json:"address"`
	Device  string `json:"deviceId,omitempty"`
	Done    bool   `json:"done"`
	Macro   int    `json:"macroVersion,omitempty"` // that it has now
	Why     string `json:"error,omitempty"`
}

// each does something with every device of the list, some at a time, and tells progress.
func (r rollout) each(ctx context.Context, progress io.Writer, verb string, do func(context.Context, *roomos.Device, row) error) []became {
	all := make([]became, len(r.rows))
	places := make(chan struct{}, rolloutMost)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ended := 0
	for i, at := range r.rows {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			err := r.one(ctx, at, do)
			all[i] = became{Address: at.address, Device: at.device, Done: err == nil}
			said := verb
			if err != nil {
				all[i].Why = err.Error()
				said = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			ended++
			fmt.Fprintf(progress, "%d/%d %s: %s\n", ended, len(r.rows), at.address, said)
		})
	}
	wg.Wait()
	return all
}

func (r rollout) one(ctx context.Context, at row, do func(context.Context, *roomos.Device, row) error) error {
	ctx, cancel := context.WithTimeout(ctx, rolloutWithin)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return err // stopped; those under way end
	}
	d, err := r.device(at)
	if err != nil {
		return err
	}
	defer d.Close()
	return do(ctx, d, at)
}

// tell prints what became of all, and fails unless everything is done.
func tell(c *cobra.Command, all []became, asJSON bool, verb string) error {
	left := 0
	var rows [][]string
	for _, b := range all {
		said := verb
		if !b.Done {
			left++
			said = "NOT " + verb + ": " + b.Why
		}
		rows = append(rows, []string{b.Address, b.Device, said})
	}
	var err error
	if asJSON {
		err = cli.PrintJSON(c.OutOrStdout(), all)
	} else {
		err = cli.Table(c.OutOrStdout(), []string{"ADDRESS", "DEVICE", "OUTCOME"}, rows)
	}
	if err == nil && left > 0 {
		err = fmt.Errorf("not %s on %d of %d devices", verb, left, len(all))
	}
	return err
}

func newRoomsInstall(a *app) *cobra.Command {
	var k kitFlags
	var f rolloutFlags
	c := &cobra.Command{
		Use:     "install LIST --platform URL",
		Short:   "Put macro and panel onto the devices of a list, or bring them up to date",
		Example: "  ROOMOS_USERNAME=integrator ROOMOS_PASSWORD=… platformd rooms install rooms.csv --platform https://platform.example --ca-file devices.pem",
		Long: `Put macro and panel onto RoomOS devices by their own xAPI over HTTPS, and have the macro
run. Other panels and macros of a device stay as they are.

` + rolloutHelp,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	k.add(c)
	asJSON := f.add(c)
	allow := c.Flags().Bool("allow-host", false, "add the platform to the hosts that macros may ask; for devices that have such a list, which others are left without otherwise")
	c.RunE = func(c *cobra.Command, given []string) error {
		r, err := f.read(c, given[0], false)
		if err != nil {
			return err
		}
		served, err := k.served(a)
		if err != nil {
			return err
		}
		kits := map[string]panel.Kit{}
		err = a.withStore(c.Context(), func(s *store.Store) error {
			for _, at := range r.rows {
				if kits[at.device], err = kitOf(c.Context(), s, at.device, k.platform, served); err != nil {
					return cli.Usage(fmt.Errorf("device %q of the list: %w", at.device, err))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		all := r.each(c.Context(), c.ErrOrStderr(), "installed", func(ctx context.Context, d *roomos.Device, at row) error {
			return d.Install(ctx, kits[at.device], *allow)
		})
		for i := range all {
			if all[i].Done {
				all[i].Macro = panel.MacroVersion
			}
		}
		return tell(c, all, *asJSON, "installed")
	}
	return c
}

func newRoomsUninstall(_ *app) *cobra.Command {
	var f rolloutFlags
	c := &cobra.Command{
		Use:   "uninstall LIST",
		Short: "Take macro and panel off the devices of a list",
		Long: `Take macro and panel off RoomOS devices. Settings and the platform's certificate stay,
since others may need them. Withdraw the panels in the page "Rooms" besides: that ends
their codes.

` + rolloutHelp,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := f.add(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		r, err := f.read(c, given[0], true)
		if err != nil {
			return err
		}
		all := r.each(c.Context(), c.ErrOrStderr(), "removed", func(ctx context.Context, d *roomos.Device, _ row) error { return d.Remove(ctx) })
		return tell(c, all, *asJSON, "removed")
	}
	return c
}
