package sim

import (
	"net"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// A unit that is dead, or acknowledges and does not change, is so for broadcasts too.
func TestDeadAndStuckUnitsIgnoreBroadcasts(t *testing.T) {
	t.Parallel()
	for _, kind := range []FaultKind{FaultSilent, FaultDropRequest, FaultStuck} {
		r := newRig(t, newSite(t).serial("b", 9600, "none").node("5", "wirenboard-wb-mdm3"), Options{})
		r.impose(&running{Fault: Fault{Kind: kind, Address: "5", Rate: 1}, unit: 5})
		r.send(noon, 0, fnWriteRegister, 0, 4, 0, 80) // broadcast: channel 1 to 80 % and on
		if d := r.device(noon.Add(2*time.Second), 1); d.Channels[0].Level != 0 {
			t.Errorf("%s: after a broadcast the unit that is so shines at %d %%", kind, d.Channels[0].Level)
		}
	}
}

// A relay module whose outputs are lights sticks like any other device.
func TestStuckRelayModule(t *testing.T) {
	t.Parallel()
	r := newRig(t, newSite(t).serial("b", 9600, "none").node("6", "wirenboard-wb-mr6c"), Options{})
	r.impose(&running{Fault: Fault{Kind: FaultStuck, Address: "6", Rate: 1}, unit: 6})
	r.coil(noon, 6, 0, true)
	if d := r.device(noon.Add(time.Second), 1); d.Channels[0].On {
		t.Error("stuck, and relay 1 closed")
	}
}

// No request to the control interface may end the program.
func TestRatesTooSmallToReckonWithAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Buses = append(s.Buses, appliance.Bus{UUID: appliance.UUID{9}, Name: "shades", Driver: "sdn", Port: "rtu+tcp://127.0.0.1:0"})
	s.Nodes = append(s.Nodes, appliance.Node{ID: 1, Name: "m", Bus: appliance.UUID{9}, Address: "06.1A.00", Profile: "somfy-sdn"})
	bd := s.run(Options{})
	srv := control(t, bd)
	if code, out := call(t, srv, "POST", "/faults", `{"kind":"foreign","bus":"shades","rate":1e-300}`); code != 400 {
		t.Errorf("%d %v, want 400", code, out)
	}
}

// A wall button at one gear moves that gear only.
func TestPressBeyondBoundsIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Buses = append(s.Buses, appliance.Bus{UUID: appliance.UUID{9}, Name: "attic", Driver: "dali", Port: "rtu+tcp://127.0.0.1:0", Options: map[string]string{"gateway": "luba"}})
	for i := range 4 {
		s.Nodes = append(s.Nodes, appliance.Node{ID: appliance.ID(i + 1), Name: "g", Bus: appliance.UUID{9}, Address: string(rune('0' + i)), Profile: "dali-dt6", Options: map[string]string{"curve": "linear"}})
	}
	bd := s.run(Options{})
	c, err := net.Dial("tcp", strings.TrimPrefix(bd.Port("attic"), "rtu+tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	srv := control(t, bd)
	code, out := call(t, srv, "POST", "/devices/attic/0/channels/1", `{"level":300}`)
	if code != 400 {
		t.Errorf("level 300: %d %v, want 400", code, out)
	}
	if l := device(t, bd, 2).Channels[0].TargetLevel; l != 0 {
		t.Errorf("a press at gear 0 sent gear 1 to %d %%", l)
	}
}
