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
	"/", "/login", "/claim",
	"/clusters/:id", "/devices", "/devices/:id", "/devices/:id/outputs", "/shades/:id",
	"/plan", "/rules", "/more/settings", "/buses", "/buses/:name", "/add/bus", "/commission/shade/:id", "/more", "/more/report", "/more/ladder", "/more/help", "/more/history", "/more/ledger/:id",
	"/commission/:bus", "/more/users", "/more/keys", "/more/account", "/more/audit", "/more/backup", "/more/network", "/more/migrate", "/more/certificate", "/more/diagnostics",
}

// New gathers the pages.
func New() (*ui.Pages, error) {
	files, err := fs.Sub(app, "app")
	if err != nil {
		return nil, fmt.Errorf("gather pages: %w", err)
	}
	return ui.New(ui.Options{App: files, Title: "Controller", Routes: routes})
}
