package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/sim"
)

// What docs/voice.md decides, one by one, on the whole of it. Sliders, sequences and the gate are tried in automation, the will
// and keep-alive in platform/link.
func TestDecisionsOfVoiceAndPanel(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	cloud := newDevicesCloud(t)
	e := newEstate(t, map[string]string{
		"WEBEX_URL": cloud.URL, "WEBEX_CLIENT_ID": "id", "WEBEX_CLIENT_SECRET": "hush", "WEBEX_REFRESH_TOKEN": "again", "WEBEX_WEBHOOK_SECRET": hookSecret,
	})
	code := e.room("lobby", "Lobby", "[1]")
	e.room("dev-canteen", "Canteen", "[2]")
	const path = "/api/conferencing/voice/action"
	token := "X-Voice-Action-Token: " + e.voice

	t.Run("statuses", func(t *testing.T) {
		for _, c := range []struct {
			method, body, header string
			want                 int
		}{
			{"POST", `{"deviceId":"lobby"}`, token, 400},
			{"POST", `{"deviceId":"lobby","text":"lights on"}`, "X-Voice-Action-Token: guess", 401},
			{"GET", "", token, 405},
			{"POST", `{"deviceId":"lobby","text":"` + strings.Repeat("x", 20<<10) + `"}`, token, 413},
			{"POST", `{"deviceId":"lobby","text":"` + strings.Repeat("ä", 501) + `"}`, token, 400},
			{"POST", `{"deviceId":"lobby","text":"` + strings.Repeat("ä", 500) + `"}`, token, 200},
		} {
			a := e.ask(c.method, path, c.body, c.header).want(t, c.want, c.method+" "+c.body[:min(40, len(c.body))])
			if a.member("success") != false || a.str("message") == "" {
				t.Errorf("%d %s", a.StatusCode, a.text)
			}
		}
	})
	t.Run("reply and speak", func(t *testing.T) {
		a := e.say("lobby", "lights to 40 percent")
		if a.str("speak") != a.str("message") || a.str("reply") == "" || a.str("deviceId") != "lobby" || a.str("workspaceName") != "Lobby" {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("several things at once, all or nothing", func(t *testing.T) {
		eventually(t, "what was said before is done", func() bool { return e.level(1) == 40 && e.level(2) == 40 })
		before := e.writes()
		for _, text := range []string{"lights off and open the door", "close the shades and turn off the lights in the canteen", "lights off in ten minutes"} {
			if a := e.say("lobby", text); a.member("success") != false {
				t.Errorf("%q: %s", text, a.text)
			}
		}
		if n := e.writes() - before; n != 0 {
			t.Errorf("%d writes", n)
		}
	})
	t.Run("a switch without a known state is on or off, a mixed room is on", func(t *testing.T) {
		e.say("lobby", "lights to 60 percent")
		e.reported(60)
		if a := e.say("lobby", "toggle the lights"); a.str("message") != "Lights off." && a.str("message") != "Sent." { // what a busy machine says in time
			t.Errorf("%s", a.text)
		}
		eventually(t, "the lights are off", func() bool { return e.level(1) == 0 })
	})
	t.Run("stop on the panel", func(t *testing.T) {
		if a := e.tap("lobby", code, `{"widgetId":"shade_stop","type":"clicked"}`); a.str("status") != "applied" {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("show the controls", func(t *testing.T) {
		if a := e.say("lobby", "show the controls"); a.str("panel") != "platformControls" { // the cloud does not know this device
			t.Errorf("%s", a.text)
		}
		if a := e.say("dev-canteen", "open the panel"); a.member("success") != true || a.str("panel") != "" {
			t.Errorf("%s", a.text)
		}
		cloud.mu.Lock()
		defer cloud.mu.Unlock()
		if got := strings.Join(cloud.opened, ", "); got != "dev-canteen platformControls" {
			t.Errorf("opened: %s", got)
		}
	})
	t.Run("devices", func(t *testing.T) {
		e.ask("GET", "/api/conferencing/devices", "").want(t, 401, "a stranger")
		user := e.newPerson("bob", platform.RoleUser)
		user.api("GET", "/api/conferencing/devices", "").want(t, 403, "who is no admin")
		e.ask("POST", path, `{"deviceId":"lobby","text":"show the controls","source":"`+strings.Repeat("s", 33)+`"}`, token).want(t, 400, "a long source")
		if a := e.say("nowhere", "lights on"); a.str("workspaceName") != "" || a.str("message") != platform.DeviceUnknown {
			t.Errorf("%s", a.text)
		}
	})
	t.Run("outcome, offline devices are named", func(t *testing.T) {
		id, err := e.building.AddFault(sim.Fault{Bus: "tcp", Address: "2", Kind: sim.FaultSilent})
		if err != nil {
			t.Fatal(err)
		}
		defer e.building.RemoveFault(id)
		var a answer
		eventually(t, "what became of it is told", func() bool {
			a = e.say("dev-canteen", "lights on") // its only light is silent: it is not said to be on
			return a.str("message") != "Sent."
		})
		if a.member("success") != false || !strings.Contains(a.str("message"), "Canteen 1") {
			t.Errorf("%s", a.text)
		}
		before := e.level(3)
		time.Sleep(time.Second) // whatever were late would come now
		if e.level(3) != before {
			t.Errorf("after a refusal the light went from %d to %d", before, e.level(3))
		}
	})
	t.Run("rate", func(t *testing.T) {
		var limited answer
		for try := 0; try < 2 && limited.Response == nil; try++ { // a minute may end among the first, but not among these, too
			answers := make(chan answer, 61)
			for i := range 61 { // at once: a minute later the first would count no more
				go func() { answers <- e.say("no-device", fmt.Sprint("sentence ", i)) }()
			}
			for range 61 {
				if one := <-answers; one.StatusCode != 200 {
					limited = one
				}
			}
		}
		if limited.Response == nil {
			t.Fatal("of twice 61 none was refused")
		}
		if limited.StatusCode != 429 || limited.Header.Get("X-RateLimit-Limit") != "60" || limited.Header.Get("Retry-After") == "" {
			t.Errorf("the 61st: %d %s %v", limited.StatusCode, limited.text, limited.Header)
		}
		e.say("another", "lights on").want(t, 200, "another device has its own")
	})
}

func TestVoiceSwitches(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     map[string]string
		listen  string
		enabled bool
		starts  bool
	}{
		{"nothing", nil, ":443", false, true},
		{"true", map[string]string{"VOICE_ACTION_ENABLED": "true", "VOICE_ACTION_TOKEN": "t"}, ":443", true, true},
		{"1", map[string]string{"VOICE_ACTION_ENABLED": "1", "VOICE_ACTION_TOKEN": "t"}, ":443", true, true},
		{"yes is no", map[string]string{"VOICE_ACTION_ENABLED": "yes", "VOICE_ACTION_TOKEN": "t"}, ":443", false, true},
		{"TRUE is no", map[string]string{"VOICE_ACTION_ENABLED": "TRUE"}, ":443", false, true},
		{"without a token", map[string]string{"VOICE_ACTION_ENABLED": "true"}, ":443", true, false},
		{"dev mode for others", map[string]string{"VOICE_ACTION_ENABLED": "true", "VOICE_ACTION_DEV_MODE": "1"}, ":443", true, false},
		{"dev mode here", map[string]string{"VOICE_ACTION_ENABLED": "true", "VOICE_ACTION_DEV_MODE": "1"}, "127.0.0.1:443", true, true},
	} {
		set, err := readSettings(func(name string) string { return c.env[name] })
		if err == nil {
			err = set.voice.check(serveConfig{listen: c.listen})
			if set.voice.enabled != c.enabled {
				t.Errorf("%s: enabled is %v", c.name, set.voice.enabled)
			}
		}
		if (err == nil) != c.starts {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestADisabledVoiceEndpointIsNotThere(t *testing.T) {
	t.Parallel()
	e := newEstate(t, map[string]string{"VOICE_ACTION_ENABLED": "false"})
	e.ask("POST", "/api/conferencing/voice/action", `{"deviceId":"lobby","text":"lights on"}`, "X-Voice-Action-Token: "+e.voice).want(t, 404, "disabled")
}
