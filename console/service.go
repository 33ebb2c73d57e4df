package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"svc.internal/controller/appliance"
)

// Service is one kind of job that the driver of a bus can do for an installer.
type Service struct {
	Name    string  `json:"name"`
	About   string  `json:"about"`
	Inputs  []Input `json:"inputs"`
	Changes bool    `json:"changes"` // devices keep something else afterwards
}

// Input is what a job has to be told.
type Input struct {
	Name     string `json:"name"`
	About    string `json:"about"`
	Required bool   `json:"required"`
}

// ServiceEvent is one line of a job's answer: a step, what was learned, or the end.
type ServiceEvent struct {
	Step    string  `json:"step,omitempty"`
	Share   float64 `json:"share,omitempty"` // done, 0 to 1
	Address string  `json:"address,omitempty"`
	Facts   []Fact  `json:"facts,omitempty"`
	Done    bool    `json:"done,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// Fact is one thing that a job learned: a string, a number or a boolean.
type Fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// services lists the jobs of a bus.
func (d door) services(w http.ResponseWriter, r *http.Request) {
	list, err := d.core.Services(r.PathValue("name"))
	if err != nil {
		fail(w, http.StatusNotFound, err)
		return
	}
	out := []Service{}
	for _, s := range list {
		row := Service{Name: s.Name, About: s.About, Changes: s.Changes, Inputs: []Input{}}
		for _, in := range s.Inputs {
			row.Inputs = append(row.Inputs, Input(in))
		}
		out = append(out, row)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}

// service does a job and tells of it as it goes. The job ends when the caller
// leaves. Steps that a slow reader has no room for are not shown; what was learned
// waits.
func (d door) service(w http.ResponseWriter, r *http.Request) {
	inputs := make(map[string]string)
	for key, values := range r.URL.Query() {
		inputs[key] = values[0]
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := make(chan ServiceEvent, scanBacklog)
	tell := func(e ServiceEvent) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(events)
		err := d.core.Serve(ctx, r.PathValue("name"), r.PathValue("service"), inputs, func(t appliance.Told) {
			e := ServiceEvent{Step: t.Step, Share: t.Share, Address: t.Address}
			for _, f := range t.Facts {
				e.Facts = append(e.Facts, Fact(f))
			}
			if e.Step == "" {
				tell(e)
				return
			}
			select {
			case events <- e:
			default:
			}
		})
		last := ServiceEvent{Done: true}
		if err != nil {
			last.Error = err.Error()
		}
		tell(last)
	}()
	send := lines(w)
	for e := range events { // to its end: the job still closes what it opened
		if send(e) != nil {
			cancel()
		}
	}
}

// Services lists the jobs of a bus.
func (c *Client) Services(ctx context.Context, bus string) ([]Service, error) {
	res, err := c.ask(ctx, http.MethodGet, "/buses/"+url.PathEscape(bus)+"/services")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var out []Service
	return out, json.NewDecoder(res.Body).Decode(&out)
}

// Service does a job and calls each as it goes.
func (c *Client) Service(ctx context.Context, bus, name string, inputs map[string]string, each func(ServiceEvent) error) error {
	q := make(url.Values)
	for key, value := range inputs {
		q.Set(key, value)
	}
	return stream(ctx, c, http.MethodPost, "/buses/"+url.PathEscape(bus)+"/services/"+url.PathEscape(name)+"?"+q.Encode(), each)
}
