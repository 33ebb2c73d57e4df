package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/site/migration"
	"svc.internal/controller/site/migration/reader"
	"svc.internal/controller/store"
)

// found is the error of a command that did its work and found what somebody has to look
// at: conflicts, drift.
type found struct{ error }

func (found) ExitCode() int { return 3 }

func newMigrate(a *App) *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use:   "migrate",
		Short: "Take over clusters, nodes and shades from another controller, with their IDs",
		Long: `Take over clusters, nodes and shades from a Controller 1.0, or another controller with the
same public API, with their IDs, names and memberships. The other controller is only
read, slowly, and never commanded. What comes over is offline until it is bound to a bus and
an address. Look first (preview), then apply; undo takes it back.

Exit code: 0 done, 1 failed, 2 called wrongly, 3 conflicts or drift found.`,
	})
	c.AddCommand(newMigratePreview(a), newMigrateApply(a), newMigrateUndo(a), newMigrateDrift(a), newMigrateList(a))
	return c
}

// source is the other controller of a migration.
type source struct {
	remote
	timeout time.Duration
}

func (s *source) flags(c *cobra.Command) {
	s.remote.flags(c, "from")
	c.Flags().DurationVar(&s.timeout, "timeout", 20*time.Second, "how long one answer may take")
}

// read reads the other house, and tells how it is read again.
func (s *source) read(c *cobra.Command) (house migration.House, again store.Watch, err error) {
	if _, err := reader.Source(s.url); err != nil {
		return house, again, cli.Usage(fmt.Errorf("--from %w", err))
	}
	by, err := s.trust()
	if err != nil {
		return house, again, err
	}
	if _, err := by.Config(s.host()); err != nil {
		return house, again, cli.Usage(err)
	}
	cfg := reader.Config{URL: s.url, Username: s.username, Timeout: s.timeout}
	if cfg.Password, err = secretFrom(c, "password", s.passwordFile); err != nil {
		return house, again, err
	}
	house, again, err = operations.ReadHouse(c.Context(), cfg, by, s.host())
	return house, again, untrusted(err, "that controller")
}

func newMigratePreview(a *App) *cobra.Command {
	var from source
	c := &cobra.Command{
		Use:     "preview --from URL --username NAME --password-file FILE (--ca-file FILE | --fingerprint SHA256)",
		Short:   "Tell what would come over, and what stands in the way; change nothing",
		Long:    "Tell what would come over, and what stands in the way; change nothing. Exit code 3 if there are conflicts.",
		Example: "  controllerd migrate preview --from https://old-controller.local --username bms --password-file bms.txt --fingerprint 9F:…",
		Args:    cli.Args(cobra.NoArgs),
	}
	from.flags(c)
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		house, _, err := from.read(c)
		if err != nil {
			return err
		}
		return a.withStoreOrEmpty(c.Context(), func(s *store.Store) error {
			plan, err := s.PlanMigration(c.Context(), house)
			if err != nil {
				return err
			}
			if err := showPlan(c.OutOrStdout(), plan, *asJSON); err != nil {
				return err
			}
			return conflicting(plan)
		})
	}
	return c
}

// conflicting is the error of a plan with conflicts.
func conflicting(plan migration.Plan) error {
	if n := len(plan.Conflicts); n > 0 {
		return found{fmt.Errorf("%d conflicts: nothing is ever given another ID; 'migrate apply --on-conflict skip' leaves them out", n)}
	}
	return nil
}

func showPlan(w io.Writer, plan migration.Plan, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(w, plan)
	}
	var rows [][]string
	counts := map[migration.Action]int{}
	for _, l := range []struct {
		family migration.Family
		items  []migration.Item
	}{{migration.Clusters, plan.Clusters}, {migration.Nodes, plan.Nodes}, {migration.Shades, plan.Shades}} {
		for _, it := range l.items {
			counts[it.Action]++
			if it.Action != migration.Unchanged {
				rows = append(rows, []string{string(it.Action), string(l.family), fmt.Sprint(it.ID), it.Name})
			}
		}
	}
	if len(rows) > 0 {
		if err := cli.Table(w, []string{"WHAT", "FAMILY", "ID", "NAME"}, rows); err != nil {
			return err
		}
	}
	for _, c := range plan.Conflicts {
		fmt.Fprintf(w, "conflict: %s %d (%s): %s\n", c.Kind, c.ID, c.There, c.Here)
	}
	for _, ch := range plan.Changes {
		fmt.Fprintln(w, "since last time: "+changeText(ch))
	}
	for _, text := range plan.Warnings {
		fmt.Fprintln(w, "warning: "+text)
	}
	_, err := fmt.Fprintf(w, "%d new, %d back, %d renamed or changed, %d unchanged, %d in conflict\n",
		counts[migration.Create], counts[migration.Return], counts[migration.Rename]+counts[migration.Join], counts[migration.Unchanged], counts[migration.Skip])
	return err
}

