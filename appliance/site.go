package appliance

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// ID is the integer identity of a node, shade or cluster as the public API
// shows it: 1 to [MaxID], never changed, never reused. Zero means "none".
// Nodes, shades and clusters count separately.
type ID int32

// MaxID is the highest ID accepted. It leaves room for the row IDs of
// getLightLevels (ten times the ID plus a digit) in a signed 32-bit integer,
// the narrowest type an old client may keep them in.
const MaxID ID = 200_000_000

// Where the IDs of each family start by default, so that a node ID sent to
// shadeControl fails instead of moving a shade.
const (
	FirstNodeID    ID = 1
	FirstShadeID   ID = 5001
	FirstClusterID ID = 1
)

// UUID is the internal identity of every noun, beside its integer ID.
type UUID [16]byte

// NewUUID returns a random (version 4) UUID.
func NewUUID() UUID {
	var u UUID
	rand.Read(u[:]) // never fails, see crypto/rand
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}

// ParseUUID reads the canonical 36-character form.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return UUID{}, fmt.Errorf("UUID %q: want 36 characters like 123e4567-e89b-42d3-a456-426614174000", s)
	}
	packed := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(u[:], []byte(packed)); err != nil {
		return UUID{}, fmt.Errorf("UUID %q: %w", s, err)
	}
	return u, nil
}

