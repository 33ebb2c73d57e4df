package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/tunnel"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/shelf/web"
)

// throughTunnel is a client of the house's public API that comes by way of the platform.
func (h *house) throughTunnel(p *platformFor) func(method, path, token, body string) (int, []byte, http.Header) {
	h.t.Helper()
	log := slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	e := web.New(web.Config{Log: log})
	e.Pre(tunnel.New(tunnel.Config{
		Domain: "tunnel.example", Carry: p.link.Carry, Log: log,
		Charge:   func(echo.Context, platform.Bucket) error { return nil },
		Stranger: func(*http.Request) platform.Bucket { return platform.Bucket{} },
	}).Pass)
	srv := httptest.NewServer(e)
	h.t.Cleanup(srv.Close)
	return func(method, path, token, body string) (int, []byte, http.Header) {
		h.t.Helper()
		req, err := http.NewRequestWithContext(h.t.Context(), method, srv.URL+path, strings.NewReader(body))
		if err != nil {
			h.t.Fatal(err)
		}
		req.Host = houseID + ".tunnel.example"
		return h.answer(http.DefaultClient, req, token)
	}
}

// The walk of the README, directly and through the tunnel.
func TestTheWalkThroughTheTunnelGivesTheSameBytes(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newBuilding(t, patient(mixedSite))
	h.tunnel = true
	h.serve()
	h.awaitOnline()
	far := h.throughTunnel(h.enrol())
	token, viewer := h.login(account.RoleAPIService), h.login(account.RoleViewer)

	// What is read may change between two questions: the tunnel's answer counts between two that are the same.
	same := func(method, path, token, body string) {
		t.Helper()
		for deadline := time.Now().Add(uitest.Patience); ; {
			status, before, direct := h.send(method, path, token, body)
			gotStatus, got, header := far(method, path, token, body)
			_, after, _ := h.send(method, path, token, body)
			if bytes.Equal(before, after) {
				if gotStatus != status || !bytes.Equal(got, before) {
					t.Errorf("%s %s: through the tunnel %d %s, directly %d %s", method, path, gotStatus, got, status, before)
				}
				for _, name := range []string{"Content-Type", "Content-Length", "Etag", "Cache-Control", "Allow"} {
					if got, want := header.Get(name), direct.Get(name); got != want {
						t.Errorf("%s %s: %s is %q, directly %q", method, path, name, got, want)
					}
				}
				if (header.Get("X-State-Age") == "") != (direct.Get("X-State-Age") == "") {
					t.Errorf("%s %s: X-State-Age is %q, directly %q", method, path, header.Get("X-State-Age"), direct.Get("X-State-Age"))
				}
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s never twice the same", path)
			}
		}
	}
	for _, path := range []string{"getClusters", "getActiveNodes", "getNodesForCluster?clusterId=1&tagType=ALL", "getLightLevels?targetType=2&targetId=1", "getShades", "getShadesForCluster?clusterId=1"} {
		same("GET", "/svc/api/"+path, token, "")
		same("HEAD", "/svc/api/"+path, token, "")
	}
	same("POST", "/svc/api/channelControl", token, `{"targetType":2,"targetId":1,"command":"DIM","dimLevel":40}`)
	same("POST", "/svc/api/channelControl", token, `{"targetType":2,"targetId":1,"command":"SHINE"}`)
	same("POST", "/svc/api/channelControl", viewer, `{"targetType":2,"targetId":1,"command":"ON"}`)
	same("GET", "/svc/api/getLightLevels?targetType=3&targetId=99999", token, "")
	same("GET", "/svc/api/getNonsense", token, "")
	same("OPTIONS", "/svc/api/getClusters", "", "")
	same("POST", "/svc/api/authenticate", "", `{"username":"nobody","password":"guess"}`)
	same("POST", "/svc/api/refreshToken", "", `{"refresh_token":"guess"}`)
	for _, wrong := range []string{"", "guess"} { // nobody gets in without its token
		same("GET", "/svc/api/getClusters", wrong, "")
		same("POST", "/svc/api/shadeControl", wrong, `{"targetType":1,"command":"UP"}`)
	}
	if status, body, header := far("POST", "/svc/api/channelControl", token, `{"targetType":3,"targetId":1,"command":"DIM","dimLevel":55}`); status != 200 || string(body) != `{"status":1}` || header.Get("X-Command-Id") == "" {
		t.Errorf("a command: %d %s %v", status, body, header)
	}
	for _, level := range targets(h.device(1)) {
		if level < 54 || level > 56 {
			t.Errorf("the light is at %d in truth", level)
		}
	}
	if status, body, _ := far("POST", "/svc/api/authenticate", "", `{"username":"api_service","password":"`+housePassword+`"}`); status != 200 || !bytes.Contains(body, []byte(`"responseCode":1`)) {
		t.Errorf("log in: %d %s", status, body)
	}
	for _, path := range []string{"/api/v1/buses", "/metrics", "/docs", "/healthz", "/"} {
		if status, body, _ := far("GET", path, token, ""); status != 404 {
			t.Errorf("%s through the tunnel: %d %s", path, status, body)
		}
	}
}
