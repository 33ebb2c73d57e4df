package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/cli"
)

func newBusPorts(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "ports",
		Short: "List the serial ports that are there, and which bus is on each",
		Args:  cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var list []api.Port
		if err := a.local().get(c.Context(), "/ports", &list); err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), list)
		}
		var rows [][]string
		for _, p := range list {
			rows = append(rows, []string{p.Port, p.Name, p.Device, orDash(p.Bus)})
		}
		return cli.Listing(c, []string{"PORT", "WHAT", "DEVICE", "BUS"}, rows, "no serial port is there: is the adapter plugged in?")
	}
	return c
}

func newBusFindOut(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "find-out PORT",
		Short: "Find out what is on a port that no bus uses: driver, bit rate, parity",
		Long: `Find out what is on a port that no bus uses. It listens, and asks in the words of one driver
after the other, at the settings that lines usually have, until somebody answers; it only
reads. That takes some seconds mostly, and up to four minutes where nobody answers. A bus
that is put on the port meanwhile ends it, and so does Ctrl-C.`,
		Example: `  controllerd bus find-out /dev/serial/by-id/usb-FTDI_…
  controllerd bus find-out tcp://10.0.0.7`,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		view := newServiceView(c)
		done, err := doJob(c.Context(), a.local(), api.JobRequest{Kind: "findout", Port: given[0]}, func(j job[api.PortAnswer]) error {
			return view.follow(job[api.ServiceStep]{Job: j.Job})
		})
		view.endProgress()
		if err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), done.Items)
		}
		showAnswers(c.OutOrStdout(), done.Items)
		return nil
	}
	return c
}

// showAnswers tells who answered on a port, and how a bus is made of it.
func showAnswers(out io.Writer, list []api.PortAnswer) {
	for _, p := range list {
		who := "somebody"
		if p.Found.Address != "" {
			who = "address " + p.Found.Address
		}
		fmt.Fprintf(out, "%s (%s): %s\n", who, strings.Join(settingWords(p), ", "), p.Found.Detail)
		if p.Found.Trouble {
			fmt.Fprintf(out, "  → %s\n", p.Found.Advice)
			continue
		}
		flags := []string{"--driver " + p.Driver, fmt.Sprintf("--port %q", p.Port)}
		if p.Line.BaudRate > 0 {
			flags = append(flags, fmt.Sprintf("--baud %d --parity %s --stop-bits %d", p.Line.BaudRate, p.Line.Parity, p.Line.StopBits))
		}
		for key, value := range p.Options {
			flags = append(flags, fmt.Sprintf("--option %s=%s", key, value))
		}
		fmt.Fprintf(out, "  add it: controllerd bus add NAME %s\n", strings.Join(flags, " "))
	}
}

func settingWords(p api.PortAnswer) []string {
	words := []string{p.Driver}
	if p.Line.BaudRate > 0 {
		words = append(words, fmt.Sprintf("%d bit/s, parity %s", p.Line.BaudRate, p.Line.Parity))
	}
	for key, value := range p.Options {
		words = append(words, key+" "+value)
	}
	return words
}

// busFlags are the settings of a bus.
type busFlags struct {
	name, port, driver, parity string
	baud, stopBits             int
	options                    map[string]string
	off                        bool
}

func (f *busFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.port, "port", "", "`port`: /dev/serial/by-id/…, tcp://host:port or rtu+tcp://host:port")
	c.Flags().StringVar(&f.driver, "driver", "", "`driver`: modbus, sdn, dali or dmx")
	c.Flags().IntVar(&f.baud, "baud", 0, "bit rate; the driver's usual one if not given")
	c.Flags().StringVar(&f.parity, "parity", "", "parity: none, even or odd")
	c.Flags().IntVar(&f.stopBits, "stop-bits", 0, "stop bits: 1 or 2")
	c.Flags().StringToStringVar(&f.options, "option", nil, "`key=value` for the driver; may be repeated")
	c.Flags().BoolVar(&f.off, "off", false, "configured, but not opened")
}

// edit is what was given of a bus, on top of what it had.
func (f *busFlags) edit(c *cobra.Command, had api.Bus) (in api.BusEdit, err error) {
	if f.parity != "" && !slices.Contains([]string{"none", "even", "odd"}, f.parity) {
		return in, fmt.Errorf("--parity %q: want none, even or odd", f.parity)
	}
	given := c.Flags().Changed
	if given("port") {
		in.Port = &f.port
	}
	if given("driver") {
		in.Driver = &f.driver
	}
	if given("name") {
		in.Name = &f.name
	}
	if given("option") {
		in.Options = &f.options
	}
	if given("off") {
		in.Disabled = &f.off
	}
	line := had.Line
	if given("baud") {
		line.BaudRate = f.baud
	}
	if given("parity") {
		line.Parity = f.parity
	}
	if given("stop-bits") {
		line.StopBits = f.stopBits
	}
	if line != had.Line || given("baud") {
		in.Line = &line
	}
	return in, nil
}

