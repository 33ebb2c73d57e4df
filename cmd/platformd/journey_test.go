package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/platform"
	"svc.internal/controller/sim"
)

// outage takes a broker away and brings it back; the zero outage is of one that is inside the platform.
type outage struct{ away, back func() }

// eachBroker runs a test with every kind of broker that there is.
func eachBroker(t *testing.T, p plan, test func(*testing.T, *estate, outage)) {
	t.Run("embedded", func(t *testing.T) { t.Parallel(); test(t, newEstateOf(t, p), outage{}) })
	eachPeerBroker(t, p, nil, test)
}

// quickRooms is [roomsSite] with shades that take less long.
var quickRooms = strings.ReplaceAll(roomsSite, ": 3s", ": 2s")

// shade is a simulated shade, in truth.
func (e *estate) shade(id appliance.ID) sim.DeviceShade {
	e.t.Helper()
	for _, d := range e.building.Devices() {
		for _, s := range d.Shades {
			if s.ShadeID == id {
				return s
			}
		}
	}
	e.t.Fatalf("there is no shade %d", id)
	return sim.DeviceShade{}
}

// say says a sentence at a device, by the endpoint of the contract.
func (e *estate) say(device, text string) answer {
	e.t.Helper()
	body, err := json.Marshal(map[string]string{"deviceId": device, "text": text, "source": "test"})
	if err != nil {
		e.t.Fatal(err)
	}
	return e.ask("POST", "/api/conferencing/voice/action", string(body), "X-Voice-Action-Token: "+e.voice)
}

// sayUntilObeyed says something until it is obeyed, once a second: sixty sentences a minute are counted on a device, and one that asks
// as fast as it can is refused for the rest of that minute.
func (e *estate) sayUntilObeyed(device, text string) {
	e.t.Helper()
	var next time.Time
	eventually(e.t, fmt.Sprintf("%q is obeyed", text), func() bool {
		if time.Now().Before(next) {
			return false
		}
		next = time.Now().Add(time.Second)
		return e.say(device, text).member("success") == true
	})
}

// reported waits until the platform knows how bright the lobby is: brighter and dimmer go by that.
func (e *estate) reported(percent int) {
	e.t.Helper()
	eventually(e.t, "the platform knows the level", func() bool {
		all, err := e.daemon.sites.Devices(e.t.Context(), "rooms")
		known := 0
		for _, d := range all {
			if d.Kind == platform.KindLight && (d.ID == 1 || d.ID == 2) && d.Level != nil && d.Level.Value == float64(percent) {
				known++
			}
		}
		return err == nil && known == 2
	})
}

// lobby is what has to be so in truth after a sentence or a gesture.
type lobby struct {
	light    int // of both; -1: any
	position int // of the shade, or -1
	motion   string
}

// follows waits until the lobby is as it has to be. A motor is stopped by the clock: one that a busy machine stopped
// too soon or too late is sent to its place once more, as who stands before it would.
func (e *estate) follows(what string, want lobby, again func()) {
	e.t.Helper()
	defer func() {
		if e.t.Failed() {
			e.t.Logf("%s: the lights are at %d and %d, the shade %+v", what, e.level(1), e.level(2), e.shade(5001))
		}
	}()
	next := time.Now().Add(patience / 18)
	eventually(e.t, what, func() bool {
		if want.position > 0 && want.position < 100 && time.Now().After(next) && !e.shade(5001).Moving && !e.lobbyIs(want) {
			again()
			next = time.Now().Add(patience / 18)
		}
		return e.lobbyIs(want)
	})
}

// stops sends the lobby's shade from one end to the other and stops it on its way, anew if that was too late on a busy machine.
func (e *estate) stops(end float64, home, away, stop func()) {
	e.t.Helper()
	eventually(e.t, "it is stopped on its way", func() bool {
		home()
		eventually(e.t, "it stands at its end", func() bool { s := e.shade(5001); return !s.Moving && s.ExactPosition == end })
		away()
		eventually(e.t, "it runs", func() bool { return e.shade(5001).ExactPosition != end })
		stop()
		eventually(e.t, "it stands", func() bool { return !e.shade(5001).Moving })
		at := e.shade(5001).ExactPosition
		return at > 1 && at < 99
	})
}

func (e *estate) lobbyIs(want lobby) bool {
	s := e.shade(5001)
	return (want.light < 0 || e.level(1) == want.light && e.level(2) == want.light) &&
		(want.position < 0 || !s.Moving && math.Abs(s.ExactPosition-float64(want.position)) <= 12) &&
		(want.motion == "" || s.Motion == want.motion)
}

