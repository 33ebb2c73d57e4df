package sim

import (
	"bytes"
	"testing"
)

func FuzzParseRTU(f *testing.F) {
	f.Add(rtuFrame(1, []byte{fnReadHolding, 0, 0, 0, 1}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		unit, pdu, err := parseRTU(b)
		if err == nil && !bytes.Equal(rtuFrame(unit, pdu), b) {
			t.Errorf("% x taken as unit %d, % x, which is another frame", b, unit, pdu)
		}
		if n := requestLength(b); n > 0 && n < minRTUFrame {
			t.Errorf("request length %d", n)
		}
	})
}

func FuzzReadMBAP(f *testing.F) {
	f.Add(mbap{transaction: 7, unit: 1, pdu: []byte{fnReadHolding, 0, 0, 0, 1}}.bytes())
	f.Add([]byte{0, 1, 0, 0, 0xFF, 0xFF, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := readMBAP(bytes.NewReader(b))
		if err == nil && !bytes.HasPrefix(b, frame.bytes()) {
			t.Errorf("% x taken as %+v", b, frame)
		}
	})
}

// FuzzDevices sends any PDU to one device of every family.
func FuzzDevices(f *testing.F) {
	f.Add(uint8(0), []byte{fnReadHolding, 0, 0, 0, 1})
	f.Add(uint8(3), []byte{fnWriteCoils, 0, 16, 0, 2, 1, 3})
	f.Add(uint8(5), []byte{fnReadWrite, 0, 3, 0, 6, 0, 14, 0, 3, 6, 0, 255, 0, 255, 0, 255})
	f.Fuzz(func(t *testing.T, pick uint8, pdu []byte) {
		if len(pdu) == 0 || len(pdu) > 253 {
			return
		}
		name := Profiles()[int(pick)%len(families)]
		address := "1"
		if families[name].gateway {
			address = "1/3"
		}
		r := newRig(t, newSite(t).tcp("b").node(address, name), Options{})
		out := r.obeyed(pdu)
		if len(out) < 2 || len(out) > 253 || out[0]&^exceptionBit != pdu[0]&^exceptionBit {
			t.Errorf("%s answers % x with % x", name, pdu, out)
		}
	})
}

// obeyed has unit 1 execute any PDU.
func (r *rig) obeyed(pdu []byte) []byte {
	out, _ := r.obey(noon, r.units[1], pdu, trouble{})
	return out
}
