package dalisim

import "fmt"

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults. The first five strike gear, the others the gateway.
const (
	FaultDeaf      FaultKind = "deaf"      // gear does not hear a forward frame
	FaultSilent    FaultKind = "silent"    // gear obeys, and its answer is lost
	FaultLate      FaultKind = "late"      // the answer comes after the window
	FaultGarble    FaultKind = "garble"    // the answer is damaged on the line
	FaultStuck     FaultKind = "stuck"     // gear answers, and its light stays as it is
	FaultConflict  FaultKind = "conflict"  // another sender is in the way of a frame
	FaultRefuse    FaultKind = "refuse"    // the gateway takes no frame; not the HAT, which cannot say so
	FaultMute      FaultKind = "mute"      // the gateway does not react
	FaultSlow      FaultKind = "slow"      // the gateway takes DelayMs longer to confirm
	FaultDamage    FaultKind = "damage"    // a bit of what the gateway says is flipped
	FaultNoise     FaultKind = "noise"     // stray bytes before what the gateway says
	FaultDuplicate FaultKind = "duplicate" // what the gateway says comes twice
)

// Fault is something that goes wrong on demand.
type Fault struct {
	Kind FaultKind
	// Gear is the index of the gear it strikes, -1 for all; of no meaning for the
	// gateway's faults.
	Gear int
	// Rate is how often, 0 to 1; 0 means always.
	Rate float64
	// Count ends the fault after so many hits; 0 means no limit.
	Count int
	// DelayMs is for FaultSlow.
	DelayMs int

	hits int
}

// AddFault puts a fault in force.
func (l *Line) AddFault(f Fault) error {
	switch f.Kind {
	case FaultDeaf, FaultSilent, FaultLate, FaultGarble, FaultStuck:
		if f.Gear < -1 || f.Gear >= len(l.gears) {
			return fmt.Errorf("gear %d: want -1 to %d", f.Gear, len(l.gears)-1)
		}
	case FaultConflict, FaultRefuse, FaultMute, FaultSlow, FaultDamage, FaultNoise, FaultDuplicate:
		f.Gear = -1
	default:
		return fmt.Errorf("fault %q is unknown", f.Kind)
	}
	if f.Rate < 0 || f.Rate > 1 {
		return fmt.Errorf("rate %v: want 0 to 1", f.Rate)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, &f)
	return nil
}

// ClearFaults ends all faults.
func (l *Line) ClearFaults() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = nil
}

// strikes draws whether a fault of a kind hits; called with mu held.
func (l *Line) strikes(kind FaultKind, gear int) bool {
	return l.fault(kind, gear) != nil
}

func (l *Line) fault(kind FaultKind, gear int) *Fault {
	for _, f := range l.faults {
		if f.Kind != kind || f.Gear >= 0 && f.Gear != gear || f.Count > 0 && f.hits >= f.Count {
			continue
		}
		if f.Rate > 0 && f.Rate < 1 && l.rng.Float64() >= f.Rate {
			continue
		}
		f.hits++
		return f
	}
	return nil
}

// gatewayFault draws whether a fault of the gateway hits.
func (l *Line) gatewayFault(kind FaultKind) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault(kind, -1)
}