// sentences is every kind that the contract lists, and the rest that acts; want is the truth afterwards.
var sentences = []struct {
	text string
	from int // the level that has to be known before; 0: any
	says string
	want lobby
}{
	{"turn the lights on", 0, "Lights on.", lobby{100, -1, ""}},
	{"turn off the lights", 0, "Lights off.", lobby{0, -1, ""}},
	{"set the lights to 60 percent", 0, "Lights at 60 percent.", lobby{60, -1, ""}},
	{"dim the lights", 60, "Lights at 40 percent.", lobby{40, -1, ""}},
	{"brighten the lights by ten percent", 40, "Lights at 50 percent.", lobby{50, -1, ""}},
	{"toggle the lights", 50, "Lights off.", lobby{0, -1, ""}},
	{"open the shades", 0, "Shades opening.", lobby{-1, 100, ""}},
	{"shades one third", 0, "Shades going to one third.", lobby{-1, 33, ""}},
	{"shades two thirds", 0, "Shades going to two thirds.", lobby{-1, 67, ""}},
	{"move the blinds to 50 percent", 0, "Shades going to 50 percent open.", lobby{-1, 50, ""}},
	{"close the blinds", 0, "Shades closing.", lobby{-1, 0, ""}},
	{"lights to 30 percent and open the shades", 0, "Lights at 30 percent. Shades opening.", lobby{30, 100, ""}},
}

// gestures is every one of every widget.
var gestures = []struct {
	widget, kind, value string
	want                lobby
}{
	{"light_power", "changed", "off", lobby{0, -1, ""}},
	{"light_power", "changed", "on", lobby{30, -1, ""}},
	{"light_brightness", "changed", "128", lobby{50, -1, ""}},
	{"light_brightness", "released", "204", lobby{80, -1, ""}},
	{"shade_position", "changed", "0", lobby{-1, 0, ""}},
	{"shade_position", "released", "255", lobby{-1, 100, ""}},
	{"shade_preset", "released", "two_thirds", lobby{-1, 67, ""}},
	{"shade_preset", "released", "one_third", lobby{-1, 33, ""}},
}

// Every kind of sentence and every gesture, by HTTP and by webhook, over a real broker: the right devices do it, and no others.
func TestEverySentenceAndGestureMovesTheRightDevices(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	p := plan{settings: map[string]string{"WEBEX_WEBHOOK_SECRET": hookSecret}, site: quickRooms}
	eachBroker(t, p, func(t *testing.T, e *estate, _ outage) {
		code := e.room("lobby", "Lobby", "[1]")
		e.room("canteen", "Canteen", "[2]")
		next, unheard := e.shade(5002).ExactPosition, 0 // sentences whose outcome a busy machine does not hear in time: it says that they were sent
		for _, c := range sentences {
			if c.from > 0 {
				e.reported(c.from)
			}
			a := e.say("lobby", c.text).want(t, 200, c.text)
			said, sent := strings.CutSuffix(a.str("message"), "Sent.") // perhaps of one part only
			if sent {
				unheard++
			}
			if said != c.says && (!sent || !strings.Contains(c.says, strings.TrimSpace(said))) {
				t.Errorf("%q: %s", c.text, a.text)
			}
			if a.member("success") != true {
				t.Errorf("%q: %s", c.text, a.text)
			}
			e.follows(c.text, c.want, func() { e.say("lobby", c.text) })
		}
		if unheard > len(sentences)/2 {
			t.Errorf("of %d of %d sentences nothing was heard in time", unheard, len(sentences))
		}
		// A shade that runs is stopped by a word.
		e.stops(100, func() { e.say("lobby", "open the shades") }, func() { e.say("lobby", "close the shades").want(t, 200, "close") }, func() {
			if a := e.say("lobby", "stop the shades"); a.str("message") != "Shades stopped." && a.str("message") != "Sent." {
				t.Errorf("stop: %s", a.text)
			}
		})
		before := e.writes()
		if a := e.say("lobby", "show the controls"); a.str("panel") != "platformControls" || a.member("success") != true {
			t.Errorf("show the controls: %s", a.text)
		}
		if n := e.writes() - before; n != 0 {
			t.Errorf("showing the panel made %d writes", n)
		}
		ways := map[string]func(widget, kind, value string){
			"HTTP": func(widget, kind, value string) {
				body := fmt.Sprintf(`{"widgetId":%q,"type":%q,"value":%q}`, widget, kind, value)
				if a := e.tap("lobby", code, body); a.str("status") != "applied" {
					t.Errorf("%s: %s", body, a.text)
				}
			},
			"webhook": func(widget, kind, value string) {
				e.notify(`[`+gesture("lobby", widget, kind, value, time.Now())+`]`).want(t, 204, widget)
			},
		}
		for by, tap := range ways {
			e.say("lobby", "lights to 30 percent").want(t, 200, "a level to return to")
			for _, g := range gestures {
				if by == "webhook" && g.widget == "shade_position" { // it goes the way of brightness, and moves below
					continue
				}
				tap(g.widget, g.kind, g.value)
				e.follows(fmt.Sprintf("%s %s %s by %s", g.widget, g.kind, g.value, by), g.want, func() { tap(g.widget, g.kind, g.value) })
			}
			e.stops(0, func() { tap("shade_position", "released", "0") }, func() { tap("shade_position", "released", "255") }, func() { tap("shade_stop", "clicked", "") })
		}
		if s := e.shade(5002); e.level(3) != 0 || s.Moving || s.ExactPosition != next {
			t.Errorf("next door the light is at %d and the shade %+v", e.level(3), s)
		}
	})
}

