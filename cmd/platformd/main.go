// Command platformd is the cloud platform: the door by which programs, people and AI
// clients reach what buildings report.
//
// Alone it keeps all it knows in its data directory. With DATABASE_URL, REDIS_URL and
// MQTT_URL any number of instances share PostgreSQL, Redis and a broker.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"svc.internal/controller/platform/store"
	"svc.internal/controller/shelf/cli"
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
	root := &cobra.Command{Use: "platformd", Short: "Cloud platform for buildings: API keys, assistant, MCP, link to controllers"}
	cli.Setup(root, version, "this platform knows, unless DATABASE_URL is set", &a.dataDir, &a.logLevel)
	root.AddCommand(newVoice(), newServe(a), newUser(a), newController(a), newRooms(a))
	return root
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
	address := os.Getenv(databaseURL)
	if err := checkDatabaseURL(address); err != nil {
		return err
	}
	s, err := open(ctx, a.dataDir, address, cli.Log(&a.logLevel))
	if err != nil {
		return a.accessAdvice(err)
	}
	err = do(s)
	return errors.Join(err, s.Close())
}
