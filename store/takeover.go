package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/migration"
)

// ErrConflicts: something of the other house cannot come over.
var ErrConflicts = errors.New("there are conflicts")

// Takeover is one migration from another controller.
type Takeover struct {
	House        migration.House
	Skip         bool // leave out what conflicts; otherwise nothing is taken over then
	InvertShades bool // 100 was closed there
	By           string
	Watch        *Watch // look at it every night from then on; nil: whatever was done before
}

// Migration is one that was made.
type Migration struct {
	ID       int64
	Source   string
	At       time.Time
	By       string
	UndoneAt time.Time // zero: it holds
	Taken    Taken
	Watch    *Watch // of its house, at the newest that holds; nil: nobody looks
}

// Taken counts what a migration brought.
type Taken struct{ Clusters, Nodes, Shades int }

// migrationBody is what undoing a migration takes.
type migrationBody struct {
	House    migration.House
	Created  []Item         // new, or back
	Before   appliance.Site // what it changed, as it was
	After    appliance.Site // all that it wrote, as it was then
	Inverted bool           // it turned InvertShades on
}

// PlanMigration works out what taking a house over would do, and does nothing.
func (s *Store) PlanMigration(ctx context.Context, house migration.House) (migration.Plan, error) {
	var out migration.Plan
	err := s.view(ctx, func(tx *sql.Tx) error {
		here, err := loadHere(ctx, tx, house.Source)
		out = migration.Work(house, here)
		return err
	})
	if err != nil {
		return migration.Plan{}, fmt.Errorf("plan the migration: %w", err)
	}
	return out, nil
}

// Migrate takes a house over, all of it or nothing, in one durable transaction. It
// returns 0 and the plan if there is nothing to do, and the plan with [ErrConflicts] if
// something conflicts.
func (s *Store) Migrate(ctx context.Context, t Takeover) (id int64, plan migration.Plan, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		here, err := loadHere(ctx, tx, t.House.Source)
		if err != nil {
			return err
		}
		plan = migration.Work(t.House, here)
		if len(plan.Conflicts) > 0 && !t.Skip {
			return ErrConflicts
		}
		if w := t.Watch; w != nil {
			if w.Source != t.House.Source || w.Refresh == "" {
				return fmt.Errorf("the house of %s cannot be watched, since it gave no refresh token; take it over without", t.House.Source)
			}
			if err := s.setWatch(ctx, tx, *w); err != nil {
				return err
			}
		}
		id, err = s.takeOver(ctx, tx, t, plan)
		return err
	})
	if err != nil {
		return 0, plan, fmt.Errorf("migrate: %w", err)
	}
	if id != 0 {
		s.committed(ctx)
	}
	return id, plan, nil
}

func (s *Store) takeOver(ctx context.Context, tx *sql.Tx, t Takeover, plan migration.Plan) (int64, error) {
	p, err := newPlan(ctx, tx, plan.Site, ImportOptions{By: t.By, asItWas: true}, s.now())
	if err != nil {
		return 0, err
	}
	if err := p.work(); err != nil {
		return 0, err
	}
	body := migrationBody{House: t.House}
	if t.InvertShades && !p.final.Settings.InvertShades {
		p.final.Settings.InvertShades, p.report.Settings, body.Inverted = true, true, true
	}
	if !p.report.Writes() {
		return 0, nil
	}
	body.Created = append(append(body.Created, p.report.Created...), p.report.Returned...)
	body.Before, body.After = p.parts(p.have), p.parts(p.final)
	if err := p.save(ctx, tx); err != nil {
		return 0, err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRowContext(ctx, "INSERT INTO migration (source, at, who, body) VALUES (?, ?, ?, ?) RETURNING id",
		t.House.Source, nanos(p.now), t.By, string(text)).Scan(&id)
	return id, err
}

// parts are the entries of a site that this import wrote.
func (p *plan) parts(site appliance.Site) (out appliance.Site) {
	wrote := map[Family]map[appliance.ID]bool{Nodes: {}, Shades: {}, Clusters: {}}
	for _, items := range [][]Item{p.report.Created, p.report.Returned, p.report.Changed} {
		for _, item := range items {
			if item.Family != Buses {
				wrote[item.Family][item.ID] = true
			}
		}
	}
	for _, n := range site.Nodes {
		if wrote[Nodes][n.ID] {
			out.Nodes = append(out.Nodes, n)
		}
	}
	for _, h := range site.Shades {
		if wrote[Shades][h.ID] {
			out.Shades = append(out.Shades, h)
		}
	}
	for _, c := range site.Clusters {
		if wrote[Clusters][c.ID] {
			out.Clusters = append(out.Clusters, c)
		}
	}
	return out
}

// loadHere reads what a migration is worked out against.
func loadHere(ctx context.Context, tx *sql.Tx, source string) (migration.Here, error) {
	here := migration.Here{
		Live: map[migration.Family]map[appliance.ID]migration.Noun{}, Retired: map[migration.Family]map[appliance.ID]migration.Noun{},
	}
	var err error
	if here.Site, err = wholeSite(ctx, tx); err != nil {
		return here, err
	}
	nouns := func(m map[appliance.ID]noun) map[appliance.ID]migration.Noun {
		out := make(map[appliance.ID]migration.Noun, len(m))
		for id, n := range m {
			out[id] = migration.Noun{UUID: n.UUID, Name: n.Name}
		}
		return out
	}
	for _, f := range families {
		known, err := loadIDs(ctx, tx, f)
		if err != nil {
			return here, err
		}
		here.Live[migration.Family(f)], here.Retired[migration.Family(f)] = nouns(known.live), nouns(known.retired)
	}
	var text []byte
	err = tx.QueryRowContext(ctx, "SELECT body FROM migration WHERE source = ? AND undone_at = 0 ORDER BY id DESC LIMIT 1", source).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return here, nil
	}
	if err != nil {
		return here, err
	}
	var last migrationBody
	if err := json.Unmarshal(text, &last); err != nil {
		return here, fmt.Errorf("read the last migration: %w", err)
	}
	here.Last = &last.House
	return here, nil
}

// Migrations lists all that were made, newest first.
func (s *Store) Migrations(ctx context.Context) ([]Migration, error) {
	out := []Migration{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id, source, at, who, undone_at, body FROM migration ORDER BY id DESC")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var m Migration
			var at, undone int64
			var text []byte
			if err := rows.Scan(&m.ID, &m.Source, &at, &m.By, &undone, &text); err != nil {
				return err
			}
			var body migrationBody
			if err := json.Unmarshal(text, &body); err != nil {
				return fmt.Errorf("migration %d: %w", m.ID, err)
			}
			m.At, m.UndoneAt = moment(at), moment(undone)
			for _, item := range body.Created {
				switch item.Family {
				case Clusters:
					m.Taken.Clusters++
				case Nodes:
					m.Taken.Nodes++
				case Shades:
					m.Taken.Shades++
				}
			}
			out = append(out, m)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		watched, err := watches(ctx, tx)
		for _, w := range watched {
			i := slices.IndexFunc(out, func(m Migration) bool { return m.Source == w.Source && m.UndoneAt.IsZero() })
			if i >= 0 {
				out[i].Watch = &w
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	return out, nil
}
