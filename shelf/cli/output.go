package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// JSONFlag adds --json to a command that lists or changes things.
func JSONFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON for a script instead of a table for people")
}

// PrintJSON prints one indented value.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Table prints rows in columns, with a heading.
func Table(w io.Writer, heading []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heading, "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// Listing prints rows as a table, or the line none if there is nothing to list.
func Listing(c *cobra.Command, heading []string, rows [][]string, none string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(c.OutOrStdout(), none)
		return err
	}
	return Table(c.OutOrStdout(), heading, rows)
}

// When prints a time of the board's own time zone, or a dash for never.
func When(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// Stamp is a time for scripts: RFC 3339 in UTC, null for never.
func Stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}
