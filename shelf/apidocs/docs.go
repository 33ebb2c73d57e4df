// Package apidocs serves the description of an interface, as OpenAPI and as a page for people.
package apidocs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/web"
)

// What /docs is made of. Swagger UI is that of github.com/swaggo/files, of which
// two files of twenty are needed; they are kept compressed, as they are sent.
//
//go:generate sh swaggerui/update.sh
var (
	//go:embed docs.html
	docsPage string
	//go:embed docs.js
	docsScript []byte
	//go:embed docs.css
	docsStyle []byte
	//go:embed swaggerui/swagger-ui-bundle.js.gz
	swaggerScript []byte
	//go:embed swaggerui/swagger-ui.css.gz
	swaggerStyle []byte
)

// docsPolicy lets the page load what this door serves and nothing else. Swagger UI
// sets styles by itself and draws its icons as data.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Interface is one of several that a page tells of.
type Interface struct {
	Name        string
	Query       string // names it in the page's address, ?api=…; empty: the page's own
	Description string // path of its OpenAPI document
}

// Docs is a page and the document that it shows at first.
type Docs struct {
	Title    string
	Document []byte // OpenAPI, served at /openapi.json
	// Interfaces to choose from; none: there is the document alone.
	Interfaces []Interface
}

// Register serves them below /docs and at /openapi.json, for everybody: they tell nothing
// about a building. get registers a path for GET and HEAD.
func (d Docs) Register(get func(path string, h echo.HandlerFunc)) {
	get("/openapi.json", file("application/json; charset=utf-8", d.Document, false))
	get("/docs", file("text/html; charset=utf-8", d.page(), false))
	get("/docs/docs.js", file("text/javascript; charset=utf-8", docsScript, false))
	get("/docs/docs.css", file("text/css; charset=utf-8", docsStyle, false))
	get("/docs/swagger-ui-bundle.js", file("text/javascript; charset=utf-8", swaggerScript, true))
	get("/docs/swagger-ui.css", file("text/css; charset=utf-8", swaggerStyle, true))
	get("/docs/", func(c echo.Context) error { return c.Redirect(http.StatusMovedPermanently, "../docs") })
}

// page fills in names, nothing more. A template of text/template would keep every method
// of every type in the program, an eighth of its size: the linker cannot know what it calls.
func (d Docs) page() []byte {
	var choices strings.Builder
	for _, i := range d.Interfaces {
		address := "/docs"
		if i.Query != "" {
			address += "?api=" + url.QueryEscape(i.Query)
		}
		fmt.Fprintf(&choices, ` <a href="%s" data-api="%s" data-description="%s">%s</a>`, html.EscapeString(address),
			html.EscapeString(i.Query), html.EscapeString(i.Description), html.EscapeString(i.Name))
	}
	nav := ""
	if choices.Len() > 0 {
		nav = `<nav aria-label="Interfaces">` + choices.String() + "</nav>"
	}
	return []byte(strings.NewReplacer("{{Title}}", html.EscapeString(d.Title), "{{Interfaces}}", nav).Replace(docsPage))
}

// file serves one embedded file. The browser keeps it and asks whether it is
// still the same.
//
// What is kept compressed is unpacked once, if anybody asks for it who cannot: all
// answers share the bytes, so that those which nobody takes cost nothing.
func file(contentType string, data []byte, zipped bool) echo.HandlerFunc {
	named := sync.OnceValue(func() string { // when first asked: until then its bytes stay on the disk
		sum := sha256.Sum256(data)
		return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	})
	plain := sync.OnceValues(func() ([]byte, error) { return unzip(data) })
	return func(c echo.Context) error {
		w, req, tag := c.Response(), c.Request(), named()
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Security-Policy", docsPolicy)
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", tag)
		if web.SameTag(req, tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		body := data
		if zipped {
			h.Set("Vary", "Accept-Encoding")
			if strings.Contains(req.Header.Get("Accept-Encoding"), "gzip") {
				h.Set("Content-Encoding", "gzip")
			} else {
				var err error
				if body, err = plain(); err != nil {
					return err
				}
			}
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(http.StatusOK)
		if req.Method == http.MethodHead {
			return nil
		}
		_, err := w.Write(body)
		return err
	}
}

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
