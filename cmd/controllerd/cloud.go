package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"svc.internal/controller/admin/operations"
	"svc.internal/controller/appliance"
	"svc.internal/controller/automation"
	"svc.internal/controller/cloud/link"
	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/publicapi"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/trust"
	"svc.internal/controller/shelf/web"
	"svc.internal/controller/store"
)

// cloud holds the link to the platform that this controller is enrolled at, if any.
type cloud struct {
	daemon  *daemon
	started time.Time
	tunnel  bool          // requests that the platform brings are let in
	changed chan struct{} // the enrolment is another one
	// unenrolled is why an enrolment that was prepared has not come about so far. Nil: none is prepared, or it has.
	unenrolled atomic.Pointer[string]
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

// How long it takes from one try to enrol to the next: it doubles.
const enrolAgain, enrolRarely = time.Second, 10 * time.Minute

// enrolPrepared enrols as was prepared before the first start (controllerd prepare), as soon as the platform is reached.
func (c *cloud) enrolPrepared(ctx context.Context) error {
	d := c.daemon
	wait := enrolAgain
	for said := ""; ; wait = min(2*wait, enrolRarely) {
		e, there, err := operations.PreparedEnrolment(d.dataDir)
		if err == nil && !there {
			c.unenrolled.Store(nil)
			return nil
		}
		if err == nil {
			err = c.enrol(ctx, e)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil, errors.Is(err, link.ErrCode):
			if over := operations.EnrolmentOver(d.dataDir); over != nil {
				d.log.Error("an enrolment is over, but its code stays in the data directory", "why", over)
			}
		}
		if err == nil {
			c.unenrolled.Store(nil)
			return nil
		}
		why := err.Error()
		c.unenrolled.Store(&why)
		if said != why {
			said = why
			d.log.Warn("not enrolled at the platform as was prepared", "why", err)
		}
		if errors.Is(err, link.ErrCode) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// whyUnenrolled says why an enrolment that was prepared has not come about so far; empty: it has, or none was.
func (c *cloud) whyUnenrolled() string {
	if why := c.unenrolled.Load(); why != nil {
		return *why
	}
	return ""
}

func (c *cloud) enrol(ctx context.Context, e operations.Enrolment) error {
	got, err := link.Enrol(ctx, e.Platform, e.Code, trust.Trust{Fingerprint: e.Fingerprint})
	if err != nil {
		return err
	}
	err = c.daemon.db.SetCloud(ctx, store.Cloud{
		Platform: e.Platform, Controller: got.Controller, Broker: got.Broker, Username: got.Username, Password: got.Password, CA: got.CA,
	})
	if err != nil {
		return err
	}
	c.daemon.log.Info("enrolled at the platform as was prepared", "platform", e.Platform, "controller", got.Controller)
	audit := account.Audit{Who: "controllerd", From: "console", What: "cloud.enrol", Subject: "platform " + e.Platform, Accounts: true}
	if err := c.daemon.db.Audit(ctx, audit); err != nil {
		c.daemon.log.Error("the enrolment is not in the audit log", "why", err)
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
