//go:build peers

package uitest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is the one headless Chromium of a package's tests. Each tab has cookies and storage of its own.
type Browser struct {
	ctx context.Context
}

// shared is the browser of this process: to start one takes as long as many a test.
var shared = sync.OnceValues(start)

// Open gives the browser to a test. The first to ask starts it; the package's TestMain calls
// Close. It trusts any certificate, as the controllers of tests make their own.
func Open(t testing.TB) *Browser {
	t.Helper()
	browser, err := shared()
	if err != nil {
		t.Fatalf("start Chromium, which scripts/install-peers.sh installs: %v", err)
	}
	return browser
}

func start() (*Browser, error) {
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, err
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("/usr/bin/chromium-headless-shell"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.IgnoreCertErrors,
		chromedp.UserDataDir(dir), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-features", "Translate,BackForwardCache,SpareRendererForSitePerProcess"),
		chromedp.Flag("js-flags", "--no-opt --no-maglev"), // a page of a test has gone before the time spent on its scripts comes back
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en"), chromedp.WSURLReadTimeout(Patience))...)
	ctx, _ = chromedp.NewContext(ctx)
	closeBrowser = func() error {
		err := chromedp.Cancel(ctx)
		stop()
		return errors.Join(err, os.RemoveAll(dir))
	}
	return &Browser{ctx}, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// Look is what a page is looked at with.
type Look struct {
	Width, Height int
	Scale         float64 // device pixels per pixel; 0: 1
	Dark          bool
	Language      string // "en" if empty
	Touch         bool
	Features      map[string]string // further media features, such as forced-colors: active
}

// Tab is a window in a browser, in which everything that goes wrong is noted.
type Tab struct {
	t   testing.TB
	ctx context.Context

	so string // what is insisted on; empty: nothing

	mu       sync.Mutex
	console  []string
	requests []string
	received int // bytes
	ignored  []string
}

// Tab opens a window with cookies of its own. Whatever it says on the console fails
// the test at its end, unless the test took it with Console.
func (b *Browser) Tab(t testing.TB, look Look) *Tab {
	t.Helper()
	ctx, shut := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		for _, line := range tab.Console() {
			t.Errorf("on the console: %s", line)
		}
		shut()
	})
	if err := chromedp.Listen(ctx, tab.note); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	go tab.listenToConsole(chromedp.Console(ctx))
	tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, network.Enable, network.EnableParams{})
		return err
	}))
	tab.Look(look)
	return tab
}

func (tab *Tab) listenToConsole(messages func(func(chromedp.ConsoleMessage, error) bool)) {
	for m, err := range messages {
		if err != nil {
			return
		}
		tab.mu.Lock()
		line := m.String()
		if m.Source == "network" {
			line += " " + m.URL
		}
		if !slices.ContainsFunc(tab.ignored, func(part string) bool { return strings.Contains(line, part) }) {
			tab.console = append(tab.console, line)
		}
		tab.mu.Unlock()
	}
}

func (tab *Tab) note(ev any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	case *network.EventLoadingFinished:
		tab.received += int(e.EncodedDataLength)
	}
}

// Cold has the browser forget what it has kept of pages, so that the next load is the first.
func (tab *Tab) Cold() {
	tab.t.Helper()
	tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, network.ClearBrowserCache, cdp.Empty{})
		return err
	}))
}

// Received is how many bytes came in whole answers so far, as they were sent, with their headers.
func (tab *Tab) Received() int {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return tab.received
}

// Console takes what the page has written to the console since it was last asked.
func (tab *Tab) Console() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	out := tab.console
	tab.console = nil
	return out
}

// Ignore lets the console be for lines with one of these in them, from now on, which a test provokes.
func (tab *Tab) Ignore(parts ...string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.ignored = append(tab.ignored, parts...)
}

// Noted waits for a line on the console with that in it, which a test has provoked just now, and takes all of them that are there:
// the browser writes it when it likes, before or after the page shows what came of it.
func (tab *Tab) Noted(part string) {
	tab.t.Helper()
	for deadline := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		tab.mu.Lock()
		before := len(tab.console)
		tab.console = slices.DeleteFunc(tab.console, func(line string) bool { return strings.Contains(line, part) })
		found := len(tab.console) < before
		tab.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(deadline) {
			tab.t.Fatalf("waited in vain for %q on the console", part)
		}
	}
}

// Asked lists the addresses of all requests so far, as the network had them.
func (tab *Tab) Asked() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.requests)
}

