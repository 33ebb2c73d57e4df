package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/cli"
)

const offsitePath = "/backup/offsite"

func newBackupOffsite(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "offsite",
		Short: "Tell how it stands with the copies of backups that leave the box by themselves",
		Long: `Tell how it stands with the copies of backups that the running daemon makes each night outside of the box,
on a USB stick and on a WebDAV server or in an S3 bucket, encrypted to the owner's public key.`,
		Args: cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var now api.OffsiteBackups
		if err := a.local().get(c.Context(), offsitePath, &now); err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), now)
		}
		showOffsite(c.OutOrStdout(), now)
		return nil
	}
	c.AddCommand(newOffsiteSet(a), newOffsiteNow(a))
	return c
}

func newOffsiteSet(a *App) *cobra.Command {
	var edit api.OffsiteEdit
	var where api.OffsiteServerEdit
	var webdav, s3, passwordFile, caFile string
	c := &cobra.Command{
		Use:   "set --key age1… [--stick] [--webdav URL | --s3 URL]",
		Short: "Say to whose key, and to where, copies leave the box, in the place of what was said before",
		Long: `Say to whose key, and to where, copies of backups leave the box, in the place of all that was said before. The
password is read from a file, is kept in the database and is told to nobody; left out it stays, if address and
user do.`,
		Example: "  controllerd backup offsite set --key age1… --webdav https://cloud.example/dav/backups --user me --password-file pw.txt",
		Args:    cli.Args(cobra.NoArgs),
	}
	f := c.Flags()
	f.StringVar(&edit.Key, "key", "", "public `key` of the owner; \"\" ends it all")
	f.IntVar(&edit.Keep, "keep", 14, "how many of the newest stay in each place")
	f.BoolVar(&edit.Stick, "stick", false, "on the USB stick")
	f.StringVar(&webdav, "webdav", "", "in this folder of a WebDAV server, an https `URL`")
	f.StringVar(&s3, "s3", "", "in this bucket, `URL` such as https://server/bucket or https://server/bucket/folder")
	f.StringVar(&where.User, "user", "", "`name` of the user, of S3 the access key")
	f.StringVar(&passwordFile, "password-file", "", "`file` with the password, of S3 the secret key; - for standard input")
	f.StringVar(&where.Region, "region", "", "`region` of the bucket; us-east-1 if left out")
	f.StringVar(&where.Fingerprint, "fingerprint", "", "`SHA256` fingerprint of the server's certificate")
	f.StringVar(&caFile, "ca-file", "", "PEM `file` with the certificate to trust the server by")
	c.MarkFlagRequired("key")
	c.MarkFlagsMutuallyExclusive("webdav", "s3")
	c.MarkFlagsMutuallyExclusive("ca-file", "fingerprint")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if passwordFile != "" {
			if where.Password, err = secretFrom(c, "password", passwordFile); err != nil {
				return err
			}
		}
		if caFile != "" {
			pem, err := os.ReadFile(caFile)
			if err != nil {
				return fmt.Errorf("read --ca-file: %w", err)
			}
			where.CA = string(pem)
		}
		if where.URL = cmp.Or(webdav, s3); where.URL != "" {
			if where.Kind = "webdav"; s3 != "" {
				where.Kind = "s3"
			}
			edit.Server = &where
		}
		var now api.OffsiteBackups
		if err := a.local().call(c.Context(), http.MethodPut, offsitePath, edit, &now); err != nil {
			return needsDaemon(err)
		}
		_, err = fmt.Fprintln(c.OutOrStdout(), "kept; try it with: controllerd backup offsite now")
		return err
	}
	return c
}

func newOffsiteNow(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "now",
		Short: "Make a copy in each place now, and tell what became of it",
		Long: `Make a copy in each place now, and tell what became of it. Ctrl-C ends the telling only.

Exit code: 0 each copy was made and read back, 1 one was not.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			var now api.OffsiteBackups
			if err := a.local().call(c.Context(), http.MethodPost, offsitePath+"/try", nil, &now); err != nil {
				return needsDaemon(err)
			}
			if err := a.offsiteDone(c.Context(), &now); err != nil {
				return err
			}
			showOffsite(c.OutOrStdout(), now)
			if s := now.Stick; s != nil && s.Failed != nil {
				return errors.New("no copy was made on the stick")
			}
			if s := now.Server; s != nil && s.Copies.Failed != nil {
				return errors.New("no copy was made on the server")
			}
			return nil
		},
	}
}

// offsiteDone waits until no copy is being made any more.
func (a *App) offsiteDone(ctx context.Context, now *api.OffsiteBackups) error {
	for now.UnderWay {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		*now = api.OffsiteBackups{}
		if err := a.local().get(ctx, offsitePath, now); err != nil {
			return needsDaemon(err)
		}
	}
	return nil
}

func showOffsite(w io.Writer, o api.OffsiteBackups) {
	if o.Stick == nil && o.Server == nil {
		fmt.Fprintln(w, "no copies of backups leave the box; controllerd backup offsite set says where to")
		return
	}
	fmt.Fprintf(w, "key     %s\nnames   controller-%s-…\nkept    %d\n", o.Key, o.Series, o.Keep)
	if o.Stick != nil {
		fmt.Fprintln(w, "stick")
		showCopies(w, *o.Stick)
	}
	if o.Server != nil {
		fmt.Fprintf(w, "server  %s\n", o.Server.URL)
		showCopies(w, o.Server.Copies)
	}
	if o.UnderWay {
		fmt.Fprintln(w, "a copy is being made")
	}
}

func showCopies(w io.Writer, c api.OffsiteCopies) {
	last := "never"
	if c.Last != nil {
		last = cli.When(*c.Last) + "  " + c.File
	}
	if c.Overdue {
		last += "  OVERDUE"
	}
	fmt.Fprintf(w, "  last    %s\n", last)
	if c.Failed != nil {
		fmt.Fprintf(w, "  failed  %s  %s\n", cli.When(*c.Failed), c.Why)
	}
	if c.Note != "" {
		fmt.Fprintf(w, "  note    %s\n", c.Note)
	}
}
