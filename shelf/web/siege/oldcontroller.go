package siege

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// An OldController has the daemon read the house of a controller that means harm, by POST to
// Preview; its jobs are below Jobs, where they are cancelled.
type OldController struct {
	Preview, Jobs string
	Header        []string
}

// houses are what it tells of itself, in turn.
var houses = []struct {
	name, endpoint string
	write          func(io.Writer) error
}{
	{"a list of 18 MB", "getClusters", func(w io.Writer) error { return list(w, 400_000) }},
	{"a cluster of 400,000 nodes", "getNodesForCluster", func(w io.Writer) error { return list(w, 400_000) }},
	{"a body without end", "getClusters", func(w io.Writer) error {
		_, err := io.WriteString(w, "[")
		for blank := strings.Repeat(" ", 64<<10); err == nil; {
			_, err = io.WriteString(w, blank)
		}
		return err
	}},
}

// list writes that many records.
func list(w io.Writer, n int) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	for i := range n {
		if _, err := fmt.Fprintf(w, `{"id":%d,"name":"Number %d of many"},`, i+1, i+1); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, `{"id":0,"name":"Last"}]`)
	return err
}

// patienceOf a person who cancels a job.
const patienceOf = 8 * time.Second

// read begins jobs that read such houses, and cancels each.
func (o OldController) read(ctx context.Context, d Door, count *counts) {
	var turn atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		house := houses[int(turn.Load())%len(houses)]
		switch endpoint := strings.TrimPrefix(r.URL.Path, "/svc/api/"); endpoint {
		case "authenticate":
			_, _ = io.WriteString(w, `{"responseCode":1,"auth_token":"a","refresh_token":"r"}`)
		case house.endpoint:
			_ = house.write(w) // until they have enough
		case "getClusters":
			_, _ = io.WriteString(w, `[{"id":1,"name":"One"}]`)
		default:
			_, _ = io.WriteString(w, `[]`)
		}
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	body, _ := json.Marshal(map[string]string{ // of strings it cannot fail
		"url": server.URL, "username": "u", "password": "p", "fingerprint": fmt.Sprintf("%x", sha256.Sum256(server.Certificate().Raw)),
	})
	for ; ctx.Err() == nil; turn.Add(1) {
		name := "old controller: " + houses[int(turn.Load())%len(houses)].name
		job, status := d.ask(ctx, "POST", o.Preview, o.Header, string(body))
		count.add(ctx, name, status)
		pause(ctx, patienceOf)
		if job.ID != "" {
			_, status = d.ask(ctx, "DELETE", o.Jobs+job.ID, o.Header, "")
			count.add(ctx, name+", cancelled", status)
		}
		pause(ctx, held)
	}
}

type job struct {
	ID string `json:"id"`
}

// ask makes a request and reads which job is told of in its answer.
func (d Door) ask(ctx context.Context, method, path string, header []string, body string) (job, string) {
	c, err := d.dial(ctx, "http/1.1")
	if err != nil {
		return job{}, notLetIn
	}
	defer c.Close()
	req, err := http.NewRequestWithContext(ctx, method, "https://"+d.Addr+path, strings.NewReader(body))
	if err != nil {
		return job{}, err.Error()
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	if err := req.Write(c); err != nil {
		return job{}, "cut"
	}
	res, err := http.ReadResponse(bufio.NewReader(c), req)
	if err != nil {
		return job{}, "cut"
	}
	defer res.Body.Close()
	var is job
	_ = json.NewDecoder(res.Body).Decode(&is) // there is none in a refusal
	return is, fmt.Sprint(res.StatusCode)
}
