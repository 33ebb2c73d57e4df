package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/shelf/account"
)

func TestScenesAreCapturedRecalledAndChanged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "the lamps answer", func() bool { s := h.core.Snapshot(); return s.Node(1).Online && s.Node(2).Online })
	level := func(id appliance.ID) appliance.Level { return h.core.Snapshot().Node(id).Level.Value }
	set := func(id, level int) {
		t.Helper()
		c.must(200, "POST", "/commands", fmt.Sprintf(`{"kind":"light-level","target":{"scope":"node","id":%d},"level":%d}`, id, level), nil)
	}
	set(1, 30)
	set(2, 80)
	until(t, "the levels were read", func() bool { return level(1) == 30 && level(2) == 80 })
	var sc api.Scene
	at := c.must(201, "POST", "/scenes", `{"name":"Evening","cluster":1,"capture":true}`, &sc)
	if at.Get("ETag") != sc.ETag || at.Get("Location") != "/api/v1/scenes/1" || len(sc.Actions) < 2 {
		t.Fatalf("got %+v %v", sc, at)
	}
	set(1, 5)
	set(2, 5)
	var done api.Done
	c.must(200, "POST", "/scenes/1/recall", nil, &done)
	if !done.OK || len(done.Entries) != len(sc.Actions) || level(1) != 30 || level(2) != 80 {
		t.Errorf("recalled: %+v; levels %d, %d", done, level(1), level(2))
	}
	var e api.EntryDetail
	c.must(200, "GET", "/ledger/"+done.Entries[0], nil, &e)
	if e.Who != "operator" || e.Why != "scene Evening" {
		t.Errorf("the ledger tells %q, %q", e.Who, e.Why)
	}

	// Lights that are all the same become one action.
	set(1, 40)
	set(2, 40)
	until(t, "the levels were read", func() bool { return level(1) == 40 && level(2) == 40 })
	c.must(412, "PATCH", "/scenes/1", `{"capture":true}`, nil, "If-Match", `"0"`)
	c.must(200, "PATCH", "/scenes/1", `{"capture":true}`, &sc, "If-Match", sc.ETag)
	if a := sc.Actions[0]; a.Kind != "light-level" || *a.Level != 40 || *a.Target != (api.Target{Scope: "cluster", ID: 1}) {
		t.Errorf("got %+v", sc.Actions)
	}

	for body, pointer := range map[string]string{
		`{"name":"x"}`: "/actions",
		`{"name":"x","actions":[{"kind":"light-level","target":{"scope":"cluster","id":1}}]}`: "/actions/0/level",
		`{"name":"x","actions":[{"kind":"light-on","target":{"scope":"cluster","id":77}}]}`:   "/actions/0/target",
		`{"name":"x","actions":[{"scene":1}]}`:                                                "/actions/0/scene",
		`{"name":"x","actions":[{"kind":"light-on"}]}`:                                        "/actions/0/target",
		`{"name":"","actions":[{"kind":"light-on","target":{"scope":"all"}}]}`:                "/name",
	} {
		status, _, data := c.do("POST", "/scenes", body)
		if status != 422 || !strings.Contains(string(data), `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %d %s", body, status, data)
		}
	}
	h.as(account.RoleViewer).must(403, "POST", "/scenes/1/recall", nil, nil)
	c.must(404, "POST", "/scenes/9/recall", nil, nil)

	// A rule recalls it, so that it stays.
	var r api.Rule
	c.must(201, "POST", "/rules", `{"name":"Dusk","enabled":true,"when":{"kind":"sunset","offset":-15},"actions":[{"scene":1}],"yieldMinutes":60}`, &r)
	if r.Next != nil || !strings.Contains(r.Trouble, "settings") {
		t.Errorf("a rule by the sun nowhere: %+v", r)
	}
	// Lights may take their time; nothing else may, and no scene.
	for action, want := range map[string]string{
		`"kind":"light-level","level":80,"overSeconds":3`: "want 4 to 7200, or 0: at once",
		`"kind":"light-off","overSeconds":7201`:           "want 4 to 7200, or 0: at once",
		`"kind":"light-on","overSeconds":60`:              "only lights to a level, and lights off, may take a time",
		`"kind":"shade-open","overSeconds":60`:            "only lights to a level, and lights off, may take a time",
	} {
		body := fmt.Sprintf(`{"name":"x","when":{"kind":"time","time":"07:30"},"actions":[{%s,"target":{"scope":"all"}}]}`, action)
		status, _, data := c.do("POST", "/rules", body)
		if status != 422 || !strings.Contains(string(data), want) || !strings.Contains(string(data), `"pointer":"/actions/0/over`) {
			t.Errorf("%s: %d %s", body, status, data)
		}
	}
	c.must(422, "POST", "/scenes", `{"name":"x","actions":[{"kind":"light-off","target":{"scope":"all"},"overSeconds":60}]}`, nil)
	var slow api.Rule
	c.must(201, "POST", "/rules", `{"name":"Slow","when":{"kind":"time","time":"07:30"},"actions":[{"kind":"light-off","target":{"scope":"all"},"overSeconds":60}]}`, &slow)
	if slow.Actions[0].Over != 60 {
		t.Errorf("it fades over %d s", slow.Actions[0].Over)
	}
	c.must(409, "DELETE", "/scenes/1", nil, nil, "If-Match", "*")
	c.must(200, "POST", "/rules/1/try", nil, &done)
	if !done.OK || len(done.Entries) == 0 {
		t.Errorf("tried: %+v", done)
	}
	// What the scene acts on is removed: the rule tells.
	h.as(account.RoleAdmin).must(200, "PATCH", "/site", `{"timeZone":"Europe/Zurich","latitude":47.4,"longitude":8.5}`, nil, "If-Match", "*")
	c.must(200, "PATCH", "/scenes/1", `{"actions":[{"kind":"light-on","target":{"scope":"node","id":2}}]}`, nil, "If-Match", "*")
	var able, unable api.Rule
	c.must(200, "GET", "/rules/1", nil, &able)
	c.must(204, "DELETE", "/nodes/2", nil, nil, "If-Match", "*")
	c.must(200, "GET", "/rules/1", nil, &unable)
	if able.Trouble != "" || !strings.Contains(unable.Trouble, "not there any more") {
		t.Errorf("trouble before %q, and after a lamp of its scene was removed %q", able.Trouble, unable.Trouble)
	}
	c.must(204, "DELETE", "/rules/1", nil, nil, "If-Match", r.ETag)
	c.must(204, "DELETE", "/scenes/1", nil, nil, "If-Match", "*")
	c.must(201, "POST", "/scenes", `{"name":"Again","actions":[{"kind":"light-on","target":{"scope":"all"}}]}`, &sc)
	if sc.ID != 2 {
		t.Errorf("the ID of a removed scene is used again: %+v", sc)
	}
}

