package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/platform"
)

// turns are the statements that note changes, prepared once for many reports.
type turns struct {
	known *sql.Stmt // what was known of a thing
	add   *sql.Stmt
	trim  *sql.Stmt // keep the newest few of an aspect of a thing
}

func newTurns(ctx context.Context, tx *sql.Tx) (c turns, err error) {
	for _, one := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&c.known, "SELECT doing, reach, at, seen_at FROM thing WHERE controller = $1 AND kind = $2 AND id = $3"},
		{&c.add, `INSERT INTO change (controller, kind, id, aspect, is_now, at, after_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (controller, kind, id, aspect, at) DO NOTHING`},
		{&c.trim, `DELETE FROM change WHERE controller = $1 AND kind = $2 AND id = $3 AND aspect = $4 AND at <=
			(SELECT at FROM change WHERE controller = $1 AND kind = $2 AND id = $3 AND aspect = $4 ORDER BY at DESC LIMIT 1 OFFSET $5)`},
	} {
		if *one.to, err = tx.PrepareContext(ctx, one.query); err != nil {
			return c, err // the transaction ends, and they with it
		}
	}
	return c, nil
}

// save notes what a report changes of its thing, before the report takes the place of the last one.
func (c turns) save(ctx context.Context, r platform.Report) error {
	if r.Doing == "" && r.Reach == "" {
		return nil
	}
	var doing, reach string
	var at, seen int64
	err := c.known.QueryRowContext(ctx, r.Controller, r.Kind, r.ID).Scan(&doing, &reach, &at, &seen)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case at > Micros(r.At): // it is older
		return nil
	}
	after := Moment(max(at, seen))
	if !r.Read || after.After(r.At) { // nothing but what is reported changes it
		after = r.At
	}
	if r.Doing != "" && (r.Doing != doing || r.At.Sub(after) > platform.UnwatchedMost) {
		if err := c.note(ctx, r, platform.Change{Aspect: platform.Doing, Is: r.Doing, After: after}, doing == ""); err != nil {
			return err
		}
	}
	if r.Reach != "" && r.Reach != reach {
		return c.note(ctx, r, platform.Change{Aspect: platform.Reach, Is: r.Reach, After: r.At}, reach == "")
	}
	return nil
}

// note keeps one change, and the newest few of its kind. Of the first nothing is known before.
func (c turns) note(ctx context.Context, r platform.Report, one platform.Change, first bool) error {
	if first {
		one.After = time.Time{}
	}
	_, err := c.add.ExecContext(ctx, r.Controller, r.Kind, r.ID, string(one.Aspect), one.Is, Micros(r.At), Micros(one.After))
	if err == nil && !first {
		_, err = c.trim.ExecContext(ctx, r.Controller, r.Kind, r.ID, string(one.Aspect), platform.ChangesKept)
	}
	return err
}

