package modbus

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

type vector struct {
	Name        string
	Transport   string
	Unit        byte
	Transaction uint16 `json:"transaction_id"`
	Op          struct {
		Op          string
		Addr, Waddr uint16
		Count       uint16
		Value       any
		Values      []any
		And, Or     uint16
	}
	Request, Response string
	Expect            json.RawMessage
	Exception         byte
}

func (v vector) request(t *testing.T) request {
	r := request{unit: v.Unit, addr: v.Op.Addr, qty: v.Op.Count, waddr: v.Op.Waddr}
	for _, x := range v.Op.Values {
		switch x := x.(type) {
		case bool:
			r.bits = append(r.bits, x)
		case float64:
			r.values = append(r.values, uint16(x))
		}
	}
	switch v.Op.Op {
	case "read_coils":
		r.fn = readCoils
	case "read_discrete":
		r.fn = readDiscretes
	case "read_holding":
		r.fn = readHolding
	case "read_input":
		r.fn = readInput
	case "write_coil":
		r.fn, r.bits = writeCoil, []bool{v.Op.Value.(bool)}
	case "write_register":
		r.fn, r.values = writeRegister, []uint16{uint16(v.Op.Value.(float64))}
	case "write_coils":
		r.fn = writeCoils
	case "write_registers":
		r.fn = writeRegisters
	case "mask_write":
		r.fn, r.values = maskWrite, []uint16{v.Op.And, v.Op.Or}
	case "read_write":
		r.fn = readWrite
	default:
		t.Fatalf("unknown operation %q", v.Op.Op)
	}
	return r
}

func readVectors(t *testing.T) (good, damaged []vector) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ RTU, TCP, Damaged []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	good = append(file.RTU, file.TCP...)
	if len(good) < 50 || len(file.Damaged) < 20 {
		t.Fatalf("got %d good and %d damaged vectors", len(good), len(file.Damaged))
	}
	return good, file.Damaged
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoldenVectors sends every request through the real line and plays the
// recorded answer.
func TestGoldenVectors(t *testing.T) {
	t.Parallel()
	good, _ := readVectors(t)
	for _, transport := range []string{"rtu", "tcp", "rtu+tcp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := serialWire
				if transport != "rtu" {
					w = func(t testing.TB) *wire { return socketWire(t, transport) }
				}
				end := w(t)
				responses, requests := make(chan []byte, 1), make(chan []byte, 1)
				end.play(t, transport == "tcp", func(q []byte) []piece {
					requests <- q
					return []piece{{bytes: <-responses}}
				})
				d, _ := open(t, busOf(end, nil))
				for _, v := range good {
					if v.Transport != strings.TrimSuffix(transport, "+tcp") {
						continue
					}
					want := unhex(t, v.Request)
					responses <- unhex(t, v.Response) // empty: nobody answers
					d.codec.transaction = v.Transaction - 1
					checkGolden(t, d, v)
					if got := <-requests; !bytes.Equal(got, want) {
						t.Errorf("%s: sent %X, want %X", v.Name, got, want)
					}
				}
			})
		})
	}
}

func checkGolden(t *testing.T, d *Driver, v vector) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	a, _, err := d.ask(ctx, appliance.Yield{}, v.request(t), timing{timeout: 20 * time.Second})
	var expect struct {
		OK     bool
		Values []uint16
	}
	if v.Unit == 0 {
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		return
	}
	if err := json.Unmarshal(v.Expect, &expect); err != nil {
		t.Fatal(err)
	}
	if !expect.OK {
		var e *Exception
		if !errors.As(err, &e) || e.Code != v.Exception || e.Unit != v.Unit {
			t.Errorf("%s: got %v, want exception %d", v.Name, err, v.Exception)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", v.Name, err)
		return
	}
	values := a.words
	for _, on := range a.bits {
		values = append(values, map[bool]uint16{true: 1}[on])
	}
	if !slices.Equal(values, expect.Values) {
		t.Errorf("%s: got %v, want %v", v.Name, values, expect.Values)
	}
}

// TestDamagedVectors plays each damaged answer, and then asks again: the next
// transaction must come out right.
func TestDamagedVectors(t *testing.T) {
	t.Parallel()
	_, damaged := readVectors(t)
	for _, transport := range []string{"rtu", "tcp", "rtu+tcp"} {
		for _, v := range damaged {
			if v.Transport != strings.TrimSuffix(transport, "+tcp") {
				continue
			}
			t.Run(transport+" "+v.Name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					end := serialWire(t)
					if transport != "rtu" {
						end = socketWire(t, transport)
					}
					first := true
					end.play(t, transport == "tcp", func(q []byte) []piece {
						if first {
							first = false
							return []piece{{bytes: unhex(t, v.Response)}}
						}
						return []piece{{bytes: goodAnswer(q, transport == "tcp")}}
					})
					d, _ := open(t, busOf(end, nil))
					d.codec.transaction = v.Transaction - 1
					r := v.request(t)
					ctx, cancel := context.WithTimeout(context.Background(), deadline)
					defer cancel()
					a, _, err := d.ask(ctx, appliance.Yield{}, r, timing{timeout: 150 * time.Millisecond})
					if !errors.Is(err, appliance.ErrDamaged) && !errors.Is(err, appliance.ErrSilent) && !errors.Is(err, appliance.ErrBusDown) {
						t.Fatalf("got %v, %v; want ErrDamaged or ErrSilent", a, err)
					}
					a, _, err = d.ask(ctx, appliance.Yield{}, r, timing{timeout: 20 * time.Second})
					if err != nil {
						t.Fatalf("the next transaction: %v", err)
					}
					if r.fn == readHolding && !slices.Equal(a.words, []uint16{0x1111, 0x2222}) {
						t.Errorf("the next transaction: got %v", a.words)
					}
				})
			})
		}
	}
}

// goodAnswer answers a read of two registers, or repeats a write.
func goodAnswer(q []byte, tcp bool) []byte {
	pdu := []byte{3, 4, 0x11, 0x11, 0x22, 0x22}
	if tcp {
		return append(append(slices.Clone(q[:4]), 0, byte(len(pdu)+1), q[6]), pdu...)
	}
	if q[1] == 6 {
		return q
	}
	return rtuFrame(q[0], pdu)
}

func TestChecksumOfTheStandard(t *testing.T) {
	t.Parallel()
	// MODBUS over Serial Line V1.02, appendix B: 02 07 has the checksum 12 41.
	if got := crc16([]byte{0x02, 0x07}); got != 0x1241 {
		t.Errorf("got %04X, want 1241", got)
	}
	f := binary.LittleEndian.AppendUint16([]byte{0x02, 0x07}, 0x1241)
	if !crcOK(f) {
		t.Error("a good frame is refused")
	}
}
