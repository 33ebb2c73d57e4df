package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
)

// Alone is a bus that is opened for a scan and nothing else: no command, no poll.
type Alone struct {
	Drivers map[string]appliance.OpenFunc
	DataDir string // of installers' own profiles
	// Wait is how long its port may take to open.
	Wait time.Duration
}

// Scan opens the only bus of site, scans it, and closes it. It calls step before each address is
// asked, and found for whatever there is to tell. An error that the port cannot be opened names the bus,
// its port and the reason.
func (a Alone) Scan(ctx context.Context, site appliance.Site, opts appliance.ScanOptions, step func(address string), found func(appliance.Found)) error {
	bus := site.Buses[0]
	core := control.New(control.Options{Drivers: withoutPolls(a.Drivers), DataDir: a.DataDir})
	core.Apply(site, nil)
	for _, fault := range core.Snapshot().Faults {
		if fault.Where == "bus "+bus.Name {
			if strings.HasPrefix(fault.What, fault.Where) {
				return errors.New(fault.What)
			}
			return fmt.Errorf("%s: %s", fault.Where, fault.What)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- core.Run(ctx) }()
	defer func() { cancel(); <-done }()
	if err := awaitUp(ctx, core, a.Wait); err != nil {
		return err
	}
	return core.Scan(ctx, bus.Name, opts, step, found)
}

// withoutPolls makes drivers that know their nodes and poll none of them, so that
// nothing but the scan is sent.
func withoutPolls(all map[string]appliance.OpenFunc) map[string]appliance.OpenFunc {
	quiet := make(map[string]appliance.OpenFunc, len(all))
	for name, open := range all {
		quiet[name] = func(cfg appliance.BusConfig) (appliance.Opened, error) {
			opened, err := open(cfg)
			if err != nil {
				return opened, err
			}
			scanner, scans := opened.Driver.(appliance.Scanner)
			linker, links := opened.Driver.(appliance.Linker)
			if !scans || !links {
				return opened, fmt.Errorf("driver %q cannot scan", cfg.Bus.Driver)
			}
			opened.Driver = unpolled{opened.Driver, scanner, linker}
			return opened, nil
		}
	}
	return quiet
}

// unpolled is a driver whose nodes are not polled.
type unpolled struct {
	appliance.Driver
	appliance.Scanner
	appliance.Linker
}

// Polls is nothing.
func (unpolled) Polls() []appliance.Poll { return nil }

// awaitUp waits until the only bus is up.
func awaitUp(ctx context.Context, core *control.Controller, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
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
