package dali

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// says lets the gear at short address 0 answer questions by what they ask; others are not answered.
func says(answers map[byte]byte) func(string) string {
	return func(frame string) string {
		var address, op byte
		if n, _ := fmt.Sscanf(frame, "%02X%02X", &address, &op); n == 2 && address == 1 {
			if v, ok := answers[op]; ok {
				return fmt.Sprintf("J%02X", v)
			}
		}
		return "N"
	}
}

// What the level that a gear tells proves of what it was told: it has it, as far as its own limits let it, or fades there by our own
// order; a lamp that failed proves nothing.
func TestWhatALevelProves(t *testing.T) {
	const none = -1
	for _, row := range []struct {
		what     string
		want     appliance.Level // in percent of a linear curve: 254 is 100 %
		raw      byte
		answers  map[byte]byte
		change   func(*gear)
		level    int // none: an error
		err      error
		settled  bool
		min, max byte
	}{
		{what: "it has it", want: 50, raw: 127, level: 50, settled: true},
		{what: "it is off, as it was told", want: 0, raw: 0, level: 0, settled: true},
		{what: "it is at its lower limit", want: 10, raw: 85, answers: map[byte]byte{OpQueryMin: 85, OpQueryMax: 200}, level: 10, settled: true, min: 85, max: 200},
		{what: "it is at its upper limit", want: 100, raw: 200, answers: map[byte]byte{OpQueryMin: 85, OpQueryMax: 200}, level: 100, settled: true, min: 85, max: 200},
		{what: "its limits are known", want: 10, raw: 85, change: func(g *gear) { g.found.min, g.found.max = 85, 200 }, level: 10, settled: true, min: 85, max: 200},
		{what: "it has something else", want: 50, raw: 25, answers: map[byte]byte{OpQueryMin: 1, OpQueryMax: 254, OpQueryStatus: 0}, level: 10, settled: true, min: 1, max: 254},
		{what: "it is on, and was told off", want: 0, raw: 127, answers: map[byte]byte{OpQueryStatus: 0}, level: 50, settled: true},
		{what: "it is off, and was told on", want: 50, raw: 0, answers: map[byte]byte{OpQueryStatus: 0}, level: 0, settled: true},
		{what: "it does not tell its limits", want: 50, raw: 25, answers: map[byte]byte{OpQueryMin: 1}, level: none, err: appliance.ErrSilent},
		{what: "it does not tell its limits, and says that it is well", want: 50, raw: 25, answers: map[byte]byte{OpQueryMin: 1, OpQueryStatus: 0}, level: none, err: appliance.ErrSilent},
		{what: "it does not say how it is", want: 0, raw: 25, level: none, err: appliance.ErrSilent},
		{what: "it fades by our order", want: 0, raw: 25, answers: map[byte]byte{OpQueryStatus: StatusFading}, change: func(g *gear) { g.asked.fadeKnown, g.asked.arc = true, 0 }, level: 0},
		{what: "it fades by our older order", want: 0, raw: 25, answers: map[byte]byte{OpQueryStatus: StatusFading}, change: func(g *gear) { g.asked.fadeKnown, g.asked.arc = true, 9 }, level: none, err: appliance.ErrBusy},
		{what: "it faded before it was told", want: 0, raw: 25, answers: map[byte]byte{OpQueryStatus: StatusFading}, level: none, err: appliance.ErrBusy},
		{what: "its lamp fails", want: 0, raw: 25, answers: map[byte]byte{OpQueryStatus: StatusLampFailure}, level: none, err: appliance.ErrRefused},
		{what: "it fails itself", want: 0, raw: 25, answers: map[byte]byte{OpQueryStatus: StatusGearFailure}, level: none, err: appliance.ErrRefused},
		{what: "its lamp is starting", want: 50, raw: Mask, answers: map[byte]byte{OpQueryStatus: 0}, level: none, err: appliance.ErrBusy},
		{what: "it failed, and says the level all the same", want: 50, raw: 127, answers: map[byte]byte{OpQueryStatus: StatusLampFailure}, change: func(g *gear) { g.failure = "lamp failure" }, level: none, err: appliance.ErrRefused},
		{what: "it failed, and is well again", want: 50, raw: 127, answers: map[byte]byte{OpQueryStatus: 0}, change: func(g *gear) { g.failure = "lamp failure" }, level: 50, settled: true},
		{what: "it failed, and does not say how it is", want: 50, raw: 127, change: func(g *gear) { g.failure = "lamp failure" }, level: none, err: appliance.ErrSilent},
		{what: "it failed, and is off as it was told", want: 0, raw: 0, change: func(g *gear) { g.failure = "lamp failure" }, level: 0, settled: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := running(t, 1, says(row.answers))
			g := d.gears[0]
			g.curve, g.settled = curves["linear"], false
			if row.change != nil {
				row.change(g)
			}
			got, err := d.verifiedLevel(t.Context(), wish{appliance.Want{Ref: g.ref, Values: appliance.Values{Has: appliance.CanDim, Level: row.want}}, g}, row.raw)
			if row.level == none && !errors.Is(err, row.err) || row.level != none && (err != nil || int(got) != row.level) {
				t.Errorf("%s: %d, %v; want %d, %v", row.what, got, err, row.level, row.err)
			}
			if g.settled != row.settled || g.found.min != row.min || g.found.max != row.max {
				t.Errorf("%s: settled %v, limits %d to %d", row.what, g.settled, g.found.min, g.found.max)
			}
		})
	}
}

