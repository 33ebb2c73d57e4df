package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/shelf/account/bearer"
	"svc.internal/controller/shelf/web"
)

const (
	notLoggedIn    = `{"status":0,"message":"Authentication required"}`
	channelControl = "/svc/api/channelControl"
)

// refused wants the exact answer and returns it.
func (h *house) refused(method, path, token, body string, wantStatus int, wantBody string) http.Header {
	h.t.Helper()
	status, got, header := h.send(method, path, token, body)
	if status != wantStatus || strings.TrimSpace(string(got)) != wantBody {
		h.t.Errorf("%s %s %.80q: %d %s\nwant %d %s", method, path, body, status, got, wantStatus, wantBody)
	}
	return header
}

// TestBadInputIsRefusedExactlyAndMovesNothing goes through the real door: TLS, real
// tokens and a real building behind it.
func TestBadInputIsRefusedExactlyAndMovesNothing(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t, mixedSite)
	token := h.login(account.RoleAPIService)
	h.login(account.RoleViewer)
	before, devices := h.writes(), h.aims()
	sent := time.Now()

	t.Run("bodies", func(t *testing.T) {
		for _, tc := range []struct{ name, path, body, field string }{
			{"empty", channelControl, "", "body"},
			{"malformed", channelControl, `{"targetType":1,`, "body"},
			{"no object", channelControl, `[1]`, "body"},
			{"null", channelControl, `null`, "body"},
			{"two objects", channelControl, `{"targetType":1,"command":"OFF"}{}`, "body"},
			{"bad UTF-8", channelControl, "{\"targetType\":1,\"command\":\"OFF\",\"x\":\"\xff\"}", "body"},
			{"UTF-16", channelControl, "\xff\xfe{\x00}\x00", "body"},
			{"deeply nested", channelControl, strings.Repeat("[", 60000), "body"},
			{"NaN", channelControl, `{"targetType":NaN}`, "body"},
			{"missing targetType", channelControl, `{"command":"OFF"}`, "targetType"},
			{"wrong type", channelControl, `{"targetType":{},"command":"OFF"}`, "targetType"},
			{"boolean", channelControl, `{"targetType":true,"command":"OFF"}`, "targetType"},
			{"fraction", channelControl, `{"targetType":1.5,"command":"OFF"}`, "targetType"},
			{"negative", channelControl, `{"targetType":-1,"command":"OFF"}`, "targetType"},
			{"4 in two bits", channelControl, `{"targetType":5,"command":"OFF"}`, "targetType"},
			{"1 modulo 256", channelControl, `{"targetType":257,"command":"OFF"}`, "targetType"},
			{"1 modulo 2^64", channelControl, `{"targetType":18446744073709551617,"command":"OFF"}`, "targetType"},
			{"beyond floating point", channelControl, `{"targetType":1e999,"command":"OFF"}`, "targetType"},
			{"twice", channelControl, `{"targetType":1,"targetType":1,"command":"OFF"}`, "targetType"},
			{"missing targetId", channelControl, `{"targetType":3,"command":"OFF"}`, "targetId"},
			{"negative targetId", channelControl, `{"targetType":3,"targetId":-1,"command":"OFF"}`, "targetId"},
			{"targetId 1 modulo 2^32", channelControl, `{"targetType":3,"targetId":4294967297,"command":"OFF"}`, "targetId"},
			{"targetId a word", channelControl, `{"targetType":3,"targetId":"one","command":"OFF"}`, "targetId"},
			{"unknown command", channelControl, `{"targetType":1,"command":"TOGGLE"}`, "command"},
			{"lower case", channelControl, `{"targetType":1,"command":"off"}`, "command"},
			{"command a number", channelControl, `{"targetType":1,"command":0}`, "command"},
			{"no dimLevel", channelControl, `{"targetType":1,"command":"DIM"}`, "dimLevel"},
			{"dimLevel negative", channelControl, `{"targetType":1,"command":"DIM","dimLevel":-1}`, "dimLevel"},
			{"dimLevel over 100", channelControl, `{"targetType":1,"command":"DIM","dimLevel":101}`, "dimLevel"},
			{"dimLevel huge", channelControl, `{"targetType":1,"command":"DIM","dimLevel":99999999999999999999}`, "dimLevel"},
			{"channelId negative", channelControl, `{"targetType":1,"command":"OFF","channelId":-1}`, "channelId"},
			{"colorTemp a word", "/svc/api/setColorTemp", `{"targetType":1,"colorTemp":"warm"}`, "colorTemp"},
			{"R over 255", "/svc/api/setRGBW", `{"targetType":1,"R":256,"G":0,"B":0,"W":0,"DL":0}`, "R"},
			{"DL 102", "/svc/api/setRGBW", `{"targetType":1,"R":0,"G":0,"B":0,"W":0,"DL":102}`, "DL"},
			{"W missing", "/svc/api/setRGBW", `{"targetType":1,"R":0,"G":0,"B":0,"DL":0}`, "W"},
			{"unknown shade command", "/svc/api/shadeControl", `{"targetType":1,"command":"OPEN"}`, "command"},
			{"posValue missing", "/svc/api/shadeControl", `{"targetType":1,"command":"POS"}`, "posValue"},
			{"posValue over 100", "/svc/api/shadeControl", `{"targetType":1,"command":"POS","posValue":101}`, "posValue"},
		} {
			status, body, _ := h.send(http.MethodPost, tc.path, token, tc.body)
			var answer struct {
				Status  *int
				Message string
			}
			if err := json.Unmarshal(body, &answer); err != nil || status != 400 || answer.Status == nil || *answer.Status != 0 || !strings.HasPrefix(answer.Message, tc.field+": ") {
				t.Errorf("%s: %d %s, want 400 with status 0 and a message that begins with %q", tc.name, status, body, tc.field+": ")
			}
		}
	})

	t.Run("targets that are not there", func(t *testing.T) {
		for _, c := range [][2]string{
			{channelControl, `{"targetType":3,"targetId":5001,"command":"OFF"}`}, // a shade
			{channelControl, `{"targetType":3,"targetId":200000000,"command":"OFF"}`},
			{channelControl, `{"targetType":2,"targetId":77,"command":"OFF"}`},
			{channelControl, `{"targetType":3,"targetId":1,"command":"OFF","channelId":9}`},
			{"/svc/api/shadeControl", `{"targetType":3,"targetId":8,"command":"UP"}`}, // a node
			{"/svc/api/setColorTemp", `{"targetType":3,"targetId":4,"colorTemp":4000}`},
		} {
			status, body, _ := h.send(http.MethodPost, c[0], token, c[1])
			if status != 200 || !strings.HasPrefix(string(body), `{"status":0,"message":"`) {
				t.Errorf("%s: %d %s, want 200 with status 0", c[1], status, body)
			}
		}
	})

	t.Run("huge bodies", func(t *testing.T) {
		const tooLarge = `{"status":0,"message":"body larger than 65536 bytes"}`
		const size = 64 << 20 // the kernel takes some of it, whoever reads
		h.refused(http.MethodPost, channelControl, token, `{"targetType":1,"command":"OFF","x":"`+strings.Repeat("y", 70_000)+`"}`, 413, tooLarge)
		h.refusedStream(channelControl, token, size, size, tooLarge)
		h.refusedStream(channelControl, token, size, -1, tooLarge) // length not told beforehand
		h.refusedStream("/svc/api/authenticate", "", size, size, `{"status":0,"message":"body larger than 8192 bytes"}`)
	})

	t.Run("tokens", func(t *testing.T) {
		off := `{"targetType":1,"command":"OFF"}`
		admin := account.User{Name: "admin"}
		for _, u := range h.daemon.db.Users() {
			if u.Name == "admin" {
				admin = u
			}
		}
		foreign, err := bearer.New([]byte(strings.Repeat("another secret, ", 2)), "", time.Hour, h.daemon.db, web.SystemClock())
		if err != nil {
			t.Fatal(err)
		}
		stranger, _, err := foreign.Issue(admin)
		if err != nil {
			t.Fatal(err)
		}
		part := strings.Split(token, ".")
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
		for name, bad := range map[string]string{
			"of another controller": stranger,
			"unsigned":              none + "." + part[1] + ".",
			"cut":                   token[:len(token)-2],
			"other claims":          part[0] + "." + strings.Split(stranger, ".")[1] + "." + part[2],
			"no token at all":       "x",
			"unknown key":           "ctl_" + strings.Repeat("0", 64),
			"huge":                  strings.Repeat("a", 5000),
		} {
			t.Run(name, func(t *testing.T) {
				h.refused(http.MethodPost, channelControl, bad, off, 401, notLoggedIn)
				h.refused(http.MethodGet, "/svc/api/getClusters", bad, "", 401, notLoggedIn)
			})
		}
		h.refused(http.MethodPost, channelControl, "", off, 401, notLoggedIn)
		// A bad body without a token must not tell more than a good one.
		h.refused(http.MethodPost, channelControl, "", `{`, 401, notLoggedIn)
		for _, header := range []string{"Basic YTpi", "Bearer", "Bearer ", "bearer", token, "Token " + token} {
			h.refusedHeader(header, off)
		}
		h.refused(http.MethodPost, channelControl, h.login(account.RoleViewer), off, 403, "")
		h.refused(http.MethodPost, "/svc/api/shadeControl", h.login(account.RoleViewer), `{"targetType":1,"command":"UP"}`, 403, "")
		h.refused(http.MethodPost, channelControl, h.login(account.RoleViewer), `{`, 403, "")

		if s := h.desk().typed("some password\n", "user", "add", "leaver", "--role", "operator", "--password-stdin"); s.code != 0 {
			t.Fatal(s)
		}
		h.await(within, "the new user", func() bool { return h.knows("leaver") })
		leaver, _ := h.token("leaver", "some password")
		h.desk().must("user", "remove", "leaver")
		h.await(within, "the removed user's token to be dead", func() bool { return h.read(leaver) == 401 })
		h.refused(http.MethodPost, channelControl, leaver, off, 401, notLoggedIn)
	})

	t.Run("logins", func(t *testing.T) {
		h.refused(http.MethodPost, "/svc/api/authenticate", "", `{"username":"admin","password":"wrong"}`, 200, `{"responseCode":0,"errorCode":"AuthFailed"}`)
		h.refused(http.MethodPost, "/svc/api/authenticate", "", `{"username":"nobody","password":"wrong"}`, 200, `{"responseCode":0,"errorCode":"AuthFailed"}`)
		h.refused(http.MethodPost, "/svc/api/refreshToken", "", `{"refresh_token":"wrong"}`, 401, `{"status":false,"message":"Token invalid or expired"}`)
		h.refused(http.MethodPost, "/svc/api/refreshToken", "", fmt.Sprintf(`{"refresh_token":%q}`, token), 401, `{"status":false,"message":"Token invalid or expired"}`)
		var last int
		var header http.Header
		for range 12 {
			last, _, header = h.send(http.MethodPost, "/svc/api/authenticate", "", `{"username":"admin","password":"wrong"}`)
		}
		if last != http.StatusTooManyRequests || header.Get("Retry-After") == "" {
			t.Errorf("after a dozen failures: %d, Retry-After %q; want 429", last, header.Get("Retry-After"))
		}
	})

	t.Run("wrong paths and methods", func(t *testing.T) {
		for _, c := range []struct {
			method, path string
			status       int
		}{{"GET", channelControl, 405}, {"DELETE", "/svc/api/getClusters", 405}, {"GET", "/svc/api/getclusters", 404}, {"GET", "/svc/api/../../etc/passwd", 404}, {"GET", "/nothing", 404}} {
			if status, body, _ := h.send(c.method, c.path, token, ""); status != c.status {
				t.Errorf("%s %s: %d %s, want %d", c.method, c.path, status, body, c.status)
			}
		}
	})

	if took := time.Since(sent); took < 2*time.Second {
		h.pass(2*time.Second-took, time.Now()) // as long as a command could still have an effect
	}
	if after := h.writes(); after != before {
		t.Errorf("%d writes reached devices, want none", after-before)
	}
	if now := h.aims(); now != devices {
		t.Errorf("devices changed:\n%s\nbefore\n%s", now, devices)
	}
	h.insist("channelControl", `{"targetType":1,"command":"DIM","dimLevel":20}`) // an ordinary command after all that
}

