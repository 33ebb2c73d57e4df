//go:build peers

package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/shelf/ui/uitest"
)

func TestThePanelPage(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	e.admin.api("POST", "/api/conferencing/devices", `{"deviceId":"new","workspaceName":"New room"}`).want(t, 201, "enter")
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 800, Height: 900, Touch: true})
	tab.Go(e.url + "/panel/lobby?code=" + code)
	tab.WaitText("2 lights")

	// Tap the switch, slide, press a preset and stop: the true devices follow.
	tab.Insist(func() { tab.Press("Lights on") }, `document.querySelector('[role=switch]').getAttribute("aria-checked") === "true" && document.querySelector(".value").innerText === "100%"`)
	eventually(t, "the lights are on", func() bool { return e.level(1) == 100 })
	at := uitest.Eval[[]float64](tab, `(() => { const r = document.querySelector(".slider").getBoundingClientRect(); return [r.left, r.right, r.top + r.height / 2]; })()`)
	left, right, y := at[0], at[1], at[2]
	tab.Insist(func() {
		tab.Touch(uitest.Point{X: right - 20, Y: y}, uitest.Point{X: (left + right) / 2, Y: y}, uitest.Point{X: left + (right-left)*0.4, Y: y})
	}, `/^[2-5]\d%$/.test(document.querySelector(".value").innerText)`)
	eventually(t, "the lights are dimmed", func() bool { l := e.level(1); return l > 20 && l < 60 })
	tab.Insist(func() { tab.Press("One third") }, `/^[2-6]\d% open/m.test(document.querySelector("[data-of=shades] header").innerText)`) // it takes 3 s, and is stopped on the way

	// What others do appears within a second; measured in the page, from the command's end.
	e.do(appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}, Level: 75})
	changed := time.Now()
	tab.Wait(`document.querySelector(".value").innerText === "75%"`)
	t.Logf("a value changed elsewhere appeared after %v", time.Since(changed).Round(time.Millisecond))

	// A sentence, and one that is not understood.
	said(tab, "lights to 20 percent", "Lights at 20 percent.")
	if e.level(1) != 20 {
		t.Errorf("said 20 percent, the light is at %d", e.level(1))
	}
	said(tab, "lights off in the canteen", "I can switch and dim the lights")

	// How something ended badly is told in the language of the page, and the panel shows what is so.
	gives := map[string]string{"de": "Das Gebäude hat nicht rechtzeitig geantwortet.", "": "The building did not answer in time."}
	says := map[string]string{"de": "Licht: 1 von 2 erledigt; Lobby 1 antwortet nicht.", "": "Lights: 1 of 2 done; Lobby 1 does not answer."}
	for _, look := range []uitest.Look{{Width: 320, Height: 640, Language: "de", Touch: true}, {Width: 1024, Height: 768, Dark: true}} {
		view := browser.Tab(t, look)
		e.daemon.cloud.board.Late("rooms", wire.WidgetAction{DeviceID: "lobby", WidgetID: wire.LightPower}, wire.Ack{
			Status: wire.Failed, Things: 2, Not: []wire.Exception{{Kind: wire.KindNode, ID: 1, Name: "Lobby 1", Why: wire.WhySilent}},
		})
		view.Go(e.url + "/panel/lobby?code=" + code)
		view.Wait(`document.querySelector(".tile")`)
		view.WaitText(says[look.Language])
		inspect(t, view, fmt.Sprintf("panel-%d-%s", look.Width, cmp.Or(look.Language, "en")))

		// A network that swallows what is sent: the panel gives the tap up by itself, and says so.
		view.Wait(`(() => {
			const real = window.fetch;
			window.fetch = (to, how) => String(to).endsWith("/widget") ? new Promise((_, no) => how.signal.addEventListener("abort", () => no(how.signal.reason))) : real(to, how);
			return true;
		})()`)
		view.Insist(func() { view.Click("[role=switch]") }, fmt.Sprintf("document.body.innerText.includes(%q)", gives[look.Language]))
		view.Wait(`document.querySelector("[role=switch]").getAttribute("aria-checked") === "true"`) // as it is
		inspect(t, view, fmt.Sprintf("panel-late-%d-%s", look.Width, cmp.Or(look.Language, "en")))
	}
	stranger := browser.Tab(t, uitest.Look{Width: 360, Height: 740})
	stranger.Ignore("status of 401")
	stranger.Go(e.url + "/panel/lobby?code=guessed")
	stranger.WaitText("This link opens no panel")

	// The administrator's page of rooms: assign, deploy, withdraw.
	tab.Look(uitest.Look{Width: 1024, Height: 900})
	e.enter(tab, "ada")
	tab.Go(e.url + "/rooms")
	tab.WaitText("Assign a controller to the device.")
	inspect(t, tab, "rooms-1024")
	tab.Press("Change New room")
	tab.Wait(`document.querySelector("dialog[open]")`)
	tab.Wait(`(() => { const s = document.querySelector("select[name=controllerId]"); s.value = "rooms"; s.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
	tab.Press("Canteen")
	tab.Submit()
	tab.WaitText("deploy it.")
	tab.Press("Deploy panel")
	tab.WaitText("Acts on zone 2 of Rooms.")
	d, err := e.db.RoomDevice(context.Background(), "new")
	if err != nil || !d.Deployed || strings.Contains(uitest.Eval[string](tab, `document.body.innerText`), d.Code) {
		t.Errorf("the device is %+v %v", d, err)
	}

	// A tablet is set up by a code, whose link opens this panel and tells no server its secret.
	tab.Press("Tablet for Lobby")
	tab.Wait(`document.querySelector(".code path").getAttribute("d").length > 1000`)
	inspect(t, tab, "tablet-1024")
	link := uitest.Eval[string](tab, `document.querySelector(".snippet pre").innerText`)
	if link != e.url+"/panel/lobby#code="+code {
		t.Errorf("the link of the tablet is %q", link)
	}
	narrow := browser.Tab(t, uitest.Look{Width: 320, Height: 640, Dark: true, Language: "de", Touch: true})
	e.enter(narrow, "ada")
	narrow.Go(e.url + "/rooms/lobby")
	narrow.Wait(`document.querySelector(".code path")`)
	inspect(t, narrow, "tablet-320-de")
	tablet := browser.Tab(t, uitest.Look{Width: 1280, Height: 800, Touch: true})
	tablet.Go(link)
	tablet.WaitText("2 lights")
	for _, asked := range tablet.Asked() {
		if strings.Contains(asked, code) && !strings.Contains(asked, "#") {
			t.Errorf("the code is in an address: %s", asked)
		}
	}
}
