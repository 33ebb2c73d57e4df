package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/site/backup"
	"svc.internal/controller/store"
)

func newBackup(a *App) *cobra.Command {
	var opts store.BackupOptions
	var phrase string
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write everything to one file, while the daemon runs or not",
		Long: `Write site, IDs, users, keys, secrets, last state, ledger, own profiles and an own certificate
to one consistent file, with a checksum, that can be restored on blank hardware. The file holds secrets:
keep it safe, or encrypt it with --passphrase-file, or with --to for whoever has the secret key (in the
format of age: name it FILE.age). With - for FILE it goes to standard output, to be sent elsewhere by a pipe.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) (err error) {
			if opts.Seal.Passphrase, err = passphraseFrom(c, phrase); err != nil {
				return err
			}
			if c.Flags().Changed("to") {
				if err := backup.CheckKey(opts.Seal.Key); err != nil {
					return cli.Usage(fmt.Errorf("--to: %w", err))
				}
			}
			if files[0] == "-" {
				return a.backupOut(c, opts.Seal)
			}
			return a.withStore(c.Context(), func(s *store.Store) error {
				err := s.Backup(c.Context(), files[0], opts)
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
	c.Flags().BoolVar(&opts.Overwrite, "overwrite", false, "replace a file that is there")
	c.Flags().StringVar(&opts.Seal.Key, "to", "", "encrypt it to this public `key`, such as one of \"controllerd backup key\"")
	passphraseFlag(c, &phrase)
	c.MarkFlagsMutuallyExclusive("to", "passphrase-file")
	c.AddCommand(newBackupKey(), newBackupOffsite(a))
	return c
}

func newBackupKey() *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Make a pair of keys for backups; nothing is kept of it here",
		Long: `Make a pair of keys, as age-keygen does, and print it in the same form. Backups are encrypted to the
public key, which may be known to anybody: give it to the controller (More, Backup in the pages). Only the
secret key opens them. It is printed this once and kept nowhere, so do this on a machine of your own, not
on the controller, and keep it in two places that no fire reaches at the same time.`,
		Example: "  controllerd backup key > owner.key\n  controllerd restore --passphrase-file owner.key site.backup.age",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			public, secret, err := backup.NewKey()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "# public key: %s\n%s\n", public, secret)
			return err
		},
	}
}

func passphraseFlag(c *cobra.Command, phrase *string) {
	c.Flags().StringVar(phrase, "passphrase-file", "", "`file` with the passphrase or the secret key of an encrypted backup; - for standard input")
}

// passphraseFrom reads a passphrase; nil if no file is named.
func passphraseFrom(c *cobra.Command, file string) (*string, error) {
	if file == "" {
		if c.Flags().Changed("passphrase-file") {
			return nil, cli.Usage(errors.New("--passphrase-file is empty"))
		}
		return nil, nil
	}
	phrase, err := secretFrom(c, "passphrase", file)
	return &phrase, err
}

// backupOut writes a backup to standard output, and nothing else.
func (a *App) backupOut(c *cobra.Command, seal backup.Seal) error {
	if cli.IsTerminal(c.OutOrStdout()) {
		return cli.Usage(errors.New("backup -: standard output is a terminal, and a backup is no text; send it to a file or another program"))
	}
	return a.withStore(c.Context(), func(s *store.Store) error { return s.BackupTo(c.Context(), c.OutOrStdout(), seal) })
}

func newRestore(a *App) *cobra.Command {
	var phrase string
	var drill bool
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Take everything from a backup; the daemon must be stopped",
		Long: `Take everything from a backup. The database that was there is kept beside the new
one, the last three of them. IDs that were handed out after the backup was made are not handed out
again. Everybody has to log in again. A damaged file is refused whole.

With --drill the backup is restored in memory, looked at and forgotten: nothing is changed, and the
daemon may run.

Exit code: 0 done, 1 it cannot be restored, 2 called wrongly, 3 with --drill: part of it cannot be read.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			passphrase, err := passphraseFrom(c, phrase)
			if err != nil {
				return err
			}
			if drill {
				d, err := store.Drill(c.Context(), files[0], passphrase)
				if err != nil {
					return err
				}
				return showDrill(c.OutOrStdout(), d)
			}
			done, err := store.Restore(c.Context(), files[0], a.DataDir, passphrase)
			if err != nil {
				return a.LockAdvice(err, "stop it first: systemctl stop controllerd")
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
	passphraseFlag(c, &phrase)
	c.Flags().BoolVar(&drill, "drill", false, "only try it, in memory")
	return c
}

func showDrill(w io.Writer, d store.Drilled) error {
	fmt.Fprintf(w, "made             %s\nbuses            %d\nnodes            %d\nshades           %d\nclusters         %d\nusers            %d\nAPI keys         %d\nprofiles         %d\nown certificate  %s\n",
		cli.When(d.Made), d.Buses, d.Nodes, d.Shades, d.Clusters, d.Users, d.Keys, d.Profiles, yesNo(d.Certificate))
	for _, u := range d.Unreadable {
		fmt.Fprintln(w, "cannot be read: "+u)
	}
	if len(d.Unreadable) > 0 {
		return found{errors.New("the backup can be restored, but not all of it can be read")}
	}
	_, err := fmt.Fprintln(w, "the backup is whole and can be restored")
	return err
}