// What is told of a level that was read in passing: nothing while it may be one on the way, or stands for no light.
func TestWhatALevelReadInPassingTells(t *testing.T) {
	for _, row := range []struct {
		what    string
		raw     byte
		answers map[byte]byte
		change  func(*gear, time.Time)
		level   appliance.Level
		ok      bool
		err     error
		settled bool
	}{
		{what: "at rest", raw: 127, level: 50, ok: true, change: func(g *gear, _ time.Time) { g.settled = true }, settled: true},
		{what: "its lamp is starting", raw: Mask},
		{what: "it has what it was told", raw: 127, change: func(g *gear, now time.Time) { g.told(50, now); g.fade = time.Minute }, level: 50, ok: true, settled: true},
		{what: "it is on its way", raw: 100, change: func(g *gear, now time.Time) { g.told(50, now); g.fade = time.Minute }},
		{what: "it fades longer than it should", raw: 100, answers: map[byte]byte{OpQueryStatus: StatusFading}, change: func(g *gear, now time.Time) { g.told(50, now) }},
		{what: "its fade ended meanwhile", raw: 100, answers: map[byte]byte{OpQueryStatus: 0, OpQueryActualLevel: 127}, change: func(g *gear, now time.Time) { g.told(50, now) }, level: 50, ok: true, settled: true},
		{what: "its fade ended, and its lamp is starting", raw: 100, answers: map[byte]byte{OpQueryStatus: 0, OpQueryActualLevel: Mask}, change: func(g *gear, now time.Time) { g.told(50, now) }},
		{what: "it does not say how it is", raw: 100, change: func(g *gear, now time.Time) { g.told(50, now) }, err: appliance.ErrSilent},
		{what: "it does not say where it ended", raw: 100, answers: map[byte]byte{OpQueryStatus: 0}, change: func(g *gear, now time.Time) { g.told(50, now) }, err: appliance.ErrSilent},
		{what: "long after it was told", raw: 102, change: func(g *gear, now time.Time) { g.told(50, now.Add(-longestFade)) }, level: 40, ok: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := running(t, 1, says(row.answers))
			g := d.gears[0]
			g.curve, g.settled = curves["linear"], false
			if row.change != nil {
				row.change(g, time.Now())
			}
			level, ok, err := d.polledLevel(t.Context(), g, row.raw, time.Now())
			if level != row.level || ok != row.ok || !errors.Is(err, row.err) || g.settled != row.settled {
				t.Errorf("%s: %d, %v, %v, settled %v; want %d, %v, %v, %v", row.what, level, ok, err, g.settled, row.level, row.ok, row.err, row.settled)
			}
		})
	}
}

