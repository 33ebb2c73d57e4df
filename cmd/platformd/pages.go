package main

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/pages"
	"svc.internal/controller/platform/site"
)

// pages registers the web pages and what they ask.
func (d *daemon) pages(e *echo.Echo, g *gate.Gate) error {
	files, err := pages.New()
	if err != nil {
		return err
	}
	files.Register(e)
	pages.NewDesk(pages.Config{
		Store: d.db, Sites: d.sites, Answering: d.answering, Show: d.limit.Show, Invite: d.invite, Renew: d.renew, Still: g.Still, AtOnce: g.AtOnce, AtOnceMost: gate.AtOnceMost, Model: d.model != nil, LeftOut: d.leftOut, Ending: d.ending,
	}).Register(e, g.Person, g.Admin)
	return nil
}

func (d *daemon) answering(ctx context.Context) (map[string]platform.Answering, error) {
	return site.Answering(ctx, d.db)
}

// leftOut is what was left out of what a controller sent.
func (d *daemon) leftOut(controller string) any {
	if all := d.cloud.shares.Excess(controller); len(all) > 0 {
		return all
	}
	return nil
}

func (d *daemon) invite(ctx context.Context, name string) (pages.Invitation, error) {
	in := pages.Invitation{Controller: link.NewControllerID(name), Code: link.NewCode(), ValidUntil: time.Now().Add(link.CodeLife).UTC()}
	return in, d.db.AddController(ctx, in.Controller, name, link.HashCode(in.Code), in.ValidUntil)
}

func (d *daemon) renew(ctx context.Context, id string) (pages.Invitation, error) {
	in := pages.Invitation{Controller: id, Code: link.NewCode(), ValidUntil: time.Now().Add(link.CodeLife).UTC()}
	return in, d.db.RenewCode(ctx, id, link.HashCode(in.Code), in.ValidUntil)
}
