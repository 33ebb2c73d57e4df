package automation

import (
	"fmt"
	"strconv"
	"time"

	"svc.internal/controller/appliance"
)

// why words the cause of a run for the ledger.
func why(r *appliance.Rule, s *appliance.Snapshot) string {
	t := r.When
	switch t.Kind {
	case appliance.AtTime:
		return fmt.Sprintf("at %02d:%02d", t.Minute/60, t.Minute%60)
	case appliance.AtSunrise, appliance.AtSunset:
		switch {
		case t.Minute > 0:
			return fmt.Sprintf("%d min after %s", t.Minute, t.Kind)
		case t.Minute < 0:
			return fmt.Sprintf("%d min before %s", -t.Minute, t.Kind)
		}
		return "at " + string(t.Kind)
	}
	name, unit, side := fmt.Sprintf("node %d", t.Node), " %", "above"
	if n := s.Node(t.Node); n != nil {
		name = n.Node.Name
	}
	if t.Quantity == appliance.OfPower {
		unit = " W"
	}
	if t.Below {
		side = "below"
	}
	text := fmt.Sprintf("%s of %s %s %s%s", t.Quantity, name, side, strconv.FormatFloat(t.Limit, 'f', -1, 64), unit)
	if t.For > 0 {
		text += " for " + shortly(t.For)
	}
	return text
}

// shortly words a time without the zeros at its end.
func shortly(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
