package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/site/sitefile"
	"svc.internal/controller/store"
)

func newSite(a *App) *cobra.Command {
	site := cli.Group(&cobra.Command{Use: "site", Short: "Import, export and check the description of the building"})
	site.AddCommand(newSiteImport(a), newSiteExport(a), newSiteCheck(a), newSiteSchema(), newProfiles(a))
	return site
}

func newSiteImport(a *App) *cobra.Command {
	var opts store.ImportOptions
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Take over a site file, all of it or nothing",
		Long: `Take over a site file, all of it or nothing. Entries are recognised by uuid, else by id,
else by name; what is recognised keeps its ID, what is new gets one that was never used.
Entries that the file does not mention stay, unless --replace is given. A running daemon
takes the change over within a second; buses that did not change go on undisturbed.
With - for FILE standard input is read.`,
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.Flags().BoolVar(&opts.Replace, "replace", false, "retire entries that the file does not mention; their IDs are never used again")
	quiet := c.Flags().Bool("quiet", false, "print nothing if all went well")
	c.Flags().BoolVar(&opts.Preview, "preview", false, "tell what would be done, and do nothing")
	c.MarkFlagsMutuallyExclusive("quiet", "json")
	c.MarkFlagsMutuallyExclusive("quiet", "preview")
	c.RunE = func(c *cobra.Command, files []string) error {
		site, err := operations.CheckedSite(a.DataDir, files[0], c.InOrStdin())
		if err != nil {
			return err
		}
		opts.By = "controllerd site import"
		open := a.withNewStore
		if opts.Preview {
			open = a.withStoreOrEmpty
		}
		return open(c.Context(), func(s *store.Store) error {
			report, err := s.Import(c.Context(), site, opts)
			if err != nil {
				return err
			}
			if report.Writes() && !opts.Preview {
				note(c.Context(), s, account.Audit{What: "site.import", Subject: "site",
					Detail: fmt.Sprintf(`{"created":%d,"returned":%d,"changed":%d,"retired":%d}`, len(report.Created), len(report.Returned), len(report.Changed), len(report.Retired))})
			}
			switch {
			case *quiet:
				return nil
			case *asJSON:
				return cli.PrintJSON(c.OutOrStdout(), operations.SiteReport(report))
			}
			return showReport(c.OutOrStdout(), report)
		})
	}
	return c
}

// withStoreOrEmpty opens the database for a command that changes nothing, or where
// there is none yet an empty one that goes away again.
func (a *App) withStoreOrEmpty(ctx context.Context, do func(*store.Store) error) error {
	err := a.withStore(ctx, do)
	if !errors.Is(err, store.ErrNoDatabase) {
		return err
	}
	dir, err := os.MkdirTemp("", "controllerd-preview-")
	if err != nil {
		return fmt.Errorf("preview for a new controller: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(os.Stderr, "there is no controller's database in %s yet; this is what a new one would take over\n", a.DataDir)
	empty := App{DataDir: dir}
	empty.LogLevel.Set(a.LogLevel.Level())
	return empty.withNewStore(ctx, do)
}

// showReport tells an installer what an import did.
func showReport(w io.Writer, r store.Report) error {
	var rows [][]string
	add := func(what string, items []store.Item) {
		for _, it := range items {
			id := "-"
			if it.ID != 0 {
				id = fmt.Sprint(it.ID)
			}
			rows = append(rows, []string{what, string(it.Family), id, it.Name, changesText(it.Changes)})
		}
	}
	add("created", r.Created)
	add("returned", r.Returned)
	add("changed", r.Changed)
	add("retired", r.Retired)
	if len(rows) > 0 {
		if err := cli.Table(w, []string{"WHAT", "FAMILY", "ID", "NAME", "OLD → NEW"}, rows); err != nil {
			return err
		}
	}
	if len(r.Site) > 0 {
		fmt.Fprintf(w, "changed of the site itself: %s\n", strings.Join(r.Site, ", "))
	}
	verb := "imported"
	if r.Preview {
		verb = "preview, nothing was changed"
	}
	_, err := fmt.Fprintf(w, "%s: %d created, %d returned, %d changed, %d unchanged, %d retired\n",
		verb, len(r.Created), len(r.Returned), len(r.Changed), len(r.Unchanged), len(r.Retired))
	return err
}

// changesText is what an import changes of an entry: "address 5 → 6".
func changesText(changes []store.KeyChange) string {
	var parts []string
	for _, c := range changes {
		parts = append(parts, fmt.Sprintf("%s %s → %s", c.Key, orDash(c.Old), orDash(c.New)))
	}
	return orDash(strings.Join(parts, "; "))
}

func newSiteExport(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the site, with all IDs, to a file or standard output",
		Args:  cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			return a.export(c.Context(), c.OutOrStdout(), files)
		},
	}
}

func (a *App) export(ctx context.Context, out io.Writer, files []string) error {
	var site appliance.Site
	var faults []appliance.Fault
	err := a.withStore(ctx, func(s *store.Store) (err error) {
		if site, faults, err = s.Site(ctx); err == nil {
			faults = append(faults, s.Pictures(ctx, &site)...)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(files) == 0 || files[0] == "-" {
		return errors.Join(sitefile.Write(out, site), operations.Incomplete(faults))
	}
	f, err := os.OpenFile(files[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("export site: %w; choose another name, a file that is there is never replaced", err)
	}
	if err != nil {
		return fmt.Errorf("export site: %w", err)
	}
	err = sitefile.Write(f, site)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(files[0]) // half a site, which --replace would take for a whole one
		return err
	}
	return operations.Incomplete(faults)
}
