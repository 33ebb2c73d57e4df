package api_test

import (
	"testing"
	"time"

	"svc.internal/controller/shelf/account"
)

func TestAViewerCannotTakeAllStreams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.as(account.RoleViewer)
	picture := func(e event) bool { return e.name == "picture" }
	first := viewer.listen(t.Context(), "")
	next(t, first, "the first picture", picture)
	for range 63 {
		next(t, viewer.listen(t.Context(), ""), "a picture", picture)
	}
	next(t, h.as(account.RoleAdmin).listen(t.Context(), ""), "the administrator's picture", picture)
	next(t, first, "word to the viewer's oldest stream", func(e event) bool { return e.name == "displaced" })
	late := time.After(3 * time.Minute)
	for open := true; open; {
		select {
		case _, open = <-first:
		case <-late:
			t.Fatal("the viewer's oldest stream goes on")
		}
	}
	next(t, viewer.listen(t.Context(), ""), "a picture of the viewer's newest stream", picture)
}
