// Package docs is the description of the platform's own interface.
package docs

import (
	_ "embed"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/apidocs"
)

// OpenAPI is the document, as /openapi.json answers it.
//
//go:embed openapi.json
var OpenAPI []byte

// Register adds /docs and /openapi.json, for everybody.
func Register(e *echo.Echo) {
	apidocs.Docs{Title: "Platform API", Document: OpenAPI}.Register(func(path string, h echo.HandlerFunc) {
		e.GET(path, h)
		e.HEAD(path, h)
	})
}
