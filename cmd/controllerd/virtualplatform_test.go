package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/link"
	"svc.internal/controller/platform/panel"
	"svc.internal/controller/platform/quota"
	"svc.internal/controller/platform/site"
	platformstore "svc.internal/controller/platform/store"
	"svc.internal/controller/platform/voice"
	"svc.internal/controller/store"
)

// virtualPlatform is the platform with its doors, in a bubble: what is not its own is the broker, of which each side has one that
// hands everything to the other.
type virtualPlatform struct {
	h     *house
	asker *assistant.Assistant
	voice *voice.Room
	doors *echo.Echo // of panels
	codes map[string]string
}

const platformBroker = "127.0.0.1:1884"

// enrolVirtually puts the house's controller at a platform, with a device in a room for each of these clusters.
func (h *house) enrolVirtually(rooms map[string]int64) *virtualPlatform {
	h.t.Helper()
	t, ctx := h.t, h.t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := platformstore.Open(ctx, t.TempDir(), "", log)
	must(err)
	t.Cleanup(func() { db.Close() })
	below, above := &memoryBroker{}, &memoryBroker{}
	below.take = func(topic string, payload []byte) { above.publish(topic, payload) }
	above.take = func(topic string, payload []byte) {
		if topic == wire.PlatformStatus || strings.HasSuffix(topic, wire.DownConfig) {
			below.keep(topic, payload)
			return
		}
		below.publish(topic, payload)
	}
	for address, b := range map[string]*memoryBroker{historyBroker: below, platformBroker: above} {
		ln, err := h.net.Listen(address)
		must(err)
		ended := make(chan struct{})
		go func() { defer close(ended); b.serve(ln) }()
		t.Cleanup(func() { ln.Close(); <-ended })
	}
	dial := func(ctx context.Context, address string) (net.Conn, error) { return h.net.Dial(ctx, address) }
	recorder := site.NewRecorder(db, quota.NewBook(log), log)
	runFor(t, recorder.Run)
	board := panel.NewBoard()
	l := link.New(link.Config{
		Broker: link.Broker{URL: "mqtt://inside", Dial: func() (net.Conn, error) { return dial(context.Background(), platformBroker) }}, Store: db, Log: log,
		Take: func(m link.Message) {
			if m.Below == wire.UpPanel {
				if err := board.Take(m.Controller, m.Payload); err != nil {
					t.Errorf("what panels show: %v", err)
				}
			}
			recorder.Take(ctx, site.Message(m))
		},
		Late: func(controller string, a wire.WidgetAction, ack wire.Ack) {
			if a.Origin != wire.OriginAPI {
				board.Late(controller, a, ack)
			}
		},
	})
	runFor(t, l.Run)
	code := link.NewCode()
	must(db.AddController(ctx, houseID, "House", link.HashCode(code), time.Now().Add(time.Hour)))
	_, err = link.Enrol(ctx, db, code)
	must(err)
	p := &virtualPlatform{h: h, doors: echo.New(), codes: map[string]string{}}
	var panels []wire.Panel
	for name, cluster := range rooms {
		d := platform.RoomDevice{ID: name, Workspace: name, Controller: houseID, Clusters: []int64{cluster}}
		d.Deploy(true)
		must(db.AddRoomDevice(ctx, d))
		p.codes[name] = d.Code
		panels = append(panels, wire.Panel{DeviceID: name, WorkspaceName: name, PanelID: wire.ControlsPanel, Clusters: d.Clusters})
	}
	reader := site.NewReader(db)
	p.asker = assistant.New(assistant.Config{Sites: reader, Act: l, History: db, Settle: 2 * time.Second, Now: time.Now, Log: log})
	runFor(t, p.asker.Run)
	p.voice = voice.NewRoom(voice.Config{Devices: db, Send: l, Site: reader, Shown: board.Shown, Answered: board.Answered, Log: log})
	free := func(echo.Context, platform.Bucket) error { return nil }
	room := panel.New(panel.Config{
		Store: db, Link: l, Send: l, Board: board, Charge: free, Ending: make(chan struct{}), Zones: reader.Zones, Devices: reader.Devices, Log: log,
		Stranger: func(*http.Request) platform.Bucket { return platform.Bucket{} },
	})
	runFor(t, room.Run)
	room.Register(p.doors, func(next echo.HandlerFunc) echo.HandlerFunc { return next })

	h.await(time.Minute, "the platform to hear what its broker does not keep", l.Connected)
	must(h.daemon.db.SetCloud(ctx, store.Cloud{Platform: "https://platform", Controller: houseID, Broker: "tcp://" + historyBroker, Username: houseID, Password: "secret"}))
	h.await(time.Minute, "the controller to be online on the platform, with all it has", func() bool {
		all, err := reader.Controllers(ctx)
		devices, wrong := reader.Devices(ctx, houseID)
		return err == nil && wrong == nil && len(all) == 1 && all[0].Online && len(devices) >= len(h.site.Nodes)
	})
	must(l.SetPanels(ctx, houseID, panels))
	time.Sleep(time.Minute) // everything was read
	return p
}

// chat says something to the assistant, with a key that may control.
func (p *virtualPlatform) chat(session, message string) string {
	ctx := platform.WithIdentity(p.h.t.Context(), platform.Identity{KeyName: "BMS"})
	r, err := p.asker.Ask(ctx, platform.Inquiry{Owner: "ada", Session: session, Message: message, Control: true}, nil)
	if err != nil {
		p.h.t.Errorf("%s: %v", message, err)
	}
	return r.Text
}

// say says something at a device.
func (p *virtualPlatform) say(device, sentence string) voice.Response {
	r, err := p.voice.Say(p.h.t.Context(), device, sentence, "test")
	if err != nil {
		p.h.t.Errorf("%s: %v", sentence, err)
	}
	return r
}

// shown is what a panel answers to a tap, or says.
type shown struct {
	Success bool              `json:"success"`
	Message string            `json:"message"`
	Status  wire.AckStatus    `json:"status"`
	Widgets map[string]string `json:"widgets"`
}

// tap taps a widget of a device's panel; without one it reads what the panel shows.
func (p *virtualPlatform) tap(device, widget string, kind wire.Gesture, value string) (got shown) {
	method, path, body := http.MethodGet, panel.PanelsPath+device, ""
	if widget != "" {
		b, err := json.Marshal(map[string]string{"widgetId": widget, "type": string(kind), "value": value})
		if err != nil {
			p.h.t.Error(err)
		}
		method, path, body = http.MethodPost, path+"/widget", string(b)
	}
	req := httptest.NewRequest(method, path, strings.NewReader(body)).WithContext(p.h.t.Context())
	req.Header.Set("Authorization", "Bearer "+p.codes[device])
	rec := httptest.NewRecorder()
	p.doors.ServeHTTP(rec, req)
	if rec.Code != http.StatusOK || json.Unmarshal(rec.Body.Bytes(), &got) != nil {
		p.h.t.Errorf("%s %s %s: %d %s", method, path, body, rec.Code, rec.Body)
	}
	return got
}
