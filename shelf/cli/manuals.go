//go:build manuals

package cli

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manuals adds the command that "make manuals" calls. It is not in the daemon that people run, since it brings a markdown
// renderer along.
func manuals(root *cobra.Command, version string) {
	root.AddCommand(&cobra.Command{
		Use:    "manuals DIRECTORY",
		Hidden: true,
		Args:   Args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, given []string) error {
			if err := os.MkdirAll(given[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true // the same text each time
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "controller " + version, Manual: "Building controller"}, given[0])
		},
	})
}
