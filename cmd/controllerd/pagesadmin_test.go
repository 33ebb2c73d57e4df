//go:build peers

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/shelf/web"
)

// TestNewDevicesAreFoundNamedAndPutIntoRooms is the walk of an installer, on a phone.
func TestNewDevicesAreFoundNamedAndPutIntoRooms(t *testing.T) {
	t.Parallel()
	h := bare(t, walkSite)
	h.tokens = map[string]string{}
	h.site.Nodes, h.site.Shades, h.site.Clusters = nil, nil, nil // the buses are known, the devices on them not
	h.fillStore()
	h.serve()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	tab.Go(h.url + "/login")
	tab.Type("input[name=username]", "operator")
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.WaitText("There is no cluster yet.")
	inspect(t, tab, "empty-360-light-en")
	tab.Click(`nav a[href="/buses"]`)
	tab.Click(`a[href="/buses/tcp"]`)
	tab.Press("Scan this bus")
	tab.Press("Name the new devices")
	tab.WaitText("2 found, 0 named")
	inspect(t, tab, "commission-360-light-en")
	tab.Press("Next")
	tab.WaitText("this is needed")
	tab.Type("input[name=name]", "Desk lamp")
	tab.Wait(`(() => { const s = document.querySelector("select"); s.value = "new"; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	tab.Type("input[name=other]", "Study")
	tab.Press("Next")
	tab.WaitText("2 found, 1 named")
	tab.Type("input[name=name]", "Relays")
	tab.Wait(`[...document.querySelectorAll("option")].some(o => o.text === "Study")`)
	tab.Wait(`(() => { const s = document.querySelector("select"); s.value = [...s.options].find(o => o.text === "Study").value; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	tab.Press("Next")
	tab.WaitText("2 devices were named.")

	// The room can be switched at once, and renamed; the name can be taken back.
	h.awaitOnline()
	tab.Click(`nav a[href="/"]`)
	tab.Press("Study on")
	for _, n := range h.daemon.core.Snapshot().Nodes {
		h.await(uitest.Patience, n.Node.Name+" on", func() bool {
			for _, d := range h.building.Devices() {
				if d.Address == n.Node.Address && d.Bus == "tcp" && d.Channels[0].On {
					return true
				}
			}
			return false
		})
	}
	tab.Click(`.card a[href="/clusters/1"]`)
	tab.Press("Rename")
	tab.Type("dialog input[name=name]", "Library")
	tab.Press("Save")
	tab.Wait(`document.querySelector("h1").innerText === "Library"`)
	tab.Press("Undo")
	tab.Wait(`document.querySelector("h1").innerText === "Study"`)
	inspect(t, tab, "commissioned-360-light-en")
	tab.Press("Members")
	tab.WaitText("Save 11 members")
	tab.Shot("members-360-light-en", false)
	tab.Click("dialog .picks .check:last-child")
	tab.Press("Save 10 members")
	tab.Wait(`document.querySelectorAll("main .card").length === 11`) // the cluster and its lights
	tab.Press("Remove")
	tab.Press("Remove Study")
	tab.WaitText("There is no cluster yet.")
}

// TestUsersAndKeysAreMadeInTheBrowser makes what a program needs and uses it.
func TestUsersAndKeysAreMadeInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, walkSite)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 1440, Height: 900})
	logIn(h, tab, "admin")
	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/users"]`)
	tab.Press("Add user")
	tab.Type("dialog input[name=username]", "building_os")
	tab.Type("dialog input[name=password]", "short")
	tab.Wait(`(() => { const s = document.querySelector("dialog select"); s.value = "api_service"; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	tab.Keys("\r")
	tab.WaitText("10 characters are needed")
	tab.Type("dialog input[name=password]", "a program's password")
	tab.Submit()
	tab.WaitText("building_os can log in now")
	inspect(t, tab, "users-1440-light-en")
	token, code := h.token("building_os", "a program's password")
	if token == "" || h.read(token) != http.StatusOK {
		t.Errorf("the user made in the browser cannot log in at /svc/api: %s", code)
	}
	tab.Press("Remove building_os")
	tab.Submit()
	tab.WaitText("building_os was removed")
	if got := h.read(token); got != http.StatusUnauthorized {
		t.Errorf("a removed user still reads: %d", got)
	}

	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/keys"]`)
	tab.Type("input[name=name]", "Dashboard")
	tab.Press("Create key")
	tab.WaitText("This is the only time")
	key := uitest.Eval[string](tab, `document.querySelector("#key").innerText`)
	inspect(t, tab, "key-1440-light-en")
	tab.Press("I have saved it")
	tab.WaitText("never used")
	if got := h.read(key); got != http.StatusOK {
		t.Errorf("with the key made in the browser: %d", got)
	}
	if got := h.write(key); got != http.StatusForbidden {
		t.Errorf("a key that only reads commands: %d", got)
	}

	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/audit"]`)
	tab.WaitText("user.create")
	tab.WaitText("key.create")
	inspect(t, tab, "audit-1440-light-en")
	tab.Type("input[type=search]", "KEY.create")
	tab.Wait(`document.querySelectorAll("tbody tr").length === 1`)

	// One's own password: the session ends, the new one is good.
	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/account"]`)
	tab.Type("input[name=old]", housePassword)
	tab.Type("input[name=new]", "another password")
	tab.Press("Change password")
	tab.WaitText("User name")
	delete(h.tokens, string(account.RoleAdmin))
	if token, _ := h.token("admin", "another password"); token == "" {
		t.Error("the new password is not good")
	}
}

