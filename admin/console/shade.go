package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/cli"
)

func newShade(a *App) *cobra.Command {
	shade := cli.Group(&cobra.Command{Use: "shade", Short: "List shades, move them, measure their travel times, find out which way they run"})
	shade.AddCommand(newShadeList(a), newShadeCalibrate(a), newShadeDirection(a))
	shade.AddCommand(newShadeMoves(a)...)
	return shade
}

func newShadeList(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List shades, where they are and what is known of them",
		Long: `List shades, where they are and what is known of them. POSITION is percent open; behind
± is how far off it may be where it is computed. POSITION BY: the motor tells it, it is
computed from travel times, or it cannot be told because these are not set.`,
		Args: cli.Args(cobra.NoArgs),
	}
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		shades, err := a.shades(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), shades)
		}
		var rows [][]string
		for _, s := range shades {
			rows = append(rows, []string{
				fmt.Sprint(s.ID), s.Name, s.Bus, shownPosition(s), s.Motion, positionBy(s),
				travelTime(s.TravelUp), travelTime(s.TravelDown), yesNo(s.Inverted), shadeState(s),
			})
		}
		return cli.Listing(c, []string{"ID", "NAME", "BUS", "POSITION", "MOTION", "POSITION BY", "TRAVEL UP", "TRAVEL DOWN", "INVERTED", "STATE"}, rows,
			"the site has no shades; write them in a site file and import it: controllerd site import FILE")
	}
	return c
}

// shades asks the daemon; without one nothing is known of them but the site.
func (a *App) shades(ctx context.Context) (list []api.Shade, err error) {
	err = a.local().get(ctx, "/shades", &list)
	return list, needsDaemon(err)
}

// needsDaemon says what to do where none runs.
func needsDaemon(err error) error {
	if errors.Is(err, errNotRunning) {
		return fmt.Errorf("%w; start it first, or look at the site with 'controllerd site export'", err)
	}
	return err
}

// findShade takes an ID, or a name that only one shade has.
func (a *App) findShade(ctx context.Context, said string) (found api.Shade, err error) {
	shades, err := a.shades(ctx)
	if err != nil {
		return found, err
	}
	return find(shades, said, "shade", "controllerd shade list", func(s *api.Shade) (appliance.ID, string) { return s.ID, s.Name })
}

func shownPosition(s api.Shade) string {
	switch {
	case s.Position == nil:
		return "-"
	case s.Uncertainty > 0:
		return fmt.Sprintf("%d ± %d %%", s.Position.Value, s.Uncertainty)
	}
	return fmt.Sprintf("%d %%", s.Position.Value)
}

func positionBy(s api.Shade) string {
	switch {
	case s.Measured:
		return "motor"
	case s.TravelUp > 0 && s.TravelDown > 0:
		return "travel time"
	}
	return "-"
}

func shadeState(s api.Shade) string {
	switch {
	case s.Fault != "":
		return s.Fault
	case s.Online:
		return "online"
	}
	return "offline"
}

// travelTime in the words of a site file.
func travelTime(seconds float64) string {
	if seconds == 0 {
		return "-"
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond).String()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func newShadeCalibrate(a *App) *cobra.Command {
	opts := api.JobRequest{Kind: "calibrate"}
	var yes bool
	c := &cobra.Command{
		Use:   "calibrate SHADE",
		Short: "Measure how long a shade travels up and down, and save it",
		Long: `Measure how long a shade travels up and down. It goes up to its end, then down and up the
whole way: once if its motor tells its position, which times it; twice if not, and you
press Enter when it stands. Runs that disagree are repeated. Answers that cannot be are
asked for again: within two seconds, or in less than half of the time of the other way. The daemon saves the times and uses them at once; nothing restarts. Old
times are replaced when you agree.

Nothing moves before you agree. The shade stops at once when you press Ctrl-C, and after
five minutes without its end. Any other command for the shade (STOP always works) and a
hand at the wall switch end the run too: the person in the room wins, and nothing is saved.
Do 'shade direction' first.

It is a job of the daemon: it goes on when this command is killed or its terminal is
closed, and 'controllerd job' finds it, takes its questions and cancels it.

SHADE is an ID or a name, see 'controllerd shade list'.`,
		Example: "  controllerd shade calibrate 5001\n  controllerd shade calibrate \"Lobby south\" --runs 3 --dry-run\n  controllerd shade calibrate 501 --yes --json",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	f := c.Flags()
	f.IntVar(&opts.Runs, "runs", 0, "how often both ways; 0: once if the motor tells its position, else twice")
	f.BoolVar(&opts.DryRun, "dry-run", false, "measure and save nothing")
	f.BoolVar(&yes, "yes", false, "ask nothing before it moves, and replace old times")
	c.RunE = func(c *cobra.Command, names []string) error {
		if opts.Runs < 0 {
			return cli.Usage(fmt.Errorf("--runs %d: want 1 or more, 0 for the usual number", opts.Runs))
		}
		s, err := a.findShade(c.Context(), names[0])
		if err != nil {
			return err
		}
		t := newTalk(c, a.local())
		t.say("Shade %d (%s) goes up to its end, and from there the whole way down and up. Mind what is in its way.\n", s.ID, s.Name)
		if !s.Measured {
			t.say("Stand where you see it. When it stands at an end, press Enter at once.\n")
		}
		t.say("Ctrl-C stops it at any time.\n")
		if err := t.agree(yes); err != nil {
			return err
		}
		opts.Shade, opts.Ask = s.ID, !s.Measured && !yes
		if yes {
			opts.OldTimes = "replace"
		}
		res, err := t.run(c.Context(), opts)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), res)
		}
		return showTravel(c.OutOrStdout(), res)
	}
	return c
}

