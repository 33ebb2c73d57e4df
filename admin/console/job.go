package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newJob(a *App) *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use:   "job",
		Short: "Look at long work of the daemon: follow it, answer it, cancel it",
		Long: `Look at long work of the daemon: scans, calibrations, commissioning. Such work goes on when
whoever began it has left, from a browser or a terminal, and is seen, answered and
cancelled from every other.`,
	})
	c.AddCommand(newJobList(a), newJobShow(a), newJobFollow(a), newJobCancel(a))
	return c
}

func newJobList(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the work under way, and the last 64 that ended",
		Args:  cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var jobs []api.Job
		if err := a.local().get(c.Context(), "/jobs", &jobs); err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), jobs)
		}
		var rows [][]string
		for _, j := range jobs {
			rows = append(rows, []string{j.ID, jobKind(j), j.Subject, j.By, jobState(j), moment(j.StartedAt), moment(j.EndedAt), orDash(jobProgress(j))})
		}
		return cli.Listing(c, []string{"ID", "WORK", "ON", "BEGUN BY", "STATE", "BEGUN", "ENDED", "HOW FAR"}, rows, "no long work was begun since the daemon started")
	}
	return c
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return cli.When(*t)
}

// jobKind is what is done; a service of a driver by its own name.
func jobKind(j api.Job) string {
	if j.Service != "" {
		return j.Service
	}
	return j.Kind
}

func jobState(j api.Job) string {
	if j.Question != nil {
		return "asks"
	}
	return j.State
}

func jobProgress(j api.Job) string {
	switch {
	case j.Error != "":
		return j.Error
	case over(j) && j.Found > 0:
		return count(j.Found, "finding", "findings")
	case over(j):
		return ""
	case j.Progress.Share > 0:
		return fmt.Sprintf("%.0f %%, %s", 100*j.Progress.Share, j.Progress.Text)
	}
	return j.Progress.Text
}

func newJobShow(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show a piece of work and what it found so far",
		Args:  cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, ids []string) error {
		var j api.Job
		if err := a.local().get(c.Context(), pathOf("jobs", ids[0]), &j); err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), j)
		}
		rows := [][]string{{"work", jobKind(j)}, {"on", j.Subject}, {"begun by", j.By}, {"begun", moment(j.StartedAt)}, {"ended", moment(j.EndedAt)},
			{"state", jobState(j)}, {"how far", orDash(jobProgress(j))}}
		if err := cli.Table(c.OutOrStdout(), []string{"ID", j.ID}, rows); err != nil || j.Found == 0 && j.Result == nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout())
		return a.showFound(c.Context(), c.OutOrStdout(), j.ID, j.Kind)
	}
	return c
}

// showFound prints what a job found out, as the command does that begins such jobs.
func (a *App) showFound(ctx context.Context, out io.Writer, id, kind string) error {
	client, path := a.local(), pathOf("jobs", id)
	switch appliance.JobKind(kind) {
	case appliance.JobScan:
		var j job[api.Found]
		view := &scanView{out: out}
		if err := errors.Join(client.get(ctx, path, &j), a.knows(ctx, view, j.Bus)); err != nil {
			return err
		}
		view.take(j)
		return view.end()
	case appliance.JobFindOut:
		var j job[api.PortAnswer]
		if err := client.get(ctx, path, &j); err != nil {
			return err
		}
		showAnswers(out, j.Items)
		return nil
	case appliance.JobService:
		var j job[api.ServiceStep]
		if err := client.get(ctx, path, &j); err != nil {
			return err
		}
		return (&serviceView{out: out, told: j.Items}).show(false)
	case appliance.JobGroups:
		var j job[api.GroupStep]
		if err := client.get(ctx, path, &j); err != nil {
			return err
		}
		return stepTeller(out)(j)
	case appliance.JobCalibrate, appliance.JobDirection:
		var j shadeJob
		if err := client.get(ctx, path, &j); err != nil {
			return err
		}
		return showRun(out, j)
	}
	return nil
}

