//go:build peers

package main

import (
	"fmt"
	"strings"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

// Somebody makes a rule that takes its time, and sees on the plan what it would do now, and what it would leave alone, without
// anything being done.
func TestARuleIsSeenOnThePlan(t *testing.T) {
	t.Parallel()
	h := newHouse(t, strings.Replace(planSite, "- {name: Attic}", "- {name: Attic, clusters: [2]}", 1))
	h.insist("channelControl", `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":20}`)
	h.insist("channelControl", `{"targetType":3,"targetId":2,"command":"DIM","dimLevel":40}`)
	browser := uitest.Open(t)
	tab := browser.Tab(t, uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true})
	logIn(h, tab, "operator")
	tab.Click(`nav a[href="/rules"]`)
	tab.Press("New rule")
	tab.Type("dialog input[name=name]", "Sunrise")
	choose := func(name, value string) {
		t.Helper()
		tab.Wait(fmt.Sprintf(`(() => { const s = document.querySelector('select[name=%q]'); s.value = %q; return s.dispatchEvent(new Event("change", {bubbles: true})); })()`, name, value))
	}
	choose("does.0", "light-level")
	tab.Wait(`document.querySelector('select[name="over.0"]')`)
	tab.Type(`input[name="value.0"]`, "80")
	choose("over.0", "30")
	tab.WaitText("Each light goes in small steps")
	tab.Wait(`document.querySelector('select[name="over.0"]').scrollIntoView({block: "center"}) || true`)
	inspect(t, tab, "fadeform-360-light-en")
	tab.Press("One more step")
	tab.Wait(`document.querySelector('select[name="does.1"]')`)
	choose("does.1", "shade-close")
	choose("after.1", "5")
	tab.Press("Save")
	tab.Wait(`!document.querySelector("dialog") && document.body.innerText.includes("over 30 minutes")`)
	inspect(t, tab, "faderule-360-light-en")

	// Everything was set by hand a moment ago.
	tab.Click(`a[href="/plan?rule=1"]`)
	tab.WaitText("What Sunrise would do now.")
	held := `[...document.querySelectorAll(".thing")].map((b) => b.innerText.replace(/\s+/g, " ").trim()).join("; ")`
	tab.Wait(held + `.includes("Dimmer 1 left alone")`)
	if said := uitest.Eval[string](tab, held); !strings.Contains(said, "Dimmer 2 left alone") || !strings.Contains(said, "Roller close, 5 minutes later") || strings.Contains(said, "Relays") {
		t.Errorf("the list says %q", said)
	}
	tab.WaitText("elsewhere. The rest stays as it is.")
	tab.Wait(`document.querySelector(".thing").scrollIntoView({block: "center"}) || true`)
	inspect(t, tab, "wouldheld-360-light-en")

	// Rules may act there again; somebody takes one of the lamps.
	h.api(h.enter("operator"), 204, "DELETE", "/clusters/1/override", nil, nil)
	h.insist("channelControl", `{"targetType":3,"targetId":2,"command":"DIM","dimLevel":45}`)
	desk := browser.Tab(t, uitest.Look{Width: 1280, Height: 800, Dark: true, Language: "de"})
	logIn(h, desk, "operator")
	desk.Go(h.url + "/plan?rule=1")
	desk.WaitText("Was Sunrise jetzt täte.")
	desk.WaitText("über 30 Minuten")
	desk.WaitText("bleibt: ")
	desk.Wait(`document.querySelector(".plan img")?.style.transform`)
	inspect(t, desk, "would-1280-dark-de")
	desk.Wait(`document.querySelector(".thing").scrollIntoView({block: "center"}) || true`)
	p := onPlan(desk, .25, .5)
	desk.Touch(p)
	desk.Wait(`document.querySelector(".plan-chosen .thing")?.innerText.includes("Dimmer 1")`)
	if uitest.Eval[bool](desk, `!!document.querySelector(".plan-chosen .slider")`) {
		t.Error("who looks at a rule can dim by mistake")
	}
	if s := h.daemon.core.Snapshot(); s.Node(1).Level.Value != 20 || s.Node(2).Level.Value != 45 {
		t.Errorf("looking did something: %v %v", s.Node(1).Level.Value, s.Node(2).Level.Value)
	}
	desk.Look(uitest.Look{Width: 360, Height: 740, Scale: 2, Dark: true, Language: "de", Touch: true})
	inspect(t, desk, "wouldchosen-360-dark-de")
	desk.Go(h.url + "/rules")
	desk.Press("Sunrise ändern")
	desk.Wait(`document.querySelector('dialog a[href="/plan?rule=1"]')`)
	desk.Wait(`document.querySelector('select[name="over.0"]').scrollIntoView({block: "center"}) || true`)
	inspect(t, desk, "fadeform-360-dark-de")
}
