//go:build peers

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
)

// wallSite is a room of six lights, each a device of its own, and three shades on another bus.
const wallSite = `
site:
  name: Wall
buses:
  - {name: lights, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: shades, driver: modbus, port: "tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Lobby 1, bus: lights, address: 1, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 2, name: Lobby 2, bus: lights, address: 2, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 3, name: Lobby 3, bus: lights, address: 3, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 4, name: Lobby 4, bus: lights, address: 4, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 5, name: Lobby 5, bus: lights, address: 5, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 6, name: Lobby 6, bus: lights, address: 6, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 7, name: Actuator 1, bus: shades, address: 1, profile: wirenboard-wb-mr6c}
  - {id: 8, name: Actuator 2, bus: shades, address: 2, profile: wirenboard-wb-mr6c}
shades:
  - {id: 5001, name: South, node: 7, output: 1, travelUp: 15s, travelDown: 15s}
  - {id: 5002, name: East, node: 7, output: 2, travelUp: 15s, travelDown: 15s}
  - {id: 5003, name: West, node: 8, output: 1, travelUp: 15s, travelDown: 15s}
clusters:
  - {id: 1, name: Lobby, nodes: [1, 2, 3, 4, 5, 6], shades: [5001, 5002, 5003]}
scenes:
  - {id: 1, name: Talk, cluster: 1, actions: [{do: light-level, cluster: 1, level: 20}, {do: shade-close, cluster: 1}]}
  - {id: 2, name: Window side, cluster: 1, actions: [{do: light-level, node: 1, level: 80}, {do: light-off, node: 2}]}
  - {id: 3, name: Half shade, actions: [{do: shade-move-to, cluster: 1, position: 50}]}
  - {id: 4, name: Everything off, actions: [{do: light-off}]}
`

// wall is one room's panel, opened on several screens.
type wall struct {
	*estate
	screens map[string]*uitest.Tab
}

func (w *wall) all(do func(name string, tab *uitest.Tab)) {
	for name, tab := range w.screens {
		do(name, tab)
	}
}

// saysOf is true of a screen whose tile of a family says a text.
func saysOf(of, text string) string {
	return fmt.Sprintf(`document.querySelector("[data-of=%s] header").innerText.includes(%q)`, of, text)
}

// pressed presses a button until the tile of a family says what became of it.
func pressed(tab *uitest.Tab, button, of, text string) {
	tab.Insist(func() { tab.Press(button) }, saysOf(of, text))
}

// said says a sentence at a panel until that is answered.
func said(tab *uitest.Tab, sentence, answer string) {
	tab.Insist(func() { tab.Type("#say", sentence); tab.Keys("\r") }, fmt.Sprintf("document.body.innerText.includes(%q)", answer))
}

// says waits until every screen says a text in the tile of a family, and looks at each.
func (w *wall) says(scene, of, text string) {
	w.t.Helper()
	w.all(func(_ string, tab *uitest.Tab) {
		tab.Wait(saysOf(of, text))
	})
	w.look(scene)
}

// atAThird is what the tile of shades says that were sent to a third: where they stand is told as it is, and a busy machine stops
// what is timed some tenths of a second late.
const atAThird = `/^(2[6-9]|3\d|4[0-5])%( to (2[6-9]|3\d|4[0-5])%)? open/m.test(document.querySelector("[data-of=shades] header").innerText)`

func (w *wall) standsAtAThird(scene string) {
	w.t.Helper()
	w.all(func(_ string, tab *uitest.Tab) {
		for range 5 { // who stands before a shade that a very busy machine stopped elsewhere sends it again
			if tab.Becomes(atAThird, 15*time.Second) {
				break
			}
			tab.Press("One third")
		}
		tab.Wait(atAThird)
	})
	w.look(scene)
}

// look looks at every screen: nothing is too small or too wide, and a wall needs no scrolling, and is read from two metres.
func (w *wall) look(scene string) {
	w.t.Helper()
	w.all(func(name string, tab *uitest.Tab) {
		tab.Wait(`(document.querySelector(".night")?.click(), dispatchEvent(new Event("pointerdown")))`) // somebody is here
		tab.Wait(`!document.querySelector(".night")`)
		inspect(w.t.(*testing.T), tab, "wall-"+scene+"-"+name)
		if strings.HasPrefix(name, "390") {
			return
		}
		for _, wrong := range uitest.Eval[[]string](tab, `(() => {
  const wrong = [], px = (e) => parseFloat(getComputedStyle(e).fontSize);
  if (document.documentElement.scrollHeight > innerHeight) wrong.push("it is " + document.documentElement.scrollHeight + " px high");
  for (const e of document.querySelectorAll("main button, main .slider, main .input")) {
    const r = e.getBoundingClientRect();
    if (Math.min(r.width, r.height) < 63.5) wrong.push(r.width + "×" + r.height + " px: " + e.outerHTML.slice(0, 90));
  }
  for (const e of document.querySelectorAll(".value, .state, .chip")) if (px(e) < 24) wrong.push(px(e) + " px: " + e.innerText);
  return wrong;
})()`) {
			w.t.Errorf("%s on %s: %s", scene, name, wrong)
		}
	})
}

