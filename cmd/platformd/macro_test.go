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

	"svc.internal/controller/appliance"
)

// xapi stands in for what RoomOS gives a macro: requests are real, widgets are told on standard output, and every line of
// standard input is an event.
const xapi = `
import { createInterface } from 'node:readline';
const out = (what) => console.log(JSON.stringify(what));
const ask = (method) => async ({ Url, Header, ResultBody }, body) => {
  if (ResultBody !== 'PlainText') throw new Error('nobody reads the body');
  const answer = await fetch(Url, { method, body, headers: Object.fromEntries(Header.map((h) => h.split(/: (.*)/).slice(0, 2))) });
  if (!answer.ok) throw new Error('HTTP ' + answer.status);
  return { StatusCode: String(answer.status), Body: await answer.text() };
};
const handlers = [];
createInterface({ input: process.stdin }).on('line', (line) => handlers.forEach((h) => h(JSON.parse(line)))).on('close', () => process.exit(0));
export default {
  Command: {
    HttpClient: { Post: ask('POST'), Get: ask('GET') },
    UserInterface: {
      Extensions: { Widget: { SetValue: async ({ WidgetId, Value }) => out({ widget: WidgetId, value: Value }), UnsetValue: async ({ WidgetId }) => out({ widget: WidgetId, value: '' }) } },
      Message: { TextLine: { Display: async ({ Text }) => out({ widget: 'line', value: Text }) } },
    },
  },
  Event: { UserInterface: { Extensions: { Widget: { Action: { on: (h) => handlers.push(h) } } } } },
};
`

// device is a RoomOS device that runs the macro of its bundle.
type device struct {
	events io.Writer
	mu     sync.Mutex
	shows  map[string]string
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

func (e *estate) macro(id string) *device {
	e.t.Helper()
	kit := e.bundle(id)
	dir := e.t.TempDir()
	for name, content := range map[string]string{
		"macro.mjs": kit["platformControls.js"], "node_modules/xapi/index.js": xapi, "node_modules/xapi/package.json": `{"type":"module","main":"index.js"}`, "ca.pem": kit["platform.pem"],
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			e.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			e.t.Fatal(err)
		}
	}
	run := exec.CommandContext(e.t.Context(), "node", "macro.mjs")
	run.Dir, run.Stderr = dir, e.t.Output()
	run.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+filepath.Join(dir, "ca.pem"))
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
	d := &device{events: in, shows: map[string]string{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var line struct{ Widget, Value string }
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				d.mu.Lock()
				d.shows[line.Widget] = line.Value
				d.mu.Unlock()
			}
		}
	}()
	e.t.Cleanup(func() { in.Close(); <-read; _ = run.Wait() }) // it ends with its input
	return d
}

func TestTheMacroOfTheBundleCarriesTapsAndShowsWhatIsSo(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	e.room("lobby", "Lobby", "[1]")
	d := e.macro("lobby")
	eventually(t, "a panel that was just put up shows the room", func() bool { return d.shown("light_power") == "off" })
	d.tap(t, "light_brightness", "pressed", "10")
	for _, v := range []string{"20", "60", "100", "140"} {
		d.tap(t, "light_brightness", "changed", v)
	}
	d.tap(t, "light_brightness", "released", "153")
	eventually(t, "the lights are where the finger left the slider", func() bool { return e.level(1) == 60 && e.level(2) == 60 })
	eventually(t, "the panel shows it", func() bool { return d.shown("light_brightness") == "153" && d.shown("light_power") == "on" })
	for i := range 20 {
		d.tap(t, "light_power", "changed", []string{"on", "off"}[i%2])
	}
	eventually(t, "of twenty taps on the switch the last one counts", func() bool { return e.level(1) == 0 && d.shown("light_power") == "off" })
	d.tap(t, "shade_preset", "pressed", "one_third")
	d.tap(t, "shade_preset", "released", "one_third")
	eventually(t, "the preset is shown", func() bool { return d.shown("shade_preset") == "one_third" })
	if _, err := e.core.Do(t.Context(), appliance.Command{Kind: appliance.LightOff, Target: appliance.Target{Scope: appliance.InCluster, ID: 1}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the panel shows what others did", func() bool { return d.shown("light_power") == "off" })
	// What is not done is said, and the panel goes back to what is so.
	e.admin.api("DELETE", "/api/conferencing/devices/lobby/deploy", "").want(t, 200, "withdraw")
	d.tap(t, "light_power", "changed", "on")
	eventually(t, "it says so", func() bool { return d.shown("line") != "" })
	if e.level(1) != 0 {
		t.Error("a panel that was withdrawn switched the light")
	}
}
