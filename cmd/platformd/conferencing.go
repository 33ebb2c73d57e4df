package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/panel/roomos"
	"svc.internal/controller/platform/panel/webex"
	"svc.internal/controller/shelf/cli"
	"svc.internal/controller/shelf/trust"
)

// conferencingSettings are the credentials of the integration that lists devices and speaks to them, and where devices may be
// spoken to directly.
type conferencingSettings struct {
	webex  webex.Config // without a client ID: none
	secret string       // of its webhook; empty: there is none
	fleet  roomos.Fleet // without a network: none
}

func readConferencingSettings(getenv func(string) string) (conferencingSettings, error) {
	c := conferencingSettings{
		webex: webex.Config{
			URL: getenv("WEBEX_URL"), ClientID: getenv("WEBEX_CLIENT_ID"), ClientSecret: getenv("WEBEX_CLIENT_SECRET"), RefreshToken: getenv("WEBEX_REFRESH_TOKEN"),
		},
		secret: getenv("WEBEX_WEBHOOK_SECRET"),
	}
	w := c.webex
	if (w.ClientID == "") != (w.ClientSecret == "") || (w.ClientID == "") != (w.RefreshToken == "") {
		return c, errors.New("WEBEX_CLIENT_ID, WEBEX_CLIENT_SECRET and WEBEX_REFRESH_TOKEN go together; set all three or none")
	}
	return c, c.readFleet(getenv)
}

func (c *conferencingSettings) readFleet(getenv func(string) string) (err error) {
	named := strings.FieldsFunc(getenv("ROOMOS_NETWORKS"), func(r rune) bool { return r == ',' || r == ' ' })
	if c.fleet.Within, err = prefixes(named); err != nil {
		return cli.Usage(fmt.Errorf("ROOMOS_NETWORKS: %w", err))
	}
	if file := getenv("ROOMOS_CA_FILE"); file != "" {
		if c.fleet.CA, err = os.ReadFile(file); err != nil {
			return cli.Usage(fmt.Errorf("ROOMOS_CA_FILE: %w", err))
		}
		if _, err := (trust.Trust{CA: c.fleet.CA}).Config(""); err != nil {
			return cli.Usage(fmt.Errorf("ROOMOS_CA_FILE %s: %w", file, err))
		}
	}
	return nil
}

// conferencing registers devices and panels of rooms, and what is said there.
func (d *daemon) conferencing(e *echo.Echo, g *gate.Gate, asker platform.Asker) {
	cfg := panel.Config{
		Store: d.db, Link: d.cloud.link, Send: d.cloud.link, Board: d.cloud.board, WebhookSecret: d.rooms.secret,
		Charge: g.Charge, Stranger: gate.AddressBucket, Ending: d.ending, Zones: d.sites.Zones, Devices: d.sites.Devices, Log: d.log,
	}
	cfg.Certificate = func() []byte {
		if d.cert == nil {
			return nil
		}
		return d.cert.PEM()
	}
	if d.rooms.webex.ClientID != "" {
		cfg.Provider = webex.New(d.rooms.webex)
	}
	if d.rooms.fleet.Within != nil {
		cfg.Installer = d.rooms.fleet
	}
	if speech := d.voice(g, asker, cfg.Provider); speech != nil {
		speech.Register(e)
		cfg.Say = func(ctx context.Context, device, text string) (any, error) {
			return speech.Say(ctx, device, text, "panel")
		}
	}
	panels := panel.New(cfg)
	panels.Register(e, g.Admin)
	d.beside = append(d.beside, panels.Run)
}
