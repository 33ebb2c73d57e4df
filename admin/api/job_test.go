package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
)

func (c *client) job(id string) (j api.Job) {
	c.t.Helper()
	c.must(200, "GET", "/jobs/"+id, nil, &j)
	return j
}

func (c *client) start(in api.JobRequest) (j api.Job) {
	c.t.Helper()
	if at := c.must(202, "POST", "/jobs", in, &j).Get("Location"); at != "/api/v1/jobs/"+j.ID {
		c.t.Errorf("Location is %q", at)
	}
	return j
}

func TestScanIsAJobThatTellsWhatItFinds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "the bus is up", func() bool { return h.core.Snapshot().Buses[0].Up })
	events := c.listen(t.Context(), "")
	j := c.start(api.JobRequest{Kind: "scan", Bus: "ground"})
	// A second one of the same bus is refused, and names the first.
	status, _, data := c.do("POST", "/jobs", api.JobRequest{Kind: "scan", Bus: "ground"})
	if status != 409 || !strings.Contains(string(data), `"job":"`+j.ID+`"`) {
		t.Errorf("a second scan: %d %s", status, data)
	}
	next(t, events, "the end of the scan", func(e event) bool {
		return e.name == "job" && strings.Contains(e.data, `"state":"done"`)
	})
	got := c.job(j.ID)
	if got.State != "done" || got.Found != 3 || got.Progress.Done != 9 || got.By != "operator" {
		t.Fatalf("got %+v", got)
	}
	first := got.Items[0].(map[string]any)
	if first["address"] != "1" || first["finding"] != "device" || first["nodes"].([]any)[0] != 1.0 {
		t.Errorf("the first find is %v", first)
	}
	c.must(422, "POST", "/jobs", api.JobRequest{Kind: "scan", Bus: "attic"}, nil)
	for _, refused := range []struct {
		path, body, says string
	}{
		{"/jobs", `{"kind":"dance"}`, `there is no job \"dance\"; want one of scan, identify, service, groups, calibrate, direction, findout"`},
		{"/jobs", `{}`, `kind is missing; want one of scan, identify`},
		{"/commands", `{"kind":"dim"}`, `there is no command \"dim\"; want one of light-on, light-off, light-level, light-kelvin, light-rgbw, shade-open, shade-close, shade-stop, shade-move-to"`},
		{"/commands", `{}`, `kind is missing; want one of light-on`},
	} {
		if status, _, data := c.do("POST", refused.path, refused.body); status != 422 || !strings.Contains(string(data), refused.says) {
			t.Errorf("%s %s: %d %s", refused.path, refused.body, status, data)
		}
	}
	c.must(404, "DELETE", "/jobs/"+appliance.NewUUID().String(), nil, nil)
	c.must(409, "DELETE", "/jobs/"+j.ID, nil, nil)
	viewer := h.as(account.RoleViewer)
	viewer.must(200, "GET", "/jobs", nil, nil)
	viewer.must(403, "POST", "/jobs", api.JobRequest{Kind: "scan", Bus: "ground"}, nil)
}

// A calibration goes on when the console that began it is gone; another one sees its
// questions, and the first answer counts.
func TestCalibrationOutlivesItsConsole(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := newHouse(t)
	until(t, "the shade is online", func() bool { return h.core.Snapshot().Shade(5001).Online })
	first, second := h.as(account.RoleOperator), h.as(account.RoleAdmin)
	ctx, killed := context.WithCancel(t.Context())
	events := first.listen(ctx, "")
	j := first.start(api.JobRequest{Kind: "calibrate", Shade: 5001, Runs: 1})
	next(t, events, "a question", func(e event) bool { return e.name == "job" && strings.Contains(e.data, `"ask":"stands"`) })
	killed()
	first.http.CloseIdleConnections()

	for answered := 0; ; {
		got := second.job(j.ID)
		if got.State != "running" {
			if got.State != "done" || !got.Result.Saved || got.Result.New.TravelUp <= 0 || answered != 3 {
				t.Fatalf("after %d answers: %+v %+v", answered, got, got.Result)
			}
			break
		}
		q, moving := got.Question, got.Progress.Moving
		if q != nil && q.Ask == "save" {
			if got.Result == nil || got.Result.Saved || got.Result.New.TravelUp <= 0 {
				t.Errorf("asked whether to save, and shown %+v", got.Result)
			}
			second.must(204, "POST", "/jobs/"+j.ID+"/answer", api.JobAnswer{Number: q.Number, Answer: "yes"}, nil)
			continue
		}
		if q != nil && moving != nil && moving.Number == q.Leg.Number && (moving.Elapsed > 2.1 || q.Leg.Run == 0 && moving.Elapsed > 0.1) {
			second.must(422, "POST", "/jobs/"+j.ID+"/answer", api.JobAnswer{Number: q.Number, Answer: "perhaps"}, nil)
			second.must(204, "POST", "/jobs/"+j.ID+"/answer", api.JobAnswer{Number: q.Number, Answer: "yes"}, nil)
			second.must(409, "POST", "/jobs/"+j.ID+"/answer", api.JobAnswer{Number: q.Number, Answer: "yes"}, nil)
			answered++
		}
	}
	if s := h.core.Snapshot().Shade(5001).Shade; s.TravelUp <= 0 {
		t.Errorf("what was measured is not in force: %+v", s)
	}
}

