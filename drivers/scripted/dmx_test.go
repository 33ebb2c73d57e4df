package scripted_test

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// widget is a DMX USB Pro (ENTTEC, "DMX USB Pro Widget API 1.44") and what it last sent.
type widget struct {
	mu     sync.Mutex
	slots  [512]byte
	silent bool // it takes nothing and says nothing
	wrote  time.Time
}

func (w *widget) listen(t *testing.T) (port string) {
	return plug(t, func(port io.ReadWriter) { w.serve(port) })
}

// serve takes messages: 7E, label, length (2 bytes, low one first), data, E7.
func (w *widget) serve(port io.ReadWriter) {
	var buf []byte
	chunk := make([]byte, 1024)
	for {
		n, err := port.Read(chunk)
		if err != nil {
			return
		}
		for buf = append(buf, chunk[:n]...); len(buf) >= 5; {
			size := 5 + int(binary.LittleEndian.Uint16(buf[2:]))
			if buf[0] != 0x7E || size > 605 {
				buf = buf[1:]
				continue
			}
			if len(buf) < size {
				break
			}
			answer := w.take(buf[1], buf[4:size-1])
			buf = buf[size:]
			if answer != nil {
				port.Write(answer)
			}
		}
	}
}

func (w *widget) take(label byte, data []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silent {
		return nil
	}
	switch label {
	case 3: // parameters: firmware 1.44, break, mark, rate
		return slices.Concat([]byte{0x7E, 3, 5, 0}, []byte{44, 1, 9, 1, 40}, []byte{0xE7})
	case 6: // send: start code, slots
		was := w.slots
		if copy(w.slots[:], data[1:]); was != w.slots {
			w.wrote = time.Now()
		}
	case 10: // serial number
		return []byte{0x7E, 10, 4, 0, 1, 2, 3, 4, 0xE7}
	}
	return nil
}

// dmxSite is a site of n dimmers on a widget.
func dmxSite(port string, n int) appliance.Site {
	return oneBus(appliance.Bus{Driver: "dmx", Port: port}, n, "dmx-dimmer")
}

// What is sent by a widget that answers counts, and says that nobody can read it; what one
// that does not answer was given, counts for nothing.
func TestWidgetIsTheOnlyWitness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &widget{}
		h := start(t, dmxSite(w.listen(t), 2), 2)
		e := h.dim(2, 100)
		w.mu.Lock()
		if !e.OK() || e.Members[0].Stage != appliance.StageUnverifiable || w.slots[1] != 255 || w.slots[0] != 0 {
			t.Errorf("%q, %+v, slots %v", e.Err, e.Members, w.slots[:3])
		}
		w.silent = true
		w.mu.Unlock()
		if e := h.dim(1, 100); e.OK() {
			t.Errorf("a widget that is not there: %+v", e.Members[0])
		}
	})
}
