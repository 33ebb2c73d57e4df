package main

import (
	"log/slog"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/store"
)

// TestCommandsAreInTheAuditLog changes things from a shell, with no daemon: the log tells who of the system did it, and
// nothing of what failed or was only looked at.
func TestCommandsAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	site := d.write("site.yaml", "site: {name: House}\nnodes:\n  - {id: 7, name: Lamp}\n")
	d.must("site", "import", site)
	d.must("site", "import", site) // changes nothing
	d.must("site", "import", "--preview", "--replace", d.write("other.yaml", "site: {name: Other}\n"))
	d.typed(housePassword+"\n", "user", "add", "anna", "--role", "viewer", "--password-stdin")
	d.must("user", "role", "anna", "operator")
	d.typed("another password\n", "user", "passwd", "anna", "--password-stdin")
	d.run("user", "remove", "nobody") // fails
	secret := strings.TrimSpace(d.must("key", "add", "dashboard"))
	d.must("key", "remove", "dashboard")
	d.must("user", "remove", "anna")

	db, err := store.Open(t.Context(), d.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Audits(t.Context(), 100, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range slices.Backward(all) {
		got = append(got, a.What+" of "+a.Subject)
		if a.Who != self.Username || a.From != "console" || a.Accounts != (a.What != "site.import") {
			t.Errorf("%+v, want it of %s at the console", a, self.Username)
		}
		for _, hidden := range []string{secret, housePassword, "another password"} {
			if strings.Contains(a.Detail, hidden) {
				t.Errorf("a secret is in %+v", a)
			}
		}
	}
	want := []string{"site.import of site", "user.create of user anna", "user.role of user anna", "user.password of user anna",
		"key.create of key dashboard", "key.remove of key dashboard", "user.remove of user anna"}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
	visible, err := db.Audits(t.Context(), 100, 0, false)
	if err != nil || len(visible) != 1 || visible[0].Detail != `{"created":1,"returned":0,"changed":0,"retired":0}` {
		t.Errorf("others than admins see %+v, %v", visible, err)
	}
}
