package sdn

import (
	"log/slog"
	"maps"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

func TestBlockedAndLockedMotorsAreInTrouble(t *testing.T) {
	d := &Driver{report: func([]appliance.Reading) {}, log: slog.New(slog.DiscardHandler)}
	for i, key := range []string{"06.00.01", "06.00.02"} {
		d.site.all = append(d.site.all, &motor{driver: d, key: key, shade: appliance.ID(5001 + i)})
	}
	blocked, locked := status{State: stateBlocked, Cause: 0x20}, status{State: stateLocked}
	for _, step := range []struct {
		motor int
		said  status
		want  map[string]string
	}{
		{0, status{}, map[string]string{}},
		{0, blocked, map[string]string{"06.00.01": blocked.String()}},
		{1, locked, map[string]string{"06.00.01": blocked.String(), "06.00.02": locked.String()}},
		{0, status{State: stateRunning}, map[string]string{"06.00.02": locked.String()}},
		{1, status{}, map[string]string{}},
	} {
		d.site.all[step.motor].takeStatus(step.said, time.Now())
		if got := d.Troubles(); !maps.Equal(got, step.want) {
			t.Errorf("after %v from motor %d: %q, want %q", step.said, step.motor, got, step.want)
		}
	}
}
