package reader

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.internal/controller/site/migration"
	"svc.internal/controller/tools/conformance/onezero"
)

// reads has a house read from a controller.
func reads(t *testing.T, h http.Handler) (migration.House, error) {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	conf := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	house, _, err := Read(t.Context(), Config{URL: server.URL, Username: onezero.Username, Password: onezero.Password, TLS: conf, Pace: time.Nanosecond})
	return house, err
}

// same compares what was read with the house that is there.
func same(t *testing.T, got migration.House, want *onezero.House) {
	t.Helper()
	if len(got.Clusters) != len(want.Clusters) || len(got.Nodes) != len(want.Nodes) || len(got.Shades) != len(want.Shades) {
		t.Fatalf("got %d clusters, %d nodes, %d shades, want %d, %d, %d", len(got.Clusters), len(got.Nodes), len(got.Shades), len(want.Clusters), len(want.Nodes), len(want.Shades))
	}
	for i, c := range want.Clusters {
		g := got.Clusters[i]
		slices.Sort(c.Nodes)
		if int(g.ID) != c.ID || g.Name != c.Name || g.CreatedBy != c.CreatedByName || g.CreatedOn.Format(time.RFC3339) != c.CreatedOn ||
			fmt.Sprint(g.Nodes) != fmt.Sprint(c.Nodes) || fmt.Sprint(g.Shades) != fmt.Sprint(c.Shades) {
			t.Errorf("got %+v, want %+v", g, c)
		}
	}
	for i, n := range want.Nodes {
		if g := got.Nodes[i]; int(g.ID) != n.ID || g.Name != n.Name || g.Peripheral != n.Peripheral {
			t.Errorf("got %+v, want %+v", g, n)
		}
	}
	for i, s := range want.Shades {
		if g := got.Shades[i]; int(g.ID) != s.ID || g.Name != s.Name {
			t.Errorf("got %+v, want %+v", g, s)
		}
	}
}

func TestEveryDialectIsRead(t *testing.T) {
	for name, habits := range map[string]onezero.Habits{
		"plain":             {},
		"other words":       {IDKey: "nodeId", NameKey: "nodeName"},
		"capitals and text": {IDKey: "Id", NameKey: "Name", NumbersAsText: true},
		"short tokens":      {TokenUses: 3},
		"nothing for []":    {EmptyBody: true, ShadeDown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			house := onezero.NewHouse(12, 150, 40)
			server := onezero.New(house, habits)
			got, err := reads(t, server)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, house)
			if n := server.Controls(); n != 0 {
				t.Errorf("%d control calls", n)
			}
		})
	}
}

func TestAnEmptyHouseIsNothing(t *testing.T) {
	for _, habits := range []onezero.Habits{{}, {EmptyBody: true}} {
		got, err := reads(t, onezero.New(&onezero.House{}, habits))
		if err != nil || len(got.Clusters)+len(got.Nodes)+len(got.Shades) != 0 || len(got.Warnings) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestNamesThatCannotStandHere(t *testing.T) {
	house := onezero.NewHouse(1, 3, 1)
	house.Clusters[0].Name = ""
	house.Nodes[0].Name = "  two spaces, “quotes” and <b>  "
	house.Nodes[1].Name = "tab\there\u202Eoverride\x00"
	house.Nodes[2].Name = strings.Repeat("ä", 201)
	house.Shades[0].Name = "\n"
	got, err := reads(t, onezero.New(house, onezero.Habits{}))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{got.Clusters[0].Name, got.Nodes[0].Name, got.Nodes[1].Name, got.Nodes[2].Name, got.Shades[0].Name}
	want := []string{"Cluster 10", "  two spaces, “quotes” and <b>  ", "tabhereoverride", strings.Repeat("ä", 200), "Shade 5001"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if len(got.Warnings) != 5 {
		t.Errorf("got %q, want each change told", got.Warnings)
	}
}

func TestOfflineNodesKeepTheirIDs(t *testing.T) {
	house := onezero.NewHouse(2, 6, 1)
	house.Nodes[1].Offline, house.Nodes[4].Offline = true, true
	got, err := reads(t, onezero.New(house, onezero.Habits{}))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.Reserved) != "[3 9]" || len(got.Nodes) != 4 || len(got.Warnings) != 1 {
		t.Errorf("got %v kept, %d nodes, warnings %q", got.Reserved, len(got.Nodes), got.Warnings)
	}
}

func TestAHouseThatChangesIsRefused(t *testing.T) {
	server := onezero.New(onezero.NewHouse(3, 9, 3), onezero.Habits{})
	server.OnAsking(func(endpoint string, h *onezero.House) {
		if endpoint == "getLightLevels" {
			h.Clusters = h.Clusters[1:]
		}
	})
	if _, err := reads(t, server); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeUnderstoodIsRefused(t *testing.T) {
	for answer, want := range map[string]string{
		`{"clusters":[]}`:                         "want a list",
		`[{"name":"no id"}]`:                      "there is no id",
		`[{"id":"ten","name":"C"}]`:               `id is "ten"`,
		`[{"id":1.5,"name":"C"}]`:                 `id is "1.5"`,
		`[{"id":true,"name":"C"}]`:                "want a number",
		`[{"id":1,"name":7}]`:                     "name is 7",
		`[{"id":1,"name":"C","createdOn":"x"}]`:   `createdOn is "x"`,
		`[{"id":1,"name":"C"},{"id":1}]`:          "two clusters have the id 1",
		`[null]`:                                  "entry 0 is null",
		`<html>`:                                  "want a list",
		`[{"id":99999999999999999999,"name":""}]`: "want a whole number",
	} {
		plain := onezero.New(&onezero.House{}, onezero.Habits{})
		_, err := reads(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/getClusters") {
				fmt.Fprint(w, answer)
				return
			}
			plain.ServeHTTP(w, r)
		}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", answer, err, want)
		}
	}
}

func TestTroubleOnTheWayIsSurvivedThreeTimes(t *testing.T) {
	for _, c := range []struct {
		failures int32
		ok       bool
	}{{2, true}, {100, false}} {
		for _, cut := range []bool{false, true} {
			house := onezero.NewHouse(2, 4, 2)
			server := onezero.New(house, onezero.Habits{})
			var left atomic.Int32
			left.Store(c.failures)
			_, err := reads(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/getShades") && left.Add(-1) >= 0 {
					if cut {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				server.ServeHTTP(w, r)
			}))
			if (err == nil) != c.ok {
				t.Errorf("%d failures, cut %v: got %v", c.failures, cut, err)
			}
		}
	}
}

