package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/appliance/control"
	"svc.internal/controller/shelf/account"
)

// ports are made up; nothing is on them.
type ports struct {
	mu    sync.Mutex
	here  []api.Port
	fresh chan struct{}
	core  *control.Controller
}

func (p *ports) Here() ([]api.Port, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh == nil {
		p.fresh = make(chan struct{})
	}
	return p.here, p.fresh
}

func (p *ports) plug(here ...api.Port) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.here = here
	if p.fresh != nil {
		close(p.fresh)
		p.fresh = nil
	}
}

func (p *ports) Device(port string) string { return strings.Replace(port, "/by-id/", "/dev/", 1) }

func (p *ports) FindOut(port string, by appliance.Origin) (appliance.Job, error) {
	switch port {
	case "/by-id/used":
		return appliance.Job{}, fmt.Errorf("port %s: %w", port, appliance.ErrInUse)
	case "/by-id/free":
		return p.core.Jobs().Start(appliance.Job{Kind: appliance.JobFindOut, Subject: "port " + port, Address: port, By: by},
			func(_ context.Context, on *control.JobHand) (any, error) {
				on.Item(appliance.PortAnswer{
					Bus:   appliance.Bus{Driver: "modbus", Port: port, Line: appliance.LineSettings{BaudRate: 9600, Parity: "even"}},
					Found: appliance.Found{Address: "5", Kind: "dimmer"},
				}, nil)
				return nil, nil
			})
	}
	return appliance.Job{}, fmt.Errorf("%w: port %q", appliance.ErrOutOfRange, port)
}

// Ports come and go on the stream, with the bus that is on each.
func TestPortsComeAndGoOnTheStream(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ports.plug(api.Port{Port: "/by-id/one", Device: "/dev/one", Name: "One"})
	c := h.as(account.RoleOperator)
	events := c.listen(t.Context(), "")
	event := func(name string, to any) {
		t.Helper()
		e := next(t, events, name, func(e event) bool { return e.name == name })
		must(t, json.Unmarshal([]byte(e.data), to))
	}
	var picture api.Picture
	event("picture", &picture)
	if len(picture.Ports) != 1 || picture.Ports[0].Bus != "" {
		t.Fatalf("in the picture: %+v", picture.Ports)
	}
	told := func(want ...string) {
		t.Helper()
		var list api.PortList
		event("ports", &list)
		var got []string
		for _, p := range list.Ports {
			got = append(got, p.Name+":"+p.Bus)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("told %v, want %v", got, want)
		}
	}
	h.ports.plug(api.Port{Port: "/by-id/one", Device: "/dev/one", Name: "One"}, api.Port{Port: "/by-id/two", Device: "/dev/two", Name: "Two"})
	told("One:", "Two:")
	name, driver, port := "attic", "lamps", "/by-id/two"
	c.must(201, "POST", "/buses", api.BusEdit{Name: &name, Driver: &driver, Port: &port}, nil)
	told("One:", "Two:attic")
	h.ports.plug()
	told()
	var list []api.Port
	c.must(200, "GET", "/ports", nil, &list)
	if list == nil || len(list) != 0 {
		t.Errorf("listed are %+v", list)
	}
}

func TestFindingOutIsAJob(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ports.core = h.core
	c := h.as(account.RoleOperator)
	find := func(port string) api.JobRequest { return api.JobRequest{Kind: "findout", Port: port} }
	h.as(account.RoleViewer).must(403, "POST", "/jobs", find("/by-id/free"), nil)
	c.must(409, "POST", "/jobs", find("/by-id/used"), nil)
	if _, _, body := c.do("POST", "/jobs", find("nowhere")); !strings.Contains(string(body), `"/port"`) {
		t.Errorf("no port: %s", body)
	}
	var j struct {
		api.Job
		Items []api.PortAnswer `json:"items"`
	}
	c.must(202, "POST", "/jobs", find("/by-id/free"), &j)
	until(t, "the job is over", func() bool {
		c.must(200, "GET", "/jobs/"+j.ID, nil, &j)
		return j.State == "done"
	})
	if len(j.Items) != 1 || j.Address != "/by-id/free" {
		t.Fatalf("%+v", j)
	}
	if a := j.Items[0]; a.Driver != "modbus" || a.Port != "/by-id/free" || a.Line.Parity != "even" || a.Found.Address != "5" {
		t.Errorf("it answered as %+v", a)
	}
}
