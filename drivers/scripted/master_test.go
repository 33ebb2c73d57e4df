package scripted_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// Another master asks the same unit while it is awaited: what answers that looks like the
// answer to us, collides with it, and says what another register holds. It counts for
// nothing, whether the other's question was heard whole or not, and the bus tells of it.
func TestAnotherMastersAnswerIsNotOurs(t *testing.T) {
	t.Parallel()
	question := rtu(1, []byte{3, 0, 9, 0, 1})
	for name, heard := range map[string][]byte{"its question whole": question, "the end of its question": question[3:]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u := newUnits(1)
				u.of[1].registers[3], u.of[1].registers[9] = 20, 77
				h := start(t, oneBus(appliance.Bus{Driver: "modbus", Port: u.listenRTU(t, false)}, 1, "lamp"), 1)
				h.wait(20*time.Second, "20 to be shown", func() bool { return h.Snapshot().Node(1).Level.Value == 20 })
				u.set(func(of map[byte]*unit) {
					of[1].deaf = true
					u.raw = func(_ byte, pdu []byte) []byte {
						if pdu[0] != 3 {
							return nil
						}
						return slices.Concat(heard, rtu(1, []byte{3, 2, 0, 77}))
					}
				})
				if e := h.dim(1, 77); e.OK() {
					t.Error("77 was confirmed; the lamp has 20, and another of its registers 77")
				}
				if l := h.Snapshot().Node(1).Level; l.OK() && l.Value == 77 {
					t.Errorf("shown %+v; the lamp has 20", l)
				}
				h.wait(time.Minute, "the bus to tell of another master", func() bool {
					return strings.Contains(h.Snapshot().Buses[0].Fault, "another master is on the line")
				})
				u.set(func(of map[byte]*unit) { of[1].deaf, u.raw = false, nil })
				h.wait(time.Minute, "the lamp to be told, alone on the line", func() bool { return h.dim(1, 40).OK() })
			})
		})
	}
}