func TestRulesActByThemselves(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin, c := h.as(account.RoleAdmin), h.as(account.RoleOperator)
	until(t, "the lamps answer", func() bool { s := h.core.Snapshot(); return s.Node(1).Online && s.Node(2).Online })
	var site api.Site
	admin.must(200, "PATCH", "/site", `{"timeZone":"Europe/Zurich","latitude":47.4,"longitude":8.5}`, &site, "If-Match", "*")
	if site.TimeZone != "Europe/Zurich" || *site.Latitude != 47.4 || site.Name != "Test house" {
		t.Errorf("got %+v", site)
	}
	admin.must(422, "PATCH", "/site", `{"timeZone":"Mars/Olympus"}`, nil, "If-Match", "*")
	admin.must(422, "PATCH", "/site", `{"latitude":91,"longitude":0}`, nil, "If-Match", "*")

	// When the one lamp is bright, the other goes to 70 %.
	var r api.Rule
	c.must(201, "POST", "/rules", `{"name":"Follow","enabled":true,"when":{"kind":"value","node":1,"quantity":"level","above":50},
		"actions":[{"kind":"light-level","level":70,"target":{"scope":"node","id":2}}],"yieldMinutes":30}`, &r)
	level := func(id appliance.ID) appliance.Level { return h.core.Snapshot().Node(id).Level.Value }
	dim := func(level int) {
		t.Helper()
		c.must(200, "POST", "/commands", fmt.Sprintf(`{"kind":"light-level","target":{"scope":"node","id":1},"level":%d}`, level), nil)
	}
	dim(10)
	c.must(200, "POST", "/rules/1/try", nil, nil)
	c.must(200, "POST", "/commands", `{"kind":"light-off","target":{"scope":"node","id":2}}`, nil)
	var left []api.Override
	until(t, "both are known to be set by hand", func() bool { c.must(200, "GET", "/overrides", nil, &left); return len(left) == 2 })
	// rise lets the lamp become bright until that was seen: it has to be seen dark before.
	seen := 0
	rise := func() api.Run {
		t.Helper()
		var runs []api.Run
		until(t, "a run", func() bool {
			dim(10)
			dim(90)
			runs = nil
			c.must(200, "GET", "/runs", nil, &runs)
			return len(runs) > seen
		})
		seen = len(runs)
		return runs[0]
	}
	if run := rise(); run.Left != "Lobby 2 was set by operator" || len(run.Entries) != 0 || level(2) != 0 {
		t.Errorf("what was set by hand: %+v, level %d", run, level(2))
	}
	// Until somebody lets it.
	c.must(204, "DELETE", "/clusters/1/override", nil, nil)
	run := rise()
	if run.Left != "" || len(run.Entries) != 1 || level(2) != 70 {
		t.Fatalf("let again: %+v, level %d", run, level(2))
	}
	// Why is this light at 70 %?
	var entries []api.Entry
	c.must(200, "GET", "/ledger?node=2&limit=1", nil, &entries)
	if e := entries[0]; e.Who != "Follow" || e.Via != "automation" || e.Why != "level of Lobby 1 above 50 %" {
		t.Errorf("the ledger tells %q, %q, %q", e.Who, e.Via, e.Why)
	}

	// By the clock: what is due is told for two weeks.
	c.must(201, "POST", "/rules", `{"name":"Morning","enabled":true,"when":{"kind":"time","time":"07:30","days":["mon","fri"]},
		"actions":[{"kind":"shade-open","target":{"scope":"cluster","id":1}}]}`, &r)
	c.must(201, "POST", "/rules", `{"name":"Dusk","enabled":true,"when":{"kind":"sunset"},"actions":[{"kind":"light-on","target":{"scope":"all"}}]}`, nil)
	var plan api.Schedule
	c.must(200, "GET", "/schedule", nil, &plan)
	counts := map[string]int{}
	zone, err := time.LoadLocation(plan.TimeZone)
	must(t, err)
	for _, d := range plan.Due {
		counts[d.Name]++
		if at := d.At.In(zone); d.Name == "Morning" && (at.Format("15:04") != "07:30" || at.Weekday() != time.Monday && at.Weekday() != time.Friday) {
			t.Errorf("due at %v", at)
		}
	}
	// Where days get shorter, the sun of the fourteenth day may set within 14 times 24 hours once more.
	if counts["Morning"] != 4 || counts["Dusk"] < 13 || counts["Dusk"] > 15 || counts["Follow"] != 0 {
		t.Errorf("due: %v", counts)
	}
	c.must(200, "PATCH", fmt.Sprint("/rules/", r.ID), `{"enabled":false}`, &r, "If-Match", r.ETag)
	if r.Enabled || r.Next != nil {
		t.Errorf("switched off: %+v", r)
	}
	c.must(200, "GET", "/schedule?days=3", nil, &plan)
	for _, d := range plan.Due {
		if d.Name == "Morning" {
			t.Errorf("what is switched off is due: %+v", d)
		}
	}
	for body, pointer := range map[string]string{
		`{"when":{"kind":"time","time":"25:00"}}`:                          "/when/time",
		`{"when":{"kind":"time","time":"07:00","days":["someday"]}}`:       "/when/days",
		`{"when":{"kind":"sunset","offset":999}}`:                          "/when/offset",
		`{"when":{"kind":"value","node":77,"quantity":"level","above":1}}`: "/when/node",
		`{"when":{"kind":"value","node":1,"quantity":"mood","above":1}}`:   "/when/quantity",
		`{"when":{"kind":"moon"}}`:                                         "/when/kind",
		`{"yieldMinutes":-1}`:                                              "/yieldMinutes",
	} {
		status, _, data := c.do("PATCH", fmt.Sprint("/rules/", r.ID), body, "If-Match", "*")
		if status != 422 || !strings.Contains(string(data), `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %d %s", body, status, data)
		}
	}
}
