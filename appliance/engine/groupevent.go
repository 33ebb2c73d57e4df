package engine

import "svc.internal/controller/appliance"

// Clusters tells which clusters the site in force has.
type Clusters struct{ List []appliance.Cluster }

// Recall brings what was known of groups before the restart.
type Recall struct{ Groups appliance.BusGroups }

// Order has the tables brought in step now, whether or not the site has them kept; how that
// goes comes as [Progress], its end as [Ordered]. One at a time.
type Order struct{}

// CountermandOrder: nobody waits for that any more.
type CountermandOrder struct{ Why error }

// Saved tells that groups are on the disk, or that they could not be written.
type Saved struct{ Failed bool }

// Next brings the next exchange about a table, see [Converse]; nil: that was the last, and
// this is what the device holds, if the table is Whole.
type Next struct {
	Exchange *appliance.Exchange
	Whole    bool
	Held     []string
}

// Converse begins the exchanges about a table, or with devices outside the site; what there
// was before is over. The first, and after each Continue another, is handed in by [Next].
type Converse struct {
	Kind        TableKind
	Device      string
	Join, Leave []string // when changing
}

// TableKind says what exchanges are about.
type TableKind uint8

// The kinds: a table is read, changed, or devices outside the site are looked for.
const (
	Reading TableKind = iota
	Changing
	Surveying
)

// What else has to be done for groups: the next exchange is wanted; no more are; the groups
// are to be made durable; a step of an order is done; the order is; the view has changed.
type (
	Continue    struct{}
	Hang        struct{}
	Save        struct{ Groups appliance.BusGroups }
	Progress    struct{ Step appliance.GroupProgress }
	Ordered     struct{ Err error }
	GroupsShown struct{ View appliance.Grouping }
)

func (Converse) action()    {}
func (Continue) action()    {}
func (Hang) action()        {}
func (Save) action()        {}
func (Progress) action()    {}
func (Ordered) action()     {}
func (GroupsShown) action() {}