// showRun prints what a run of a shade found out: the legs while there is no result.
func showRun(out io.Writer, j shadeJob) error {
	switch {
	case j.Result != nil && j.Result.Up != nil:
		return showTravel(out, j.Result)
	case j.Result != nil:
		return showDirection(out, j.Result)
	}
	for _, leg := range j.Items {
		fmt.Fprintf(out, "run %d, %s: %.2f s ± %.2f s\n", leg.Run, upDown(leg.Up), leg.Seconds, leg.Uncertainty)
	}
	return nil
}

// knows tells a view of a scan which nodes the site has on that bus.
func (a *App) knows(ctx context.Context, view *scanView, bus string) error {
	site, err := a.site(ctx)
	if err != nil {
		return err
	}
	view.site, view.bus.Name, view.known = site, bus, true
	return nil
}

func newJobFollow(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "follow ID",
		Short: "Follow a piece of work to its end, and answer what it asks",
		Long: `Follow a piece of work to its end, and answer what it asks of whoever stands before a shade.
Ctrl-C ends the following; the work goes on. Exit code: 0 it is done, 1 it failed or was
cancelled.`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, ids []string) error {
			var j api.Job
			if err := a.local().get(c.Context(), pathOf("jobs", ids[0]), &j); err != nil {
				return needsDaemon(err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s of %s, begun by %s at %s\n", jobKind(j), j.Subject, j.By, moment(j.StartedAt))
			err := a.follow(c, j)
			if c.Context().Err() != nil {
				fmt.Fprintln(c.ErrOrStderr(), "not followed any more; the work goes on")
				return nil
			}
			if err != nil {
				return err
			}
			return a.showFound(c.Context(), c.OutOrStdout(), j.ID, j.Kind)
		},
	}
}

// follow shows how a job goes on until it is over.
func (a *App) follow(c *cobra.Command, j api.Job) (err error) {
	ctx, client := c.Context(), a.local()
	var progress io.Writer
	if cli.IsTerminal(c.ErrOrStderr()) {
		progress = c.ErrOrStderr()
	}
	switch appliance.JobKind(j.Kind) {
	case appliance.JobScan:
		view := &scanView{progress: progress}
		_, err = watchJob(ctx, client, j.ID, view.follow)
		view.endProgress()
	case appliance.JobService:
		view := &serviceView{progress: progress}
		_, err = watchJob(ctx, client, j.ID, view.follow)
		view.endProgress()
	case appliance.JobGroups:
		_, err = watchJob(ctx, client, j.ID, stepTeller(c.ErrOrStderr()))
	case appliance.JobCalibrate, appliance.JobDirection:
		t := newTalk(c, client)
		t.onlooker = true
		_, err = t.follow(ctx, j.ID)
	default:
		_, err = watchJob[any](ctx, client, j.ID, nil)
	}
	return err
}

func newJobCancel(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel a piece of work; a shade that it moves is stopped",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, ids []string) error {
			client := a.local()
			if _, err := client.cancel(c.Context(), ids[0]); err != nil {
				return needsDaemon(err)
			}
			late, cancel := context.WithTimeout(c.Context(), cancelWait)
			defer cancel()
			j, err := watchJob[any](late, client, ids[0], nil)
			switch {
			case errors.Is(late.Err(), context.DeadlineExceeded):
				return fmt.Errorf("%s of %s was told to end and has not after %v; 'controllerd job show %s' tells when it has", jobKind(j.Job), j.Subject, cancelWait, ids[0])
			case !over(j.Job):
				return err
			case j.State != "cancelled":
				return fmt.Errorf("it was over before: %s", j.State)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s of %s: %s\n", jobKind(j.Job), j.Subject, j.Error)
			return nil
		},
	}
}

// cancelWait is how long a cancelled job may take to put things in order.
const cancelWait = 15 * time.Second
