package ui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/ui"
	"svc.internal/controller/shelf/ui/uitest"
)

func TestTextsAreTheSameInAllLanguages(t *testing.T) {
	for _, wrong := range uitest.CheckTexts(os.DirFS("assets")) {
		t.Error(wrong)
	}
	for _, wrong := range uitest.UsedTexts(os.DirFS("assets"), nil) {
		if !strings.Contains(wrong, `"http.`) { // put together from a status
			t.Error(wrong)
		}
	}
}

func TestVendoredFilesAreThoseThatVersionsNames(t *testing.T) {
	for _, wrong := range uitest.CheckVendored(os.DirFS("assets/vendor")) {
		t.Error(wrong)
	}
}

func TestServing(t *testing.T) {
	app := fstest.MapFS{"app.js": {Data: []byte("import '../ui/lib.js';" + strings.Repeat(" ", 2000))}}
	p, err := ui.New(ui.Options{App: app, Title: "A <b> & c"})
	if err != nil {
		t.Fatal(err)
	}
	get := func(h http.Handler, path string, headers ...string) *http.Response {
		r := httptest.NewRequest("GET", path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for _, c := range []struct {
		name, path string
		headers    []string
		status     int
		header     string
		want       string
	}{
		{"a module is kept for ever", p.Folder() + "app/app.js", nil, 200, "Cache-Control", "public, max-age=31536000, immutable"},
		{"a module has its type", p.Folder() + "ui/style.css", nil, 200, "Content-Type", "text/css; charset=utf-8"},
		{"a module is compressed", p.Folder() + "app/app.js", []string{"Accept-Encoding", "br, gzip"}, 200, "Content-Encoding", "gzip"},
		{"or not, for who cannot", p.Folder() + "app/app.js", nil, 200, "Content-Encoding", ""},
		{"another build is not found", "/a/000000000000/app/app.js", nil, 404, "Cache-Control", "no-store"},
		{"licences are no pages", p.Folder() + "ui/vendor/htm.LICENSE", nil, 404, "Cache-Control", "no-store"},
		{"no way out of the folder", p.Folder() + "../../go.mod", nil, 404, "Cache-Control", "no-store"},
	} {
		r := get(p.Assets(), c.path, c.headers...)
		if r.StatusCode != c.status || r.Header.Get(c.header) != c.want {
			t.Errorf("%s: %d, %s: %q; want %d, %q", c.name, r.StatusCode, c.header, r.Header.Get(c.header), c.status, c.want)
		}
	}
	shell := get(p.Shell(), "/anything")
	if got := shell.Header.Get("Content-Security-Policy"); got != ui.Policy {
		t.Errorf("policy of the shell is %q", got)
	}
	if got := shell.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("shell is cached: %q", got)
	}
	if again := get(p.Shell(), "/", "If-None-Match", shell.Header.Get("Etag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("the same shell again: %d, want 304", again.StatusCode)
	}
	body := new(strings.Builder)
	if err := shell.Write(body); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body.String(), "<title>A &lt;b&gt; &amp; c</title>") || strings.Contains(body.String(), "style=") {
		t.Errorf("shell: %s", body)
	}
}

// What is for who reads the source is not sent: comments on lines of their own, and indentation.
// Nobody reads JSON in a browser: an address that nobody has is a page too. Programs get what they got.
func TestABrowserAtNoAddressGetsAPage(t *testing.T) {
	p, err := ui.New(ui.Options{App: fstest.MapFS{"app.js": {Data: []byte("x")}}, Title: "A", Routes: []string{"/"}})
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	e.POST("/made", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	p.Register(e)
	for _, c := range []struct {
		method, path, accept, kind string
		status                     int
	}{
		{"GET", "/nonexistent", "text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8", 404},
		{"GET", "/nonexistent", "application/json", "application/json", 404},
		{"POST", "/nonexistent", "text/html", "application/json", 404},
		{"GET", "/made", "application/json", "application/json", 405},
		{"GET", "/", "text/html", "text/html; charset=utf-8", 200},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind {
			t.Errorf("%s %s, %s: %d %s, want %d %s", c.method, c.path, c.accept, w.Code, w.Header().Get("Content-Type"), c.status, c.kind)
		}
	}
}

func TestWhatReadersNeedIsNotSent(t *testing.T) {
	source := "// What this is.\n/** @param {string} a */\nexport const f = (a) => {\n  /**\n   * @type {number}\n   */\n" +
		"  let n = 1; // one\n\treturn a + `//` + n;\n};\n/** @type {number} */ (1).valueOf();\n/** The end. */\nlast();\n"
	p, err := ui.New(ui.Options{App: fstest.MapFS{"later.js": {Data: []byte(source)}}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	p.Assets().ServeHTTP(w, httptest.NewRequest("GET", p.Folder()+"app/later.js", nil))
	if want := "export const f = (a) => {\nlet n = 1; // one\nreturn a + `//` + n;\n};\n/** @type {number} */ (1).valueOf();\nlast();\n"; w.Body.String() != want {
		t.Errorf("sent %q, want %q", w.Body, want)
	}
}

// What the first module imports is sent with it, and nowhere else: in two places a module would be two.
func TestWhatIsNeededFirstIsOneAnswer(t *testing.T) {
	p, err := ui.New(ui.Options{App: fstest.MapFS{
		"app.js":      {Data: []byte("import Home, { a as b } from './home.js';\nimport './deep/two.js';\nb(Home, () => import('./later.js'));\n")},
		"home.js":     {Data: []byte("import{x}from\"./deep/two.js\";export const a = x;\nexport default function Home() {}\n")},
		"deep/two.js": {Data: []byte("export const x = 1, url = import.meta.url;\nexport async function f() { return import(`../i18n/${x}.js`); }\nexport { x as y };\n")},
		"later.js":    {Data: []byte("import { a } from './home.js';\nimport Other from './other.js';\nexport default a(Other);\n")},
		"other.js":    {Data: []byte("export default 1;\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"app.js": `const modules$={};
await(async()=>{ // app/deep/two.js
modules$["app/deep/two.js"]={get y(){return x},get x(){return x},get f(){return f}};
const x = 1, url = new URL("../app/deep/two.js",import.meta.url);
async function f() { return import(` + "`../app/i18n/${x}.js`" + `); }


})();
await(async()=>{ // app/home.js
modules$["app/home.js"]={get a(){return a},get default(){return Home}};
const{x:x}=modules$["app/deep/two.js"];const a = x;
function Home() {}

})();
await(async()=>{ // app/app.js
modules$["app/app.js"]={};
const{default:Home,a:b}=modules$["app/home.js"];

b(Home, () => import('../app/later.js'));

})();
export{modules$};
`,
		"later.js": `import{modules$}from"../app/app.js";const{a:a}=modules$["app/home.js"];
import Other from './other.js';
export default a(Other);
`,
		"other.js":    "export default 1;\n",
		"home.js":     "no such file in this version of the pages\n",
		"deep/two.js": "no such file in this version of the pages\n",
	} {
		w := httptest.NewRecorder()
		p.Assets().ServeHTTP(w, httptest.NewRequest("GET", p.Folder()+"app/"+name, nil))
		if w.Body.String() != want {
			t.Errorf("%s is sent as\n%s\nwant\n%s", name, w.Body, want)
		}
	}
}

// A name that changes later would keep the value that it had when all was put together.
func TestWhatChangesIsNotTakenBefore(t *testing.T) {
	p, err := ui.New(ui.Options{App: fstest.MapFS{
		"app.js": {Data: []byte("import { x } from './x.js';\nx();\n")},
		"x.js":   {Data: []byte("export let x;\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "app/app.js takes x of ./x.js") {
			t.Errorf("weighed, with %v", r)
		}
	}()
	_, err = p.Weight("app/app.js")
	t.Errorf("weighed, with %v", err)
}

func TestAnotherFileIsAnotherFolder(t *testing.T) {
	folderOf := func(text string) string {
		p, err := ui.New(ui.Options{App: fstest.MapFS{"app.js": {Data: []byte(text)}}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Folder()
	}
	one, same, two := folderOf("1"), folderOf("1"), folderOf("2")
	if one != same || one == two {
		t.Error("the folder is not the hash of what is in it")
	}
}

// The first view of any page has these in it, besides its own modules.
func TestBytesOfTheShelf(t *testing.T) {
	p, err := ui.New(ui.Options{App: fstest.MapFS{"app.js": {Data: []byte("")}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Weight("app/app.js", "ui/lib.js", "ui/i18n/de.js", "ui/shell.js", "ui/stream.js", "ui/asked.js", "ui/light.js", "ui/shade.js",
		"ui/form.js", "ui/dialog.js", "ui/jobs.js", "ui/spark.js", "ui/api.js")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", got)
	if limit := 40 << 10; got > limit {
		t.Errorf("the whole shelf is %d bytes compressed, at most %d", got, limit)
	}
	if _, err := p.Weight("app/none.js"); err == nil {
		t.Error("a module that does not exist weighed something")
	}
}
