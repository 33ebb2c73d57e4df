//go:build peers

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/platform"
)

// device is a RoomOS device that runs the macro of its bundle.
type device struct {
	events io.Writer
	mu     sync.Mutex
	shows  map[string]string
	since  map[string]int // when, in milliseconds of its own clock
}

// after waits until a widget shows what it shows since a moment of the device's clock, and returns what that is and how
// many milliseconds it took.
func (d *device) after(t *testing.T, widget string, moment int) (value string, took int) {
	t.Helper()
	eventually(t, widget+" is written to", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		value, took = d.shows[widget], d.since[widget]-moment
		return took > 0
	})
	return value, took
}

// finger is when the device was tapped last.
func (d *device) finger(t *testing.T) int {
	t.Helper()
	_, at := d.after(t, "finger", 0)
	return at
}

// network plugs the device in, or out.
func (d *device) network(t *testing.T, state string) {
	t.Helper()
	if _, err := fmt.Fprintf(d.events, "{\"network\":%q}\n", state); err != nil {
		t.Fatal(err)
	}
}

func (d *device) shown(widget string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shows[widget]
}

func (d *device) tap(t *testing.T, widget, kind, value string) {
	t.Helper()
	if _, err := fmt.Fprintf(d.events, "{\"WidgetId\":%q,\"Type\":%q,\"Value\":%q,\"id\":\"1\"}\n", widget, kind, value); err != nil {
		t.Fatal(err)
	}
}

// tapped taps until it shows. What a busy machine does not take within three seconds is not done, and a person taps again.
func (d *device) tapped(t *testing.T, what string, tap func(), shows func() bool) {
	t.Helper()
	for range 10 {
		tap()
		for deadline := time.Now().Add(6 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if shows() {
				return
			}
		}
	}
	t.Fatalf("tapped ten times in vain: %s", what)
}

// macro runs the macro of a bundle, on a RoomOS whose answers have the shape "old" or "new".
func (e *estate) macro(id, shape string) *device {
	e.t.Helper()
	kit := e.bundle(id)
	text := kit["platformControls.js"]
	if shape == "old" {
		text = "const performance = undefined;\n" + text // macros had none
	}
	dir := e.t.TempDir()
	for name, content := range map[string]string{
		"macro.mjs": text, "node_modules/xapi/index.js": read(e.t, "testdata/xapi.mjs"), "node_modules/xapi/command.json": read(e.t, "testdata/command.json"), "node_modules/xapi/package.json": `{"type":"module","main":"index.js"}`, "ca.pem": kit["platform.pem"],
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			e.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			e.t.Fatal(err)
		}
	}
	library, err := filepath.Abs("../../.peers/roomos/node_modules/jsxapi")
	if err == nil {
		_, err = os.Stat(library)
	}
	if err == nil {
		err = os.Symlink(library, filepath.Join(dir, "node_modules", "jsxapi"))
	}
	if err != nil {
		e.t.Fatalf("Cisco's library is needed: run scripts/install-peers.sh (%v)", err)
	}
	run := exec.CommandContext(e.t.Context(), "node", "macro.mjs")
	run.Dir, run.Stderr = dir, e.t.Output()
	run.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+filepath.Join(dir, "ca.pem"), "SHAPE="+shape)
	in, err := run.StdinPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		e.t.Fatalf("Node is needed: run scripts/install-peers.sh (%v)", err)
	}
	d := &device{events: in, shows: map[string]string{}, since: map[string]int{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var line struct {
				Widget, Value string
				At            int
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				d.mu.Lock()
				d.shows[line.Widget], d.since[line.Widget] = line.Value, line.At
				d.mu.Unlock()
			}
		}
	}()
	e.t.Cleanup(func() { // it ends with its input
		in.Close()
		<-read
		_ = run.Wait()
		if wrong := d.shown("wrong"); wrong != "" {
			e.t.Errorf("the device was told what its schema does not know: %s", wrong)
		}
	})
	return d
}

