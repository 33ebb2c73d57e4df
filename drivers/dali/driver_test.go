package dali

import (
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

var testTime = time.Now()

var gatewayKinds = []string{"atx", "luba", "sci"}

func TestStatusOneMeansTheGearHasIt(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gears := gearsOf(6, func(i int, g *dalisim.GearConfig) {
					switch i {
					case 3:
						g.Type, g.Colour = 8, "tc"
					case 4:
						g.Type, g.Colour = 8, "rgbw"
					case 5:
						g.Type = 7
					}
				})
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: gears, Speed: 20, Seed: 1})
				nodes := nodesOf(6, "dali-dt6")
				nodes[3].Profile, nodes[4].Profile, nodes[5].Profile = "dali-dt8-tc", "dali-dt8-rgbw", "dali-switch"
				ctl := r.core(gw, nil, nodes)
				allOnline(t, ctl)

				mustDo(t, ctl, levelTo(one(1), 50))
				if d := r.sim.Devices()[0]; d.Level != 229 {
					t.Errorf("50 %%: gear is at %d, want 229", d.Level)
				}
				mustDo(t, ctl, levelTo(one(1), 99))
				if got := ctl.Snapshot().Node(1).Level; got.Value != 99 || got.Source != appliance.Measured {
					t.Errorf("99 %%: the snapshot shows %+v, want 99 measured", got)
				}
				mustDo(t, ctl, appliance.Command{Kind: appliance.LightKelvin, Target: one(4), Kelvin: 3000})
				if d := r.sim.Devices()[3]; d.Mirek != 333 {
					t.Errorf("3000 K: gear is at %d mirek, want 333", d.Mirek)
				}
				if got := ctl.Snapshot().Node(4).Kelvin; got.Value != 3000 {
					t.Errorf("3000 K: the snapshot shows %+v", got)
				}
				mustDo(t, ctl, appliance.Command{Kind: appliance.LightRGBW, Target: one(5), RGBW: appliance.RGBW{R: 255, G: 0, B: 128, W: 30}, Level: 70})
				if d := r.sim.Devices()[4]; d.RGBW != [4]int{254, 0, 127, 30} || d.Level != int(curves["standard"].arcOf(70)) {
					t.Errorf("colour: gear has %v at %d, want 254 0 127 30 at 70 %%", d.RGBW, d.Level)
				}
				if got := ctl.Snapshot().Node(5).RGBW.Value; got != (appliance.RGBW{R: 255, B: 128, W: 30}) {
					t.Errorf("colour: the snapshot shows %v", got)
				}
				mustDo(t, ctl, appliance.Command{Kind: appliance.LightOn, Target: one(6)})
				if d := r.sim.Devices()[5]; d.Level != 254 {
					t.Errorf("switch on: gear is at %d", d.Level)
				}
				mustDo(t, ctl, appliance.Command{Kind: appliance.LightOff, Target: everything})
				for _, d := range r.sim.Devices() {
					if d.Level != 0 {
						t.Errorf("all off: gear %d is at %d", d.Index, d.Level)
					}
				}
			})
		})
	}
}

// TestAnswerToWhoHadThePortBefore: answers of a gateway without sequence do not tell to
// which frame. One to a frame of a program before this, such as this daemon a moment
// ago, must not be taken for that to our first, or every one after it is shifted.
func TestAnswerToWhoHadThePortBefore(t *testing.T) {
	t.Parallel()
	for _, gw := range gatewayKinds {
		t.Run(gw, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, dalisim.Config{Gateway: gw, Gears: gearsOf(2, func(i int, g *dalisim.GearConfig) {
					g.Level = byte(100 + i)
				}), Seed: 1})
				// The simulated HAT takes one line after the other, as the real one.
				before, err := r.net.Ports().Serial(r.link, appliance.LineSettings{BaudRate: 19_200, Parity: "none", StopBits: 1})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := before.Write(gateways[gw].encode(Command(Short(0), OpQueryActualLevel)), time.Now().Add(time.Second)); err != nil {
					t.Fatal(err)
				}
				before.Close()
				d := r.driver(gw)
				for i := range 2 {
					answers, err := d.Transmit(t.Context(), Command(Short(1-i), OpQueryActualLevel))
					if err != nil || int(answers[0].Value) != 101-i {
						t.Errorf("gear %d answers %v, %v, want %d", 1-i, answers, err, 101-i)
					}
				}
				asked := 0
				for _, f := range r.sim.Frames(0) {
					if f.Frame == uint16(Command(Short(0), OpQueryActualLevel).Frame) {
						asked++
					}
				}
				if asked != 2 {
					t.Errorf("gear 0 was asked %d times: nothing was left behind", asked)
				}
			})
		})
	}
}
