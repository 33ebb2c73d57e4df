package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
	"svc.internal/controller/shelf/account"
	"svc.internal/controller/sim"
)

// boxSite is what hangs off a box that knows nothing of it.
const boxSite = `
site: {name: Box}
buses:
  - {name: relays, driver: modbus, port: "@DIR@/relays"}
  - {name: motors, driver: sdn, port: "@DIR@/motors"}
  - {name: gear, driver: dali, port: "@DIR@/gear", options: {gateway: luba}}
  - {name: hat, driver: dali, port: "@DIR@/hat", options: {gateway: atx}}
  - {name: stage, driver: dmx, port: "@DIR@/stage"}
  - {name: office, driver: modbus, port: "tcp://127.0.0.1:0"}
  - {name: server, driver: modbus, port: "rtu+tcp://127.0.0.1:0"}
nodes:
  - {id: 1, name: Relays, bus: relays, address: 5, profile: wirenboard-wb-mr6c}
  - {id: 2, name: Motor, bus: motors, address: 06.00.01, profile: somfy-sdn-30dc}
  - {id: 3, name: Lamp, bus: gear, address: 0, profile: dali-dt6}
  - {id: 4, name: Spot, bus: stage, address: 1, profile: dmx-dimmer}
  - {id: 5, name: Dimmer, bus: office, address: 1, profile: wirenboard-wb-mdm3}
  - {id: 6, name: Dimmer 2, bus: server, address: 3, profile: wirenboard-wb-mdm3}
  - {id: 7, name: Lamp 2, bus: hat, address: 0, profile: dali-dt6}
shades:
  - {id: 5001, name: Blind, node: 1, output: 1, travelUp: 3s, travelDown: 3s}
  - {id: 5002, name: Roller, node: 2, output: 1, travelUp: 3s, travelDown: 3s}
`

// box is a house whose daemon knows nothing of what hangs off it, and names the adapters as udev would.
func box(t *testing.T, site string) *house {
	h := bare(t, site)
	h.tokens = map[string]string{}
	buses := h.site.Buses
	h.site = appliance.Site{Name: "Box"}
	h.fillStore()
	h.site.Buses = buses
	h.plugAll()
	h.serve()
	return h
}

// plugAll gives all adapters their names.
func (h *house) plugAll() {
	h.t.Helper()
	h.devices = h.t.TempDir()
	for _, b := range h.site.Buses {
		if !strings.Contains(b.Port, "://") {
			h.plug(b.Name)
		}
	}
}

// adapter is the name by which the daemon knows the adapter of a bus.
func (h *house) adapter(bus string) string {
	return filepath.Join(h.devices, "serial/by-id", "usb-Test_"+bus+"-if00-port0")
}

// plug gives an adapter its name.
func (h *house) plug(bus string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.adapter(bus)), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(h.port(bus), h.adapter(bus)); err != nil {
		h.t.Fatal(err)
	}
}

// unplug takes it away.
func (h *house) unplug(bus string) {
	h.t.Helper()
	if err := os.Remove(h.adapter(bus)); err != nil {
		h.t.Fatal(err)
	}
}

// port is where a bus of the building is.
func (h *house) port(bus string) string {
	h.t.Helper()
	for _, b := range h.site.Buses {
		if b.Name == bus {
			return b.Port
		}
	}
	h.t.Fatalf("the building has no bus %s", bus)
	return ""
}

// door asks the door /api/v1 as an operator, wants that status, and decodes the answer.
func (h *house) door(status int, method, path string, in, out any) {
	h.t.Helper()
	body := []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			h.t.Fatal(err)
		}
	}
	got, data, _ := h.send(method, "/api/v1"+path, h.doorToken(), string(body))
	if got != status {
		h.t.Fatalf("%s %s: %d %s, want %d", method, path, got, data, status)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			h.t.Fatalf("%s %s: %v in %s", method, path, err, data)
		}
	}
}

