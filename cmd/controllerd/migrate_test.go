package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/site/migration"
	"svc.internal/controller/site/migration/reader"
	"svc.internal/controller/store"
	"svc.internal/controller/tools/conformance/onezero"
)

// oldHouse serves a Controller 1.0 and gives what flags name it.
func oldHouse(t *testing.T, h http.Handler) (flags []string, conf *tls.Config, url string) {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(onezero.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cert := filepath.Join(t.TempDir(), "certificate.pem")
	if err := os.WriteFile(cert, pemOf(server.Certificate().Raw), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--from", server.URL, "--username", onezero.Username, "--password-file", password, "--ca-file", cert},
		server.Client().Transport.(*http.Transport).TLSClientConfig.Clone(), server.URL
}

// readAll reads a house faster than is polite.
func readAll(t *testing.T, cfg reader.Config) migration.House {
	t.Helper()
	cfg.Pace = time.Nanosecond
	house, _, err := reader.Read(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return house
}

// graves are what an export keeps of what was undone.
var graves = regexp.MustCompile(`(?ms)^(retired|highest):.*?(^\S|\z)`)

func exported(t *testing.T, d *desk) string {
	t.Helper()
	text := d.must("site", "export")
	for {
		next := graves.ReplaceAllString(text, "$2")
		if next == text {
			return text
		}
		text = next
	}
}

func TestMigrateByHand(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	house := onezero.NewHouse(2, 12, 4)
	house.Nodes[3].Offline = true
	server := onezero.New(house, onezero.Habits{IDKey: "nodeId", NameKey: "nodeName", NumbersAsText: true, EmptyBody: true})
	from, _, _ := oldHouse(t, server)
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("site", "import", d.write("site.yaml", "site: {name: New}\nclusters:\n  - {id: 900, name: Ours}\n"))
	before := exported(t, d)

	do := func(want int, verb string, more ...string) said {
		t.Helper()
		got := d.run(append(append([]string{"migrate", verb}, from...), more...)...)
		if got.code != want {
			t.Fatalf("migrate %s: exit code %d, want %d\n%s%s", verb, got.code, want, got.out, got.err)
		}
		return got
	}
	var plan migration.Plan
	if err := json.Unmarshal([]byte(do(0, "preview", "--json").out), &plan); err != nil {
		t.Fatal(err)
	}
	if len(plan.Clusters) != 2 || len(plan.Nodes) != 11 || len(plan.Shades) != 4 || plan.Nodes[0].Action != migration.Create {
		t.Errorf("the preview has %+v", plan)
	}
	if got := exported(t, d); got != before {
		t.Errorf("the preview changed the site to\n%s", got)
	}
	do(0, "apply")
	got := d.must("site", "export")
	for _, c := range house.Clusters {
		if !strings.Contains(got, fmt.Sprintf("id: %d", c.ID)) || !strings.Contains(got, c.Name) {
			t.Errorf("cluster %d (%s) did not come over:\n%s", c.ID, c.Name, got)
		}
	}
	if backups, _ := filepath.Glob(filepath.Join(d.dataDir, operations.BackupFolder, "before-migration-*")); len(backups) != 1 {
		t.Errorf("backups of before: %v", backups)
	}
	if out := do(0, "apply"); !strings.Contains(out.err, "nothing is new") {
		t.Errorf("the second time it said %s%s", out.out, out.err)
	}
	if out := d.must("migrate", "list"); !strings.Contains(out, "127.0.0.1") {
		t.Errorf("migrate list said %s", out)
	}
	do(0, "drift")
	server.OnAsking(func(_ string, h *onezero.House) { h.Nodes[0].Name = "Another name" })
	if out := do(3, "drift"); !strings.Contains(out.out, `renamed from "Luminaire 000" to "Another name"`) {
		t.Errorf("drift said %s", out.out)
	}
	if out := d.must("migrate", "undo"); !strings.Contains(out, "is undone") {
		t.Errorf("undo said %s", out)
	}
	if got := exported(t, d); got != before {
		t.Errorf("undoing left a trace: want\n%s\ngot\n%s", before, got)
	}
	if out := d.run("migrate", "undo"); out.code != 1 || !strings.Contains(out.err, "migrate list") {
		t.Errorf("undoing nothing: %+v", out)
	}
	if n := server.Controls(); n != 0 {
		t.Errorf("%d control calls reached the old controller", n)
	}
}

func TestMigrateIsCalledWrongly(t *testing.T) {
	t.Parallel()
	server := onezero.New(onezero.NewHouse(1, 1, 1), onezero.Habits{})
	from, _, url := oldHouse(t, server)
	d := &desk{t: t, dataDir: t.TempDir()}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no address", []string{"preview"}, 2, "from"},
		{"plain HTTP", append([]string{"preview"}, append(slices.Clone(from), "--from", "http://old.example")...), 2, "https"},
		{"plain HTTP to what looks like this machine", append([]string{"preview"}, append(slices.Clone(from), "--from", "http://127.evil.example")...), 2, "use https://127.evil.example"},
		{"a path", append([]string{"preview"}, append(slices.Clone(from), "--from", url+"/svc/api")...), 2, "scheme, host and port alone"},
		{"both kinds of trust", append([]string{"apply"}, append(slices.Clone(from), "--fingerprint", strings.Repeat("0", 64))...), 2, "exclude"},
		{"another way with conflicts", append([]string{"apply"}, append(slices.Clone(from), "--on-conflict", "renumber")...), 2, "refuse or skip"},
		{"no trust", []string{"preview", "--from", url, "--username", onezero.Username, "--password-file", "-"}, 1, "nothing was sent"},
		{"a wrong fingerprint", []string{"preview", "--from", url, "--username", onezero.Username, "--password-file", "-", "--fingerprint", strings.Repeat("0", 64)}, 1, "nothing was sent"},
		{"an unknown verb", []string{"copy"}, 2, "unknown command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := d.typed(onezero.Password, append([]string{"migrate"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.err, c.want) {
				t.Errorf("exit code %d, said %s; want %d and %q", got.code, got.err, c.code, c.want)
			}
		})
	}
	if n := server.Asked("authenticate"); n != 0 {
		t.Errorf("the password was sent %d times", n)
	}
}

