package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"svc.internal/controller/appliance"
)

// TestIDsNeverChangeWhateverHappens imports, retires, brings back, restarts,
// backs up and restores in random order. After each step every ID ever used
// must still name what it named first, living or retired.
func TestIDsNeverChangeWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			s, h, backups := open(t, t.TempDir()), newHistory(), []string(nil)
			var past []appliance.Site
			for step := range 60 {
				what := random.IntN(10)
				switch {
				case what < 4:
					if _, err := addSome(t.Context(), s); err != nil {
						t.Fatal(err)
					}
				case what < 6:
					past = append(past, load(t, s))
					if _, err := retireSome(t.Context(), s); err != nil {
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
