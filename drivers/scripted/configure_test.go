package scripted_test

import (
	"fmt"
	"log/slog"
	"reflect"
	"testing"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers"
)

// What a driver makes of a site that it takes while it runs is what it would make of it if
// it were opened with it.
func TestEveryDriverTakesAChangedSite(t *testing.T) {
	for driver, c := range map[string]struct {
		profile string
		address func(n int) string
		shades  bool
	}{
		"modbus": {"wirenboard-wb-mr6c", func(n int) string { return fmt.Sprint(n) }, false},
		"sdn":    {"somfy-sdn-30dc", func(n int) string { return fmt.Sprintf("06.1A.%02X", n) }, true},
		"dali":   {"dali-dt6", func(n int) string { return fmt.Sprint(n) }, false},
		"dmx":    {"dmx-rgbw", func(n int) string { return fmt.Sprint(8 * n) }, false},
	} {
		t.Run(driver, func(t *testing.T) {
			bus := appliance.Bus{UUID: appliance.UUID{1}, Name: "bus", Driver: driver, Port: "/dev/serial/by-id/none"}
			if driver == "dali" {
				bus.Options = map[string]string{"gateway": "luba"}
			}
			config := func(nodes ...int) appliance.BusConfig {
				cfg := appliance.BusConfig{Bus: bus, Last: func(appliance.Ref) (appliance.Values, bool) { return appliance.Values{}, false }, Log: slog.New(slog.DiscardHandler)}
				for _, n := range nodes {
					cfg.Nodes = append(cfg.Nodes, appliance.Node{ID: appliance.ID(n), Bus: bus.UUID, Address: c.address(n), Profile: c.profile})
					if c.shades {
						cfg.Shades = append(cfg.Shades, appliance.Shade{ID: appliance.ID(5000 + n), Node: appliance.ID(n), Output: 1})
					}
				}
				return cfg
			}
			first, err := drivers.All[driver](config(1, 2, 3))
			if err != nil || len(first.BrokenNodes) > 0 {
				t.Fatal(err, first.BrokenNodes)
			}
			anew, err := drivers.All[driver](config(2, 4))
			if err != nil {
				t.Fatal(err)
			}
			live, ok := first.Driver.(appliance.Configurer).Configure(config(2, 4))
			if !ok || live.Driver != first.Driver {
				t.Fatalf("taken %v, by another driver %v", ok, live.Driver != first.Driver)
			}
			if !reflect.DeepEqual(live.Device, anew.Device) || !reflect.DeepEqual(live.Channels, anew.Channels) || !reflect.DeepEqual(live.Shades, anew.Shades) {
				t.Errorf("%+v, opened with it %+v", live, anew)
			}
			if got, want := shape(live.Driver), shape(anew.Driver); !reflect.DeepEqual(got, want) {
				t.Errorf("asks %v, opened with it %v", got, want)
			}
			for id, channels := range live.Channels {
				for i := range channels {
					w := appliance.Want{Ref: appliance.Ref{Node: id, Channel: i + 1}, Values: appliance.Values{Has: appliance.CanSwitch | channels[i].Abilities&appliance.CanDim, Level: 100}}
					told, want := live.Driver.Plan([]appliance.Want{w}), anew.Driver.Plan([]appliance.Want{w})
					if len(told) != 1 || len(told[0].Steps) != len(want[0].Steps) || told[0].Steps[0].Device != want[0].Steps[0].Device {
						t.Errorf("node %d: %+v, opened with it %+v", id, told, want)
					}
				}
			}
		})
	}
}

// shape of what a driver asks.
func shape(d appliance.Driver) (all []string) {
	for _, p := range d.Polls() {
		all = append(all, fmt.Sprint(p.Device, p.Class, p.Refs, p.Airtime))
	}
	return all
}
