// Command controllerd runs a building's lights and shades.
//
// It serves the Controller 1.0 public API, drives the buses of the site that was
// imported into its data directory, and is its own tool for installers.
package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"svc.internal/controller/cli"
	"svc.internal/controller/store"
)

// version is set by the build: -ldflags "-X main.version=…".
var version = "development"

func main() { cli.Main(newRoot()) }

// app is what every command needs.
type app struct {
	dataDir  string
	logLevel slog.LevelVar
}

func newRoot() *cobra.Command {
	a := &app{}
	root := &cobra.Command{Use: "controllerd", Short: "Controller for a building's lights and shades"}
	root.Long = root.Short + ".\n\nExit code of all commands: 0 done, 1 failed, 2 called wrongly; the help of a command tells of others."
	cli.Setup(root, version, "this controller knows", &a.dataDir, &a.logLevel)
	root.AddCommand(newServe(a), newUser(a), newKey(a), newBackup(a), newRestore(a))
	root.AddCommand(newSite(a), newBus(a), newLight(a), newShade(a), newNode(a), newCluster(a), newJob(a))
	root.AddCommand(newCloudCommand(a), newMigrate(a), newConformance(), newUpdate(a))
	return root
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
	s, err := open(ctx, a.dataDir, cli.Log(&a.logLevel))
	if err != nil {
		return a.accessAdvice(err)
	}
	err = do(s)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}