func showTravel(w io.Writer, r *api.ShadeResult) error {
	var rows [][]string
	for _, way := range []struct {
		name     string
		t        *api.Travel
		old, now float64
	}{{"up", r.Up, r.Old.TravelUp, r.New.TravelUp}, {"down", r.Down, r.Old.TravelDown, r.New.TravelDown}} {
		var runs []string
		for _, s := range way.t.Runs {
			runs = append(runs, fmt.Sprintf("%.2f", s))
		}
		rows = append(rows, []string{way.name, fmt.Sprintf("%.2f s ± %.2f s", way.t.Seconds, way.t.Uncertainty), fmt.Sprintf("%.2f s", way.t.Spread),
			strings.Join(runs, ", "), travelTime(way.old) + " → " + travelTime(way.now)})
	}
	if err := cli.Table(w, []string{"WAY", "MEASURED", "SPREAD", "RUNS", "OLD → NEW"}, rows); err != nil {
		return err
	}
	return showSaved(w, r)
}

func showSaved(w io.Writer, r *api.ShadeResult) error {
	text := "saved, and in force\n"
	if !r.Saved {
		text = "nothing was saved\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

func showDirection(w io.Writer, r *api.ShadeResult) error {
	fmt.Fprintf(w, "inverted: %s → %s\n", yesNo(r.Old.Inverted), yesNo(r.New.Inverted))
	return showSaved(w, r)
}

func newShadeDirection(a *App) *cobra.Command {
	var dryRun, yes bool
	var known string
	c := &cobra.Command{
		Use:   "direction SHADE",
		Short: "Find out by watching which way a shade runs, and save it",
		Long: `Find out which way a shade runs. It moves for a second and a half, you say which way it
went, and it moves back. If it went the wrong way it is inverted from then on; the wires
stay as they are. With --answer nobody is asked: say which way the shade goes when it is
told to go up.

The shade stops at once when you press Ctrl-C; any other command for the shade ends it
too, and nothing is saved. A job of the daemon, as 'shade calibrate' is.

SHADE is an ID or a name, see 'controllerd shade list'.`,
		Example: "  controllerd shade direction 5001\n  controllerd shade direction 5001 --answer down --json",
		Args:    cli.Args(cobra.ExactArgs(1)),
	}
	asJSON := cli.JSONFlag(c)
	f := c.Flags()
	f.StringVar(&known, "answer", "", "for scripts: the `way` that the shade goes when it is told to go up: up or down")
	f.BoolVar(&dryRun, "dry-run", false, "find out and save nothing")
	f.BoolVar(&yes, "yes", false, "ask nothing before it moves")
	c.RunE = func(c *cobra.Command, names []string) error {
		if known != "" && known != "up" && known != "down" {
			return cli.Usage(fmt.Errorf("--answer %s: want up or down", known))
		}
		s, err := a.findShade(c.Context(), names[0])
		if err != nil {
			return err
		}
		t := newTalk(c, a.local())
		t.known = known
		t.say("Shade %d (%s) moves for a second and a half, and back. Watch which way it goes first.\n", s.ID, s.Name)
		if err := t.agree(yes || known != ""); err != nil {
			return err
		}
		res, err := t.run(c.Context(), api.JobRequest{Kind: "direction", Shade: s.ID, DryRun: dryRun})
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), res)
		}
		return showDirection(c.OutOrStdout(), res)
	}
	return c
}
