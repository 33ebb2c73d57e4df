package sim

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// site is a small building: what a test names, on one bus or several.
type site struct {
	appliance.Site
	t *testing.T
}

func newSite(t *testing.T) *site { return &site{t: t} }

func (s *site) bus(name, port string, line appliance.LineSettings) *site {
	s.Buses = append(s.Buses, appliance.Bus{UUID: appliance.UUID{byte(len(s.Buses) + 1)}, Name: name, Driver: "modbus", Port: port, Line: line})
	return s
}

func (s *site) tcp(name string) *site {
	return s.bus(name, "tcp://127.0.0.1:0", appliance.LineSettings{})
}

func (s *site) rtuTCP(name string) *site {
	return s.bus(name, "rtu+tcp://127.0.0.1:0", appliance.LineSettings{})
}

func (s *site) serial(name string, baud int, parity string) *site {
	return s.bus(name, filepath.Join(s.t.TempDir(), name), appliance.LineSettings{BaudRate: baud, Parity: parity, DataBits: 8, StopBits: 1})
}

// node adds a node to the last bus and returns its ID.
func (s *site) node(address, profile string, with ...func(*appliance.Node)) *site {
	n := appliance.Node{ID: appliance.ID(len(s.Nodes) + 1), Name: profile + " at " + address,
		Bus: s.Buses[len(s.Buses)-1].UUID, Address: address, Profile: profile}
	for _, f := range with {
		f(&n)
	}
	s.Nodes = append(s.Nodes, n)
	return s
}

// shade hangs a shade on the last node.
func (s *site) shade(output int, up, down time.Duration) *site {
	s.Shades = append(s.Shades, appliance.Shade{ID: appliance.ID(5001 + len(s.Shades)), Name: "shade",
		Node: s.Nodes[len(s.Nodes)-1].ID, Output: output, TravelUp: up, TravelDown: down})
	return s
}

func groups(g ...string) func(*appliance.Node) { return func(n *appliance.Node) { n.Groups = g } }
func outputs(o ...int) func(*appliance.Node)   { return func(n *appliance.Node) { n.Outputs = o } }

// run plays the building until the test ends.
func (s *site) run(opts Options) *Building {
	s.t.Helper()
	bd, err := New(s.Site, opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.play(bd)
	return bd
}

// play runs a building that was made already.
func (s *site) play(bd *Building) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bd.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				s.t.Errorf("building: %v", err)
			}
		case <-time.After(3 * time.Minute):
			s.t.Error("building still runs after its context ended")
		}
	})
	select {
	case <-bd.Ready():
	case err := <-done:
		s.t.Fatalf("building did not start: %v", err)
	case <-time.After(3 * time.Minute):
		s.t.Fatal("building not ready")
	}
}

// device is the true state of a node.
func device(t *testing.T, bd *Building, id appliance.ID) Device {
	t.Helper()
	for _, d := range bd.Devices() {
		if d.NodeID == id {
			return d
		}
	}
	t.Fatalf("no device for node %d", id)
	return Device{}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		if ok() {
			return
		}
		<-time.After(2 * time.Millisecond)
	}
	t.Fatalf("still not: %s", what)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
