//go:build !manuals

package main

import "github.com/spf13/cobra"

func manuals(*cobra.Command) {}
