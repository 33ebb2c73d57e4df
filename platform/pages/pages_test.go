package pages

import (
	"os"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

func TestTextsAreTheSameInAllLanguages(t *testing.T) {
	wrong := uitest.UsedTexts(os.DirFS("app"), os.DirFS("../../shelf/ui/assets"))
	for _, folder := range []string{"app", "app/kit", "app/talk"} {
		wrong = append(wrong, uitest.CheckTexts(os.DirFS(folder))...)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// What the script routes, the server answers; another address is not found. A first view stays small enough for a phone in a cellar.
func TestPages(t *testing.T) {
	pages, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range uitest.CheckRoutes(os.DirFS("app"), routes, pages, map[string]int{
		"/": 200, "/sites/house-1": 200, "/keys?x=1": 200, "/rooms/lobby": 200, "/rollout": 200, "/panel/lobby/talk": 200, "/site": 404, "/nothing": 404, pages.Folder() + "app/app.js": 200,
	}) {
		t.Error(wrong)
	}
	for _, wrong := range uitest.CheckWeights(pages, map[string]int{
		"login": 48, "chat": 50, "sites": 45, "site": 48, "enrol": 48, "keys": 48, "key": 48, "usage": 45, "connect": 45, "more": 45, "rooms": 50, "tablet": 48, "panel": 50, "kit/rollout": 52, "talk/talk": 55,
	}) {
		t.Error(wrong)
	}
	for _, folder := range []string{"app", "app/kit", "app/talk"} {
		for _, wrong := range uitest.CheckSources(os.DirFS(folder)) {
			t.Error(wrong)
		}
	}
}
