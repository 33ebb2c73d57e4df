package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"svc.internal/controller/appliance"
)

// Groups is how the group tables of a bus stand.
type Groups struct {
	Mode     string         `json:"mode"` // "use", "keep" or "off"
	Surveyed bool           `json:"surveyed"`
	Clusters []GroupCluster `json:"clusters"`
	Devices  []GroupDevice  `json:"devices"`
}

// GroupCluster is a cluster with members on the bus.
type GroupCluster struct {
	ID      appliance.ID `json:"id"`
	Name    string       `json:"name"`
	Members []string     `json:"members"`
	Group   string       `json:"group,omitempty"`
	Ready   bool         `json:"ready"` // commands use the group
	Why     string       `json:"why,omitempty"`
}

// GroupDevice is one device and its group table.
type GroupDevice struct {
	Device  string     `json:"device"`
	Online  bool       `json:"online"`
	Known   bool       `json:"known"`
	ReadAt  *time.Time `json:"readAt,omitempty"` // absent: not since the start
	Has     []string   `json:"has"`
	Should  []string   `json:"should"`
	Foreign []string   `json:"foreign"`
	InStep  bool       `json:"inStep"`
	Trouble string     `json:"trouble,omitempty"`
}

// GroupEvent is one line of an answer while tables are brought in step, or the end.
type GroupEvent struct {
	Device string `json:"device,omitempty"`
	What   string `json:"what,omitempty"`
	Done   bool   `json:"done,omitempty"`
	Error  string `json:"error,omitempty"`
}

var groupModes = map[appliance.GroupMode]string{appliance.GroupsUsed: "use", appliance.GroupsKept: "keep", appliance.GroupsOff: "off"}

func groupsOf(g appliance.Grouping) Groups {
	out := Groups{Mode: groupModes[g.Mode], Surveyed: g.Surveyed, Clusters: []GroupCluster{}, Devices: []GroupDevice{}}
	for _, c := range g.Clusters {
		out.Clusters = append(out.Clusters, GroupCluster{c.Cluster, c.Name, c.Members, c.Group, c.Ready, c.Why})
	}
	for _, d := range g.Devices {
		one := GroupDevice{
			Device: d.Device, Online: d.Online, Known: d.Known, InStep: d.InStep, Trouble: d.Trouble,
			Has: listed(d.Has), Should: listed(d.Should), Foreign: listed(d.Foreign),
		}
		if !d.ReadAt.IsZero() {
			one.ReadAt = &d.ReadAt
		}
		out.Devices = append(out.Devices, one)
	}
	return out
}

// listed is a list that is [] in JSON when it is empty.
func listed(names []string) []string { return append([]string{}, names...) }

// groups tells how the group tables of a bus stand.
func (d door) groups(w http.ResponseWriter, r *http.Request) {
	g, err := d.core.Groups(r.PathValue("name"))
	if err != nil {
		fail(w, http.StatusNotFound, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(groupsOf(g))
}

// writeGroups brings the group tables of a bus in step and tells of it as it goes.
// It ends when the caller leaves.
func (d door) writeGroups(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := make(chan GroupEvent, groupBacklog)
	go func() {
		defer close(events)
		err := d.core.WriteGroups(ctx, r.PathValue("name"), func(p appliance.GroupProgress) {
			select {
			case events <- GroupEvent{Device: p.Device, What: p.What}:
			default: // the bus does not wait for a slow reader
			}
		})
		last := GroupEvent{Done: true}
		if err != nil {
			last.Error = err.Error()
		}
		select {
		case events <- last:
		case <-ctx.Done():
		}
	}()
	send := lines(w)
	for e := range events {
		if send(e) != nil {
			cancel()
		}
	}
}

// groupBacklog is how many steps may wait for a slow reader; more are not shown.
const groupBacklog = 256

// Groups tells how the group tables of a bus stand.
func (c *Client) Groups(ctx context.Context, bus string) (out Groups, err error) {
	res, err := c.ask(ctx, http.MethodGet, "/buses/"+url.PathEscape(bus)+"/groups")
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return out, fmt.Errorf("read answer of the daemon: %w", err)
	}
	return out, nil
}

// WriteGroups brings the group tables of a bus in step and calls each as it goes.
func (c *Client) WriteGroups(ctx context.Context, bus string, each func(GroupEvent) error) error {
	return stream(ctx, c, http.MethodPost, "/buses/"+url.PathEscape(bus)+"/groups", each)
}
