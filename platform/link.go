package platform

import "time"

// Credential is what somebody proves to the broker with.
type Credential struct {
	Username   string
	Controller string // whose subtree it is for
	// Integration says that the holder may act as the platform towards the controller; otherwise it is the controller
	// itself.
	Integration bool
	Hash        [32]byte // SHA-256 of the password, which is random
	// Mosquitto is the password in the form of Mosquitto's password file.
	Mosquitto string
}

// Enrolment is one controller that the platform knows, as an operator sees it.
type Enrolment struct {
	Controller
	CreatedAt  time.Time
	EnrolledAt time.Time // zero: the code was not used yet
	CodeUntil  time.Time // zero: there is no code
	Revoked    bool
}

// Session is what a controller said of itself at its last birth or death.
type Session struct {
	Controller string
	Online     bool
	Boot       int64
	Name       string
	Firmware   string
	At         time.Time
}

// Number is the place of a message among all that the platform sends to one controller.
type Number struct {
	Epoch string
	Seq   int64
}

// Meter readings and the like, as the store keeps them.
type (
	// Report is the last state of one thing, in the words of the wire package.
	Report struct {
		Controller string
		Kind       string
		ID         int64
		State      []byte    // JSON; empty: it is gone
		At         time.Time // when the controller said so
		ReportedAt time.Time // when it arrived
		Silent     bool      // it is a device that does not answer
		Seen       time.Time // values were read again and found unchanged; zero: never
		// Doing and Reach are what a change of it would say; empty: nothing new is known of that. Read tells that Doing was
		// read and not only sent.
		Doing, Reach string
		Read         bool
	}
	// LedgerPart is a part of a ledger: nothing that ended in [Since, Until) is missing in what came from Since on.
	LedgerPart struct {
		Controller   string
		Since, Until time.Time
		Commands     []Command
	}
	// Sample is one measured power.
	Sample struct {
		Node  int64
		Watts float64
		At    time.Time
	}
	// MessageEvent is an event with the ID of the message that brought it.
	MessageEvent struct {
		ID string
		Event
	}
	// MeterState is where the measuring of one node stands.
	MeterState struct {
		Node  int64
		Since time.Time // first sample
		Last  Sample
	}
	// Batch is what a number of messages of controllers said, in the order they came.
	Batch struct {
		Reports []Report
		Seen    []Report // kind, ID and Seen count
		Events  []MessageEvent
		Ledgers []LedgerPart
		Samples map[string][]Sample  // by controller
		Alive   map[string]time.Time // controllers that said anything
	}
	// Retention says from when on what is kept.
	Retention struct{ Minutes, Quarters, Events, History time.Time }
)

// quietMost is how long a controller that is there may say nothing: it tells every half minute that its values still
// hold.
const quietMost = 100 * time.Second

// Reachable reports whether a controller is there as far as is known: it said so, nobody said otherwise, and it was heard
// of lately.
func Reachable(c Controller, now time.Time) bool {
	return c.Online && now.Sub(c.LastSeen) < quietMost
}