func TestAWrongPasswordIsSaid(t *testing.T) {
	server := httptest.NewTLSServer(onezero.New(&onezero.House{}, onezero.Habits{}))
	defer server.Close()
	_, _, err := Read(t.Context(), Config{URL: server.URL, Username: onezero.Username, Password: "no", TLS: &tls.Config{InsecureSkipVerify: true}, Pace: time.Nanosecond})
	if err == nil || !strings.Contains(err.Error(), "name and password") {
		t.Errorf("got %v", err)
	}
}

func TestRequestsComeOneByOneAndSlowly(t *testing.T) {
	house := onezero.NewHouse(1, 2, 1)
	server := onezero.New(house, onezero.Habits{})
	var under, most, count atomic.Int32
	began := time.Now()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), under.Add(1)))
		count.Add(1)
		server.ServeHTTP(w, r)
		under.Add(-1)
	}))
	defer s.Close()
	_, _, err := Read(t.Context(), Config{URL: s.URL, Username: onezero.Username, Password: onezero.Password, TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 {
		t.Errorf("%d requests at once", most.Load())
	}
	if least := time.Duration(count.Load()-1) * paceLeast; time.Since(began) < least {
		t.Errorf("%d requests in %v, want no more than 4 a second", count.Load(), time.Since(began))
	}
}

func TestSources(t *testing.T) {
	for address, want := range map[string]string{
		"https://Old.Example": "old.example:443", "https://old.example:8443/": "old.example:8443", "http://127.0.0.1:80": "127.0.0.1:80",
		"http://LocalHost:80": "localhost:80", "http://[::1]": "::1:80", "http://old.example": "", "old.example": "",
		"http://127.evil.example": "", "http://127.0.0.1.evil.example": "", "http://localhost.evil.example": "", "http://[::ffff:192.0.2.1]": "", "http://0.0.0.0": "",
		"https://old.example/svc/api": "", "https://old.example/?x=1": "", "https://old.example#x": "",
	} {
		if got, err := Source(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", address, got, err)
		}
	}
}

// A server that repeats what it was asked gets the password into no error: errors go into
// logs and into the records of jobs.
func TestPasswordIsInNoError(t *testing.T) {
	t.Parallel()
	const password = `pass"word with ä & more`
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "you said %s, or %s", body, url.QueryEscape(password))
	}))
	t.Cleanup(server.Close)
	conf := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	_, _, err := Read(t.Context(), Config{URL: server.URL, Username: "bms", Password: password, TLS: conf, Pace: time.Nanosecond})
	if err == nil || !strings.Contains(err.Error(), "you said") || strings.Contains(err.Error(), "word with") || strings.Contains(err.Error(), "word+with") {
		t.Errorf("got %v", err)
	}
	for _, address := range []string{"https://bms:" + password + "@there.example", "https://bms:geheim@there.example"} {
		if _, _, err := Read(t.Context(), Config{URL: address}); err == nil || strings.Contains(err.Error(), "bms") {
			t.Errorf("an address with a password: %v", err)
		}
	}
}

func TestCertificateIsShownBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	asked := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(server.Close)
	source, fingerprint, err := Shown(t.Context(), server.URL)
	sum := sha256.Sum256(server.Certificate().Raw)
	if err != nil || source != server.Listener.Addr().String() || fingerprint != hex.EncodeToString(sum[:]) {
		t.Errorf("got %s, %s, %v", source, fingerprint, err)
	}
	for _, address := range []string{"", "there", "http://127.0.0.1:1", "https://127.0.0.1:1"} {
		if _, _, err := Shown(t.Context(), address); err == nil {
			t.Errorf("%q shows a certificate", address)
		}
	}
	if asked {
		t.Error("something was asked")
	}
}

// What a name stands for is judged when it is dialled, and no proxy carries what may not leave this machine.
func TestPlainHTTPLeavesThisMachineForNobody(t *testing.T) {
	t.Parallel()
	c, err := newClient(Config{URL: "http://localhost:80", Username: "bms", Password: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	by := c.http.Transport.(*http.Transport)
	if by.Proxy != nil {
		t.Error("a proxy may carry it elsewhere")
	}
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0:80", "169.254.169.254:80"} {
		if _, err := by.DialContext(t.Context(), "tcp", address); err == nil || !strings.Contains(err.Error(), "use https://") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
