package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/panel"
)

// writes counts what the devices of the building carried out.
func (e *estate) writes() (n uint64) {
	for _, d := range e.building.Devices() {
		n += d.Writes
	}
	return n
}

func TestATapOnThePanelMovesTheRightRoom(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	lobby, canteen := e.room("lobby", "Lobby", "[1]"), e.room("canteen", "Canteen", "[2]")
	for _, c := range []struct {
		body, widget, value   string
		lobby1, lobby2, other int
	}{
		{`{"widgetId":"light_brightness","type":"released","value":"102"}`, "light_brightness", "102", 40, 40, 0},
		{`{"widgetId":"light_power","type":"changed","value":"off"}`, "light_power", "off", 0, 0, 0},
		{`{"widgetId":"light_power","type":"changed","value":"on"}`, "light_brightness", "102", 40, 40, 0},
		{`{"WidgetId":"light_brightness","Type":"changed","Value":"51"}`, "light_brightness", "51", 20, 20, 0}, // a device's own words
	} {
		a := e.tap("lobby", lobby, c.body).want(t, 200, c.body)
		if a.member("success") != true || a.str("status") != "applied" || a.str("widgets."+c.widget) != c.value {
			t.Errorf("%s: %s", c.body, a.text)
		}
		if got := []int{e.level(1), e.level(2), e.level(3)}; !slices.Equal(got, []int{c.lobby1, c.lobby2, c.other}) {
			t.Errorf("%s: lights are at %v", c.body, got)
		}
		eventually(t, "the panel shows it", func() bool { return e.panel("lobby", lobby).str("widgets."+c.widget) == c.value })
	}
	before := e.writes()
	for _, silent := range []string{`{"widgetId":"light_brightness","type":"pressed","value":"255"}`, `{"widgetId":"shade_stop","type":"pressed"}`, `{"widgetId":"shade_preset","type":"pressed","value":"one_third"}`, `{"widgetId":"shade_stop","type":"released"}`} {
		if a := e.tap("lobby", lobby, silent).want(t, 200, silent); a.member("success") != true {
			t.Errorf("%s: %s", silent, a.text)
		}
	}
	for strange, why := range map[string]string{
		`{"widgetId":"bogus","type":"released"}`:       `widget "bogus" is not on panel platformControls`,
		`{"widgetId":"bogus","type":"wiggled"}`:        `widget "bogus" is not on panel platformControls`,
		`{"widgetId":"light_power","type":"wiggled"}`:  `type "wiggled" is not known: want pressed, changed, released or clicked`,
		`{"widgetId":"light_power","type":"Released"}`: `type "Released" is not known: want pressed, changed, released or clicked`,
	} {
		if a := e.tap("lobby", lobby, strange).want(t, 200, strange); a.member("success") != false || a.str("status") != "rejected" || a.str("message") != why {
			t.Errorf("%s: %s", strange, a.text)
		}
	}
	if n := e.writes() - before; n != 0 {
		t.Errorf("gestures that do nothing made %d writes", n)
	}
	for body, status := range map[string]int{`{`: 400, `{"widgetId":"light_power"}`: 400, `{"widgetId":"light_power","type":"changed","value":"` + strings.Repeat("x", 256) + `"}`: 400} {
		e.tap("lobby", lobby, body).want(t, status, body)
	}
	// Only the code of this very panel opens it.
	for _, code := range []string{"", "nonsense", canteen} {
		e.tap("lobby", code, `{"widgetId":"light_power","type":"changed","value":"off"}`).want(t, 401, "a panel's code "+code)
	}
	e.ask("GET", "/api/conferencing/panels/nowhere?code="+lobby, "").want(t, 401, "an unknown panel")
	if e.level(1) != 20 {
		t.Error("a wrong code switched the light")
	}
	// A panel that is withdrawn does nothing, and its link is worth nothing when it is put up again.
	e.admin.api("DELETE", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "withdraw")
	e.tap("lobby", lobby, `{"widgetId":"light_power","type":"changed","value":"off"}`).want(t, 401, "a panel that was withdrawn")
	again := e.admin.api("POST", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "deploy again").str("data.panelCode")
	if again == lobby || again == "" {
		t.Errorf("the code is %q again", again)
	}
	e.panel("lobby", lobby).want(t, 401, "the old link")
}

