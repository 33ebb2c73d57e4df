package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// call asks the control interface.
func call(t *testing.T, srv *httptest.Server, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, srv.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if resp.Header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatalf("%s %s: %q: %v", method, path, data, err)
		}
	}
	return resp.StatusCode, out
}

func control(t *testing.T, bd *Building) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(bd.Handler())
	t.Cleanup(srv.Close)
	return srv
}

func TestWrongRequestsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	bd := newSite(t).tcp("gw").node("5", "wirenboard-wb-mdm3").run(Options{})
	srv := control(t, bd)
	for _, c := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", "/faults", `{"kind":"explode"}`, 400},
		{"POST", "/faults", `{"kind":"drop","rate":2}`, 400},
		{"POST", "/faults", `{"kind":"drop","rate":0}`, 400},
		{"POST", "/faults", `{"kind":"delay"}`, 400},
		{"POST", "/faults", `{"kind":"drop","colour":1}`, 400},
		{"POST", "/faults", `{"kind":"drop"} {}`, 400},
		{"POST", "/faults", `{"kind":"drop","bus":"attic"}`, 404},
		{"POST", "/faults", `{"kind":"drop","address":"x"}`, 400},
		{"POST", "/faults", `{"kind":"unplug","address":"5"}`, 400},
		{"POST", "/faults", `[`, 400},
		{"POST", "/faults", `{"kind":"` + strings.Repeat("x", maxBody) + `"}`, 413},
		{"DELETE", "/faults/7", "", 404},
		{"GET", "/log?bus=attic", "", 404},
		{"GET", "/log?since=-1", "", 400},
		{"GET", "/log?until=1", "", 400},
		{"POST", "/devices/gw/5/channels/4", `{"on":true}`, 404},
		{"POST", "/devices/gw/5/channels/1", `{"level":101}`, 400},
		{"POST", "/devices/gw/5/channels/1", `{}`, 400},
		{"POST", "/devices/gw/5/channels/1", `{"rgbw":"1:2:3:4"}`, 400},
		{"POST", "/devices/gw/5/channels/1", `{"rgbw":"1:2:3"}`, 400},
		{"POST", "/devices/gw/6/channels/1", `{"on":true}`, 404},
		{"POST", "/devices/gw/5/shades/1", `{"action":"open"}`, 404},
		{"POST", "/devices/gw/5/shades/1", `{"action":"fly"}`, 400},
		{"PUT", "/devices", "", 405},
	} {
		code, out := call(t, srv, c.method, c.path, c.body)
		reason, _ := out["error"].(string)
		if code != c.code || code != 405 && reason == "" {
			t.Errorf("%s %s %.60s: %d %v, want %d with a reason", c.method, c.path, c.body, code, out, c.code)
		}
	}
	if n := len(bd.Faults()); n != 0 {
		t.Errorf("%d faults in force", n)
	}
}

func TestFaultsAreListedAndDeleted(t *testing.T) {
	t.Parallel()
	bd := newSite(t).tcp("gw").node("5", "wirenboard-wb-mdm3").run(Options{})
	srv := control(t, bd)
	_, first := call(t, srv, "POST", "/faults", `{"kind":"drop","rate":0.2,"bus":"gw"}`)
	call(t, srv, "POST", "/faults", `{"kind":"refuse","exception":2,"address":"5"}`)
	if _, out := call(t, srv, "GET", "/faults", ""); len(out["faults"].([]any)) != 2 {
		t.Errorf("listed: %v", out)
	}
	if code, _ := call(t, srv, "DELETE", "/faults/"+asJSON(t, first["id"]), ""); code != 200 {
		t.Errorf("delete one: %d", code)
	}
	if _, out := call(t, srv, "DELETE", "/faults", ""); out["removed"] != 1.0 {
		t.Errorf("delete all: %v", out)
	}
}

func TestLogIsBoundedAndContinues(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).tcp("b").node("5", "wirenboard-wb-mdm3"), Options{})
	bd := &Building{buses: []*bus{r.bus}}
	for i := range frameRing + 100 {
		r.get(noon.Add(time.Duration(i)), 5, fnReadHolding, 0)
	}
	all, err := bd.Log("b", 0, 0)
	if err != nil || len(all) != frameRing || all[0].Seq != 101 {
		t.Fatalf("%d frames from %d, %v", len(all), all[0].Seq, err)
	}
	if rest, _ := bd.Log("b", all[frameRing-3].Seq, 0); len(rest) != 2 {
		t.Errorf("%d frames since the last but two", len(rest))
	}
	if last, _ := bd.Log("b", 0, 5); len(last) != 5 || last[4].Seq != frameRing+100 {
		t.Errorf("last five: %+v", last)
	}
	if none, _ := bd.Log("b", 1<<40, 0); len(none) != 0 {
		t.Errorf("%d frames from the future", len(none))
	}
}

func TestUnknownRequestsAreRefusedInJSON(t *testing.T) {
	t.Parallel()
	srv := control(t, newSite(t).tcp("ground floor").node("6", "wirenboard-wb-mr6c").run(Options{}))
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/nope", 404, "nothing at /nope"},
		{"GET", "/", 404, "docs/simbuilding.md"},
		{"POST", "/devices/a/b/c", 404, "nothing at"},
		{"PUT", "/buses", 405, "want GET, HEAD"},
		{"GET", "/buses", 200, ""},
	} {
		code, out := call(t, srv, c.method, c.path, "")
		said, _ := out["error"].(string)
		if code != c.status || !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%s %s: %d %v, want %d and %q", c.method, c.path, code, out, c.status, c.says)
		}
	}
}
