//go:build peers

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/ui/uitest"
)

// chosen takes one of the choices of a field.
func chosen(tab *uitest.Tab, selector, value string) {
	tab.Wait(`(() => { const s = document.querySelector("` + selector + `"); s.value = "` + value + `"; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`)
}

// TestABoxIsReplacedFromItsClaimPage is what an owner does with a phone: makes a pair of keys in the browser, has the backup leave
// the box, loses the box, and has a new one become the old.
func TestABoxIsReplacedFromItsClaimPage(t *testing.T) {
	t.Parallel()
	e := newElsewhere(t)
	h := newBuilding(t, everydaySite)
	h.serve()
	ids := h.desk().must("site", "export")
	browser := uitest.Open(t)
	phone := uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true}
	tab := browser.Tab(t, phone)
	tab.Ignore("status of 422") // the browser notes what is refused
	logIn(h, tab, "admin")
	tab.Go(h.url + "/more/backup")
	tab.Press("Set up")
	tab.Press("Make a pair of keys")
	tab.WaitText("This is the secret key.")
	inspect(t, tab, "offsite-secret-360-light-en")
	secret := uitest.Eval[string](tab, `document.querySelector("#secret").innerText`)
	tab.Wait(`document.querySelector("a[download='backup-key.txt']")`)
	tab.Click("a[download='backup-key.txt']")
	tab.Press("I have kept it")
	chosen(tab, "select[name=kind]", "webdav")
	tab.Type("input[name=url]", e.url)
	tab.Type("input[name=user]", "owner")
	tab.Type("input[name=password]", elsewherePassword)
	inspect(t, tab, "offsite-set-360-light-en")
	tab.Press("Save")
	tab.Press("Try it now")
	tab.WaitText("is not trusted")
	inspect(t, tab, "offsite-failed-360-light-en")
	tab.Press("Change")
	tab.Wait(`document.querySelector("input[name=fingerprint]")`)
	tab.Wait(`(document.querySelector("input[name=fingerprint]").closest("details").open = true)`)
	tab.Type("input[name=fingerprint]", e.fingerprint)
	inspect(t, tab, "offsite-change-360-light-en")
	tab.Press("Save")
	tab.Press("Try it now")
	tab.WaitText("arrived whole")
	inspect(t, tab, "offsite-360-light-en")
	files := e.files(t)
	if len(files) != 1 || strings.Contains(string(files[0]), "SQLite") {
		t.Fatalf("%d files are there, want one that is encrypted", len(files))
	}
	german := browser.Tab(t, uitest.Look{Width: 1280, Height: 900, Dark: true, Language: "de"})
	logIn(h, german, "admin")
	german.Go(h.url + "/more/backup")
	german.WaitText("heil angekommen")
	inspect(t, german, "offsite-1280-dark-de")
	tab.Ignore("net::ERR_") // the box is lost, and both pages go on asking for it
	german.Ignore("net::ERR_")
	h.stop()

	fresh := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	s := fresh.serve()
	tab = browser.Tab(t, phone)
	tab.Ignore("status of 422", "status of 403")
	tab.Go(s.url + "/")
	tab.WaitText("Claim this controller")
	inspect(t, tab, "claim-360-light-en")
	tab.Press("Restore a backup")
	tab.WaitText("takes the place of another")
	code, err := os.ReadFile(filepath.Join(fresh.dataDir, api.ClaimFile))
	if err != nil {
		t.Fatal(err)
	}
	send := func() { tab.Click("form button[type=submit]") }
	tab.Type("input[name=code]", "AAAA-BBBB-CCCC")
	chooseFile(tab, "input[type=file]", files[0])
	send()
	tab.WaitText("this is not the claim code")
	tab.Type("input[name=code]", strings.TrimSpace(string(code)))
	send()
	tab.WaitText("the secret key that belongs to it is needed")
	inspect(t, tab, "claim-restore-360-light-en")
	tab.Type("input[name=key]", secret)
	tab.Ignore("status of 503", "status of 401", "net::ERR_") // of the time in which the controller starts anew
	send()
	tab.WaitText("It has the users of the backup")
	tab.Shot("claim-begun-360-light-en", false)
	tab.Wait(`location.pathname === "/login" && document.querySelector("input[name=username]")`)
	tab.Type("input[name=username]", "admin") // of the backup
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.WaitText("Ground floor")
	if now := fresh.must("site", "export"); now != ids {
		t.Errorf("restored\n%s\nwant\n%s", now, ids)
	}
	s.stop()
}