// The scenes of a room are on its panel, act on a tap or by their name, and are in the ledger with who asked; those of other rooms are not.
func TestTheScenesOfARoom(t *testing.T) {
	t.Parallel()
	e := newEstateOf(t, plan{site: roomsSite + `
scenes:
  - {id: 1, name: Talk, cluster: 1, actions: [{do: light-level, cluster: 1, level: 40}, {do: light-level, node: 2, level: 80}, {do: shade-open, cluster: 1}]}
  - {id: 2, name: Lunch, actions: [{do: light-level, cluster: 2, level: 30}]}
  - {id: 3, name: Everything off, actions: [{do: light-off}]}
`})
	lobby, canteen := e.room("lobby", "Lobby", "[1]"), e.room("canteen", "Canteen", "[2]")
	has := func(id, code, scenes string) {
		t.Helper()
		eventually(t, "the panel of "+id+" has "+scenes, func() bool {
			b, err := json.Marshal(e.panel(id, code).member("scenes"))
			return err == nil && string(b) == scenes
		})
	}
	has("lobby", lobby, `[{"id":1,"lights":true,"name":"Talk","shades":true}]`)
	has("canteen", canteen, `[{"id":2,"lights":true,"name":"Lunch"}]`)
	tap := func(value string) answer {
		return e.tap("lobby", lobby, `{"widgetId":"scene","type":"clicked","value":"`+value+`"}`).want(t, 200, "scene "+value)
	}
	cursor := e.core.Entries().End()
	if a := tap("1"); a.str("status") != "applied" {
		t.Errorf("a tap on a scene: %s", a.text)
	}
	if got := []int{e.level(1), e.level(2), e.level(3)}; !slices.Equal(got, []int{40, 80, 0}) {
		t.Errorf("the lights are at %v", got)
	}
	entries, _, _ := e.core.Entries().Since(cursor)
	if len(entries) < 3 {
		t.Errorf("the ledger has %d commands", len(entries))
	}
	for _, entry := range entries {
		if o := entry.Command.Origin; o.Via != "shade engine" && (o.Who != "panel Lobby" || o.Via != "panel" || o.Why != "scene Talk") {
			t.Errorf("the ledger says %+v", o)
		}
	}
	eventually(t, "the shade of the scene stands", func() bool { return !e.shade(5001).Moving })
	before := e.writes()
	for _, other := range []string{"2", "3", "7", "Talk", ""} {
		if a := tap(other); a.str("status") != "rejected" || a.member("success") != false {
			t.Errorf("scene %q on the panel of the lobby: %s", other, a.text)
		}
	}
	if n := e.writes() - before; n != 0 || e.level(3) != 0 {
		t.Errorf("scenes of elsewhere made %d writes", n)
	}
	if a := e.say("canteen", "lunch scene"); a.str("speak") != "Scene Lunch." && a.str("speak") != "Sent." {
		t.Errorf("said in the canteen: %s", a.text)
	}
	eventually(t, "the canteen is at 30", func() bool { return e.level(3) == 30 })
}

