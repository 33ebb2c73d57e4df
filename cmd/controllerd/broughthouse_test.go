package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/tools/conformance/onezero"
)

// hostileHouse is a Controller 1.0 that answers one endpoint in a way of its own; told is
// closed when it has.
func hostileHouse(t *testing.T, endpoint string, answer func(w http.ResponseWriter)) (url string, told <-chan struct{}) {
	t.Helper()
	plain := onezero.New(onezero.NewHouse(1, 3, 1), onezero.Habits{})
	done := make(chan struct{}, 1000)
	_, _, url = oldHouse(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/"+endpoint) {
			plain.ServeHTTP(w, r)
			return
		}
		answer(w)
		select {
		case done <- struct{}{}:
		default:
		}
	}))
	return url, done
}

// reading begins to read a house.
func (b *broughtTo) reading(url string) (j api.Job) {
	b.t.Helper()
	var shown api.ControllerShown
	b.api(b.admin, http.StatusOK, http.MethodPost, "/migrations/certificate", api.ControllerAddress{URL: url}, &shown)
	from := api.MigrationSource{URL: url, Username: onezero.Username, Password: onezero.Password, Fingerprint: shown.Fingerprint}
	b.api(b.admin, http.StatusAccepted, http.MethodPost, "/migrations/preview", from, &j)
	return j
}

// over waits for a job at most so long.
func (b *broughtTo) over(t *testing.T, j api.Job, within time.Duration) api.Job {
	t.Helper()
	waitFor(t, within, "the job to end", func() bool {
		status, body, _ := b.send(http.MethodGet, "/api/v1/jobs/"+j.ID, b.admin, "")
		if err := json.Unmarshal(body, &j); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return j.State != "running"
	})
	return j
}

// onAndOn writes something again and again until nobody listens.
func onAndOn(w io.Writer, first, again string) {
	_, err := io.WriteString(w, first)
	for text := strings.Repeat(again, 1+64<<10/len(again)); err == nil; {
		_, err = io.WriteString(w, text)
	}
}

// packed is a body of gzip's members, each of them packed once.
func packed(w http.ResponseWriter, first, again string) {
	w.Header().Set("Content-Encoding", "gzip")
	member := func(text string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	onAndOn(w, member(first), member(strings.Repeat(again, 1<<20/len(again))))
}

func TestHostileOldControllers(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := newBroughtTo(t)
	for _, c := range []struct {
		name, endpoint string
		answer         func(w http.ResponseWriter)
		words          string
	}{
		{"an endless login", "authenticate", func(w http.ResponseWriter) { onAndOn(w, `{"responseCode":[`, "1,") }, "more than 65536 bytes"},
		{"an endless body", "getClusters", func(w http.ResponseWriter) { onAndOn(w, "", " ") }, "more than 16777216 bytes"},
		{"a small body that unpacks without end", "getClusters", func(w http.ResponseWriter) { packed(w, "[", `{"id":1},`) }, "more than 16777216 bytes"},
		{"a list of 18 MB", "getActiveNodes", func(w http.ResponseWriter) { io.WriteString(w, "["+strings.Repeat(`{"id":1,"a":[]},`, 18<<16)+"{}]") }, "more than 16777216 bytes"},
		{"a list of 15 MB of small entries", "getActiveNodes", func(w http.ResponseWriter) { io.WriteString(w, "["+strings.Repeat(`{},`, 5<<20)+"{}]") }, "there is no id"},
		{"a list of the same node 400,000 times", "getActiveNodes", func(w http.ResponseWriter) { io.WriteString(w, "["+strings.Repeat(`{"id":1},`, 400_000)+`{"id":1}]`) }, "more than 80000 entries"},
		{"an entry of 15 MB", "getShades", func(w http.ResponseWriter) { io.WriteString(w, `[{"id":1,"a":[`+strings.Repeat("{},", 5<<20)+"{}]}]") }, "entry 0 of getShades has more than 16384 bytes"},
		{"24,000 nodes with long names", "getActiveNodes", func(w http.ResponseWriter) {
			var list strings.Builder
			for i := range 24_000 {
				list.WriteString(`{"id":` + strconv.Itoa(i+1) + `,"name":"` + strings.Repeat("x", 150) + `"},`)
			}
			io.WriteString(w, "["+list.String()+`{"id":80000}]`)
		}, "more than 20000 nodes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, _ := hostileHouse(t, c.endpoint, c.answer)
			if j := b.over(t, b.reading(url), 5*time.Minute); j.State != "failed" || !strings.Contains(j.Error, c.words) {
				t.Errorf("it is %s: %.300s; want %q", j.State, j.Error, c.words)
			}
			b.lives(t)
		})
	}
}

// TestAClusterWithoutEnd has 400,000 nodes; who cancels does not wait for it.
func TestAClusterWithoutEnd(t *testing.T) {
	t.Parallel()
	b := newBroughtTo(t)
	url, told := hostileHouse(t, "getNodesForCluster", func(w http.ResponseWriter) {
		io.WriteString(w, "[")
		for i := range 399_999 {
			fmt.Fprintf(w, `{"id":%d},`, i+1)
		}
		io.WriteString(w, `{"id":400000}]`)
	})
	j := b.reading(url)
	select {
	case <-told:
	case <-time.After(uitest.Patience):
		t.Fatal("the cluster was not asked for")
	}
	status, body, _ := b.send(http.MethodDelete, "/api/v1/jobs/"+j.ID, b.admin, "")
	if status != http.StatusAccepted && status != http.StatusConflict { // over already
		t.Errorf("cancel: %d %s", status, body)
	}
	b.over(t, j, 10*time.Second)
	b.lives(t)
}

// TestALargeHouseIsPlannedWhileSomebodyWaits: with as many nodes as a house may have, all in
// each of some clusters.
func TestALargeHouseIsPlannedWhileSomebodyWaits(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	b := newBroughtTo(t)
	const nodes = 19_990
	var list strings.Builder
	list.WriteString("[")
	for i := range nodes {
		fmt.Fprintf(&list, `{"id":%d,"name":"A lamp with a name of its own %d"},`, 10+i, i)
	}
	all := strings.TrimSuffix(list.String(), ",") + "]"
	url, _ := hostileHouse(t, "getNodesForCluster", func(w http.ResponseWriter) { io.WriteString(w, all) })
	j := b.over(t, b.reading(url), 5*time.Minute)
	if j.State != "done" {
		t.Fatalf("it is %s: %s", j.State, j.Error)
	}
	var plan api.MigrationPreview
	b.api(b.admin, http.StatusOK, http.MethodGet, "/migrations/preview", nil, &plan)
	if n := len(plan.Nodes); n < nodes || n > nodes+3 {
		t.Errorf("the preview has %d nodes", n)
	}
	b.lives(t)
}
