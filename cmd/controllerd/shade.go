package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"svc.internal/controller/appliance"
	"svc.internal/controller/console"
)

func newShade(a *app) *cobra.Command {
	shade := group(&cobra.Command{Use: "shade", Short: "List shades, measure their travel times, find out which way they run"})
	shade.AddCommand(newShadeList(a), newShadeCalibrate(a), newShadeDirection(a))
	return shade
}

func newShadeList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List shades, where they are and what is known of them",
		Long: `List shades, where they are and what is known of them. POSITION is percent open; behind
± is how far off it may be where it is computed. POSITION BY: the motor tells it, it is
computed from travel times, or it cannot be told because these are not set.`,
		Args: args(cobra.NoArgs),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		shades, err := a.shades(c.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(c.OutOrStdout(), shades)
		}
		var rows [][]string
		for _, s := range shades {
			rows = append(rows, []string{
				fmt.Sprint(s.ID), s.Name, s.Bus, shownPosition(s), s.Motion, positionBy(s),
				orDash(s.TravelUp), orDash(s.TravelDown), yesNo(s.Inverted), shadeState(s),
			})
		}
		return listing(c, []string{"ID", "NAME", "BUS", "POSITION", "MOTION", "POSITION BY", "TRAVEL UP", "TRAVEL DOWN", "INVERTED", "STATE"}, rows,
			"the site has no shades; write them in a site file and import it: controllerd site import FILE")
	}
	return c
}

// shades asks the daemon; without one nothing is known of them but the site.
func (a *app) shades(ctx context.Context) ([]console.Shade, error) {
	shades, err := console.NewClient(a.dataDir).Shades(ctx)
	if errors.Is(err, console.ErrNotRunning) {
		return nil, fmt.Errorf("%w; start it first, or look at the site with 'controllerd site export'", err)
	}
	return shades, err
}

// findShade takes an ID, or a name that only one shade has.
func (a *app) findShade(ctx context.Context, text string) (found console.Shade, err error) {
	shades, err := a.shades(ctx)
	if err != nil {
		return found, err
	}
	matches := 0
	for _, s := range shades {
		if strconv.Itoa(int(s.ID)) == text {
			return s, nil
		}
		if s.Name == text {
			found, matches = s, matches+1
		}
	}
	switch matches {
	case 1:
		return found, nil
	case 0:
		return found, fmt.Errorf("shade %q: %w; 'controllerd shade list' shows those there are", text, appliance.ErrNotFound)
	}
	return found, fmt.Errorf("shade %q: %d shades have this name; say which by its ID ('controllerd shade list')", text, matches)
}

func shownPosition(s console.Shade) string {
	switch {
	case s.Position == nil:
		return "-"
	case s.Uncertainty > 0:
		return fmt.Sprintf("%d ± %d %%", *s.Position, s.Uncertainty)
	}
	return fmt.Sprintf("%d %%", *s.Position)
}

func positionBy(s console.Shade) string {
	switch {
	case s.Measured:
		return "motor"
	case s.TravelUp != "" && s.TravelDown != "":
		return "travel time"
	}
	return "-"
}