// TestBackupIsRestoredInTheBrowser moves a building to a new, empty controller: something else is refused, the backup is
// tried, then restored; the users and IDs of before are there.
func TestBackupIsRestoredInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, everydaySite)
	h.serve()
	status, file, _ := h.send(http.MethodGet, "/api/v1/backup", h.enter("admin"), "")
	if status != http.StatusOK {
		t.Fatalf("backup: %d", status)
	}
	ids := h.desk().must("site", "export")
	h.stop()

	fresh := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	s := fresh.serve()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	tab.Ignore("status of 422") // the browser notes what is refused
	tab.Go(s.url + "/more/backup")
	tab.WaitText("Claim this controller")
	code, err := os.ReadFile(filepath.Join(fresh.dataDir, api.ClaimFile))
	if err != nil {
		t.Fatal(err)
	}
	tab.Type("input[name=code]", strings.TrimSpace(string(code)))
	tab.Type("input[name=username]", "newcomer")
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.WaitText("There is no cluster yet.")
	tab.Go(s.url + "/more/backup")
	choose := func(content []byte) {
		chooseFile(tab, "input[type=file]", content)
		tab.Press("Try it")
	}
	tab.Wait(`document.querySelector("input[type=file]")`)
	tab.Press("Try it")
	tab.WaitText("this is needed")
	choose([]byte("no backup at all"))
	tab.WaitText("not a backup of a controller")
	tab.Shot("backup-refused-360-light-en", false)
	choose(file)
	tab.WaitText("It is whole and can be restored.")
	inspect(t, tab, "backup-tried-360-light-en")
	tab.Press("Restore it")
	tab.Wait(`document.querySelector("dialog[open] #typed")`)
	inspect(t, tab, "backup-restore-360-light-en")
	tab.Type("#typed", "newcomer")                            // the building has no name yet
	tab.Ignore("status of 503", "status of 401", "net::ERR_") // of the time in which the controller starts anew, and of the session that is over then
	tab.Submit()
	tab.Wait(`document.querySelector("input[name=username]")`) // by itself, once the controller is back
	tab.Shot("backup-restored-360-light-en", false)
	tab.Type("input[name=username]", "admin") // of the backup
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.Click(`nav a[href="/"]`)
	tab.WaitText("Ground floor")
	if now := fresh.must("site", "export"); now != ids {
		t.Errorf("restored\n%s\nwant\n%s", now, ids)
	}
	if out := fresh.must("user", "list"); strings.Contains(out, "newcomer") {
		t.Errorf("users: %s", out)
	}
	s.stop()
}

