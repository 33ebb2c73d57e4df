package dmxsim

import "slices"

// Responder is an RDM device on the line.
type Responder struct {
	UID       uint64 // 48 bits
	Start     int    // DMX start address
	Footprint int
	Model     uint16
	Label     string

	Silent     bool // hears DMX, answers no RDM
	NeverMutes bool // confirms a mute and goes on answering
	Damaged    bool // its answers have a wrong checksum
	ReadOnly   bool // refuses every SET (NACK: write protected)
}

// responder is a responder and its state.
type responder struct {
	Responder
	muted    bool
	identify bool
	place    int  // its start slot at the beginning
	second   bool // the second fixture there
}

func newResponder(r Responder) *responder { return &responder{Responder: r, place: r.Start} }

// ResponderState is what an RDM device is like now.
type ResponderState struct {
	Responder
	Muted, Identifying bool
}

// Responders returns the RDM devices as they are.
func (w *Widget) Responders() []ResponderState {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []ResponderState
	for _, r := range w.responders {
		list = append(list, ResponderState{r.Responder, r.muted, r.identify})
	}
	return list
}

// SetResponders replaces the RDM devices; none of the new ones is muted.
func (w *Widget) SetResponders(list []Responder) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.responders = nil
	for _, r := range list {
		w.responders = append(w.responders, newResponder(r))
	}
}

const everybody = 0xffffffffffff

// request is an RDM packet taken apart.
type request struct {
	to, from  uint64
	number    byte
	subDevice [2]byte
	class     byte
	parameter int
	data      []byte
}

// open takes an RDM packet apart; ok is false for anything a device would ignore.
func open(b []byte) (q request, ok bool) {
	if len(b) < 26 || b[0] != 0xcc || b[1] != 1 || int(b[2])+2 != len(b) || int(b[23])+24 != int(b[2]) {
		return q, false
	}
	total := 0
	for _, v := range b[:len(b)-2] {
		total += int(v)
	}
	if total%65536 != int(b[len(b)-2])*256+int(b[len(b)-1]) {
		return q, false
	}
	q = request{
		to: number(b[3:9]), from: number(b[9:15]), number: b[15], subDevice: [2]byte{b[18], b[19]},
		class: b[20], parameter: int(b[21])*256 + int(b[22]), data: b[24 : len(b)-2],
	}
	return q, true
}

func number(b []byte) (n uint64) {
	for _, v := range b {
		n = n*256 + uint64(v)
	}
	return n
}

func digits(n uint64) []byte {
	out := make([]byte, 6)
	for i := range out {
		out[5-i] = byte(n)
		n /= 256
	}
	return out
}

// rdm passes a packet on to the line and returns what the widget reports.
func (w *Widget) rdm(data []byte) [][]byte {
	nobody := [][]byte{wrap(12)}
	q, ok := open(data)
	if !ok {
		return nobody
	}
	if q.class == 0x10 && q.parameter == 1 && len(q.data) == 12 {
		heard := w.branch(number(q.data[:6]), number(q.data[6:]))
		if heard == nil {
			return nobody
		}
		out := [][]byte{wrap(5, append([]byte{0}, heard...)...)}
		if !w.config.QuietAfterDiscovery {
			out = append(out, wrap(12))
		}
		return out
	}
	var answer []byte
	for _, r := range w.responders {
		if r.Silent || q.to != everybody && q.to != r.UID {
			continue
		}
		a := r.obey(q)
		if q.to == r.UID && a != nil {
			if r.Damaged {
				a[len(a)-1] ^= 0x5a
			}
			answer = mix(answer, a)
		}
	}
	if answer == nil {
		return nobody
	}
	return [][]byte{wrap(5, append([]byte{0}, answer...)...)}
}

// branch is what the line carries when all unmuted devices of a range speak.
func (w *Widget) branch(low, high uint64) []byte {
	var heard []byte
	for _, r := range w.responders {
		if r.Silent || r.muted && !r.NeverMutes || r.UID < low || r.UID > high {
			continue
		}
		code := []byte{0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xaa}
		total := 0
		for _, b := range digits(r.UID) {
			code = append(code, b|0xaa, b|0x55)
			total += int(b|0xaa) + int(b|0x55)
		}
		for _, b := range []byte{byte(total / 256), byte(total)} {
			code = append(code, b|0xaa, b|0x55)
		}
		heard = mix(heard, code)
	}
	return heard
}

// mix is what is heard when two speak at once.
func mix(a, b []byte) []byte {
	if a == nil {
		return b
	}
	out := slices.Clone(a)
	for i := range out {
		if i < len(b) {
			out[i] |= b[i]
		}
	}
	return out
}

// obey carries out a request and returns the answer packet; nil: none is due.
func (r *responder) obey(q request) []byte {
	const (
		get = 0x20
		set = 0x30
	)
	if q.class == 0x10 {
		if q.parameter != 2 && q.parameter != 3 {
			return nil
		}
		r.muted = q.parameter == 2
		return r.answer(q, 0, 0, 0)
	}
	if q.class == set && r.ReadOnly {
		return r.answer(q, 2, 0, 4)
	}
	switch {
	case q.parameter == 0x0060 && q.class == get:
		return r.answer(q, 0,
			1, 0, byte(r.Model>>8), byte(r.Model), 1, 1, 0, 0, 0, 1, // protocol, model, category, software
			byte(r.Footprint>>8), byte(r.Footprint), 1, 1, byte(r.Start>>8), byte(r.Start), 0, 0, 0)
	case q.parameter == 0x00f0 && q.class == get:
		return r.answer(q, 0, byte(r.Start>>8), byte(r.Start))
	case q.parameter == 0x00f0 && q.class == set:
		if len(q.data) != 2 {
			return r.answer(q, 2, 0, 1)
		}
		start := int(q.data[0])*256 + int(q.data[1])
		if start < 1 || start > 512 {
			return r.answer(q, 2, 0, 6)
		}
		r.Start = start
		return r.answer(q, 0)
	case q.parameter == 0x1000 && q.class == get:
		if r.identify {
			return r.answer(q, 0, 1)
		}
		return r.answer(q, 0, 0)
	case q.parameter == 0x1000 && q.class == set && len(q.data) == 1:
		r.identify = q.data[0] == 1
		return r.answer(q, 0)
	case q.parameter == 0x0082 && q.class == get:
		return r.answer(q, 0, []byte(r.Label)...)
	case q.parameter == 0x0082 && q.class == set && len(q.data) <= 32:
		r.Label = string(q.data)
		return r.answer(q, 0)
	case q.parameter == 0x00c0 && q.class == get:
		return r.answer(q, 0, []byte("simulated 1.0")...)
	case q.parameter == 0x0050 && q.class == get:
		return r.answer(q, 0, 0x00, 0x82, 0x00, 0xc0)
	}
	return r.answer(q, 2, 0, 0) // NACK: unknown parameter
}

// answer packs an answer of the given type.
func (r *responder) answer(q request, kind byte, data ...byte) []byte {
	b := []byte{0xcc, 1, byte(24 + len(data))}
	b = append(b, digits(q.from)...)
	b = append(b, digits(r.UID)...)
	b = append(b, q.number, kind, 0, q.subDevice[0], q.subDevice[1], q.class+1, byte(q.parameter/256), byte(q.parameter), byte(len(data)))
	b = append(b, data...)
	total := 0
	for _, v := range b {
		total += int(v)
	}
	return append(b, byte(total/256), byte(total))
}
