package conformance

import (
	"bytes"
	"crypto/x509"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/tools/conformance/onezero"
)

// against runs the kit on a handler.
func against(t *testing.T, h http.Handler, commands string) Report {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	cfg := Config{URL: server.URL, Username: onezero.Username, Password: onezero.Password, Settle: time.Second}
	cfg.TLS = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	if commands != "" {
		target, err := ParseTarget(commands)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Commands = &target
	}
	report, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (r Report) with(v Verdict) (out []string) {
	for _, row := range r.Rows {
		if row.Verdict == v {
			out = append(out, row.ID+": "+row.Detail)
		}
	}
	return out
}

func TestABareControllerKeepsTheContract(t *testing.T) {
	for name, habits := range map[string]onezero.Habits{
		"plain":        {},
		"other words":  {IDKey: "nodeId", NameKey: "nodeName", NumbersAsText: true, ShadeDown: true},
		"short tokens": {IDKey: "Id", NameKey: "Name", TokenUses: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			server := onezero.New(onezero.NewHouse(12, 150, 40), habits)
			report := against(t, server, "")
			if report.Failed != 0 {
				t.Errorf("failed: %q", report.with(Failed))
			}
			if n := server.Controls(); n != 0 {
				t.Errorf("%d control calls without being told to command", n)
			}
			if report.Passed < 20 || report.Differs == 0 {
				t.Errorf("got %d passed, %d differ; a controller that knows nothing of our decisions differs from them", report.Passed, report.Differs)
			}
		})
	}
}

func TestABareControllerObeys(t *testing.T) {
	for _, target := range []string{"cluster:10", "node:1", "shade:5001", "all"} {
		t.Run(target, func(t *testing.T) {
			house := onezero.NewHouse(3, 12, 4)
			before := slices.Clone(house.Nodes)
			report := against(t, onezero.New(house, onezero.Habits{}), target)
			if report.Failed != 0 || len(report.Notes) != 0 {
				t.Errorf("failed: %q, notes %q", report.with(Failed), report.Notes)
			}
			if !slices.Equal(house.Nodes, before) {
				t.Error("the lights are not as they were before")
			}
		})
	}
}

// breaking changes answers of one endpoint on their way out.
func breaking(h http.Handler, endpoint string, change func(res *httptest.ResponseRecorder)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if strings.HasSuffix(r.URL.Path, "/"+endpoint) {
			change(rec)
		}
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes())
	})
}

func replaced(old, new string) func(*httptest.ResponseRecorder) {
	return func(rec *httptest.ResponseRecorder) {
		rec.Body = bytes.NewBuffer(bytes.ReplaceAll(rec.Body.Bytes(), []byte(old), []byte(new)))
	}
}

func status(code int) func(*httptest.ResponseRecorder) {
	return func(rec *httptest.ResponseRecorder) { rec.Code = code }
}