// From a sentence, a tap and a notification to the hardware's acknowledgement, with the share of every part of the way.
// With SOAK=1 there are many of each, and 95 of 100 must take at most 300 ms.
func TestCampaignFromTheRoomToTheLight(t *testing.T) {
	times, soak := 10, os.Getenv("SOAK") != ""
	if soak {
		times = 200
	} else {
		t.Parallel()
	}
	var alone sync.Mutex // what is measured has the machine for itself
	eachBroker(t, plan{settings: map[string]string{"WEBEX_WEBHOOK_SECRET": hookSecret}, hops: true}, func(t *testing.T, e *estate, _ outage) {
		alone.Lock()
		defer alone.Unlock()
		const rooms = 10 // devices for the same lights: what one may say in a minute is bounded
		codes := map[string]string{}
		for i := range rooms {
			id := fmt.Sprint("lobby-", i)
			codes[id] = e.room(id, "Lobby", "[1]")
		}
		ways := []struct {
			name string
			ask  func(device string, level int)
		}{
			{"sentence", func(device string, level int) {
				a := e.say(device, fmt.Sprintf("lights to %d percent", level))
				for asked := time.Now(); !soak && a.str("message") == "Sent." && time.Since(asked) < patience; { // the outcome came late
					a = e.say(device, fmt.Sprintf("lights to %d percent", level))
				}
				if a.member("success") != true || a.str("message") == "Sent." {
					t.Fatalf("%s", a.text)
				}
			}},
			{"tap", func(device string, level int) {
				if a := e.tap(device, codes[device], fmt.Sprintf(`{"widgetId":"light_brightness","type":"released","value":"%d"}`, level)); a.str("status") != "applied" {
					t.Fatalf("%s", a.text)
				}
			}},
			{"webhook", func(device string, level int) {
				asked := time.Now()
				e.notify(`[`+gesture(device, "light_brightness", "released", fmt.Sprint(level), asked)+`]`).want(t, 204, "notify")
				for deadline := asked.Add(patience); ; time.Sleep(200 * time.Microsecond) {
					if _, ok := e.hops.acknowledged(asked); ok {
						return
					}
					if time.Now().After(deadline) {
						t.Fatal("the hardware acknowledged nothing")
					}
				}
			}},
		}
		for _, way := range ways {
			var whole []time.Duration
			var parts [][]time.Duration
			for i := range times {
				asked := time.Now()
				way.ask(fmt.Sprint("lobby-", i%rooms), 20+40*(i%2)+i%20)
				took := time.Since(asked)
				p := e.hops.parts(asked, asked.Add(took))
				if way.name == "webhook" { // nobody waits for an answer; the notification's own time is when it began
					at, _ := e.hops.acknowledged(asked)
					took = at.Sub(asked)
					p[0], p[1], p[len(p)-1] = 0, p[0]+p[1], 0
				}
				whole, parts = append(whole, took), append(parts, p)
			}
			t.Log(table(way.name, whole, parts))
			if p95 := quantile(whole, 0.95); soak && p95 > 300*time.Millisecond {
				t.Errorf("%s: 95 of 100 take up to %v", way.name, p95)
			}
		}
	})
}
