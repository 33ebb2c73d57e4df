// Package cli is what the command lines of both daemons share: how a program is called
// and ends, what its tables, lists and times look like, and how it asks for a password.
package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a program with the arguments it was called with and ends the process: with 0
// done, 1 failed, 2 called wrongly, others as the error says by a method ExitCode. A
// first signal ends the context of the command, a second the process at once.
func Main(root *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, root))
}

// Run runs a program, says on its standard error why it failed, and returns its exit code.
func Run(ctx context.Context, root *cobra.Command) int {
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(root.ErrOrStderr(), root.Name()+": "+err.Error())
	var own interface{ ExitCode() int }
	if errors.As(err, &own) {
		return own.ExitCode()
	}
	return 1
}

// usageError is a call that cannot be understood.
type usageError struct{ error }

func (usageError) ExitCode() int   { return 2 }
func (e usageError) Unwrap() error { return e.error }

// Usage makes err one of a call that cannot be understood.
func Usage(err error) error { return usageError{err} }

// Setup makes root the command of a whole daemon, with the flags that all its commands
// have. holds is whatever its data directory holds everything of.
func Setup(root *cobra.Command, version, holds string, dataDir *string, level *slog.LevelVar) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(dataDir, "data-dir", "/var/lib/"+root.Name(), "`directory` that holds everything "+holds)
	root.PersistentFlags().Var(levelFlag{level}, "log-level", "lowest `level` logged: DEBUG, INFO, WARN or ERROR")
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
		return Usage(fmt.Errorf("%w\nSee '%s --help'", err, c.CommandPath()))
	})
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if *dataDir == "" { // else it would be whichever directory the shell is in
			return Usage(errors.New("--data-dir is empty; name a directory, or leave it out for " + root.PersistentFlags().Lookup("data-dir").DefValue))
		}
		if err := c.ValidateRequiredFlags(); err != nil {
			return Usage(fmt.Errorf("%w\nUsage: %s", err, c.UseLine()))
		}
		if err := c.ValidateFlagGroups(); err != nil {
			return Usage(fmt.Errorf("%s\nSee '%s --help'", flagGroups(err), c.CommandPath()))
		}
		return nil
	}
	Group(root)
	root.AddCommand(newVersion(root.Name(), version))
	manuals(root, version)
}

// Group makes a command that only holds others: alone it shows its help, and what
// it does not hold is a wrong call.
func Group(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, given []string) error {
		if len(given) == 0 {
			return nil
		}
		return Usage(fmt.Errorf("unknown command %q for %q\nSee '%s --help'", given[0], c.CommandPath(), c.CommandPath()))
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// Args wraps a cobra check of arguments so that a wrong call is told as such.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return Usage(fmt.Errorf("%w\nUsage: %s", err, c.UseLine()))
		}
		return nil
	}
}
