//go:build peers

package main

import (
	"net/http"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

// A page whose stream had to make room says so, does not push the others out in its turn,
// and goes on when somebody asks it to.
func TestPageWhoseStreamMadeRoom(t *testing.T) {
	t.Parallel()
	h := newHouse(t, walkSite)
	tab := uitest.Open(t).Tab(t, uitest.Look{Width: 1440, Height: 900})
	logIn(h, tab, "admin")
	tab.WaitText("Live")
	token := h.enter("admin")
	open := func() *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := h.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if res.StatusCode != http.StatusOK {
			t.Fatal(res.Status)
		}
		return res
	}
	for range 16 {
		open()
	}
	tab.WaitText("Go on here")
	tab.Wait(`document.querySelector('.live').innerText === "Paused"`)
	tab.Wait(`[...document.querySelectorAll('.banner button')].at(-1).click() || true`)
	tab.Wait(`document.querySelector('.live').innerText === "Live" && !document.querySelector('.banner')`)
}
