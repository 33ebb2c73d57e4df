//go:build peers

package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

// demoSite is the site file of make run, at any free ports.
func demoSite(t *testing.T) string {
	t.Helper()
	site, err := os.ReadFile("../../demo/site.yaml.in")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("@RUN@", "@DIR@", "@PORT_OFFICES@", "0", "@PORT_ANNEX@", "0").Replace(withPlans(t, string(site)))
}

// demoHouse is the building of make run.
func demoHouse(t *testing.T) *house {
	t.Helper()
	h := newHouse(t, demoSite(t))
	for _, c := range []struct{ path, body string }{ // an evening in that building
		{"channelControl", `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":65}`},
		{"channelControl", `{"targetType":2,"targetId":3,"command":"DIM","dimLevel":40}`},
		{"channelControl", `{"targetType":2,"targetId":4,"command":"DIM","dimLevel":85}`},
		{"channelControl", `{"targetType":2,"targetId":6,"command":"DIM","dimLevel":70}`},
		{"channelControl", `{"targetType":2,"targetId":8,"command":"DIM","dimLevel":90}`},
		{"channelControl", `{"targetType":2,"targetId":9,"command":"DIM","dimLevel":20}`},
		{"channelControl", `{"targetType":2,"targetId":13,"command":"DIM","dimLevel":55}`},
		{"channelControl", `{"targetType":3,"targetId":202,"command":"DIM","dimLevel":90}`},
		{"shadeControl", `{"targetType":2,"targetId":19,"command":"POS","posValue":70}`},
		{"shadeControl", `{"targetType":2,"targetId":21,"command":"DOWN"}`},
	} {
		h.insist(c.path, c.body)
	}
	return h
}

// withPlans puts the plans of the demo building into its site file, as demo/run.sh does.
func withPlans(t *testing.T, site string) string {
	t.Helper()
	indented := func(by, name string) string {
		text, err := os.ReadFile("../../demo/plans/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return by + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n"+by) + "\n"
	}
	return regexp.MustCompile(`(?m)^ *# @PLAN ([a-z-]+)@\n`).ReplaceAllStringFunc(site, func(line string) string {
		name := strings.Trim(strings.Fields(line)[2], "@")
		return "      plan:\n        picture: |\n" + indented("          ", name+".svg") + indented("        ", name+".yaml")
	})
}

// logIn goes through the log-in page.
func logIn(h *house, tab *uitest.Tab, user string) {
	h.t.Helper()
	tab.Go(h.url + "/login")
	tab.Type("input[name=username]", user)
	tab.Type("input[name=password]", housePassword)
	tab.Keys("\r")
	tab.Wait(`document.querySelector(".card")`)
}

var pagePaths = map[string]string{
	"home": "/", "cluster": "/clusters/3", "tunable": "/clusters/6", "devices": "/devices", "device": "/devices/59", "colour": "/devices/51", "shade": "/shades/5101",
	"calibrate": "/commission/shade/5001", "buses": "/buses", "addbus": "/add/bus", "outputs": "/devices/59/outputs", "bus": "/buses/ground-floor", "more": "/more", "report": "/more/report", "help": "/more/help",
	"plan": "/plan?floor=Ground%20floor", "tower": "/plan?floor=Tower",
	"nopage": "/clusters/999", "rules": "/rules", "ladder": "/more/ladder", "settings": "/more/settings", "certificate": "/more/certificate", "diagnostics": "/more/diagnostics", "users": "/more/users", "keys": "/more/keys", "backup": "/more/backup", "network": "/more/network", "migrate": "/more/migrate", "account": "/more/account", "audit": "/more/audit", "commission": "/commission/ground-floor",
	"used": "/more/history", "roomday": "/more/history?cluster=3", "lampday": "/more/history?node=59", "weeks": "/more/history?cluster=3&view=weeks",
}

// TestPagesInEveryLook opens each page in two looks, narrow, light, in German, for a finger, and wide, dark, in English, for a mouse;
// SOAK=1 in six.
func TestPagesInEveryLook(t *testing.T) {
	t.Parallel()
	h := demoHouse(t)
	looks := []uitest.Look{
		{Width: 320, Height: 640, Language: "de", Touch: true},
		{Width: 1440, Height: 900, Dark: true},
	}
	if soak() {
		looks = append(looks, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true},
			uitest.Look{Width: 360, Height: 740, Dark: true, Language: "de", Scale: 2, Touch: true},
			uitest.Look{Width: 768, Height: 1024, Dark: true}, uitest.Look{Width: 1440, Height: 900, Language: "de"})
	}
	for _, look := range looks {
		scheme := "light"
		if look.Dark {
			scheme = "dark"
		}
		name := fmt.Sprintf("%d-%s-%s", look.Width, scheme, cmp.Or(look.Language, "en"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := uitest.Open(t).Tab(t, look)
			tab.Go(h.url + "/")
			tab.Wait(`document.querySelector("form")`)
			inspect(t, tab, "login-"+name)
			logIn(h, tab, "admin")
			for page, path := range pagePaths {
				tab.Go(h.url + path)
				tab.Wait(`document.querySelector(".live") && !document.querySelector(".skeleton") && !document.querySelector("main[aria-busy]")`)
				if page == "bus" {
					tab.Wait(`document.querySelector("table tbody tr")`)
				}
				inspect(t, tab, page+"-"+name)
			}
			for _, r := range tab.Foreign(h.url) {
				t.Errorf("request to another origin: %s", r)
			}
		})
	}
}

// TestAFirstLoadIsFewRequests counts what a phone asks for that has nothing of the pages, until home has told what was used today.
func TestAFirstLoadIsFewRequests(t *testing.T) {
	t.Parallel()
	h := demoHouse(t)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	few := func(what, until string) {
		t.Helper()
		tab.Cold()
		before, bytes := len(tab.Asked()), tab.Received()
		tab.Go(h.url + "/")
		tab.Wait(until)
		asked := slices.DeleteFunc(tab.Asked()[before:], func(url string) bool { // what needs somebody is fetched where something does
			return strings.HasSuffix(url, "/now/attention.js") || strings.HasSuffix(url, "/now/now.css")
		})
		t.Logf("%s: %d requests, %d bytes", what, len(asked), tab.Received()-bytes)
		if len(asked) < 6 || len(asked) > 15 {
			t.Errorf("%s takes %d requests, at most 15:\n%s", what, len(asked), strings.Join(asked, "\n"))
		}
	}
	few("log-in", `document.querySelector("input[name=password]")`)
	logIn(h, tab, "operator")
	const whole = `document.querySelector(".card") && performance.getEntriesByType("resource").some((e) => e.name.includes("/api/v1/history/power"))`
	tab.Wait(whole) // what home asks for after the log-in is not counted
	few("home", whole)
}

func inspect(t *testing.T, tab *uitest.Tab, name string) {
	t.Helper()
	tab.Shot(name, false)
	for _, wrong := range slices.Concat(tab.Fits(), tab.Unreachable(), tab.Axe()) {
		t.Errorf("%s: %s", name, wrong)
	}
	for _, line := range tab.Console() {
		t.Errorf("%s, on the console: %s", name, line)
	}
}
