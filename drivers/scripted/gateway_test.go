package scripted_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A gateway that takes longer for a dead unit than our time-out is, one after the other, and
// then says that it did not answer (0B): that time is learnt from its late answers, so
// that it is heard what it says, and commands to others need not wait in it.
func TestTimeOfASlowGatewayIsLearnt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUnits(2)
		u.set(func(of map[byte]*unit) {
			of[2].script = func(pdu []byte) ([]byte, bool) {
				time.Sleep(2500 * time.Millisecond) // with the gateway's lock: it serves nobody else
				return []byte{pdu[0] | 0x80, 0x0B}, true
			}
		})
		h := start(t, oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, 2, "lamp"), 1)
		h.wait(time.Minute, "what the gateway says of the dead unit to be heard", func() bool {
			for _, d := range h.Snapshot().Buses[0].Devices {
				if d.Device == "2" && strings.Contains(d.Why, "gateway target failed to respond") {
					return true
				}
			}
			return false
		})
		failed := 0
		for i := range 12 {
			if e := h.dim(1, appliance.Level(30+i)); !e.OK() {
				failed++
				t.Logf("%s", e.Err)
			}
		}
		if failed > 0 {
			t.Errorf("%d of 12 commands to a healthy unit failed", failed)
		}
	})
}