// A tap that says when the finger was there counts for three seconds from then on, however it was held up: what comes later does
// nothing, is told as such, and the panel hears what is so.
func TestATapThatComesLateDoesNothing(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	tap := func(value string, at time.Time) answer {
		return e.tap("lobby", code, fmt.Sprintf(`{"widgetId":"light_brightness","type":"released","value":%q,"at":%q}`, value, at.Format(time.RFC3339Nano))).want(t, 200, value)
	}
	shown := e.panel("lobby", code)
	clock, err := time.Parse(time.RFC3339Nano, shown.str("time"))
	if off := time.Since(clock); err != nil || off < 0 || off > 10*time.Second {
		t.Errorf("the panel is told the time %q: %v", shown.str("time"), err)
	}
	inTime := func(value string, ahead time.Duration) {
		t.Helper()
		eventually(t, value+" is done", func() bool { // given again with a time of its own, where a busy machine has let it grow old
			a := tap(value, time.Now().Add(ahead))
			if a.str("status") != "applied" {
				t.Logf("in time: %s", a.text)
			}
			return a.str("status") == "applied"
		})
	}
	if inTime("102", 0); e.level(1) != 40 {
		t.Errorf("in time, the light is at %d", e.level(1))
	}
	before := e.writes()
	for _, age := range []time.Duration{3 * time.Second, 46 * time.Second, 240 * time.Hour} {
		a := tap("255", time.Now().Add(-age))
		if a.member("success") != false || a.str("status") != "expired" || a.str("message") != "That came too late; nothing was done." || a.str("widgets.light_brightness") != "102" {
			t.Errorf("%v old: %s", age, a.text)
		}
	}
	if n := e.writes() - before; n != 0 || e.level(1) != 40 {
		t.Errorf("late taps made %d writes, the light is at %d", n, e.level(1))
	}
	inTime("51", time.Minute) // of a panel whose clock runs ahead
	e.tap("lobby", code, `{"widgetId":"light_power","type":"changed","value":"off","at":"yesterday"}`).want(t, 400, "no time")

	// So does a sentence.
	say := func(at time.Time) answer {
		body := fmt.Sprintf(`{"text":"lights to 70 percent","at":%q}`, at.Format(time.RFC3339Nano))
		return e.ask("POST", "/api/conferencing/panels/lobby/say", body, "Authorization: Bearer "+code).want(t, 200, "say")
	}
	before = e.writes()
	if a := say(time.Now().Add(-3 * time.Second)); a.member("success") != false || a.str("speak") != "That came too late; nothing was done." || a.str("time") == "" || e.writes() != before {
		t.Errorf("a late sentence made %d writes: %s", e.writes()-before, a.text)
	}
	eventually(t, "a sentence in time is obeyed", func() bool { return say(time.Now()).member("success") == true && e.level(1) == 70 })
}

// Whoever looks at the panel right after a sentence sees what it did.
func TestThePanelShowsASentenceAtOnce(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	for i, c := range []struct{ text, slider string }{{"lights to 40 percent", "102"}, {"lights to 60 percent", "153"}, {"lights to 20 percent", "51"}} {
		eventually(t, c.text+" is told as done", func() bool { // a busy machine may say that it was sent, or not done
			a := e.ask("POST", "/api/conferencing/panels/lobby/say", `{"text":"`+c.text+`"}`, "Authorization: Bearer "+code).want(t, 200, c.text)
			return strings.HasPrefix(a.str("message"), "Lights at ")
		})
		if v := e.panel("lobby", code); v.str("widgets.light_brightness") != c.slider {
			t.Errorf("%d: after %q the panel shows %s", i, c.text, v.text)
		}
	}
}

func TestAQuestionRightAfterAnOrderHearsOfIt(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	e.room("lobby", "Lobby", "[1]")
	key := e.admin.api("POST", "/api/api-keys", `{"name":"control","permissions":{"control":true}}`).want(t, 201, "key").str("data.key")
	chat := func(message string) string {
		return e.ask("POST", chatPath, `{"message":"`+message+`","sessionId":"s"}`, "X-API-Key: "+key, "Content-Type: application/json").want(t, 200, message).str("reply")
	}
	for _, level := range []string{"30", "70"} {
		chat("set the lobby lights to " + level + " %")
		done := chat("yes")
		if strings.Contains(done, "On its way") || !strings.HasPrefix(done, "Done") {
			continue // the machine was busy, and that was said
		}
		if now := chat("how bright are the lights in the lobby?"); !strings.Contains(now, "Each is at "+level+" %") {
			t.Errorf("after %q: %s", done, now)
		}
	}
}

func TestATapThatIsToldOftenOrLateActsOnce(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	tap := func(value string, seq int) answer {
		return e.ask("POST", "/api/conferencing/panels/lobby/widget", fmt.Sprintf(`{"widgetId":"light_brightness","type":"released","value":%q,"source":"s","seq":%d}`, value, seq),
			"Authorization: Bearer "+code)
	}
	seq, since := 5, e.lastWrite()
	eventually(t, "a tap that is applied", func() bool { // one whose outcome a busy machine heard too late keeps that
		if tap("102", seq).str("status") == "applied" {
			return true
		}
		seq, since = seq+10, e.lastWrite()
		return false
	})
	for range 2 {
		if a := tap("102", seq); a.str("status") != "applied" {
			t.Errorf("told again: %s", a.text)
		}
	}
	eventually(t, "the next tap", func() bool { seq++; return tap("255", seq).str("status") == "applied" })
	for _, light := range []appliance.ID{1, 2} {
		if got := e.levels(light, since); len(got) < 2 || got[0] != 40 || got[1] != 100 {
			t.Errorf("one tap told three times and another set light %d to %v", light, got)
		}
	}
	if a := e.tap("lobby", code, `{"widgetId":"light_brightness","type":"released","value":"26","source":"s","seq":4}`); a.str("status") != "stale" || e.level(1) != 100 {
		t.Errorf("a tap that was overtaken: %s, the light is at %d", a.text, e.level(1))
	}
}

