package voice

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/cloud/wire"
	"svc.internal/controller/platform"
	"svc.internal/controller/platform/understand"
	"svc.internal/controller/shelf/web"
)

// building is a platform with one controller that answers as told.
type building struct {
	platform.SiteReader
	lights []platform.Device
	scenes []wire.Scene
	ack    wire.Ack
	err    error
	sent   []wire.WidgetAction
	slow   bool // nobody answers while the sentence is waited for
	opens  func(device string) error
	counts map[string]int

	answered func() (map[string]string, time.Time) // what the panel shows, and since which answer
}

func (b *building) RoomDevice(_ context.Context, id string) (platform.RoomDevice, error) {
	d := platform.RoomDevice{ID: id, Workspace: "Blue Room", Controller: "house", Clusters: []int64{1}, Deployed: true}
	switch id {
	case "room":
		return d, nil
	case "undeployed":
		d.Deployed = false
		return d, nil
	case "unassigned":
		return platform.RoomDevice{ID: id, Workspace: "New Room"}, nil
	}
	return platform.RoomDevice{}, platform.ErrNotFound
}

func (b *building) Devices(context.Context, string) ([]platform.Device, error) { return b.lights, nil }

func (b *building) Send(ctx context.Context, controller string, a wire.WidgetAction, patience time.Duration) (wire.Ack, error) {
	if controller != "house" {
		return wire.Ack{}, platform.ErrNotFound
	}
	if ctx.Err() != nil { // as the store says on the way
		return wire.Ack{}, ctx.Err()
	}
	b.sent = append(b.sent, a)
	if b.slow {
		select {
		case <-time.After(patience):
		case <-ctx.Done():
		}
		return wire.Ack{}, platform.ErrUnanswered
	}
	return b.ack, b.err
}

func light(level float64) platform.Device {
	return platform.Device{Kind: platform.KindLight, Online: true, Zones: []int64{1}, Level: &platform.Reading{Value: level}}
}

func restored(d platform.Device) platform.Device {
	d.Level.Source = string(wire.Restored)
	return d
}

const secret = "a shared secret"

// open serves the endpoint of b.
func (b *building) open(t *testing.T, dev bool) func(headers map[string]string, body string) (int, Response) {
	t.Helper()
	b.counts = map[string]int{}
	e := web.New(web.Config{Log: slog.New(slog.DiscardHandler), Errors: web.Table{{Err: platform.ErrInvalid, Status: http.StatusBadRequest}}})
	cfg := Config{
		Token: secret, Dev: dev, Devices: b, Send: b, Site: b, Log: slog.New(slog.DiscardHandler),
		Charge:   func(_ echo.Context, k platform.Bucket) error { b.counts[k.ID]++; return nil },
		Stranger: func(*http.Request) platform.Bucket { return platform.Bucket{ID: "stranger"} },
		Scenes:   func(string, string) []wire.Scene { return b.scenes },
	}
	if b.answered != nil {
		cfg.Answered = func(string, string) (map[string]string, time.Time) { return b.answered() }
	}
	if b.opens != nil {
		cfg.Open = func(_ context.Context, device string) error { return b.opens(device) }
	}
	NewRoom(cfg).Register(e)
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	return func(headers map[string]string, body string) (int, Response) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, s.URL+Path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var out Response
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return resp.StatusCode, out
	}
}

var good = map[string]string{"X-Voice-Action-Token": secret}