// TestMigrateAWholeHouse takes 12 clusters, 150 nodes and 40 shades over from a bare 1.0
// and from a controller like this one with other ranges of IDs.
func TestMigrateAWholeHouse(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	want := onezero.NewHouse(12, 150, 40)
	bare := onezero.New(want, onezero.Habits{IDKey: "Id", NameKey: "Name", NumbersAsText: true, TokenUses: 7})
	_, conf, url := oldHouse(t, bare)
	houses := map[string]reader.Config{"bare": {URL: url, Username: onezero.Username, Password: onezero.Password, TLS: conf}}

	ours := newBuilding(t, "site: {name: Old}\n")
	fillFrom(t, ours, want)
	ours.serve()
	houses["ours"] = reader.Config{URL: ours.url, Username: string(account.RoleAPIService), Password: housePassword, TLS: ours.client.Transport.(*http.Transport).TLSClientConfig.Clone()}

	for name, cfg := range houses {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			id, plan, err := db.Migrate(t.Context(), store.Takeover{House: readAll(t, cfg), By: "test"})
			if err != nil || id == 0 {
				t.Fatalf("got migration %d, conflicts %+v, %v", id, plan.Conflicts, err)
			}
			site, _, err := db.Site(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sameSite(t, site, want)
			undone(t, db, dir)
		})
	}
	if n := bare.Controls(); n != 0 {
		t.Errorf("%d control calls reached the old controller", n)
	}
	if entries := ours.daemon.core.RecentEntries(); len(entries) != 0 {
		t.Errorf("%d commands reached the old controller", len(entries))
	}
}

