package dali

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim/dalisim"
)

// serve does a job of the driver, with nobody else on the bus.
func serve(t *testing.T, d *Driver, name string, inputs map[string]string) (told []appliance.ServiceStep, err error) {
	t.Helper()
	for _, s := range d.Services() {
		if s.Name != name {
			continue
		}
		err = s.Run(t.Context(), appliance.Session{
			Inputs: inputs,
			Perform: func(ctx context.Context, e appliance.Exchange) (appliance.Result, error) {
				return e.Do(ctx, appliance.Yield{})
			},
			Tell: func(x appliance.ServiceStep) {
				if x.Step == "" {
					told = append(told, x)
				}
			},
		})
		return told, err
	}
	t.Fatalf("no service %q", name)
	return nil, nil
}

func TestScenesAreRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(3, func(i int, g *dalisim.GearConfig) { g.Short = i }), Speed: 100})
		d := r.driver("atx")
		for scene, level := range map[int]byte{0: 254, 3: 229, 15: 0} {
			if _, err := d.Transmit(t.Context(), Special(OpDTR0, level), Command(Short(1), OpSetScene+byte(scene))); err != nil {
				t.Fatal(err)
			}
		}
		told, err := serve(t, d, "scenes", map[string]string{"address": "1"})
		if err != nil || len(told) != 1 || told[0].Address != "1" {
			t.Fatalf("%+v, %v", told, err)
		}
		got := map[string]any{}
		for _, f := range told[0].Facts {
			got[f.Name] = f.Value
		}
		if len(got) != 3 || got["scene0"] != "254 (100 %)" || got["scene3"] != "229 (51 %)" || got["scene15"] != "0 (0 %)" {
			t.Errorf("%v", got)
		}
		if told, err := serve(t, d, "scenes", map[string]string{"address": "2"}); err != nil || len(told[0].Facts) != 0 {
			t.Errorf("gear without scenes: %+v, %v", told, err)
		}
		if _, err := serve(t, d, "scenes", map[string]string{"address": "9"}); err == nil || !strings.Contains(err.Error(), "short address 9") {
			t.Errorf("nobody there: %v", err)
		}
	})
}

func TestOnlyOneCommissionsALineAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: strangers(2), Speed: 100})
		d := r.driver("atx")
		d.commissioning.Store(true)
		if _, err := serve(t, d, "commission", nil); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("a second run: %v", err)
		}
		d.commissioning.Store(false)
		if told, err := serve(t, d, "commission", nil); err != nil || len(told) != 2 {
			t.Errorf("%+v, %v", told, err)
		}
		for _, bad := range []map[string]string{{"all": "maybe"}, {"dry": "1"}, {"addresses": "5-"}, {"addresses": "x"}} {
			if _, err := serve(t, d, "commission", bad); err == nil {
				t.Errorf("%v was accepted", bad)
			}
		}
	})
}

// What became of each address is told with what gear is there; gear that would only be given an address cannot be asked yet.
func TestCommissioningTellsWhatGearIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dalisim.Config{Gateway: "atx", Gears: gearsOf(2, func(i int, g *dalisim.GearConfig) { g.Short = i*6 - 1 }), Speed: 100, Seed: 3})
		d := r.driver("atx")
		told := func(inputs map[string]string) string {
			steps, err := serve(t, d, "commission", inputs)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, s := range steps {
				list = append(list, "address "+s.Address+":")
				for _, f := range s.Facts {
					list = append(list, fmt.Sprintf("%s=%v", f.Name, f.Value))
				}
			}
			return strings.Join(list, " ")
		}
		const lamp = "profile=dali-dt6 detail=device type 6, LED; levels 1 to 254 (1 to 100 %)"
		for _, c := range []struct {
			inputs map[string]string
			want   string
		}{
			{map[string]string{"dry": "yes", "addresses": "8-9,12"}, "address 5: outcome=kept " + lamp + " address 8: outcome=would be assigned"},
			{map[string]string{"addresses": "8-9,12"}, "address 5: outcome=kept " + lamp + " address 8: outcome=assigned " + lamp},
			{map[string]string{"dry": "yes", "all": "yes"}, "address 0: outcome=would be assigned address 1: outcome=would be assigned" +
				" address 5: outcome=would be given up " + lamp + " address 8: outcome=would be given up " + lamp},
		} {
			if got := told(c.inputs); got != c.want {
				t.Errorf("%v: %s\nwant %s", c.inputs, got, c.want)
			}
		}
	})
}