func TestSentencesBecomeGestures(t *testing.T) {
	for _, c := range []struct {
		name, text string
		lights     []platform.Device
		want       string // widget action value, several apart by ", "
		says       string
	}{
		{"on", "turn on the lights", nil, "light_power changed on", "Lights on."},
		{"off", "lights off", nil, "light_power changed off", "Lights off."},
		{"toggle of a dark room", "toggle the lights", []platform.Device{light(0)}, "light_power changed on", "Lights on."},
		{"toggle of a mixed room", "toggle the lights", []platform.Device{light(0), light(30)}, "light_power changed off", "Lights off."},
		{"toggle of a room that is not known", "toggle the lights", nil, "light_power changed on", "Lights on."},
		{"a level", "set the lights to 50 percent", nil, "light_brightness released 128", "Lights at 50 percent."},
		{"dimmer", "dim the lights", []platform.Device{light(50)}, "light_brightness released 77", "Lights at 30 percent."},
		{"never dimmed to off", "dim the lights", []platform.Device{light(10)}, "light_brightness released 3", "Lights at 1 percent."},
		{"dimmer, level not known", "dim the lights", nil, "", darkness},
		{"dimmer, level from before a restart", "dim the lights", []platform.Device{restored(light(50))}, "", darkness},
		{"a step after a level", "lights to 20 percent and brighten them by 10", []platform.Device{light(80)}, "light_brightness released 51, light_brightness released 77", "Lights at 20 percent. Lights at 30 percent."},
		{"a step after coming on", "turn on the lights and dim them", []platform.Device{light(0)}, "", darkness},
		{"brighter by", "brighten the lights by 10 percent", []platform.Device{light(40), light(60)}, "light_brightness released 153", "Lights at 60 percent."},
		{"dimmer by a part", "dim the lights by half", []platform.Device{light(40)}, "light_brightness released 51", "Lights at 20 percent."},
		{"brighter by a part", "brighten the lights by a quarter", []platform.Device{light(40)}, "light_brightness released 128", "Lights at 50 percent."},
		{"brighter by a part of nothing", "brighten the lights by a quarter", []platform.Device{light(0)}, "light_brightness released 64", "Lights at 25 percent."},
		{"half of what there is", "half as bright, please", []platform.Device{light(40)}, "light_brightness released 51", "Lights at 20 percent."},
		{"double of what there is", "Licht doppelt so hell", []platform.Device{light(40)}, "light_brightness released 204", "Licht auf 80 Prozent."},
		{"double of nothing", "double the light", []platform.Device{light(0)}, "", "The lights are off."},
		{"shades open", "open the shades", nil, "shade_position released 255", "Shades opening."},
		{"shades down", "close the blinds", nil, "shade_position released 0", "Shades closing."},
		{"shades part", "shades to 40 percent", nil, "shade_position released 102", "Shades going to 40 percent open."},
		{"a preset", "shades two thirds", nil, "shade_preset released two_thirds", "Shades going to two thirds."},
		{"stop", "stop the shades", nil, "shade_stop clicked ", "Shades stopped."},
		{"two things", "lights off and close the shades", nil, "light_power changed off, shade_position released 0", "Lights off. Shades closing."},
		{"the panel", "show the controls", nil, "", "Here are the controls."},
		{"another room", "turn on the kitchen lights", nil, "", refusals[understand.Elsewhere]},
		{"not a command", "lorem ipsum dolor", nil, "", unheard},
		{"another thing", "play some music", nil, "", refusals[understand.Missing]},
		{"back up from off", "bring the lights up again", []platform.Device{light(0)}, "light_power changed on", "Lights on."},
		{"back up from less", "Licht wieder hoch bitte", []platform.Device{light(40)}, "light_brightness released 153", "Licht auf 60 Prozent."},
		{"one thing stays where it is", "lights off and leave the blinds where they are", []platform.Device{shade(40, "closing")}, "light_power changed off", "Lights off."},
		{"all dark", "Macht bitte alles dunkel", nil, "light_power changed off, shade_position released 0", "Licht aus. Rollos fahren zu."},
		{"one thing too much", "dim the lights and close the shades", nil, "", darkness},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &building{lights: c.lights, ack: wire.Ack{Status: wire.Applied}}
			status, out := b.open(t, false)(good, `{"deviceId":"room","text":`+quoted(c.text)+`}`)
			var sent []string
			for _, a := range b.sent {
				if a.Origin != wire.OriginVoice || a.PanelID != wire.ControlsPanel || a.DeviceID != "room" || a.Utterance != "" {
					t.Errorf("sent %+v", a)
				}
				sent = append(sent, a.WidgetID+" "+string(a.Action)+" "+a.Value)
			}
			if got := strings.Join(sent, ", "); got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
			if status != http.StatusOK || out.Message != c.says || out.Speak != c.says || !strings.Contains(out.Reply, strings.Trim(c.says, ".")) && c.says != unheard || out.WorkspaceName != "Blue Room" || out.DeviceID != "room" {
				t.Errorf("%d %+v", status, out)
			}
			if wantOK := c.want != "" || c.name == "the panel"; out.Success != wantOK {
				t.Errorf("success is %v", out.Success)
			}
			if (out.Panel != "") != (c.name == "the panel") {
				t.Errorf("panel is %q", out.Panel)
			}
		})
	}
}

