package control

import (
	"testing"

	"svc.internal/controller/appliance"
)

// What devices say unasked is looked at in its order, up to a bound; polling finds the rest.
func TestReportsAreTakenUpToABound(t *testing.T) {
	b := inbox{wake: make(chan struct{}, 1)}
	for range maxReports/2 + 10 {
		b.report(make([]appliance.Reading, 2))
	}
	if got := len(b.empty()); got != maxReports/2 {
		t.Errorf("%d reports of two readings are taken, want %d", got, maxReports/2)
	}
	b.report(make([]appliance.Reading, 1))
	if got := len(b.empty()); got != 1 {
		t.Errorf("after they were looked at %d more are taken, want 1", got)
	}
	b.close()
	b.report(make([]appliance.Reading, 1))
	if got := len(b.empty()); got != 0 {
		t.Errorf("a bus that is over takes %d", got)
	}
}
