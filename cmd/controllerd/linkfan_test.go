package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/automation"
	"svc.internal/controller/cloud/wire"
)

// sixMotors are of no native group: each needs frames of its own on a slow bus.
func sixMotors() string {
	var nodes, shades strings.Builder
	for i := 1; i <= 6; i++ {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Motor %d, bus: shades, address: %q, profile: somfy-sdn-30dc}\n", i, i, motorAddress(i-1))
		fmt.Fprintf(&shades, "  - {id: %d, name: Shade %d, node: %d, output: 1, travelUp: 12s, travelDown: 12s}\n", firstShade+i-1, i, i)
	}
	return fmt.Sprintf(`
site: {name: Shades}
buses:
  - {name: shades, driver: sdn, port: "@DIR@/shades"}
nodes:
%sshades:
%sclusters:
  - {id: 7, name: Facade, shades: [501, 502, 503, 504, 505, 506]}
`, nodes.String(), shades.String())
}

// eightyLamps are devices without broadcasts on a slow line: each needs frames of its own.
func eightyLamps() string {
	var nodes strings.Builder
	var ids []string
	for i := 1; i <= 80; i++ {
		fmt.Fprintf(&nodes, "  - {id: %d, name: Lamp %d, bus: lamps, address: %d, profile: waveshare-relay-8ch}\n", i, i, i)
		ids = append(ids, fmt.Sprint(i))
	}
	return fmt.Sprintf(`
site: {name: Lamps}
buses:
  - {name: lamps, driver: modbus, port: "@DIR@/lamps", line: {baudRate: 9600, parity: none, stopBits: 1}}
nodes:
%sclusters:
  - {id: 7, name: Hall, nodes: [%s]}
`, nodes.String(), strings.Join(ids, ", "))
}

// tapped puts actions on cluster 7 to the daemon, as the platform sends them, and returns what is answered to each.
func (h *house) tapped(origin string, do func(tap func(wire.WidgetAction) <-chan wire.Ack)) {
	var acks chan wire.Ack
	rules := automation.New(automation.Config{
		Core: h.daemon.core, Start: time.Now().Add(-time.Second), Log: slog.New(slog.DiscardHandler),
		Answer: func(_ string, ack wire.Ack) { acks <- ack },
	})
	defer runFor(h.t, rules.Run)()
	seal := func(id string, kind wire.Type, seq int64, v any) automation.Message {
		exp := time.Now().Add(wire.Lifetime)
		b, err := wire.Envelope{ID: id, Type: kind, TS: time.Now(), Seq: seq, Epoch: "one", Exp: &exp}.Seal(v)
		if err != nil {
			h.t.Fatal(err)
		}
		return automation.Message{Payload: b, At: time.Now()}
	}
	rules.Panels(seal("c", wire.TypeConfig, 0, wire.Config{Rev: 1, Panels: []wire.Panel{{DeviceID: "room", PanelID: wire.ControlsPanel, Clusters: []int64{7}}}}))
	time.Sleep(time.Minute) // everything was read
	n := int64(0)
	do(func(a wire.WidgetAction) <-chan wire.Ack {
		n++
		acks = make(chan wire.Ack, 4)
		a.DeviceID, a.PanelID, a.Origin, a.Cluster = "room", wire.ControlsPanel, origin, 7
		rules.Widget(seal(fmt.Sprint("w", n), wire.TypeWidget, n, a))
		return acks
	})
}

// origins are the doors of the link.
var origins = []string{wire.OriginAPI, wire.OriginVoice, wire.OriginPanel}

// What the public API moves, a program at the platform, a voice and a panel move as well: none of six motors stays behind
// because the bus needs longer for all than a person waits for an answer.
func TestTheLinkLeavesNoMotorBehind(t *testing.T) {
	t.Parallel()
	for _, origin := range origins {
		virtually(t, sixMotors(), func(t *testing.T, h *house) {
			h.part(origin, func() {
				h.tapped(origin, func(tap func(wire.WidgetAction) <-chan wire.Ack) {
					for _, value := range []string{"255", "0", "255", "0", "255"} { // also while all move, and are asked where they are
						began := time.Now()
						ack := <-tap(wire.WidgetAction{WidgetID: wire.ShadePosition, Action: wire.Released, Value: value})
						t.Logf("answered after %v: %s %s", time.Since(began), ack.Status, ack.Detail)
						if ack.Status != wire.Applied {
							t.Errorf("%s: %s %s", origin, ack.Status, ack.Detail)
						}
						time.Sleep(3 * time.Second)
					}
				})
				time.Sleep(time.Minute)
				for _, d := range h.building.Devices() {
					for _, s := range d.Shades {
						if s.Position != 100 {
							t.Errorf("%s: motor %d stands at %d", origin, d.NodeID, s.Position)
						}
					}
				}
			})
		})
	}
}

// Nor does a lamp. Who asks is told how long it takes, and it takes no longer.
func TestTheLinkLeavesNoLampBehind(t *testing.T) {
	t.Parallel()
	for _, origin := range origins {
		virtually(t, eightyLamps(), func(t *testing.T, h *house) {
			h.part(origin, func() {
				h.tapped(origin, func(tap func(wire.WidgetAction) <-chan wire.Ack) {
					for _, value := range []string{"on", "off", "on"} {
						began := time.Now()
						acks := tap(wire.WidgetAction{WidgetID: wire.LightPower, Action: wire.Changed, Value: value, Accept: true})
						ack := <-acks
						has := time.Duration(ack.Within) * time.Millisecond
						if ack.Status != wire.Accepted || has < 3*time.Second || has > 10*time.Second {
							t.Fatalf("%s: first %+v", origin, ack)
						}
						ack = <-acks
						t.Logf("answered after %v of %v: %s %s", time.Since(began), has, ack.Status, ack.Detail)
						if ack.Status != wire.Applied || ack.Time() != has || time.Since(began) > has {
							t.Errorf("%s: %+v", origin, ack)
						}
						time.Sleep(3 * time.Second)
					}
				})
				for _, d := range h.building.Devices() {
					for _, c := range d.Channels {
						if c.Level != 100 {
							t.Errorf("%s: lamp %d is at %d", origin, d.NodeID, c.Level)
						}
					}
				}
			})
		})
	}
}
