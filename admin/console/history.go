package console

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/cli"
)

func newHistory(a *App) *cobra.Command {
	c := cli.Group(&cobra.Command{Use: "history", Short: "Tell how lights, shades and meters were in the last weeks"})
	c.AddCommand(newHistoryShow(a), newHistoryPower(a))
	return c
}

// pastTimes are the flags of a time in the past.
type pastTimes struct{ from, to string }

func (p *pastTimes) flags(c *cobra.Command, usual string) {
	c.Flags().StringVar(&p.from, "from", "", "begin: a `day` of the building such as 2026-11-03, or a time such as 2026-11-03T08:00:00Z; default "+usual)
	c.Flags().StringVar(&p.to, "to", "", "end, which is not part of it, in the same form; default now")
}

func (p *pastTimes) query() url.Values {
	q := url.Values{}
	setIf(q, "from", p.from)
	setIf(q, "to", p.to)
	return q
}

func setIf(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func newHistoryShow(a *App) *cobra.Command {
	var times pastTimes
	var node, shade, cluster, aspect, step string
	var together, asCSV bool
	c := &cobra.Command{
		Use:   "show",
		Short: "Show how level, power, position and reachability were",
		Long: `Show how level (percent), power (W), position (percent open) and reachability (1 answers, 0 does
not) of one thing, of the members of a cluster or of everything were: every change, or with --step
the means over steps, counted from midnight of the building's clock. A dash, or nothing in CSV, is
"not known": the thing did not answer, or the controller was off.`,
		Example: `  controllerd history show --node 7 --from 2026-11-03 --to 2026-11-04
  controllerd history show --cluster Lobby --aspect level --step 15m --together
  controllerd history show --from 2026-11-01 --aspect level --csv > levels.csv`,
		Args: cli.Args(cobra.NoArgs),
	}
	c.Flags().StringVar(&node, "node", "", "of this `node`, by ID or name")
	c.Flags().StringVar(&shade, "shade", "", "of this `shade`, by ID or name")
	c.Flags().StringVar(&cluster, "cluster", "", "of the members of this `cluster`, by ID or name")
	c.Flags().StringVar(&aspect, "aspect", "", "only these `aspects`: level, power, position, online, with commas between")
	c.Flags().StringVar(&step, "step", "", "means over steps of this `length`, such as 15m, 1h or 1d")
	c.Flags().BoolVar(&together, "together", false, "all as one: of level and position the mean, of power the sum; needs --step")
	c.Flags().BoolVar(&asCSV, "csv", false, "print CSV for a spreadsheet")
	times.flags(c, "today")
	asJSON := cli.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("node", "shade", "cluster")
	c.MarkFlagsMutuallyExclusive("json", "csv")
	c.RunE = func(c *cobra.Command, _ []string) error {
		q := times.query()
		setIf(q, "aspect", aspect)
		setIf(q, "step", step)
		if together {
			q.Set("together", "true")
		}
		switch {
		case node != "":
			n, err := a.findNode(c.Context(), node)
			if err != nil {
				return err
			}
			q.Set("node", fmt.Sprint(n.ID))
		case shade != "":
			sh, err := a.findShade(c.Context(), shade)
			if err != nil {
				return err
			}
			q.Set("shade", fmt.Sprint(sh.ID))
		case cluster != "":
			cl, err := a.findCluster(c.Context(), cluster)
			if err != nil {
				return err
			}
			q.Set("cluster", fmt.Sprint(cl.ID))
		}
		if asCSV {
			q.Set("format", "csv")
			return a.copyOut(c, "/history?"+q.Encode())
		}
		var past api.Past
		if err := a.local().get(c.Context(), "/history?"+q.Encode(), &past); err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), past)
		}
		return cli.Listing(c, []string{"TIME", "NAME", "ASPECT", "VALUE"}, pastRows(past), nothingPast(past))
	}
	return c
}