// saveLedgers keeps what was commanded, and from when to when nothing of it is missing.
func saveLedgers(ctx context.Context, tx *sql.Tx, parts []platform.LedgerPart) error {
	parts = slices.SortedStableFunc(slices.Values(parts), func(x, y platform.LedgerPart) int { return cmp.Compare(x.Controller, y.Controller) })
	for _, p := range parts {
		commands := slices.SortedStableFunc(slices.Values(p.Commands), func(x, y platform.Command) int { return cmp.Compare(x.ID, y.ID) })
		for _, c := range commands {
			body, err := json.Marshal(c)
			if err != nil {
				return fmt.Errorf("pack command %s: %w", c.ID, err)
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO command (controller, id, at, body) VALUES ($1, $2, $3, $4) ON CONFLICT (controller, id) DO NOTHING",
				p.Controller, c.ID, Micros(c.At), string(body)); err != nil {
				return err
			}
		}
		l := platform.Ledger{Since: p.Since, Until: p.Until}
		var since, until int64
		err := tx.QueryRowContext(ctx, "SELECT since_at, until_at FROM ledger WHERE controller = $1", p.Controller).Scan(&since, &until)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case Micros(p.Since) <= until && Micros(p.Until) >= since: // they meet
			l.Since, l.Until = Moment(min(since, Micros(p.Since))), Moment(max(until, Micros(p.Until)))
		case Micros(p.Until) < until: // an old one, with a gap behind it
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO ledger (controller, since_at, until_at) VALUES ($1, $2, $3)
			ON CONFLICT (controller) DO UPDATE SET since_at = excluded.since_at, until_at = excluded.until_at`, p.Controller, Micros(l.Since), Micros(l.Until)); err != nil {
			return err
		}
	}
	return nil
}

// Ledger is what is known of what was commanded in [from, to), newest first, at most limit.
func (s *Store) Ledger(ctx context.Context, controller string, from, to time.Time, limit int) (platform.Ledger, error) {
	var l platform.Ledger
	var since, until int64
	err := each(ctx, s.views, func(row scanner) error { return row.Scan(&since, &until) },
		"SELECT since_at, until_at FROM ledger WHERE controller = $1", controller)
	l.Since, l.Until = Moment(since), Moment(until)
	if err == nil {
		err = each(ctx, s.views, func(row scanner) error {
			var body string
			var c platform.Command
			if err := row.Scan(&body); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(body), &c); err != nil {
				return err
			}
			l.Commands = append(l.Commands, c)
			return nil
		}, "SELECT body FROM command WHERE controller = $1 AND at >= $2 AND at < $3 ORDER BY at DESC, id DESC LIMIT $4", controller, Micros(from), Micros(to), limit)
	}
	if err != nil {
		return l, fmt.Errorf("read the ledger of controller %q: %w", controller, err)
	}
	return l, nil
}

// Changes of an aspect of things of a kind, by ID, newest first of each.
func (s *Store) Changes(ctx context.Context, controller, kind string, aspect platform.Aspect) ([]platform.Change, error) {
	var out []platform.Change
	err := each(ctx, s.views, func(row scanner) error {
		c := platform.Change{Kind: kind, Aspect: aspect}
		var at, after int64
		err := row.Scan(&c.ID, &c.Is, &at, &after)
		c.At, c.After = Moment(at), Moment(after)
		out = append(out, c)
		return err
	}, "SELECT id, is_now, at, after_at FROM change WHERE controller = $1 AND kind = $2 AND aspect = $3 ORDER BY id, at DESC", controller, kind, string(aspect))
	if err != nil {
		return nil, fmt.Errorf("read the history of controller %q: %w", controller, err)
	}
	return out, nil
}

// purgeHistory removes what is too old, and what is too much. The newest change of a thing stays, however old it is: it is how
// the thing is now.
func purgeHistory(ctx context.Context, tx *sql.Tx, before time.Time) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM command WHERE at < $1", Micros(before)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM change WHERE at < $1 AND EXISTS (SELECT 1 FROM change c WHERE c.controller = change.controller AND
		c.kind = change.kind AND c.id = change.id AND c.aspect = change.aspect AND c.at > change.at)`, Micros(before)); err != nil {
		return err
	}
	var all []string
	if err := each(ctx, tx, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		all = append(all, id)
		return err
	}, "SELECT controller FROM ledger ORDER BY controller"); err != nil {
		return err
	}
	for _, controller := range all {
		var oldest int64 // that is kept
		err := each(ctx, tx, func(row scanner) error { return row.Scan(&oldest) },
			"SELECT at FROM command WHERE controller = $1 ORDER BY at DESC LIMIT 1 OFFSET $2", controller, platform.CommandsKept-1)
		if err != nil {
			return err
		}
		if oldest == 0 { // there are not so many
			oldest = Micros(before)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM command WHERE controller = $1 AND at < $2", controller, oldest); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE ledger SET since_at = $2 WHERE controller = $1 AND since_at < $2", controller, oldest); err != nil {
			return err
		}
	}
	return nil
}
