package pages

import (
	"os"
	"slices"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

func TestTextsAreTheSameInAllLanguages(t *testing.T) {
	for _, wrong := range slices.Concat(uitest.CheckTexts(os.DirFS("app")), uitest.CheckTexts(os.DirFS("app/operate")), uitest.CheckTexts(os.DirFS("app/past")), uitest.CheckTexts(os.DirFS("app/rules")),
		uitest.CheckTexts(os.DirFS("app/now")), uitest.CheckTexts(os.DirFS("app/plan")),
		uitest.UsedTexts(os.DirFS("app"), os.DirFS("../../shelf/ui/assets"))) {
		t.Error(wrong)
	}
}

func TestVendoredFilesAreThoseThatVersionsNames(t *testing.T) {
	for _, wrong := range uitest.CheckVendored(os.DirFS("app/past/vendor")) {
		t.Error(wrong)
	}
}

// What the script routes, the server answers; another address is not found. A first view stays small enough for a phone in a
// cellar; logging in loads what home needs, while one types.
func TestPages(t *testing.T) {
	pages, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range uitest.CheckRoutes(os.DirFS("app"), routes, pages, map[string]int{
		"/": 200, "/clusters/3": 200, "/devices?q=lobby": 200, "/clusters": 404, "/nothing": 404, pages.Folder() + "app/app.js": 200,
	}) {
		t.Error(wrong)
	}
	for _, wrong := range uitest.CheckWeights(pages, map[string]int{
		"login": 50, "claim": 51, "home": 47, "cluster": 56, "device": 58, "shadepage": 60, "devices": 55,
		"buses": 55, "bus": 60, "calibrate": 60, "report": 60, "more": 60, "help": 60, "ledger": 60,
		"commission": 62, "addbus": 60, "outputs": 60, "users": 60, "keys": 60, "account": 60, "audit": 60, "rules/rules": 62, "ladder": 60, "settings": 60, "backup": 60, "migrate": 60, "certificate": 60, "diagnostics": 60, "past/history": 85, "plan/plan": 65,
	}) {
		t.Error(wrong)
	}
	for _, wrong := range slices.Concat(uitest.CheckSources(os.DirFS("app")), uitest.CheckSources(os.DirFS("app/past")), uitest.CheckSources(os.DirFS("app/rules")),
		uitest.CheckSources(os.DirFS("app/now")), uitest.CheckSources(os.DirFS("app/plan"))) {
		t.Error(wrong)
	}
}
