//go:build peers

package ui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"svc.internal/controller/shelf/ui"
	"svc.internal/controller/shelf/ui/uitest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := uitest.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "end Chromium:", err)
	}
	os.Exit(code)
}

// gallery serves a page with all components in all states.
func gallery(t *testing.T) string {
	p, err := ui.New(ui.Options{App: os.DirFS("testdata/gallery"), Title: "Gallery"})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/a/", p.Assets())
	mux.Handle("/", p.Shell())
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestGalleryInEveryLook(t *testing.T) {
	t.Parallel()
	address, browser := gallery(t), uitest.Open(t)
	for _, size := range [][2]int{{320, 640}, {360, 740}, {768, 1024}, {1440, 900}} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("gallery-%d-%s", size[0], map[bool]string{false: "light", true: "dark"}[dark])
			t.Run(name, func(t *testing.T) {
				tab := browser.Tab(t, uitest.Look{Width: size[0], Height: size[1], Dark: dark, Language: map[bool]string{false: "en", true: "de"}[dark]})
				tab.Go(address)
				tab.Shot(name, true)
				for _, wrong := range append(tab.Fits(), tab.Axe()...) {
					t.Error(wrong)
				}
				for _, r := range tab.Foreign(address) {
					t.Errorf("request to another origin: %s", r)
				}
			})
		}
	}
}

// slider is the middle of the first slider, and its width.
func slider(tab *uitest.Tab) (uitest.Point, float64) {
	r := uitest.Eval[[]float64](tab, `(() => { const s = document.querySelector(".slider"); s.scrollIntoView({block: "center"}); const r = s.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2, r.width]; })()`)
	return uitest.Point{X: r[0], Y: r[1]}, r[2]
}

func sent(tab *uitest.Tab) []int { return uitest.Eval[[]int](tab, "window.sent") }

func TestScrollingThumbSwitchesNothing(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Touch: true})
	tab.Go(gallery(t))
	p, _ := slider(tab)
	before := uitest.Eval[float64](tab, "scrollY")
	var swipe []uitest.Point
	for i := range 20 {
		swipe = append(swipe, uitest.Point{X: p.X + float64(i%3), Y: p.Y - 12*float64(i)})
	}
	tab.Touch(swipe...)
	tab.Wait(fmt.Sprintf("scrollY > %f + 50", before))
	if got := sent(tab); len(got) != 0 {
		t.Errorf("a swipe over the slider sent %v", got)
	}

	uitest.Eval[bool](tab, `new Promise(done => { // the swipe goes on for a while
		let last = -1; const look = () => { if (scrollY === last) return done(true); last = scrollY; setTimeout(look, 200); }; look(); })`)
	p, width := slider(tab)
	tab.Touch(uitest.Point{X: p.X - width/4, Y: p.Y}) // a tap
	tab.Wait("window.sent.length === 1")
	if got := sent(tab)[0]; got < 22 || got > 28 {
		t.Errorf("a tap at a quarter sent %d", got)
	}
	tab.Wait(`document.querySelector(".slider").dataset.asked === undefined`)

	p, width = slider(tab)
	var drag []uitest.Point // sideways, from where it is by half of the width
	for i := range 40 {
		drag = append(drag, uitest.Point{X: p.X - width/4 + width/2*float64(i)/39, Y: p.Y})
	}
	tab.Touch(drag...)
	tab.Wait(`window.sent.length > 1 && Math.abs(window.sent.at(-1) - 75) < 4`)
	if got := sent(tab); len(got) > 20 {
		t.Errorf("a drag of 40 moves sent %d commands", len(got))
	}
}

