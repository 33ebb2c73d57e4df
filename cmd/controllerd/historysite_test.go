package main

import (
	"fmt"

	"svc.internal/controller/appliance"
	"svc.internal/controller/sim"
)

// thing is a light or a shade of the building that histories are played on.
type thing struct {
	id    appliance.ID // of the node, or of the shade
	shade bool
	node  appliance.ID
	bus   string
	at    string // its address on the bus
	make  string // profile
	// healthy: nothing ever ails it alone, so that what ails its neighbours can be seen to leave it alone.
	healthy bool
	timed   bool // a shade without eyes
}

func (x *thing) tunable() bool  { return x.make == "wirenboard-wb-led-cct" || x.make == "dali-dt8-tc" }
func (x *thing) coloured() bool { return x.make == "wirenboard-wb-led-rgbw" || x.make == "dmx-rgbw" }

// within are how far the true level may be from the one that was confirmed: DALI has coarse steps.
func (x *thing) within() int {
	switch x.bus {
	case "dali":
		return 2
	}
	return 1
}

const (
	relays        = "waveshare-relay-8ch"
	historyBroker = "127.0.0.1:1883"
	historyDoor   = "127.0.0.1:443"
	guestsFrom    = 60 // addresses on bus tcp of what is added and removed
)

// historySite has a bus of every kind and a device of many families. On each the first is healthy.
func historySite() (text string, things []*thing) {
	text = `
site: {name: History}
buses:
  - {name: tcp, driver: modbus, port: "tcp://127.0.0.1:1502"}
  - {name: rtu, driver: modbus, port: "@DIR@/rtu", line: {baudRate: 19200, parity: even, stopBits: 1}}
  - {name: slow, driver: modbus, port: "@DIR@/slow", line: {baudRate: 9600, parity: none, stopBits: 2}}
  - {name: gateway, driver: modbus, port: "rtu+tcp://127.0.0.1:1503"}
  - {name: sdn, driver: sdn, port: "@DIR@/sdn"}
  - {name: dali, driver: dali, port: "@DIR@/dali", options: {gateway: atx}}
  - {name: dmx, driver: dmx, port: "@DIR@/dmx"}
nodes:
`
	var nodes, shades []appliance.ID
	add := func(bus, address, profile string) *thing {
		id := appliance.ID(len(nodes) + 1)
		nodes = append(nodes, id)
		x := &thing{id: id, node: id, bus: bus, at: address, make: profile, healthy: true}
		for _, other := range things {
			x.healthy = x.healthy && other.bus != bus
		}
		text += fmt.Sprintf("  - {id: %d, name: Node %d, bus: %s, address: %q, profile: %s}\n", id, id, bus, address, profile)
		return x
	}
	light := func(bus, address, profile string) { things = append(things, add(bus, address, profile)) }
	rest := ""
	shade := func(x *thing, output int) {
		id := appliance.ID(5001 + len(shades))
		shades = append(shades, id)
		s := *x
		s.id, s.shade, s.timed = id, true, x.bus != "sdn"
		things = append(things, &s)
		rest += fmt.Sprintf("  - {id: %d, name: Shade %d, node: %d, output: %d, travelUp: 8s, travelDown: 7s}\n", id, id, x.node, output)
	}
	for i := range 4 {
		light("tcp", fmt.Sprint(10+i), "wirenboard-wb-mdm3")
	}
	light("tcp", "2/0", "arlight-dali-logic-lite")
	light("rtu", "1", "wirenboard-wb-led-rgbw")
	light("rtu", "2", relays)
	light("rtu", "3", "wirenboard-wb-led-cct")
	shade(add("rtu", "4", "wirenboard-wb-mr6c"), 1)
	healthy := add("slow", "1", "wirenboard-wb-mr6c")
	shade(healthy, 1)
	shade(healthy, 2)
	ailing := add("slow", "2", "wirenboard-wb-mr6c")
	shade(ailing, 1)
	shade(ailing, 2)
	light("slow", "3", "wirenboard-wb-mao4")
	light("gateway", "1", "wirenboard-wb-led-white")
	light("gateway", "2/0", "ecodim-dali-gw2")
	for i := range 3 {
		shade(add("sdn", fmt.Sprintf("06.00.0%d", 1+i), "somfy-sdn-30dc"), 1)
	}
	for i, kind := range []string{"dali-dt6", "dali-dt6", "dali-dt8-tc"} {
		light("dali", fmt.Sprint(i), kind)
	}
	light("dmx", "1", "dmx-dimmer")
	light("dmx", "10", "dmx-rgbw")
	text += "shades:\n" + rest + "clusters:\n"
	text += fmt.Sprintf("  - {id: 1, name: Mixed, nodes: %s, shades: %s}\n", listed(nodes[:6]), listed(shades[:2]))
	text += fmt.Sprintf("  - {id: 2, name: Other, nodes: %s, shades: %s}\n", listed(nodes[len(nodes)-6:]), listed(shades[len(shades)-3:]))
	return text, things
}

func listed(ids []appliance.ID) string {
	out := "["
	for i, id := range ids {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprint(id)
	}
	return out + "]"
}

// ailments of single devices, and of whole buses, by bus.
var ailments = map[string]struct{ one, all []sim.FaultKind }{
	"tcp": {one: []sim.FaultKind{sim.FaultSilent, sim.FaultDrop, sim.FaultDropAnswer, sim.FaultDelay, sim.FaultCorrupt, sim.FaultRefuse, sim.FaultBusy, sim.FaultStuck},
		all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose, sim.FaultHang, sim.FaultDelay}},
	"rtu": {one: []sim.FaultKind{sim.FaultSilent, sim.FaultDrop, sim.FaultDropAnswer, sim.FaultDelay, sim.FaultCorrupt, sim.FaultRefuse, sim.FaultBusy, sim.FaultStuck, sim.FaultNoise},
		all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose, sim.FaultBabble}},
	"slow": {one: []sim.FaultKind{sim.FaultSilent, sim.FaultDrop, sim.FaultDropAnswer, sim.FaultDelay, sim.FaultCorrupt, sim.FaultRefuse, sim.FaultBusy, sim.FaultStuck, sim.FaultPower},
		all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose}},
	"gateway": {one: []sim.FaultKind{sim.FaultSilent, sim.FaultDrop, sim.FaultDelay, sim.FaultCorrupt, sim.FaultRefuse, sim.FaultBusy, sim.FaultStuck},
		all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose, sim.FaultHang, sim.FaultDelay}},
	"sdn": {one: []sim.FaultKind{sim.FaultSilent, sim.FaultDropRequest, sim.FaultDropAnswer, sim.FaultDelay, sim.FaultCorrupt, sim.FaultRefuse, sim.FaultBusy, sim.FaultStuck},
		all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose, sim.FaultNoise, sim.FaultForeign}},
	"dali": {one: []sim.FaultKind{sim.FaultSilent, sim.FaultDropRequest, sim.FaultDropAnswer, sim.FaultStuck},
		all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose, sim.FaultNoise}},
	"dmx": {all: []sim.FaultKind{sim.FaultUnplug, sim.FaultClose}},
}
