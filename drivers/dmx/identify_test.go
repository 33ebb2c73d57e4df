package dmx

import (
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dmxsim"
)

func TestFixturesShowThemselvesByUIDOrSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		responders := crowd(1, 3)
		p := newPlug(t, mustWidget(t, dmxsim.Config{Responders: responders, Nodes: []dmxsim.Node{{Address: "5", Profile: "dmx-rgbw"}}}))
		p.put()
		d := openDriver(t, p, nil, appliance.Node{ID: 1, Name: "Wash", Address: "5", Profile: "dmx-rgbw"})
		identify := func(address string) {
			t.Helper()
			e, err := d.Identify(address)
			if err != nil {
				t.Fatal(err)
			}
			if e.Airtime <= 0 || e.Worst < e.Airtime {
				t.Errorf("%s: airtime %v, worst %v", address, e.Airtime, e.Worst)
			}
			if _, err := e.Do(t.Context(), appliance.Yield{}); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
		identify(UID(responders[0].UID).String())
		if !p.widget.Responders()[0].Identifying {
			t.Error("the RDM device was not told")
		}
		identify("7") // the third slot of the fixture
		eventually(t, "the fixture is lit", func() bool { return p.widget.Devices()[0].Channels[0].Level == 100 })
		eventually(t, "the fixture is dark again", func() bool { return p.widget.Devices()[0].Channels[0].Level == 0 })
		for _, bad := range []string{"", "0", "513", "9", "zz:1", "7a70"} {
			if _, err := d.Identify(bad); err == nil {
				t.Errorf("address %q is accepted", bad)
			}
		}
		if err := func() error {
			e, err := d.Identify("7a70:00099999")
			if err == nil {
				_, err = e.Do(t.Context(), appliance.Yield{})
			}
			return err
		}(); err == nil {
			t.Error("a device that is not there was told")
		}
	})
}
