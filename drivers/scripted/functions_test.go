package scripted_test

import (
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
)

func init() {
	profiles["strict"] = `name: strict
title: a lamp that knows function 16 only
source: this test
limits: {writeMultiple: true}
outputs:
  - kind: light
    level: {read: {table: holding, address: 3}, write: {table: holding, address: 3}, map: percent}
`
}

// One register is written by function 6, unless the profile says that the device knows 16
// only.
func TestFunctionOfAWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for profile, want := range map[string]byte{"lamp": 6, "strict": 16} {
			u := newUnits(1)
			h := start(t, oneBus(appliance.Bus{Driver: "modbus", Port: u.listenTCP(t)}, 1, profile), 1)
			if e := h.dim(1, 30); !e.OK() || u.holds(1, 3) != 30 {
				t.Errorf("%s: %q", profile, e.Err)
			}
			used := false
			u.set(func(map[byte]*unit) {
				for _, r := range u.requests {
					used = used || r.fn == want
				}
			})
			if !used {
				t.Errorf("%s: function %d was not used", profile, want)
			}
		}
	})
}
