package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/site/migration"
)

// otherHouse is another controller that is taken over now and then, and grows.
type otherHouse struct{ migration.House }

// grow adds a few things, some under IDs that may be taken here, and renames one.
func (o *otherHouse) grow(random *rand.Rand) {
	id := int64(1 + len(o.Nodes)*3 + random.IntN(3))
	o.Nodes = append(o.Nodes, migration.Node{ID: id, Name: fmt.Sprint("old node ", id)})
	o.Shades = append(o.Shades, migration.Shade{ID: 5000 + id, Name: fmt.Sprint("old shade ", id)})
	o.Clusters = append(o.Clusters, migration.Cluster{ID: id, Name: fmt.Sprint("old cluster ", id), Nodes: []int64{id}, Shades: []int64{5000 + id}})
	o.Nodes[random.IntN(len(o.Nodes))].Name = fmt.Sprint("renamed ", random.IntN(1000))
}

// TestCampaignIDsNeverChange imports, retires, brings back, makes, renames, replaces and
// removes one by one, restarts, loses its power, takes another house over, undoes that,
// backs up and restores in random order; with SOAK a thousand times. After each step every
// ID ever used must still name what it named first, living or retired.
func TestCampaignIDsNeverChange(t *testing.T) {
	t.Parallel()
	seeds := uint64(6)
	if os.Getenv("SOAK") != "" {
		seeds = 1000
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 2))
			s, h, backups := open(t, t.TempDir()), newHistory(), []string(nil)
			var past []appliance.Site
			house := &otherHouse{migration.House{Source: "old.example:443"}}
			for step := range 60 {
				what := random.IntN(17)
				switch {
				case what < 4:
					if _, err := addSome(t.Context(), s, random); err != nil {
						t.Fatal(err)
					}
				case what < 6:
					past = append(past, load(t, s))
					if _, err := retireSome(t.Context(), s, random); err != nil {
						t.Fatal(err)
					}
				case what == 6 && len(past) > 0:
					imports(t, s, past[random.IntN(len(past))], ImportOptions{Replace: random.IntN(2) == 0})
				case what == 7:
					s = reopen(t, s)
				case what == 8:
					backups = append(backups, filepath.Join(t.TempDir(), "backup"))
					if err := s.Backup(t.Context(), backups[len(backups)-1], BackupOptions{}); err != nil {
						t.Fatal(err)
					}
				case what == 9 && len(backups) > 0:
					s.Close()
					r, err := Restore(t.Context(), backups[random.IntN(len(backups))], filepath.Dir(s.path), nil)
					if err != nil || r.Warning != "" {
						t.Fatalf("restore: %+v, %v", r, err)
					}
					s = open(t, filepath.Dir(s.path))
				case what == 10 || what == 11:
					house.grow(random)
					if _, _, err := s.Migrate(t.Context(), Takeover{House: house.House, Skip: true, By: "campaign"}); err != nil {
						t.Fatal(err)
					}
				case what == 13:
					if _, err := s.CreateNode(t.Context(), appliance.Node{Name: fmt.Sprint("made ", step)}, "campaign", nil); err != nil {
						t.Fatal(err)
					}
				case what == 14 || what == 15:
					changeOne(t, s, random, step)
				case what == 16:
					s = powerCut(t, s)
				case what == 12:
					if _, err := s.UndoMigration(t.Context(), 0, true, "campaign"); err != nil && !errors.Is(err, appliance.ErrNotFound) && !errors.Is(err, appliance.ErrInUse) {
						t.Fatal(err)
					}
				}
				h.compare(t, s)
				if t.Failed() {
					t.Fatalf("after step %d, kind %d", step, what)
				}
			}
			if len(h.uuid[Nodes]) < 20 {
				t.Errorf("only %d nodes were ever made", len(h.uuid[Nodes]))
			}
		})
	}
}

// changeOne renames a node, puts another device in its place, or removes it.
func changeOne(t *testing.T, s *Store, random *rand.Rand, step int) {
	t.Helper()
	nodes := load(t, s).Nodes
	if len(nodes) == 0 {
		return
	}
	id, err := nodes[random.IntN(len(nodes))].ID, error(nil)
	switch random.IntN(3) {
	case 0:
		err = s.UpdateNode(t.Context(), id, "campaign", func(n *appliance.Node) error { n.Name = fmt.Sprint("renamed ", step); return nil }, nil)
	case 1:
		err = s.UpdateNode(t.Context(), id, "campaign", func(n *appliance.Node) error { n.Address = fmt.Sprint("replaced ", step); return nil }, nil)
	default:
		err = s.RemoveNode(t.Context(), id, "campaign", func(appliance.Node) error { return nil })
	}
	if err != nil && !errors.Is(err, appliance.ErrInUse) {
		t.Fatal(err)
	}
}

// powerCut goes on with the files as they are at this moment, which nobody closed. The log
// is copied before the database that it may be on its way into.
func powerCut(t *testing.T, s *Store) *Store {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{databaseFile + "-wal", databaseFile} {
		if err := copyFile(filepath.Join(filepath.Dir(s.path), name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}
