package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

//go:embed assets
var shared embed.FS

// Policy is the Content-Security-Policy of every page: what the program itself
// serves, and nothing else.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"

// Options of a program's pages.
type Options struct {
	App   fs.FS  // its own files, app.js among them; nil: none
	Title string // of the shell until the first page has its own
	// Routes are the addresses of pages, as in app/app.js. Each answers with the same shell, which draws the page that the
	// address names; another address is not found.
	Routes []string
}

// Pages serves a program's pages from memory. They never change while it runs.
type Pages struct {
	folder string // "/a/<hash>/"
	files  map[string]*file
	shell  *file
	routes []string
	packed func() []string // the modules that are sent as one
}

// file is one answer, made when it is first asked for: a start must not wait for pages.
type file struct {
	kind   string // Content-Type
	source func() []byte
	read   func() []byte

	zip    sync.Once
	plain  []byte
	zipped []byte // nil: smaller as it is
	tag    string
}

// New gathers the files of the shelf (as ui/…) and of the program (as app/…).
func New(o Options) (*Pages, error) {
	p := &Pages{files: map[string]*file{}, routes: o.Routes}
	p.packed = sync.OnceValue(p.together)
	assets, err := fs.Sub(shared, "assets")
	if err != nil {
		return nil, fmt.Errorf("gather pages: %w", err)
	}
	h := sha256.New() // of all names and contents: another build, another folder
	if err := p.gather(h, "ui", assets); err != nil {
		return nil, err
	}
	if o.App != nil {
		if err := p.gather(h, "app", o.App); err != nil {
			return nil, err
		}
	}
	p.folder = "/a/" + hex.EncodeToString(h.Sum(nil)[:6]) + "/"
	p.shell = p.makeShell(o)
	return p, nil
}

func (p *Pages) gather(h io.Writer, under string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("gather pages: %w", err)
		}
		kind := kinds[path.Ext(name)]
		if d.IsDir() || kind == "" {
			return nil // licences and versions beside the libraries stay in the program
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("gather pages: %w", err)
		}
		fmt.Fprintf(h, "%s/%s %d\n", under, name, len(data))
		_, _ = h.Write(data) // a hash has no errors
		f, module := &file{kind: kind}, under+"/"+name
		f.source = func() []byte {
			data, _ := fs.ReadFile(files, name) // it was read before, from the program itself
			if path.Ext(name) == ".js" {
				data = unsent.ReplaceAll(data, nil)
			}
			return data
		}
		f.read = f.source
		if module == entry {
			f.read = p.pack
		} else if path.Ext(name) == ".js" {
			f.read = func() []byte { return p.alone(module) }
		}
		p.files[module] = f
		return nil
	})
}

// unsent are comments with nothing else on their lines, and what lines are indented by.
// They are for who reads the source, and every phone in the cellar would load them.
var unsent = regexp.MustCompile(`(?m)^[ \t]*(?:// .*|/\*\*(?:[^*]|\*+[^*/])*\*+/)\n|^[ \t]+`)

// kinds of files that pages consist of.
var kinds = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
}

// zippers compress one file at a time: the tables of each take most of a megabyte.
var zippers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic(err) // there is no such level
	}
	return z
}}

// prepare makes the answer.
func (f *file) prepare() {
	f.plain = f.read()
	sum := sha256.Sum256(f.plain)
	f.tag = `"` + hex.EncodeToString(sum[:8]) + `"`
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	_, _ = z.Write(f.plain) // memory has no errors
	_ = z.Close()
	if b.Len() < len(f.plain) {
		f.zipped = b.Bytes()
	}
}

// Folder is where the modules of this build lie, such as "/a/0123456789ab/".
func (p *Pages) Folder() string { return p.folder }

// makeShell writes the page that every address of the program answers with.
func (p *Pages) makeShell(o Options) *file {
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en" data-build="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f6f5f2" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#121316" media="(prefers-color-scheme: dark)">
<title>%s</title>
<link rel="icon" href="%sui/icon.svg">
<link rel="stylesheet" href="%[3]sui/style.css">
`, path.Base(p.folder), html.EscapeString(o.Title), p.folder)
	fmt.Fprintf(&b, `<script type="module" src="%s%s"></script>
</head>
<body>
<div id="app"></div>
<noscript><p class="notice">These pages need JavaScript, which this browser has switched off.</p></noscript>
</body>
</html>
`, p.folder, entry)
	return &file{kind: "text/html; charset=utf-8", read: func() []byte { return []byte(b.String()) }}
}

// Register adds the pages to e. A browser that asks for an address that nobody has gets the page that says so.
func (p *Pages) Register(e *echo.Echo) {
	assets, shell := echo.WrapHandler(p.Assets()), echo.WrapHandler(p.Shell())
	e.GET("/a/*", assets)
	e.HEAD("/a/*", assets)
	for _, path := range p.routes {
		e.GET(path, shell)
		e.HEAD(path, shell)
	}
	// A route of its own for what is not found would also take the addresses that want another method.
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			err, r := next(c), c.Request()
			if !errors.Is(err, echo.ErrNotFound) || r.Method != http.MethodGet && r.Method != http.MethodHead || !WantsPage(r) {
				return err
			}
			p.shellHead(c.Response())
			p.shell.send(c.Response(), r, http.StatusNotFound)
			return nil
		}
	})
}

// WantsPage reports whether it is a person's browser that asks, which would show JSON as it is.
func WantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// Shell serves the page itself, which the browser asks about each time.
func (p *Pages) Shell() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.shellHead(w)
		p.shell.send(w, r, http.StatusOK)
	})
}

func (p *Pages) shellHead(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
}

// Assets serves what lies below /a/. A file of another build is not found, so that
// nobody mixes two.
func (p *Pages) Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.Path, p.folder)
		f := p.files[name]
		if !ok || f == nil || name != entry && slices.Contains(p.packed(), name) { // of what is sent as one there is one
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "no such file in this version of the pages", http.StatusNotFound)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		f.send(w, r, http.StatusOK)
	})
}

// send answers with a file, unless the browser has it.
func (f *file) send(w http.ResponseWriter, r *http.Request, status int) {
	f.zip.Do(f.prepare)
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Etag", f.tag)
	if status == http.StatusOK && r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	_, _ = io.Copy(w, bytes.NewReader(body)) // whoever asked may be gone; then there is nobody to tell
}

// Weight is how many bytes a browser loads for a page whose modules are these and
// all that they import, compressed, with shell and style sheet.
func (p *Pages) Weight(modules ...string) (int, error) {
	seen := map[string]bool{}
	total := p.shell.size() + p.files["ui/style.css"].size()
	for len(modules) > 0 {
		name := modules[0]
		modules = modules[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		f := p.files[name]
		if f == nil {
			return 0, fmt.Errorf("weigh pages: %s is imported, but there is no such file", name)
		}
		if name == entry || !slices.Contains(p.packed(), name) {
			total += f.size()
		}
		modules = append(modules, needs(name, f.source())...)
	}
	return total, nil
}

func (f *file) size() int {
	f.zip.Do(f.prepare)
	if f.zipped != nil {
		return len(f.zipped)
	}
	return len(f.plain)
}