func shadeState(s console.Shade) string {
	switch {
	case s.Fault != "":
		return s.Fault
	case s.Online:
		return "online"
	}
	return "offline"
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

func newShadeCalibrate(a *app) *cobra.Command {
	var opts console.CalibrateOptions
	var yes bool
	c := &cobra.Command{
		Use:   "calibrate SHADE",
		Short: "Measure how long a shade travels up and down, and save it",
		Long: `Measure how long a shade travels up and down. It goes up to its end, then down and up the
whole way: once if its motor tells its position, which times it; twice if not, and you
press Enter when it stands. Runs that disagree are repeated. The daemon saves the times
and uses them at once; nothing restarts.

Nothing moves before you agree. The shade stops at once when you press Ctrl-C, when this
command ends or loses its connection, and after five minutes without its end. Any other
command for the shade (STOP always works) and a hand at the wall switch end the run too:
the person in the room wins, and nothing is saved. Do 'shade direction' first.

SHADE is an ID or a name, see 'controllerd shade list'.`,
		Example: "  controllerd shade calibrate 5001\n  controllerd shade calibrate \"Lobby south\" --runs 3 --dry-run\n  controllerd shade calibrate 501 --yes --json",
		Args:    args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(c)
	f := c.Flags()
	f.IntVar(&opts.Runs, "runs", 0, "how often both ways; 0: once if the motor tells its position, else twice")
	f.BoolVar(&opts.DryRun, "dry-run", false, "measure and save nothing")
	f.BoolVar(&yes, "yes", false, "ask nothing before it moves")
	c.RunE = func(c *cobra.Command, names []string) error {
		if opts.Runs < 0 {
			return usageError{fmt.Errorf("--runs %d: want 1 or more, 0 for the usual number", opts.Runs)}
		}
		s, err := a.findShade(c.Context(), names[0])
		if err != nil {
			return err
		}
		t := newTalk(c, console.NewClient(a.dataDir), s)
		t.say("%s goes up to its end, and from there the whole way down and up. Mind what is in its way.\n", t.name())
		if !s.Measured {
			t.say("Stand where you see it. When it stands at an end, press Enter at once.\n")
		}
		t.say("Ctrl-C stops it at any time.\n")
		if err := t.agree(yes); err != nil {
			return err
		}
		opts.Ask = !s.Measured && !yes
		res, err := t.run(c.Context(), func(ctx context.Context, each func(console.ShadeEvent) error) error {
			return t.client.Calibrate(ctx, s.ID, opts, each)
		})
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(c.OutOrStdout(), res)
		}
		return showTravel(c.OutOrStdout(), res)
	}
	return c
}

func showTravel(w io.Writer, r *console.ShadeResult) error {
	var rows [][]string
	for _, way := range []struct {
		name     string
		t        *console.Travel
		old, now string
	}{{"up", r.Up, r.Old.TravelUp, r.New.TravelUp}, {"down", r.Down, r.Old.TravelDown, r.New.TravelDown}} {
		var runs []string
		for _, s := range way.t.Runs {
			runs = append(runs, fmt.Sprintf("%.2f", s))
		}
		rows = append(rows, []string{way.name, fmt.Sprintf("%.2f s ± %.2f s", way.t.Seconds, way.t.Uncertainty), fmt.Sprintf("%.2f s", way.t.Spread),
			strings.Join(runs, ", "), orDash(way.old) + " → " + way.now})
	}
	if err := table(w, []string{"WAY", "MEASURED", "SPREAD", "RUNS", "OLD → NEW"}, rows); err != nil {
		return err
	}
	return showSaved(w, r)
}

func showSaved(w io.Writer, r *console.ShadeResult) error {
	text := "saved, and in force\n"
	if !r.Saved {
		text = "dry run: nothing was saved\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

func newShadeDirection(a *app) *cobra.Command {
	var dryRun, yes bool
	var known string
	c := &cobra.Command{
		Use:   "direction SHADE",
		Short: "Find out by watching which way a shade runs, and save it",
		Long: `Find out which way a shade runs. It moves for a second and a half, you say which way it
went, and it moves back. If it went the wrong way it is inverted from then on; the wires
stay as they are. With --answer nobody is asked: say which way the shade goes when it is
told to go up.

The shade stops at once when you press Ctrl-C, when this command ends or loses its
connection; any other command for the shade ends it too, and nothing is saved.

SHADE is an ID or a name, see 'controllerd shade list'.`,
		Example: "  controllerd shade direction 5001\n  controllerd shade direction 5001 --answer down --json",
		Args:    args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(c)
	f := c.Flags()
	f.StringVar(&known, "answer", "", "for scripts: `up` or down, where the shade goes when it is told to go up")
	f.BoolVar(&dryRun, "dry-run", false, "find out and save nothing")
	f.BoolVar(&yes, "yes", false, "ask nothing before it moves")
	c.RunE = func(c *cobra.Command, names []string) error {
		if known != "" && known != console.WentUp && known != console.WentDown {
			return usageError{fmt.Errorf("--answer %s: want up or down", known)}
		}
		s, err := a.findShade(c.Context(), names[0])
		if err != nil {
			return err
		}
		t := newTalk(c, console.NewClient(a.dataDir), s)
		t.known = known
		t.say("%s moves for a second and a half, and back. Watch which way it goes first.\n", t.name())
		if err := t.agree(yes || known != ""); err != nil {
			return err
		}
		res, err := t.run(c.Context(), func(ctx context.Context, each func(console.ShadeEvent) error) error {
			return t.client.Direction(ctx, s.ID, dryRun, each)
		})
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(c.OutOrStdout(), res)
		}
		fmt.Fprintf(c.OutOrStdout(), "inverted: %s → %s\n", yesNo(res.Old.Inverted), yesNo(res.New.Inverted))
		return showSaved(c.OutOrStdout(), res)
	}
	return c
}
