package wire

import "time"

// LedgerMost bounds the commands of one [Ledger], LedgerText the characters of each of their texts, LedgerNot the things that a
// command names: a message stays below [MaxMessage].
const (
	LedgerMost = 20
	LedgerText = 120
	LedgerNot  = 50
)

// Ledger is a part of a controller's ledger: finished commands, in the order in which they finished. A controller sends what
// is new every 2 s at most, and after every birth, once more, the newest 250 at most, or none if there are none. What came
// before under the same ID says the same. A platform that never gets one knows that this controller does not report it.
type Ledger struct {
	// Nothing that finished in [Since, Until) is missing in what was sent from Since on.
	Since    time.Time   `json:"since"`
	Until    time.Time   `json:"until"`
	Commands []Commanded `json:"commands"`
}

// Commanded is a command that is over, whoever gave it.
type Commanded struct {
	ID string `json:"id"` // in the controller's ledger
	// At is when it was accepted, Done when its outcome was known.
	At   time.Time `json:"at"`
	Done time.Time `json:"done"`
	// Who is a user, key or rule by name, Via the door: "public-api", "admin-api", "console", "panel", "voice", "assistant",
	// "automation", "shade engine". Why is for people. All may be empty.
	Who string `json:"who,omitempty"`
	Via string `json:"via,omitempty"`
	Why string `json:"why,omitempty"`
	// Do is a word of the controller's core: "light-on", "light-off", "light-level", "light-kelvin", "light-rgbw",
	// "shade-open", "shade-close", "shade-stop", "shade-move-to".
	Do string `json:"do"`
	// Value is the percentage of a level or of an opening, or the kelvin; nil: the word says it all.
	Value *float64 `json:"value,omitempty"`
	// Kind and Thing say what was commanded: [KindSite] with 0 is all lights or all shades, [KindCluster] those in it.
	Kind  Kind  `json:"kind"`
	Thing int64 `json:"thing"`
	// Things is how many lights or shades that were; Not are those of them, by ID, that do not have it, at most [LedgerNot].
	Things int     `json:"things"`
	Not    []int64 `json:"not,omitempty"`
	// Failed says that it was not done as a whole.
	Failed bool `json:"failed,omitempty"`
}