func (w *wall) fault(f sim.Fault) (mended func()) {
	w.t.Helper()
	id, err := w.building.AddFault(f)
	if err != nil {
		w.t.Fatal(err)
	}
	return func() { w.building.RemoveFault(id) }
}

// heardWithin taps the switch of the lights on a screen and measures, there, how long it takes until the panel says a text.
func heardWithin(tab *uitest.Tab, text string) (ms float64) {
	return uitest.Eval[float64](tab, fmt.Sprintf(`new Promise((told) => {
  const began = performance.now(), says = () => document.querySelector("[data-of=lights] .state").innerText.includes(%q) && told(performance.now() - began);
  const watch = new MutationObserver(says);
  watch.observe(document.body, {subtree: true, childList: true, characterData: true});
  document.querySelector("[role=switch]").click();
})`, text))
}

// Every state of a room on its wall and on phones, in both themes: in order, followed by other panels and voices, with a lamp that is
// stuck or silent, with a dead bus, at a controller that hangs, and at one that is away.
func TestThePanelOnItsWall(t *testing.T) {
	t.Parallel()
	w := &wall{estate: newEstateOf(t, plan{site: wallSite}), screens: map[string]*uitest.Tab{}}
	code := w.room("lobby", "Lobby", "[1]")
	browser := uitest.Open(t)
	for _, look := range []uitest.Look{
		{Width: 1280, Height: 800, Touch: true}, {Width: 1920, Height: 1080, Dark: true, Touch: true},
		{Width: 390, Height: 844, Touch: true}, {Width: 390, Height: 844, Dark: true, Touch: true},
	} {
		name := fmt.Sprintf("%d-%v", look.Width, map[bool]string{true: "dark", false: "light"}[look.Dark])
		w.screens[name] = browser.Tab(t, look)
		w.screens[name].Go(w.url + "/panel/lobby#code=" + code)
	}
	one, other := w.screens["1280-light"], w.screens["390-dark"]
	room := appliance.Target{Scope: appliance.InCluster, ID: 1}

	// In order: levels differ, shades on their way.
	w.do(appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.One, ID: 3}, Level: 90})
	w.says("one", "lights", "1 of 6 on, at 90%")
	w.do(appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.One, ID: 5}, Level: 20})
	w.says("differ", "lights", "2 of 6 on, 20% to 90%")
	pressed(one, "One third", "shades", "to 33% open")
	w.all(func(_ string, tab *uitest.Tab) { tab.Wait(`document.querySelector("[data-of=shades] .state.accent")`) })
	w.look("moving")
	w.standsAtAThird("moved")

	// One taps, all others follow; and a sentence beside it.
	pressed(one, "50%", "lights", "50%")
	w.says("followed", "lights", "50%")
	said(other, "lights to 20 percent", "Lights at 20 percent.")
	w.says("said", "lights", "20%")

	// A scene of the lights, one of both, and what became of them; a building's scene has no button here.
	pressed(one, "Window side", "lights", "20% to 80%")
	w.says("scene-lights", "lights", "20% to 80%")
	pressed(other, "Talk", "shades", "closed")
	w.says("scene", "lights", "20%")
	w.says("scene-shades", "shades", "closed")
	if n := uitest.Eval[int](one, `[...document.querySelectorAll(".chip")].filter((c) => c.innerText === "Everything off").length`); n != 0 {
		t.Error("the panel of a room has a button for the whole building")
	}
	one.Press("One third")
	w.standsAtAThird("moved-back")

	// However much there is to tell of lamps that do not obey, the wall stays as high as it is.
	w.all(func(name string, tab *uitest.Tab) {
		if over := uitest.Eval[int](tab, `(() => { const text = document.querySelector("[data-of=lights] .state span").firstChild, was = text.data;
			text.data = "2 of 6 done; Lobby 1 stands at another value; Lobby 2 stands at another value; Lobby 3 stands at another value; and 1 more.";
			const over = document.documentElement.scrollHeight - innerHeight;
			text.data = was; return over; })()`); over > 0 && !strings.HasPrefix(name, "390") {
			t.Errorf("%s: what many lamps did not do makes it %d px too high", name, over)
		}
	})

	// A lamp that acknowledges and stays as it is, and one that is dead.
	mend := w.fault(sim.Fault{Bus: "lights", Address: "4", Kind: sim.FaultStuck})
	one.Insist(func() { one.Press("75%") }, `document.body.innerText.includes("5 of 6 done; Lobby 4 ")`)
	w.says("stuck", "lights", "20% to 75%")
	mend()
	mend = w.fault(sim.Fault{Bus: "lights", Address: "4", Kind: sim.FaultSilent})
	w.says("silent", "lights", "1 of 6 does not answer")
	mend()

	// A dead bus: nothing is said to be lit, a tap is refused at once, and the shades are as they were.
	mend = w.fault(sim.Fault{Bus: "lights", Kind: sim.FaultUnplug})
	w.says("deadbus", "lights", "The lights do not answer.")
	t.Logf("a tap at a dead bus was refused after %.0f ms", heardWithin(one, "Nothing was done."))
	w.look("deadbus-tapped")
	if !uitest.Eval[bool](one, atAThird) {
		t.Errorf("beside a dead bus of lights the shades are %q", uitest.Eval[string](one, `document.querySelector("[data-of=shades] header").innerText`))
	}
	mend()
	w.says("mended", "lights", "6 lights")

	// A controller that hangs: nothing is heard of a tap, which is said, and undone.
	w.do(appliance.Command{Kind: appliance.LightLevel, Target: room, Level: 40})
	w.says("before", "lights", "40%")
	w.frozen.Store(true)
	if ms := heardWithin(one, "The building did not answer in time."); ms > 20_000 {
		t.Errorf("it took %.0f ms until a tap that nobody answers was told", ms)
	} else {
		t.Logf("a tap at a controller that hangs was told and undone after %.0f ms", ms)
	}
	if !uitest.Eval[bool](one, `document.querySelector("[data-of=lights]").dataset.phase === "not" && !document.querySelector("[data-of=lights] [data-asked]") && document.querySelector("[data-of=lights] .value").innerText === "40%"`) {
		t.Error("what was tapped at a controller that hangs is still shown as asked for")
	}
	if got := uitest.Eval[string](one, `document.querySelector(".reader[role=status]").innerText`); !strings.Contains(got, "The building did not answer in time.") {
		t.Errorf("a reader hears %q of it", got)
	}
	w.look("frozen")
	one.Wait(`document.querySelector("[data-of=lights] .state").innerText.includes("6 lights")`) // the sentence goes by itself
	w.frozen.Store(false)

	// One that is away.
	w.leave()
	w.all(func(_ string, tab *uitest.Tab) { tab.Wait(`document.querySelector("[data-phase=away]")`) })
	w.says("away", "lights", "not reachable")
	t.Logf("a tap at a controller that is away was refused after %.0f ms", heardWithin(one, "Nothing was done."))
	w.all(func(name string, tab *uitest.Tab) {
		if got := uitest.Eval[int](tab, `document.querySelectorAll(".lit, .way").length`); got > 0 {
			t.Errorf("%s: %d things shine or move at a controller that is away", name, got)
		}
	})
}

