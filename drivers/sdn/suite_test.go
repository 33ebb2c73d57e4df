package sdn

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

func TestSuiteOfSerialDrivers(t *testing.T) {
	t.Parallel()
	motor := Address{0x06, 0x1A, 0x2B}
	says := func(from Address, percent byte) func([]byte) []byte {
		return func(request []byte) []byte {
			q, err := ParseFrame(request)
			if err != nil {
				t.Errorf("% X: %v", request, err)
				return nil
			}
			f := Frame{ID: q.ID + 1, From: 2, Source: from, Destination: q.Source, Data: []byte{0x10, 0x27, percent, 0xFF, 0xFF}}
			b, err := f.Bytes()
			if err != nil {
				t.Error(err)
			}
			return b
		}
	}
	drivertest.Suite{
		Open: func(t *testing.T, port string) appliance.Driver {
			o, err := Open(appliance.BusConfig{
				Bus:    appliance.Bus{Name: "shades", Port: port, Options: map[string]string{"responseTimeout": "1s"}},
				Nodes:  []appliance.Node{{ID: 1, Address: motor.String(), Profile: "somfy-sdn-30dc"}},
				Shades: []appliance.Shade{{ID: 5001, Node: 1, Output: 1}},
			})
			if err != nil || len(o.BrokenNodes)+len(o.BrokenShades) > 0 {
				t.Fatal(err, o.BrokenNodes, o.BrokenShades)
			}
			return o.Driver
		},
		Read: func(d appliance.Driver) appliance.Exchange {
			driver := d.(*Driver)
			return driver.exchange(driver.positionOf(driver.site.motors[motor]))
		},
		Size: func(b []byte) int {
			if len(b) < 2 {
				return 0
			}
			return frameLen(b[1])
		},
		Answer:  says(motor, 50),
		Older:   says(motor, 80),
		Foreign: says(Address{0x06, 0x1A, 0x2C}, 50),
		Garbage: func(q []byte) []byte {
			b := says(motor, 50)(q)
			b[10] ^= 0x04
			return b
		},
		Timeout: time.Second,
	}.Run(t)
}
