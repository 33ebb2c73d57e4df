package dali

import (
	"fmt"

	"svc.internal/controller/appliance"
)

// sci is Lunatone's DALI SCI RS232, 38400 8N1, five bytes either way:
//
//	control │ high │ mid │ low │ xor of the four
//
// Control: bit 7 monitor, 6 identify, 5 echo, 4 send twice, low nibble mode (2: 8
// bits, 3: 16, 8: 24). Status: high nibble the device's id, low nibble 0 ok, 1 no
// answer, 2 an 8-bit frame in low, 3 a 16-bit frame in mid and low, 8 a 24-bit
// frame, 7 an error with its code in low.
//
// Not confirmed: the public python-dali driver sends 16-bit frames in high and mid
// but reads them in mid and low. We send as it sends, and take a received 16-bit
// frame for information only. Compare with the maker's document before relying on
// this gateway.
type sci struct{}

const sciLength = 5

var sciErrors = map[byte]message{
	1: {said: saidRefused, text: "checksum error: the serial line garbles what we send"},
	2: {said: saidFault, text: "the DALI line is short-circuited"},
	3: {said: saidGarbled, text: "receive error"},
	4: {said: saidRefused, text: "it does not know the command"},
	5: {said: saidConflict, text: "collision"},
}

func (sci) settings() appliance.LineSettings {
	return appliance.LineSettings{BaudRate: 38400, Parity: "none", DataBits: 8, StopBits: 1}
}

func (sci) encode(s Send) []byte {
	control := byte(0xA3)
	if s.Twice {
		control |= 0x10
	}
	out := []byte{control, s.Frame.AddressByte(), s.Frame.Data(), 0}
	return append(out, xor(out))
}

func (sci) traits() traits { return reports }

func (sci) parse(b []byte) (message, int) {
	if len(b) < sciLength {
		return message{}, 0
	}
	if xor(b[:4]) != b[4] {
		return message{}, 1
	}
	return sciSays(b), sciLength
}

func sciSays(b []byte) message {
	switch b[0] & 0x0F {
	case 0:
		return message{said: saidSent}
	case 1:
		return message{said: saidNone}
	case 2:
		return message{said: saidAnswer, value: b[3], bits: 8}
	case 3:
		return message{said: saidHeard, frame: NewFrame(b[2], b[3]), bits: 16}
	case 8:
		return message{said: saidHeard, bits: 24}
	case 7:
		if m, ok := sciErrors[b[3]]; ok {
			return m
		}
		return message{said: saidRefused, text: fmt.Sprintf("unknown error code %d", b[3])}
	}
	return message{said: saidOther}
}
