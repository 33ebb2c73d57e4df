// Command platformd is the cloud platform: the door by which programs, people and AI
// clients reach what buildings report.
//
// Alone it keeps all it knows in its data directory. With DATABASE_URL, REDIS_URL and
// MQTT_URL any number of instances share PostgreSQL, Redis and a broker.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"svc.internal/controller/platform/store"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run is main with an exit code: 0 done, 1 failed, 2 called wrongly.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := newRoot()
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "platformd: "+err.Error())
		if isUsage(err) {
			return 2
		}
		return 1
	}
	return 0
}

// usageError is a call that cannot be understood.
type usageError struct{ error }

func isUsage(err error) bool { return errors.As(err, &usageError{}) }

// app is what every command needs.
type app struct {
	dataDir  string
	logLevel slog.LevelVar
}

func newRoot() *cobra.Command {
	a := &app{}
	root := &cobra.Command{
		Use:           "platformd",
		Short:         "Cloud platform for buildings: API keys, assistant, MCP, link to controllers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&a.dataDir, "data-dir", "/var/lib/platformd", "`directory` that holds everything this platform knows, unless DATABASE_URL is set")
	root.PersistentFlags().TextVar(&a.logLevel, "log-level", &a.logLevel, "lowest `level` logged: DEBUG, INFO, WARN or ERROR")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nSee '%s --help'", err, c.CommandPath())}
	})
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if a.dataDir == "" { // else it would be whichever directory the shell is in
			return usageError{errors.New("--data-dir is empty; name a directory, or leave it out for " + root.PersistentFlags().Lookup("data-dir").DefValue)}
		}
		if err := c.ValidateRequiredFlags(); err != nil {
			return usageError{fmt.Errorf("%w\nUsage: %s", err, c.UseLine())}
		}
		return nil
	}
	group(root)
	root.AddCommand(newVoice(), newServe(a), newUser(a), newController(a), newVersion())
	manuals(root)
	return root
}

// group makes a command that only holds others: alone it shows its help, and what
// it does not hold is a wrong call.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, given []string) error {
		if len(given) == 0 {
			return nil
		}
		return usageError{fmt.Errorf("unknown command %q for %q\nSee '%s --help'", given[0], c.CommandPath(), c.CommandPath())}
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// args wraps a cobra check of arguments so that a wrong call exits with 2.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return usageError{fmt.Errorf("%w\nUsage: %s", err, c.UseLine())}
		}
		return nil
	}
}

// log writes to standard error, where systemd and people look.
func (a *app) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: &a.logLevel}))
}

// withNewStore opens the database for one command, or makes it: for the commands
// with which a new platform may begin.
func (a *app) withNewStore(ctx context.Context, do func(*store.Store) error) error {
	return a.with(ctx, store.Open, do)
}

// withStore opens the database for one command. One that reads makes none: what it
// would tell of a mistyped directory is nothing that anybody wants to know.
func (a *app) withStore(ctx context.Context, do func(*store.Store) error) error {
	return a.with(ctx, store.OpenExisting, do)
}

type openFunc func(ctx context.Context, dataDir, databaseURL string, log *slog.Logger) (*store.Store, error)

func (a *app) with(ctx context.Context, open openFunc, do func(*store.Store) error) error {
	s, err := open(ctx, a.dataDir, os.Getenv(databaseURL), a.log())
	if err != nil {
		return a.accessAdvice(err)
	}
	err = do(s)
	return errors.Join(err, s.Close())
}
