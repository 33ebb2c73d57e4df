package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
)

// event is one server-sent event.
type event struct{ name, id, data string }

// listen opens the stream and sends its events on; the channel ends with the stream. It asks again while those that had to make room
// have not left yet, as a page does.
func (c *client) listen(ctx context.Context, last string) <-chan event {
	c.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", c.base+"/api/v1/events", nil)
	must(c.t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	var res *http.Response
	until(c.t, "there is room for a stream", func() bool {
		res, err = c.http.Do(req)
		must(c.t, err)
		if res.StatusCode != http.StatusServiceUnavailable {
			return true
		}
		res.Body.Close()
		return false
	})
	if res.StatusCode != 200 {
		c.t.Fatalf("stream: %s", res.Status)
	}
	out := make(chan event, 256)
	go func() {
		defer close(out)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 4<<20)
		var e event
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.name != "" {
					out <- e
				}
				e = event{}
			}
		}
	}()
	return out
}

// next waits for an event that ok takes.
func next(t *testing.T, events <-chan event, what string, ok func(event) bool) event {
	t.Helper()
	late := time.After(3 * time.Minute)
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatal("the stream ended before " + what)
			}
			if ok(e) {
				return e
			}
		case <-late:
			t.Fatal("waited in vain for " + what)
		}
	}
}

func TestStreamBeginsWithThePictureAndGoesOnWithDifferences(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "all lamps are online", func() bool {
		s := h.core.Snapshot()
		return s.Node(1).Online && s.Node(2).Online && s.Shade(5001).Online
	})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	events := c.listen(ctx, "")
	first := next(t, events, "the picture", func(e event) bool { return true })
	var p api.Picture
	must(t, json.Unmarshal([]byte(first.data), &p))
	if first.name != "picture" || len(p.Nodes) != 3 || len(p.Clusters) != 1 || len(p.Shades) != 1 || len(p.Buses) != 1 || p.Site.Name != "Test house" {
		t.Fatalf("got %s %s", first.name, first.data)
	}
	if p.Nodes[0].Level == nil || p.Nodes[0].Level.Source != "measured" || p.Nodes[0].UUID == "" {
		t.Errorf("a node is %+v", p.Nodes[0])
	}

	var entry api.Entry
	c.must(200, "POST", "/commands", `{"kind":"light-level","target":{"scope":"cluster","id":1},"level":40,"why":"test"}`, &entry)
	if !entry.OK || len(entry.Members) != 2 || entry.Who != "operator" || entry.Via != "admin-api" || entry.Members[0].Stage != "observed" {
		t.Fatalf("got %+v", entry)
	}
	seen := map[string]bool{}
	last := next(t, events, "both lamps, the cluster and the entry", func(e event) bool {
		var ch api.Change
		switch e.name {
		case "change":
			must(t, json.Unmarshal([]byte(e.data), &ch))
			for _, n := range ch.Nodes {
				if n.Level != nil && n.Level.Value == 40 {
					seen[n.Name] = true
				}
			}
			for _, cl := range ch.Clusters {
				if cl.Level != nil && *cl.Level == 40 && *cl.LevelMin == 40 {
					seen["cluster"] = true
				}
			}
		case "entry":
			seen["entry"] = strings.Contains(e.data, entry.ID)
		}
		return len(seen) == 4
	})

	// Who comes back is told only what happened meanwhile.
	leave()
	c.must(200, "POST", "/commands", `{"kind":"light-off","target":{"scope":"node","id":1}}`, &entry)
	events = c.listen(t.Context(), last.id)
	back := next(t, events, "the difference", func(e event) bool {
		return e.name == "picture" || e.name == "entry"
	})
	if back.name != "entry" || !strings.Contains(back.data, entry.ID) {
		t.Errorf("after coming back: %s %s", back.name, back.data)
	}
	// With an ID of another process the picture comes anew.
	events = c.listen(t.Context(), "0000000000-1-1-1")
	if e := next(t, events, "the picture", func(event) bool { return true }); e.name != "picture" {
		t.Errorf("got %s", e.name)
	}
}

func TestStreamEndsSoonAfterItsOwnerIsGone(t *testing.T) {
	t.Parallel()
	drivertest.Long(t)
	h := newHouse(t)
	events := h.as(account.RoleViewer).listen(t.Context(), "")
	next(t, events, "the picture", func(e event) bool { return e.name == "picture" })
	late := drivertest.Watch(t)
	must(t, h.db.RemoveUser(t.Context(), "viewer"))
	begun := time.Now()
	for range events {
	}
	if took := time.Since(begun); took > 10*time.Second+late.Steps(5) {
		t.Errorf("the stream went on for %v", took)
	}
}
