// Package console is controllerd as its operators type it: commands that ask the running
// daemon over the socket in its data directory, or work on that directory themselves.
package console

import (
	"context"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"svc.internal/controller/drivers/line"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/store"
)

// App is what every command needs.
type App struct {
	DataDir  string
	LogLevel slog.LevelVar
	Version  string      // of the program
	Ports    *line.Ports // that buses are opened on; nil: this machine's
	// Daemon connects to the one that runs; nil: over the socket in DataDir.
	Daemon func(context.Context) (net.Conn, error)
}

// Commands are all that operators have.
func (a *App) Commands() []*cobra.Command {
	return []*cobra.Command{
		newUser(a), newKey(a), newBackup(a), newRestore(a),
		newSite(a), newBus(a), newLight(a), newShade(a), newScene(a), newRule(a), newNode(a), newCluster(a), newJob(a), newHistory(a),
		newCloud(a), newMigrate(a), newConformance(), newUpdate(a), newPrepare(a),
	}
}

// withNewStore opens the database for one command, or makes it: for the commands
// with which a new controller may begin.
func (a *App) withNewStore(ctx context.Context, do func(*store.Store) error) error {
	return a.with(ctx, store.Open, do)
}

// withStore opens the database for one command. One that reads makes none: what it
// would tell of a mistyped directory is nothing that anybody wants to know.
func (a *App) withStore(ctx context.Context, do func(*store.Store) error) error {
	return a.with(ctx, store.OpenExisting, do)
}

func (a *App) with(ctx context.Context, open func(context.Context, string, *slog.Logger) (*store.Store, error), do func(*store.Store) error) error {
	s, err := open(ctx, a.DataDir, cli.Log(&a.LogLevel))
	if err != nil {
		return a.accessAdvice(err)
	}
	err = do(s)
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return err
}
