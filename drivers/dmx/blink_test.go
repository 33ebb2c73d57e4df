package dmx

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
)

// A fixture that was showing itself when the adapter was pulled comes back as it was.
func TestBlinkEndsWithThePull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := startOpen(t, nil, mixedNodes())
		if out := b.do(level(one(1), 20)); !out.OK() {
			t.Fatal(out.Err)
		}
		eventually(t, "20 %", func() bool { return showing1(p.widget, 0).Level == 20 })
		if err := b.core.Identify(t.Context(), "stage", "1"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it shows itself", func() bool { return showing1(p.widget, 0).Level == 100 })
		p.pull()
		time.Sleep(6 * time.Second) // all of the blinking is over
		before := len(outputs(p.widget))
		p.put()
		eventually(t, "packets again", func() bool { return len(outputs(p.widget)) >= before+30 })
		if l := showing1(p.widget, 0).Level; l != 20 {
			t.Errorf("6 s after it was pulled and put back: the fixture shines at %d %%, the controller says %d %%", l, b.core.Snapshot().Nodes[0].Level.Value)
		}
	})
}

// Devices that were told to show themselves stop by themselves, all of them.
func TestManyIdentifiedStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		responders := crowd(7, 3)
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders}))
		p.put()
		d := openDriver(t, p, nil, appliance.Node{ID: 1, Name: "Wash", Address: "500", Profile: "dmx-rgbw"})
		for i, r := range responders {
			e, err := d.Identify(UID(r.UID).String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Do(t.Context(), appliance.Yield{}); err != nil {
				t.Logf("device %d: %v", i, err)
				if p.widget.Responders()[i].Identifying {
					t.Errorf("device %d: refused (%v), and shows itself without anybody who would stop it", i, err)
				}
			}
		}
	})
}

// A lamp is told to show itself by any of its slots, the last of a universe included; what is no slot, or nobody's, is refused.
func TestLampsAreIdentifiedByTheirSlots(t *testing.T) {
	t.Parallel()
	p := newPlug(t, mustWidget(t, dmxsim.Config{}))
	p.put()
	d := openDriver(t, p, nil, appliance.Node{ID: 1, Name: "Wash", Address: "509", Profile: "dmx-rgbw"})
	for address, want := range map[string]string{
		"509": "", "512": "", "508": "no lamp of this site uses it", "0": "want a slot", "513": "want a slot", "wash": "want a slot",
	} {
		switch _, err := d.Identify(address); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}
