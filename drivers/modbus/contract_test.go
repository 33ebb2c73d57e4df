package modbus

import (
	"testing"
	"time"

	"svc.internal/controller/appliance"
	"svc.internal/controller/drivers/drivertest"
)

func TestDriverContract(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	answer := func(q []byte) []byte { return rtuFrame(q[0], []byte{3, 2, 0, 50}) }
	drivertest.Suite{
		Open: func(t *testing.T, port string) appliance.Driver {
			cfg := serialBus(node(1, "5", "wirenboard-wb-mrgbw-d-legacy"))
			cfg.Bus.Port, cfg.Bus.Line = port, appliance.LineSettings{BaudRate: 115200}
			cfg.Bus.Options = map[string]string{"responseTimeout": "1s"}
			opened, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			return opened.Driver
		},
		Read: func(d appliance.Driver) appliance.Exchange { return d.Polls()[0].Exchange },
		Size: func(b []byte) int { return requestSize(b, false) },
		Answer: func(q []byte) []byte {
			return rtuFrame(q[0], []byte{3, 8, 0, 1, 0, 2, 0, 3, 0, 4})
		},
		Older: func(q []byte) []byte {
			return rtuFrame(q[0], []byte{3, 8, 0, 90, 0, 90, 0, 90, 0, 90})
		},
		Foreign: func(q []byte) []byte { f := answer(q); return rtuFrame(q[0]+1, f[1:len(f)-2]) },
		Garbage: func(q []byte) []byte { f := answer(q); f[3] ^= 0x40; return f },
		Timeout: time.Second,
	}.Run(t)
}