func TestThePanelLearnsWhatOthersDo(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	tag := e.panel("lobby", code).str("tag")
	changed := make(chan answer, 1)
	go func() {
		var a answer
		for range 10 { // what was read of the room just before may come first
			a = e.ask("GET", "/api/conferencing/panels/lobby?wait=25&since="+tag+"&code="+code, "")
			if tag = a.str("tag"); a.StatusCode != 200 || a.str("widgets.light_power") == "on" {
				break
			}
		}
		changed <- a
	}()
	e.do(appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}, Level: 60})
	if a := <-changed; a.StatusCode != 200 || a.str("widgets.light_power") != "on" {
		t.Errorf("whoever waited got %d %s", a.StatusCode, a.text)
	}
	eventually(t, "the panel shows the level", func() bool { return e.panel("lobby", code).str("widgets.light_brightness") == "153" })
}

// cloud of a provider, as far as the platform speaks to it: the same addresses, bodies and refusals as Webex.
type devicesCloud struct {
	*httptest.Server
	mu     sync.Mutex
	shows  map[string]string // "device/widget" → value
	saved  []string          // panels
	opened []string          // likewise
	tokens int
	fail   int // so many commands fail yet
}

func newDevicesCloud(t *testing.T) *devicesCloud {
	c := &devicesCloud{shows: map[string]string{}}
	may := manifest(t)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /access_token", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.FormValue("grant_type") != "refresh_token" || r.FormValue("client_id") != "id" || r.FormValue("client_secret") != "hush" || r.FormValue("refresh_token") != "again" {
			http.Error(w, `{"message":"invalid_grant"}`, 400)
			return
		}
		c.tokens++
		fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600,"token_type":"Bearer"}`, c.tokens)
	})
	known := func(w http.ResponseWriter, r *http.Request, needs ...string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, one := range needs {
			if !may[one] {
				t.Errorf("%s %s needs %s, which the manifest does not ask for", r.Method, r.URL, one)
				http.Error(w, `{"message":"Missing required scopes"}`, http.StatusForbidden)
				return false
			}
		}
		if r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s comes as %q", r.Method, r.URL, r.Header.Get("Content-Type"))
		}
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", c.tokens) || c.tokens == 1 { // the first one is withdrawn at once
			http.Error(w, `{"message":"The request requires a valid access token"}`, http.StatusUnauthorized)
			return false
		}
		return true
	}
	mux.HandleFunc("GET /workspaces", func(w http.ResponseWriter, r *http.Request) {
		if known(w, r, "spark-admin:workspaces_read") {
			io.WriteString(w, `{"items":[{"id":"w1","displayName":"Lobby"},{"id":"w2","displayName":"Canteen"}]}`)
		}
	})
	mux.HandleFunc("GET /devices", func(w http.ResponseWriter, r *http.Request) {
		if !known(w, r, "spark-admin:devices_read") {
			return
		}
		if r.URL.Query().Get("cursor") == "" {
			w.Header().Set("Link", `<`+c.URL+`/devices?cursor=2>; rel="next"`)
			io.WriteString(w, `{"items":[{"id":"dev-lobby","displayName":"Room Kit","workspaceId":"w1"}]}`)
			return
		}
		io.WriteString(w, `{"items":[{"id":"dev-canteen","displayName":"Room Bar","workspaceId":"w2"}]}`)
	})
	mux.HandleFunc("POST /xapi/command/{key}", func(w http.ResponseWriter, r *http.Request) {
		if !known(w, r, "spark:xapi_commands", r.PathValue("key")) {
			return
		}
		var in struct {
			Device    string         `json:"deviceId"`
			Arguments map[string]any `json:"arguments"`
			Body      string         `json:"body"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || !strings.HasPrefix(in.Device, "dev-") {
			http.Error(w, `{"message":"no such device"}`, 404)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.fail > 0 {
			c.fail--
			http.Error(w, `{"message":"device unreachable"}`, http.StatusBadGateway)
			return
		}
		argument := func(name string) string { text, _ := in.Arguments[name].(string); return text }
		at := in.Device + "/" + argument("WidgetId")
		switch r.PathValue("key") {
		case "UserInterface.Extensions.Widget.SetValue":
			c.shows[at] = argument("Value")
		case "UserInterface.Extensions.Widget.UnsetValue":
			delete(c.shows, at)
		case "UserInterface.Extensions.Panel.Open":
			c.opened = append(c.opened, in.Device+" "+argument("PanelId"))
		case "UserInterface.Message.TextLine.Display":
			if in.Arguments["Duration"] != 6.0 {
				http.Error(w, `{"message":"Duration is no number"}`, 400)
				return
			}
			c.shows[in.Device] = argument("Text")
		case "UserInterface.Extensions.Panel.Save":
			c.saved = append(c.saved, in.Device+" "+argument("PanelId"))
			if in.Body != panel.Description {
				http.Error(w, `{"message":"no panel in it"}`, 400)
				return
			}
		}
		io.WriteString(w, `{"deviceId":"`+in.Device+`","result":{}}`)
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *devicesCloud) shown(at string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shows[at]
}

