package apidocs

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	swaggerFiles "github.com/swaggo/files/v2"
)

// hall serves docs alone.
func hall(d Docs) *echo.Echo {
	e := echo.New()
	d.Register(func(path string, h echo.HandlerFunc) { e.GET(path, h); e.HEAD(path, h) })
	return e
}

// send asks e; header is "Name: value" or empty.
func send(e *echo.Echo, method, path, header string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

var both = Docs{Title: "Controller <API>", Document: []byte(`{"openapi":"3.0.3","description":"` + strings.Repeat("x", 100) + `"}`),
	Interfaces: []Interface{{Name: "Public", Description: "/openapi.json"}, {Name: "Internal", Query: "internal", Description: "/inside.json"}}}

func TestDocsNeedNothingFromOutside(t *testing.T) {
	e := hall(both)
	page := send(e, "GET", "/docs", "")
	body := page.Body.String()
	if page.Code != 200 || !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("got %d %s", page.Code, page.Header().Get("Content-Type"))
	}
	if !strings.Contains(body, `name="viewport"`) || !strings.Contains(body, "<title>Controller &lt;API&gt;</title>") {
		t.Error("no title or viewport")
	}
	if !strings.Contains(body, `href="/docs?api=internal" data-api="internal" data-description="/inside.json"`) {
		t.Errorf("the other interface cannot be chosen: %s", body)
	}
	if alone := send(hall(Docs{Title: "One"}), "GET", "/docs", "").Body.String(); strings.Contains(alone, "<nav") {
		t.Errorf("one interface alone is to be chosen from: %s", alone)
	}
	policy := page.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "http") {
		t.Errorf("policy is %q", policy)
	}
	links := regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(body, -1)
	if len(links) < 4 {
		t.Errorf("found %d files in the page, want at least 4", len(links))
	}
	for _, m := range links {
		got := send(e, "GET", m[1], "")
		if got.Code != 200 || got.Body.Len() < 100 {
			t.Errorf("%s: got %d, %d bytes", m[1], got.Code, got.Body.Len())
		}
		if again := send(e, "GET", m[1], "If-None-Match: "+got.Header().Get("Etag")); again.Code != 304 {
			t.Errorf("%s again: got %d, want 304", m[1], again.Code)
		}
		if head := send(e, "HEAD", m[1], ""); head.Code != 200 || head.Body.Len() != 0 {
			t.Errorf("HEAD %s: got %d and %d bytes", m[1], head.Code, head.Body.Len())
		}
	}
	own := docsPage + string(docsScript) + string(docsStyle)
	if outside := regexp.MustCompile(`https?://[^'" ]+`).FindAllString(own, -1); len(outside) != 1 || outside[0] != "http://www.w3.org/2000/svg" {
		t.Errorf("addresses outside: %v", outside)
	}
}

func TestDocsSwaggerUIIsThatOfTheModule(t *testing.T) {
	for name, zipped := range map[string][]byte{"swagger-ui-bundle.js": swaggerScript, "swagger-ui.css": swaggerStyle} {
		want, err := fs.ReadFile(swaggerFiles.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unzip(zipped)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not that of swaggo/files (run go generate ./shelf/apidocs): %v", name, err)
		}
		sent := send(hall(both), "GET", "/docs/"+name, "Accept-Encoding: gzip, br")
		if sent.Header().Get("Content-Encoding") != "gzip" || !strings.HasPrefix(sent.Body.String(), "\x1f\x8b") {
			t.Errorf("%s is not sent compressed", name)
		}
	}
}

// Whoever cannot take compressed files is sent the same bytes as everybody else, and
// HEAD costs nothing.
func TestFilesAreNotUnpackedForEveryRequest(t *testing.T) {
	e := hall(both)
	ask := func(method string) {
		w := unread{http.Header{}}
		r, _ := http.NewRequest(method, "/docs/swagger-ui-bundle.js", nil)
		e.ServeHTTP(w, r)
	}
	ask("GET")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		ask("GET")
		ask("HEAD")
	}
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 4<<20 {
		t.Errorf("200 requests took %d MB", made>>20)
	}
}

// unread takes answers and keeps nothing.
type unread struct{ header http.Header }

func (n unread) Header() http.Header         { return n.header }
func (n unread) Write(b []byte) (int, error) { return len(b), nil }
func (n unread) WriteHeader(int)             {}
