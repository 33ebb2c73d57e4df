package console

import (
	"encoding/hex"
	"time"

	"svc.internal/controller/appliance"
)

// Bus is a bus as the console tells it.
type Bus struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Port   string `json:"port"`
	// Options of the bus, as in the site.
	Options map[string]string `json:"options,omitempty"`
	Up      bool              `json:"up"`
	Fault   string            `json:"fault,omitempty"`
	// Milliseconds that a command may wait for a frame in flight: when its device
	// does not answer, and when it does.
	BoundMs   float64 `json:"bound_ms"`
	TypicalMs float64 `json:"typical_ms"`
	// Parts of the last minute, 0 to 1.
	Use     float64 `json:"use"`
	DeadUse float64 `json:"dead_use"`
	// Demand of the freshness targets; above 1 they cannot be met.
	Demand  float64  `json:"demand"`
	Queue   int      `json:"queue"`
	Nodes   int      `json:"nodes"`
	Online  int      `json:"online"`
	Stats   Stats    `json:"stats"`
	Devices []Device `json:"devices"`
}

// Device is one addressed device of a bus.
type Device struct {
	Device   string     `json:"device"`
	Online   bool       `json:"online"`
	LastSeen *time.Time `json:"lastSeen,omitempty"`
	// Nodes of the site that it carries.
	Nodes []DeviceNode `json:"nodes"`
	// Trouble is what it last said is wrong with it; empty: nothing.
	Trouble string `json:"trouble,omitempty"`
	// Why it is offline; empty if it is not.
	Why   string `json:"why,omitempty"`
	Stats Stats  `json:"stats"`
}

// DeviceNode is a node by number and name.
type DeviceNode struct {
	ID   appliance.ID `json:"id"`
	Name string       `json:"name"`
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

// Frame is one piece of traffic.
type Frame struct {
	At        time.Time `json:"at"`
	Direction string    `json:"direction"` // "sent", "received", "discarded"
	Hex       string    `json:"hex,omitempty"`
	Note      string    `json:"note,omitempty"`
	Lost      int       `json:"lost,omitempty"` // frames that passed before this one and are missing
}

// Bytes decodes the hexadecimal digits.
func (f Frame) Bytes() ([]byte, error) { return hex.DecodeString(f.Hex) }

func frameOf(f appliance.Frame) Frame {
	names := map[appliance.Direction]string{
		appliance.FrameSent: "sent", appliance.FrameReceived: "received", appliance.FrameDiscarded: "discarded",
	}
	return Frame{At: f.At, Direction: names[f.Direction], Hex: hex.EncodeToString(f.Bytes), Note: f.Note, Lost: f.Lost}
}

// problem is the body of an error.
type problem struct {
	Message string `json:"message"`
}
