package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"svc.internal/controller/appliance"
)

// Family of IDs. The values are stored in marks and tombstones.
type Family string

// The families. Buses have no integer IDs.
const (
	Nodes    Family = "node"
	Shades   Family = "shade"
	Clusters Family = "cluster"
	Scenes   Family = "scene"
	Rules    Family = "rule"
)

// Each refers to those before it only.
var families = []Family{Nodes, Shades, Clusters, Scenes, Rules}

// first is where automatic IDs of f begin.
func (f Family) first() appliance.ID {
	switch f {
	case Nodes:
		return appliance.FirstNodeID
	case Shades:
		return appliance.FirstShadeID
	}
	return appliance.FirstClusterID
}

// key is the word for the family in site files.
func (f Family) key() string { return string(f) + "s" }

// noun is what identity is about.
type noun struct {
	ID   appliance.ID
	UUID appliance.UUID
	Name string
}

// ids is everything the database knows about the IDs of one family.
type ids struct {
	live    map[appliance.ID]noun // unreadable rows included
	retired map[appliance.ID]noun
	mark    appliance.ID
}

// used reports whether id ever named anything.
func (x *ids) used(id appliance.ID) bool {
	if _, ok := x.live[id]; ok {
		return true
	}
	_, ok := x.retired[id]
	return ok
}

func loadIDs(ctx context.Context, tx *sql.Tx, f Family) (*ids, error) {
	x := &ids{live: map[appliance.ID]noun{}, retired: map[appliance.ID]noun{}}
	if err := tx.QueryRowContext(ctx, "SELECT high FROM mark WHERE family = ?", f).Scan(&x.mark); err != nil {
		return nil, err
	}
	// The table of a family is named as the family.
	if err := loadNouns(ctx, tx, x.live, "SELECT id, uuid, name FROM "+string(f)); err != nil {
		return nil, err
	}
	err := loadNouns(ctx, tx, x.retired, "SELECT id, uuid, name FROM tombstone WHERE family = ?", f)
	return x, err
}

func loadNouns(ctx context.Context, tx *sql.Tx, into map[appliance.ID]noun, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n noun
		var uuid []byte
		if err := rows.Scan(&n.ID, &uuid, &n.Name); err != nil {
			return err
		}
		copy(n.UUID[:], uuid)
		into[n.ID] = n
	}
	return rows.Err()
}

// saveMark raises the high-water mark of f. It never lowers it.
func saveMark(ctx context.Context, tx *sql.Tx, f Family, high appliance.ID) error {
	_, err := tx.ExecContext(ctx, "UPDATE mark SET high = max(high, ?) WHERE family = ?", high, f)
	return err
}

// retire removes a noun and keeps its ID from ever being used again.
func retire(ctx context.Context, tx *sql.Tx, f Family, n noun, at int64, by string) error {
	if err := bury(ctx, tx, f, n, at, by); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM "+string(f)+" WHERE id = ?", n.ID)
	return err
}

func bury(ctx context.Context, tx *sql.Tx, f Family, n noun, at int64, by string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO tombstone (family, id, uuid, name, retired_at, retired_by) VALUES (?, ?, ?, ?, ?, ?)",
		f, n.ID, n.UUID[:], n.Name, at, by)
	return err
}

// unbury lets the noun that had this ID have it again.
func unbury(ctx context.Context, tx *sql.Tx, f Family, id appliance.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM tombstone WHERE family = ? AND id = ?", f, id)
	return err
}

func byID(a, b noun) int { return cmp.Compare(a.ID, b.ID) }

func sortedNouns(m map[appliance.ID]noun) []noun {
	out := make([]noun, 0, len(m))
	for _, n := range m {
		out = append(out, n)
	}
	slices.SortFunc(out, byID)
	return out
}
