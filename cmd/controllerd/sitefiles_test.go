package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
)

// sendIf makes a request under a condition.
func (h *house) sendIf(method, path, token, tag, body string) (int, []byte, http.Header) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	if tag != "" {
		req.Header.Set("If-Match", tag)
	}
	return h.answer(h.client, req, token)
}

// TestSiteFileOverTheAPI downloads the site as the command exports it, edits it, looks at what that would change and takes
// it over; unless somebody was faster.
func TestSiteFileOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newBuilding(t, everydaySite)
	h.serve()
	admin, file := h.enter("admin"), "/api/v1/site/file"
	tokens := map[string]string{"admin": admin, "operator": h.enter("operator"), "viewer": h.enter("viewer")}
	status, text, header := h.send(http.MethodGet, file, tokens["viewer"], "")
	if exported := h.desk().must("site", "export"); status != http.StatusOK || string(text) != exported || header.Get("ETag") == "" {
		t.Errorf("%d, ETag %q\n%s\nwant what the command exports:\n%s", status, header.Get("ETag"), text, exported)
	}
	report := func(body []byte) (r api.SiteReport) {
		t.Helper()
		if err := json.Unmarshal(body, &r); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return r
	}
	status, body, seen := h.send(http.MethodPost, file+"/preview?replace=true", admin, string(text))
	if r := report(body); status != http.StatusOK || r.Settings || len(r.Created)+len(r.Changed)+len(r.Retired)+len(r.Returned) != 0 || len(r.Unchanged) != 5 || seen.Get("ETag") != header.Get("ETag") {
		t.Errorf("preview of what is there: %d %s, ETag %s of %s", status, body, seen.Get("ETag"), header.Get("ETag"))
	}

	edited := strings.NewReplacer("name: Lobby", "name: Foyer").Replace(string(text))
	at := strings.Index(edited, "  - id: 3\n")
	edited = edited[:at] + edited[strings.Index(edited, "clusters:"):] // without the meter
	status, body, seen = h.send(http.MethodPost, file+"/preview?replace=true", admin, edited)
	r := report(body)
	if status != http.StatusOK || !r.Preview || len(r.Changed) != 1 || r.Changed[0].ID != 1 || len(r.Retired) != 1 || r.Retired[0].ID != 3 ||
		len(r.Changed[0].Changes) != 1 || r.Changed[0].Changes[0] != (api.SiteChange{Key: "name", Old: "Lobby", New: "Foyer"}) {
		t.Errorf("preview: %d %s", status, body)
	}
	if now := h.desk().must("site", "export"); now != string(text) {
		t.Errorf("a preview changed the site to\n%s", now)
	}

	for _, c := range []struct {
		name, method, path, role, tag, body string
		status                              int
		word                                string
	}{
		{"without a condition", http.MethodPut, file, "admin", "", edited, http.StatusPreconditionRequired, ""},
		{"of an older site", http.MethodPut, file, "admin", `"0000"`, edited, http.StatusPreconditionFailed, "changed it meanwhile"},
		{"by an operator", http.MethodPut, file, "operator", "*", edited, http.StatusForbidden, ""},
		{"a preview by a viewer", http.MethodPost, file + "/preview", "viewer", "", edited, http.StatusForbidden, ""},
		{"no site file", http.MethodPut, file, "admin", "*", "lamps: 3", http.StatusUnprocessableEntity, `"detail":"line 1, column 1`},
		{"a wrong value", http.MethodPut, file, "admin", "*", strings.Replace(edited, "address: 1\n", "address: 400\n", 1), http.StatusUnprocessableEntity, `"pointer":"/nodes/0`},
		{"the ID of another", http.MethodPost, file + "/preview", "admin", "", "nodes:\n  - {id: 3, uuid: 11111111-1111-4111-8111-111111111111, name: Thief}\n", http.StatusUnprocessableEntity, `"pointer":"/nodes/0`},
		{"a strange query", http.MethodPut, file + "?replace=maybe", "admin", "*", edited, http.StatusBadRequest, "want true or false"},
		{"9 MB", http.MethodPut, file, "admin", "*", strings.Repeat("#", 9<<20), http.StatusRequestEntityTooLarge, ""},
	} {
		if status, body, _ := h.sendIf(c.method, c.path, tokens[c.role], c.tag, c.body); status != c.status || !strings.Contains(string(body), c.word) {
			t.Errorf("%s: %d %s, want %d with %q", c.name, status, body, c.status, c.word)
		}
	}

	tag := seen.Get("ETag")
	status, body, _ = h.sendIf(http.MethodPut, file+"?replace=true", admin, tag, edited)
	if r := report(body); status != http.StatusOK || r.Preview || len(r.Changed) != 1 || len(r.Retired) != 1 {
		t.Errorf("import: %d %s", status, body)
	}
	if now := h.desk().must("site", "export"); !strings.Contains(now, "name: Foyer") || !strings.Contains(now, "name: Meter") || strings.Contains(now, "address: \"9\"") {
		t.Errorf("the site is\n%s", now) // the meter is among what is retired
	}
	if status, _, _ := h.sendIf(http.MethodPut, file, admin, tag, string(text)); status != http.StatusPreconditionFailed {
		t.Errorf("with the tag of before: %d, want 412", status)
	}
	if _, body, _ := h.send(http.MethodGet, "/api/v1/audit", admin, ""); !strings.Contains(string(body), `"what":"site.import"`) {
		t.Errorf("audit log: %s", body)
	}
}