func changeText(c migration.Change) string {
	switch c.What {
	case "renamed":
		return fmt.Sprintf("%s %d was renamed from %q to %q", c.Kind, c.ID, c.Here, c.There)
	case "new":
		return fmt.Sprintf("%s %d (%s) is new", c.Kind, c.ID, c.There)
	case "gone":
		return fmt.Sprintf("%s %d (%s) is gone there; it stays here until somebody removes it", c.Kind, c.ID, c.Here)
	case "joined":
		return fmt.Sprintf("%s joined cluster %d", c.There, c.ID)
	}
	return fmt.Sprintf("%s left cluster %d there; it stays in it here", c.Here, c.ID)
}

func newMigrateApply(a *App) *cobra.Command {
	var from source
	var onConflict string
	var watch bool
	t := store.Takeover{By: "controllerd migrate"}
	c := &cobra.Command{
		Use:   "apply --from URL --username NAME --password-file FILE (--ca-file FILE | --fingerprint SHA256)",
		Short: "Take everything over, all of it or nothing; it does not ask",
		Long: `Take everything over, all of it or nothing; it does not ask. The daemon may run: it takes the
change over within a second. A second apply takes what is new or renamed there; what is gone
there is only told. A backup is made before.`,
		Args: cli.Args(cobra.NoArgs),
	}
	from.flags(c)
	asJSON := cli.JSONFlag(c)
	c.Flags().StringVar(&onConflict, "on-conflict", "refuse", "`what` to do: refuse everything, or skip what conflicts")
	c.Flags().BoolVar(&watch, "watch", false, "look every night for what has changed there; its refresh token is kept for that; --watch=false: no more")
	c.Flags().BoolVar(&t.InvertShades, "invert-shades", false, "100 meant closed there (compare a shade with its number): turn the direction of shades on the public API")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if onConflict != "refuse" && onConflict != "skip" {
			return cli.Usage(fmt.Errorf("--on-conflict %s: want refuse or skip", onConflict))
		}
		t.Skip = onConflict == "skip"
		house, again, err := from.read(c)
		if err != nil {
			return err
		}
		t.House = house
		return a.withNewStore(c.Context(), func(s *store.Store) error {
			if watch {
				t.Watch = &again
			} else if c.Flags().Changed("watch") {
				if err := s.EndWatch(c.Context(), house.Source); err != nil && !errors.Is(err, appliance.ErrNotFound) {
					return err
				}
			}
			return a.apply(c, s, t, *asJSON)
		})
	}
	return c
}

func (a *App) apply(c *cobra.Command, s *store.Store, t store.Takeover, asJSON bool) error {
	id, plan, kept, err := operations.TakeOver(c.Context(), s, a.DataDir, t)
	if errors.Is(err, store.ErrConflicts) {
		return errors.Join(showPlan(c.OutOrStdout(), plan, asJSON), conflicting(plan))
	}
	if err != nil {
		return err
	}
	if err := showPlan(c.OutOrStdout(), plan, asJSON); err != nil {
		return err
	}
	if id == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "nothing is new; nothing was changed")
		return nil
	}
	noteMigration(c.Context(), s, "migration.apply", t.House.Source, id)
	fmt.Fprintf(c.ErrOrStderr(), "taken over as migration %d; 'controllerd migrate undo' takes it back. The backup of before is %s\n", id, kept)
	return nil
}

// noteMigration writes into the audit log what was done from here.
func noteMigration(ctx context.Context, s *store.Store, what, source string, id int64) {
	note(ctx, s, account.Audit{What: what, Subject: fmt.Sprintf("migration %d from %s", id, source)})
}

