package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// jsonFlag adds --json to a command that lists things.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON for a script instead of a table for people")
}

// printJSON prints one indented value.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table prints rows in columns, with a heading.
func table(w io.Writer, heading []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heading, "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// listing prints rows as a table, or the line none if there is nothing to list.
func listing(c *cobra.Command, heading []string, rows [][]string, none string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(c.OutOrStdout(), none)
		return err
	}
	return table(c.OutOrStdout(), heading, rows)
}

// when prints a time of the board's own time zone, or a dash for never.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// stamp is a time for scripts: RFC 3339 in UTC, null for never.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}
