package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc.internal/controller/appliance"
)

// Edited is the error of undoing a migration on which people have built since. Nothing
// was changed.
type Edited struct{ Edits []string }

func (e *Edited) Error() string {
	return "what came over was changed since:\n" + strings.Join(e.Edits, "\n")
}

// Since lists what people did.
func (e *Edited) Since() []string { return e.Edits }

// UndoMigration takes a migration back, the newest that holds if id is 0: what it made
// is retired, so that only the same controller's things come back under those IDs, and
// what it changed is as it was. It fails with an [*Edited] if something was changed
// since, unless it is forced, and with [appliance.ErrNotFound].
func (s *Store) UndoMigration(ctx context.Context, id int64, force bool, by string) (int64, error) {
	err := s.write(ctx, func(tx *sql.Tx) (err error) {
		var text []byte
		var restored bool
		if id, text, restored, err = heldMigration(ctx, tx, id); err != nil {
			return err
		}
		var body migrationBody
		if err := json.Unmarshal(text, &body); err != nil {
			return err
		}
		have, err := wholeSite(ctx, tx)
		if err != nil {
			return err
		}
		edits := editsSince(body, have)
		if restored {
			edits = append([]string{"a backup was restored"}, edits...)
		}
		if len(edits) > 0 && !force {
			return &Edited{edits}
		}
		if err := s.takeBack(ctx, tx, body, have, by); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE migration SET undone_at = ? WHERE id = ?", nanos(s.now()), id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM watch WHERE source NOT IN (SELECT source FROM migration WHERE undone_at = 0)")
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("undo a migration: %w", err)
	}
	s.committed(ctx)
	return id, nil
}

// heldMigration finds the migration that is to be undone. One on which a later one of
// the same house builds has to wait for that.
func heldMigration(ctx context.Context, tx *sql.Tx, id int64) (found int64, body []byte, restored bool, err error) {
	var source string
	err = tx.QueryRowContext(ctx, "SELECT id, source, body, restored FROM migration WHERE undone_at = 0 AND (?1 = 0 OR id = ?1) ORDER BY id DESC LIMIT 1", id).
		Scan(&found, &source, &body, &restored)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, false, fmt.Errorf("there is no such migration that holds: %w", appliance.ErrNotFound)
	}
	if err != nil {
		return 0, nil, false, err
	}
	var later int64
	err = tx.QueryRowContext(ctx, "SELECT id FROM migration WHERE undone_at = 0 AND source = ? AND id > ? ORDER BY id DESC LIMIT 1", source, found).Scan(&later)
	switch {
	case err == nil:
		return 0, nil, false, fmt.Errorf("migration %d of the same house was made later and builds on it; undo that first: %w", later, appliance.ErrInUse)
	case errors.Is(err, sql.ErrNoRows):
		err = nil
	}
	return found, body, restored, err
}

// takeBack does the undoing.
func (s *Store) takeBack(ctx context.Context, tx *sql.Tx, body migrationBody, have appliance.Site, by string) error {
	made := madeBy(body)
	change := siteChange{in: stillThere(body.Before, have), remove: map[Family][]appliance.ID{}}
	for f, list := range made {
		for id := range list {
			if lives(have, f, id) {
				change.remove[f] = append(change.remove[f], id)
			}
		}
	}
	for _, h := range have.Shades { // of others, that were hung off what goes
		if made[Nodes][h.Node] && !made[Shades][h.ID] && !slices.ContainsFunc(change.in.Shades, func(b appliance.Shade) bool { return b.ID == h.ID }) {
			h.Node = 0
			change.in.Shades = append(change.in.Shades, h)
		}
	}
	p, err := newPlan(ctx, tx, change.in, ImportOptions{By: by, asItWas: true}, s.now())
	if err != nil {
		return err
	}
	p.removing(change)
	if err := p.work(); err != nil {
		return err
	}
	if body.Inverted && p.final.Settings.InvertShades {
		p.final.Settings.InvertShades, p.report.Settings = false, true
	}
	return p.save(ctx, tx)
}

// madeBy are the IDs that a migration made.
func madeBy(body migrationBody) map[Family]map[appliance.ID]bool {
	made := map[Family]map[appliance.ID]bool{Nodes: {}, Shades: {}, Clusters: {}}
	for _, item := range body.Created {
		if made[item.Family] != nil {
			made[item.Family][item.ID] = true
		}
	}
	return made
}

// stillThere leaves out what was removed since, so that undoing does not revive it.
func stillThere(before, have appliance.Site) (out appliance.Site) {
	for _, n := range before.Nodes {
		if lives(have, Nodes, n.ID) {
			out.Nodes = append(out.Nodes, n)
		}
	}
	for _, h := range before.Shades {
		if lives(have, Shades, h.ID) {
			out.Shades = append(out.Shades, h)
		}
	}
	for _, c := range before.Clusters {
		if lives(have, Clusters, c.ID) {
			c.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(id appliance.ID) bool { return !lives(have, Nodes, id) })
			c.Shades = slices.DeleteFunc(slices.Clone(c.Shades), func(id appliance.ID) bool { return !lives(have, Shades, id) })
			out.Clusters = append(out.Clusters, c)
		}
	}
	return out
}

func lives(site appliance.Site, f Family, id appliance.ID) bool {
	for _, n := range entriesOf(site, f) {
		if n.ID == id {
			return true
		}
	}
	return false
}

// editsSince tells what people did since to what a migration brought.
func editsSince(body migrationBody, have appliance.Site) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	tell := func(f Family, id appliance.ID, name string, lives bool, changed []KeyChange) {
		switch {
		case !lives:
			say("%s %d (%s) was removed", f, id, name)
		case len(changed) > 0:
			say("%s %d (%s) was changed: %s", f, id, name, strings.Join(keysOf(changed), ", "))
		}
	}
	for _, n := range body.After.Nodes {
		now, err := find(have.Nodes, n.ID, "node", func(n appliance.Node) appliance.ID { return n.ID })
		tell(Nodes, n.ID, n.Name, err == nil, nodeChanges(n, now, have.Buses))
	}
	for _, h := range body.After.Shades {
		now, err := find(have.Shades, h.ID, "shade", func(h appliance.Shade) appliance.ID { return h.ID })
		tell(Shades, h.ID, h.Name, err == nil, shadeChanges(h, now))
	}
	wrote := map[appliance.ID]bool{}
	for _, c := range body.After.Clusters {
		wrote[c.ID] = true
		now, err := find(have.Clusters, c.ID, "cluster", func(c appliance.Cluster) appliance.ID { return c.ID })
		tell(Clusters, c.ID, c.Name, err == nil, clusterChanges(c, now))
	}
	made := madeBy(body)
	for _, c := range have.Clusters {
		for f, members := range map[Family][]appliance.ID{Nodes: c.Nodes, Shades: c.Shades} {
			if i := slices.IndexFunc(members, func(id appliance.ID) bool { return made[f][id] }); i >= 0 && !wrote[c.ID] {
				say("cluster %d (%s) holds %s %d", c.ID, c.Name, f, members[i])
			}
		}
	}
	for _, h := range have.Shades {
		if made[Nodes][h.Node] && !made[Shades][h.ID] {
			say("shade %d (%s) hangs off node %d", h.ID, h.Name, h.Node)
		}
	}
	return out
}
