package sim

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A Modbus TCP frame (Messaging on TCP/IP V1.0b, clause 3.1.3):
//
//	transaction (2) │ protocol 0000 (2) │ length (2: unit + PDU) │ unit (1) │ PDU
const (
	mbapHeader = 7
	maxMBAPLen = 254
)

// mbap is one Modbus TCP frame.
type mbap struct {
	transaction uint16
	unit        byte
	pdu         []byte
}

// readMBAP reads one frame. An error that is not from the reader means that the
// stream cannot be followed any more.
func readMBAP(r io.Reader) (mbap, error) {
	var head [mbapHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return mbap{}, err
	}
	if p := be(head[2:]); p != 0 {
		return mbap{}, fmt.Errorf("protocol id %d, want 0", p)
	}
	length := int(be(head[4:]))
	if length < 2 || length > maxMBAPLen {
		return mbap{}, fmt.Errorf("length field %d, want 2 to %d", length, maxMBAPLen)
	}
	f := mbap{transaction: be(head[:]), unit: head[6], pdu: make([]byte, length-1)}
	if _, err := io.ReadFull(r, f.pdu); err != nil {
		return mbap{}, err
	}
	return f, nil
}

// bytes packs f.
func (f mbap) bytes() []byte {
	out := make([]byte, 0, mbapHeader+len(f.pdu))
	out = binary.BigEndian.AppendUint16(out, f.transaction)
	out = append(out, 0, 0)
	out = binary.BigEndian.AppendUint16(out, uint16(len(f.pdu)+1))
	out = append(out, f.unit)
	return append(out, f.pdu...)
}
