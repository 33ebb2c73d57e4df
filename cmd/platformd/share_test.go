package main

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
)

// Whoever opens too many event streams loses the oldest of their own.
func TestEventStreamsAreShared(t *testing.T) {
	var d *daemon
	h := newHouse(t, peertest.Database{DataDir: t.TempDir()}, "", func(made *daemon) { d = made })
	e, g := d.hall()
	if err := d.pages(e, g); err != nil {
		t.Fatal(err)
	}
	pages := httptest.NewServer(e)
	t.Cleanup(pages.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // streams end by themselves for room only
	defer cancel()
	ada := h.newPerson("ada", platform.RoleUser)
	open := func() *bufio.Scanner {
		r, err := http.NewRequestWithContext(ctx, "GET", pages.URL+"/api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", strings.TrimPrefix(ada.bearer, "Authorization: "))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if res.StatusCode != 200 {
			t.Fatalf("stream: %s", res.Status)
		}
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "event: sites") {
		}
		return lines
	}
	first := open()
	for range 16 {
		open()
	}
	displaced := false
	for first.Scan() {
		displaced = displaced || first.Text() == "event: displaced"
	}
	if !displaced {
		t.Error("the oldest stream ended without a word")
	}
}