// The same of colour temperatures.
func TestWhatAColourTemperatureProves(t *testing.T) {
	for _, row := range []struct {
		what    string
		want    appliance.Kelvin
		got     uint16
		answers map[byte]byte
		change  func(*gear)
		kelvin  appliance.Kelvin
		err     error
	}{
		{what: "it has it", want: 4000, got: 250, kelvin: 4000},
		{what: "it is at its coolest", want: 6500, got: 200, kelvin: 6500},
		{what: "it is at its warmest", want: 2700, got: 300, kelvin: 2700},
		{what: "its limits are not what it has", want: 6500, got: 210, answers: map[byte]byte{OpQueryStatus: 0}, kelvin: 4762},
		{what: "it fades by our order", want: 4000, got: 260, answers: map[byte]byte{OpQueryStatus: StatusFading}, change: func(g *gear) { g.asked.colourKnown = true }, kelvin: 4000},
		{what: "it faded before it was told", want: 4000, got: 260, answers: map[byte]byte{OpQueryStatus: StatusFading}, err: appliance.ErrBusy},
		{what: "it has something else", want: 4000, got: 260, answers: map[byte]byte{OpQueryStatus: 0}, change: func(g *gear) { g.asked.colourKnown = true }, kelvin: 3846},
		{what: "it tells none", want: 4000, got: 0xFFFF, answers: map[byte]byte{OpQueryStatus: 0}, err: appliance.ErrRefused},
		{what: "it does not say how it is", want: 4000, got: 260, err: appliance.ErrSilent},
		{what: "it does not tell its limits", want: 4000, got: 260, change: func(g *gear) { g.found.warmest = 0 }, err: appliance.ErrSilent},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := running(t, 1, says(row.answers))
			g := d.gears[0]
			g.profile = profiles["dali-dt8-tc"]
			g.found.coolest, g.found.warmest = 200, 300
			if row.change != nil {
				row.change(g)
			}
			got, err := d.verifiedKelvin(t.Context(), wish{appliance.Want{Ref: g.ref, Values: appliance.Values{Has: appliance.CanTune, Kelvin: row.want}}, g}, row.got)
			if got != row.kelvin || !errors.Is(err, row.err) {
				t.Errorf("%s: %d, %v; want %d, %v", row.what, got, err, row.kelvin, row.err)
			}
		})
	}
}

