package publicapi

import (
	"bytes"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	swaggerFiles "github.com/swaggo/files/v2"
)

func TestDocsAreServedWithoutTokenAndNeedNothingFromOutside(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	page := h.send("GET", "/docs", "")
	if page.status != 200 || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Fatalf("got %d %s", page.status, page.header.Get("Content-Type"))
	}
	if !strings.Contains(page.body, `name="viewport"`) || !strings.Contains(page.body, "<title>Controller API</title>") {
		t.Error("no title or viewport")
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "http") {
		t.Errorf("policy is %q", policy)
	}
	links := regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(page.body, -1)
	if len(links) < 4 {
		t.Errorf("found %d files in the page, want at least 4", len(links))
	}
	for _, m := range links {
		got := h.send("GET", m[1], "")
		if got.status != 200 || len(got.body) < 100 {
			t.Errorf("%s: got %d, %d bytes", m[1], got.status, len(got.body))
		}
		if again := h.send("GET", m[1], "", "If-None-Match: "+got.header.Get("Etag")); again.status != 304 {
			t.Errorf("%s again: got %d, want 304", m[1], again.status)
		}
		if head := h.send("HEAD", m[1], ""); head.status != 200 || head.body != "" {
			t.Errorf("HEAD %s: got %d and %d bytes", m[1], head.status, len(head.body))
		}
	}
	own := string(docsPage) + string(docsScript) + string(docsStyle)
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
			t.Errorf("%s is not that of swaggo/files (run go generate ./publicapi): %v", name, err)
		}
		h := newHouse(t, lobby().snapshot())
		sent := h.send("GET", "/docs/"+name, "", "Accept-Encoding: gzip, br")
		if sent.header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(sent.body, "\x1f\x8b") {
			t.Errorf("%s is not sent compressed", name)
		}
	}
}