// TestNothingMovesWhenJobsComeAndGo: whoever is about to touch something at the foot of a page touches that, however many jobs begin or
// end. Several are one line until somebody opens it.
func TestNothingMovesWhenJobsComeAndGo(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740, Touch: true})
	tab.Go(gallery(t))
	busy := func(n int) (last, bar float64) {
		r := uitest.Eval[[]float64](tab, fmt.Sprintf(`new Promise((done) => { window.busy.value = %d; scrollTo(0, 1e6);
			requestAnimationFrame(() => requestAnimationFrame(() => done([document.querySelector("main > .empty").getBoundingClientRect().top, document.querySelector(".jobs").offsetHeight]))); })`, n))
		return r[0], r[1]
	}
	want, _ := busy(0)
	for _, n := range []int{1, 2, 3, 0} {
		last, bar := busy(n)
		if last != want {
			t.Errorf("with %d jobs the foot of the page stands at %.0f, without at %.0f", n, last, want)
		}
		if bar > 84 || (bar == 0) != (n == 0) {
			t.Errorf("%d jobs take %.0f px of the window, at most 84", n, bar)
		}
	}
	busy(3)
	tab.Shot("jobs-360", false)
	tab.Thumb(`document.querySelector(".jobs summary")`)
	tab.Wait(`[...document.querySelectorAll(".jobs button")].filter((b) => b.getClientRects().length).length === 3`)
	tab.Shot("jobs-open-360", false)
	for _, wrong := range slices.Concat(tab.Fits(), tab.Unreachable(), tab.Axe()) {
		t.Errorf("three jobs: %s", wrong)
	}
}

func TestKeyboardMovesSlider(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 1440, Height: 900})
	tab.Go(gallery(t))
	tab.Wait(`document.querySelector(".slider input").focus() || true`)
	tab.Keys(kb.ArrowRight) // from 65
	tab.Wait("window.sent.at(-1) === 66")
	for range 3 {
		tab.Keys(kb.ArrowRight)
	}
	tab.Wait("window.sent.at(-1) === 69")
}

func TestFailureIsToldOnTheCard(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740})
	tab.Go(gallery(t))
	tab.Press("Lobby on")
	tab.WaitText("Lobby 3 did not answer within 2 s")
	if got := uitest.Eval[string](tab, `document.querySelectorAll(".card")[1].querySelector(".value").innerText`); got != "40%" {
		t.Errorf("after a failure the card shows %s, want what is confirmed", got)
	}
}

func TestFormTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740})
	tab.Go(gallery(t))
	tab.Press("Create user")
	tab.WaitText("Name: a name is needed")
	tab.Wait(`document.activeElement.classList.contains("notice")`)
	if title := uitest.Eval[string](tab, "document.title"); !strings.HasPrefix(title, "Error: ") {
		t.Errorf("title is %q", title)
	}
	tab.Type("form input", "Ana")
	tab.Press("Create user")
	tab.WaitText("Name: another user has it")
	tab.WaitText("/else: is odd")
	if got := uitest.Eval[string](tab, `document.querySelector("form input").value`); got != "Ana" {
		t.Errorf("what was typed became %q", got)
	}
	for _, wrong := range tab.Axe() {
		t.Error(wrong)
	}
}

func TestDestructionIsAskedAbout(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 740})
	tab.Go(gallery(t))
	tab.Press("Remove user")
	tab.Wait(`document.querySelector("dialog[open]") && document.activeElement.innerText === "Cancel"`)
	tab.Wait(`document.querySelector("dialog button[type=submit][aria-disabled=true]").click() || true`)
	if !uitest.Eval[bool](tab, `!!document.querySelector("dialog[open]")`) {
		t.Error("removed without the name being typed")
	}
	for _, wrong := range tab.Axe() {
		t.Error(wrong)
	}
	tab.Shot("dialog", false)
	tab.Type("#typed", "Ana")
	tab.Press("Remove Ana")
	tab.WaitText("Ana was removed")
	tab.Press("Undo")
	tab.Wait(`document.querySelector("[role=status]").innerText === "Undone"`)
}

func TestSeenWithoutMotionAndWithForcedColours(t *testing.T) {
	t.Parallel()
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 768, Height: 1024, Features: map[string]string{"forced-colors": "active", "prefers-reduced-motion": "reduce"}})
	tab.Go(gallery(t))
	tab.Shot("gallery-forced", true)
	on := uitest.Eval[string](tab, `getComputedStyle(document.querySelector(".switch[aria-checked=true] > span")).backgroundColor`)
	off := uitest.Eval[string](tab, `getComputedStyle(document.querySelector(".switch[aria-checked=false] > span")).backgroundColor`)
	if on == off {
		t.Errorf("a switch that is on looks like one that is off: %s", on)
	}
	if got := uitest.Eval[string](tab, `getComputedStyle(document.querySelector(".slider > .fill")).transitionDuration`); got != "0s" {
		t.Errorf("the fill moves for %s in spite of reduced motion", got)
	}
}
