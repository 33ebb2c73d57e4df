package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/store"
	"svc.internal/controller/tools/conformance/onezero"
)

// A house that was taken over with --watch is looked at again with the token that it gave: what differs and what goes
// wrong is told once, and the password is needed no more.
func TestAHouseIsWatched(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	server := onezero.New(onezero.NewHouse(2, 12, 4), onezero.Habits{})
	from, _, _ := oldHouse(t, server)
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	d.must("site", "import", d.write("site.yaml", "site: {name: New}\n"))
	if d.must(append([]string{"migrate", "apply", "--watch"}, from...)...); !strings.Contains(d.must("migrate", "list"), "0 differences") {
		t.Errorf("migrate list said %s", d.must("migrate", "list"))
	}
	var log bytes.Buffer
	look := func(want store.Watch, told string) {
		t.Helper()
		log.Reset()
		db, err := store.Open(t.Context(), d.dataDir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		list, err := db.Watches(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%d houses are watched, %v", len(list), err)
		}
		err = operations.LookAgain(t.Context(), db, slog.New(slog.NewTextHandler(&log, nil)), list[0])
		if err != nil {
			t.Error(err)
		}
		if list, _ = db.Watches(t.Context()); list[0].Differences != want.Differences || (list[0].Trouble == "") != (want.Trouble == "") {
			t.Errorf("the look found %d differences and %q, want %+v", list[0].Differences, list[0].Trouble, want)
		}
		if got := log.String(); told == "" && got != "" || !strings.Contains(got, told) {
			t.Errorf("it told %q, want %q", got, told)
		}
		if strings.Contains(log.String(), list[0].Refresh) {
			t.Error("the token is in the log")
		}
	}
	look(store.Watch{}, "")
	server.OnAsking(func(_ string, h *onezero.House) { h.Nodes[0].Name = "Another name" })
	look(store.Watch{Differences: 1}, "differences=1")
	look(store.Watch{Differences: 1}, "")
	server.Forget()
	look(store.Watch{Differences: 1, Trouble: "refused"}, "logs in again")
	look(store.Watch{Differences: 1, Trouble: "refused"}, "")
	if out := d.must("migrate", "list"); !strings.Contains(out, "in vain") {
		t.Errorf("migrate list said %s", out)
	}
	if server.Controls() != 0 {
		t.Error("the other controller was commanded")
	}
	d.must(append([]string{"migrate", "apply", "--watch=false"}, from...)...)
	if out := d.must("migrate", "list", "--json"); !strings.Contains(out, `"watch": null`) {
		t.Errorf("after --watch=false migrate list says %s", out)
	}
	d.must(append([]string{"migrate", "apply", "--watch"}, from...)...)
	for range 2 { // the second took the new name over
		d.must("migrate", "undo")
	}
	db, err := store.Open(t.Context(), d.dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if list, err := db.Watches(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("after all was undone %d houses are watched, %v", len(list), err)
	}
}
