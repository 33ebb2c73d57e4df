package publicapi

import (
	"strings"
	"testing"
)

func TestDocsAreServedWithoutToken(t *testing.T) {
	h := newHouse(t, lobby().snapshot())
	page := h.send("GET", "/docs", "")
	if page.status != 200 || !strings.Contains(page.body, "<title>Controller API</title>") || !strings.Contains(page.body, `data-description="/api/v1/openapi.json"`) {
		t.Errorf("got %d %s", page.status, page.body)
	}
	if got := h.send("GET", "/openapi.json", ""); got.status != 200 || got.body != string(openAPI) {
		t.Errorf("the description: %d, %d bytes", got.status, len(got.body))
	}
}