func TestEachBreachIsFound(t *testing.T) {
	for _, c := range []struct {
		name, endpoint string
		change         func(*httptest.ResponseRecorder)
		row            string // that has to find it
	}{
		{"token under another name", "authenticate", replaced(`"auth_token"`, `"token"`), "authenticate"},
		{"no refresh token", "authenticate", replaced(`"refresh_token"`, `"refresh"`), "authenticate"},
		{"expiry as a number", "authenticate", replaced(`"tokenExpiresOn":"`, `"tokenExpiresOn":"x`), "authenticate"},
		{"responseCode as text", "authenticate", replaced(`"responseCode":1`, `"responseCode":"1"`), "authenticate"},
		{"failure of another kind", "authenticate", replaced(`AuthFailed`, `Nope`), "authenticate.wrong"},
		{"failure with the wrong code", "authenticate", replaced(`"responseCode":0`, `"responseCode":2`), "authenticate.wrong"},
		{"refresh with an integer status", "refreshToken", replaced(`"status":true`, `"status":1`), "refreshToken"},
		{"refresh without message", "refreshToken", replaced(`"message"`, `"text"`), "refreshToken"},
		{"refresh with a useless token", "refreshToken", replaced(`"token-`, `"nothing-`), "refreshToken"},
		{"401 with other words", "getShades", replaced("Authentication required", "Unauthorized"), "unauthorized.getShades"},
		{"403 for 401", "getClusters", func(rec *httptest.ResponseRecorder) {
			if rec.Code == 401 {
				rec.Code = 403
			}
		}, "unauthorized.getClusters"},
		{"open to everybody", "getActiveNodes", func(rec *httptest.ResponseRecorder) {
			rec.Code, rec.Body = 200, bytes.NewBufferString("[]")
		}, "unauthorized.getActiveNodes"},
		{"text for JSON", "getClusters", func(rec *httptest.ResponseRecorder) { rec.Header().Set("Content-Type", "text/plain") }, "json"},
		{"clusters in an object", "getClusters", func(rec *httptest.ResponseRecorder) {
			rec.Body = bytes.NewBufferString(`{"clusters":` + rec.Body.String() + `}`)
		}, "getClusters"},
		{"id as text", "getClusters", replaced(`"id":10,`, `"id":"10",`), "getClusters"},
		{"one ID twice", "getClusters", replaced(`"id":11,`, `"id":10,`), "getClusters.ids"},
		{"no createdByName", "getClusters", replaced(`"createdByName"`, `"creator"`), "getClusters"},
		{"a date in local fashion", "getClusters", replaced(`2019-03-01T08:30:00Z`, `01.03.2019 08:30`), "getClusters"},
		{"rgbw of three numbers", "getClusters", replaced(`"0:0:0:0"`, `"0:0:0"`), "getClusters"},
		{"nodeCount with a fraction", "getClusters", replaced(`"nodeCount":`, `"nodeCount":0.`), "getClusters"},
		{"dimLevel null", "getClusters", replaced(`"dimLevel":`, `"dimLevel":null,"was":`), "getClusters"},
		{"shadeLevel below 0", "getClusters", replaced(`"shadeLevel":`, `"shadeLevel":-1`), "getClusters.shadeLevel"},
		{"nodes null", "getActiveNodes", replaced("[", "null//"), "getActiveNodes"},
		{"nodes of a cluster refused", "getNodesForCluster", status(500), "getNodesForCluster"},
		{"shadeLevel 101", "getShades", replaced(`"shadeLevel":1`, `"shadeLevel":101`), "getShades"},
		{"shadeLevel as text", "getShadesForCluster", replaced(`"shadeLevel":0`, `"shadeLevel":"0"`), "getShadesForCluster"},
		{"value as a number", "getLightLevels", replaced(`"value":"0"`, `"value":0`), "getLightLevels"},
		{"another valueType", "getLightLevels", replaced(`DIM_LEVEL`, `LEVEL`), "getLightLevels"},
		{"id in small letters", "getLightLevels", replaced(`"Id"`, `"id"`), "getLightLevels"},
		{"no AllVal", "getLightLevels", replaced(`"AllVal"`, `"All"`), "getLightLevels"},
		{"Synchronize null", "getLightLevels", replaced(`"Synchronize":"N"`, `"Synchronize":null`), "getLightLevels"},
		{"rows of other clusters", "getLightLevels", replaced(`"ClusterId":11`, `"ClusterId":12`), "getLightLevels.cluster"},
		{"rows of other nodes", "getLightLevels", func(rec *httptest.ResponseRecorder) {
			if !bytes.Contains(rec.Body.Bytes(), []byte(`"NodeId":3,`)) { // of node 1 alone
				replaced(`"NodeId":1,`, `"NodeId":3,`)(rec)
			}
		}, "getLightLevels.one"},
		{"no documentation", "docs", status(404), "docs"},
		{"documentation without the tag", "docs", replaced("public-api", "api"), "docs"},
		{"status true", "channelControl", replaced(`"status":1`, `"status":true`), "channelControl.ON"},
		{"status as text", "channelControl", replaced(`"status":1`, `"status":"1"`), "channelControl.DIM"},
		{"OFF fails", "channelControl", replaced(`"status":1`, `"status":0`), "channelControl.OFF"},
		{"commands need no token", "setColorTemp", replaced("Authentication required", "ok"), "unauthorized.setColorTemp"},
		{"colour temperature fails", "setColorTemp", replaced(`"status":1`, `"status":0`), "setColorTemp"},
		{"colour fails", "setRGBW", replaced(`"status":1`, `"status":0`), "setRGBW"},
		{"no shadeState", "shadeControl", replaced(`shadeState`, `state`), "shadeControl.UP"},
		{"STOP fails", "shadeControl", replaced(`"STOPPED","status":1`, `"STOPPED","status":0`), "shadeControl.STOP"},
		{"POS fails", "shadeControl", replaced(`"MOVING","status":1`, `"MOVING","status":0`), "shadeControl.POS"},
		{"DOWN fails", "shadeControl", replaced(`"CLOSING","status":1`, `"CLOSING","status":0`), "shadeControl.DOWN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			house := onezero.NewHouse(3, 11, 4)
			report := against(t, breaking(onezero.New(house, onezero.Habits{}), c.endpoint, c.change), "cluster:10")
			found := slices.ContainsFunc(report.Rows, func(r Result) bool { return r.ID == c.row && r.Verdict == Failed })
			if !found {
				t.Errorf("the row %s did not find it; failed: %q", c.row, report.with(Failed))
			}
		})
	}
}

