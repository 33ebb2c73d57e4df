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

// What the public API moves, a program at the platform, a voice and a panel move as well: none of six motors stays behind
// because the bus needs longer for all than a person waits for an answer.
func TestTheLinkLeavesNoMotorBehind(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{wire.OriginAPI, wire.OriginVoice, wire.OriginPanel} {
		virtually(t, sixMotors(), func(t *testing.T, h *house) {
			h.part(origin, func() {
				acks := make(chan wire.Ack, 4)
				rules := automation.New(automation.Config{
					Core: h.daemon.core, Start: time.Now().Add(-time.Second), Log: slog.New(slog.DiscardHandler),
					Answer: func(_ string, ack wire.Ack) { acks <- ack },
				})
				defer runFor(t, rules.Run)()
				seal := func(id string, kind wire.Type, seq int64, v any) automation.Message {
					exp := time.Now().Add(wire.Lifetime)
					b, err := wire.Envelope{ID: id, Type: kind, TS: time.Now(), Seq: seq, Epoch: "one", Exp: &exp}.Seal(v)
					if err != nil {
						t.Fatal(err)
					}
					return automation.Message{Payload: b, At: time.Now()}
				}
				rules.Panels(seal("c", wire.TypeConfig, 0, wire.Config{Rev: 1, Panels: []wire.Panel{{DeviceID: "room", PanelID: wire.ControlsPanel, Clusters: []int64{7}}}}))
				time.Sleep(time.Minute)                                         // everything was read
				for i, value := range []string{"255", "0", "255", "0", "255"} { // also while all move, and are asked where they are
					began := time.Now()
					rules.Widget(seal(fmt.Sprint("w", i), wire.TypeWidget, int64(i+1), wire.WidgetAction{
						DeviceID: "room", PanelID: wire.ControlsPanel, WidgetID: wire.ShadePosition, Action: wire.Released, Value: value, Origin: origin, Cluster: 7,
					}))
					ack := <-acks
					t.Logf("answered after %v: %s %s", time.Since(began), ack.Status, ack.Detail)
					if ack.Status != wire.Applied {
						t.Errorf("%s: %s %s", origin, ack.Status, ack.Detail)
					}
					time.Sleep(3 * time.Second)
				}
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