func TestExpiredTokenIsRefused(t *testing.T) {
	t.Parallel()
	virtually(t, smallSite, func(t *testing.T, h *house) {
		h.tokenLife = time.Second
		h.restart()
		token := h.login(account.RoleAPIService)
		if got := h.read(token); got != 200 {
			t.Fatalf("fresh token: %d", got)
		}
		before := h.writes()
		h.await(3*time.Second, "the token to expire", func() bool { return h.read(token) == 401 })
		h.refused(http.MethodPost, channelControl, token, `{"targetType":1,"command":"OFF"}`, 401, notLoggedIn)
		if after := h.writes(); after != before {
			t.Error("an expired token moved something")
		}
	})
}

// aims is what every output of the building aims at, as text.
func (h *house) aims() string {
	h.t.Helper()
	var b strings.Builder
	for _, d := range h.building.Devices() {
		fmt.Fprintf(&b, "node %d:", d.NodeID)
		for _, c := range d.Channels {
			fmt.Fprintf(&b, " %d %d %d %s;", c.TargetLevel, c.Raw, c.ColorTemp, c.RGBW)
		}
		for _, s := range d.Shades {
			fmt.Fprintf(&b, " shade %d at %d %s;", s.ShadeID, s.Position, s.Motion)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// refusedHeader wants a 401 for an Authorization header.
func (h *house) refusedHeader(value, body string) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+channelControl, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", value)
	res, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	if got, _ := io.ReadAll(res.Body); res.StatusCode != 401 || strings.TrimSpace(string(got)) != notLoggedIn {
		h.t.Errorf("Authorization %.20q: %d %s, want 401", value, res.StatusCode, got)
	}
}

// refusedStream sends a body of size bytes and wants it refused before it is over.
// told is its declared length, -1 for none.
func (h *house) refusedStream(path, token string, size, told int64, want string) {
	h.t.Helper()
	body := &counted{r: io.LimitReader(endless{}, size)}
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+path, body)
	if err != nil {
		h.t.Fatal(err)
	}
	req.ContentLength = told
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Expect", "100-continue") // as curl does with bodies of that size
	client := *h.client
	transport := client.Transport.(*http.Transport).Clone()
	transport.ExpectContinueTimeout = 10 * time.Second
	client.Transport = transport
	defer transport.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		h.t.Errorf("POST %s of %d bytes: %v", path, size, err)
		return
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || strings.TrimSpace(string(got)) != want {
		h.t.Errorf("POST %s of %d bytes: %d %s %v, want 413 %s", path, size, res.StatusCode, got, err, want)
	}
	if n := body.n.Load(); n > size/2 {
		h.t.Errorf("POST %s: %d bytes were taken before it was refused", path, n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

type counted struct {
	r io.Reader
	n atomic.Int64 // the client may still be sending when it has its answer
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
