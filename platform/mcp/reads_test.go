package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/platform"
	"svc.internal/controller/platform/assistant"
	"svc.internal/controller/platform/sitetest"
)

// bench is the typed tools on a building, asked by one person.
type bench struct {
	t        *testing.T
	building *sitetest.Building
	from     Assistant
	who      platform.Identity
	now      time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, building: sitetest.New(), now: sitetest.Now, who: platform.Identity{User: platform.User{ID: "ann"}, Permissions: platform.Permissions{Control: true}}}
	b.from = assistant.New(assistant.Config{Sites: b.building, Act: b.building, History: sitetest.NewHistory(), Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler)})
	return b
}

// try calls a tool; what it answers is as its schema says.
func (b *bench) try(name, arguments string) (text string, data map[string]any, err error) {
	b.t.Helper()
	for _, t := range reads {
		if t.name != name {
			continue
		}
		args, err := t.readTyped(json.RawMessage(arguments))
		if err != nil {
			return "", nil, err
		}
		got, err := t.run(context.Background(), b.from, b.who, args)
		if err != nil {
			return "", nil, err
		}
		raw, err := json.Marshal(got.Data)
		if err == nil {
			err = json.Unmarshal(raw, &data)
		}
		if err != nil {
			b.t.Fatal(err)
		}
		schema, err := t.output.Resolve(nil)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := schema.Validate(data); err != nil {
			b.t.Errorf("%s %s: not as its schema says: %v in %s", name, arguments, err, raw)
		}
		return got.Text, data, nil
	}
	b.t.Fatalf("there is no tool %s", name)
	return "", nil, nil
}

func (b *bench) call(name, arguments string) (string, map[string]any) {
	b.t.Helper()
	text, data, err := b.try(name, arguments)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return text, data
}

func rows(data map[string]any, member string) (out []string) {
	for _, row := range data["items"].([]any) {
		out = append(out, fmt.Sprint(row.(map[string]any)[member]))
	}
	return out
}

// yesterday is what a meter measured, in kWh.
func yesterday(meter int64) (kWh float64) {
	y, m, d := sitetest.Now.Date()
	for minute := range 24 * 60 {
		if at := time.Date(y, m, d-1, 0, minute, 0, 0, sitetest.Location); sitetest.Measured(meter, at) {
			kWh += sitetest.Watts(meter, at) / 60_000
		}
	}
	return kWh
}

