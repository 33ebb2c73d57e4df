package sim

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/appliance"
)

// vector is an entry of testdata/modbus.json: frames made by pymodbus and
// libmodbus.
type vector struct {
	Name      string
	Unit      byte
	Request   string
	Response  *string
	Exception int
	Why       string
	Op        struct {
		Op          string
		Addr, Count int
		WAddr       int
	}
	Expect json.RawMessage
}

func vectors(t *testing.T) (all struct{ RTU, TCP, Damaged []vector }) {
	t.Helper()
	data, err := os.ReadFile("testdata/modbus.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// memory is a device whose every address simply keeps what is written.
type memory struct {
	unit
	values [tableCount][65536]uint16
}

func newMemory(number byte) *memory {
	m := &memory{unit: unit{number: number, gear: gearMap{}}}
	m.combined = true
	for tab := range tableCount {
		for addr := range 65536 {
			m.at(tab, addr, stored(&m.values[tab][addr], nil))
		}
	}
	return m
}

// prepare puts the device into the state in which the vector's answer is right.
func (m *memory) prepare(t *testing.T, v vector) {
	t.Helper()
	var expect struct{ Values []uint16 }
	if err := json.Unmarshal(v.Expect, &expect); err != nil || expect.Values == nil {
		return
	}
	tab, ok := map[string]table{"read_coils": coils, "read_discrete": discrete, "read_holding": holding,
		"read_input": input, "read_write": holding}[v.Op.Op]
	if !ok {
		return
	}
	for i, value := range expect.Values {
		m.values[tab][v.Op.Addr+i] = value
	}
}

// golden serves one unit on a socket and returns a connection to it.
func golden(t *testing.T, port string, u *unit) (*Building, net.Conn) {
	t.Helper()
	s := newSite(t).bus("golden", port, appliance.LineSettings{})
	bd, err := New(s.Site, Options{SilentGateways: true})
	if err != nil {
		t.Fatal(err)
	}
	bd.buses[0].units[u.number] = u
	s.play(bd)
	_, hostport, _ := strings.Cut(bd.Port("golden"), "://")
	c, err := net.Dial("tcp", hostport)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return bd, c
}

func checkVectors(t *testing.T, port string, all []vector) {
	m := newMemory(1)
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			number := v.Unit
			if number == 0 {
				number = 1
			}
			m.number = number
			m.prepare(t, v)
			bd, c := golden(t, port, &m.unit)
			if v.Exception != 0 {
				id, err := bd.AddFault(Fault{Kind: FaultRefuse, Exception: v.Exception})
				if err != nil {
					t.Fatal(err)
				}
				defer bd.RemoveFault(id)
			}
			request := unhex(t, v.Request)
			if _, err := c.Write(request); err != nil {
				t.Fatal(err)
			}
			if v.Response == nil {
				eventually(t, "broadcast carried out", func() bool { return len(logged(t, bd, "golden")) == 1 })
				c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Fatalf("a broadcast was answered")
				}
				return
			}
			want := unhex(t, *v.Response)
			got := make([]byte, len(want))
			c.SetReadDeadline(time.Now().Add(3 * time.Minute))
			if n, err := io.ReadFull(c, got); err != nil {
				t.Fatalf("answer % x: %v", got[:n], err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("answer\n% x, want\n% x", got, want)
			}
		})
	}
}

func logged(t *testing.T, bd *Building, bus string) []Write {
	t.Helper()
	w, err := bd.Writes(bus, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenVectorsRTU(t *testing.T) {
	t.Parallel()
	checkVectors(t, "rtu+tcp://127.0.0.1:0", vectors(t).RTU)
}

func TestGoldenVectorsTCP(t *testing.T) {
	t.Parallel()
	checkVectors(t, "tcp://127.0.0.1:0", vectors(t).TCP)
}

func TestDamagedRTUFramesAreNotTaken(t *testing.T) {
	t.Parallel()
	n := 0
	for _, v := range vectors(t).Damaged {
		if v.Response == nil || !strings.HasPrefix(v.Why, "crc") && !strings.HasPrefix(v.Why, "truncated") || strings.HasPrefix(v.Name, "tcp") {
			continue
		}
		n++
		if unit, pdu, err := parseRTU(unhex(t, *v.Response)); err == nil && v.Name != "exception without the code byte" {
			t.Errorf("%s: taken as unit %d, % x", v.Name, unit, pdu)
		}
	}
	if n < 5 {
		t.Fatalf("only %d damaged vectors tried", n)
	}
}

func TestBrokenTCPHeadersEndTheConnection(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t).Damaged {
		if v.Name != "tcp: protocol id not zero" && v.Name != "tcp: length field zero" && v.Name != "tcp: length field 0xFFFF" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			_, c := golden(t, "tcp://127.0.0.1:0", &newMemory(5).unit)
			c.Write(unhex(t, *v.Response))
			c.SetReadDeadline(time.Now().Add(3 * time.Minute))
			if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
				t.Errorf("connection still there: %v", err)
			}
		})
	}
}

func TestGarbledRequestsOnAStreamAreDroppedAndTheNextOneAnswered(t *testing.T) {
	t.Parallel()
	bd, c := golden(t, "rtu+tcp://127.0.0.1:0", &newMemory(5).unit)
	good := rtuFrame(5, []byte{fnReadHolding, 0, 0, 0, 2})
	bad := bytes.Clone(good)
	bad[7] ^= 1
	c.Write(bad)
	eventually(t, "garbled frame counted", func() bool { return bd.Buses()[0].Garbled == 1 })
	c.Write(good)
	got := make([]byte, 9)
	c.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatal(err)
	}
	c.Write(rtuFrame(5, []byte{0x2B, 0x0E, 1, 0})) // a function it does not have
	if _, err := io.ReadFull(c, got[:5]); err != nil || got[1] != 0x2B|exceptionBit || got[2] != byte(illegalFunction) {
		t.Errorf("unknown function: % x, %v", got[:5], err)
	}
}