// chooseFile puts a file into a field, as a person does with the system's own dialog.
func chooseFile(tab *uitest.Tab, selector string, content []byte) {
	tab.Wait(`(() => {
		const all = new DataTransfer(), input = document.querySelector("` + selector + `");
		all.items.add(new File([Uint8Array.from(atob("` + base64.StdEncoding.EncodeToString(content) + `"), (c) => c.charCodeAt(0))], "file"));
		input.files = all.files;
		return input.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
}

// TestLogAndCertificateInTheBrowser follows the log while something goes wrong, then gives the controller another certificate.
func TestLogAndCertificateInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, everydaySite)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 390, Height: 844, Scale: 2, Touch: true})
	logIn(h, tab, "admin")
	tab.Click(`nav a[href="/more"]`)
	tab.Click(`a[href="/more/diagnostics"]`)
	tab.WaitText("In order")
	h.daemon.log.Warn("the roof leaks", "where", "attic")
	tab.WaitText("the roof leaks")
	tab.Press("Warnings and errors")
	tab.Type("input[type=search]", "ATTIC")
	tab.Wait(`document.querySelectorAll(".list li").length === 1`)
	h.daemon.log.Error("the attic burns")
	tab.Wait(`document.querySelectorAll(".list li").length === 2`)
	inspect(t, tab, "log-390-light-en")
	tab.Type("input[type=search]", "nobody wrote this")
	tab.WaitText("Nothing in the log is like this.")

	tab.Click(`a[href="/more"]`)
	tab.Click(`a[href="/more/certificate"]`)
	tab.WaitText("localhost")
	cert, key, err := web.SelfSigned([]string{"lights.example"}, []net.IP{net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	tab.Press("Replace certificate")
	tab.WaitText("this is needed")
	chooseFile(tab, "input[accept*=crt]", cert)
	chooseFile(tab, "input[accept*=key]", cert)
	tab.Ignore("422") // the browser notes the refusal on its console
	tab.Press("Replace certificate")
	tab.WaitText("want the key as PEM")
	inspect(t, tab, "certificate-refused-390-light-en")
	chooseFile(tab, "input[accept*=key]", key)
	tab.Press("Replace certificate")
	tab.WaitText("lights.example")
	if !bytes.Equal(h.daemon.cert.PEM(), cert) {
		t.Error("the certificate of the page is not the one that is served")
	}
}

// TestSiteFileIsTakenOverInTheBrowser edits the site as a file: what is wrong with it is told by its line, what it would
// change is shown, and then it is so.
func TestSiteFileIsTakenOverInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, everydaySite)
	text := h.desk().must("site", "export")
	edited := strings.Replace(text, "name: Lobby", "name: Foyer", 1) + "scenes:\n  - {name: Evening, actions: [{do: light-level, cluster: 4, level: 30}]}\n"
	edited = edited[:strings.Index(edited, "  - id: 3\n")] + edited[strings.Index(edited, "clusters:"):] // without the meter
	browser := uitest.Open(t)
	for _, look := range []uitest.Look{{Width: 360, Height: 740, Scale: 2, Touch: true}, {Width: 1440, Height: 900, Dark: true, Language: "de"}} {
		tab := browser.Tab(t, look)
		say := func(en, de string) string {
			if look.Language == "de" {
				return de
			}
			return en
		}
		name := say("360-light-en", "1440-dark-de")
		logIn(h, tab, "admin")
		tab.Go(h.url + "/more/settings")
		tab.Wait(`document.querySelector("a[href='/api/v1/site/file']")`)
		chooseFile(tab, "input[accept*=yaml]", []byte("lamps: 3\n"))
		tab.Press(say("Show what it would change", "Zeigen, was sie ändern würde"))
		tab.WaitText(say("line 1, column 1", "line 1, column 1")) // as the file's words are English
		tab.Noted("status of 422")
		inspect(t, tab, "site-refused-"+name)
		chooseFile(tab, "input[accept*=yaml]", []byte(edited))
		tab.Wait(`document.querySelector("form:has(input[accept*=yaml]) .check input").click() || true`)
		tab.Press(say("Show what it would change", "Zeigen, was sie ändern würde"))
		tab.WaitText("name: Lobby → Foyer")
		tab.WaitText("Evening")
		inspect(t, tab, "site-preview-"+name)
		if look.Language == "de" {
			tab.Press("Übernehmen")
			tab.WaitText("Diese Anlagendatei übernehmen?")
			inspect(t, tab, "site-ask-"+name)
			tab.Submit()
			tab.WaitText("Die Anlagendatei wurde übernommen")
		}
	}
	if now := h.desk().must("site", "export"); !strings.Contains(now, "name: Foyer") || !strings.Contains(now, "Evening") || strings.Contains(now, "eastron-sdm120") {
		t.Errorf("the site is\n%s", now)
	}
}

// TestADeviceIsReplacedAndBoundInTheBrowser: another device in a node's place, told while it does not answer, and taken
// back; then what waits for a device gets one.
func TestADeviceIsReplacedAndBoundInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, everydaySite)
	admin := h.enter("admin")
	node := func(path string) (n api.Node) {
		t.Helper()
		_, body, _ := h.send(http.MethodGet, "/api/v1/nodes/"+path, admin, "")
		if err := json.Unmarshal(body, &n); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return n
	}
	status, body, _ := h.send(http.MethodPost, "/api/v1/nodes", admin, `{"name":"Attic","address":"","bus":"","profile":""}`)
	var attic api.Node
	if err := json.Unmarshal(body, &attic); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	logIn(h, tab, "admin")
	tab.Go(h.url + "/devices/3")
	tab.WaitText("eastron-sdm120")
	tab.Press("Replace")
	tab.WaitText("Replace the device of Meter")
	inspect(t, tab, "replace-360-light-en")
	tab.Type("dialog input[name=address]", "7")
	tab.Submit()
	tab.WaitText("rtu, address 7")
	if n := node("3"); n.Address != "7" || n.Name != "Meter" || n.Profile != "eastron-sdm120" {
		t.Errorf("replaced: %+v", n)
	}
	tab.Press("Undo")
	tab.WaitText("rtu, address 9")

	// One of two outputs: alone it may not become what the other one is not.
	tab.Go(h.url + "/devices/1")
	tab.WaitText("rtu, address 1")
	tab.Press("Replace")
	tab.WaitText("These go with it: Stairs")
	tab.Type("dialog input[name=profile]", "waveshare-relay-8ch")
	tab.Submit()
	tab.WaitText("node 2 (Stairs) would be set aside")
	tab.Noted("status of 4") // the refusal
	inspect(t, tab, "replace-whole-360-light-en")
	tab.Type("dialog input[name=address]", "3")
	tab.Wait(`document.querySelector("dialog input[type=checkbox]").click() || true`)
	if uitest.Eval[bool](tab, `!!document.querySelector("dialog input[name=outputs]")`) {
		t.Error("asks for outputs of a whole device")
	}
	tab.Submit()
	tab.WaitText("rtu, address 3")
	for id, output := range map[string]int{"1": 1, "2": 2} {
		if n := node(id); n.Address != "3" || n.Profile != "waveshare-relay-8ch" || !slices.Equal(n.Outputs, []int{output}) {
			t.Errorf("replaced: %+v", n)
		}
	}
	tab.Press("Undo")
	tab.WaitText("rtu, address 1")
	if n := node("2"); n.Address != "1" || n.Profile != "wirenboard-wb-mdm3" {
		t.Errorf("taken back: %+v", n)
	}

	tab.Go(h.url + fmt.Sprintf("/devices/%d", attic.ID))
	tab.Press("Bind")
	tab.WaitText("Bind Attic to a device")
	tab.Type("dialog input[name=address]", "1")
	tab.Submit()
	tab.WaitText("this is needed") // the bus and the profile
	inspect(t, tab, "bind-360-light-en")
	tab.Wait(`(s => { s.value = "rtu"; s.dispatchEvent(new Event("change", {bubbles: true})); return true; })(document.querySelector("dialog select[name=bus]"))`)
	tab.Type("dialog input[name=profile]", "wirenboard-wb-mdm3")
	tab.Submit()
	tab.WaitText("drives the same outputs") // as the lobby and the stairs
	tab.Noted("status of 4")
	tab.Type("dialog input[name=outputs]", "3")
	tab.Submit()
	tab.WaitText("rtu, address 1")
	h.await(time.Minute, "the bound light to answer", func() bool { n := node(fmt.Sprint(attic.ID)); return n.Online && n.Level != nil })
}