// copyOut prints what the daemon answers as it is.
func (a *App) copyOut(c *cobra.Command, path string) error {
	res, err := a.local().ask(c.Context(), http.MethodGet, path, nil)
	if err != nil {
		return needsDaemon(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(c.OutOrStdout(), res.Body); err != nil {
		return fmt.Errorf("%w: %w", errHungUp, err)
	}
	return nil
}

// nothingPast says why there is nothing to show.
func nothingPast(p api.Past) string {
	if p.Oldest == nil || p.Oldest.After(p.To) {
		return "nothing was kept of that time"
	}
	return "nothing is known of that time"
}

// pastRows are the values in the order of time.
func pastRows(p api.Past) (rows [][]string) {
	zone, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	type cell struct {
		at, track int
		of        *api.PastTrack
	}
	var cells []cell
	for i := range p.Tracks {
		t := &p.Tracks[i]
		for at := range t.At {
			if p.Step == 0 || t.Value[at] != nil {
				cells = append(cells, cell{at, i, t})
			}
		}
	}
	slices.SortFunc(cells, func(x, y cell) int {
		return cmp.Or(cmp.Compare(x.of.At[x.at], y.of.At[y.at]), cmp.Compare(x.track, y.track))
	})
	for _, c := range cells {
		name := c.of.Name
		switch {
		case name == "":
			name = "together"
		case c.of.Channel > 1:
			name += fmt.Sprintf(" (channel %d)", c.of.Channel)
		}
		rows = append(rows, []string{time.Unix(c.of.At[c.at], 0).In(zone).Format("2006-01-02 15:04:05"), name, c.of.Aspect, pastValue(c.of.Aspect, c.of.Value[c.at], p.Step)})
	}
	return rows
}

func pastValue(aspect string, v *float64, step int) string {
	switch {
	case v == nil:
		return "-"
	case aspect == "power":
		return strconv.FormatFloat(*v, 'f', -1, 64) + " W"
	case aspect == "online" && step > 0:
		return fmt.Sprintf("%.0f %% of the time", *v*100)
	case aspect == "online" && *v == 0:
		return "offline"
	case aspect == "online":
		return "online"
	}
	return strconv.FormatFloat(*v, 'f', -1, 64) + " %"
}

func newHistoryPower(a *App) *cobra.Command {
	var times pastTimes
	c := &cobra.Command{
		Use:   "power",
		Short: "Show what each meter, and the lights of a floor that measure themselves, used day by day",
		Long: `Show what each meter, and the lights of a floor that measure themselves, used day by day; with --json
hour by hour. Meters may cover the same rooms, so that there is no sum of them.`,
		Example: "  controllerd history power --from 2026-11-01",
		Args:    cli.Args(cobra.NoArgs),
	}
	times.flags(c, "six days before today")
	asJSON := cli.JSONFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		var p api.PowerPast
		if err := a.local().get(c.Context(), "/history/power?"+times.query().Encode(), &p); err != nil {
			return needsDaemon(err)
		}
		if *asJSON {
			return cli.PrintJSON(c.OutOrStdout(), p)
		}
		heading := append([]string{"OF", "FLOOR"}, p.Days...)
		var rows [][]string
		for _, s := range p.Sources {
			of := s.Covers
			if s.Meter == 0 {
				of = fmt.Sprintf("%d lights that measure themselves", s.Lights)
			}
			row := []string{of, orDash(s.Floor)}
			for _, day := range s.Days {
				row = append(row, usedIn(day))
			}
			rows = append(rows, row)
		}
		return cli.Listing(c, heading, rows, "the site names no meters, and no light of a floor measures itself; meters are named in the site file")
	}
	return c
}

// usedIn is what was used on a day, with the hours that were measured if not all were.
func usedIn(day []*api.HourUsed) string {
	var wattHours, minutes float64
	for _, h := range day {
		if h != nil {
			wattHours, minutes = wattHours+h.WattHours, minutes+h.Minutes
		}
	}
	switch {
	case minutes == 0:
		return "-"
	case minutes < 23*60-10: // a day in spring has 23 hours
		return fmt.Sprintf("%.2f kWh in %.0f h", wattHours/1000, minutes/60)
	}
	return fmt.Sprintf("%.2f kWh", wattHours/1000)
}
