package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Whatever is read answers with what its description says, files as well.
func TestAnswersAreOfTheKindThatIsDescribed(t *testing.T) {
	t.Parallel()
	virtually(t, verbsSite, func(t *testing.T, h *house) { answersAsDescribed(t, h) })
}

func answersAsDescribed(t *testing.T, h *house) {
	admin := h.enter("admin")
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]any `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	_, text, _ := h.send(http.MethodGet, "/api/v1/openapi.json", "", "")
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	files := 0
	for path, ops := range doc.Paths {
		get, ok := ops["get"]
		told := get.Responses["200"].Content
		if !ok || told["text/event-stream"] != nil {
			continue
		}
		if len(told) == 0 {
			t.Errorf("%s: nothing is said of its answer", path)
			continue
		}
		concrete := strings.NewReplacer("{id}", "1", "{bus}", "relays", "{user}", "admin", "{key}", "none").Replace(path)
		for _, query := range []string{"", "?format=csv"} {
			status, _, header := h.send(http.MethodGet, concrete+query, admin, "")
			kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
			switch {
			case status != http.StatusOK:
			case told[kind] == nil:
				t.Errorf("%s answers %q, which is not described: %v", path, kind, told)
			case kind != "application/json" && query == "":
				files++
			}
		}
	}
	if files < 4 {
		t.Errorf("only %d files were read", files)
	}
}
