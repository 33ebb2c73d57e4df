package scripted_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A gateway hangs while somebody goes on commanding: what everybody was told had failed does
// not happen when it is well again.
func TestNothingFiresWhenAHungGatewayIsWellAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(3)
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t), Options: map[string]string{"responseTimeout": "300ms"}}, 3, "lamp")), 3)
		u.mu.Lock()
		u.hung, u.requests = true, nil
		u.mu.Unlock()
		failed := 0
		for i := range 5 {
			if e := h.dim(appliance.ID(1+i%3), appliance.Level(60+i)); !e.OK() {
				failed++
			}
		}
		if failed != 5 {
			t.Errorf("%d of 5 commands failed while nothing answered", failed)
		}
		u.mu.Lock()
		u.hung = false
		u.mu.Unlock()
		well := time.Now()
		h.wait(30*time.Second, "all to be read again", func() bool {
			for _, n := range h.Snapshot().Nodes {
				if !n.Online || n.Level.At.Before(well) {
					return false
				}
			}
			return true
		})
		writes := 0
		u.set(func(map[byte]*unit) {
			for _, r := range u.requests {
				if r.fn >= 5 {
					writes++
				}
			}
		})
		if writes > 1 {
			t.Errorf("%d writes were carried out late, want the one that found out at most", writes)
		}
		if e := h.dim(0, 42); !e.OK() {
			t.Errorf("afterwards: %s", e.Err)
		}
	})
}

// A unit acknowledges (exception 05) and needs a second and a half: it is told once, and read
// until it is done.
func TestAcknowledgedUnitIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(1)
		h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, 1, "lamp")), 1)
		var due time.Time
		told, takes := 0, 1500*time.Millisecond
		u.set(func(of map[byte]*unit) {
			of[1].script = func(pdu []byte) ([]byte, bool) {
				switch {
				case pdu[0] == 6 || pdu[0] == 16:
					told++
					due = time.Now().Add(takes)
					return []byte{pdu[0] | 0x80, 5}, true
				case !due.IsZero() && !time.Now().Before(due):
					due = time.Time{}
					of[1].registers[3] = 77
				}
				return nil, false
			}
		})
		if e := h.dim(1, 77); !e.OK() {
			t.Errorf("told %d times: %s", told, e.Err)
		}
		u.set(func(map[byte]*unit) {
			if told != 1 {
				t.Errorf("told %d times, want once", told)
			}
		})
		u.set(func(of map[byte]*unit) {
			of[1].script = func(pdu []byte) ([]byte, bool) {
				return []byte{pdu[0] | 0x80, 6}, pdu[0] == 6 || pdu[0] == 16
			}
		})
		if e := h.dim(1, 20); e.OK() || !strings.Contains(e.Err, "busy") {
			t.Errorf("one that is busy for ever: %q", e.Err)
		}
	})
}
