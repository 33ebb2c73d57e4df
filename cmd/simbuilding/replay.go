package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"svc.internal/controller/site/recording"
	"svc.internal/controller/site/sitefile"
)

// replayFlags say what is played and how answers are judged.
type replayFlags struct {
	site, speed         string
	buses               []string
	asJSON, ignoreValue bool
}

func replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay RECORDING --site FILE",
		Short: "Play a recording into a simulated copy of the building, and compare the answers",
		Long: `Send the frames of a recording ('controllerd bus monitor --export') to a simulated copy of
their buses, and show which answers differ from the recorded ones. The copy is made for it
from the site file ('controllerd site export') and lives in this program: no port of the
site is opened and no daemon is asked, so that nothing real is ever sent a frame. -
reads the recording from standard input.

The copy begins dark, with shades half open: a value that was read before anything wrote it
may differ. --ignore-values counts an answer of the same kind with another value as alike.
Positions of moving shades come out right at --speed 1 only.

Exit code: 0 all answers are alike, 3 some are not, 1 it could not be done, 2 called
wrongly.`,
		Example: `  simbuilding replay night.jsonl --site customer.yaml
  simbuilding replay night.jsonl --site customer.yaml --bus ground-floor --speed 1`,
		Args: func(c *cobra.Command, given []string) error {
			if err := cobra.ExactArgs(1)(c, given); err != nil {
				return wrongCall(c, err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&f.site, "site", "", "site `file` to copy (required)")
	c.Flags().StringSliceVar(&f.buses, "bus", nil, "only these `buses` of the recording")
	c.Flags().StringVar(&f.speed, "speed", "max", "1: as it was; max: each frame as soon as the one before is answered")
	c.Flags().BoolVar(&f.ignoreValue, "ignore-values", false, "answers of the same kind are alike")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON for a script instead of a table for people")
	c.RunE = func(c *cobra.Command, files []string) error {
		switch {
		case f.site == "":
			return wrongCall(c, errors.New("--site is missing"))
		case f.speed != "1" && f.speed != "max":
			return wrongCall(c, fmt.Errorf("--speed %q: want 1 or max", f.speed))
		}
		return replay(c, files[0], f)
	}
	return c
}

// replay plays all buses of a recording, each into a copy of its own.
func replay(c *cobra.Command, path string, f replayFlags) error {
	turns, err := turnsOf(path, f.buses)
	if err != nil {
		return err
	}
	site, err := sitefile.Read(f.site)
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

// turn is a frame that was sent and what was received until the next one.
type turn struct {
	sent    recording.Frame
	answers []recording.Frame
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
	err := recording.Read(path, in, func(r recording.Frame) error {
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
