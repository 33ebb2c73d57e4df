// Command controllerd runs a building's lights and shades.
//
// It serves the Controller 1.0 public API, drives the buses of the site that was
// imported into its data directory, and is its own tool for installers.
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

	"svc.internal/controller/store"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run is main with an exit code: 0 done, 1 failed, 2 called wrongly, others as the
// command says.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := newRoot()
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "controllerd: "+err.Error())
		var own interface{ ExitCode() int }
		switch {
		case isUsage(err):
			return 2
		case errors.As(err, &own):
			return own.ExitCode()
		}
		return 1
	}
	return 0
}

// usageError is a call that cannot be understood.
type usageError struct{ error }

func isUsage(err error) bool { _, ok := err.(usageError); return ok }

// app is what every command needs.
type app struct {
	dataDir  string
	logLevel slog.LevelVar
}

func newRoot() *cobra.Command {
	a := &app{}
	root := &cobra.Command{
		Use:           "controllerd",
		Short:         "Controller for a building's lights and shades",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&a.dataDir, "data-dir", "/var/lib/controllerd", "`directory` that holds everything this controller knows")
	root.PersistentFlags().Var(levelFlag{&a.logLevel}, "log-level", "lowest `level` logged: DEBUG, INFO, WARN or ERROR")
	// A command that only holds others is not called alone. (A usage template would say
	// so more shortly, but templates keep every exported method in the program, which
	// makes it 3 MB larger in memory, too.)
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		if c.HasAvailableSubCommands() {
			defer func(run func(*cobra.Command, []string) error) { c.RunE = run }(c.RunE)
			c.RunE = nil
		}
		return usage(c)
	})
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
		if err := c.ValidateFlagGroups(); err != nil {
			return usageError{fmt.Errorf("%s\nSee '%s --help'", flagGroups(err), c.CommandPath())}
		}
		return nil
	}
	group(root)
	root.AddCommand(newServe(a), newUser(a), newKey(a), newBackup(a), newRestore(a), newVersion())
	root.AddCommand(newSite(a), newBus(a), newLight(a), newShade(a), newNode(a), newCluster(a), newJob(a))
	root.AddCommand(newCloudCommand(a), newMigrate(a), newConformance(), newUpdate(a))
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

// withNewStore opens the database for one command, or makes it: for the commands
// with which a new controller may begin.
func (a *app) withNewStore(ctx context.Context, do func(*store.Store) error) error {
	return a.with(ctx, store.Open, do)
}

// withStore opens the database for one command. One that reads makes none: what it
// would tell of a mistyped directory is nothing that anybody wants to know.
func (a *app) withStore(ctx context.Context, do func(*store.Store) error) error {
	return a.with(ctx, store.OpenExisting, do)
}

func (a *app) with(ctx context.Context, open func(context.Context, string, *slog.Logger) (*store.Store, error), do func(*store.Store) error) error {
	s, err := open(ctx, a.dataDir, a.log())
	if err != nil {
		return a.accessAdvice(err)
	}
	err = do(s)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}