// Foreign lists requests to another origin than that of address.
func (tab *Tab) Foreign(address string) []string {
	own, err := url.Parse(address)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	var out []string
	for _, r := range tab.requests {
		u, err := url.Parse(r)
		if err != nil || u.Scheme != "data" && (u.Scheme != own.Scheme || u.Host != own.Host) {
			out = append(out, r)
		}
	}
	return out
}

func (tab *Tab) call(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.t.Fatalf("%v; the page says: %.600s", err, tab.says())
	}
}

// says is what one would read on the page, for messages of failed tests.
func (tab *Tab) says() string {
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return s
}

// Look sets the window up.
func (tab *Tab) Look(l Look) {
	tab.t.Helper()
	scheme := "light"
	if l.Dark {
		scheme = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	for name, value := range l.Features {
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	if l.Scale == 0 {
		l.Scale = 1
	}
	if l.Language == "" {
		l.Language = "en"
	}
	tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		agent, err := chromedp.Run(ctx, chromedp.Evaluate[string]("navigator.userAgent"))
		if err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, to, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(l.Width), Height: int64(l.Height), DeviceScaleFactor: l.Scale, Mobile: l.Touch}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, to, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: l.Touch}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, to, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
			return err // another test's tab may have the focus of the browser
		}
		_, err = cdp.Call(ctx, to, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
			UserAgent: agent, AcceptLanguage: l.Language})
		return err
	}))
}

// Slow makes a weaker device of the browser, on a slower network: its processor takes so many times as long, a server's answer begins
// so much later, and so many bits come in a second.
func (tab *Tab) Slow(processor float64, later time.Duration, bits float64) {
	tab.t.Helper()
	tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		if _, err := cdp.Call(ctx, to, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: processor}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, to, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Latency: float64(later.Milliseconds()), DownloadThroughput: bits / 8, UploadThroughput: bits / 8}}})
		return err
	}))
}

// Swipe drags the page up with a finger that begins in the middle of the window, by so many pixels, 1,000 in a second. Less than 0
// drags it down.
func (tab *Tab) Swipe(up float64) {
	tab.t.Helper()
	middle := Eval[[]float64](tab, "[innerWidth / 2, innerHeight / 2]")
	tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, input.SynthesizeScrollGesture, input.SynthesizeScrollGestureParams{X: middle[0], Y: middle[1], YDistance: -up,
			Speed: 1000, GestureSourceType: input.GestureSourceTypeTouch})
		return err
	}))
}

// Go loads an address and waits until a page with a heading is there.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	tab.call(chromedp.Navigate(address))
	tab.Wait(`document.querySelector("h1")`)
}

// Wait waits until a JavaScript expression is true. What it asks an element about that is not there yet is not true yet.
func (tab *Tab) Wait(expression string) {
	tab.t.Helper()
	if !tab.Becomes(expression, Patience) {
		tab.t.Fatalf("waited in vain for %s; the page says: %.800s", expression, tab.says())
	}
}

// Insist does something until an expression is true, and again every now and then: a finger misses where a page moves, and what a
// busy machine does not take in time, or hardware does not confirm, is not done. What is to be pressed may be gone by then.
func (tab *Tab) Insist(do func(), so string) {
	tab.t.Helper()
	tab.so = so
	for range 5 {
		if do(); tab.Becomes(so, 20*time.Second) {
			break
		}
	}
	tab.so = ""
	tab.Wait(so)
}

