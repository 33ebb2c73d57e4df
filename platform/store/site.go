package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"svc.internal/controller/platform"
)

const (
	minute  = int64(time.Minute / time.Second)
	quarter = 15 * minute
	// heldMost is how far two samples may lie apart for what is between them to count as measured: three times the
	// freshness target of power.
	heldMost = 90 * time.Second
)

// SaveBatch keeps what controllers reported. What is older than what is known, or was here before, changes nothing: any
// number of instances may save the same.
//
// Several instances save the same at once: all take rows in the same order, so that none waits for another that waits
// for it.
func (s *Store) SaveBatch(ctx context.Context, b platform.Batch) error {
	b.Reports, b.Seen = inOrder(b.Reports), inOrder(b.Seen)
	err := s.writeAside(ctx, func(tx *sql.Tx) error {
		if err := saveReports(ctx, tx, b); err != nil {
			return err
		}
		for _, e := range b.Events {
			if _, err := tx.ExecContext(ctx, `INSERT INTO event (controller, message, code, severity, kind, thing, name, text, at, cleared)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (controller, message) DO NOTHING`,
				e.Controller, e.ID, e.Code, e.Severity, e.Kind, e.Thing, e.Name, e.Message, Micros(e.At), e.Cleared); err != nil {
				return err
			}
		}
		if err := saveLedgers(ctx, tx, b.Ledgers); err != nil {
			return err
		}
		for _, controller := range slices.Sorted(maps.Keys(b.Samples)) {
			if err := saveSamples(ctx, tx, controller, b.Samples[controller]); err != nil {
				return err
			}
		}
		for _, controller := range slices.Sorted(maps.Keys(touched(b))) {
			if _, err := tx.ExecContext(ctx, `UPDATE controller SET revision = revision + 1, last_seen = CASE WHEN last_seen < $2 THEN $2 ELSE last_seen END WHERE id = $1`,
				controller, Micros(b.Alive[controller])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save what controllers reported: %w", err)
	}
	return nil
}

// touched are the controllers of a batch: those that said anything, and those of which something is kept.
func touched(b platform.Batch) map[string]bool {
	all := map[string]bool{}
	for _, r := range slices.Concat(b.Reports, b.Seen) {
		all[r.Controller] = true
	}
	for controller := range b.Samples {
		all[controller] = true
	}
	for controller := range b.Alive {
		all[controller] = true
	}
	return all
}

// inOrder sorts by thing; of one thing the order stays.
func inOrder(reports []platform.Report) []platform.Report {
	return slices.SortedStableFunc(slices.Values(reports), func(x, y platform.Report) int {
		return cmp.Or(cmp.Compare(x.Controller, y.Controller), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.ID, y.ID))
	})
}

func saveReports(ctx context.Context, tx *sql.Tx, b platform.Batch) error {
	put, err := tx.PrepareContext(ctx, `INSERT INTO thing (controller, kind, id, state, at, reported_at, silent, seen_at, doing, reach)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9) ON CONFLICT (controller, kind, id) DO UPDATE SET
		state = excluded.state, silent = excluded.silent, at = excluded.at, reported_at = excluded.reported_at,
		doing = CASE WHEN excluded.doing = '' THEN thing.doing ELSE excluded.doing END,
		reach = CASE WHEN excluded.reach = '' THEN thing.reach ELSE excluded.reach END WHERE excluded.at >= thing.at`)
	if err != nil {
		return err
	}
	defer put.Close()
	turns, err := newTurns(ctx, tx)
	if err != nil {
		return err
	}
	for _, r := range b.Reports {
		if len(r.State) == 0 {
			for _, table := range []string{"thing", "change"} {
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE controller = $1 AND kind = $2 AND id = $3", r.Controller, r.Kind, r.ID); err != nil {
					return err
				}
			}
		} else if err = turns.save(ctx, r); err == nil {
			_, err = put.ExecContext(ctx, r.Controller, r.Kind, r.ID, string(r.State), Micros(r.At), Micros(r.ReportedAt), r.Silent, r.Doing, r.Reach)
		}
		if err != nil {
			return err
		}
	}
	see, err := tx.PrepareContext(ctx, "UPDATE thing SET seen_at = $4, reported_at = $5 WHERE controller = $1 AND kind = $2 AND id = $3 AND seen_at < $4")
	if err != nil {
		return err
	}
	defer see.Close()
	for _, r := range b.Seen {
		if _, err := see.ExecContext(ctx, r.Controller, r.Kind, r.ID, Micros(r.Seen), Micros(r.ReportedAt)); err != nil {
			return err
		}
	}
	return nil
}

// saveSamples adds to the energy of every node what its samples measured since the last one known.
func saveSamples(ctx context.Context, tx *sql.Tx, controller string, samples []platform.Sample) error {
	for _, now := range samples {
		if math.IsNaN(now.Watts) || math.IsInf(now.Watts, 0) {
			continue
		}
		var lastAt int64
		var lastWatts float64
		err := tx.QueryRowContext(ctx, "SELECT last_at, last_watts FROM meter WHERE controller = $1 AND node = $2", controller, now.Node).Scan(&lastAt, &lastWatts)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			_, err = tx.ExecContext(ctx, "INSERT INTO meter (controller, node, since, last_at, last_watts) VALUES ($1, $2, $3, $3, $4)",
				controller, now.Node, Micros(now.At), now.Watts)
		case err == nil && Micros(now.At) > lastAt:
			last := platform.Sample{Node: now.Node, Watts: lastWatts, At: Moment(lastAt)}
			if err = addEnergy(ctx, tx, controller, last, now); err == nil {
				_, err = tx.ExecContext(ctx, "UPDATE meter SET last_at = $3, last_watts = $4 WHERE controller = $1 AND node = $2",
					controller, now.Node, Micros(now.At), now.Watts)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addEnergy shares out what flowed between two samples, taking the power to have changed evenly, over the minutes and
// quarters of an hour that it falls in. Samples too far apart measure nothing between them.
func addEnergy(ctx context.Context, tx *sql.Tx, controller string, a, b platform.Sample) error {
	if b.At.Sub(a.At) > heldMost {
		return nil
	}
	for _, length := range []int64{minute, quarter} {
		for from := a.At; from.Before(b.At); {
			start := from.Unix() - from.Unix()%length
			to := time.Unix(start+length, 0)
			if to.After(b.At) {
				to = b.At
			}
			watts := (wattsAt(a, b, from) + wattsAt(a, b, to)) / 2
			seconds := to.Sub(from).Seconds()
			if _, err := tx.ExecContext(ctx, `INSERT INTO energy (controller, node, length, start_at, watt_hours, covered)
				VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (controller, node, length, start_at) DO UPDATE SET
				watt_hours = energy.watt_hours + excluded.watt_hours, covered = energy.covered + excluded.covered`,
				controller, a.Node, length, start*1e6, watts*seconds/3600, seconds); err != nil {
				return err
			}
			from = to
		}
	}
	return nil
}

// wattsAt is the power at a time between two samples.
func wattsAt(a, b platform.Sample, at time.Time) float64 {
	return a.Watts + (b.Watts-a.Watts)*float64(at.Sub(a.At))/float64(b.At.Sub(a.At))
}

// Reports lists what a controller last said, by kind and ID; kind may be empty for all.
func (s *Store) Reports(ctx context.Context, controller, kind string) ([]platform.Report, error) {
	var out []platform.Report
	err := each(ctx, s.views, func(row scanner) error {
		r := platform.Report{Controller: controller}
		var state string
		var at, reported, seen int64
		err := row.Scan(&r.Kind, &r.ID, &state, &at, &reported, &seen)
		r.State, r.At, r.ReportedAt, r.Seen = []byte(state), Moment(at), Moment(reported), Moment(seen)
		out = append(out, r)
		return err
	}, "SELECT kind, id, state, at, reported_at, seen_at FROM thing WHERE controller = $1 AND ($2 = '' OR kind = $2) ORDER BY kind, id", controller, kind)
	if err != nil {
		return nil, fmt.Errorf("list what controller %q reported: %w", controller, err)
	}
	return out, nil
}

// SiteReports lists what every controller last said of its site, and of devices that do not answer their kind and ID.
func (s *Store) SiteReports(ctx context.Context) (sites, silent []platform.Report, err error) {
	err = each(ctx, s.views, func(row scanner) error {
		var r platform.Report
		var state string
		err := row.Scan(&r.Controller, &r.Kind, &r.ID, &state)
		r.State = []byte(state)
		sites = append(sites, r)
		return err
	}, "SELECT t.controller, t.kind, t.id, t.state FROM controller c JOIN thing t ON t.controller = c.id AND t.kind = $1", "site")
	if err == nil {
		err = each(ctx, s.views, func(row scanner) error {
			r := platform.Report{Silent: true}
			err := row.Scan(&r.Controller, &r.Kind, &r.ID)
			silent = append(silent, r)
			return err
		}, "SELECT controller, kind, id FROM thing WHERE silent")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list what controllers said of their sites: %w", err)
	}
	return sites, silent, nil
}

// Events of a controller in [from, to), newest first, at most limit.
func (s *Store) Events(ctx context.Context, controller string, from, to time.Time, limit int) ([]platform.Event, error) {
	out := []platform.Event{}
	err := each(ctx, s.views, func(row scanner) error {
		e := platform.Event{Controller: controller}
		var at int64
		err := row.Scan(&e.Code, &e.Severity, &e.Kind, &e.Thing, &e.Name, &e.Message, &at, &e.Cleared)
		e.At = Moment(at)
		out = append(out, e)
		return err
	}, `SELECT code, severity, kind, thing, name, text, at, cleared FROM event
		WHERE controller = $1 AND at >= $2 AND at < $3 ORDER BY at DESC, message DESC LIMIT $4`, controller, Micros(from), Micros(to), limit)
	if err != nil {
		return nil, fmt.Errorf("list events of controller %q: %w", controller, err)
	}
	return out, nil
}

// Energy returns the intervals of one length that a meter measured something of and that begin in [from, to).
func (s *Store) Energy(ctx context.Context, controller string, node int64, length time.Duration, from, to time.Time) ([]platform.Energy, error) {
	out := []platform.Energy{}
	seconds := int64(length / time.Second)
	err := each(ctx, s.views, func(row scanner) error {
		e := platform.Energy{Length: length}
		var start int64
		err := row.Scan(&start, &e.WattHours, &e.Covered)
		e.Start, e.Covered = Moment(start), min(e.Covered/float64(seconds), 1)
		out = append(out, e)
		return err
	}, `SELECT start_at, watt_hours, covered FROM energy WHERE controller = $1 AND node = $2 AND length = $3
		AND start_at >= $4 AND start_at < $5 ORDER BY start_at`, controller, node, seconds, Micros(from), Micros(to))
	if err != nil {
		return nil, fmt.Errorf("read what node %d of controller %q measured: %w", node, controller, err)
	}
	return out, nil
}

// Meters lists where the measuring of each node of a controller stands.
func (s *Store) Meters(ctx context.Context, controller string) ([]platform.MeterState, error) {
	var out []platform.MeterState
	err := each(ctx, s.views, func(row scanner) error {
		var m platform.MeterState
		var since, last int64
		err := row.Scan(&m.Node, &since, &last, &m.Last.Watts)
		m.Since, m.Last.At, m.Last.Node = Moment(since), Moment(last), m.Node
		out = append(out, m)
		return err
	}, "SELECT node, since, last_at, last_watts FROM meter WHERE controller = $1 ORDER BY node", controller)
	if err != nil {
		return nil, fmt.Errorf("list meters of controller %q: %w", controller, err)
	}
	return out, nil
}

// Purge removes what is older.
func (s *Store) Purge(ctx context.Context, r platform.Retention) error {
	err := s.writeAside(ctx, func(tx *sql.Tx) error {
		for length, before := range map[int64]time.Time{minute: r.Minutes, quarter: r.Quarters} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM energy WHERE length = $1 AND start_at < $2", length, Micros(before)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM event WHERE at < $1", Micros(r.Events)); err != nil {
			return err
		}
		return purgeHistory(ctx, tx, r.History)
	})
	if err != nil {
		return fmt.Errorf("remove what is older than it has to be: %w", err)
	}
	return nil
}
