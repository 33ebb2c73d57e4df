// Command simbuilding plays the building that a site file describes: a believable
// device behind every node, on loopback ports and pseudo-terminals. It also plays
// recordings into such a building.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/drivers/line"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/sim"
	"svc.internal/controller/site/sitefile"
)

func main() {
	line.SharpTimers() // threads inherit it: first of all
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "simbuilding:", err)
		os.Exit(exitCode(err))
	}
}

// usageError is a call that cannot be understood.
type usageError struct{ error }

// exitCode: 1 failed, 2 called wrongly, 3 a replay found differences.
func exitCode(err error) int {
	switch {
	case errors.As(err, new(usageError)):
		return 2
	case errors.As(err, new(differError)):
		return 3
	}
	return 1
}

// settings are the flags.
type settings struct {
	site, listen, logLevel string
	options                sim.Options
}

func command() *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "simbuilding --site FILE",
		Short: "Play the building that a site file describes",
		Long: `Play the building that a site file describes: a believable device behind every
node. Buses at tcp:// and rtu+tcp:// listen on their loopback port, serial
buses become pseudo-terminals linked at their path. Prints one line per bus when
it is ready; Ctrl-C ends everything. The control interface is described in
docs/simbuilding.md.`,
		Args: func(c *cobra.Command, given []string) error {
			if len(given) == 0 {
				return nil
			}
			return wrongCall(c, fmt.Errorf("%q is not understood", given[0]))
		},
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.site == "" {
				return wrongCall(c, errors.New("--site is missing"))
			}
			return run(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), s)
		},
	}
	f := c.Flags()
	f.StringVar(&s.site, "site", "", "site file, the same that the controller imports (required)")
	f.StringVar(&s.listen, "listen", "127.0.0.1:8090", "loopback address of the control interface")
	f.Int64Var(&s.options.Seed, "seed", 1, "seed of everything random: which exchanges faults strike, and how")
	f.Float64Var(&s.options.BaseLoad, "base-load", 25, "W that every meter sees besides the outputs of its bus")
	f.DurationVar(&s.options.DALIFade, "dali-fade", 0, "time DALI gear takes from 0 to 100 %")
	f.StringSliceVar(&s.options.NewGear, "new-gear", nil, "DALI `buses` whose gear comes from its box, without addresses, to be commissioned")
	f.Float64Var(&s.options.DALISpeed, "dali-speed", 1, "how many times faster than real DALI lines are")
	f.BoolVar(&s.options.SilentGateways, "silent-gateways", false, "Modbus TCP gateways stay silent for units that do not exist, instead of exception 0B")
	f.StringVar(&s.logLevel, "log-level", "warn", "debug, info, warn or error; the log goes to standard error")
	c.SetFlagErrorFunc(wrongCall)
	c.CompletionOptions.HiddenDefaultCmd = true
	c.AddCommand(replayCommand())
	return c
}

func wrongCall(c *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w\nUsage: %s; see also --help", err, c.UseLine())}
}

// How long requests of the control interface may take.
const (
	headerTimeout   = 5 * time.Second
	requestTimeout  = 30 * time.Second
	shutdownTimeout = 2 * time.Second
)

func run(ctx context.Context, out, logTo io.Writer, s settings) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return usageError{fmt.Errorf("--log-level %q: want debug, info, warn or error", s.logLevel)}
	}
	s.options.Log = slog.New(slog.NewTextHandler(logTo, &slog.HandlerOptions{Level: level}))
	if s.options.BaseLoad < 0 || s.options.DALIFade < 0 || s.options.DALISpeed < 0 {
		return usageError{errors.New("--base-load, --dali-fade and --dali-speed must not be negative")}
	}
	site, err := sitefile.Read(s.site)
	if err != nil {
		return err
	}
	building, err := sim.New(site, s.options)
	if err != nil {
		return fmt.Errorf("site file %s: %w", s.site, err)
	}
	ln, err := listen(ctx, s.listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: web.OnLoopback(building.Handler()), ReadHeaderTimeout: headerTimeout,
		ReadTimeout: requestTimeout, WriteTimeout: requestTimeout}

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return building.Run(ctx) })
	g.Go(func() error {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("control interface: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return server.Shutdown(last)
	})
	g.Go(func() error {
		select {
		case <-building.Ready():
		case <-ctx.Done():
			return nil
		}
		for _, b := range building.Buses() {
			fmt.Fprintf(out, "bus %s ready at %s, %d units\n", b.Name, b.Port, b.Units)
		}
		fmt.Fprintf(out, "control interface at http://%s\n", ln.Addr())
		return nil
	})
	return g.Wait()
}

// listen opens the control interface, which has no authentication: loopback only.
func listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usageError{fmt.Errorf("--listen %s: want 127.0.0.1:port: %w", address, err)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usageError{fmt.Errorf("--listen %s: the control interface has no authentication and is served on loopback only, such as 127.0.0.1:8090", address)}
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("control interface: %w; another program has it: choose another with --listen", err)
	}
	if err != nil {
		return nil, fmt.Errorf("control interface: %w", err)
	}
	return ln, nil
}