// Becomes waits as [Tab.Wait] does, but so long at most, and reports whether it became true. The longer it waits, the less often it
// asks: each question costs the page and the test some of the processors that others wait for.
func (tab *Tab) Becomes(expression string, most time.Duration) bool {
	tab.t.Helper()
	deadline := time.Now().Add(most)
	for pause := 10 * time.Millisecond; ; pause = min(pause*3/2, 250*time.Millisecond) {
		if Eval[bool](tab, "(() => { try { return !!("+expression+") } catch (e) { if (e instanceof TypeError) return false; throw e } })()") {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		select {
		case <-tab.ctx.Done():
			tab.t.Fatal(tab.ctx.Err())
		case <-time.After(pause):
		}
	}
}

// WaitText waits until a text can be read on the page.
func (tab *Tab) WaitText(text string) {
	tab.t.Helper()
	tab.Wait(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// Eval gives the value of a JavaScript expression; a promise is waited for.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
	if err != nil {
		tab.t.Fatalf("evaluate %.120s: %v", expression, err)
	}
	return v
}

// Click clicks on the first element that a selector finds, once it can be pressed, away from the bars that lie over the ends
// of a page.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.Wait(fmt.Sprintf(`(e => (%s)(e) && (e.scrollIntoView({block: "center"}), true))(document.querySelector(%q))`, usable, selector))
	tab.call(chromedp.Click(chromedp.CSS(selector)))
}

// usable tells whether an element can be pressed: it is seen, and neither disabled nor busy.
const usable = `(e) => e?.getClientRects().length > 0 && !e.disabled && e.getAttribute("aria-disabled") !== "true"`

// unless is true, too, where what is insisted on is so.
func (tab *Tab) unless(expression string) string {
	if tab.so == "" {
		return expression
	}
	return fmt.Sprintf("(%s) || (%s)", tab.so, expression)
}

// press clicks on the first of some elements that can be pressed, once there is one.
func (tab *Tab) press(elements string) {
	tab.t.Helper()
	tab.Wait(tab.unless(fmt.Sprintf("(e => e && (e.click(), true))([...%s].find(%s))", elements, usable)))
}

// Press clicks on the button or link with a text, exactly, once it can be pressed.
func (tab *Tab) Press(text string) {
	tab.t.Helper()
	tab.press(fmt.Sprintf(`[...document.querySelectorAll("a,button,summary,[role=switch]")].filter(e => (e.getAttribute("aria-label") || e.innerText).trim() === %q)`, text))
}

// Thumb touches what a JavaScript expression finds with a finger, once it can be pressed, stands still and nothing lies over it.
// It tells how far one had to scroll for that, in windows.
func (tab *Tab) Thumb(element string) (scrolled float64) {
	tab.t.Helper()
	tab.Wait(tab.unless(fmt.Sprintf(`((e) => {
  if (!(%s)(e)) return window.thumb = undefined;
  let r = e.getBoundingClientRect();
  const began = r.top, bars = [...document.querySelectorAll(".topbar, .tabs")].map((b) => b.getBoundingClientRect());
  const hidden = r.top < 0 || r.bottom > innerHeight || bars.some((b) => b.height && r.bottom > b.top && r.top < b.bottom && !e.closest(".topbar, .tabs, dialog"));
  const at = () => document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
  if (hidden || !e.contains(at())) { e.scrollIntoView({block: "center"}); r = e.getBoundingClientRect(); }
  const x = r.left + r.width / 2, y = r.top + r.height / 2, was = window.thumb;
  window.thumb = e.contains(at()) ? {x, y, scrolled: (was?.scrolled || 0) + Math.abs(r.top - began) / innerHeight} : undefined;
  return was && window.thumb && was.x === x && was.y === y;
})(%s)`, usable, element)))
	at := Eval[map[string]float64](tab, `(() => { const t = window.thumb; window.thumb = undefined; return t ?? {}; })()`)
	if len(at) == 0 { // what is insisted on is so
		return 0
	}
	tab.Touch(Point{at["x"], at["y"]})
	return at["scrolled"]
}

// Submit presses the button that sends the open dialog, once it can be pressed.
func (tab *Tab) Submit() {
	tab.t.Helper()
	tab.press(`document.querySelectorAll("dialog[open] button[type=submit]")`)
}

// Type puts text into a field, in place of what is there, once it can be seen and takes the focus: a dialog is in the page
// before it opens. It types again if a page that just changed took the focus meanwhile.
func (tab *Tab) Type(selector, text string) {
	tab.t.Helper()
	field := fmt.Sprintf("document.querySelector(%q)", selector)
	for deadline := time.Now().Add(Patience); ; {
		tab.Wait(fmt.Sprintf(`(() => { const e = %s; if (!e || e.disabled || !e.getClientRects().length) return false;
  e.focus(); e.select(); return document.activeElement === e; })()`, field))
		tab.call(chromedp.KeyEvent(text))
		if Eval[string](tab, field+"?.value ?? ''") == text {
			return
		}
		if time.Now().After(deadline) {
			tab.t.Fatalf("typed %q in vain into %s", text, selector)
		}
	}
}

// Keys presses keys, as a keyboard would.
func (tab *Tab) Keys(keys string) {
	tab.t.Helper()
	tab.call(chromedp.KeyEvent(keys))
}

// Point is a place in the window.
type Point struct{ X, Y float64 }

// Touch puts a finger down and moves it through the points, the last of which lifts it.
func (tab *Tab) Touch(points ...Point) {
	tab.t.Helper()
	send := func(kind input.DispatchTouchEventType, at []*input.TouchPoint) {
		tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
			_, err := cdp.Call(ctx, to, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: at})
			return err
		}))
	}
	for i, p := range points {
		kind := input.DispatchTouchEventTypeTouchMove
		if i == 0 {
			kind = input.DispatchTouchEventTypeTouchStart
		}
		send(kind, []*input.TouchPoint{{X: p.X, Y: p.Y}})
	}
	send(input.DispatchTouchEventTypeTouchEnd, []*input.TouchPoint{})
}