func newBusAdd(a *App) *cobra.Command {
	var f busFlags
	c := &cobra.Command{
		Use:   "add NAME --port PORT --driver DRIVER",
		Short: "Add a bus; it is opened at once",
		Long: `Add a bus. It is opened at once, without a restart, and no other bus notices. 'bus find-out'
tells what to say here where nobody knows; 'bus scan' then finds the devices.`,
		Example: `  controllerd bus add ground-floor --port /dev/serial/by-id/usb-FTDI_… --driver modbus --baud 9600 --parity none --stop-bits 2
  controllerd bus add offices --port tcp://10.0.0.7:502 --driver modbus`,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	f.add(c)
	c.MarkFlagRequired("port")
	c.MarkFlagRequired("driver")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		in, err := f.edit(c, api.Bus{})
		if err != nil {
			return cli.Usage(err)
		}
		in.Name = &given[0]
		return a.putBus(c, http.MethodPost, "/buses", in, nil, *asJSON)
	}
	return c
}

func newBusChange(a *App) *cobra.Command {
	var f busFlags
	c := &cobra.Command{
		Use:   "change BUS",
		Short: "Change port, driver, settings or name of a bus; its devices stay",
		Example: `  controllerd bus change ground-floor --baud 19200 --parity even --stop-bits 1
  controllerd bus change ground-floor --name basement
  controllerd bus change ground-floor --off`,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	f.add(c)
	c.Flags().StringVar(&f.name, "name", "", "another `name`")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, given []string) error {
		b, err := a.findBus(c, given[0])
		if err != nil {
			return err
		}
		in, err := f.edit(c, b)
		if err != nil {
			return cli.Usage(err)
		}
		if in == (api.BusEdit{}) {
			return cli.Usage(errors.New("say what is to be changed: --port, --driver, --baud, --parity, --stop-bits, --option, --name or --off"))
		}
		return a.putBus(c, http.MethodPatch, pathOf("buses", b.UUID), in, map[string]string{"If-Match": b.ETag}, *asJSON)
	}
	return c
}

func newBusRemove(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "remove BUS",
		Short: "Remove a bus that no device is on any more",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, given []string) error {
			b, err := a.findBus(c, given[0])
			if err != nil {
				return err
			}
			res, err := a.local().askWith(c.Context(), http.MethodDelete, pathOf("buses", b.UUID), nil, map[string]string{"If-Match": b.ETag})
			if err != nil {
				return err
			}
			res.Body.Close()
			fmt.Fprintf(c.OutOrStdout(), "bus %s was removed\n", b.Name)
			return nil
		},
	}
}

func (a *App) findBus(c *cobra.Command, said string) (api.Bus, error) {
	var b api.BusDetail
	err := a.local().get(c.Context(), pathOf("buses", said), &b)
	return b.Bus, needsDaemon(err)
}

// putBus makes or changes a bus, and tells how it is some moments later.
func (a *App) putBus(c *cobra.Command, method, path string, in api.BusEdit, header map[string]string, asJSON bool) error {
	res, err := a.local().askWith(c.Context(), method, path, in, header)
	if err != nil {
		return needsDaemon(err)
	}
	var b api.BusDetail
	if err := received(res, &b); err != nil {
		return err
	}
	b.Bus = a.settled(c, b.Bus)
	if asJSON {
		if err := cli.PrintJSON(c.OutOrStdout(), b); err != nil {
			return err
		}
	} else {
		state := "is up"
		switch {
		case b.Disabled:
			state = "is switched off"
		case !b.Up:
			state = "is kept, and cannot be opened yet"
		}
		fmt.Fprintf(c.OutOrStdout(), "bus %s %s\n", b.Name, state)
	}
	if !b.Up && !b.Disabled {
		return errors.New(b.Fault)
	}
	return nil
}

// openMost is how long a command waits until a bus that it made or changed is open: a connection
// is given up after a second.
const openMost = 2500 * time.Millisecond

// settled is how a bus is once it was opened, or openMost later.
func (a *App) settled(c *cobra.Command, b api.Bus) api.Bus {
	for until := time.Now().Add(openMost); !b.Up && !b.Disabled && time.Now().Before(until); {
		select {
		case <-c.Context().Done():
			return b
		case <-time.After(100 * time.Millisecond):
		}
		if now, err := a.findBus(c, b.UUID); err == nil {
			b = now
		}
	}
	return b
}
