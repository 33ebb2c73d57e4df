package appliance

import (
	"context"
	"time"
)

// Saved is the last known state of one thing as it survives a restart.
type Saved struct {
	Ref
	Values
	LastLevel   Level     // see [ChannelState.LastLevel]
	Uncertainty int       // see [ShadeState.Uncertainty]
	At          time.Time // of its newest value
}

// Batch is what one write-behind stores together.
type Batch struct {
	States  []Saved
	Entries []Entry
}

// Journal keeps last known state and the ledger across restarts. It is written
// behind: a power cut may lose the last 5 s of it, never configuration.
type Journal interface {
	// SaveBatch stores the batch, all of it or none.
	SaveBatch(ctx context.Context, b Batch) error
	// LoadStates returns the last state saved of every thing.
	LoadStates(ctx context.Context) ([]Saved, error)
}