// String gives the canonical 36-character form.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:], u[0:4])
	hex.Encode(b[9:], u[4:6])
	hex.Encode(b[14:], u[6:8])
	hex.Encode(b[19:], u[8:10])
	hex.Encode(b[24:], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// IsZero reports whether u was never set.
func (u UUID) IsZero() bool { return u == UUID{} }

// Site is everything an installer configured. It is a plain value: whoever
// holds one may read it, nobody changes one that was handed over.
type Site struct {
	Name     string
	Settings Settings
	Division Division
	Buses    []Bus
	Nodes    []Node    // ascending ID
	Shades   []Shade   // ascending ID
	Clusters []Cluster // ascending ID
	Scenes   []Scene   // ascending ID
	Rules    []Rule    // ascending ID
	// Retired are IDs that are never used again, with the UUIDs that may come back
	// under them; Highest the highest ID of each family that was ever handed out.
	// Exports carry both, so that another controller does not use them anew.
	Retired []Retired
	Highest Highest
	// Pictures are those of the plans, by name, where a site is on its way from or to a
	// file. Whoever runs the building has none in memory.
	Pictures map[string][]byte `json:"-"`
}

// Retired is what is left of something that was removed. The one ID is set of what it
// was.
type Retired struct {
	UUID                              UUID
	Node, Shade, Cluster, Scene, Rule ID
	Name                              string
}

// Highest IDs handed out so far; 0: none.
type Highest struct{ Node, Shade, Cluster, Scene, Rule ID }

// Settings are choices of the whole site.
type Settings struct {
	// InvertShades turns the direction of shadeLevel and posValue in the public
	// API for sites whose Controller 1.0 meant 0 = open. The core never inverts.
	InvertShades bool
	// Freshness overrides the target age per value class; zero keeps the default.
	Freshness Freshness
}

// Division is how a building is divided and metered. The core does nothing with it;
// whoever reports on the building does.
type Division struct {
	Building string  `json:"building,omitempty"` // empty: the site's name says it
	TimeZone string  `json:"timeZone,omitempty"` // IANA name; empty: not known
	Place    *Place  `json:"place,omitempty"`    // nil: not known
	Floors   []Floor `json:"floors,omitempty"`   // from the bottom up
	Meters   []Meter `json:"meters,omitempty"`
	// Holidays are when rules may act otherwise than on other days.
	Holidays []Holiday `json:"holidays,omitempty"`
}

// Floor is one floor and the clusters on it.
type Floor struct {
	Name     string  `json:"name"`
	Clusters []ID    `json:"clusters,omitempty"` // ascending
	AreaM2   float64 `json:"areaM2,omitempty"`   // 0: not known
	Plan     *Plan   `json:"plan,omitempty"`     // nil: there is none
}

// Plan is the picture of a floor, and where things stand on it.
type Plan struct {
	Picture string `json:"picture"` // its name: the SHA-256 of its bytes, in hexadecimal digits
	Type    string `json:"type"`    // image/png, image/jpeg or image/svg+xml
	// Width and Height tell the form of the picture, above 0: pixels, or the units of an SVG.
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Spots  []Spot  `json:"spots,omitempty"` // as [SortSpots] leaves them; a thing is on one plan, once
}

// Spot is where a thing stands on a plan: 0 to 1 from the left and from the top of the
// picture. One ID is set, of what it is.
type Spot struct {
	Node    ID      `json:"node,omitempty"`
	Shade   ID      `json:"shade,omitempty"`
	Cluster ID      `json:"cluster,omitempty"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
}

// Of is the spot without its place: what it is of.
func (s Spot) Of() Spot { s.X, s.Y = 0, 0; return s }

// SortSpots puts clusters before shades before nodes, each by ID.
func SortSpots(spots []Spot) {
	slices.SortFunc(spots, func(a, b Spot) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Shade, b.Shade), cmp.Compare(a.Cluster, b.Cluster))
	})
}

// Meter says whose consumption a metering node measures.
type Meter struct {
	Node     ID     `json:"node"`
	Covers   string `json:"covers"`             // for people
	Clusters []ID   `json:"clusters,omitempty"` // ascending; empty: the whole building
}

// Freshness is the age a value of each class may reach before it is read again.
type Freshness struct {
	Light       time.Duration // default 5 s
	MovingShade time.Duration // default 1 s
	IdleShade   time.Duration // default 15 s
	Power       time.Duration // default 30 s
}

// Bus is a port with one driver and its line settings.
type Bus struct {
	UUID   UUID
	Number int    // never changed, never reused; 0 in an import
	Name   string // unique in the site
	Driver string // "modbus"
	// Port is a device path (preferably below /dev/serial/by-id), or
	// tcp://host:port, or rtu+tcp://host:port; which ones, the driver says.
	Port     string
	Line     LineSettings
	Options  map[string]string // driver settings; unknown keys are refused by the driver
	Disabled bool              // configured, but not opened
}

// LineSettings of a serial port; all zero on a socket. Zero fields take the
// driver's default.
type LineSettings struct {
	BaudRate int    // bits per second
	Parity   string // "none", "even", "odd"
	DataBits int    // 7 or 8
	StopBits int    // 1 or 2
}

// Tag is the kind of a node as the public API's tagType names it.
type Tag string

// The two tags. A light node is a NODE; sensors, wall stations, meters and pure
// shade actuators are PERIPHERAL.
const (
	TagNode       Tag = "NODE"
	TagPeripheral Tag = "PERIPHERAL"
)

// Node is an addressable device on a bus, with one or more channels.
type Node struct {
	UUID    UUID
	ID      ID
	Name    string
	Bus     UUID   // zero: it waits for binding, as do one without Address or Profile
	Address string // in the words of the bus's driver: "5", "5/12", "1A.2B.3C"
	Profile string // name of a device profile of the driver
	Tag     Tag    // empty: NODE if it has a light channel, else PERIPHERAL
	// Outputs picks the outputs of the profile that are this node's channels, in
	// order (channel 1 is Outputs[0]); empty means all. Outputs count from 1.
	Outputs []int
	// Groups are the groups that the device itself holds, in the driver's words.
	Groups  []string
	Options map[string]string // driver settings; unknown keys are refused by the driver
	// Note is what an installer wants the next one to know of the device, at most 500 characters.
	// Nothing depends on it.
	Note string
}

// Bound reports whether n hangs off copper. One that does not is offline until an
// installer binds it.
func (n *Node) Bound() bool { return !n.Bus.IsZero() && n.Address != "" && n.Profile != "" }

// Shade is a motorised covering that hangs off a node.
type Shade struct {
	UUID   UUID
	ID     ID
	Name   string
	Node   ID  // 0: it waits for binding
	Output int // shade output of the node's profile, from 1
	// TravelUp and TravelDown are the times from end to end. Drivers whose motors
	// report their own position need none.
	TravelUp, TravelDown time.Duration
	// Inverted says the motor runs the other way than its profile says; found by
	// watching it at commissioning.
	Inverted bool
}

// ShadeSettings are what commissioning finds out about a shade by moving it.
type ShadeSettings struct {
	TravelUp, TravelDown time.Duration // from end to end; zero: not known
	Inverted             bool
}

// Settings of the shade that commissioning finds out.
func (s Shade) Settings() ShadeSettings {
	return ShadeSettings{s.TravelUp, s.TravelDown, s.Inverted}
}

// Cluster is our named set of nodes and shades, commanded as one.
type Cluster struct {
	UUID      UUID
	ID        ID
	Name      string
	Nodes     []ID // ascending
	Shades    []ID // ascending
	CreatedBy string
	CreatedOn time.Time
}

// SamePlace reports whether two entries of a node speak of the same device.
func (n *Node) SamePlace(m *Node) bool {
	return n.Bus == m.Bus && n.Address == m.Address && n.Profile == m.Profile
}

// SameMotor reports whether two entries of a shade speak of one motor, given the nodes of
// either site.
func (s *Shade) SameMotor(t *Shade, was, is []Node) bool {
	on, at := NodeIn(was, s.Node), NodeIn(is, t.Node)
	return s.Node == t.Node && s.Output == t.Output && (on == at || on != nil && at != nil && on.SamePlace(at))
}

// NodeIn finds a node in a list that ascends by ID; nil: it is not there.
func NodeIn(nodes []Node, id ID) *Node {
	i, ok := slices.BinarySearchFunc(nodes, id, func(n Node, id ID) int { return cmp.Compare(n.ID, id) })
	if !ok {
		return nil
	}
	return &nodes[i]
}
