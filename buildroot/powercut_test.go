//go:build image && built

package buildroot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPowerCuts takes the power away at random moments of starts and work, of updates, and of starts that migrate the data. CUTS in
// the environment is how often; every fifth is during an update, every fifth during a migration.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	cuts := 5
	if s := os.Getenv("CUTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		cuts = n
	}
	b, c := installed(t, virt)
	first := c.version(t)
	u := &updates{bundles: newBundles(t, b.name, first)}
	made := map[string]bool{} // names of nodes whose making was acknowledged
	for i := range cuts {
		about := "work"
		switch i % 5 {
		case 1:
			about = "an update"
			b.plug(t, map[string]string{"update.raucb": u.next(t, false)})
			lasting(t, c, made, fmt.Sprint("cut ", i), 60*time.Second)
		case 3:
			about = "a migration"
			b.plug(t, map[string]string{"update.raucb": u.next(t, true)})
			b.said(t, 1, `is installed beside`)
			time.Sleep(rand.N(60 * time.Second))
		case 4:
			about = "a start"
			b.cut(t)
			b.power(t)
			time.Sleep(rand.N(30 * time.Second))
		default:
			lasting(t, c, made, fmt.Sprint("cut ", i), 15*time.Second)
		}
		b.cut(t)
		b.power(t)
		c.serves(t)
		c.login(t)
		var nodes []struct{ Name string }
		c.call(t, "GET", "/api/v1/nodes", nil, &nodes)
		have := map[string]bool{}
		for _, n := range nodes {
			have[n.Name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(made)) {
			if !have[name] {
				t.Fatalf("cut %d, during %s: %s was acknowledged and is gone", i, about, name)
			}
		}
		if text := b.console(t); strings.Contains(text, "emergency") || strings.Contains(text, "(y/n)") {
			t.Fatalf("cut %d, during %s: the start asked somebody", i, about)
		}
		running := b.system(t)
		u.settled(running)
		t.Logf("cut %d, during %s: serves again, version %s, %d acknowledged nodes all there", i, about, running, len(made))
	}
}

// lasting makes nodes for a random time of at most most.
func lasting(t *testing.T, c *client, made map[string]bool, name string, most time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), rand.N(most))
	defer stop()
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%s, %d", name, n)
		if _, err := c.try("POST", "/api/v1/nodes", map[string]any{"name": name, "profile": "wirenboard-wb-mdm3"}, nil); err == nil {
			made[name] = true
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// updates makes one bundle after the other, each newer than what runs.
type updates struct {
	*bundles
	n, migrations int
	path          string // of the one that was not installed yet
}

// next is a bundle that is newer than what runs; migrates: its daemon changes the form of the data.
func (u *updates) next(t *testing.T, migrates bool) string {
	t.Helper()
	if u.path != "" && !migrates {
		return u.path
	}
	u.n++
	if migrates {
		u.migrations++
	}
	u.path = u.bundle(t, fmt.Sprint("cut", u.n), u.name(), virt, u.keys, func(t *testing.T, root string) {
		if u.migrations > 0 {
			replaceDaemon(t, root, migration(t, u.migrations))
		}
	})
	return u.path
}

func (u *updates) name() string { return fmt.Sprintf("%s.%d", u.version, u.n) }

// settled forgets a bundle that runs by now.
func (u *updates) settled(running string) {
	if running == u.name() {
		u.path = ""
	}
}

// migration returns a build overlay with so many more steps of the database, each of which takes a while.
func migration(t *testing.T, steps int) map[string]string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("../store/migrations")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range steps {
		name := fmt.Sprintf("9%02d_of_a_test.sql", i)
		put(t, filepath.Join(dir, name), fmt.Sprintf(`CREATE TABLE of_a_test_%d AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i, hex(randomblob(16)) AS x FROM n;
CREATE INDEX of_a_test_%[1]d_x ON of_a_test_%[1]d(x);
DROP TABLE of_a_test_%[1]d;
`, i))
		out[filepath.Join(source, name)] = filepath.Join(dir, name)
	}
	return out
}

// overlay writes what "go build -overlay" reads.
func overlay(t *testing.T, replace map[string]string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	put(t, path, string(b))
	return path
}
