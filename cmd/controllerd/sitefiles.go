package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"svc.internal/controller/adminapi"
	"svc.internal/controller/appliance"
	"svc.internal/controller/schema"
	"svc.internal/controller/sitefile"
	"svc.internal/controller/store"
)

// siteFiles are what /api/v1 exports and imports, as the commands do.
type siteFiles struct {
	db      *store.Store
	dataDir string // of installers' profiles
}

func (f siteFiles) Export(ctx context.Context, to io.Writer) (appliance.Site, error) {
	site, faults, err := f.db.Stored(ctx)
	if err != nil {
		return appliance.Site{}, err
	}
	if err := incomplete(faults); err != nil {
		return appliance.Site{}, fmt.Errorf("%w: %w", appliance.ErrUnable, err)
	}
	return site, sitefile.Write(to, site)
}

func (f siteFiles) Import(ctx context.Context, file []byte, how adminapi.SiteImport) (adminapi.SiteReport, error) {
	a := app{dataDir: f.dataDir}
	site, err := a.checkedSite("-", bytes.NewReader(file))
	var wrong schema.Problems
	if errors.As(err, &wrong) {
		refused := make(adminapi.SiteRefused, len(wrong))
		for i, p := range wrong {
			refused[i] = adminapi.FieldError{Pointer: pointerTo(p.Key), Detail: p.Message}
			if p.Line > 0 {
				refused[i].Detail = fmt.Sprintf("line %d, column %d: %s", p.Line, max(p.Column, 1), p.Message)
			}
		}
		return adminapi.SiteReport{}, refused
	}
	if err != nil {
		return adminapi.SiteReport{}, err
	}
	report, err := f.db.Import(ctx, site, store.ImportOptions{Replace: how.Replace, Preview: how.Preview, Check: how.Check, By: how.By})
	var not *store.Refused
	if errors.As(err, &not) {
		refused := make(adminapi.SiteRefused, len(not.Problems))
		for i, p := range not.Problems {
			refused[i] = adminapi.FieldError{Pointer: pointerTo(strings.Trim(strings.SplitN(p.Entry, " ", 2)[0]+"."+p.Key, ".")), Detail: p.String()}
		}
		return adminapi.SiteReport{}, refused
	}
	return siteReport(report), err
}

var index = regexp.MustCompile(`\[([0-9]+)\]`)

// pointerTo is a key of a site file, such as nodes[2].address, as a JSON pointer.
func pointerTo(key string) string {
	if key == "" {
		return ""
	}
	return "/" + strings.ReplaceAll(index.ReplaceAllString(key, ".$1"), ".", "/")
}
