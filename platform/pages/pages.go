package pages

import (
	"embed"
	"fmt"
	"io/fs"

	"svc.internal/controller/shelf/ui"
)

//go:embed app
var app embed.FS

// routes are the addresses of pages, as in app/app.js.
var routes = []string{
	"/", "/login", "/chat", "/sites", "/sites/:id", "/enrol", "/keys", "/keys/:id", "/usage", "/connect", "/more",
	"/rooms", "/rooms/:device", "/rollout", "/panel/:device", "/panel/:device/talk",
}

// firstView is what every page needs before anything can be seen.
var firstView = []string{
	"app/app.js", "app/session.js",
	"ui/i18n.js", "ui/router.js", "ui/shell.js", "ui/icons.js", "ui/api.js", "ui/stream.js",
}

// New gathers the pages.
func New() (*ui.Pages, error) {
	files, err := fs.Sub(app, "app")
	if err != nil {
		return nil, fmt.Errorf("gather pages: %w", err)
	}
	return ui.New(ui.Options{App: files, Title: "Platform", Preload: firstView, Routes: routes})
}
