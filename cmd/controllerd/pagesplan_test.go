//go:build peers

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
)

// planSite has a floor with a plan on which two of its lamps stand, and a bus that can be silenced.
var planSite = strings.Replace(walkSite, "site: {name: House on the hill}", `site:
  name: House on the hill
  timeZone: Asia/Tokyo
  floors:
    - name: Ground floor
      clusters: [1]
      plan:
        picture: <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><path d="M10 10h380v280h-380z" fill="none" stroke="#888"/></svg>
        spots:
          - {node: 1, x: 0.25, y: 0.5}
          - {node: 2, x: 0.5, y: 0.5}
          - {shade: 5001, x: 0.75, y: 0.5}
    - {name: Attic}`, 1)

// onPlan is where a spot of the plan is in the window, the whole plan being seen.
func onPlan(tab *uitest.Tab, x, y float64) uitest.Point {
	r := uitest.Eval[[]float64](tab, fmt.Sprintf(`(() => { const b = document.querySelector(".plan"); b.scrollIntoView({block: "center"}); const i = b.querySelector("img").getBoundingClientRect();
		return [i.left + i.width * %v, i.top + i.height * %v]; })()`, x, y))
	return uitest.Point{X: r[0], Y: r[1]}
}

// spots are what stands on the plan of a floor, in force.
func (h *house) spots(floor int) []appliance.Spot {
	p := h.daemon.core.Snapshot().Site.Division.Floors[floor].Plan
	if p == nil {
		return nil
	}
	return p.Spots
}

// Somebody taps a lamp on the plan and dims it; the list and the keys lead to the same. Who may arranges what stands on it, and
// gives another floor a picture.
func TestAPlanIsUsedAndArranged(t *testing.T) {
	t.Parallel()
	h := newHouse(t, planSite)
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	logIn(h, tab, "operator")
	tab.Click(`a[href="/plan?floor=Ground%20floor"]`)
	tab.Wait(`document.querySelector(".plan img")?.complete && document.querySelector(".plan img").style.transform`)
	p := onPlan(tab, .25, .5)
	tab.Touch(uitest.Point{X: p.X + 15, Y: p.Y - 10}) // a thumb is no needle
	tab.Wait(`document.querySelector(".plan-chosen .name")?.innerText === "Dimmer 1"`)
	h.until(func() { tap(tab, ".plan-chosen .slider", .4) }, 40, 1)
	tab.Wait(`document.querySelector(".plan-chosen .value").innerText === "40%"`)
	inspect(t, tab, "planchosen-360-light-en")
	// A thumb that moves has the plan move, and nothing else happens.
	tab.Press("Zoom in")
	was := uitest.Eval[string](tab, `document.querySelector(".plan img").style.transform`)
	c := onPlan(tab, .5, .3)
	tab.Touch(c, uitest.Point{X: c.X + 30, Y: c.Y + 20}, uitest.Point{X: c.X + 60, Y: c.Y + 40})
	tab.Wait(`document.querySelector(".plan img").style.transform !== "` + was + `"`)
	tab.Press("Show all of it")
	// The list is the same for whoever does not see the plan.
	tab.Click(`.side details summary`)
	tab.Wait(`[...document.querySelectorAll(".thing")].find(b => b.innerText.includes("Dimmer 2")).click() || true`)
	tab.Wait(`document.querySelector(".plan-chosen .name")?.innerText === "Dimmer 2" && document.activeElement.className === "plan-chosen"`)

	desk := browser.Tab(t, uitest.Look{Width: 1280, Height: 800, Dark: true})
	logIn(h, desk, "operator")
	desk.Go(h.url + "/plan?floor=Ground%20floor")
	desk.Wait(`document.querySelector(".plan img")?.style.transform`)
	desk.Wait(`document.querySelector(".plan canvas").focus() || true`)
	desk.Keys(kb.ArrowLeft) // the one in the middle first
	desk.Wait(`document.querySelector(".plan-chosen .name")?.innerText === "Dimmer 2"`)
	desk.Keys(kb.ArrowLeft)
	desk.Wait(`document.querySelector(".plan-chosen .name")?.innerText === "Dimmer 1"`)
	desk.Keys(kb.ArrowRight)
	desk.Wait(`document.querySelector(".plan-chosen .name")?.innerText === "Dimmer 2" && document.querySelector("[role=status]").innerText.includes("Dimmer 2: Off")`)

	// Arranging: what is chosen in the tray is put where one taps, and what stands there is dragged away.
	tab.Press("Arrange")
	tab.Wait(`document.querySelector(".tray .pick")`)
	tab.Wait(`[...document.querySelectorAll(".pick")].find(b => b.innerText.trim() === "Study").click() || true`)
	tab.Wait(`document.querySelector(".pick[aria-pressed=true]")`)
	tab.Touch(onPlan(tab, .5, .25))
	h.await(uitest.Patience, "the room on the plan", func() bool {
		s := h.spots(0)
		return len(s) == 4 && s[0].Cluster == 1 && s[0].X > .48 && s[0].X < .52 && s[0].Y > .23 && s[0].Y < .27
	})
	desk.Wait(`document.querySelector(".title .sub").innerText === "4 things on the plan"`)
	tab.WaitText("Tap where Cellar stands") // the next of the list; what stands there can be dragged meanwhile
	from, to := onPlan(tab, .25, .5), onPlan(tab, .25, .8)
	tab.Touch(from, uitest.Point{X: from.X, Y: from.Y + 12}, uitest.Point{X: to.X, Y: (from.Y + to.Y) / 2}, to)
	h.await(uitest.Patience, "the lamp at its new place", func() bool { s := h.spots(0); return s[2].Node == 1 && s[2].Y > .77 && s[2].Y < .83 })
	tab.WaitText("Tap where Cellar stands")
	tab.WaitText("Dimmer 1 stands there now")
	tab.Press("Undo") // before anything is looked at: it can be pressed for 10 s
	h.await(uitest.Patience, "the lamp where it was", func() bool { s := h.spots(0); return s[2].Node == 1 && s[2].Y == .5 })
	inspect(t, tab, "arrange-360-light-en")
	tab.Press("Enough")
	tab.WaitText("Drag what stands on the plan")
	if uitest.Eval[bool](tab, `[...document.querySelectorAll(".pick")].some(b => b.innerText.trim() === "Motor")`) {
		t.Error("the motor of a shade is to be placed beside its shade")
	}

	// Another floor gets a picture that is far too large, and made smaller here.
	desk.Go(h.url + "/plan?floor=Attic")
	desk.Press("Picture of the plan")
	desk.Wait(`document.querySelector("dialog input[type=file]")`)
	uitest.Eval[bool](desk, `new Promise((done) => { const c = document.createElement("canvas"); c.width = 4000; c.height = 3000; const x = c.getContext("2d");
		for (let i = 0; i < 4000; i++) { x.fillStyle = "hsl(" + i * 37 % 360 + " 60% 50%)"; x.fillRect((i * 977) % 4000, (i * 661) % 3000, 90, 70); }
		c.toBlob((b) => { const all = new DataTransfer(), input = document.querySelector("dialog input[type=file]"); all.items.add(new File([b], "photo.png", {type: "image/png"}));
			input.files = all.files; input.dispatchEvent(new Event("change", {bubbles: true})); done(true); }); })`)
	inspect(t, desk, "floorform-1280-dark-en")
	desk.Press("Save")
	desk.Wait(`document.querySelector(".plan img")?.naturalWidth > 300`)
	if p := h.daemon.core.Snapshot().Site.Division.Floors[1].Plan; p == nil || p.Width > 2400 || p.Width < 400 {
		t.Errorf("the picture is %+v", p)
	}
	// Its address shows no document.
	if got := uitest.Eval[string](desk, `fetch(document.querySelector(".plan img").src).then((r) => r.headers.get("content-disposition"))`); !strings.HasPrefix(got, "attachment") {
		t.Errorf("the picture comes as %q", got)
	}
}

