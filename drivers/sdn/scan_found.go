package sdn

import (
	"fmt"
	"strings"

	"svc.internal/controller/appliance"
)

// otherType reports whether the site says that a motor is of another type than it
// says itself.
func (s *search) otherType(a Address) bool {
	m, k := s.driver.site.motors[a], s.known[a]
	return m != nil && m.kind != 0 && k.kind != 0 && m.kind != k.kind
}

// found is what is known of a motor so far.
func (s *search) found(a Address) appliance.Found {
	d, k := s.driver, s.known[a]
	f := appliance.Found{
		Address: a.String(), Kind: k.kind.profile(), Label: strings.TrimSpace(k.label), Version: k.version, Detail: k.describe(),
	}
	for _, g := range k.groups {
		f.Groups = append(f.Groups, g.String())
	}
	d.mu.Lock()
	twin := d.site.motors[a] != nil && d.site.motors[a].twin
	d.mu.Unlock()
	switch {
	case k.delay > 0:
		k.lateness(&f)
	case k.alike > 1 || k.mixed || twin:
		f.Finding = appliance.FoundCollision
		f.Detail += ", and TWO MOTORS answer to this address"
		if k.mixed {
			f.Detail += ", of different types"
		}
		f.Advice = "take one off the bus; addresses are given in the factory, so have one of them replaced"
	case s.otherType(a):
		f.Finding = appliance.FoundProfile
		f.Detail += fmt.Sprintf(", and not the %s that the site says: it ignores what is addressed to that type", d.site.motors[a].kind.profile())
		f.Advice = "change the profile in the site file"
	case k.damaged > 1 && 2*k.damaged >= k.asked && !s.heard.disturbed():
		f.Finding = appliance.FoundDamaged
		if s.others(a) {
			f.Finding = appliance.FoundCollision
		}
		f.Detail += fmt.Sprintf("; %d of %d answers are garbled: TWO MOTORS with this address, or a bad connection to this one", k.damaged, k.asked)
		f.Advice = "unplug it: if the address still answers, there is another motor with it; else check its bus plug"
	case !k.answered && 2*k.damaged < k.asked:
		f.Finding = appliance.FoundSilent
		f.Detail += ", told its address and then answered nothing"
		f.Advice = "scan again; if it stays so, check its bus plug"
	case k.unread:
		f.Finding = appliance.FoundDamaged
		f.Detail += ", and its table of groups could not be read to the end"
		f.Advice = "check its bus plug, then scan again: which groups it is in is not known"
	case k.damaged > 0:
		f.Detail += fmt.Sprintf("; %d of %d answers were damaged: check its bus plug", k.damaged, k.asked)
		switch {
		case s.heard.babbles():
			f.Detail = strings.TrimSuffix(f.Detail, "check its bus plug") + "somebody talks without being asked"
		case s.heard.disturbed():
			f.Detail = strings.TrimSuffix(f.Detail, "check its bus plug") + "another master talks as well"
		}
	}
	return f
}

// others reports whether another motor answers without damage, so that it is not the
// line as a whole.
func (s *search) others(a Address) bool {
	for b, k := range s.known {
		if b != a && k.answered && k.damaged == 0 {
			return true
		}
	}
	return false
}

// describe tells people what a motor told.
func (k *candidate) describe() string {
	words := []string{k.kind.String()}
	if k.kind == 0 {
		words[0] = "a motor" // nobody could read of what type
	}
	switch {
	case k.limits == nil:
	case k.limits.Set:
		words = append(words, fmt.Sprintf("limits set (%d pulses)", k.limits.Down))
	default:
		words = append(words, "limits not set")
	}
	if k.at != nil && k.at.known() {
		words = append(words, fmt.Sprintf("%d %% closed", k.at.Percent))
	}
	for i, g := range k.groups {
		if i == 0 {
			words = append(words, "in groups "+g.String())
			continue
		}
		words[len(words)-1] += " " + g.String()
	}
	return strings.Join(words, ", ")
}
