package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/peertest"
	"svc.internal/controller/sim"
)

// The row "Freshness": what a controller reports is in the platform's answers within 10 s, with its age, whoever changed it.
func TestWhatOthersChangeIsToldInChatAndMCPWithinTenSeconds(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	e := newEstate(t, nil)
	_, key := e.admin.newKey(`{"name":"k","rateLimit":100000}`)
	header := "X-API-Key: " + key
	const question = "how bright is Canteen 1?"
	late := drivertest.Watch(t)
	wall := func(level int) error {
		return e.building.PressChannel("tcp", "2", 1, sim.Press{Level: &level})
	}
	command := func(level int) error {
		e.do(appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.One, ID: 3}, Level: appliance.Level(level)})
		return nil
	}
	for _, c := range []struct {
		by    string
		do    func(int) error
		level int
	}{{"the public API", command, 60}, {"a wall switch", wall, 35}, {"the public API again", command, 85}} {
		if err := c.do(c.level); err != nil {
			t.Fatal(err)
		}
		began, want := time.Now(), fmt.Sprintf("%d %%", c.level)
		for name, ask := range map[string]func() string{
			"chat": func() string {
				return e.ask("POST", chatPath, `{"message":"`+question+`"}`, header).str("reply")
			},
			"MCP": func() string {
				return e.ask("POST", mcpPath, `{"method":"tools/call","tool":"query","arguments":{"query":"`+question+`"}}`, header).text
			},
		} {
			said := ""
			eventually(t, name+" tells of "+want+" by "+c.by, func() bool { said = ask(); return strings.Contains(said, want) })
			if took := time.Since(began); took > 10*time.Second+late.Steps(5) {
				t.Errorf("%s told of a change by %s after %v", name, c.by, took.Round(time.Millisecond))
			}
			if !strings.Contains(said, " old") {
				t.Errorf("%s tells no age: %s", name, said)
			}
		}
		t.Logf("%s: told after %v", c.by, time.Since(began).Round(time.Millisecond))
	}
}

// broken is what remembers sites, when it cannot.
type broken struct{ platform.SiteReader }

var errDisk = errors.New("the disk is on fire")

func (broken) Controllers(context.Context) ([]platform.Controller, error) { return nil, errDisk }

// The contract's row "500" in the shape of each door, with the headers of the limit and without the cause.
func TestContract500(t *testing.T) {
	t.Parallel()
	peertest.Each(t, func(t *testing.T, db peertest.Database) {
		h := newHouse(t, db, "", func(d *daemon) { d.sites = broken{} })
		_, key := h.newPerson("ada", platform.RoleUser).newKey(`{"name":"k"}`)
		header := "X-API-Key: " + key
		for name, c := range map[string]struct{ path, body, want string }{
			"chat": {chatPath, `{"message":"how many lights are there?"}`, `{"success":false,"error":"Internal Server Error","message":"internal error"}`},
			"MCP":  {mcpPath, `{"method":"tools/call","tool":"query","arguments":{"query":"lights"}}`, `{"error":"internal error","details":"Internal Server Error"}`},
		} {
			a := h.ask("POST", c.path, c.body, header).want(t, 500, name)
			if a.text != c.want {
				t.Errorf("%s: %s", name, a.text)
			}
			if limit, _, _ := left(t, a, name); limit != 100 {
				t.Errorf("%s: limit %d", name, limit)
			}
		}
		a := h.ask("POST", chatPath, `{"message":"how many lights are there?","useSSE":true}`, header)
		if !strings.Contains(a.text, `{"success":false,"error":"Internal Server Error","message":"internal error"}`) || strings.Contains(a.text, "fire") {
			t.Errorf("as a stream: %s", a.text)
		}
		if !strings.Contains(h.log.String(), errDisk.Error()) {
			t.Error("the log does not tell the cause")
		}
	})
}
