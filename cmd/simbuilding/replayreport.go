package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

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

// differError says that answers are not the recorded ones.
type differError struct{ error }

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
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(reports); err != nil {
			return err
		}
	} else if err := reportTables(out, reports); err != nil {
		return err
	}
	if bad > 0 {
		return differError{fmt.Errorf("%s not as recorded", count(bad, "answer is", "answers are"))}
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
		if len(r.Diffs) == 0 {
			continue
		}
		shown := r.Diffs[:min(shownDiffs, len(r.Diffs))]
		t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(t, "TIME\tWHAT\tSENT\tRECORDED\tSIMULATED")
		for _, d := range shown {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.At.Local().Format("15:04:05.000"), d.Verdict, d.Sent,
				cmp.Or(d.Recorded, "-"), cmp.Or(d.Got, "-"))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if more := len(r.Diffs) - len(shown); more > 0 {
			fmt.Fprintf(out, "and %d more (--json shows all)\n", more)
		}
	}
	return nil
}

// count is a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