// What a controller does with a command shows in its own answers only, so these break
// the doing.
func TestDisobedienceIsFound(t *testing.T) {
	for _, c := range []struct {
		name, row string
		verdict   Verdict
		spoil     func(endpoint string, h *onezero.House)
	}{
		{"colour temperature is not clamped", "setColorTemp", Failed, func(_ string, h *onezero.House) {
			for i := range h.Nodes {
				h.Nodes[i].Kelvin = 2000
			}
		}},
		{"a lamp stays on", "channelControl.OFF.seen", Differs, func(_ string, h *onezero.House) { h.Nodes[0].Level = 100 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := onezero.New(onezero.NewHouse(1, 3, 0), onezero.Habits{})
			server.OnAsking(c.spoil)
			report := against(t, server, "cluster:10")
			if !slices.ContainsFunc(report.Rows, func(r Result) bool { return r.ID == c.row && r.Verdict == c.verdict }) {
				t.Errorf("%s did not find it: %q", c.row, append(report.with(Failed), report.with(Differs)...))
			}
		})
	}
}

func TestReportForBuildServers(t *testing.T) {
	r := Report{Rows: []Result{
		{ID: "a", About: "holds", Source: Contract, Verdict: Passed},
		{ID: "b", About: `says "no" & <never>`, Source: Contract, Verdict: Failed, Detail: "got <x>"},
		{ID: "c", About: "is ours", Source: Ours, Verdict: Differs, Detail: "other"},
		{ID: "d", About: "cannot be asked", Source: Ours, Verdict: Skipped, Detail: "no lamp"},
	}}
	for strict, failures := range map[bool]int{false: 1, true: 2} {
		var out bytes.Buffer
		if err := r.JUnit(&out, strict); err != nil {
			t.Fatal(err)
		}
		var suite junitSuite
		if err := xml.Unmarshal(out.Bytes(), &suite); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		if suite.Tests != 4 || suite.Failures != failures || suite.Failures+suite.Skipped != 3 || suite.Cases[1].Failure.Message != "got <x>" {
			t.Errorf("strict %v: got %+v", strict, suite)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, good := range []string{"all", "cluster:3", "node:7", "shade:5001"} {
		if got, err := ParseTarget(good); err != nil || got.String() != good {
			t.Errorf("%s: got %v, %v", good, got, err)
		}
	}
	for _, bad := range []string{"", "3", "cluster", "cluster:", "cluster:0", "node:-1", "lamp:3", "node:1x", "all:3"} {
		if got, err := ParseTarget(bad); err == nil {
			t.Errorf("%q was taken as %v", bad, got)
		}
	}
}

func TestPasswordsGoOverTLS(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://controller.local": true, "https://controller.local:8443/svc/api/": true, "http://127.0.0.1:8080": true, "http://localhost": true,
		"http://controller.local": false, "controller.local": false, "ftp://controller.local": false, "": false,
	} {
		if _, err := parseAddress(address); (err == nil) != ok {
			t.Errorf("%q: got %v, want it taken: %v", address, err, ok)
		}
	}
}
