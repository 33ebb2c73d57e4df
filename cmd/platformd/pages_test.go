//go:build peers

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/shelf/ui/uitest"
)

// enter goes through the log-in page.
func (e *estate) enter(tab *uitest.Tab, name string) {
	e.t.Helper()
	tab.Go(e.url + "/login")
	tab.Type("input[name=username]", name)
	tab.Type("input[name=password]", password)
	tab.Keys("\r")
	tab.Wait(`document.querySelector(".tabs")`)
}

func inspect(t *testing.T, tab *uitest.Tab, name string) {
	t.Helper()
	tab.Shot(name, strings.HasPrefix(name, "tower"))
	for _, wrong := range append(tab.Fits(), tab.Axe()...) {
		t.Errorf("%s: %s", name, wrong)
	}
	for _, line := range tab.Console() {
		t.Errorf("%s, on the console: %s", name, line)
	}
}

// TestPagesInEveryLook opens each page in two looks, with SOAK=1 in four.
func TestPagesInEveryLook(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	id, key := e.admin.newKey(`{"name":"dashboard","rateLimit":250}`)
	e.admin.newKey(`{"name":"assistant of the caretaker","permissions":{"control":true},"expiresAt":"2099-01-31T18:00:00Z"}`)
	for range 40 {
		e.ask("POST", mcpPath, `{"method":"tools/list"}`, "X-API-Key: "+key, "Content-Type: application/json")
	}
	e.admin.api("POST", "/api/controllers", `{"name":"Main street 5"}`).want(t, 201, "invite")
	e.room("lobby", "Lobby", "[1]")
	e.tower()
	pages := map[string]string{
		"chat": "/", "sites": "/sites", "site": "/sites/rooms", "tower": "/sites/tower", "enrol": "/enrol", "keys": "/keys", "key": "/keys/" + id,
		"usage": "/usage", "connect": "/connect", "more": "/more", "nopage": "/sites/nowhere",
	}
	browser := uitest.Open(t)
	looks := []uitest.Look{
		{Width: 320, Height: 640, Language: "de", Touch: true},
		{Width: 1440, Height: 900, Dark: true},
	}
	if os.Getenv("SOAK") != "" {
		looks = append(looks, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true}, uitest.Look{Width: 768, Height: 1024, Language: "de", Dark: true})
	}
	for n, look := range looks {
		scheme := "light"
		if look.Dark {
			scheme = "dark"
		}
		name := fmt.Sprintf("%d-%s-%s", look.Width, scheme, cmp.Or(look.Language, "en"))
		t.Run(name, func(t *testing.T) {
			who := fmt.Sprintf("person%d", n) // each has requests of their own
			e.newPerson(who, platform.RoleAdmin)
			tab := browser.Tab(t, look)
			tab.Ignore("status of 404") // of the page that is not there
			tab.Go(e.url + "/keys")
			tab.Wait(`document.querySelector("form") && location.pathname === "/login"`)
			inspect(t, tab, "login-"+name)
			e.enter(tab, who)
			if n == 1 { // with keys
				tab.Go(e.url + "/login")
				e.enterAs(tab, "ada")
			}
			for _, page := range slices.Sorted(maps.Keys(pages)) {
				if n != 1 && page == "key" {
					continue // only their owner sees keys
				}
				tab.Go(e.url + pages[page])
				tab.Wait(`document.querySelector(".live") && !document.querySelector(".skeleton") && !document.querySelector("main[aria-busy]")`)
				inspect(t, tab, page+"-"+name)
			}
			for _, r := range tab.Foreign(e.url) {
				t.Errorf("request to another origin: %s", r)
			}
		})
	}
}

// enterAs logs out and in again as somebody else.
func (e *estate) enterAs(tab *uitest.Tab, name string) {
	e.t.Helper()
	tab.Go(e.url + "/more")
	tab.Press("Log out")
	tab.Wait(`document.querySelector("input[name=username]")`)
	e.enter(tab, name)
}

