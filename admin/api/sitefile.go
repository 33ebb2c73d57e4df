package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/web"
)

// SiteFiles is the site as a whole, as the file that installers edit.
type SiteFiles interface {
	// Export writes it, with names beside the IDs, and returns what it wrote.
	Export(ctx context.Context, to io.Writer) (appliance.Site, error)
	// Import takes one over, all of it or nothing. What is wrong with the file comes back as SiteRefused.
	Import(ctx context.Context, file []byte, how SiteImport) (SiteReport, error)
}

// SiteImport is how a site file is taken over.
type SiteImport struct {
	Replace bool                            // retire what the file does not mention
	Preview bool                            // only tell what would be done
	Check   func(have appliance.Site) error // refuses by the site that there is; its error is returned
	By      string
}

// SiteRefused is everything that is wrong with a site file.
type SiteRefused []FieldError

func (r SiteRefused) Error() string { return "the site file is refused, and nothing was changed" }

// SiteReport is what an import did, or would do. Lists are never null.
type SiteReport struct {
	Preview   bool       `json:"preview"`
	Settings  bool       `json:"settings" doc:"The site's name, its settings or the order of its buses changed."`
	Created   []SiteItem `json:"created"`
	Returned  []SiteItem `json:"returned" doc:"Retired before, back under the ID they had."`
	Changed   []SiteItem `json:"changed"`
	Unchanged []SiteItem `json:"unchanged"`
	Retired   []SiteItem `json:"retired" doc:"Removed; their IDs are never used again."`
}

// SiteItem is one entry of a site.
type SiteItem struct {
	Family  string       `json:"family" enum:"bus,node,shade,cluster,scene,rule"`
	ID      appliance.ID `json:"id,omitempty" doc:"Buses have none."`
	UUID    string       `json:"uuid"`
	Name    string       `json:"name"`
	Changes []SiteChange `json:"changes,omitempty"`
}

// SiteChange is what becomes another in an entry, in the words of a site file.
type SiteChange struct {
	Key string `json:"key"`
	Old string `json:"old"`
	New string `json:"new"`
}

const (
	// siteMost is the largest site file.
	siteMost = 8 << 20
	// siteTime is how long one may take to arrive and to be worked out.
	siteTime = time.Minute
)

// siteFile sends the site as a whole.
func (a *API) siteFile(c echo.Context) error {
	var out bytes.Buffer
	site, err := a.SiteFiles.Export(c.Request().Context(), &out)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("ETag", etagOf(site))
	h.Set("Content-Disposition", `attachment; filename="site-`+time.Now().UTC().Format("20060102-150405")+`.yaml"`)
	h.Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, "application/yaml", out.Bytes())
}

// previewSite tells what the site file in the body would change. The tag that it answers with is the one to import it with.
func (a *API) previewSite(c echo.Context) error {
	var tag string
	report, err := a.takeSite(c, SiteImport{Preview: true, Check: func(have appliance.Site) error {
		tag = etagOf(have)
		return nil
	}})
	if err != nil {
		return err
	}
	return tagged(c, http.StatusOK, tag, report)
}

// importSite takes the site file in the body over.
func (a *API) importSite(c echo.Context) error {
	match, err := ifMatch(c)
	if err != nil {
		return err
	}
	report, err := a.takeSite(c, SiteImport{Check: func(have appliance.Site) error { return match.holds(have) }})
	if err != nil {
		return err
	}
	a.audit(c, "site.import", "site", map[string]int{"created": len(report.Created), "returned": len(report.Returned), "changed": len(report.Changed), "retired": len(report.Retired)})
	return answer(c, http.StatusOK, report)
}

func (a *API) takeSite(c echo.Context, how SiteImport) (SiteReport, error) {
	switch said := c.QueryParam("replace"); said {
	case "", "false":
	case "true":
		how.Replace = true
	default:
		return SiteReport{}, refuse(http.StatusBadRequest, "replace="+said+": want true or false")
	}
	done, err := a.alone(c.Request().Context())
	if err != nil {
		return SiteReport{}, err
	}
	defer done()
	until := time.Now().Add(siteTime)
	control := http.NewResponseController(c.Response().Writer)
	_ = errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until))
	file, err := web.ReadBody(c, siteMost)
	if err != nil {
		return SiteReport{}, unread(err)
	}
	how.By = callerOf(c).name
	report, err := a.SiteFiles.Import(c.Request().Context(), file, how)
	var wrong SiteRefused
	if errors.As(err, &wrong) {
		return report, &refusal{status: http.StatusUnprocessableEntity, detail: wrong.Error(), fields: wrong, cause: err}
	}
	return report, edited(err)
}