func (h *house) doorToken() string {
	h.t.Helper()
	if token := h.tokens["/api/v1"]; token != "" {
		return token
	}
	status, data, _ := h.send(http.MethodPost, "/api/v1/auth/login", "", `{"username":"`+string(account.RoleOperator)+`","password":"`+housePassword+`"}`)
	var s api.Session
	if err := json.Unmarshal(data, &s); err != nil || status != http.StatusOK {
		h.t.Fatalf("log in: %d %s", status, data)
	}
	h.tokens["/api/v1"] = s.AccessToken
	return s.AccessToken
}

// foundOutJob is a job with what answered.
type foundOutJob struct {
	api.Job
	Items []api.PortAnswer `json:"items"`
}

// findOut waits until it is known what is on a port.
func (h *house) findOut(port string) foundOutJob {
	h.t.Helper()
	var j foundOutJob
	h.door(http.StatusAccepted, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: port}, &j)
	h.await(2*time.Minute, "what is on "+port, func() bool {
		h.door(http.StatusOK, http.MethodGet, "/jobs/"+j.ID, nil, &j)
		return j.EndedAt != nil
	})
	return j
}

// Whatever is on a port, it is found out, and a bus made of the answer works without a restart.
func TestWhatIsOnAPortIsFoundOut(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	h := box(t, boxSite)
	for bus, want := range map[string]api.PortAnswer{
		"relays": {Driver: "modbus", Found: api.Found{Address: "5", Kind: "wirenboard-wb-mr6c"}},
		"motors": {Driver: "sdn", Found: api.Found{Address: "06.00.01", Kind: "somfy-sdn-30dc"}},
		"gear":   {Driver: "dali", Options: map[string]string{"gateway": "luba"}},
		"hat":    {Driver: "dali", Options: map[string]string{"gateway": "atx"}},
		"stage":  {Driver: "dmx"},
		"office": {Driver: "modbus", Found: api.Found{Address: "1", Kind: "wirenboard-wb-mdm3"}},
		"server": {Driver: "modbus", Found: api.Found{Address: "3", Kind: "wirenboard-wb-mdm3"}},
	} {
		port := h.port(bus)
		if _, addr, socket := strings.Cut(port, "://"); socket {
			port = "tcp://" + addr
		} else {
			port = h.adapter(bus)
		}
		right := func(j foundOutJob) bool {
			if j.State != "done" || len(j.Items) != 1 {
				return false
			}
			got := j.Items[0]
			return got.Driver == want.Driver && got.Options["gateway"] == want.Options["gateway"] && got.Found.Address == want.Found.Address && got.Found.Kind == want.Found.Kind
		}
		j := h.findOut(port)
		for tries := 1; !right(j) && tries < 5; tries++ {
			j = h.findOut(port) // a busy machine answers later than a port is listened to, or only to some of the questions
		}
		if !right(j) {
			t.Errorf("%s: %s, %s: found out %+v, want %+v", bus, j.State, j.Error, j.Items, want)
			continue
		}
		got := j.Items[0]
		var b api.BusDetail
		h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &bus, Driver: &got.Driver, Port: &got.Port, Line: &got.Line, Options: &got.Options}, &b)
		h.await(time.Minute, bus+" up", func() bool {
			h.door(http.StatusOK, http.MethodGet, "/buses/"+bus, nil, &b)
			return b.Up
		})
	}
	if n := h.writes(); n > 0 {
		t.Errorf("finding out wrote %d times", n)
	}
}