// A panel that nobody touches goes dark; the first touch wakes it, and does nothing else.
func TestAPanelSleeps(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 1280, Height: 800, Touch: true})
	tab.Go(e.url + "/panel/lobby#code=" + code)
	tab.Wait(`document.querySelector("[role=switch]")`)
	sleep := func() {
		tab.Wait(`(() => { const now = performance.now.bind(performance); performance.now = () => now() + 61_000; return true; })()`)
		tab.Wait(`document.querySelector(".night")`)
	}
	sleep()
	tab.Shot("wall-night", false)
	at := uitest.Eval[[]float64](tab, `(() => { const r = document.querySelector("[role=switch]").getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	since := e.lastWrite()
	const awake = `!document.querySelector(".night")` // a night that has just fallen may not hear the first touch
	tab.Insist(func() { tab.Touch(uitest.Point{X: at[0], Y: at[1]}) }, awake)
	sleep()
	tab.Insist(func() { tab.Keys(" ") }, awake)
	sleep()
	tab.Insist(func() { tab.Touch(uitest.Point{X: at[0], Y: at[1]}, uitest.Point{X: at[0] - 300, Y: at[1]}) }, awake)
	sleep()
	tab.Insist(func() { tab.Click(".night") }, awake)
	tab.Insist(func() { tab.Click("[role=switch]") }, `document.querySelector("[role=switch]").getAttribute("aria-checked") === "true"`)
	eventually(t, "the touch of a panel that is awake switches the lights on", func() bool { return e.level(1) == 100 })
	if got := e.levels(1, since); !slices.Equal(got, []int{100}) {
		t.Errorf("the light was set to %v, and one tap was to switch it", got)
	}
}
