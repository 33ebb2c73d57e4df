package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"svc.internal/controller/store"
)

func newBackup(a *app) *cobra.Command {
	var overwrite bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write everything to one file, while the daemon runs or not",
		Long: `Write site, IDs, users, keys, secrets, last state and ledger to one consistent
file that can be restored on blank hardware. The file holds secrets: keep it safe.
With - for FILE it goes to standard output, to be sent elsewhere by a pipe.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			if files[0] == "-" {
				return a.backupOut(c)
			}
			return a.withStore(c.Context(), func(s *store.Store) error {
				err := s.Backup(c.Context(), files[0], store.BackupOptions{Overwrite: overwrite})
				if errors.Is(err, fs.ErrExist) {
					return fmt.Errorf("%w; --overwrite replaces it", err)
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "backed up to %s\n", files[0])
				return nil
			})
		},
	}
	c.Flags().BoolVar(&overwrite, "overwrite", false, "replace a file that is there")
	return c
}

// backupOut writes a backup to standard output, and nothing else.
func (a *app) backupOut(c *cobra.Command) error {
	if isTerminal(c.OutOrStdout()) {
		return usageError{errors.New("backup -: standard output is a terminal, and a backup is no text; send it to a file or another program")}
	}
	return a.withStore(c.Context(), func(s *store.Store) error { return s.BackupTo(c.Context(), c.OutOrStdout()) })
}

func newRestore(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Take everything from a backup; the daemon must be stopped",
		Long: `Take everything from a backup. The database that was there is kept beside the new
one. IDs that were handed out after the backup was made are not handed out again.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			done, err := store.Restore(c.Context(), files[0], a.dataDir)
			if err != nil {
				return a.lockAdvice(err, "stop it first: systemctl stop controllerd")
			}
			fmt.Fprintf(c.OutOrStdout(), "restored %s\n", files[0])
			if done.Replaced != "" {
				fmt.Fprintf(c.OutOrStdout(), "the database before is kept as %s\n", done.Replaced)
			}
			if done.Warning != "" {
				fmt.Fprintln(c.ErrOrStderr(), "warning: "+done.Warning)
			}
			return nil
		},
	}
}
