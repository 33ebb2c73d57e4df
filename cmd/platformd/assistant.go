package main

import (
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/chat"
	"svc.internal/controller/platform/gate"
	"svc.internal/controller/platform/mcp"
)

// assist registers the doors of the assistant, once there are sites to ask about.
func (d *daemon) assist(e *echo.Echo, g *gate.Gate) {
	if d.sites == nil {
		return
	}
	asker := assistant.New(assistant.Config{
		Sites: d.sites, Act: d.act, History: d.db, Model: d.model, Price: d.price, Now: time.Now, Log: d.log,
	})
	chat.New(asker, d.log).Register(e, g.Key, g.Person)
	mcp.New(asker, version, d.log).Register(e, g.Key)
}
