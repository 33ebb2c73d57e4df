package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Groups is how the group tables of a bus stand.
type Groups struct {
	Mode     string         `json:"mode" enum:"use,keep,off" doc:"use: read, and written only when somebody says so; keep: read and written; off: neither."`
	Surveyed bool           `json:"surveyed" doc:"Devices outside the site were looked for."`
	Clusters []GroupCluster `json:"clusters"`
	Devices  []GroupDevice  `json:"devices"`
}

// GroupCluster is a cluster with members on the bus.
type GroupCluster struct {
	ID      appliance.ID `json:"id"`
	Name    string       `json:"name"`
	Members []string     `json:"members" doc:"Devices."`
	Group   string       `json:"group,omitempty" doc:"That covers exactly these devices; left out: none, see why."`
	Ready   bool         `json:"ready" doc:"Commands use the group."`
	Why     string       `json:"why,omitempty"`
}

// GroupDevice is one device and its group table.
type GroupDevice struct {
	Device  string     `json:"device"`
	Online  bool       `json:"online"`
	Known   bool       `json:"known" doc:"The table was read."`
	ReadAt  *time.Time `json:"readAt" doc:"null: not since the start."`
	Has     []string   `json:"has"`
	Should  []string   `json:"should"`
	Foreign []string   `json:"foreign" doc:"Held and somebody else's: left alone."`
	InStep  bool       `json:"inStep"`
	Trouble string     `json:"trouble,omitempty"`
}

var groupModes = map[appliance.GroupMode]string{appliance.GroupsUsed: "use", appliance.GroupsKept: "keep", appliance.GroupsOff: "off"}

func groupsOf(g appliance.Grouping) Groups {
	out := Groups{Mode: groupModes[g.Mode], Surveyed: g.Surveyed, Clusters: make([]GroupCluster, len(g.Clusters)), Devices: make([]GroupDevice, len(g.Devices))}
	for i, c := range g.Clusters {
		out.Clusters[i] = GroupCluster{c.Cluster, c.Name, listOf(c.Members), c.Group, c.Ready, c.Why}
	}
	for i, d := range g.Devices {
		out.Devices[i] = GroupDevice{
			Device: d.Device, Online: d.Online, Known: d.Known, ReadAt: stampOf(d.ReadAt),
			Has: listOf(d.Has), Should: listOf(d.Should), Foreign: listOf(d.Foreign), InStep: d.InStep, Trouble: d.Trouble,
		}
	}
	return out
}

// groups tells how the groups of a bus stand, without asking any device.
func (a *API) groups(c echo.Context) error {
	b, err := findBus(a.Core.Snapshot(), c.Param("bus"))
	if err != nil {
		return err
	}
	g, err := a.Core.Groups(b.Bus.Name)
	if err != nil {
		return refuse(http.StatusConflict, err.Error())
	}
	return answer(c, http.StatusOK, groupsOf(g))
}
