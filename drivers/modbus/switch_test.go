package modbus

import (
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
)

// Red, green and blue are switched off at the wall, white is on at 0: the strip is dark.
func TestOneOfTwoSwitchesOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, b := bench(t, serialWire(t), []appliance.Node{node(1, "5", "wirenboard-wb-led-rgbw")}, nil, nil)
		run(t, d.Plan([]appliance.Want{{Ref: channel(1, 1), Values: appliance.Values{Has: appliance.CanDim | appliance.CanColour, Level: 100, RGBW: appliance.RGBW{R: 255}}}}))
		b.set(5, point{coils, 9}, 0)
		if got := pollAll(t, d)[channel(1, 1)]; got.Level != 0 {
			t.Errorf("no light at all, and shown as level %d, colour %+v", got.Level, got.RGBW)
		}
		b.set(5, point{holdings, 2003}, 40)
		if got := pollAll(t, d)[channel(1, 1)]; got.Level != 40 || got.RGBW != (appliance.RGBW{W: 255}) {
			t.Errorf("40 %% of white, and shown as level %d, colour %+v", got.Level, got.RGBW)
		}
	})
}
