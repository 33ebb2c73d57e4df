//go:build peers

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/ui/uitest"
)

// TestTheBoardItselfIsToldOf has a kernel tell of a weak supply and a hot board: on home in two languages, on the page of diagnostics and
// in metrics, until it is over.
func TestTheBoardItselfIsToldOf(t *testing.T) {
	t.Parallel()
	sys := t.TempDir()
	say := func(path, text string) {
		t.Helper()
		path = filepath.Join(sys, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	say("class/hwmon/hwmon0/name", "rpi_volt")
	say("class/hwmon/hwmon0/in0_lcrit_alarm", "1")
	say("class/thermal/thermal_zone0/type", "cpu-thermal")
	say("class/thermal/thermal_zone0/temp", "84200")
	h := newBuilding(t, smallSite)
	h.sys = sys
	h.serve()
	h.awaitOnline()
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 360, Height: 740, Touch: true})
	logIn(h, tab, "viewer")
	tab.Wait(`["The power supply is too weak", "The controller is too hot"].every((said) => document.querySelector(".attention")?.innerText.includes(said))`)
	inspect(t, tab, "board-home")
	tab.Go(h.url + "/more/diagnostics")
	tab.Wait(`["Too weak", "cpu-thermal", "84"].every((said) => document.querySelector(".facts")?.innerText.includes(said))`)
	inspect(t, tab, "board-diagnostics")
	german := browser.Tab(t, uitest.Look{Width: 1280, Height: 800, Language: "de", Dark: true})
	logIn(h, german, "viewer")
	german.Wait(`["Das Netzteil ist zu schwach", "Der Controller ist zu heiß"].every((said) => document.querySelector(".attention")?.innerText.includes(said))`)
	inspect(t, german, "board-home-de")

	metrics := func() string {
		_, shown, _ := h.send(http.MethodGet, "/metrics", h.login(account.RoleViewer), "")
		return string(shown)
	}
	for _, want := range []string{"\ncontroller_board_power_weak 1\n", "\ncontroller_board_temperature_celsius{zone=\"cpu-thermal\"} 84.2\n"} {
		if !strings.Contains(metrics(), want) {
			t.Errorf("metrics do not have %q", want)
		}
	}
	say("class/thermal/thermal_zone0/temp", "60000")
	tab.Go(h.url + "/")
	tab.Wait(`((said) => said?.includes("too weak") && !said.includes("too hot"))(document.querySelector(".attention")?.innerText)`)
}
