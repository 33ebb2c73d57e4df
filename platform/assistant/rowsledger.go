package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.internal/controller/platform"
)

// commandsMost bounds what one question about the ledger looks through.
const commandsMost = 2000

// ledger lists what was commanded, newest first; without a time, in the last week.
func (l *lookup) ledger(ctx context.Context, from platform.SiteReader) (platform.Found, error) {
	begin, end := l.site.Now.AddDate(0, 0, -7), l.site.Now
	if p := l.in.Period; p != nil {
		begin, end = p.Start, p.End
	}
	got, err := from.Ledger(ctx, l.site.Controller.ID, begin, end, commandsMost)
	if err != nil {
		return platform.Found{}, fmt.Errorf("read the ledger of controller %s: %w", l.site.Controller.ID, err)
	}
	var rows []platform.LedgerRow
	for _, c := range got.Commands {
		if !l.concerns(c) {
			continue
		}
		row := platform.LedgerRow{ID: c.ID, At: c.At.In(l.site.Now.Location()).Truncate(time.Second), Who: label(c.Who), Via: c.Via, Why: label(c.Why), Do: c.Do, Value: c.Value, For: l.commanded(c), Things: c.Things, Failed: c.Failed}
		for _, id := range c.Not {
			row.Not = append(row.Not, l.thing(id, c.Do))
		}
		rows = append(rows, row)
	}
	note := ""
	switch {
	case got.Since.IsZero():
		note = "This controller does not report its ledger, so what was commanded is not known here; its own pages tell it."
	case got.Since.After(begin):
		note = "The ledger is known since " + moment(got.Since, l.site.Now) + "."
	}
	full := ""
	if len(got.Commands) == commandsMost {
		full = fmt.Sprintf("Only the newest %d commands were looked through: ask for a shorter time.", commandsMost)
	}
	p, err := page(l, rows, note, full, l.offline())
	return summed(fmt.Sprintf("%s for %s from %s to %s, newest first.", count(len(rows), "command"), l.where(), moment(begin, l.site.Now), moment(end, l.site.Now)), p), err
}

// concerns reports whether a command was for something in the scope, as the building is divided now.
func (l *lookup) concerns(c platform.Command) bool {
	if l.scope.Whole() || c.Kind == "site" {
		return true
	}
	if c.Kind == "cluster" {
		return slices.ContainsFunc(l.site.Zones, func(z platform.Zone) bool { return z.ID == c.Thing && l.scope.HasZone(z) })
	}
	return slices.ContainsFunc(l.site.Devices, func(d platform.Device) bool {
		return d.ID == c.Thing && (d.Kind == platform.KindShade) == (c.Kind == "shade") && l.scope.Holds(d)
	})
}

// commanded names what a command was for.
func (l *lookup) commanded(c platform.Command) string {
	switch c.Kind {
	case "site":
		return label(l.site.Name())
	case "cluster":
		return label(l.site.ZoneName(c.Thing))
	}
	return l.thing(c.Thing, c.Do)
}

// thing names a light or shade by the family of the command that it had.
func (l *lookup) thing(id int64, do string) string {
	shade := strings.HasPrefix(do, platform.KindShade)
	for _, d := range l.site.Devices {
		if d.ID == id && (d.Kind == platform.KindShade) == shade {
			return label(d.Name)
		}
	}
	return fmt.Sprintf("%d, which is there no more", id)
}