func TestTheMacroOfTheBundleCarriesTapsAndShowsWhatIsSo(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	e.room("lobby", "Lobby", "[1]")
	d := e.macro("lobby", "new")
	eventually(t, "a panel that was just put up shows the room", func() bool { return d.shown("light_power") == "off" })
	d.tapped(t, "the lights are where the finger left the slider", func() {
		d.tap(t, "light_brightness", "pressed", "10")
		for _, v := range []string{"20", "60", "100", "140"} {
			d.tap(t, "light_brightness", "changed", v)
		}
		d.tap(t, "light_brightness", "released", "153")
	}, func() bool { return e.level(1) == 60 && e.level(2) == 60 })
	eventually(t, "the panel shows it", func() bool { return d.shown("light_brightness") == "153" && d.shown("light_power") == "on" })
	d.tapped(t, "of twenty taps on the switch the last one counts", func() {
		for i := range 20 {
			d.tap(t, "light_power", "changed", []string{"on", "off"}[i%2])
		}
	}, func() bool { return e.level(1) == 0 && d.shown("light_power") == "off" })
	d.tapped(t, "the preset is shown", func() {
		d.tap(t, "shade_preset", "pressed", "one_third")
		d.tap(t, "shade_preset", "released", "one_third")
	}, func() bool { return d.shown("shade_preset") == "one_third" })
	e.do(appliance.Command{Kind: appliance.LightOff, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}})
	eventually(t, "the panel shows what others did", func() bool { return d.shown("light_power") == "off" })
	// What is not done is said, and the panel goes back to what is so.
	e.admin.api("DELETE", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "withdraw")
	d.tap(t, "light_power", "changed", "on")
	eventually(t, "it says so", func() bool { return d.shown("line") != "" })
	if e.level(1) != 0 {
		t.Error("a panel that was withdrawn switched the light")
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheMacroTellsTheTruthAfterATapThatFailedOnOldAndNewRoomOS(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"old", "new"} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			e := newEstate(t, nil)
			e.room("lobby", "Lobby", "[1]")
			d := e.macro("lobby", shape)
			eventually(t, "the panel shows the room", func() bool { return d.shown("light_power") == "off" && d.shown("light_brightness") == "0" })
			says := func(what string) {
				t.Helper()
				if shape == "old" {
					return // it has no line for that, and goes on
				}
				if eventually(t, "it says: "+what, func() bool { return d.shown("line") == what }); d.shown("line") != what {
					t.Errorf("it says %q, want %q", d.shown("line"), what)
				}
			}
			back := func(why, widget, value, want string) {
				t.Helper()
				d.tap(t, widget, "changed", value)
				if got, took := d.after(t, widget, d.finger(t)); got != want || took > 10_000 { // ten times the second that is promised: the machine may be busy
					t.Errorf("%s: %s shows %s after %d ms, want %s within a second", why, widget, got, took, want)
				} else {
					t.Logf("%s: %s shows what is so after %d ms", why, widget, took)
				}
			}
			d.network(t, "off")
			back("no network", "light_power", "on", "off")
			says("The platform cannot be reached. Check the network of this device.")
			back("no network", "light_brightness", "200", "0")
			d.network(t, "on")
			d.tapped(t, "the next tap acts", func() { d.tap(t, "light_power", "changed", "on") }, func() bool { return e.level(1) == 100 && e.level(2) == 100 })
			eventually(t, "the panel shows it", func() bool { return d.shown("light_brightness") == "255" })
			if _, err := e.db.SetSession(t.Context(), platform.Session{Controller: "rooms", Online: false, Boot: 1 << 40, At: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			back("the controller is away", "light_power", "off", "on")
			says(platform.ControllerOffline)
			e.admin.api("DELETE", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "withdraw")
			back("withdrawn", "light_brightness", "20", "255")
			if shape == "new" { // the old one does not tell the status
				says("This panel was withdrawn. It has to be set up again.")
			}
			if e.level(1) != 100 {
				t.Errorf("a tap that failed left the light at %d", e.level(1))
			}
		})
	}
}
