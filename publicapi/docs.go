package publicapi

import (
	_ "embed"

	"svc.internal/controller/shelf/apidocs"
)

//go:embed openapi.json
var openAPI []byte

// docs describe this door, and show what /api/v1 tells of itself.
var docs = apidocs.Docs{
	Title: "Controller API", Document: openAPI,
	Interfaces: []apidocs.Interface{
		{Name: "Public API (/svc/api)", Description: "/openapi.json"},
		{Name: "Internal API (/api/v1)", Query: "internal", Description: "/api/v1/openapi.json"},
	},
}
