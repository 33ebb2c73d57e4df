package publicapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// What /docs is made of. Swagger UI is that of github.com/swaggo/files, of which
// two files of twenty are needed; they are kept compressed, as they are sent.
//
//go:generate sh swaggerui/update.sh
var (
	//go:embed openapi.json
	openAPI []byte
	//go:embed docs.html
	docsPage []byte
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

// registerDocs serves the description of the interface. It needs no token: it
// tells nothing about the building.
func (a *API) registerDocs(e *echo.Echo) {
	a.openGet(e, "/openapi.json", file("application/json; charset=utf-8", openAPI, false))
	a.openGet(e, "/docs", file("text/html; charset=utf-8", docsPage, false))
	a.openGet(e, "/docs/docs.js", file("text/javascript; charset=utf-8", docsScript, false))
	a.openGet(e, "/docs/docs.css", file("text/css; charset=utf-8", docsStyle, false))
	a.openGet(e, "/docs/swagger-ui-bundle.js", file("text/javascript; charset=utf-8", swaggerScript, true))
	a.openGet(e, "/docs/swagger-ui.css", file("text/css; charset=utf-8", swaggerStyle, true))
	a.openGet(e, "/docs/", func(c echo.Context) error { return c.Redirect(http.StatusMovedPermanently, "../docs") })
}

// file serves one embedded file. The browser keeps it and asks whether it is
// still the same.
//
// What is kept compressed is unpacked once, if anybody asks for it who cannot: all
// answers share the bytes, so that those which nobody takes cost nothing.
func file(contentType string, data []byte, zipped bool) echo.HandlerFunc {
	r := renderer{b: data}
	tag := r.etag(false)
	plain := sync.OnceValues(func() ([]byte, error) { return unzip(data) })
	return func(c echo.Context) error {
		w, req := c.Response(), c.Request()
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Security-Policy", docsPolicy)
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", tag)
		if match := req.Header["If-None-Match"]; len(match) > 0 && matches(match, tag) {
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
