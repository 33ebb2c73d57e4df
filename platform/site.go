package platform

import (
	"context"
	"time"
)

// Reading is one value with the time it was read and where it came from. There is no Reading of what is not known.
type Reading struct {
	Value  float64   `json:"value"`
	At     time.Time `json:"at"`
	Source string    `json:"source"`           // the words of wire.Source: "measured", "acknowledged", "estimated", "sent", "restored"
	Within float64   `json:"within,omitempty"` // the true value is so near, in its unit; 0: measured, or nothing is known of that
}

// Controller is one appliance that reports to the platform.
type Controller struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"` // of its site
	Online   bool      `json:"online"`
	LastSeen time.Time `json:"lastSeen"` // last message of any kind; zero: never
	Firmware string    `json:"firmware,omitempty"`
	// Revision is another one whenever anything that it reported is; 0: nobody counts.
	Revision int64 `json:"-"`
}

// Answering is how many devices a controller has, and how many of them do not answer.
type Answering struct{ Devices, Silent int }

// Building is a site: what one controller looks after.
type Building struct {
	Controller string  `json:"controller"`
	Name       string  `json:"name"`
	TimeZone   string  `json:"timeZone,omitempty"` // IANA name; empty: UTC
	Floors     []Floor `json:"floors"`
	Meters     []Meter `json:"meters"`
}

// Floor of a building and the zones on it.
type Floor struct {
	Name   string  `json:"name"`
	Zones  []int64 `json:"zones"`
	AreaM2 float64 `json:"areaM2,omitempty"` // 0: not known
}

// Meter is a device that measures for others.
type Meter struct {
	Node   int64   `json:"node"`
	Covers string  `json:"covers"` // for people
	Zones  []int64 `json:"zones"`  // empty: the whole building
}

// Zone is a cluster of a controller.
type Zone struct {
	Controller string `json:"controller"`
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Floor      string `json:"floor,omitempty"` // empty: not assigned
}

// The kinds of a [Device].
const (
	KindLight      = "light"
	KindShade      = "shade"
	KindPeripheral = "peripheral" // sensors, wall stations, meters
)

// Device is one light, shade or peripheral as it was last reported. Nil values are not known or do not apply; Abilities
// tells which.
type Device struct {
	Controller string    `json:"controller"`
	Kind       string    `json:"kind"`
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Zones      []int64   `json:"zones"`
	Floor      string    `json:"floor,omitempty"`
	Bus        string    `json:"bus,omitempty"`
	Profile    string    `json:"profile,omitempty"`
	Node       int64     `json:"-"`         // of a shade: the node that moves it; 0: not reported
	Abilities  []string  `json:"abilities"` // "switch", "dim", "tune", "colour", "measure", "move", "position"
	Online     bool      `json:"online"`    // as the controller said; see Controller.Online for whether that is still so
	LastSeen   time.Time `json:"lastSeen"`
	ReportedAt time.Time `json:"reportedAt"` // when the controller told the platform

	Level    *Reading `json:"level,omitempty"` // percent
	Kelvin   *Reading `json:"kelvin,omitempty"`
	Colour   *Colour  `json:"-"`                  // for pictures; programs are not told it
	Power    *Reading `json:"power,omitempty"`    // W
	Position *Reading `json:"position,omitempty"` // percent open
	Motion   string   `json:"motion,omitempty"`
	Trouble  string   `json:"trouble,omitempty"` // for people; empty if nothing is known to be wrong
}

// Colour is a mixed one: red, green, blue and white, each 0 to 255.
type Colour [4]uint8

// Event is a fault or a change of availability that a controller reported.
type Event struct {
	Controller string    `json:"controller"`
	Code       string    `json:"code"`
	Severity   string    `json:"severity"` // "info", "warning", "fault"
	Kind       string    `json:"kind"`     // of the thing: "node", "shade", "bus"
	Thing      int64     `json:"thing"`
	Name       string    `json:"name"`
	Message    string    `json:"message"`
	At         time.Time `json:"at"`
	Cleared    bool      `json:"cleared"`
}

// Energy is what one meter measured in one interval.
type Energy struct {
	Start     time.Time     `json:"start"`
	Length    time.Duration `json:"length"`
	WattHours float64       `json:"wattHours"`
	// Covered is the part of the interval that samples cover, 0 to 1. What is not covered was not measured and is not in
	// WattHours.
	Covered float64 `json:"covered"`
}

// SiteReader answers what controllers reported. Everything is as of the last report; whoever words an answer says how
// old it is. Lists are empty, never nil errors, where nothing was reported; an unknown controller is [ErrNotFound].
type SiteReader interface {
	Controllers(ctx context.Context) ([]Controller, error)
	Building(ctx context.Context, controller string) (Building, error)
	Zones(ctx context.Context, controller string) ([]Zone, error)
	Devices(ctx context.Context, controller string) ([]Device, error)
	// Events returns those in [from, to), newest first, at most limit.
	Events(ctx context.Context, controller string, from, to time.Time, limit int) ([]Event, error)
	// Ledger returns what was commanded in [from, to), newest first, at most limit.
	Ledger(ctx context.Context, controller string, from, to time.Time, limit int) (Ledger, error)
	// Changes returns those of an aspect of things of a kind, "node" or "shade", by ID, newest first of each.
	Changes(ctx context.Context, controller, kind string, aspect Aspect) ([]Change, error)
	// Energy returns what meter node measured in [from, to): whole minutes within the last 48 hours, quarters of an hour
	// before.
	Energy(ctx context.Context, controller string, node int64, from, to time.Time) ([]Energy, error)
	// MeasuredSince is when the first sample of a meter arrived; zero: none yet.
	MeasuredSince(ctx context.Context, controller string, node int64) (time.Time, error)
}

// Actuator carries out what somebody with the permission to control asks for, by the same path as a panel's tap.
type Actuator interface {
	// Act commands one cluster of a controller and waits for the controller's acknowledgement until ctx ends. An error is
	// for people.
	Act(ctx context.Context, controller string, cluster int64, do Action) (Outcome, error)
}

// Action is what may be asked of a cluster. Exactly one of the fields is set.
type Action struct {
	Level     *int // lights: percent, 0 is off
	Position  *int // shades: percent open
	StopShade bool
}
