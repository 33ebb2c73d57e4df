package modbus

import "testing"

// Airtime is reckoned from lengths, without packing a frame for it.
func TestRequestLenIsThatOfThePackedRequest(t *testing.T) {
	t.Parallel()
	for _, r := range []request{
		{fn: readCoils, qty: 9}, {fn: readDiscretes, qty: 1}, {fn: readHolding, qty: 3}, {fn: readInput, qty: 125},
		{fn: writeCoil, bits: []bool{true}}, {fn: writeRegister, values: []uint16{7}},
		{fn: writeCoils, bits: make([]bool, 8)}, {fn: writeCoils, bits: make([]bool, 9)},
		{fn: writeRegisters, values: make([]uint16, 4)}, {fn: maskWrite, values: make([]uint16, 2)},
		{fn: readWrite, qty: 2, values: make([]uint16, 3)}, {fn: readDeviceID},
	} {
		if got, want := r.requestLen(), 1+len(r.pdu().Data); got != want {
			t.Errorf("%v: %d bytes reckoned, %d packed", r, got, want)
		}
	}
}
