package platform

import (
	"context"
	"encoding/json"
	"time"
)

// Asker answers what people and programs ask about buildings.
type Asker interface {
	// Ask answers one message. What happens meanwhile goes to tell, in order and from one goroutine; tell may be nil. An
	// error is [ErrNotFound] for an unknown site, [ErrInvalid] for an inquiry that cannot be answered as it stands, or
	// something that the asker cannot help.
	Ask(ctx context.Context, in Inquiry, tell func(Progress)) (Reply, error)
	// Propose ranks what could be done about energy, comfort, cost or efficiency.
	Propose(ctx context.Context, in Wish, tell func(Progress)) (Reply, error)
	// Health tells what works now, and what became of the orders that the owner gave lately.
	Health(ctx context.Context, in Inquiry) (Reply, error)
}

// Inquiry is one message to the assistant.
type Inquiry struct {
	Owner   string // whose conversation it is
	Session string // empty: a new conversation
	Message string
	Site    string   // ID or name of a controller; empty: from the words, or all
	About   DataType // empty: from the words
	Period  *Period  // nil: from the words
	Control bool     // the asker may switch lights and move shades
	Lang    string   // that the asker prefers where no words tell: [English] or [German]; empty: English
}

// DataType narrows a question.
type DataType string

// The data types of a question.
const (
	AboutEnergy     DataType = "energy"
	AboutOccupancy  DataType = "occupancy"
	AboutDevices    DataType = "devices"
	AboutAutomation DataType = "automation"
	AboutReports    DataType = "reports"
)

// Period is a stretch of time, [Start, End).
type Period struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// Target of a proposal.
type Target string

// The targets.
const (
	TargetEnergy     Target = "energy_usage"
	TargetComfort    Target = "comfort"
	TargetCost       Target = "cost"
	TargetEfficiency Target = "efficiency"
)

// Wish asks for proposals.
type Wish struct {
	Owner, Session, Site string
	Target               Target
	Period               *Period // what to look at; nil: the last seven days
	// PricePerKWh and Currency that the asker knows; 0 and empty: the platform's assumption, told as such.
	PricePerKWh float64
	Currency    string
	Zones       []string // names of zones to leave alone
	MinLevel    float64  // percent that no proposal may go below
	Unknown     []string // names of constraints that were given and mean nothing here; the answer says so
	Lang        string   // as in [Inquiry]
}

// StatusUpdate tells a stage of the work on an answer.
type StatusUpdate struct {
	Stage     string    `json:"stage"` // "thinking", "routing", "reading", "writing", "fallback", "done"
	Agent     *string   `json:"agent"`
	Message   string    `json:"message"`
	Timestamp time.Time `json:"timestamp"`
}

// Progress is what happens on the way to an answer: exactly one of the fields is set.
type Progress struct {
	Status *StatusUpdate
	Delta  string // the next piece of the text
}

// Reply is a whole answer.
type Reply struct {
	Text    string
	Agent   string // "siteAssetAgent", "energyAgent", "comfortAgent", "maintenanceAgent", "userAssistantAgent"
	Updates []StatusUpdate
	Session string
	Data    json.RawMessage // the facts behind the text; nil if there are none
}
