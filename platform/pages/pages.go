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

// New gathers the pages.
func New() (*ui.Pages, error) {
	files, err := fs.Sub(app, "app")
	if err != nil {
		return nil, fmt.Errorf("gather pages: %w", err)
	}
	return ui.New(ui.Options{App: files, Title: "Platform", Routes: routes})
}
