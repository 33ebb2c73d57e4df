package scripted_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
)

// Why a command failed goes through line, driver, bus and ledger, each of which adds what
// it knows. None says again what another has said.
func TestReasonIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wrong func(*unit)
		why   error
	}{
		"silent":                    {func(u *unit) { u.silent = true }, appliance.ErrSilent},
		"refused":                   {func(u *unit) { u.refuses = true }, appliance.ErrRefused},
		"acknowledged, not taken":   {func(u *unit) { u.deaf = true }, appliance.ErrMismatch},
		"acknowledged, not to read": {func(u *unit) { u.mute = true }, appliance.ErrSilent},
	} {
		for _, tcp := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", tcp ", tcp), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					u := newUnits(2)
					bus := appliance.Bus{Driver: "modbus"}
					if tcp {
						bus.Port = u.listenTCP(t)
					} else {
						bus.Port = u.listenRTU(t, false)
					}
					h := start(t, oneBus(bus, 2, "lamp"), 2)
					u.set(func(of map[byte]*unit) { tc.wrong(of[1]); tc.wrong(of[2]) })
					h.saysOnce(tc.why, h.dim(1, 70), h.dim(0, 60))
				})
			})
		}
	}
	t.Run("nobody at the address of a gateway", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := start(t, oneBus(appliance.Bus{Driver: "modbus", Port: "tcp://127.0.0.1:1"}, 1, "lamp"), 0)
			h.saysOnce(appliance.ErrBusDown, h.dim(1, 70))
		})
	})
}

// saysOnce checks the reasons of commands that failed.
func (h *house) saysOnce(why error, entries ...appliance.Entry) {
	h.t.Helper()
	for _, e := range entries {
		text := e.Members[0].Err
		if e.OK() || strings.Count(text, why.Error()) != 1 {
			h.t.Errorf("want %q once in %q", why, text)
		}
		words, said := strings.Fields(text), map[string]bool{}
		for i := range len(words) - 2 {
			three := strings.Join(words[i:i+3], " ")
			if said[three] {
				h.t.Errorf("%q is said twice in %q", three, text)
			}
			said[three] = true
		}
	}
}
