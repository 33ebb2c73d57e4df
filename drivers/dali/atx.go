package dali

import (
	"bytes"
	"fmt"
	"strconv"

	"svc.internal/controller/appliance"
)

// atx is the serial HAT of ATX LED: ASCII lines at 19200 8N1.
//
//	to the HAT    h 0A80 ⏎   16-bit frame        t 0B63 ⏎   the same, sent twice
//	from the HAT  J FE ⏎     backward frame      N ⏎        nobody answered
//	              X ⏎  Z ⏎   collision or bus error
//
// Each frame is answered by one line, a frame sent twice by two. Learned from the
// public python-dali driver; it shows X to be final and Z to be worth another try,
// and takes either after a search command as a reason to try again. That X after a
// query means several answers at once is our reading of it.
type atx struct{}

func (atx) settings() appliance.LineSettings {
	return appliance.LineSettings{BaudRate: 19200, Parity: "none", DataBits: 8, StopBits: 1}
}

func (atx) encode(s Send) []byte {
	letter := byte('h')
	if s.Twice {
		letter = 't'
	}
	return fmt.Appendf(nil, "%c%04X\n", letter, uint16(s.Frame))
}

func (atx) traits() traits { return confirmsTwice | explicit | unchecked }

// atxLine bounds a line; the longest known has ten characters.
const atxLine = 64

func (atx) parse(b []byte) (message, int) {
	end := bytes.IndexByte(b, '\n')
	switch {
	case end < 0 && len(b) > atxLine:
		return message{}, len(b)
	case end < 0:
		return message{}, 0
	}
	text := string(bytes.TrimRight(b[:end], "\r"))
	m := message{text: text}
	switch {
	case text == "N":
		m.said = saidNone
	case len(text) > 0 && text[0] == 'X':
		m.said = saidGarbled
	case len(text) > 0 && text[0] == 'Z':
		m.said = saidConflict
	case len(text) == 3 && text[0] == 'J':
		v, err := strconv.ParseUint(text[1:], 16, 8)
		if err != nil {
			break
		}
		m.said, m.value, m.bits = saidAnswer, byte(v), 8
	}
	return m, end + 1
}