// What is said is done whole or not at all: what a room cannot do is named, and nothing moves.
func TestWhatARoomCannotDoIsRefusedWithTheReason(t *testing.T) {
	for text, why := range map[string]string{
		"lights off at 8 pm":                                     refusals[understand.Later],
		"turn the lights off in ten minutes":                     refusals[understand.Later],
		"lights on for an hour":                                  refusals[understand.For],
		"lights off and close the shades at 8 pm":                refusals[understand.Later],
		"close the shades when it gets dark":                     refusals[understand.If],
		"turn off all lights except the ones at the window":      "",
		"lights off but the lobby":                               refusals[understand.Elsewhere],
		"activate the movie scene":                               refusals[understand.SceneSet],
		"make the lights blue":                                   refusals[understand.Coloured],
		"lights off, shades down, and the lights in the kitchen": "",
		"lights to 20 percent and stop the music":                "",
		"Licht aus um 20 Uhr":                                    "Später kann ich es nicht tun",
	} {
		b := &building{lights: []platform.Device{light(50)}, ack: wire.Ack{Status: wire.Applied}}
		_, out := b.open(t, false)(good, `{"deviceId":"room","text":`+quoted(text)+`}`)
		if out.Success || len(b.sent) > 0 {
			t.Errorf("%q: %+v, sent %v", text, out, b.sent)
		}
		if !strings.Contains(out.Message, why) || len(strings.Fields(out.Speak)) > speakable || out.Speak != out.Message {
			t.Errorf("%q: %s; want %q", text, out.Message, why)
		}
		if !strings.HasSuffix(out.Reply, cannot) && !strings.HasSuffix(out.Reply, german[cannot]) {
			t.Errorf("%q is shown %s", text, out.Reply)
		}
	}
}

// A sentence of several things is done in its order, and ends where one is not done: that is said.
func TestASentenceEndsWhereSomethingIsNotDone(t *testing.T) {
	b := &building{ack: wire.Ack{Status: wire.Failed, Things: 2, Not: []wire.Exception{{Name: "West", Why: wire.WhySilent}}}}
	_, out := b.open(t, false)(good, `{"deviceId":"room","text":"close the shades, lights off"}`)
	if out.Success || len(b.sent) != 1 || out.Message != "1 of 2 done; West does not answer." {
		t.Errorf("%+v, sent %v", out, b.sent)
	}
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

func TestOutcomeIsTold(t *testing.T) {
	for _, c := range []struct {
		name    string
		ack     wire.Ack
		err     error
		success bool
		says    string
	}{
		{"done", wire.Ack{Status: wire.Applied}, nil, true, "Lights off."},
		{"done, one offline", wire.Ack{Status: wire.Applied, Offline: 1}, nil, true, "Lights off. 1 light is offline."},
		{"done, two offline", wire.Ack{Status: wire.Applied, Offline: 2}, nil, true, "Lights off. 2 lights are offline."},
		{"not answered in time", wire.Ack{}, platform.ErrUnanswered, true, "Sent."},
		{"partly failed, by name", wire.Ack{Status: wire.Failed, Detail: "node 7 on /dev/ttyUSB0", Things: 14, Not: []wire.Exception{{Name: "Stage 5", Why: wire.WhySilent}}}, nil, false, "13 of 14 done; Stage 5 does not answer."},
		{"all failed, by name", wire.Ack{Status: wire.Failed, Detail: "x", Things: 1, Not: []wire.Exception{{Name: "Stage 5", Why: wire.WhyBus}}}, nil, false, "Not done: Stage 5 does not answer."},
		{"partly failed, an older controller", wire.Ack{Status: wire.Failed, Detail: "1 of 4 did not confirm: node 7 (Window)"}, nil, false, "Not all of it was done."},
		{"too late", wire.Ack{Status: wire.Expired}, nil, false, "That came too late; nothing was done. Say it again."},
		{"controller offline", wire.Ack{}, platform.ErrOffline, false, platform.ControllerOffline},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &building{ack: c.ack, err: c.err}
			if _, out := b.open(t, false)(good, `{"deviceId":"room","text":"lights off"}`); out.Success != c.success || out.Message != c.says {
				t.Errorf("got %+v, want %v %q", out, c.success, c.says)
			}
		})
	}
}

// Both things of a sentence are sent, though the first one is not answered in time: all or nothing.
func TestAllOfASentenceIsSentToASlowController(t *testing.T) {
	t.Parallel()
	b := &building{slow: true}
	_, out := b.open(t, false)(good, `{"deviceId":"room","text":"lights off and close the shades"}`)
	if !out.Success || out.Message != "Sent." || len(b.sent) != 2 {
		t.Errorf("%+v, sent %v", out, b.sent)
	}
}

