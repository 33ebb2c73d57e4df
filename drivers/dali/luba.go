package dali

import (
	"bytes"
	"fmt"

	"svc.internal/controller/appliance"
)

// luba is Lunatone's LUBA protocol over RS-232, 38400 8N1:
//
//	59 │ command │ length n │ n bytes │ xor of command, length and the bytes
//
// Sending a frame: command 32, bytes: line (00), bits (10 hex), mode (bit 7: send
// twice; low bits: priority, 2 for levels, 5 for the rest), four data bytes, left
// first. Reply 33: two bytes, taken (id), or one, an error code. Then events 31:
// tick (2), line, status, and
//
//	status bits 7–6 = 0: the frame was sent: id, frame
//	status bits 7–6 = 2: received; bits 5–0 = number of bits, 62 stop bits only,
//	                     63 framing error; then the frame
//
// The gateway says nothing when nobody answers. Learned from the public
// python-dali driver; not tried on the device by us.
type luba struct{}

const (
	lubaStart       = 0x59
	lubaLongest     = 24 // payload, as the public driver bounds it
	lubaInfo        = 0x20
	lubaInfoReply   = 0x21
	lubaSettings    = 0x2A
	lubaSettingsSet = 0x2B
	lubaEvent       = 0x31
	lubaSend        = 0x32
	lubaSendReply   = 0x33
)

func (luba) settings() appliance.LineSettings {
	return appliance.LineSettings{BaudRate: 38400, Parity: "none", DataBits: 8, StopBits: 1}
}

func lubaMessage(command byte, payload ...byte) []byte {
	out := append([]byte{lubaStart, command, byte(len(payload))}, payload...)
	return append(out, xor(out[1:]))
}

func xor(b []byte) (x byte) {
	for _, c := range b {
		x ^= c
	}
	return x
}

func (luba) encode(s Send) []byte {
	mode := byte(5)
	if s.Level {
		mode = 2
	}
	if s.Twice {
		mode |= 0x80
	}
	return lubaMessage(lubaSend, 0, 16, mode, s.Frame.AddressByte(), s.Frame.Data(), 0, 0)
}

// setup asks for the events that this driver lives on: sent and received frames,
// with tick and line number; none about the queue or macros.
func (luba) setup() []byte { return lubaMessage(lubaSettings, 0x00, 0x12, 0x00) }

// hello asks for something harmless that every such gateway answers.
func (luba) hello() []byte { return lubaMessage(lubaInfo, 0) }

func (luba) traits() traits { return confirmsTwice | ordered | reports }

func (luba) parse(b []byte) (message, int) {
	if len(b) == 0 {
		return message{}, 0
	}
	if b[0] != lubaStart {
		if i := bytes.IndexByte(b, lubaStart); i > 0 {
			return message{}, i
		}
		return message{}, len(b)
	}
	if len(b) < 3 {
		return message{}, 0
	}
	n := int(b[2])
	if n == 0 || n > lubaLongest {
		return message{}, 1
	}
	if len(b) < n+4 {
		return message{}, 0
	}
	if xor(b[1:n+3]) != b[n+3] {
		return message{}, 1 // the next frame may begin inside this one
	}
	return lubaSays(b[1], b[3:n+3]), n + 4
}

func lubaSays(command byte, p []byte) message {
	switch command {
	case lubaSendReply:
		if len(p) == 1 {
			return message{said: saidRefused, text: fmt.Sprintf("it does not take the frame, error code %d", p[0])}
		}
		return message{said: saidAccepted, value: p[0]}
	case lubaInfoReply:
		return message{said: saidInfo}
	case lubaSettingsSet:
		return message{said: saidSettings}
	case lubaEvent:
		return lubaEventSays(p)
	}
	return message{said: saidOther}
}

func lubaEventSays(p []byte) message {
	if len(p) < 4 {
		return message{said: saidOther}
	}
	status, frame := p[3], p[4:]
	switch bits := int(status & 0x3F); {
	case status>>6 == 0 && len(frame) > 0:
		return withFrame(message{said: saidSent, value: frame[0]}, frame[1:], 8*(len(frame)-1))
	case status>>6 != 2:
		return message{said: saidOther}
	case bits == 62 || bits == 63:
		return message{said: saidGarbled, text: "framing error"}
	case bits == 8 && len(frame) >= 1:
		return message{said: saidAnswer, value: frame[0], bits: 8}
	case bits >= 1 && bits <= 32:
		return withFrame(message{said: saidHeard}, frame, bits)
	}
	return message{said: saidOther}
}

// withFrame adds a forward frame of 16 bits; of others only their length is told.
func withFrame(m message, frame []byte, bits int) message {
	m.bits = bits
	if bits == 16 && len(frame) >= 2 {
		m.frame = NewFrame(frame[0], frame[1])
	}
	return m
}
