package modbus

import (
	"encoding/binary"
	"fmt"

	goburrow "github.com/goburrow/modbus"

	"svc.internal/controller/appliance"
)

// codec frames requests and unframes answers, for one bus.
//
// Frames are packed by goburrow/modbus's Packager, one handler per unit, since
// the unit is a field of the handler. Its transport is never used, and of its
// client nothing: that one takes an answer with a wrong function code for an
// exception.
type codec struct {
	tcp      bool // Modbus TCP; else RTU frames, whatever carries them
	tolerant bool // TCP: unit 0 and 255 count as the unit that was asked

	packagers   map[byte]goburrow.Packager
	transaction uint16
}

func newCodec(tcp, tolerant bool) *codec {
	return &codec{tcp: tcp, tolerant: tolerant, packagers: make(map[byte]goburrow.Packager)}
}

func (c *codec) packager(unit byte) goburrow.Packager {
	p := c.packagers[unit]
	if p == nil {
		if c.tcp {
			h := goburrow.NewTCPClientHandler("")
			h.SlaveId = unit
			p = h
		} else {
			h := goburrow.NewRTUClientHandler("")
			h.SlaveId = unit
			p = h
		}
		c.packagers[unit] = p
	}
	return p
}

// encode frames a request. Transaction numbers count per connection, not per
// unit: two units' answers must never carry the same one.
func (c *codec) encode(r request) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	frame, err := c.packager(r.unit).Encode(r.pdu())
	if err != nil {
		return nil, fmt.Errorf("%v of unit %d: %w", r, r.unit, err)
	}
	if c.tcp {
		c.transaction++
		binary.BigEndian.PutUint16(frame, c.transaction)
	}
	return frame, nil
}

// answer is what a unit said.
type answer struct {
	words []uint16
	bits  []bool
	id    []string // readDeviceID: vendor, product code, revision
}

// decode takes an accepted frame apart. Its error is an [*Exception], or wraps
// [appliance.ErrDamaged].
func (c *codec) decode(r request, frame []byte) (answer, error) {
	pdu, err := c.packager(r.unit).Decode(frame)
	if err != nil {
		return answer{}, fmt.Errorf("%w: unit %d: %v: %w", appliance.ErrDamaged, r.unit, r, err)
	}
	fn, data := function(pdu.FunctionCode), pdu.Data
	if fn == r.fn|exceptionBit && len(data) == 1 {
		return answer{}, &Exception{Unit: r.unit, What: r.String(), Code: data[0]}
	}
	if why := r.mismatch(append([]byte{byte(fn)}, data...)); why != "" {
		return answer{}, fmt.Errorf("%w: unit %d: %v: %s", appliance.ErrDamaged, r.unit, r, why)
	}
	switch r.fn {
	case readCoils, readDiscretes:
		return answer{bits: unpackBits(data[1:], int(r.qty))}, nil
	case readHolding, readInput, readWrite:
		return answer{words: words(data[1:])}, nil
	case readDeviceID:
		return answer{id: identification(data)}, nil
	}
	return answer{}, nil
}

// mismatch says why a PDU cannot be the normal answer to r; empty if it can.
func (r request) mismatch(pdu []byte) string {
	if len(pdu) < 2 {
		return "the answer is too short"
	}
	if got := function(pdu[0]); got != r.fn {
		return fmt.Sprintf("the answer is for function %02X instead of %02X", byte(got), byte(r.fn))
	}
	switch r.fn {
	case readDeviceID:
		if n, ok := identificationLen(pdu); !ok || n != len(pdu) {
			return "the identification has a wrong length"
		}
		return ""
	case readCoils, readDiscretes, readHolding, readInput, readWrite:
		if want := r.answerLen() - 2; int(pdu[1]) != want || len(pdu)-2 != want {
			return fmt.Sprintf("the answer carries %d bytes (byte count %d) instead of %d", len(pdu)-2, pdu[1], want)
		}
		return ""
	}
	want := append([]byte{byte(r.fn)}, r.pdu().Data...)
	want = want[:r.answerLen()]
	if string(want) != string(pdu) {
		return fmt.Sprintf("the answer % X does not repeat the request % X", pdu, want)
	}
	return ""
}

// identificationLen is the length of a read device identification PDU, found by
// walking its objects; ok is false as long as there is not enough of it.
func identificationLen(pdu []byte) (n int, ok bool) {
	if len(pdu) < 7 {
		return 0, false
	}
	n = 7
	for range pdu[6] {
		if len(pdu) < n+2 {
			return 0, false
		}
		n += 2 + int(pdu[n+1])
	}
	return n, len(pdu) >= n
}

func identification(data []byte) []string {
	var objects []string
	for rest := data[6:]; len(rest) >= 2 && len(rest) >= 2+int(rest[1]); rest = rest[2+int(rest[1]):] {
		objects = append(objects, printable(rest[2:2+int(rest[1])]))
	}
	return objects
}

func printable(b []byte) string {
	text := make([]byte, 0, len(b))
	for _, c := range b {
		if c >= ' ' && c < 0x7F {
			text = append(text, c)
		}
	}
	return string(text)
}
