package scripted_test

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// gear of a DALI line (IEC 62386-102) behind a serial HAT of ATX LED.
type gear struct {
	mu     sync.Mutex
	level  [4]byte
	failed [4]bool // the lamp of
	silent [4]bool // it is not there
	deaf   [4]bool // it does not take a level
	wrote  time.Time
}

func (g *gear) listen(t *testing.T) (port string) {
	return plug(t, func(port io.ReadWriter) { g.serve(port) })
}

func (g *gear) serve(port io.ReadWriter) {
	var buf []byte
	chunk := make([]byte, 256)
	for {
		n, err := port.Read(chunk)
		if err != nil {
			return
		}
		for buf = append(buf, chunk[:n]...); ; {
			line, rest, whole := bytes.Cut(buf, []byte("\n"))
			if !whole {
				break
			}
			buf = rest
			frame, err := strconv.ParseUint(string(line[1:]), 16, 16)
			if err != nil {
				fmt.Fprint(port, "X\n")
				continue
			}
			said := g.take(byte(frame>>8), byte(frame))
			if fmt.Fprint(port, said); line[0] == 't' {
				fmt.Fprint(port, said)
			}
		}
	}
}

// take carries a forward frame out.
func (g *gear) take(address, data byte) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.level {
		if g.silent[i] || address>>1 != byte(i) && address < 0xFE {
			continue
		}
		if address&1 == 0 || data < 0x20 {
			g.wrote = time.Now()
			if g.deaf[i] {
				continue
			}
		}
		switch {
		case address&1 == 0:
			if data != 255 {
				g.level[i] = data
			}
		case data == 0x00:
			g.level[i] = 0
		case data == 0x05:
			g.level[i] = 254
		case data == 0x90: // status
			status := byte(0)
			if g.failed[i] {
				status |= 2
			} else if g.level[i] > 0 {
				status |= 4
			}
			return fmt.Sprintf("J%02X\n", status)
		case data == 0xA0:
			return fmt.Sprintf("J%02X\n", g.level[i])
		case data == 0xA1:
			return "JFE\n"
		case data == 0xA2:
			return "J01\n"
		case data == 0xC0, data == 0xC1:
			return "J00\n"
		}
	}
	return "N\n"
}

// Gear whose lamp failed, as is known and logged, tells the level that it was told.
func TestLampFailureThatIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gear{}
		site := oneBus(appliance.Bus{Driver: "dali", Port: g.listen(t), Options: map[string]string{"gateway": "atx"}}, 2, "dali-dt6")
		site.Nodes[0].Address, site.Nodes[1].Address = "0", "1"
		site.Settings.Freshness = appliance.Freshness{Light: time.Second, Power: time.Second}
		h := start(t, site, 2)
		if e := h.dim(0, 50); !e.OK() {
			t.Fatal(e.Err)
		}
		g.mu.Lock()
		g.failed[1] = true
		g.mu.Unlock()
		h.wait(20*time.Second, "the failure to be known", func() bool {
			for _, d := range h.Snapshot().Buses[0].Devices {
				if d.Trouble != "" {
					return true
				}
			}
			return false
		})
		e := h.dim(0, 80)
		if e.OK() || e.Members[0].Err != "" || e.Members[1].Err == "" {
			t.Errorf("%q, %+v", e.Err, e.Members)
		}
	})
}