// What needs somebody stands on home in words, until it is put aside; "All lights off" tells what it could not do. Times are the
// building's.
func TestHomeTellsWhatNeedsSomebody(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	hour := func() string { return time.Now().In(tokyo).Format("3") }
	before := hour() // of the first answer or earlier: told is when the last one came
	h := newHouse(t, planSite)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	logIn(h, tab, "operator")
	tab.WaitText("All is dark")
	tab.WaitText("times of Asia/Tokyo")
	end := h.fault(sim.Fault{Bus: "tcp", Kind: "unplug"})
	tab.WaitText("tcp: nothing answers since")
	tab.WaitText("Is the gateway’s power on")
	tab.WaitText("do not answer")
	tab.Wait(`document.querySelector("h1").innerText === "What is lit is unknown"`)
	if got := uitest.Eval[string](tab, "document.body.innerText"); strings.Contains(got, "All is dark") {
		t.Error("what does not answer is called dark")
	}
	clock := hour()
	if got := uitest.Eval[string](tab, `document.querySelector(".concern b").innerText`); !strings.Contains(got, " "+before+":") && !strings.Contains(got, " "+clock+":") {
		t.Errorf("it is %s o'clock there, and told is %q", clock, got)
	}
	inspect(t, tab, "concern-360-light-en")

	tab.Press("All lights off")
	tab.WaitText("Switch off all lights of the building?")
	inspect(t, tab, "alloff-360-light-en")
	tab.Press("Switch all lights off")
	tab.WaitText("could not be reached, and may be on:")
	tab.Wait(`/Study: 2 lights/.test(document.querySelector("dialog").innerText) && /Cellar: 1 light/.test(document.querySelector("dialog").innerText)`)
	inspect(t, tab, "alloffdone-360-light-en")
	tab.Press("Close")

	tab.Click(`.concern button[aria-label^="Put aside: tcp"]`)
	tab.Wait(`document.querySelector(".attention summary")?.innerText.includes("1 put aside")`)
	tab.Click(".attention summary")
	tab.WaitText("put aside by operator")
	inspect(t, tab, "aside-360-light-en")
	tab.Click(`.concern a[href="/buses/tcp"]`)
	tab.WaitText("Load")
	end()
	tab.Click(`nav a[href="/"]`)
	tab.WaitText("All is dark")
	tab.Wait(`!document.querySelector(".attention")`)
}
