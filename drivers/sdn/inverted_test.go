package sdn_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/pty"
	"svc.internal/controller/drivers/sdn"
	"svc.internal/controller/sim/sdnsim"
)

// Open is open, whoever tells it: the service 'motor' and the state of the shade.
func TestServiceTellsThePositionOfAnInvertedShadeAsTheCoreDoes(t *testing.T) {
	t.Parallel()
	list := motors(1)
	list[0].Open = 30 // of the motor: 70 % down. Wired the other way: the shade is 70 % open
	sim, err := sdnsim.New(quick(list))
	if err != nil {
		t.Fatal(err)
	}
	port, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "port")
	if err := port.Link(path); err != nil {
		t.Fatal(err)
	}
	o, err := sdn.Open(appliance.BusConfig{
		Bus:    appliance.Bus{Name: "shades", Port: path, Line: appliance.LineSettings{BaudRate: quick(list).BaudRate}, Options: map[string]string{"responseTimeout": "2s"}},
		Nodes:  []appliance.Node{{ID: 1, Address: address(0), Profile: "somfy-sdn"}},
		Shades: []appliance.Shade{{ID: 5001, Node: 1, Output: 1, Inverted: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := o.Driver.(*sdn.Driver)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- sim.Serve(ctx, port.Master()) }()
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done; <-done; port.Close() })
	var told any
	session := appliance.Session{
		Inputs: map[string]string{"address": address(0)},
		Perform: func(ctx context.Context, e appliance.Exchange) (appliance.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			return e.Do(ctx, appliance.Yield{})
		},
		Tell: func(x appliance.ServiceStep) {
			for _, f := range x.Facts {
				if f.Name == "position_percent_open" {
					told = f.Value
				}
			}
		},
	}
	for d.Link() != nil {
		time.Sleep(5 * time.Millisecond)
	}
	for _, s := range d.Services() {
		if s.Name == "motor" {
			if err := s.Run(ctx, session); err != nil {
				t.Fatal(err)
			}
		}
	}
	var shown appliance.Position
	for _, p := range d.Polls() {
		res, err := session.Perform(ctx, p.Exchange)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Readings {
			if r.Has.Has(appliance.CanPosition) {
				shown = r.Position
			}
		}
	}
	if told != int(shown) {
		t.Errorf("the service tells position_percent_open %v, the state of the same shade is %v", told, shown)
	}
}
