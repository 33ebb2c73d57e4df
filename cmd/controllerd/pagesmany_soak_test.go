//go:build peers && soak

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/ui/uitest"
)

// A phone of the lower middle, and a network of the third generation.
const (
	slowProcessor = 4
	slowAnswer    = 150 * time.Millisecond
	slowBits      = 1.6e6
)

// manySite has a thousand lights in twenty halls of one floor, all of them on its plan.
func manySite() string {
	var site, rooms, buses, nodes, clusters, spots strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Light %04d, bus: bus %d, address: %d, profile: wirenboard-wb-led-white, outputs: [%d]}\n", i+1, i+1, i/200+1, i%200/4+1, i%4+1)
		fmt.Fprintf(&spots, "          - {node: %d, x: %.3f, y: %.3f}\n", i+1, .02+.024*float64(i%40), .02+.038*float64(i/40))
	}
	for i := range 5 {
		fmt.Fprintf(&buses, "  - {name: bus %d, driver: modbus, port: \"tcp://127.0.0.1:0\"}\n", i+1)
	}
	for i := range 20 {
		fmt.Fprintf(&rooms, "%d, ", i+1)
		fmt.Fprintf(&clusters, "  - {id: %d, name: Hall %02d, nodes: [", i+1, i+1)
		for j := range 50 {
			fmt.Fprintf(&clusters, "%d, ", 50*i+j+1)
		}
		clusters.WriteString("]}\n")
	}
	site.WriteString("site:\n  name: A thousand lights\n  floors:\n    - name: Whole house\n      clusters: [" + rooms.String() + "]\n      plan:\n" +
		`        picture: <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><path d="M10 10h380v280h-380z" fill="none" stroke="#888"/></svg>` +
		"\n        spots:\n" + spots.String() + "buses:\n" + buses.String() + "nodes:\n" + nodes.String() + "clusters:\n" + clusters.String())
	return site.String()
}

// flow tells how a page moved: its longest task, and its frames of 50 ms and more.
type flow struct {
	Longest float64 // ms
	Tasks   int     // of 50 ms and more
	Late    int     // frames
	Worst   float64 // frame, ms
}

func (f flow) String() string {
	return fmt.Sprintf("longest task %.0f ms, %d of 50 ms and more, %d frames later than 50 ms, the worst %.0f ms", f.Longest, f.Tasks, f.Late, f.Worst)
}

// watched does something on a page and tells how that moved meanwhile.
func watched(tab *uitest.Tab, do func()) flow {
	uitest.Eval[bool](tab, `(() => { window.flow?.end(); const f = window.flow = {Longest: 0, Tasks: 0, Late: 0, Worst: 0};
  const tasks = (l) => { for (const e of l) { f.Tasks++; f.Longest = Math.max(f.Longest, e.duration); } };
  const o = new PerformanceObserver((l) => tasks(l.getEntries())); o.observe({type: "longtask"});
  let was = performance.now(), on = true;
  const frame = (at) => { const took = at - was; was = at; if (took > 50) f.Late++; f.Worst = Math.max(f.Worst, took); if (on) requestAnimationFrame(frame); };
  requestAnimationFrame((at) => { was = at; requestAnimationFrame(frame); });
  f.end = () => { on = false; tasks(o.takeRecords()); o.disconnect(); };
  return true; })()`)
	do()
	return uitest.Eval[flow](tab, `(window.flow.end(), window.flow)`)
}

// work takes a page some milliseconds, always the same.
const work = `(() => { const began = performance.now(); let x = 0; for (let i = 0; i < 2e6; i++) x += Math.sqrt(i % 1000); return x > 0 ? performance.now() - began : 0; })()`

// spent tells how long that took, a few times.
func spent(tab *uitest.Tab) (took []float64) {
	for range 9 {
		took = append(took, uitest.Eval[float64](tab, work))
	}
	slices.Sort(took)
	return took
}

