package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is one figure.
type row struct {
	what, figure, floor, ratio, want string
	judged, ok                       bool
}

// table collects the figures of a run.
type table struct {
	rows  []row
	start time.Time
	load  string
}

func (t *table) begin() { t.start, t.load = time.Now(), loadAverage() }

// atMost adds a figure that passes if value is not above bound.
func (t *table) atMost(what, figure, floor, ratio string, value, bound float64, want string) {
	t.add(row{what: what, figure: figure, floor: floor, ratio: ratio, want: "≤ " + want, judged: true, ok: value <= bound})
}

// atLeast adds a figure that passes if value is not below bound.
func (t *table) atLeast(what, figure, floor, ratio string, value, bound float64, want string) {
	t.add(row{what: what, figure: figure, floor: floor, ratio: ratio, want: "≥ " + want, judged: true, ok: value >= bound})
}

// note adds a figure without a bound.
func (t *table) note(what, figure, floor, ratio string) {
	t.add(row{what: what, figure: figure, floor: floor, ratio: ratio})
}

// add shows a row as soon as it is known; the whole table comes at the end.
func (t *table) add(r row) {
	t.rows = append(t.rows, r)
	required := ""
	if r.judged {
		required = ", required " + r.want
	}
	fmt.Fprintf(os.Stderr, "  %s: %s (floor %s, ratio %s%s) %s\n", r.what, r.figure, r.floor, r.ratio, required, r.mark())
}

func (r row) mark() string {
	switch {
	case !r.judged:
		return ""
	case r.ok:
		return "pass"
	}
	return "MISSED"
}

// print writes the table as Markdown, which is readable as it is.
func (t *table) print(w io.Writer) {
	cells := [][]string{{"figure", "measured", "floor", "ratio", "required", ""}}
	for _, r := range t.rows {
		cells = append(cells, []string{r.what, r.figure, r.floor, r.ratio, r.want, r.mark()})
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	fmt.Fprintf(w, "\n%s/%s, %d cores, %s; load average before %s, after %s; took %v\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), t.load, loadAverage(), time.Since(t.start).Round(time.Second))
	for _, line := range slices.Insert(cells, 1, rule) {
		for i, c := range line {
			fmt.Fprintf(w, "| %s%s ", c, strings.Repeat(" ", widths[i]-len([]rune(c))))
		}
		fmt.Fprintln(w, "|")
	}
}

var errMissed = errors.New("a bound was missed")

func (t *table) verdict() error {
	for _, r := range t.rows {
		if r.judged && !r.ok {
			return fmt.Errorf("%w: %s: %s, required %s", errMissed, r.what, r.figure, r.want)
		}
	}
	return nil
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// sample is a set of durations.
type sample []time.Duration

// at returns the value below which the given part of the sample lies.
func (s sample) at(part float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

func (s sample) worst() time.Duration { return slices.Max(s) }

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}

// spread shows the range of a set of ratios.
func spread(v []float64) string {
	return fmt.Sprintf("%.2f–%.2f", slices.Min(v), slices.Max(v))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/1e6) }
func us(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d)/1e3) }

func times(a, b time.Duration) float64 { return float64(a) / float64(b) }