// What is known of a gear by what it was told, and when.
func TestWhatIsKnownOfAGear(t *testing.T) {
	now := time.Now()
	dims := &gear{profile: profiles["dali-dt6"], curve: curves["linear"]}
	switches := &gear{profile: profiles["dali-switch"], curve: curves["linear"]}
	for _, row := range []struct {
		g   *gear
		p   appliance.Level
		arc byte
	}{{dims, 0, 0}, {dims, 50, 127}, {dims, 100, 254}, {switches, 0, 0}, {switches, 1, 254}, {switches, 100, 254}} {
		if got := row.g.arcOf(row.p); got != row.arc {
			t.Errorf("%d %% is %d, want %d", row.p, got, row.arc)
		}
	}
	if switches.levelOf(0) != 0 || switches.levelOf(1) != 100 || dims.levelOf(0) != 0 || dims.levelOf(127) != 50 {
		t.Error("levels of arcs")
	}
	dims.curve = curves["standard"]
	for _, asked := range []appliance.Level{41, 42} {
		dims.recall(appliance.Values{Has: appliance.CanDim, Level: asked})
		if got := dims.levelOf(dims.arcOf(asked)); got != asked || dims.asked.arc != dims.arcOf(asked) {
			t.Errorf("%d %% was asked for, and %d is shown", asked, got)
		}
	}
	dims.curve = curves["linear"]
	for _, row := range []struct{ min, max, arc, want byte }{
		{0, 0, 127, 127}, {0, 0, 0, 0}, {85, 0, 10, 85}, {85, 0, 0, 0}, {85, 200, 254, 200}, {85, 200, 100, 100}, {0, 200, 254, 200},
	} {
		g := &gear{found: facts{min: row.min, max: row.max}}
		if got := g.held(row.arc); got != row.want {
			t.Errorf("%d between %d and %d is held at %d, want %d", row.arc, row.min, row.max, got, row.want)
		}
	}
	for _, row := range []struct {
		settled bool
		since   time.Duration
		known   bool
	}{{true, 0, true}, {false, longestFade, false}, {false, longestFade + 1, true}} {
		g := &gear{profile: profiles["dali-dt8-tc"], curve: curves["linear"], settled: row.settled, fade: time.Second}
		g.asked.at = now.Add(-row.since)
		g.sentColour(wish{appliance.Want{Values: appliance.Values{Has: appliance.CanTune | appliance.CanDim, Kelvin: 9000}}, g}, now)
		if g.asked.colourKnown != row.known || g.asked.values.Kelvin != 6500 || g.asked.values.Has != appliance.CanTune {
			t.Errorf("%+v: a colour that was sent: %+v", row, g.asked)
		}
		g.told(50, now)
		if g.asked.fadeKnown != row.known || g.asked.arc != 127 || !g.asked.at.Equal(now) || g.settled || g.asked.values.Level != 50 || g.asked.values.Has != appliance.CanTune|hasLight {
			t.Errorf("%+v: a level that was sent: %+v", row, g.asked)
		}
		if !g.fading(now.Add(time.Second-1)) || g.fading(now.Add(time.Second)) {
			t.Error("how long it may be on its way")
		}
		if g.settled = true; g.fading(now) {
			t.Error("what is settled is on its way")
		}
	}
	g := &gear{}
	for i, v := range []byte{254, 127, 0, 10} {
		g.colour[i].value = v
	}
	if got := g.rgbw(); got != (appliance.RGBW{R: 255, G: 128, B: 0, W: 10}) {
		t.Errorf("its colour is %v", got)
	}
	asked := appliance.RGBW{R: 255, G: 127, W: 10}
	g.asked.values = appliance.Values{Has: appliance.CanColour, RGBW: asked}
	if got := g.rgbw(); got != asked {
		t.Errorf("its colour is %v, and %v explains it", got, asked)
	}
	if g.asked.values.RGBW.B = 9; g.rgbw() == g.asked.values.RGBW {
		t.Error("a colour that does not explain it is shown")
	}
}

// A failure is told of once, and once that it is over.
func TestAFailureOfAGearIsToldOnce(t *testing.T) {
	d, end := still(t, 1, nil)
	defer end.Close()
	var log strings.Builder
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	g := d.gears[0]
	for i, row := range []struct {
		status       byte
		warned, well int
		trouble      string
	}{{0, 0, 0, ""}, {StatusLampFailure, 1, 0, "lamp failure"}, {StatusLampFailure, 1, 0, "lamp failure"}, {StatusGearFailure, 2, 0, "gear failure"},
		{StatusLampFailure | StatusGearFailure, 3, 0, "lamp and gear failure"}, {StatusFading, 3, 1, ""}, {0, 3, 1, ""}} {
		d.learn(g, OpQueryStatus, row.status)
		warned, well := strings.Count(log.String(), "reports a failure"), strings.Count(log.String(), "no failure any more")
		if warned != row.warned || well != row.well || d.Troubles()[gearKey(0)] != row.trouble {
			t.Errorf("status %d: warned %d times, well %d times, %v", i, warned, well, d.Troubles())
		}
	}
	d.learn(g, OpQueryMin, 7)
	if d.learn(g, OpQueryMax, 200); g.found.min != 7 || g.found.max != 200 {
		t.Errorf("its limits: %+v", g.found)
	}
}
