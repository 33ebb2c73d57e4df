package wire

import "time"

// Status says whether a controller is there. The will carries the boot count of the session it belongs to: an "offline"
// of an older boot than the last "online" is ignored.
type Status struct {
	State    string   `json:"state"` // [Online] or [Offline]
	Boot     int64    `json:"boot"`
	Firmware string   `json:"fw,omitempty"`
	Name     string   `json:"name,omitempty"` // of the site
	Caps     []string `json:"caps,omitempty"` // what this controller understands, such as "widget", "question"
}

// The states of a controller.
const (
	Online  = "online"
	Offline = "offline"
)

// Kind of a thing with a retained state.
type Kind string

// The kinds. The ID of a site is 0, that of a bus its place in the site, from 1.
const (
	KindSite    Kind = "site"
	KindCluster Kind = "cluster"
	KindNode    Kind = "node"
	KindShade   Kind = "shade"
	KindBus     Kind = "bus"
)

// Source says where a value came from, in the words of the controller's core.
type Source string

// The sources, most trustworthy first.
const (
	Measured     Source = "measured"     // read from the device
	Acknowledged Source = "acknowledged" // asked for and acknowledged
	Estimated    Source = "estimated"    // modelled, such as a position from travel time
	Sent         Source = "sent"         // sent to hardware that cannot confirm
	Restored     Source = "restored"     // known before a restart, not read since
)

// Value is one number with its age and origin. A value that is not known is absent, never 0.
type Value struct {
	Value  float64   `json:"value"`
	At     time.Time `json:"at"`
	Source Source    `json:"source"`
	// Within is how far the true value may be from it, in its unit; 0: it is measured, or nothing is known of that.
	Within float64 `json:"within,omitempty"`
}

// Colour is a colour with its age and origin.
type Colour struct {
	RGBW   [4]uint8  `json:"rgbw"` // red, green, blue, white, each 0 to 255
	At     time.Time `json:"at"`
	Source Source    `json:"source"`
}

// State is everything that is known of one thing. It replaces the one before, whole; an empty retained message says that
// the thing is gone. Members that do not apply are absent.
type State struct {
	Kind Kind   `json:"kind"`
	ID   int64  `json:"id"`
	UUID string `json:"uuid,omitempty"`
	Name string `json:"name"`
	Tag  string `json:"tag,omitempty"` // nodes: "NODE" or "PERIPHERAL"

	Clusters []int64 `json:"clusters,omitempty"` // nodes, shades: those they are in
	Node     int64   `json:"node,omitempty"`     // shades: the node they hang off
	Bus      string  `json:"bus,omitempty"`      // nodes: the name of their bus
	Profile  string  `json:"profile,omitempty"`  // nodes
	// Abilities in the words "switch", "dim", "tune", "colour", "measure", "move", "position".
	Abilities []string `json:"abilities,omitempty"`

	Online   *bool      `json:"online,omitempty"` // nodes, shades, buses
	LastSeen *time.Time `json:"lastSeen,omitempty"`

	Level    *Value  `json:"level,omitempty"` // percent
	Kelvin   *Value  `json:"kelvin,omitempty"`
	RGBW     *Colour `json:"rgbw,omitempty"`
	Power    *Value  `json:"power,omitempty"`    // W
	Position *Value  `json:"position,omitempty"` // percent open
	Motion   string  `json:"motion,omitempty"`   // "opening", "closing", "moving", "stopped", "unknown"

	// Trouble is what is wrong with it, for people; empty if nothing is known to be.
	Trouble string `json:"trouble,omitempty"`

	// Site is of a KindSite only: how the building is divided.
	Site *Site `json:"site,omitempty"`
}

// Site is what there is in a building and how it is divided, as its installer entered it.
type Site struct {
	Building string  `json:"building,omitempty"`
	Floors   []Floor `json:"floors,omitempty"`
	Meters   []Meter `json:"meters,omitempty"`
	TimeZone string  `json:"timeZone,omitempty"` // IANA name
	// What there is, by ID: a state of anything else is of something that is gone.
	NodeIDs    []int64 `json:"nodeIds"`
	ShadeIDs   []int64 `json:"shadeIds"`
	ClusterIDs []int64 `json:"clusterIds"`
}

// Floor names the clusters on it.
type Floor struct {
	Name     string  `json:"name"`
	Clusters []int64 `json:"clusters"`
	AreaM2   float64 `json:"areaM2,omitempty"`
}

// Meter says what a metering node covers.
type Meter struct {
	Node     int64   `json:"node"`
	Covers   string  `json:"covers"`             // for people: "offices, lighting"
	Clusters []int64 `json:"clusters,omitempty"` // whose consumption it measures; empty: the whole building
}

// Telemetry is a batch of samples that nobody has to wait for; what is lost is lost.
type Telemetry struct {
	Samples []Sample `json:"samples,omitempty"`
	// Seen are things whose values were read again and found as last reported.
	Seen []Seen `json:"seen,omitempty"`
}

// Seen says that all values of a thing, power apart, are not older than At.
type Seen struct {
	Kind Kind      `json:"kind"`
	ID   int64     `json:"id"`
	At   time.Time `json:"at"`
}

// Sample is one measured power.
type Sample struct {
	Node  int64     `json:"node"`
	Power float64   `json:"power"` // W
	At    time.Time `json:"at"`
}

// Event is something that a technician cares about: a fault began or ended.
type Event struct {
	Code     string    `json:"code"`     // stable, such as "node.offline", "bus.down", "lamp.failure"
	Severity string    `json:"severity"` // "info", "warning", "fault"
	Kind     Kind      `json:"kind"`
	Thing    int64     `json:"thing"`
	Name     string    `json:"name"`
	Message  string    `json:"message"`
	At       time.Time `json:"at"`
	Cleared  bool      `json:"cleared,omitempty"` // it is over
}
