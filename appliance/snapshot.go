package appliance

import "time"

// Source says where a value came from.
type Source uint8

// The sources. Unknown, the zero value, means there is no value.
const (
	Unknown      Source = iota
	Restored            // known before the restart, not read since: stale
	Acknowledged        // asked for and acknowledged
	Measured            // read from the device
	Estimated           // modelled, such as a position from travel time
	Sent                // sent to hardware that cannot confirm
)

// Known is a value with its age and source. The zero Known is "not known".
type Known[T any] struct {
	Value  T
	At     time.Time
	Source Source
}

// OK reports whether there is a value at all.
func (k Known[T]) OK() bool { return k.Source != Unknown }

// Snapshot is the state of the whole site at one moment. It never changes:
// readers share it without locks, and keep it as long as they like.
type Snapshot struct {
	At time.Time
	// Number counts snapshots since the start of the process.
	Number uint64
	// Values counts changes of any value, name, online flag or membership that a
	// reader could see; two snapshots with the same number differ in ages only.
	Values   uint64
	Site     *Site
	Nodes    []*NodeState    // ascending ID
	Shades   []*ShadeState   // ascending ID
	Clusters []*ClusterState // ascending ID
	Buses    []*BusState     // in site order
	Faults   []Fault

	Index *Index // of Site

	superseded chan struct{}
}

// NewSnapshot makes a snapshot that takes the place of an older one; nil: there was none.
// Its number follows.
func NewSnapshot(s Snapshot, old *Snapshot) *Snapshot {
	s.superseded = make(chan struct{})
	if old != nil {
		s.Number = old.Number + 1
	}
	return &s
}

// Supersede tells those who wait for a newer snapshot that it is there. Once, by whoever
// has published that.
func (s *Snapshot) Supersede() { close(s.superseded) }

// Superseded is closed when a newer snapshot has been published.
func (s *Snapshot) Superseded() <-chan struct{} { return s.superseded }

// NodeState is one node now. A quarantined node is offline and has no channels.
type NodeState struct {
	Node     *Node
	Tag      Tag       // never empty
	Clusters []ID      // those it is in, ascending
	Online   bool      //
	LastSeen time.Time // zero: never
	Channels []ChannelState
	// The node's own values: means over its channels, rounded half up.
	Level  Known[Level]
	Kelvin Known[Kelvin]
	RGBW   Known[RGBW]
	Power  Known[float64] // W, sum over its channels
	// Abilities of all its channels together.
	Abilities Ability
	Fault     string // why it is quarantined; empty if it is not
	Waits     bool   // for binding: it has no place on a bus yet
}

// ChannelState is one channel now.
type ChannelState struct {
	Channel
	Level     Known[Level]
	Kelvin    Known[Kelvin]
	RGBW      Known[RGBW]
	Power     Known[float64]
	LastLevel Level // last level above 0; 0 if none was ever known
}

// ShadeState is one shade now.
type ShadeState struct {
	Shade    *Shade
	Channel  Channel
	Clusters []ID
	Online   bool
	LastSeen time.Time
	Position Known[Position]
	Motion   Motion // Stopped, Opening, Closing, Moving or MotionUnknown
	// Uncertainty of an estimated position, in percent points; 0 when measured.
	Uncertainty int
	Fault       string
	Waits       bool // for binding
}

// ClusterState is one cluster now. Aggregates are means over its online members
// that have the ability, rounded half up, 0 if there is none.
type ClusterState struct {
	Cluster  *Cluster
	Lights   int // members tagged NODE, whether they are online, bound and on a bus that is enabled, or not
	Level    Level
	Kelvin   Kelvin
	RGBW     RGBW
	Position Position
	Motion   Motion // common to its shades, Moving if they differ
}

// BusState is one bus now.
type BusState struct {
	Bus   *Bus
	Up    bool
	Fault string // why it is down or quarantined, or what is wrong with it though it is up
	// Bound is the longest a command can wait for a frame in flight: the longest
	// exchange that this bus had or may have when its device does not answer. Typical
	// is the same when it does.
	Bound, Typical time.Duration
	// Use of the bus over the last minute, 0 to 1, and the part of it spent on
	// devices that do not answer.
	Use, DeadUse float64
	// Demand is the bus time that the freshness targets ask for, 1 = all of it.
	// Above 1 the targets cannot be met and ages stretch by that factor.
	Demand float64
	// Waiting commands and their frames.
	Queue int
	// LookedAt is when whoever leads the bus last looked after it: once a second at least,
	// as long as the bus makes progress. Zero: not yet.
	LookedAt time.Time
	Stats    BusStats
	Devices  []DeviceState // ascending name
}

// DeviceState is one addressed device of a bus now, which may carry several nodes.
type DeviceState struct {
	Device   string // in the driver's words, such as a unit ID
	Online   bool
	LastSeen time.Time // zero: never
	Nodes    []ID      // those of the site that it carries
	// Trouble is what it last said is wrong with it, such as "lamp failure", at most
	// 120 characters; empty if nothing is.
	Trouble string
	// Why it is offline: how it was last asked in vain, as long as Trouble. Empty if it
	// is online or was not asked yet.
	Why   string
	Stats BusStats
}

// BusStats count exchanges and their outcomes since the bus was opened.
type BusStats struct {
	Exchanges, Silent, Damaged, Refused, Busy, Down, Expired, Preempted uint64
}

// Fault names a broken entry that was set aside while the rest runs.
type Fault struct {
	Where string // "bus ground-floor", "node 7 (Lobby)"
	What  string // what is wrong and what to do
}

// IsLight reports whether n is a light node: tagged NODE, with a channel that
// gives light.
func (n *NodeState) IsLight() bool {
	return n.Tag == TagNode && n.Abilities&GivesLight != 0
}

// GivesLight are the abilities of which a channel that gives light has one.
const GivesLight = CanSwitch | CanDim | CanTune | CanColour
