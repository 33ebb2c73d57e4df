//go:build !manuals

package cli

import "github.com/spf13/cobra"

func manuals(*cobra.Command, string) {}
