// Command controllerd runs a building's lights and shades.
//
// It serves the Controller 1.0 public API, drives the buses of the site that was
// imported into its data directory, and is its own tool for installers.
package main

import (
	"github.com/spf13/cobra"

	"svc.internal/controller/admin/console"
	"svc.internal/controller/shelf/cli"
)

// version is set by the build: -ldflags "-X main.version=…".
var version = "development"

func main() { cli.Main(newRoot(&app{console.App{Version: version}})) }

// app is the program: its commands share a data directory and a log level.
type app struct{ console.App }

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{Use: "controllerd", Short: "Controller for a building's lights and shades"}
	root.Long = root.Short + ".\n\nExit code of all commands: 0 done, 1 failed, 2 called wrongly; the help of a command tells of others."
	cli.Setup(root, version, "this controller knows", &a.DataDir, &a.LogLevel)
	root.AddCommand(newServe(a))
	root.AddCommand(a.Commands()...)
	return root
}