func newMigrateUndo(a *App) *cobra.Command {
	var id int64
	var force bool
	c := &cobra.Command{
		Use:   "undo [--migration ID]",
		Short: "Take a migration back: what came over is removed, what it changed is as it was",
		Long: `Take a migration back, the newest that holds if none is named: what came over is removed and its
IDs are never used again, unless the same controller is migrated again. What was bound, renamed
or otherwise changed since is listed and nothing is done, unless --force is given: exit code 3.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c.Context(), func(s *store.Store) error {
				done, err := s.UndoMigration(c.Context(), id, force, "controllerd migrate undo")
				var edited *store.Edited
				if errors.As(err, &edited) {
					return found{fmt.Errorf("%w\nnothing was undone; --force undoes it all the same", err)}
				}
				if err != nil {
					return listAdvice(err, "controllerd migrate list")
				}
				noteMigration(c.Context(), s, "migration.undo", "another controller", done)
				_, err = fmt.Fprintf(c.OutOrStdout(), "migration %d is undone\n", done)
				return err
			})
		},
	}
	c.Flags().Int64Var(&id, "migration", 0, "`ID` of the migration; the newest that holds if left out")
	c.Flags().BoolVar(&force, "force", false, "undo it although it was changed since")
	return c
}

func newMigrateDrift(a *App) *cobra.Command {
	var from source
	c := &cobra.Command{
		Use:   "drift --from URL --username NAME --password-file FILE (--ca-file FILE | --fingerprint SHA256)",
		Short: "Tell how the other controller differs from when it was taken over",
		Long:  "Tell how the other controller differs from when it was taken over. Exit code 3 if it does.",
		Args:  cli.Args(cobra.NoArgs),
	}
	from.flags(c)
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		house, _, err := from.read(c)
		if err != nil {
			return err
		}
		return a.withStore(c.Context(), func(s *store.Store) error {
			plan, err := s.PlanMigration(c.Context(), house)
			if err != nil {
				return err
			}
			if err := showDrift(c.OutOrStdout(), plan, *asJSON); err != nil {
				return err
			}
			if n := len(plan.Changes); n > 0 {
				return found{fmt.Errorf("%d differences since it was taken over; 'controllerd migrate apply' takes what is new or renamed", n)}
			}
			return conflicting(plan)
		})
	}
	return c
}

func showDrift(w io.Writer, plan migration.Plan, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(w, plan)
	}
	for _, ch := range plan.Changes {
		fmt.Fprintln(w, changeText(ch))
	}
	if len(plan.Changes) == 0 {
		_, err := fmt.Fprintln(w, "no difference")
		return err
	}
	return nil
}

func newMigrateList(a *App) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the migrations that were made", Args: cli.Args(cobra.NoArgs)}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withStore(c.Context(), func(s *store.Store) error {
			list, err := s.Migrations(c.Context())
			if err != nil {
				return err
			}
			type row struct {
				ID       int64   `json:"id"`
				Source   string  `json:"source"`
				At       *string `json:"at"`
				By       string  `json:"by"`
				UndoneAt *string `json:"undoneAt"`
				Clusters int     `json:"clusters"`
				Nodes    int     `json:"nodes"`
				Shades   int     `json:"shades"`
				Watch    *looks  `json:"watch"`
			}
			out, rows := []row{}, [][]string{}
			for _, m := range list {
				out = append(out, row{m.ID, m.Source, cli.Stamp(m.At), m.By, cli.Stamp(m.UndoneAt), m.Taken.Clusters, m.Taken.Nodes, m.Taken.Shades, looksOf(m.Watch)})
				rows = append(rows, []string{fmt.Sprint(m.ID), m.Source, cli.When(m.At), fmt.Sprint(m.Taken.Clusters), fmt.Sprint(m.Taken.Nodes), fmt.Sprint(m.Taken.Shades), cli.When(m.UndoneAt), looksOf(m.Watch).text()})
			}
			if *asJSON {
				return cli.PrintJSON(c.OutOrStdout(), out)
			}
			return cli.Listing(c, []string{"ID", "FROM", "AT", "CLUSTERS", "NODES", "SHADES", "UNDONE", "WATCHED"}, rows, "nothing was migrated yet")
		})
	}
	return c
}

// looks is what looking at a house every night has found; nil: nobody looks.
type looks struct {
	LookedAt    *string `json:"lookedAt"`
	Differences int     `json:"differences"`
	Trouble     string  `json:"trouble,omitempty"`
}

func looksOf(w *store.Watch) *looks {
	if w == nil {
		return nil
	}
	return &looks{cli.Stamp(w.LookedAt), w.Differences, w.Trouble}
}

func (l *looks) text() string {
	switch {
	case l == nil:
		return "-"
	case l.Trouble != "":
		return "in vain: " + l.Trouble
	}
	return fmt.Sprintf("%d differences", l.Differences)
}
