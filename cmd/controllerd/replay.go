package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sitefile"
)

// replayFlags say what is played and how answers are judged.
type replayFlags struct {
	site, speed         string
	buses               []string
	asJSON, ignoreValue bool
}

func newBusReplay(a *app) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay RECORDING",
		Short: "Play a recording into a simulated copy of the building, and compare the answers",
		Long: `Send the frames of a recording ('bus monitor --export') to a simulated copy of their buses,
and show which answers differ from the recorded ones. The copy is made for it from the
site of the data directory, or from --site, and lives in this program: no port is opened
and no daemon is asked, so that nothing real is ever sent a frame.

The copy begins dark, with shades half open: a value that was read before anything wrote it
may differ. --ignore-values counts an answer of the same kind with another value as alike.
Positions of moving shades come out right at --speed 1 only.

Exit code: 0 all answers are alike, 3 some are not, 1 it could not be done, 2 called
wrongly.`,
		Example: `  controllerd bus replay night.jsonl
  controllerd bus replay night.jsonl --site customer.yaml --bus ground-floor --speed 1`,
		Args: args(cobra.ExactArgs(1)),
	}
	c.Flags().StringVar(&f.site, "site", "", "site `file` to copy; without it the site of the data directory")
	c.Flags().StringSliceVar(&f.buses, "bus", nil, "only these `buses` of the recording")
	c.Flags().StringVar(&f.speed, "speed", "max", "1: as it was; max: each frame as soon as the one before is answered")
	c.Flags().BoolVar(&f.ignoreValue, "ignore-values", false, "answers of the same kind are alike")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, files []string) error {
		if f.asJSON = *asJSON; f.speed != "1" && f.speed != "max" {
			return usageError{fmt.Errorf("--speed %q: want 1 or max", f.speed)}
		}
		return a.replay(c, files[0], f)
	}
	return c
}

// replay plays all buses of a recording, each into a copy of its own.
func (a *app) replay(c *cobra.Command, path string, f replayFlags) error {
	turns, err := turnsOf(path, f.buses)
	if err != nil {
		return err
	}
	site, err := a.replayed(c.Context(), f.site)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(turns))
	reports := make([]replayReport, len(names))
	g, ctx := errgroup.WithContext(c.Context())
	for i, name := range names {
		g.Go(func() (err error) {
			if reports[i], err = replayBus(ctx, site, name, turns[name], f.speed == "1"); err != nil {
				return fmt.Errorf("replay bus %s: %w", name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return showReplay(c.OutOrStdout(), reports, f)
}

// replayed is the site to copy.
func (a *app) replayed(ctx context.Context, path string) (appliance.Site, error) {
	if path == "" {
		return a.site(ctx)
	}
	return sitefile.Read(path)
}

// turn is a frame that was sent and what was received until the next one.
type turn struct {
	sent    recorded
	answers []recorded
	until   time.Time // the next frame was sent; zero: there is none
	gap     bool      // frames are missing after it
}

// turnsOf reads the conversations of a recording, by bus.
func turnsOf(path string, only []string) (map[string][]turn, error) {
	var in io.Reader = os.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read a recording: %w", err)
		}
		defer f.Close()
		in = f
	}
	turns := make(map[string][]turn)
	err := readRecording(path, in, func(r recorded) error {
		list := turns[r.Bus]
		if r.Lost > 0 && len(list) > 0 && (len(only) == 0 || slices.Contains(only, r.Bus)) {
			list[len(list)-1].gap = true
		}
		switch {
		case len(only) > 0 && !slices.Contains(only, r.Bus), r.Hex == "", r.Direction == "sent" && r.Note != "":
			return nil // not wanted, a lost port, or a frame that did not get out whole
		case r.Direction == "sent":
			if n := len(list); n > 0 {
				list[n-1].until = r.At
			}
			turns[r.Bus] = append(list, turn{sent: r})
		case r.Direction == "received" && len(list) > 0 && !list[len(list)-1].gap:
			list[len(list)-1].answers = append(list[len(list)-1].answers, r)
		}
		return nil
	})
	for name, list := range turns {
		// The end of a recording may have cut off the answer to its last question.
		if last := len(list) - 1; last > 0 && len(list[last].answers) == 0 {
			turns[name] = list[:last]
		}
	}
	if err == nil && len(turns) == 0 {
		err = fmt.Errorf("%s: no frames that were sent", path)
	}
	for _, name := range only {
		if err == nil && turns[name] == nil {
			err = fmt.Errorf("%s: no frames that were sent on bus %q; it has %s", path, name, strings.Join(slices.Sorted(maps.Keys(turns)), ", "))
		}
	}
	return turns, err
}

// Verdicts on an answer.
const (
	verdictAlike   = "alike"
	verdictValue   = "other value"
	verdictOther   = "other answer"
	verdictMissing = "no answer"
	verdictExtra   = "answer where there was none"
)

// replayReport is what came of one bus.
type replayReport struct {
	Bus      string         `json:"bus"`
	Sent     int            `json:"sent"`
	Gaps     int            `json:"gaps"` // frames that were sent and whose answers were not judged
	Verdicts map[string]int `json:"verdicts"`
	Diffs    []replayDiff   `json:"differences"`
}

// replayDiff is an answer that is not the recorded one.
type replayDiff struct {
	At       time.Time `json:"at"`
	Verdict  string    `json:"verdict"`
	Sent     string    `json:"sent"`
	Recorded string    `json:"recorded"`
	Got      string    `json:"got"`
}

// replayDiffs bounds what is kept of a bus.
const replayDiffs = 10_000

// shownDiffs is how many differences of a bus people are shown.
const shownDiffs = 20

// showReplay prints what came of each bus; the error says that answers differ.
func showReplay(out io.Writer, reports []replayReport, f replayFlags) error {
	bad := 0
	for _, r := range reports {
		for verdict, n := range r.Verdicts {
			if verdict != verdictAlike && !(verdict == verdictValue && f.ignoreValue) {
				bad += n
			}
		}
	}
	if f.asJSON {
		if err := printJSON(out, reports); err != nil {
			return err
		}
	} else if err := reportTables(out, reports); err != nil {
		return err
	}
	if bad > 0 {
		return troubleError{fmt.Sprintf("%s not as recorded", count(bad, "answer is", "answers are"))}
	}
	return nil
}

func reportTables(out io.Writer, reports []replayReport) error {
	for _, r := range reports {
		line := fmt.Sprintf("bus %s: %s sent to its simulated copy", r.Bus, count(r.Sent, "frame", "frames"))
		for _, verdict := range []string{verdictAlike, verdictValue, verdictOther, verdictMissing, verdictExtra} {
			if n := r.Verdicts[verdict]; n > 0 {
				line += fmt.Sprintf(", %d %s", n, verdict)
			}
		}
		if r.Gaps > 0 {
			line += fmt.Sprintf(", %d not judged, since frames are missing after them in the recording", r.Gaps)
		}
		fmt.Fprintln(out, line)
		var rows [][]string
		for _, d := range r.Diffs[:min(shownDiffs, len(r.Diffs))] {
			rows = append(rows, []string{d.At.Local().Format("15:04:05.000"), d.Verdict, d.Sent, orDash(d.Recorded), orDash(d.Got)})
		}
		if len(rows) == 0 {
			continue
		}
		if err := table(out, []string{"TIME", "WHAT", "SENT", "RECORDED", "SIMULATED"}, rows); err != nil {
			return err
		}
		if more := len(r.Diffs) - len(rows); more > 0 {
			fmt.Fprintf(out, "and %d more (--json shows all)\n", more)
		}
	}
	return nil
}
