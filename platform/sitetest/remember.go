package sitetest

import (
	"context"
	"time"

	"svc.internal/controller/platform"
)

// Remember gives the building a history: its controller reports its ledger since 10 November. Without it, the controller is one
// that does not, and of no thing a change is known.
func (b *Building) Remember() *Building {
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, Location) }
	forty := 40.0
	b.LedgerKept = platform.Ledger{Since: at(10, 8, 0), Until: Now, Commands: []platform.Command{ // newest first
		{Controller: ID, ID: "c-9", At: at(18, 13, 5), Who: `key "BMS"`, Via: "assistant", Why: "light_brightness released 102", Do: "light-level", Value: &forty, Kind: "cluster", Thing: Lobby, Things: 4},
		{Controller: ID, ID: "c-8", At: at(18, 12, 0), Who: "Lunch is over", Via: "automation", Why: "it is 12:00", Do: "light-off", Kind: "cluster", Thing: Canteen, Things: 5},
		{Controller: ID, ID: "c-7", At: at(18, 9, 0), Who: "ada", Via: "public-api", Do: "shade-open", Kind: "shade", Thing: 5001, Things: 1},
		{Controller: ID, ID: "c-6", At: at(18, 7, 30), Who: "panel Canteen", Via: "panel", Why: "light_power changed on", Do: "light-on", Kind: "cluster", Thing: Canteen, Things: 5},
		{Controller: ID, ID: "c-5", At: at(17, 18, 30), Who: "reception", Via: "admin-api", Do: "light-off", Kind: "site", Things: 39, Not: []int64{8}},
	}}
	change := func(kind string, aspect platform.Aspect, is string, at, after time.Time, ids ...int64) {
		for _, id := range ids {
			b.ChangeList = append(b.ChangeList, platform.Change{Kind: kind, ID: id, Aspect: aspect, Is: is, At: at, After: after})
		}
	}
	soon := func(t time.Time) time.Time { return t.Add(-5 * time.Second) }
	change("node", platform.Doing, "on", at(18, 13, 5), soon(at(18, 13, 5)), 15, 16, 17, 18)
	change("node", platform.Doing, "off", at(17, 18, 30), soon(at(17, 18, 30)), 15, 16, 17, 18)
	change("node", platform.Doing, "off", at(18, 12, 0), soon(at(18, 12, 0)), 19, 20, 21, 22, 23)
	change("node", platform.Doing, "on", at(18, 7, 30), soon(at(18, 7, 30)), 19, 20, 21, 22, 23)
	change("node", platform.Doing, "on", at(18, 8, 2), soon(at(18, 8, 2)), 9, 10, 11, 12, 13, 14) // somebody at the wall
	change("node", platform.Doing, "off", at(17, 18, 30), soon(at(17, 18, 30)), 9, 10, 11, 12, 13, 14)
	change("node", platform.Doing, "on", at(18, 10, 0), at(18, 6, 0), 27, 28, 29) // not watched in between
	change("node", platform.Doing, "off", at(17, 18, 30), soon(at(17, 18, 30)), 27, 28, 29)
	change("node", platform.Doing, "on", at(10, 8, 0), time.Time{}, 24, 25, 26)
	change("node", platform.Doing, "on", at(18, 10, 1), soon(at(18, 10, 1)), 39) // after a restart of the controller
	change("node", platform.Doing, "unknown", at(18, 10, 0), at(18, 10, 0), 39)
	change("node", platform.Doing, "on", at(18, 7, 0), soon(at(18, 7, 0)), 39)
	change("node", platform.Doing, "on", at(18, 11, 0), soon(at(18, 11, 0)), 37) // after an hour without an answer
	change("node", platform.Doing, "unknown", at(18, 10, 0), at(18, 10, 0), 37)
	change("node", platform.Doing, "on", at(18, 7, 0), soon(at(18, 7, 0)), 37)
	change("node", platform.Doing, "unknown", at(18, 9, 5), soon(at(18, 9, 5)), 8)
	change("shade", platform.Doing, "open", at(18, 9, 1), soon(at(18, 9, 1)), 5001)
	change("shade", platform.Doing, "between", at(18, 9, 0), soon(at(18, 9, 0)), 5001)
	change("shade", platform.Doing, "closed", at(17, 20, 0), soon(at(17, 20, 0)), 5001)
	change("shade", platform.Doing, "closed", at(16, 20, 0), soon(at(16, 20, 0)), 5003, 5004)
	change("node", platform.Reach, "online", at(12, 11, 0), at(12, 11, 0), 15)
	change("node", platform.Reach, "offline", at(18, 9, 5), at(18, 9, 5), 8)
	return b
}

// Ledger implements [platform.SiteReader].
func (b *Building) Ledger(_ context.Context, controller string, from, to time.Time, limit int) (platform.Ledger, error) {
	l := platform.Ledger{}
	if controller != b.Controller.ID {
		return l, b.known(controller)
	}
	l.Since, l.Until = b.LedgerKept.Since, b.LedgerKept.Until
	for _, c := range b.LedgerKept.Commands {
		if !c.At.Before(from) && c.At.Before(to) && len(l.Commands) < limit {
			l.Commands = append(l.Commands, c)
		}
	}
	return l, nil
}

// Changes implements [platform.SiteReader].
func (b *Building) Changes(_ context.Context, controller, kind string, aspect platform.Aspect) ([]platform.Change, error) {
	var out []platform.Change
	for _, c := range b.ChangeList {
		if controller == b.Controller.ID && c.Kind == kind && c.Aspect == aspect {
			out = append(out, c)
		}
	}
	return out, b.known(controller)
}
