package site

import (
	"context"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
)

// Answering counts the devices of every controller that told of its site, and those that do
// not answer, as it last said.
func Answering(ctx context.Context, db interface {
	// SiteReports lists what every controller last said of its site, and of devices that do not
	// answer their kind and ID.
	SiteReports(ctx context.Context) (sites, silent []platform.Report, err error)
}) (map[string]platform.Answering, error) {
	reports, silent, err := db.SiteReports(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]platform.Answering{}
	sites := map[string]*wire.Site{}
	for _, rep := range reports {
		s, err := stateOf(rep)
		if err != nil {
			return nil, err
		}
		if s.Site != nil {
			sites[rep.Controller] = s.Site
			out[rep.Controller] = platform.Answering{Devices: len(s.Site.NodeIDs) + len(s.Site.ShadeIDs)}
		}
	}
	for _, rep := range silent {
		if a, known := out[rep.Controller]; known && !gone(sites[rep.Controller], rep) {
			a.Silent++
			out[rep.Controller] = a
		}
	}
	return out, nil
}