func TestThePanelIsOpenedByItsMakersCloudOrByWhoeverAsked(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		success bool
		panel   string
	}{
		{"by the cloud", nil, true, ""},
		{"the cloud does not know the device", platform.ErrNotFound, true, wire.ControlsPanel},
		{"the cloud fails", errors.New("broken"), false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			opened := ""
			b := &building{opens: func(device string) error { opened = device; return c.err }}
			_, out := b.open(t, false)(good, `{"deviceId":"room","text":"show the controls"}`)
			if out.Success != c.success || out.Panel != c.panel || opened != "room" || len(b.sent) != 0 {
				t.Errorf("%+v, opened on %q, sent %v", out, opened, b.sent)
			}
		})
	}
}

func TestWhatIsMissingIsSaidAndNothingMoves(t *testing.T) {
	for device, says := range map[string]string{"elsewhere": platform.DeviceUnknown, "unassigned": platform.DeviceUnassigned, "undeployed": platform.DeviceUndeployed} {
		b := &building{ack: wire.Ack{Status: wire.Applied}}
		status, out := b.open(t, false)(good, `{"deviceId":"`+device+`","text":"lights off"}`)
		if status != http.StatusOK || out.Success || out.Message != says || len(b.sent) != 0 || out.DeviceID != device {
			t.Errorf("%s: %d %+v, sent %v", device, status, out, b.sent)
		}
		if device == "elsewhere" && out.WorkspaceName != "" {
			t.Errorf("workspace %q of a device that nobody knows", out.WorkspaceName)
		}
	}
}

func TestRequestsAreChecked(t *testing.T) {
	long := strings.Repeat("ä", MaxText+1)
	for name, c := range map[string]struct {
		headers map[string]string
		body    string
		want    int
	}{
		"no secret":                {nil, `{"deviceId":"room","text":"lights off"}`, 401},
		"wrong secret":             {map[string]string{"X-Voice-Action-Token": secret + "x"}, `{"deviceId":"room","text":"lights off"}`, 401},
		"secret as bearer":         {map[string]string{"Authorization": "Bearer " + secret}, `{"deviceId":"room","text":"lights off"}`, 200},
		"empty bearer":             {map[string]string{"Authorization": "Bearer "}, `{"deviceId":"room","text":"lights off"}`, 401},
		"no JSON":                  {good, `lights off`, 400},
		"no device":                {good, `{"text":"lights off"}`, 400},
		"no text":                  {good, `{"deviceId":"room"}`, 400},
		"device with a zero":       {good, `{"deviceId":"ro\u0000om","text":"lights off"}`, 400},
		"text is a number":         {good, `{"deviceId":"room","text":5}`, 400},
		"text too long":            {good, `{"deviceId":"room","text":"` + long + `"}`, 400},
		"text as long as it may":   {good, `{"deviceId":"room","text":"` + long[:2*MaxText] + `"}`, 200},
		"source too long":          {good, `{"deviceId":"room","text":"x","source":"` + strings.Repeat("s", 33) + `"}`, 400},
		"members that nobody asks": {good, `{"deviceId":"room","text":"lights off","more":true}`, 200},
		"too large":                {good, `{"deviceId":"room","text":"` + strings.Repeat("x", bodyLimit) + `"}`, 413},
	} {
		t.Run(name, func(t *testing.T) {
			b := &building{ack: wire.Ack{Status: wire.Applied}}
			status, out := b.open(t, false)(c.headers, c.body)
			if status != c.want {
				t.Errorf("%d %+v, want %d", status, out, c.want)
			}
			if status != 200 && len(b.sent) > 0 {
				t.Errorf("sent %v", b.sent)
			}
			if (b.counts["stranger"] == 1) != (c.want == 401) || (b.counts["voice:room"] == 1) != (c.want == 200) {
				t.Errorf("counted %v", b.counts)
			}
		})
	}
}

func TestDevModeAsksForNoSecret(t *testing.T) {
	b := &building{ack: wire.Ack{Status: wire.Applied}}
	if status, out := b.open(t, true)(nil, `{"deviceId":"room","text":"lights off"}`); status != 200 || !out.Success {
		t.Errorf("%d %+v", status, out)
	}
}
