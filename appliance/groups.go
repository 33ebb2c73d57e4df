package appliance

import (
	"context"
	"iter"
	"time"
)

// A group is a set that the devices of a bus hold themselves: one frame to it moves
// all its members. A cluster is ours. What follows lets clusters become groups.

// GroupMode is what the site allows with the group tables of a bus.
type GroupMode uint8

// The modes.
const (
	// GroupsUsed: tables are read, and groups used where they cover exactly the
	// targets. Nothing is written unless an installer asks for it.
	GroupsUsed GroupMode = iota
	// GroupsKept: tables are also written, by themselves, to keep them in step.
	GroupsKept
	// GroupsOff: tables are neither read nor written, and no group is used.
	GroupsOff
)

// Grouper is a driver of devices that hold group tables. It knows the bytes; which
// group a cluster gets, when a table is read or written, and whether a group may be
// used is decided by the core.
type Grouper interface {
	// GroupSpace says what groups are like on this bus. Asked once.
	GroupSpace() GroupSpace

	// ReadGroups yields the exchanges that read the whole table of a device, one at a
	// time. When the last has succeeded, told is called with the groups that it holds,
	// ascending, at most once.
	ReadGroups(device string, told func(held []string)) iter.Seq[Exchange]

	// ChangeGroups yields the exchanges that put a device, whose table was read
	// since the bus was opened, into groups and take it out of others, and those
	// that read back what was written. At the end told is called with what the
	// device holds then, whether or not it is what was asked for.
	ChangeGroups(device string, join, leave []string, told func(held []string)) iter.Seq[Exchange]

	// SurveyGroups yields the exchanges that look for devices outside the site, so
	// that StrangeGroups knows theirs. It may yield none.
	SurveyGroups() iter.Seq[Exchange]

	// StrangeGroups tells the groups that devices outside the site hold, and those
	// that masters besides us were heard to use, as far as known.
	StrangeGroups() (held, used []string)

	// UseGroups says which groups Plan may use from now on. In place of those said
	// before.
	UseGroups(GroupUse)
}

// GroupSpace is what groups are like on a bus.
type GroupSpace struct {
	Mode GroupMode
	// Names of the groups that a cluster may be given, in the order of preference.
	Names []string
	// PerDevice is how many groups one device holds at most.
	PerDevice int
	// Shades: groups move shades; else they switch lights.
	Shades bool
	// Closed: the installer says that no device is on the bus which is not in the
	// site, so that one frame may go to all.
	Closed bool
	// Declared groups by device, as the nodes of the site list them.
	Declared map[string][]string
}

// GroupUse is what Plan may rely on.
type GroupUse struct {
	// Groups that were read from the tables of all their members.
	Groups []Group
	// Unsure devices may hold any group: their tables are not known. A group may be
	// used only if they are among the targets, too.
	Unsure []string
}

// Group is a group with exactly the devices that hold it.
type Group struct {
	Name    string
	Members []string
}

// GroupClaim says that a cluster owns a group of a bus. It outlives restarts and
// imports, so that a device which was away for a week still agrees.
type GroupClaim struct {
	Cluster ID     `json:"cluster"`
	Group   string `json:"group"`
}

// GroupTable is what a device was last read to hold.
type GroupTable struct {
	Device string   `json:"device"`
	Held   []string `json:"held"`
	// Known is false while the device is being written: a power cut leaves a table of
	// which nobody knows how far it got.
	Known bool `json:"known"`
	// Writes without an installer's order since Since, which is at most a day ago.
	Writes int       `json:"writes,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

// BusGroups is what must be known of a bus's groups after a restart.
type BusGroups struct {
	Claims []GroupClaim `json:"claims"` // ascending cluster
	// Leaving groups belonged to clusters that are gone; devices may still hold them.
	Leaving []string     `json:"leaving,omitempty"`
	Tables  []GroupTable `json:"tables"` // ascending device
}

// GroupBook keeps groups across restarts. What was saved is on the disk when
// SaveGroups returns.
type GroupBook interface {
	SaveGroups(ctx context.Context, bus UUID, groups BusGroups) error
	LoadGroups(ctx context.Context) (map[UUID]BusGroups, error)
}

// Grouping tells how the groups of a bus stand.
type Grouping struct {
	Mode     GroupMode
	Surveyed bool // devices outside the site were looked for
	Clusters []GroupedCluster
	Devices  []GroupedDevice // in the order of their nodes
}

// GroupedCluster is a cluster with members on the bus.
type GroupedCluster struct {
	Cluster ID
	Name    string
	Members []string // devices
	// Group that covers exactly these devices by its own claim, a declaration or by
	// chance; empty: none, see Why.
	Group string
	Why   string // why there is none, or none yet
	// Ready: commands use the group, since all members were read to hold it and
	// nobody else.
	Ready bool
}

// GroupedDevice is one device and its table.
type GroupedDevice struct {
	Device string
	Online bool
	Known  bool      // the table was read
	ReadAt time.Time // zero: before the restart, or never
	Has    []string
	Should []string // declared, or of its clusters
	// Foreign groups that it holds are neither declared nor ours: left alone.
	Foreign []string
	InStep  bool
	// Trouble says why it is not, or cannot be; empty if nothing is wrong.
	Trouble string
}

// GroupProgress is one step of bringing the tables of a bus in step.
type GroupProgress struct {
	Device string // empty: about the bus
	What   string // "reading", "writing", "in step", or what went wrong
}
