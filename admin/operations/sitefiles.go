package operations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/site/schema"
	"svc.internal/controller/site/sitefile"
	"svc.internal/controller/store"
)

// SiteFiles are what /api/v1 exports and imports, as the commands do.
type SiteFiles struct {
	DB      *store.Store
	DataDir string // of installers' profiles
}

func (f SiteFiles) Export(ctx context.Context, to io.Writer) (appliance.Site, error) {
	site, faults, err := f.DB.Stored(ctx)
	if err != nil {
		return appliance.Site{}, err
	}
	faults = append(faults, f.DB.Pictures(ctx, &site)...)
	if err := Incomplete(faults); err != nil {
		return appliance.Site{}, fmt.Errorf("%w: %w", appliance.ErrUnable, err)
	}
	return site, sitefile.Write(to, site)
}

func (f SiteFiles) Import(ctx context.Context, file []byte, how api.SiteImport) (api.SiteReport, error) {
	site, err := CheckedSite(f.DataDir, "-", bytes.NewReader(file))
	var wrong schema.Problems
	if errors.As(err, &wrong) {
		refused := make(api.SiteRefused, len(wrong))
		for i, p := range wrong {
			refused[i] = api.FieldError{Pointer: pointerTo(p.Key), Detail: p.Message}
			if p.Line > 0 {
				refused[i].Detail = fmt.Sprintf("line %d, column %d: %s", p.Line, max(p.Column, 1), p.Message)
			}
		}
		return api.SiteReport{}, refused
	}
	if err != nil {
		return api.SiteReport{}, err
	}
	report, err := f.DB.Import(ctx, site, store.ImportOptions{Replace: how.Replace, Preview: how.Preview, Check: how.Check, By: how.By})
	var not *store.Refused
	if errors.As(err, &not) {
		refused := make(api.SiteRefused, len(not.Problems))
		for i, p := range not.Problems {
			refused[i] = api.FieldError{Pointer: pointerTo(strings.Trim(strings.SplitN(p.Entry, " ", 2)[0]+"."+p.Key, ".")), Detail: p.String()}
		}
		return api.SiteReport{}, refused
	}
	return SiteReport(report), err
}

var index = regexp.MustCompile(`\[([0-9]+)\]`)

// pointerTo is a key of a site file, such as nodes[2].address, as a JSON pointer.
func pointerTo(key string) string {
	if key == "" {
		return ""
	}
	return "/" + strings.ReplaceAll(index.ReplaceAllString(key, ".$1"), ".", "/")
}

// SiteReport is what an import did, for scripts and /api/v1.
func SiteReport(r store.Report) api.SiteReport {
	items := func(of []store.Item) []api.SiteItem {
		out := make([]api.SiteItem, 0, len(of))
		for _, it := range of {
			item := api.SiteItem{Family: string(it.Family), ID: it.ID, UUID: it.UUID.String(), Name: it.Name}
			for _, c := range it.Changes {
				item.Changes = append(item.Changes, api.SiteChange(c))
			}
			out = append(out, item)
		}
		return out
	}
	return api.SiteReport{Preview: r.Preview, Settings: r.Settings,
		Created: items(r.Created), Returned: items(r.Returned), Changed: items(r.Changed), Unchanged: items(r.Unchanged), Retired: items(r.Retired)}
}

// Incomplete names what an export had to leave out; nil if it is whole.
func Incomplete(faults []appliance.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	text := "the export is incomplete, do not import it with --replace; restore a backup, or import again what is missing"
	for _, f := range faults {
		text += "\n" + f.Where + ": " + f.What
	}
	return errors.New(text)
}
