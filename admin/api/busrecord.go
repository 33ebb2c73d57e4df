package api

import (
	"time"

	"svc.internal/controller/appliance"
)

// Bus is a port with one driver, and how it does.
type Bus struct {
	ID       int               `json:"id"`
	UUID     string            `json:"uuid"`
	ETag     string            `json:"etag"`
	Name     string            `json:"name"`
	Driver   string            `json:"driver"`
	Port     string            `json:"port"`
	Line     Line              `json:"line"`
	Options  map[string]string `json:"options"`
	Disabled bool              `json:"disabled"`
	Up       bool              `json:"up"`
	Fault    string            `json:"fault,omitempty" doc:"Why it is down or set aside."`
	Load
	LookedAt *time.Time `json:"lookedAt" doc:"When the program last looked after it: once a second at least while it makes progress."`
	Nodes    int        `json:"nodes"`
	Online   int        `json:"online"`
	Stats    Stats      `json:"stats"`
}

// Load is how long commands wait for a bus, and what keeps it busy.
type Load struct {
	BoundMs   float64 `json:"boundMs" doc:"The longest a command can wait for a frame in flight."`
	TypicalMs float64 `json:"typicalMs" doc:"The same when the device answers."`
	Use       float64 `json:"use" doc:"Share of the last minute in which the bus was busy."`
	DeadUse   float64 `json:"deadUse" doc:"The part of it spent on devices that do not answer."`
	Demand    float64 `json:"demand" doc:"Bus time that the freshness targets ask for; above 1 they cannot be met, and ages stretch by that factor."`
	Queue     int     `json:"queue" doc:"Commands and frames that wait."`
}

// Line settings of a serial port; zeros are the driver's defaults.
type Line struct {
	BaudRate int    `json:"baudRate,omitempty"`
	Parity   string `json:"parity,omitempty" enum:"none,even,odd"`
	DataBits int    `json:"dataBits,omitempty"`
	StopBits int    `json:"stopBits,omitempty"`
}

// Stats count exchanges and their outcomes since the bus was opened.
type Stats struct {
	Exchanges uint64 `json:"exchanges"`
	Silent    uint64 `json:"silent"`
	Damaged   uint64 `json:"damaged"`
	Refused   uint64 `json:"refused"`
	Busy      uint64 `json:"busy"`
	Down      uint64 `json:"down"`
	Expired   uint64 `json:"expired"`
	Preempted uint64 `json:"preempted"`
}

// Device is an address on a bus that answers, or should.
type Device struct {
	Device   string         `json:"device" doc:"In the words of the driver."`
	Online   bool           `json:"online"`
	LastSeen *time.Time     `json:"lastSeen"`
	Nodes    []appliance.ID `json:"nodes"`
	Trouble  string         `json:"trouble,omitempty" doc:"What it last said is wrong with it."`
	Why      string         `json:"why,omitempty" doc:"Why it is offline: how it was last asked in vain."`
	Stats    Stats          `json:"stats"`
}

// BusDetail is a bus with its devices.
type BusDetail struct {
	Bus
	Devices []Device `json:"devices"`
}

func busOf(s *appliance.Snapshot, b *appliance.BusState) Bus {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	out := Bus{
		ID: b.Bus.Number, UUID: b.Bus.UUID.String(), ETag: etagOf(b.Bus), Name: b.Bus.Name, Driver: b.Bus.Driver, Port: b.Bus.Port, Line: Line(b.Bus.Line),
		Options: b.Bus.Options, Disabled: b.Bus.Disabled, Up: b.Up, Fault: b.Fault,
		Load:     Load{BoundMs: ms(b.Bound), TypicalMs: ms(b.Typical), Use: b.Use, DeadUse: b.DeadUse, Demand: b.Demand, Queue: b.Queue},
		LookedAt: stampOf(b.LookedAt), Stats: Stats(b.Stats),
	}
	if out.Options == nil {
		out.Options = map[string]string{}
	}
	for _, f := range s.Faults {
		if f.Where == "bus "+b.Bus.Name {
			out.Fault = f.What
		}
	}
	for _, n := range s.Nodes {
		if n.Node.Bus == b.Bus.UUID {
			out.Nodes++
			if n.Online {
				out.Online++
			}
		}
	}
	return out
}

func busDetailOf(s *appliance.Snapshot, b *appliance.BusState) BusDetail {
	out := BusDetail{busOf(s, b), make([]Device, len(b.Devices))}
	for i, d := range b.Devices {
		out.Devices[i] = Device{d.Device, d.Online, stampOf(d.LastSeen), listOf(d.Nodes), d.Trouble, d.Why, Stats(d.Stats)}
	}
	return out
}