// fillFrom gives a controller of ours a house without buses.
func fillFrom(t *testing.T, h *house, from *onezero.House) {
	t.Helper()
	db, err := store.Open(t.Context(), h.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var in appliance.Site
	for _, c := range from.Clusters {
		on, err := time.Parse(time.RFC3339, c.CreatedOn)
		if err != nil {
			t.Fatal(err)
		}
		in.Clusters = append(in.Clusters, appliance.Cluster{ID: appliance.ID(c.ID), Name: c.Name, CreatedBy: c.CreatedByName, CreatedOn: on, Nodes: idsOf(c.Nodes), Shades: idsOf(c.Shades)})
	}
	for _, n := range from.Nodes {
		tag := appliance.TagNode
		if n.Peripheral {
			tag = appliance.TagPeripheral
		}
		in.Nodes = append(in.Nodes, appliance.Node{ID: appliance.ID(n.ID), Name: n.Name, Tag: tag})
	}
	for _, s := range from.Shades {
		in.Shades = append(in.Shades, appliance.Shade{ID: appliance.ID(s.ID), Name: s.Name, Output: 1})
	}
	if _, err := db.Import(t.Context(), in, store.ImportOptions{By: "test"}); err != nil {
		t.Fatal(err)
	}
}

func idsOf(list []int) (out []appliance.ID) {
	for _, id := range list {
		out = append(out, appliance.ID(id))
	}
	slices.Sort(out)
	return out
}

// sameSite compares IDs, names, tags and memberships.
func sameSite(t *testing.T, got appliance.Site, want *onezero.House) {
	t.Helper()
	if len(got.Clusters) != len(want.Clusters) || len(got.Nodes) != len(want.Nodes) || len(got.Shades) != len(want.Shades) {
		t.Fatalf("got %d clusters, %d nodes, %d shades", len(got.Clusters), len(got.Nodes), len(got.Shades))
	}
	for i, c := range want.Clusters {
		g := got.Clusters[i]
		if g.ID != appliance.ID(c.ID) || g.Name != c.Name || g.CreatedBy != c.CreatedByName || g.CreatedOn.Format(time.RFC3339) != c.CreatedOn ||
			!slices.Equal(g.Nodes, idsOf(c.Nodes)) || !slices.Equal(g.Shades, idsOf(c.Shades)) {
			t.Errorf("got %+v, want %+v", g, c)
		}
	}
	for i, n := range want.Nodes {
		if g := got.Nodes[i]; g.ID != appliance.ID(n.ID) || g.Name != n.Name || (g.Tag == appliance.TagPeripheral) != n.Peripheral || g.Bound() {
			t.Errorf("got %+v, want %+v", g, n)
		}
	}
	for i, s := range want.Shades {
		if g := got.Shades[i]; g.ID != appliance.ID(s.ID) || g.Name != s.Name {
			t.Errorf("got %+v, want %+v", g, s)
		}
	}
}

// undone undoes a migration of an empty controller, and looks that new things get IDs
// above those that came over.
func undone(t *testing.T, db *store.Store, dir string) {
	t.Helper()
	id, err := db.CreateNode(t.Context(), appliance.Node{Name: "New"}, "test", nil)
	if err != nil || id <= 299 {
		t.Errorf("a new node got the ID %d, %v; want one above all that came over", id, err)
	}
	var edited *store.Edited
	err = db.UpdateNode(t.Context(), 1, "test", func(n *appliance.Node) error { n.Name = "Renamed"; return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.UndoMigration(t.Context(), 0, false, "test"); !errors.As(err, &edited) || len(edited.Edits) != 1 || !strings.Contains(edited.Edits[0], "Renamed") && !strings.Contains(edited.Edits[0], "node 1 ") {
		t.Errorf("undoing what was edited: got %v", err)
	}
	if _, err := db.UndoMigration(t.Context(), 0, true, "test"); err != nil {
		t.Fatal(err)
	}
	site, _, err := db.Site(t.Context())
	if err != nil || len(site.Nodes) != 1 || len(site.Shades)+len(site.Clusters) != 0 {
		t.Errorf("after undoing %d nodes, %d shades, %d clusters are left, %v", len(site.Nodes), len(site.Shades), len(site.Clusters), err)
	}
	if id, err := db.CreateShade(t.Context(), appliance.Shade{ID: 5001, Name: "Usurper", Output: 1}, "test", nil); err == nil {
		t.Errorf("an ID that was undone was given to another: %d", id)
	}
}

// TestAMigrationIsWholeOrNot ends the command by force at any moment, mostly near its end.
func TestAMigrationIsWholeOrNot(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	server := onezero.New(onezero.NewHouse(1, 200, 50), onezero.Habits{})
	last := make(chan struct{}, 1)
	lists := 0
	server.OnAsking(func(endpoint string, _ *onezero.House) {
		if endpoint == "authenticate" {
			lists = 0
		}
		if endpoint == "getClusters" {
			if lists++; lists == 2 { // the house has been read
				select {
				case last <- struct{}{}:
				default:
				}
			}
		}
	})
	from, _, _ := oldHouse(t, server)
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("site", "import", d.write("site.yaml", "site: {name: New}\n"))
	before := exported(t, d)
	applied := 0
	for range 5 {
		select {
		case <-last:
		default:
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		c := d.command(ctx, append([]string{"migrate", "apply"}, from...)...)
		var out bytes.Buffer
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); c.Wait() }()
		select {
		case <-last:
			<-time.After(time.Duration(rand.IntN(120)) * time.Millisecond) // into the transaction, or past it
		case <-ended:
			select {
			case <-last: // on a busy machine it was done before this was told of its last question
			default:
				t.Fatalf("it ended by itself: %s", out.String())
			}
		}
		c.Process.Kill()
		<-ended
		cancel()
		got := exported(t, d)
		if got == before {
			continue
		}
		applied++
		if n := strings.Count(got, "name: Luminaire"); n != 200 {
			t.Fatalf("%d of 200 nodes came over", n)
		}
		d.must("migrate", "undo")
		if got := exported(t, d); got != before {
			t.Fatalf("undoing left a trace:\n%s", got)
		}
	}
	t.Logf("of 5 that were ended, %d had been applied", applied)
	if left, _ := filepath.Glob(filepath.Join(d.dataDir, "*.part")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }
