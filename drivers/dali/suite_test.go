package dali

import (
	"bytes"
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

// The far end is an ATX LED HAT: a forward frame is a line "h", four digits and a line
// feed, a backward frame "J" and two digits.
func TestSuiteOfSerialDrivers(t *testing.T) {
	t.Parallel()
	says := func(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }
	drivertest.Suite{
		Open: func(t *testing.T, port string) appliance.Driver {
			o, err := Open(appliance.BusConfig{
				Bus:   appliance.Bus{Name: "attic", Port: port, Options: map[string]string{"gateway": "atx"}},
				Nodes: []appliance.Node{{ID: 1, Address: "0", Profile: "dali-dt6"}},
			})
			if err != nil || len(o.BrokenNodes) > 0 {
				t.Fatal(err, o.BrokenNodes)
			}
			return o.Driver
		},
		Read:    func(d appliance.Driver) appliance.Exchange { return d.Polls()[0].Exchange },
		Size:    func(b []byte) int { return bytes.IndexByte(b, '\n') + 1 },
		Answer:  says("J80\n"),
		Older:   says("JF0\n"),
		Foreign: says("H0100\n"),
		Garbage: says("X\n"),
		Timeout: 300 * time.Millisecond,
	}.Run(t)
}
