package automation

import (
	"cmp"
	"errors"
	"slices"

	"svc.internal/controller/appliance"
	"svc.internal/controller/cloud/wire"
)

// exceptions counts the lights or shades that commands addressed, and lists those that do not have it, by ID. Of a light with
// several channels the first reason counts.
func exceptions(s *appliance.Snapshot, outcomes []outcome) (things int, not []wire.Exception) {
	type thing struct {
		kind wire.Kind
		id   appliance.ID
	}
	all, failed := map[thing]bool{}, map[thing]bool{}
	for _, o := range outcomes {
		for _, m := range o.entry.Members {
			t, name := thing{wire.KindNode, m.Ref.Node}, ""
			if m.Ref.Shade != 0 {
				t = thing{wire.KindShade, m.Ref.Shade}
				if sh := s.Shade(t.id); sh != nil {
					name = sh.Shade.Name
				}
			} else if n := s.Node(t.id); n != nil {
				name = n.Node.Name
			}
			all[t] = true
			if why := whyNot(m); why != "" && !failed[t] {
				failed[t] = true
				not = append(not, wire.Exception{Kind: t.kind, ID: int64(t.id), Name: name, Why: why})
			}
		}
	}
	slices.SortFunc(not, func(a, b wire.Exception) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return len(all), not[:min(len(not), wire.NotMost)]
}

// whyNot is why a member does not have what it was told; empty if it has.
func whyNot(m appliance.Member) wire.Why {
	switch {
	case m.Offline, errors.Is(m.Cause, appliance.ErrUnreachable):
		return wire.WhyOffline
	case m.Err == "":
		return ""
	case errors.Is(m.Cause, appliance.ErrBusDown):
		return wire.WhyBus
	case errors.Is(m.Cause, appliance.ErrSilent), errors.Is(m.Cause, appliance.ErrDamaged):
		return wire.WhySilent
	case errors.Is(m.Cause, appliance.ErrRefused), errors.Is(m.Cause, appliance.ErrBusy):
		return wire.WhyRefused
	case errors.Is(m.Cause, appliance.ErrMismatch):
		return wire.WhyElsewhere
	case errors.Is(m.Cause, appliance.ErrExpired) && m.SentAt.IsZero(): // of what was sent it only was not read back in time
		return wire.WhyLate
	case errors.Is(m.Cause, appliance.ErrSuperseded):
		return wire.WhySuperseded
	case m.Stage == appliance.StageFailed && !m.SentAt.IsZero():
		return wire.WhyUnconfirmed
	}
	return wire.WhyFailed
}