// TestSoakAThousandLightsOnASlowPhone opens the pages of a building of a thousand lights on a phone with a slow processor and a slow
// network, and moves them with a finger while halls are dimmed, two in a second; then all lights of the building change at once. What
// other programs on the machine do to that evens out in more turns; what is left is told by work that is always the same, and allowed for.
func TestSoakAThousandLightsOnASlowPhone(t *testing.T) {
	h := newHouse(t, manySite())
	h.login(account.RoleAPIService)
	browser := uitest.Open(t)
	look := uitest.Look{Width: 360, Height: 740, Scale: 2, Touch: true}
	const turns = 4

	// First paint, with nothing kept.
	tab := browser.Tab(t, look)
	alone := spent(tab)[0] // without others, and at full speed
	// busy is how many times as long everything takes as it would on the slow phone alone.
	busy := func() float64 { return max(1, spent(tab)[4]/(slowProcessor*alone)) }
	first := func(what, until string) {
		t.Helper()
		for turn := range turns {
			tab.Cold()
			tab.Slow(slowProcessor, slowAnswer, slowBits)
			tab.Go(h.url + "/")
			tab.Wait(until)
			whole := uitest.Eval[float64](tab, "performance.now()")
			late := busy()
			paint := uitest.Eval[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 1e9`)
			tab.Slow(1, 0, -8)
			t.Logf("%s: first paint after %.0f ms, all of it after %.0f ms at most; the machine takes %.1f times as long", what, paint, whole, late)
			switch {
			case paint <= 2500: // the network is as slow as it is, whoever is busy
				return
			case turn == turns-1:
				t.Errorf("%s: the first paint after %.0f ms, at most 2.5 s", what, paint)
			}
		}
	}
	first("log-in", `document.querySelector("input[name=password]")`)
	logIn(h, tab, "operator")
	first("home", `document.querySelectorAll(".card").length >= 20`)

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			h.control("channelControl", fmt.Sprintf(`{"targetType":2,"targetId":%d,"command":"DIM","dimLevel":%d}`, i%20+1, 10+i*7%90))
			time.Sleep(500 * time.Millisecond)
		}
	}()
	defer func() { stop(); <-done }()

	moved := func(what string, most float64, do func()) {
		t.Helper()
		for turn := range turns {
			tab.Slow(slowProcessor, slowAnswer, slowBits)
			before := busy()
			f := watched(tab, do)
			late := (before + busy()) / 2
			tab.Slow(1, 0, -8)
			t.Logf("%s: %v; the machine takes %.1f times as long", what, f, late)
			switch {
			case f.Longest <= most*late:
				return
			case turn == turns-1:
				t.Errorf("%s: %v; no task may take more than %.0f ms", what, f, most)
			}
		}
	}
	const still = 200 // ms, at which a finger feels that a page sticks
	level := 0
	everything := func() { // a second of stillness is felt, too, but follows from a touch of one's own
		level = 120 - max(level, 20)
		if status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":1,"command":"DIM","dimLevel":%d}`, level)); status != 1 {
			t.Log(message)
		}
		time.Sleep(2 * time.Second)
	}
	swipes := func() {
		for _, by := range []float64{2000, 2000, -2000, -2000} {
			tab.Swipe(by)
		}
	}
	moved("home", still, swipes)
	moved("home, all lights at once", 1000, everything)
	tab.Go(h.url + "/devices")
	tab.Wait(`document.querySelectorAll("details.fold").length === 20`)
	moved("list, folded", still, swipes)
	r := uitest.Eval[[]float64](tab, `(() => { const s = document.querySelectorAll("details.fold summary")[2]; s.scrollIntoView({block: "center"}); const r = s.getBoundingClientRect();
		return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	moved("list, a hall unfolded and folded", still, func() {
		for range 2 {
			tab.Touch(uitest.Point{X: r[0], Y: r[1]})
			time.Sleep(time.Second)
		}
	})
	uitest.Eval[bool](tab, `(document.querySelectorAll("details.fold").forEach((d) => { d.open = true; }), true)`)
	tab.Wait(`document.querySelectorAll("details.fold li").length === 1000`)
	moved("list of a thousand", still, swipes)
	moved("list of a thousand, all lights at once", 1000, everything)
	tab.Shot("many-list", false)
	tab.Go(h.url + "/plan")
	tab.Wait(`document.querySelector(".plan img")?.complete && document.querySelector(".plan img").style.transform`)
	tab.Shot("many-plan", false)
	moved("plan, untouched", still, func() { time.Sleep(4 * time.Second) })
	moved("plan, all lights at once", 1000, everything)
	tab.Press("Zoom in")
	moved("plan, dragged", still, func() {
		at := onPlan(tab, .5, .5)
		for i := range 4 {
			to := make([]uitest.Point, 40)
			for j := range to {
				to[j] = uitest.Point{X: at.X + float64(j*(1-i%2*2)), Y: at.Y + float64(j*(1-i%2*2))}
			}
			tab.Touch(to...)
		}
	})
	for _, r := range tab.Foreign(h.url) {
		t.Errorf("request to another origin: %s", r)
	}
}