// A port that a bus uses is left alone, one that is none is refused, and a bus that is put on a port
// ends what finds out there.
func TestFindingOutGivesWay(t *testing.T) {
	t.Parallel()
	h := box(t, boxSite)
	name, driver, port := "motors", "sdn", h.adapter("motors")
	h.door(http.StatusUnprocessableEntity, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: "/etc/passwd"}, nil)
	h.door(http.StatusUnprocessableEntity, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: "tcp://"}, nil)
	end := h.fault(sim.Fault{Kind: sim.FaultSilent, Bus: "relays"})
	defer end()
	var j, again foundOutJob
	relays := h.adapter("relays")
	h.door(http.StatusAccepted, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: relays}, &j)
	h.door(http.StatusConflict, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: h.port("relays")}, nil) // the same adapter by another name
	modbus, ground := "modbus", "ground floor"
	h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &ground, Driver: &modbus, Port: &relays}, nil)
	h.await(time.Minute, "an end", func() bool {
		h.door(http.StatusOK, http.MethodGet, "/jobs/"+j.ID, nil, &again)
		return again.EndedAt != nil
	})
	if again.State != "failed" || !strings.Contains(again.Error, ground) {
		t.Errorf("it ended as %s: %s", again.State, again.Error)
	}
	var b api.BusDetail
	h.await(time.Minute, "the bus up", func() bool {
		h.door(http.StatusOK, http.MethodGet, "/buses/ground%20floor", nil, &b)
		return b.Up
	})
	h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &name, Driver: &driver, Port: &port}, nil)
	h.door(http.StatusConflict, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: port}, nil)
	// cancelled
	h.door(http.StatusAccepted, http.MethodPost, "/jobs", api.JobRequest{Kind: "findout", Port: "tcp://127.0.0.1:9"}, &j)
	h.await(time.Minute, "a refusal", func() bool {
		h.door(http.StatusOK, http.MethodGet, "/jobs/"+j.ID, nil, &again)
		return again.EndedAt != nil
	})
	if !strings.Contains(again.Error, "check the port") {
		t.Errorf("nobody listens there, and it is told as %q", again.Error)
	}
}

// Adapters appear and vanish, with the bus that is on each.
func TestPortsAreThoseThatAreThere(t *testing.T) {
	t.Parallel()
	h := box(t, boxSite)
	ports := func() map[string]string {
		var list []api.Port
		h.door(http.StatusOK, http.MethodGet, "/ports", nil, &list)
		on := map[string]string{}
		for _, p := range list {
			if strings.HasPrefix(p.Port, h.devices) {
				on[p.Name] = p.Bus
			}
		}
		return on
	}
	h.await(time.Minute, "five adapters", func() bool { return len(ports()) == 5 })
	name, driver, port := "Shades", "sdn", h.adapter("motors")
	h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &name, Driver: &driver, Port: &port}, nil)
	if got := ports()["Test motors"]; got != name {
		t.Errorf("on the adapter of %s is %q; %v", name, got, ports())
	}
	h.unplug("stage")
	h.await(time.Minute, "four adapters", func() bool { return len(ports()) == 4 })
}

