package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/automation"
	"svc.internal/controller/cloud/link"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/publicapi"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
)

// cloud holds the link to the platform that this controller is enrolled at, if any.
type cloud struct {
	daemon  *daemon
	started time.Time
	tunnel  bool          // requests that the platform brings are let in
	changed chan struct{} // the enrolment is another one
}

func newCloud(d *daemon, cfg serveConfig) *cloud {
	return &cloud{daemon: d, tunnel: cfg.tunnel, started: time.Now(), changed: make(chan struct{}, 1)}
}

// again looks at the enrolment anew.
func (c *cloud) again() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// run holds the link until ctx ends. Trouble with the platform is never the daemon's.
func (c *cloud) run(ctx context.Context) error {
	for ctx.Err() == nil {
		linkCtx, end := context.WithCancel(ctx)
		var wg sync.WaitGroup
		switch enrolled, err := c.daemon.db.Cloud(ctx); {
		case errors.Is(err, appliance.ErrNotFound):
		case err != nil && ctx.Err() == nil:
			c.daemon.log.Error("no link to the platform", "why", err)
		case err == nil:
			wg.Go(func() { c.hold(linkCtx, enrolled) })
		}
		select {
		case <-c.changed:
		case <-ctx.Done():
		}
		end()
		wg.Wait()
	}
	return nil
}

// hold is the link of one enrolment. Widget events act by rules that see the core, and the link carries their outcome.
func (c *cloud) hold(ctx context.Context, enrolled store.Cloud) {
	d := c.daemon
	log := d.log.With("controller", enrolled.Controller)
	var toCloud *link.Link
	rules := automation.New(automation.Config{
		Core: d.core, Start: c.started, Log: log,
		Answer: func(corr string, ack wire.Ack) { toCloud.Answer(corr, ack) },
	})
	toCloud, err := link.New(link.Config{
		Core: d.core, Firmware: version, Log: log, Dial: d.ground.broker,
		Credentials: wire.Credentials{
			Controller: enrolled.Controller, Broker: enrolled.Broker, Username: enrolled.Username, Password: enrolled.Password, CA: enrolled.CA,
		},
		Boot:   d.db.NextCloudSession,
		Widget: func(m link.Message) { rules.Widget(automation.Message(m)) },
		Panels: func(m link.Message) { rules.Panels(automation.Message(m)) },
		Clock:  rules.Clock, Deadline: rules.Deadline,
		Values: rules.Values,
		Tunnel: c.door(),
		Past: func(ctx context.Context, limit int) ([]appliance.Entry, error) {
			return d.db.Entries(ctx, limit, "")
		},
	})
	if err != nil {
		log.Error("no link to the platform; enrol again", "why", err)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = rules.Run(ctx) })
	wg.Go(func() { rules.Watch(ctx, toCloud.ShowPanels) })
	wg.Go(func() { _ = toCloud.Run(ctx) })
	wg.Wait()
}

// door is where requests that the platform brings come in: the public API and nothing else. Nil: nowhere.
func (c *cloud) door() http.Handler {
	if !c.tunnel {
		return nil
	}
	e := web.New(web.Config{Log: c.daemon.log.With("via", "tunnel"), Errors: publicapi.Errors})
	c.daemon.api.Register(e)
	return e
}