func TestTypedToolsTellWhatIsThere(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		tool, arguments, member string
		rows                    string
		text                    string
	}{
		{"places", `{"kind":"zone","sort":"brightest","limit":3}`, "name", "Open office south, Annex workshop, Open office north", "10 places in “Harbour House”. The brightest first: Open office south (100 %), Annex workshop (97 %) and Open office north ("},
		{"places", `{"kind":"zone","place":"Ground floor"}`, "name", "Lobby, Canteen, Corridor ground floor", "3 places"},
		{"places", `{"kind":"floor"}`, "name", "Ground floor, Upper floor, Annex", "3 places"},
		{"lights", `{"place":"Lobby"}`, "level", "40, 40, 40, 40", "4 lights in “Lobby”: 4 on, 0 off, 0 not known."},
		{"lights", `{"place":"annex","state":"unknown"}`, "name", "Workshop 4, Gallery 2", "4 on, 0 off, 2 not known"},
		{"lights", `{"state":"off","place":"Meeting room Lakes"}`, "name", "Lakes 1, Lakes 2, Lakes 3", "0 on, 3 off"},
		{"shades", `{"state":"open"}`, "open", "100", "5 shades in “Harbour House”: 1 open or partly open, 2 closed, 1 moving, 1 not known."},
		{"shades", `{"state":"moving"}`, "name", "Lobby shade 2", ""},
		{"meters", `{"place":"Ground floor"}`, "name", "Meter ground floor", "1 meter"},
		{"energy", `{"place":"Ground floor","from":"2026-11-17T00:00:00+01:00","to":"2026-11-18T00:00:00+01:00"}`, "kWh",
			fmt.Sprint(yesterday(sitetest.GroundMeter)), "used"},
		{"faults", `{"place":"Canteen"}`, "message", "lamp failure", "1 fault"},
		{"faults", `{"state":"present","place":"Upper floor"}`, "name", "Open office north 8", ""},
	} {
		text, data := b.call(c.tool, c.arguments)
		got := strings.Join(rows(data, c.member), ", ")
		if c.tool == "energy" {
			var have, want float64
			fmt.Sscan(got, &have)
			fmt.Sscan(c.rows, &want)
			if diff := have - want; diff > 0.01 || diff < -0.01 {
				t.Errorf("%s %s: %s, want %s", c.tool, c.arguments, got, c.rows)
			}
		} else if got != c.rows {
			t.Errorf("%s %s: rows are %s, want %s", c.tool, c.arguments, got, c.rows)
		}
		if !strings.Contains(text, c.text) {
			t.Errorf("%s %s: %q is missing in %s", c.tool, c.arguments, c.text, text)
		}
	}
	if _, data := b.call("energy", `{"by":"hour","from":"2026-11-17T00:00:00+01:00","to":"2026-11-18T00:00:00+01:00","place":"Ground floor"}`); data["total"] != 24.0 {
		t.Errorf("a day has %v hours", data["total"])
	}
	if text, data := b.call("ledger", `{}`); data["total"] != 0.0 || !strings.Contains(text, "does not report its ledger") {
		t.Errorf("a controller without a ledger: %s %v", text, data)
	}
	b.building.Remember()
	for arguments, want := range map[string]string{
		`{}`:                  "light-level Lobby key \"BMS\" assistant; light-off Canteen Lunch is over automation; shade-open Lobby shade 1 ada public-api; light-on Canteen panel Canteen panel; light-off Harbour House reception admin-api",
		`{"place":"Canteen"}`: "light-off Canteen Lunch is over automation; light-on Canteen panel Canteen panel; light-off Harbour House reception admin-api",
		`{"place":"Lobby","from":"2026-11-18T08:00:00+01:00","to":"2026-11-18T10:00:00+01:00"}`: "shade-open Lobby shade 1 ada public-api",
	} {
		text, data := b.call("ledger", arguments)
		var got []string
		for i := range rows(data, "id") {
			got = append(got, strings.Join([]string{rows(data, "do")[i], rows(data, "for")[i], rows(data, "who")[i], rows(data, "via")[i]}, " "))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("ledger %s: %s\nwant %s (%s)", arguments, strings.Join(got, "; "), want, text)
		}
	}
	if _, data := b.call("ledger", `{"place":"Upper floor"}`); !strings.Contains(fmt.Sprint(data["items"]), "not:[Open office north 8]") {
		t.Errorf("who did not obey: %v", data)
	}
	text, data := b.call("capabilities", `{}`)
	if data["mayOrder"] != true || !strings.Contains(text, "Not measured: occupancy") || data["lights"].(map[string]any)["dim"] != 39.0 {
		t.Errorf("capabilities: %s %v", text, data)
	}
	b.building.Controller.Online = false
	if text, _ := b.call("lights", `{"place":"Lobby"}`); !strings.Contains(text, "0 on, 0 off, 4 not known") || !strings.Contains(text, "controller is offline") {
		t.Errorf("offline: %s", text)
	}
}

func TestPagesGoThroughAllRowsOnce(t *testing.T) {
	b := newBench(t)
	seen, cursor := map[string]bool{}, ""
	for n := 0; ; n++ {
		text, data := b.call("lights", `{"limit":10,"cursor":"`+cursor+`"}`)
		for _, name := range rows(data, "name") {
			if seen[name] {
				t.Errorf("%s is on two pages", name)
			}
			seen[name] = true
		}
		next, more := data["next"].(string)
		if !more {
			if n != 3 || len(seen) != 39 {
				t.Errorf("%d pages with %d lights", n+1, len(seen))
			}
			return
		}
		if cursor = next; !strings.Contains(text, "39 lights") || !strings.Contains(text, "cursor “"+next) && !strings.Contains(text, `cursor "`+next) {
			t.Errorf("page %d says %s", n, text)
		}
	}
}