// One walk of somebody who has never been here: log in, a key, its rotation and end, a question, a site, a controller.
func TestAWalkThroughThePages(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 1024, Height: 900})
	tab.Ignore("status of 401")
	tab.Go(e.url + "/keys")
	tab.Type("input[name=username]", "ada")
	tab.Type("input[name=password]", "wrong")
	tab.Keys("\r")
	tab.WaitText("Wrong username or password")
	tab.Type("input[name=password]", password)
	tab.Keys("\r")

	// The page that was asked for comes after the log-in.
	tab.WaitText("You have no key yet.")
	tab.Type("input[name=name]", "dashboard")
	tab.Type("input[name=rateLimit]", "0")
	tab.Press("Create key")
	tab.WaitText("a whole number from 1 to 100000")
	tab.Type("input[name=rateLimit]", "50")
	tab.Press("Create key")
	tab.WaitText("This is the only time that the key is shown")
	key := uitest.Eval[string](tab, `document.querySelector("pre").textContent`)
	if !platform.IsKeyValue(key) || e.knock(key) != 200 {
		t.Fatalf("the key that is shown is %q", key)
	}
	if !uitest.Eval[bool](tab, `[...document.querySelectorAll("pre")].slice(1).every((p) => p.textContent.includes("`+key+`") && p.textContent.includes(location.origin + "/api/assistant/mcp"))`) {
		t.Error("the snippets lack key or address")
	}
	tab.Press("I have saved it")
	tab.WaitText("svc_" + key[4:12] + "…")
	if uitest.Eval[bool](tab, `document.documentElement.outerHTML.includes("`+key+`")`) {
		t.Error("the key is still on the page")
	}

	// Rotation: both work, the old one until its end.
	tab.Click(`a[href^="/keys/"]`)
	tab.WaitText("1 of 50")
	tab.Press("Rotate")
	tab.Submit()
	tab.WaitText("The old key works until")
	next := uitest.Eval[string](tab, `document.querySelector("pre").textContent`)
	if next == key || e.knock(next) != 200 || e.knock(key) != 200 {
		t.Error("after the rotation not both keys work")
	}
	tab.Press("I have saved it")
	keys := e.login("ada").api("GET", "/api/api-keys", "").text
	if day := time.Now().Add(24 * time.Hour).UTC().Format("2006-01-02"); strings.Count(keys, day) != 1 {
		t.Errorf("the old key does not end tomorrow: %s", keys)
	}

	// Revoking and deleting ask first; the one with the end is the old one.
	tab.Wait(`document.querySelectorAll('a[href^="/keys/"]').length === 2`)
	tab.Wait(`[...document.querySelectorAll('a[href^="/keys/"]')].find((a) => a.innerText.includes("` + key[4:12] + `")).click() || true`)
	tab.Press("Revoke")
	tab.Press("Revoke dashboard")
	tab.WaitText("dashboard was revoked")
	if e.knock(key) != 401 || e.knock(next) != 200 {
		t.Error("revoking did not hold, or too much")
	}
	tab.Press("Delete")
	tab.Press("Delete dashboard")
	tab.Wait(`document.querySelectorAll('a[href^="/keys/"]').length === 1`)

	// A question, by keyboard; the answer streams into the log.
	tab.Go(e.url + "/")
	tab.Type("#question", "Which lights are on?")
	tab.Keys("\r")
	tab.Wait(`document.querySelectorAll(".said").length === 2 && !document.querySelector(".said[aria-busy]")`)
	if said := uitest.Eval[string](tab, `document.querySelectorAll(".said")[1].innerText`); !strings.Contains(strings.ToLower(said), "light") {
		t.Errorf("the answer is %q", said)
	}
	tab.Shot("walk-chat", false)
	for _, wrong := range append(tab.Fits(), tab.Axe()...) {
		t.Errorf("chat: %s", wrong)
	}

	// The list of sites is live: a controller that enrols shows by itself.
	tab.Go(e.url + "/enrol")
	tab.Type("input[name=name]", "Annex")
	tab.Press("Make a code")
	tab.Wait(`document.querySelector("#code")`)
	tab.WaitText("Waiting for the controller …")
	code := uitest.Eval[string](tab, `document.querySelector("#code").textContent`)
	e.join(e.credentials(code), e.core, time.Now())
	tab.WaitText("The controller is there.")
	tab.Shot("walk-enrolled", false)
	tab.Press("Show the site")
	tab.WaitText("All devices answer")
	tab.Shot("walk-site", true)
	if stops := strings.Join(tab.Stops(8), ", "); !strings.Contains(stops, "button Refresh") || !strings.Contains(stops, "a Chat") {
		t.Errorf("by keyboard one comes to %s", stops)
	}

	// Somebody whose account ends is out within seconds.
	tab.Go(e.url + "/sites")
	if err := e.db.SetDisabled(t.Context(), "ada", true); err != nil {
		t.Fatal(err)
	}
	tab.Wait(`document.querySelector("input[name=username]")`)
}