// Shot writes a picture of the window, or with whole of the whole page, to the folder
// that SHOTS names; without it, none is made.
func (tab *Tab) Shot(name string, whole bool) {
	tab.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	tab.call(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		shot, err := cdp.Call(ctx, to, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &whole})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644)
	}))
}

// PDF is the page as it is printed.
func (tab *Tab) PDF() []byte {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, Patience)
	defer cancel()
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	if err != nil {
		tab.t.Fatalf("print: %v", err)
	}
	return pdf
}

// Fits tells what is wider than the window, and which controls are smaller than a
// fingertip.
func (tab *Tab) Fits() []string {
	tab.t.Helper()
	return Eval[[]string](tab, `(() => {
  const wrong = [];
  // On a phone the window grows to what is too wide, so it is the layout that counts.
  const width = document.documentElement.clientWidth;
  const wide = Math.max(document.scrollingElement.scrollWidth, innerWidth);
  if (wide > width) {
    wrong.push("the page is " + wide + " px wide, the window " + width);
    for (const x of document.querySelectorAll("body *")) if (x.getBoundingClientRect().right > width + 1 && !x.closest(".table")) { wrong.push("too wide: " + x.outerHTML.slice(0, 120)); break; }
  }
  for (const x of document.querySelectorAll("button, a.button, a.chip, select, input:not([type=range]):not([type=file]), .tabs a, .head[href], .slider:not([data-plain]), summary")) {
    const t = x.matches("input[type=checkbox], input[type=radio]") ? x.closest("label") : x, r = t.getBoundingClientRect();
    if (r.width && (r.height < 43.5 || r.width < 43.5)) wrong.push(Math.round(r.width) + "×" + Math.round(r.height) + " px: " + x.outerHTML.slice(0, 120));
  }
  return wrong;
})()`)
}

// Unreachable gives the controls in sight that the keyboard does not lead to.
func (tab *Tab) Unreachable() []string {
	tab.t.Helper()
	return Eval[[]string](tab, `(() => {
  const within = document.querySelector("dialog[open]") || document.body, before = document.activeElement, y = scrollY;
  const wrong = [...within.querySelectorAll("a[href], button, input, select, textarea, summary, [role=button], [role=switch], [role=slider], [role=tab]")]
    .filter((e) => e.getClientRects().length && getComputedStyle(e).visibility === "visible" && !e.disabled && !e.closest("[inert], details:not([open]) > :not(summary)"))
    .filter((e) => { if (e.tabIndex < 0) return true; e.focus({preventScroll: true}); return document.activeElement !== e; })
    .map((e) => "not reached by keyboard: " + e.outerHTML.slice(0, 160));
  before === document.body ? document.activeElement.blur() : before.focus({preventScroll: true});
  scrollTo(0, y);
  return wrong;
})()`)
}

// Axe runs axe-core and gives what it finds wrong.
func (tab *Tab) Axe() []string {
	tab.t.Helper()
	script, err := os.ReadFile(filepath.Join(root(tab.t), ".peers", "axe.min.js"))
	if err != nil {
		tab.t.Fatalf("axe-core is needed: run scripts/install-peers.sh (%v)", err)
	}
	if !Eval[bool](tab, "!!window.axe") {
		Eval[bool](tab, string(script)+"; true")
	}
	// Bars that stay in the window lie over what is scrolled under them; that is no
	// smaller for it.
	return Eval[[]string](tab, `(() => {
  const bars = [...document.querySelectorAll(".topbar, .tabs, .below")];
  for (const b of bars) b.style.position = "static";
  return axe.run(document, {runOnly: ["wcag2a","wcag2aa","wcag21a","wcag21aa","wcag22aa","best-practice"]})
  .then(r => r.violations.map(v => v.impact + " " + v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0]?.message || "")).join(" | ")))
    .finally(() => { for (const b of bars) b.style.position = ""; });
})()`)
}

// Stops presses Tab until it has been everywhere and gives what had the focus, in
// order: the accessible names as far as they are written there.
func (tab *Tab) Stops(most int) []string {
	tab.t.Helper()
	Eval[bool](tab, "(document.activeElement?.blur(), scrollTo(0, 0), true)")
	var out []string
	for range most {
		tab.Keys("\t")
		name := Eval[string](tab, `(() => { const e = document.activeElement; if (!e || e === document.body) return "";
  return e.tagName.toLowerCase() + " " + (e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || e.name || "").trim().replace(/\s+/g, " "); })()`)
		if name == "" {
			break
		}
		out = append(out, name)
	}
	return out
}

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !strings.HasSuffix(dir, "/") {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod above this folder")
	return ""
}