// An argument that there is not, and a name that nothing has, are told with what there is.
func TestTypedToolsAreStrictAndSayWhatThereIs(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ tool, arguments, says string }{
		{"lights", `{"zone":"Lobby"}`, `lights has no argument "zone"; it takes cursor, limit, place, site, state`},
		{"lights", `{"site":"hq"}`, `there is no site "hq"; sites: Harbour House (harbour-house)`},
		{"lights", `{"place":"sauna"}`, "nothing is called “sauna” in “Harbour House”. The zones are Open office north, "},
		{"lights", `{"state":"bright"}`, `state "bright" is not one of on, off, unknown`},
		{"lights", `{"limit":0}`, "limit is from 1 to 200"},
		{"lights", `{"limit":201}`, "limit is from 1 to 200"},
		{"lights", `{"limit":"ten"}`, "arguments.limit is not of the type"},
		{"lights", `{"cursor":"x"}`, "cursor is none"},
		{"lights", `{"cursor":"4000"}`, "cursor is none"},
		{"lights", `["Lobby"]`, "arguments is not an object"},
		{"places", `{"sort":"name"}`, `sort "name" is not one of brightest, dimmest`},
		{"energy", `{"from":"2026-11-17T00:00:00Z"}`, "to is missing"},
		{"energy", `{"from":"yesterday","to":"2026-11-17T00:00:00Z"}`, "from is not an ISO 8601"},
		{"energy", `{"from":"2027-01-01T00:00:00Z","to":"2027-01-02T00:00:00Z"}`, "nothing is forecast"},
		{"order", `{"do":"off"}`, "things and do are missing"},
		{"order", `{"confirm":true}`, "confirm needs the order"},
		{"order", `{"order":"nothing","confirm":true}`, "there is no order"},
		{"order", `{"order":"x","things":"lights"}`, "send order and confirm alone"},
		{"order", `{"things":"lights","do":"off"}`, "which zone or floor"},
		{"order", `{"things":"lights","do":"set","places":["Lobby"]}`, "a value is missing"},
		{"order", `{"things":"lights","do":"set","places":["Lobby"],"percent":101}`, "percent is from 0 to 100"},
		{"order", `{"things":"shades","do":"dim","places":["Lobby"]}`, `shades cannot be told "dim"`},
		{"order", `{"things":"lights","do":"off","places":["Lobby 1"]}`, "whole zones"},
		{"order", `{"things":"lights","do":"off","places":["sauna"]}`, "nothing is called"},
	} {
		_, _, err := b.try(c.tool, c.arguments)
		if !errors.Is(err, platform.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, want %s", c.tool, c.arguments, err, c.says)
		}
	}
	b.building.Further = []platform.Controller{{ID: "mill", Name: "Old mill", Online: true}}
	if _, _, err := b.try("lights", `{}`); err == nil || !strings.Contains(err.Error(), "say which site: Harbour House (harbour-house) and Old mill (mill)") {
		t.Errorf("two sites: %v", err)
	}
}

func TestAnOrderIsPreviewedAndConfirmedOnce(t *testing.T) {
	b := newBench(t)
	const wish = `{"things":"lights","do":"set","percent":10,"places":["Ground floor"],"except":["Canteen"]}`
	b.who.Permissions.Control = false
	if _, _, err := b.try("order", wish); !errors.Is(err, platform.ErrInvalid) || !strings.Contains(err.Error(), "only reads") {
		t.Errorf("a key that may not: %v", err)
	}
	b.who.Permissions.Control = true
	text, data := b.call("order", wish)
	id := data["order"].(string)
	if data["state"] != "previewed" || !strings.Contains(text, "Not done yet. This would set the lights to 10 %: Lobby") || len(data["zones"].([]any)) != 2 || data["validUntil"] == nil {
		t.Errorf("preview: %s %v", text, data)
	}
	confirm := `{"order":"` + id + `","confirm":true}`
	if _, data := b.call("order", `{"order":"`+id+`"}`); data["state"] != "previewed" {
		t.Errorf("before it is confirmed it stands as %v", data)
	}
	b.who.User.ID = "bob"
	if _, _, err := b.try("order", confirm); err == nil {
		t.Error("somebody else confirmed it")
	}
	b.who.User.ID = "ann"
	if len(b.building.Acted) != 0 {
		t.Fatalf("a preview acted: %v", b.building.Acted)
	}
	b.building.Refuse[sitetest.Corridor] = "1 light is offline"
	_, data = b.call("order", confirm)
	var states []string
	for _, z := range data["zones"].([]any) {
		z := z.(map[string]any)
		states = append(states, fmt.Sprint(z["name"], ": ", z["state"]))
	}
	if got := strings.Join(states, ", "); data["state"] != "not done" || got != "Lobby: done, Corridor ground floor: not done" {
		t.Errorf("it stands as %v: %s", data["state"], got)
	}
	_, again := b.call("order", confirm)
	if len(b.building.Acted) != 2 || again["state"] != "not done" {
		t.Errorf("confirmed twice it is done %d times, %v", len(b.building.Acted), again)
	}
	// Dropped, and too old.
	_, data = b.call("order", wish)
	dropped := `{"order":"` + data["order"].(string) + `","confirm":`
	if _, data := b.call("order", dropped+`false}`); data["state"] != "dropped" {
		t.Errorf("dropped: %v", data)
	}
	if _, _, err := b.try("order", dropped+`true}`); err == nil {
		t.Error("what was dropped was done")
	}
	_, data = b.call("order", wish)
	b.now = b.now.Add(assistant.PreviewLife + time.Second)
	if _, _, err := b.try("order", `{"order":"`+data["order"].(string)+`","confirm":true}`); err == nil || !strings.Contains(err.Error(), "Nothing was done") {
		t.Errorf("a preview that is too old: %v", err)
	}
	if len(b.building.Acted) != 2 {
		t.Errorf("acted %v", b.building.Acted)
	}
}