const hookSecret = "a webhook secret"

// notify sends a batch of notifications as Webex does.
func (e *estate) notify(body string) answer {
	e.t.Helper()
	return e.ask("POST", panel.WebhookPath, body, "X-Spark-Signature: "+signature(body))
}

// insist waits until something is so, and taps again from time to time, as a person would: a controller gives a command up that its
// hardware has not confirmed in time, which happens on a machine that has other work. It returns how often it tapped.
func (e *estate) insist(what string, so func() bool, device, widget, kind, value string) (taps int) {
	e.t.Helper()
	again := time.Now().Add(5 * time.Second)
	eventually(e.t, what, func() bool {
		if so() {
			return true
		}
		if time.Now().After(again) {
			e.notify(`[`+gesture(device, widget, kind, value, time.Now())+`]`).want(e.t, 204, what)
			again = time.Now().Add(5 * time.Second)
			taps++
		}
		return false
	})
	return taps
}

func signature(body string) string {
	mac := hmac.New(sha1.New, []byte(hookSecret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// gesture is a notification of one gesture.
func gesture(device, widget, kind, value string, at time.Time) string {
	return fmt.Sprintf(`{"appId":"a","deviceId":%q,"workspaceId":"w1","orgId":"o","timestamp":%q,"type":"events","events":[{"key":"UserInterface.Extensions.Widget.Action","value":{"WidgetId":%q,"Type":%q,"Value":%q}}]}`,
		device, at.UTC().Format(time.RFC3339Nano), widget, kind, value)
}

func TestDevicesOfTheIntegrationAreFoundDeployedObeyedAndWrittenBack(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	cloud := newDevicesCloud(t)
	e := newEstate(t, map[string]string{"WEBEX_URL": cloud.URL, "WEBEX_CLIENT_ID": "id", "WEBEX_CLIENT_SECRET": "hush", "WEBEX_REFRESH_TOKEN": "again", "WEBEX_WEBHOOK_SECRET": hookSecret})
	if a := e.admin.api("POST", "/api/conferencing/devices/refresh", "").want(t, 200, "refresh"); a.member("data.found") != 2.0 {
		t.Errorf("refresh: %s", a.text)
	}
	const lobby = "/api/conferencing/devices/dev-lobby"
	if a := e.admin.api("GET", lobby, ""); a.str("data.workspaceName") != "Lobby" {
		t.Errorf("the device is %s", a.text)
	}
	e.admin.api("PUT", lobby, `{"controllerId":"rooms","clusterIds":[1]}`).want(t, 200, "assign")
	cloud.mu.Lock()
	cloud.fail = 1
	cloud.mu.Unlock()
	e.admin.api("POST", lobby+"/deploy", "").want(t, 502, "deploy on a device that cannot be reached")
	e.admin.api("POST", lobby+"/deploy", "").want(t, 200, "deploy")
	if cloud.mu.Lock(); !slices.Equal(cloud.saved, []string{"dev-lobby platformControls"}) {
		t.Errorf("panels on devices: %v", cloud.saved)
	}
	cloud.mu.Unlock()
	eventually(t, "a new panel shows what is so", func() bool { return cloud.shown("dev-lobby/light_power") == "off" })

	// A tap, told three times in different batches, with gestures that mean nothing.
	at, before := time.Now(), e.writes()
	tap := gesture("dev-lobby", "light_brightness", "released", "128", at)
	e.notify(`[`+gesture("dev-lobby", "light_brightness", "pressed", "10", at)+`,`+tap+`,{"type":"healthCheck"}]`).want(t, 204, "a batch")
	e.notify(`[`+tap+`,`+tap+`]`).want(t, 204, "the same again")
	e.insist("the lights follow", func() bool { return e.level(1) == 50 && e.level(2) == 50 }, "dev-lobby", "light_brightness", "released", "128")
	eventually(t, "the device shows it", func() bool {
		return cloud.shown("dev-lobby/light_brightness") == "128" && cloud.shown("dev-lobby/light_power") == "on"
	})
	once := e.writes() - before

	// Late, overtaken, of other devices, of other people: nothing moves.
	e.notify(`[`+gesture("dev-lobby", "light_brightness", "released", "255", at.Add(-time.Millisecond))+`]`).want(t, 204, "overtaken")
	e.notify(`[`+gesture("dev-lobby", "light_power", "changed", "off", at.Add(-11*time.Second))+`]`).want(t, 204, "late")
	e.notify(`[`+gesture("dev-canteen", "light_power", "changed", "on", time.Now())+`,`+gesture("dev-nowhere", "light_power", "changed", "on", time.Now())+`]`).want(t, 204, "other devices")
	off := `[` + gesture("dev-lobby", "light_power", "changed", "off", time.Now()) + `]`
	e.ask("POST", panel.WebhookPath, off).want(t, 401, "without a signature")
	e.ask("POST", panel.WebhookPath, off, "X-Spark-Signature: "+strings.Repeat("00", sha1.Size)).want(t, 401, "with a wrong one")
	e.notify(`[{`).want(t, 400, "nonsense, signed")
	e.notify(`[`+strings.Repeat(" ", 300<<10)+`]`).want(t, 413, "too large")

	// Changed by others; then a device that was started again and shows nothing.
	e.do(appliance.Command{Kind: appliance.LightLevel, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}, Level: 20})
	eventually(t, "the device shows what others did", func() bool { return cloud.shown("dev-lobby/light_brightness") == "51" })
	cloud.mu.Lock()
	clear(cloud.shows)
	cloud.fail = 1 // and the first write is lost
	cloud.mu.Unlock()
	e.notify(`[{"deviceId":"dev-lobby","timestamp":"`+time.Now().UTC().Format(time.RFC3339)+`","type":"events","events":[{"key":"BootEvent","value":{}}]}]`).want(t, 204, "the device was started")
	eventually(t, "the device shows it again", func() bool {
		return cloud.shown("dev-lobby/light_brightness") == "51" && cloud.shown("dev-lobby/light_power") == "on"
	})
	if e.level(1) != 20 || once == 0 {
		t.Errorf("the light is at %d; the tap made %d writes", e.level(1), once)
	}

	// Presets: the group's button is shown, and taken back when the shade stands elsewhere.
	e.notify(`[`+gesture("dev-lobby", "shade_preset", "released", "one_third", time.Now())+`]`).want(t, 204, "a preset")
	e.insist("the preset is shown", func() bool { return cloud.shown("dev-lobby/shade_preset") == "one_third" }, "dev-lobby", "shade_preset", "released", "one_third")
	e.notify(`[`+gesture("dev-lobby", "shade_position", "released", "255", time.Now())+`]`).want(t, 204, "open")
	e.insist("it is taken back", func() bool {
		return cloud.shown("dev-lobby/shade_preset") == "" && cloud.shown("dev-lobby/shade_position") == "255"
	}, "dev-lobby", "shade_position", "released", "255")

	// What was not done is said on the screen, and the switch goes back.
	if _, err := e.db.SetSession(t.Context(), platform.Session{Controller: "rooms", Online: false, Boot: 1 << 40, At: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	cloud.mu.Lock()
	cloud.shows["dev-lobby/light_power"] = "off" // as the finger left it
	cloud.mu.Unlock()
	e.notify(`[`+gesture("dev-lobby", "light_power", "changed", "off", time.Now())+`]`).want(t, 204, "away")
	eventually(t, "the screen says that nothing was done", func() bool {
		return cloud.shown("dev-lobby") == "Lights: "+platform.ControllerOffline && cloud.shown("dev-lobby/light_power") == "on"
	})
}

func TestWhatIsMissingInARoomIsSaidAndNothingMoves(t *testing.T) {
	t.Parallel()
	e := newEstate(t, map[string]string{"WEBEX_WEBHOOK_SECRET": hookSecret})
	code := e.room("lobby", "Lobby", "[1]")
	for _, body := range []string{`{"deviceId":"new","workspaceName":"New"}`, `{"deviceId":"bare","workspaceName":"Bare","controllerId":"rooms","clusterIds":[2]}`} {
		e.admin.api("POST", "/api/conferencing/devices", body).want(t, 201, "enter")
	}
	e.admin.api("POST", "/api/controllers", `{"name":"Gone"}`)
	before := e.writes()
	for _, c := range []struct{ device, workspace, says string }{
		{"nowhere", "", platform.DeviceUnknown}, {"new", "New", platform.DeviceUnassigned}, {"bare", "Bare", platform.DeviceUndeployed},
	} {
		a := e.ask("POST", "/api/conferencing/voice/action", `{"deviceId":"`+c.device+`","text":"lights on"}`, "X-Voice-Action-Token: "+e.voice).want(t, 200, c.device)
		if a.member("success") != false || a.str("message") != c.says || a.str("speak") != c.says || a.str("workspaceName") != c.workspace {
			t.Errorf("%s: %s", c.device, a.text)
		}
		e.notify(`[`+gesture(c.device, "light_power", "changed", "on", time.Now())+`]`).want(t, 204, c.device)
		if a := e.admin.api("POST", "/api/conferencing/devices/"+c.device+"/test", ""); a.StatusCode != 404 && a.str("message") != c.says || (a.StatusCode == 404) != (c.device == "nowhere") {
			t.Errorf("test of %s: %d %s", c.device, a.StatusCode, a.text)
		}
		e.admin.api("POST", "/api/conferencing/devices/new/deploy", "").want(t, 409, "deploy without a controller")
	}
	eventually(t, "test of a room that is ready", func() bool {
		a := e.admin.api("POST", "/api/conferencing/devices/lobby/test", "").want(t, 200, "test of a room that is ready")
		return a.member("success") == true && strings.Contains(a.str("message"), "answers")
	})
	for clusters, names := range map[string]string{"[999]": "no cluster 999:", "[1,998,999]": "no clusters 998, 999:"} {
		e.admin.api("PUT", "/api/conferencing/devices/bare", `{"clusterIds":`+clusters+`}`).want(t, 200, "clusters that are not there")
		e.admin.api("POST", "/api/conferencing/devices/bare/deploy", "").want(t, 200, "deploy")
		eventually(t, "test names clusters that the controller does not have", func() bool {
			a := e.admin.api("POST", "/api/conferencing/devices/bare/test", "").want(t, 200, "test")
			return a.member("success") == false && strings.Contains(a.str("message"), names)
		})
	}
	if n := e.writes() - before; n != 0 {
		t.Errorf("%d writes", n)
	}
	// A room whose controller is offline.
	stamp := time.Now().Add(time.Hour)
	if _, err := e.db.SetSession(t.Context(), platform.Session{Controller: "rooms", Online: false, Boot: 1 << 40, At: stamp}); err != nil {
		t.Fatal(err)
	}
	a := e.tap("lobby", code, `{"widgetId":"light_power","type":"changed","value":"on"}`)
	said := e.ask("POST", "/api/conferencing/panels/lobby/say", `{"text":"lights on"}`, "Authorization: Bearer "+code)
	tested := e.admin.api("POST", "/api/conferencing/devices/lobby/test", "")
	for _, got := range []answer{a, said, tested} {
		if got.member("success") != false || got.str("message") != platform.ControllerOffline {
			t.Errorf("offline: %s", got.text)
		}
	}
	if n := e.writes() - before; n != 0 || e.panel("lobby", code).member("online") != false {
		t.Errorf("offline: %d writes, the panel is %s", n, e.panel("lobby", code).text)
	}
}
