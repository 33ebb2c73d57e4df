package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"svc.internal/controller/appliance"
)

// Ports are what buses can be on.
type Ports interface {
	// Here lists the serial ports that are there, by name, without their buses, and a channel that is
	// closed when that changes.
	Here() ([]Port, <-chan struct{})
	// Device is what a port leads to now: buses whose ports lead to one are on the same wires.
	Device(port string) string
	// FindOut begins to find out what is on a port that no bus uses. It fails with
	// [appliance.ErrInUse], [*appliance.JobConflict], or ErrOutOfRange if that is no port.
	FindOut(port string, by appliance.Origin) (appliance.Job, error)
}

// Port is a serial port that is there now.
type Port struct {
	Port   string `json:"port" doc:"As a bus names it: by the name that stays, where there is one."`
	Device string `json:"device" doc:"What that leads to now, such as /dev/ttyUSB0."`
	Name   string `json:"name" doc:"For people: maker, model and serial number, as far as the adapter tells."`
	Bus    string `json:"bus,omitempty" doc:"Name of the bus that is on it; left out: none."`
}

// PortAnswer is who answered on a port that no bus uses, and the bus to make.
type PortAnswer struct {
	Driver  string            `json:"driver"`
	Port    string            `json:"port"`
	Line    Line              `json:"line"`
	Options map[string]string `json:"options,omitempty"`
	Found   Found             `json:"found"`
}

// PortList is what an event of the kind ports tells: all of them.
type PortList struct {
	Ports []Port `json:"ports"`
}

// portsOf tells which of a snapshot's buses are on the ports that are there.
func (a *API) portsOf(s *appliance.Snapshot, here []Port) []Port {
	out := slices.Clone(here)
	on := make(map[string]string, len(s.Buses))
	for _, b := range s.Buses {
		on[a.Within.Ports.Device(b.Bus.Port)] = b.Bus.Name
	}
	for i := range out {
		out[i].Bus = on[out[i].Device]
	}
	return listOf(out)
}

// ports lists the serial ports that are there.
func (a *API) ports(c echo.Context) error {
	here, _ := a.Within.Ports.Here()
	return answer(c, http.StatusOK, a.portsOf(a.Core.Snapshot(), here))
}

// seenPorts is what the reader of a stream was told of ports.
type seenPorts struct {
	told  []Port
	fresh <-chan struct{} // closed when other ones are there
}

// ports sends those that are there, if they or their buses have changed since; site: buses may have.
func (f *follower) ports(site bool) error {
	select {
	case <-f.seenPorts.fresh:
	default:
		if !site {
			return nil
		}
	}
	here, fresh := f.api.Within.Ports.Here()
	now := f.api.portsOf(f.seen, here)
	f.seenPorts.fresh = fresh
	if slices.Equal(now, f.seenPorts.told) {
		return nil
	}
	f.seenPorts.told = now
	return f.send("ports", PortList{now})
}
