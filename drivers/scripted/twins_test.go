package scripted_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Two lamps have one address, and the second answers after the first. Whom to believe nobody
// can tell: a command is not confirmed by the one that has taken it, the bus says what is
// wrong, and their neighbour works. Once one of them is gone, the other works as well.
func TestTwinsAreNotOneLamp(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"at once": 0, "behind it": 3 * time.Millisecond, "after others": 30 * time.Millisecond, "much later": 120 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUnits(2)
				u.of[1].registers[3] = 20
				h := start(t, fast(oneBus(appliance.Bus{Driver: "modbus", Port: u.listenRTU(t, false)}, 2, "lamp")), 2)
				twin := func(level uint16) { u.set(func(map[byte]*unit) { u.twin, u.apart = level, apart }) }
				trouble := func() string { return h.Snapshot().Buses[0].Devices[0].Trouble }
				twin(77)
				h.wait(10*time.Second, "the twins to be told of", func() bool { return strings.Contains(trouble(), "two devices have this address") })
				for _, l := range []appliance.Level{40, 41, 42} {
					if e := h.dim(1, l); e.OK() || !strings.Contains(e.Err, "two devices") && !strings.Contains(e.Err, "offline") {
						t.Errorf("%d %%, and the second lamp has 77: confirmed %v, %q", l, e.OK(), e.Err)
					}
				}
				if e := h.dim(2, 60); !e.OK() {
					t.Errorf("their neighbour: %s", e.Err)
				}
				twin(0)
				h.wait(time.Minute, "the one that is left to be believed", func() bool { return h.online() == 2 && !strings.Contains(trouble(), "two devices") })
				if e := h.dim(1, 50); !e.OK() || u.holds(1, 3) != 50 {
					t.Errorf("alone again: %s", e.Err)
				}
			})
		})
	}
}
