package sdn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/line/cable"
	"svc.internal/controller/sim/sdnsim"
)

// An order counts from when its frame was out, not from when it was announced: the line was somebody else's in between.
func TestAnOrderCountsFromWhenItWasOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const path, address = "/port", "06.1A.00"
		sim, err := sdnsim.New(sdnsim.Config{Virtual: true, Motors: []sdnsim.Motor{{Address: address, Limit: 1000, Up: 5 * time.Second, Down: 5 * time.Second}}})
		if err != nil {
			t.Fatal(err)
		}
		var ground cable.Net
		port, err := ground.Plug(path)
		if err != nil {
			t.Fatal(err)
		}
		cfg := busConfig(nil, []appliance.Node{{ID: 1, Address: address, Profile: "somfy-sdn"}}, []appliance.Shade{{ID: 5001, Node: 1, Output: 1}})
		cfg.Bus.Port = path
		o, err := OpenOn(cfg, ground.Ports())
		if err != nil {
			t.Fatal(err)
		}
		d := o.Driver.(*Driver)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 2)
		go func() { done <- sim.Serve(ctx, port) }()
		go func() { done <- d.Run(ctx) }()
		defer func() {
			cancel()
			for range 2 {
				<-done
			}
			port.Close()
		}()
		time.Sleep(time.Second) // it listens before it speaks
		sim.Babble(700 * time.Millisecond)
		time.Sleep(100 * time.Millisecond)

		m := d.site.all[0]
		announced := time.Now()
		asked, stop := context.WithTimeout(ctx, 5*time.Second)
		defer stop()
		res, err := d.ask(asked, appliance.Yield{}, question{
			motor: m, id: ctrlMoveTo, data: []byte{0, 0, 0, 0}, want: ack, most: minFrame, what: "closing",
			before: func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				m.sent(aim{goal: 100}, announced)
			},
		})
		if err != nil || res.Sent.Sub(announced) < 500*time.Millisecond {
			t.Fatalf("sent %v after it was announced: %v", res.Sent.Sub(announced), err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if !m.course.sentAt.Equal(res.Sent) || m.course.goal != 100 {
			t.Errorf("it counts from %v after it was announced, and was out after %v; goal %d", m.course.sentAt.Sub(announced), res.Sent.Sub(announced), m.course.goal)
		}
	})
}
