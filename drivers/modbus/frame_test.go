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

// An error names each coil or register that was asked for, or that was to be written.
func TestRequestsSayWhatTheyAsk(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]request{
		"read holding registers 7–9": {fn: readHolding, addr: 7, qty: 3},
		"read coils 7":               {fn: readCoils, addr: 7, qty: 1},
		"write coil 4":               {fn: writeCoil, addr: 4, bits: []bool{true}},
		"write coils 4–12":           {fn: writeCoils, addr: 4, bits: make([]bool, 9)},
		"write register 4":           {fn: writeRegister, addr: 4, values: []uint16{1}},
		"write registers 4–5":        {fn: writeRegisters, addr: 4, values: make([]uint16, 2)},
		"mask write register 4":      {fn: maskWrite, addr: 4, values: make([]uint16, 2)},
		"read device identification": {fn: readDeviceID, qty: 3},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
