package pages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/ui/uitest"
)

func TestTextsAreTheSameInAllLanguages(t *testing.T) {
	for _, wrong := range append(append(uitest.CheckTexts(os.DirFS("app")), uitest.CheckTexts(os.DirFS("app/operate"))...), uitest.UsedTexts(os.DirFS("app"), os.DirFS("../../shelf/ui/assets"))...) {
		t.Error(wrong)
	}
}

// What the script routes, the server answers; another address is not found.
func TestAddressesOfPages(t *testing.T) {
	script, err := os.ReadFile("app/app.js")
	if err != nil {
		t.Fatal(err)
	}
	var inScript []string
	for _, m := range regexp.MustCompile(`(?m)^  \['(/[^']*)',`).FindAllStringSubmatch(string(script), -1) {
		inScript = append(inScript, m[1])
	}
	slices.Sort(inScript)
	if want := slices.Sorted(slices.Values(routes)); !slices.Equal(inScript, want) {
		t.Errorf("app.js has pages at\n%v, pages.go at\n%v", inScript, want)
	}
	pages, err := New()
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	Register(e, pages)
	for path, status := range map[string]int{"/": 200, "/clusters/3": 200, "/devices?q=lobby": 200, "/clusters": 404, "/nothing": 404, pages.Folder() + "app/app.js": 200} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != status {
			t.Errorf("GET %s: %d, want %d", path, w.Code, status)
		}
	}
}

// A first view, compressed and without the answers of the API, stays small enough
// for a phone in a cellar. Logging in loads what home needs, while one types.
func TestBytesOfFirstViews(t *testing.T) {
	pages, err := New()
	if err != nil {
		t.Fatal(err)
	}
	always := []string{"app/app.js", "ui/i18n/de.js", "app/i18n/de.js"}
	for page, limit := range map[string]int{
		"login": 50, "claim": 51, "home": 47, "cluster": 56, "device": 58, "shadepage": 59, "devices": 55,
		"buses": 55, "bus": 60, "calibrate": 60, "report": 60, "more": 60, "help": 60, "ledger": 60,
		"commission": 60, "users": 60, "keys": 60, "account": 60, "audit": 60, "rules": 60, "settings": 60, "backup": 60, "migrate": 60, "certificate": 60, "diagnostics": 60,
	} {
		got, err := pages.Weight(append(always, "app/"+page+".js")...)
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d bytes", page, got)
		if got > limit<<10 {
			t.Errorf("%s: %d bytes, at most %d kB", page, got, limit)
		}
	}
}

func TestPagesHoldNoAddressOfElsewhere(t *testing.T) {
	files, err := os.ReadDir("app")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		data, err := os.ReadFile("app/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"http://", "https://", `style="`, "innerHTML", "eval("} {
			if strings.Contains(string(data), bad) {
				t.Errorf("%s has %s in it", f.Name(), bad)
			}
		}
	}
}
