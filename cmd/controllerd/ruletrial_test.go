package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/shelf/account"
)

// TestARuleOnTrialAndWithAWarning: what a rule would have done by the history; lights that are warned before they go off; holidays and
// days of a rule's own, by the API, in the site file and back.
func TestARuleOnTrialAndWithAWarning(t *testing.T) {
	t.Parallel()
	virtually(t, strings.Replace(verbsSite, "site: {name: Verbs,", "site: {name: Verbs, holidays: [{name: New Year, dates: 01-01}, {dates: 2026-12-24..2026-12-26}],", 1), func(t *testing.T, h *house) {
		admin := h.enter("admin")
		ask := func(want int, method, path, body string, out any) {
			t.Helper()
			status, text, _ := h.send(method, path, admin, body)
			if status != want {
				t.Fatalf("%s %s: %d %s", method, path, status, text)
			}
			if err := json.Unmarshal(text, out); out != nil && err != nil {
				t.Fatal(err)
			}
		}
		h.part("trial", func() {
			for _, level := range []int{20, 80, 20, 90, 20} {
				if status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":3,"command":"DIM","dimLevel":%d}`, level)); status != 1 {
					t.Fatal(message)
				}
				time.Sleep(5 * time.Minute)
			}
			const when = `{"when":{"kind":"value","node":3,"quantity":"level","above":50,"forSeconds":60%s},"actions":[{"kind":"light-off","target":{"scope":"all"}}]}`
			var told api.Trial
			ask(200, http.MethodPost, "/api/v1/rules/trial?days=1", fmt.Sprintf(when, ""), &told)
			if told.Count != 2 || len(told.Times) != 2 || told.Since == nil || told.Times[1].Sub(told.Times[0]).Round(time.Minute) != 10*time.Minute {
				t.Errorf("it was above 50 twice: %+v", told)
			}
			ask(200, http.MethodPost, "/api/v1/rules/trial?days=1", fmt.Sprintf(when, `,"days":["fri"]`), &told)
			if told.Count != 0 { // the first of January 2000 was a Saturday
				t.Errorf("never on a Friday: %+v", told)
			}
			ask(200, http.MethodPost, "/api/v1/rules/trial?days=1", fmt.Sprintf(when, `,"holidays":"not"`), &told)
			if told.Count != 0 {
				t.Errorf("New Year is a holiday: %+v", told)
			}
			ask(200, http.MethodPost, "/api/v1/rules/trial?days=7", `{"when":{"kind":"time","time":"04:00"},"actions":[]}`, &told)
			if told.Count != 7 {
				t.Errorf("four o'clock came %d times in a week", told.Count)
			}
			ask(422, http.MethodPost, "/api/v1/rules/trial", `{"when":{"kind":"value","node":1,"quantity":"level","above":50}}`, nil)
		})
		h.part("a warning, and a hand", func() {
			var rule api.Rule
			ask(201, http.MethodPost, "/api/v1/rules", `{"name":"Warn","enabled":true,"when":{"kind":"value","node":3,"quantity":"level","above":90,"except":["2001-01-01","12-27..12-30"]},"actions":[
				{"kind":"light-level","target":{"scope":"node","id":3},"level":60},{"kind":"light-off","target":{"scope":"node","id":3},"afterSeconds":120}]}`, &rule)
			if len(rule.When.Except) != 2 || rule.Actions[1].After != 120 {
				t.Errorf("the rule is %+v", rule)
			}
			dim := func(to int) {
				t.Helper()
				if status, message := h.control("channelControl", fmt.Sprintf(`{"targetType":3,"targetId":3,"command":"DIM","dimLevel":%d}`, to)); status != 1 {
					t.Fatal(message)
				}
			}
			is := func(want int, when string) {
				t.Helper()
				if level := int(h.daemon.core.Snapshot().Node(3).Level.Value); level != want {
					t.Errorf("%s: the lamp is at %d, want %d", when, level, want)
				}
			}
			time.Sleep(10 * time.Second)
			dim(95)
			time.Sleep(10 * time.Second)
			is(60, "warned")
			time.Sleep(2 * time.Minute)
			is(0, "after the warning")
			dim(95)
			time.Sleep(10 * time.Second)
			is(60, "warned again")
			dim(75)
			time.Sleep(3 * time.Minute)
			is(75, "somebody wants light")
			var runs []api.Run
			ask(200, http.MethodGet, "/api/v1/runs", "", &runs)
			if len(runs) != 4 || runs[2].Why != "level of Lamp above 90 %, 2 min later" || runs[0].Left != "Lamp was set by "+string(account.RoleAPIService) {
				t.Errorf("runs %+v", runs)
			}
			ask(201, http.MethodPost, "/api/v1/rules", `{"name":"Dawn","enabled":true,"when":{"kind":"value","node":3,"quantity":"level","below":5},"actions":[
				{"kind":"light-level","target":{"scope":"node","id":3},"level":80,"overSeconds":60}]}`, &rule)
			time.Sleep(10 * time.Second)
			dim(0)
			time.Sleep(30 * time.Second)
			if level := int(h.daemon.core.Snapshot().Node(3).Level.Value); level < 30 || level > 45 {
				t.Errorf("half way of its dawn the lamp is at %d", level)
			}
			time.Sleep(40 * time.Second)
			is(80, "after its dawn")
			var now []api.Run
			ask(200, http.MethodGet, "/api/v1/runs", "", &now)
			if len(now[0].Entries) != 30 || now[0].Left != "" || now[0].Why != "level of Lamp below 5 %, fading to 80 % over 1 min" {
				t.Errorf("its run is %+v", now[0])
			}
			exported := h.desk().must("site", "export")
			for _, want := range []string{"after: 2m", "over: 1m", "except: ", "12-27..12-30", "name: New Year", "2026-12-24..2026-12-26"} {
				if !strings.Contains(exported, want) {
					t.Errorf("%q is not in\n%s", want, exported)
				}
			}
			d := h.desk()
			file := d.write("again.yaml", exported)
			if out := d.must("site", "import", "--preview", file); !strings.Contains(out, "0 changed") {
				t.Errorf("imported again: %s", out)
			}
		})
		h.part("holidays", func() {
			var site api.Site
			status, text, header := h.send(http.MethodGet, "/api/v1/site", admin, "")
			if status != 200 || json.Unmarshal(text, &site) != nil || len(site.Holidays) != 2 || site.Holidays[0].Dates != "01-01" {
				t.Fatalf("%d %s", status, text)
			}
			for _, c := range []struct {
				body string
				want int
			}{{`{"holidays":[{"dates":"Christmas"}]}`, 422}, {`{"holidays":[{"name":"Labour Day","dates":"05-01"}]}`, 200}} {
				if status, text, _ := h.sendIf(http.MethodPatch, "/api/v1/site", admin, header.Get("ETag"), c.body); status != c.want {
					t.Errorf("%s: %d %s, want %d", c.body, status, text, c.want)
				}
			}
			if hs := h.daemon.core.Snapshot().Site.Division.Holidays; len(hs) != 1 || hs[0].Name != "Labour Day" || hs[0].Dates.String() != "05-01" {
				t.Errorf("holidays %+v", hs)
			}
		})
	})
}
