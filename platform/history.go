package platform

import "time"

// Command is one that a controller carried out, as its ledger has it, whoever gave it.
type Command struct {
	Controller string `json:"controller"`
	ID         string `json:"id"` // in the controller's ledger
	// At is when it was accepted.
	At time.Time `json:"at"`
	// Who is a person, key or rule by name, Via the door in the controller's words, Why for people; each may be empty.
	Who string `json:"who,omitempty"`
	Via string `json:"via,omitempty"`
	Why string `json:"why,omitempty"`
	// Do is a word of the wire, such as "light-level"; Value its percentage or kelvin, nil: it has none.
	Do    string   `json:"do"`
	Value *float64 `json:"value,omitempty"`
	// Kind and Thing are what was commanded: "site" with 0, "cluster", "node", "shade".
	Kind   string  `json:"kind"`
	Thing  int64   `json:"thing"`
	Things int     `json:"things"`        // how many lights or shades that were
	Not    []int64 `json:"not,omitempty"` // those that do not have it, the first of them
	Failed bool    `json:"failed,omitempty"`
}

// Ledger is what is known of a controller's ledger: of what ended in [Since, Until) nothing is missing. Both are zero if the
// controller never reported it.
type Ledger struct {
	Since, Until time.Time
	Commands     []Command // newest first
}

// Aspect is what changes of a thing are kept of.
type Aspect string

// The aspects.
const (
	Doing Aspect = "doing" // lights: "on", "off"; shades: "open", "closed", "between"; either: "unknown"
	Reach Aspect = "reach" // "online", "offline"
)

// Change is that a thing began to be as it is called, as far as was reported.
type Change struct {
	Kind   string    `json:"kind"` // "node", "shade"
	ID     int64     `json:"id"`
	Aspect Aspect    `json:"aspect"`
	Is     string    `json:"is"`
	At     time.Time `json:"at"` // when it was first heard to be so
	// After is when it was last known to be as before, so that it changed in (After, At]; zero: nothing was known before.
	After time.Time `json:"after,omitzero"`
}

// What is kept of commands and changes.
const (
	CommandsKept  = 10_000 // of a controller
	ChangesKept   = 20     // of an aspect of a thing
	HistoryKept   = 30 * 24 * time.Hour
	UnwatchedMost = 5 * time.Minute // without a reading; what lies between is not known then
)