// A device is divided into lights and shades and back again: each obeys, and IDs are what they were.
func TestADeviceIsDividedAnew(t *testing.T) {
	t.Parallel()
	h := box(t, boxSite)
	name, driver, port := "relays", "modbus", h.adapter("relays")
	h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &name, Driver: &driver, Port: &port}, nil)
	divide := func(status int, edit api.DeviceEdit) (made api.DeviceMade) {
		t.Helper()
		edit.Address, edit.Profile = "5", "wirenboard-wb-mr6c"
		h.door(status, http.MethodPost, "/buses/relays/devices", edit, &made)
		return made
	}
	all := []api.DeviceLight{}
	for i := range 6 {
		all = append(all, api.DeviceLight{Name: "Lamp " + string(rune('1'+i)), Outputs: []int{i + 1}})
	}
	lights := divide(http.StatusOK, api.DeviceEdit{Lights: all, NewCluster: "Hall"})
	if len(lights.Nodes) != 6 || len(lights.Shades) != 0 || len(lights.Nodes[5].Clusters) != 1 {
		t.Fatalf("six lights: %+v", lights)
	}
	h.awaitOnline()
	mixed := divide(http.StatusOK, api.DeviceEdit{Lights: all[2:], Shades: []api.DeviceShade{{Name: "Blind", Output: 1}}})
	if len(mixed.Nodes) != 4 || len(mixed.Shades) != 1 || mixed.Nodes[0].ID != lights.Nodes[2].ID {
		t.Fatalf("four lights and a shade: %+v", mixed)
	}
	h.awaitOnline()
	h.insist("shadeControl", `{"targetType":3,"targetId":`+fmt.Sprint(mixed.Shades[0].ID)+`,"command":"UP"}`)
	h.insist("channelControl", `{"targetType":3,"targetId":`+fmt.Sprint(mixed.Nodes[0].ID)+`,"command":"ON"}`)
	if on := h.device(1).Channels; on[0].On && on[1].On {
		t.Error("both relays of the shade are on")
	}
	again := divide(http.StatusOK, api.DeviceEdit{Lights: all})
	for i, n := range again.Nodes {
		if n.ID != lights.Nodes[i].ID || n.UUID != lights.Nodes[i].UUID {
			t.Errorf("light %d was node %d, and is %d", i+1, lights.Nodes[i].ID, n.ID)
		}
	}
	divide(http.StatusUnprocessableEntity, api.DeviceEdit{Lights: []api.DeviceLight{{Name: "Seventh", Outputs: []int{7}}}})
	back := divide(http.StatusOK, api.DeviceEdit{Lights: all[2:], Shades: []api.DeviceShade{{Name: "Blind", Output: 1}}})
	if len(back.Shades) != 1 || back.Shades[0].ID != mixed.Shades[0].ID {
		t.Errorf("the shade was %d, and is %+v", mixed.Shades[0].ID, back.Shades)
	}

	// Three channels are a colour, or three lights.
	stage, dmx, widget := "stage", "dmx", h.adapter("stage")
	h.door(http.StatusCreated, http.MethodPost, "/buses", api.BusEdit{Name: &stage, Driver: &dmx, Port: &widget}, nil)
	strip := func(profile string, lights ...api.DeviceLight) (ids []appliance.ID, made api.DeviceMade) {
		t.Helper()
		h.door(http.StatusOK, http.MethodPost, "/buses/stage/devices", api.DeviceEdit{Address: "10", Profile: profile, Lights: lights}, &made)
		for _, n := range made.Nodes {
			ids = append(ids, n.ID)
		}
		return ids, made
	}
	three := []api.DeviceLight{{Name: "Red", Outputs: []int{1}}, {Name: "Green", Outputs: []int{2}}, {Name: "Blue", Outputs: []int{3}}}
	colour, made := strip("dmx-rgb", api.DeviceLight{Name: "Strip"})
	if len(colour) != 1 || !slices.Contains(made.Nodes[0].Abilities, "colour") {
		t.Fatalf("one colour: %+v", made)
	}
	single, _ := strip("dmx-dimmer-pack-3", three...)
	if len(single) != 3 || single[0] != colour[0] {
		t.Errorf("a colour %v became %v", colour, single)
	}
	if one, _ := strip("dmx-rgb", api.DeviceLight{Name: "Strip"}); !slices.Equal(one, colour) {
		t.Errorf("the colour was %v, and is %v", colour, one)
	}
	if again, _ := strip("dmx-dimmer-pack-3", three...); !slices.Equal(again, single) {
		t.Errorf("the lights were %v, and are %v", single, again)
	}
}

// What an operator types does the same.
func TestBusesAreAddedOnTheConsole(t *testing.T) {
	t.Parallel()
	bareInBubble(t, boxSite, func(t *testing.T, h *house) {
		port := h.port("motors")
		h.tokens = map[string]string{}
		h.site = appliance.Site{Name: "Box"}
		h.fillStore()
		h.serve()
		do := func(code int, want string, args ...string) {
			t.Helper()
			if s := h.typed(append([]string{"bus"}, args...)...); s.code != code || !strings.Contains(s.out+s.err, want) {
				t.Errorf("bus %q: exit code %d, want %d, and %q in\n%s%s", args, s.code, code, want, s.out, s.err)
			}
		}
		do(0, "no serial port is there", "ports")
		do(0, "--driver sdn --port \""+port+"\"", "find-out", port)
		do(0, "bus South is up", "add", "South", "--driver", "sdn", "--port", port)
		do(1, "South uses it", "find-out", port)
		do(2, "want none, even or odd", "add", "North", "--driver", "modbus", "--port", "/building/none", "--parity", "some")
		do(1, "there is no driver", "add", "North", "--driver", "knx", "--port", "/building/none")
		do(2, "say what is to be changed", "change", "South")
		do(0, "bus East is up", "change", "South", "--name", "East")
		do(0, "bus East is switched off", "change", "East", "--off")
		do(0, "Sonesse 30 DC", "find-out", port)
		do(0, "bus East was removed", "remove", "East")
		do(1, "there is no bus", "remove", "East")
	})
}
