//go:build peers

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
	"svc.internal/controller/sim"
)

// faultsSite has a gateway in the network, a line and a DALI gateway at adapters, and everything on a plan. A lamp's
// failure is asked for with what is read for power, which by default a test would wait a minute for.
const faultsSite = `
site:
  name: House by the river
  freshness: {power: 2s}
  floors:
    - name: Ground floor
      clusters: [1, 2, 3]
      plan:
        picture: <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><g fill="none" stroke="#888" stroke-width="3"><path d="M10 10h380v280H10zM230 10v130H10M230 140v60M230 230v60"/></g></svg>
        spots:
          - {cluster: 1, x: 0.3, y: 0.1}
          - {node: 1, x: 0.15, y: 0.28}
          - {node: 2, x: 0.3, y: 0.28}
          - {node: 3, x: 0.45, y: 0.28}
          - {cluster: 2, x: 0.3, y: 0.57}
          - {node: 11, x: 0.12, y: 0.7}
          - {node: 12, x: 0.28, y: 0.7}
          - {node: 13, x: 0.44, y: 0.7}
          - {node: 14, x: 0.12, y: 0.85}
          - {node: 15, x: 0.28, y: 0.85}
          - {node: 16, x: 0.44, y: 0.85}
          - {cluster: 3, x: 0.78, y: 0.1}
          - {node: 21, x: 0.7, y: 0.35}
          - {node: 22, x: 0.86, y: 0.35}
          - {node: 23, x: 0.7, y: 0.65}
          - {node: 24, x: 0.86, y: 0.65}
buses:
  - {name: office, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: hall, driver: modbus, port: "@DIR@/hall", line: {baudRate: 9600, parity: none, stopBits: 2}}
  - {name: kitchen, driver: dali, port: "@DIR@/kitchen", options: {gateway: atx}}
nodes:
  - {id: 1, name: Office 1, bus: office, address: 1/0, profile: arlight-dali-logic-lite}
  - {id: 2, name: Office 2, bus: office, address: 1/1, profile: arlight-dali-logic-lite}
  - {id: 3, name: Office 3, bus: office, address: 1/2, profile: arlight-dali-logic-lite}
  - {id: 11, name: Hall 1, bus: hall, address: 1, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 12, name: Hall 2, bus: hall, address: 1, profile: wirenboard-wb-mdm3, outputs: [2]}
  - {id: 13, name: Hall 3, bus: hall, address: 1, profile: wirenboard-wb-mdm3, outputs: [3]}
  - {id: 14, name: Hall 4, bus: hall, address: 2, profile: wirenboard-wb-mdm3, outputs: [1]}
  - {id: 15, name: Hall 5, bus: hall, address: 2, profile: wirenboard-wb-mdm3, outputs: [2]}
  - {id: 16, name: Hall 6, bus: hall, address: 2, profile: wirenboard-wb-mdm3, outputs: [3]}
  - {id: 21, name: Worktop 1, bus: kitchen, address: 0, profile: dali-dt6}
  - {id: 22, name: Worktop 2, bus: kitchen, address: 1, profile: dali-dt6}
  - {id: 23, name: Table 1, bus: kitchen, address: 2, profile: dali-dt6}
  - {id: 24, name: Table 2, bus: kitchen, address: 3, profile: dali-dt6}
clusters:
  - {id: 1, name: Office, nodes: [1, 2, 3]}
  - {id: 2, name: Hall, nodes: [11, 12, 13, 14, 15, 16]}
  - {id: 3, name: Kitchen, nodes: [21, 22, 23, 24]}
`

// TestFaultsAsTheyAreSeen has home, the plan and the command line tell of five faults as docs/symptoms.md shows them, whose
// pictures are those that it takes.
func TestFaultsAsTheyAreSeen(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/symptoms.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		fault sim.Fault
		home  []string // what home says, and what the command line does
		bus   []string // the command
		cli   string
	}{
		{"gateway-dead", sim.Fault{Bus: "office", Kind: sim.FaultUnplug}, []string{"office: nothing answers", "Is the gateway’s power on, and its network cable in?"},
			[]string{"list"}, "somebody is there, and takes no connection on this port"},
		{"lamp-dead", sim.Fault{Bus: "kitchen", Address: "1", Kind: sim.FaultLamp}, []string{"Worktop 2: lamp failure"},
			[]string{"list", "--devices"}, "lamp failure"},
		{"adapter-pulled", sim.Fault{Bus: "kitchen", Kind: sim.FaultUnplug}, []string{"kitchen: nothing answers", "Is the adapter plugged in?"},
			[]string{"list"}, "is not there: is the adapter plugged in?"},
		{"wrong-speed", sim.Fault{Bus: "hall", Kind: sim.FaultSettings, BaudRate: 19200}, []string{"hall: nothing answers", "Do the devices have power, and are the settings of the line theirs?"},
			[]string{"list", "--devices"}, "no answer within 200ms"},
		{"one-address", sim.Fault{Bus: "hall", Address: "1", Kind: sim.FaultDuplicate}, []string{"Hall 1, Hall 2, and Hall 3", "somebody talks into its answers", "or another device has its address"},
			[]string{"list", "--devices"}, "or another device has its address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, said := range append(c.home, c.cli, "pages/fault-"+c.name+"-home.png", "pages/fault-"+c.name+"-plan.png") {
				if !bytes.Contains(page, []byte(said)) {
					t.Errorf("docs/symptoms.md does not have %q", said)
				}
			}
			h := newHouse(t, faultsSite)
			for cluster, level := range map[int]int{1: 60, 2: 35, 3: 80} {
				h.insist("channelControl", fmt.Sprintf(`{"targetType":2,"targetId":%d,"command":"DIM","dimLevel":%d}`, cluster, level))
			}
			h.fault(c.fault)
			h.await(uitest.Patience, "the command line to tell", func() bool {
				return strings.Contains(h.desk().must(append([]string{"bus"}, c.bus...)...), c.cli)
			})
			tab := uitest.Open(t).Tab(t, uitest.Look{Width: 360, Height: 640, Touch: true})
			logIn(h, tab, "operator")
			tab.Wait(fmt.Sprintf(`["%s"].every((said) => document.querySelector(".attention").innerText.includes(said))`, strings.Join(c.home, `", "`)))
			inspect(t, tab, "fault-"+c.name+"-home")
			tab.Go(h.url + "/plan?floor=Ground%20floor")
			tab.Wait(`document.querySelector(".plan img")?.complete && document.querySelector(".plan img").style.transform`)
			inspect(t, tab, "fault-"+c.name+"-plan")
		})
	}
}
