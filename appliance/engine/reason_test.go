package engine

import (
	"errors"
	"fmt"
	"testing"

	"svc.internal/controller/appliance"
)

// What a device itself told, and that somebody else took over, stays the reason of a member whatever was tried before.
func TestReasonsThatStay(t *testing.T) {
	before := errors.New("what was tried before")
	for _, told := range []error{appliance.ErrSuperseded, appliance.ErrRefused, appliance.ErrMismatch} {
		m := &member{why: before, tried: before}
		m.stage = appliance.StageAcknowledged
		if err := fmt.Errorf("node 1: %w", told); m.reason(err) != err {
			t.Errorf("%v became %v", err, m.reason(err))
		}
	}
	m := &member{why: before}
	m.stage = appliance.StageAcknowledged
	if got := m.reason(appliance.ErrExpired); got != before {
		t.Errorf("that its time ran out is told instead of %q: %v", before, got)
	}
}
