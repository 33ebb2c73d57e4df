package uitest

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/shelf/ui"
)

// scriptRoutes finds the addresses that app.js has pages for.
var scriptRoutes = regexp.MustCompile(`(?m)^  \['(/[^']*)',`)

// CheckRoutes compares the addresses that the script of files routes with those that the server answers, and asks the server
// for some of them: want gives the status of each. It gives what is wrong.
func CheckRoutes(files fs.FS, routes []string, pages *ui.Pages, want map[string]int) (wrong []string) {
	script, err := fs.ReadFile(files, "app.js")
	if err != nil {
		return []string{err.Error()}
	}
	var inScript []string
	for _, m := range scriptRoutes.FindAllStringSubmatch(string(script), -1) {
		inScript = append(inScript, m[1])
	}
	slices.Sort(inScript)
	if sorted := slices.Sorted(slices.Values(routes)); !slices.Equal(inScript, sorted) {
		wrong = append(wrong, fmt.Sprintf("app.js has pages at\n%v, pages.go at\n%v", inScript, sorted))
	}
	e := echo.New()
	pages.Register(e)
	for address, status := range want {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
		if w.Code != status {
			wrong = append(wrong, fmt.Sprintf("GET %s: %d, want %d", address, w.Code, status))
		}
	}
	return wrong
}

// CheckWeights compares what a first view of each page of app/ loads, compressed, with a limit in KiB. It gives what is wrong.
func CheckWeights(pages *ui.Pages, limits map[string]int) (wrong []string) {
	for page, limit := range limits {
		got, err := pages.Weight("app/app.js", "ui/i18n/de.js", "app/i18n/de.js", "app/"+page+".js")
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		if got > limit<<10 {
			wrong = append(wrong, fmt.Sprintf("%s: %d bytes, at most %d KiB", page, got, limit))
		}
	}
	return wrong
}

// CheckSources finds in the scripts of a folder what pages must not hold: addresses of elsewhere, and what the policy forbids.
// It gives what is wrong.
func CheckSources(files fs.FS) (wrong []string) {
	names, err := fs.ReadDir(files, ".")
	if err != nil {
		return []string{err.Error()}
	}
	for _, f := range names {
		if f.IsDir() {
			continue
		}
		data, err := fs.ReadFile(files, path.Clean(f.Name()))
		if err != nil {
			return append(wrong, err.Error())
		}
		for _, bad := range []string{"http://", "https://", `style="`, "innerHTML", "eval("} {
			if strings.Contains(string(data), bad) {
				wrong = append(wrong, fmt.Sprintf("%s has %s in it", f.Name(), bad))
			}
		}
	}
	return wrong
}