func TestCalibrationIsCancelledFromAnotherConsoleAndTheShadeStops(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	until(t, "the shade is online", func() bool { return h.core.Snapshot().Shade(5001).Online })
	first, second := h.as(account.RoleOperator), h.as(account.RoleAdmin)
	j := first.start(api.JobRequest{Kind: "calibrate", Shade: 5001})
	until(t, "it moves", func() bool { return first.job(j.ID).Question != nil })
	var seen []api.Job
	second.must(200, "GET", "/jobs", nil, &seen)
	if len(seen) != 1 || seen[0].ID != j.ID || seen[0].By != "operator" {
		t.Fatalf("the other console sees %+v", seen)
	}
	second.must(202, "DELETE", "/jobs/"+j.ID, nil, nil)
	until(t, "it is cancelled", func() bool { return first.job(j.ID).State == "cancelled" })
	h.lamps.mu.Lock()
	defer h.lamps.mu.Unlock()
	if m := h.lamps.motion[5001]; m != appliance.Stopped {
		t.Errorf("the shade is %v", m)
	}
}

func TestStreamTellsItemsOnlyWhenTheyChange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "the bus is up", func() bool { return h.core.Snapshot().Buses[0].Up })
	events := c.listen(t.Context(), "")
	next(t, events, "the picture", func(event) bool { return true })
	c.start(api.JobRequest{Kind: "scan", Bus: "ground", First: 1, Last: 40})
	found, without := 0, 0
	next(t, events, "the end", func(e event) bool {
		var j api.Job
		if e.name != "job" {
			return false
		}
		must(t, json.Unmarshal([]byte(e.data), &j))
		if j.Items == nil && j.Found > 0 {
			without++
		}
		found = max(found, len(j.Items))
		return j.State != "running"
	})
	if found != 3 || without == 0 {
		t.Errorf("%d items, %d events without them", found, without)
	}
}

func TestOperatingReads(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer, boss := h.as(account.RoleViewer), h.as(account.RoleAdmin)
	var services []api.Service
	viewer.must(200, "GET", "/buses/ground/services", nil, &services)
	if services == nil || len(services) != 0 {
		t.Errorf("got %+v", services)
	}
	viewer.must(409, "GET", "/buses/ground/frames", nil, nil) // these devices record nothing
	viewer.must(404, "GET", "/buses/attic/monitor", nil, nil)
	var update api.UpdateStatus
	viewer.must(200, "GET", "/update", nil, &update)
	if update.Status != "none installed" || update.Version != "test" {
		t.Errorf("got %+v", update)
	}
	viewer.must(403, "GET", "/backup", nil, nil)
	status, header, data := boss.do("GET", "/backup", nil)
	if status != 200 || !strings.Contains(header.Get("Content-Disposition"), ".backup") || len(data) < 1000 {
		t.Errorf("backup: %d, %d bytes", status, len(data))
	}
}

// The stream of one job ends with it, and tells all that it found.
func TestOneJobIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as(account.RoleOperator)
	until(t, "the bus is up", func() bool { return h.core.Snapshot().Buses[0].Up })
	j := c.start(api.JobRequest{Kind: "scan", Bus: "ground"})
	status, header, body := c.do("GET", "/jobs/"+j.ID+"/events", nil) // to its end
	if status != 200 || header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", status, header)
	}
	var last api.Job
	items := 0
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			last = api.Job{}
			must(t, json.Unmarshal([]byte(data), &last))
			items = max(items, len(last.Items))
		}
	}
	if last.ID != j.ID || last.State != "done" || items != 3 {
		t.Errorf("it ended with %+v, and told %d items", last, items)
	}
	c.must(404, "GET", "/jobs/nothing/events", nil, nil)
	c.must(409, "GET", "/buses/ground/groups", nil, nil) // its driver knows none
	c.must(404, "GET", "/buses/attic/groups", nil, nil)
}
