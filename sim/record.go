package sim

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Bounds of what a bus remembers.
const (
	frameRing = 4096
	writeRing = 32768
)

// Direction of a frame, seen from the controller.
type Direction string

// The directions.
const (
	Request   Direction = "request"
	Answer    Direction = "answer"
	Discarded Direction = "discarded" // bytes that no device could use
	Event     Direction = "event"     // no frame: unplugged, plugged in, connection cut
)

// Frame is a line of a bus's log.
type Frame struct {
	Seq uint64    `json:"seq"` // rises by one per bus
	At  time.Time `json:"at"`  // requests: last byte on the wire; answers: last byte delivered
	// Monotonic is the same on the machine's CLOCK_MONOTONIC, in ns.
	Monotonic int64     `json:"monotonicNs"`
	Bus       string    `json:"bus"`
	Direction Direction `json:"direction"`
	Hex       string    `json:"hex,omitempty"`
	Note      string    `json:"note,omitempty"`
	Changes   []Change  `json:"changes,omitempty"`
}

// Write is a write that a device carried out.
type Write struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"` // when it took effect
	Monotonic int64     `json:"monotonicNs"`
	Bus       string    `json:"bus"`
	Unit      int       `json:"unit"` // Modbus only, else 0
	// Source is "wire", "broadcast" or "wall".
	Source  string   `json:"source"`
	PDU     string   `json:"pdu,omitempty"` // hex, of other buses than Modbus the frame; empty for wall switches
	Changes []Change `json:"changes"`       // empty if everything was so already
}

type frameEntry struct {
	at        time.Time
	direction Direction
	bytes     []byte
	note      string
	changes   []Change
}

type writeEntry struct {
	at      time.Time
	unit    byte
	source  string
	pdu     []byte
	changes []Change
}

// ring keeps the last entries of a log and numbers them from 1. It grows up to
// its bound and then overwrites the oldest.
type ring[T any] struct {
	bound   int
	entries []T
	next    uint64 // entries ever added
}

func (r *ring[T]) add(e T) {
	if len(r.entries) < r.bound {
		r.entries = append(r.entries, e)
	} else {
		r.entries[r.next%uint64(r.bound)] = e
	}
	r.next++
}

// after visits entries numbered above seq, oldest first, the last limit of them.
func (r *ring[T]) after(seq uint64, limit int, visit func(seq uint64, e T)) {
	first := r.next - uint64(len(r.entries)) + 1
	if seq >= first {
		first = seq + 1
	}
	if limit > 0 && r.next >= uint64(limit) && first < r.next-uint64(limit)+1 {
		first = r.next - uint64(limit) + 1
	}
	for n := first; n <= r.next; n++ {
		visit(n, r.entries[(n-1)%uint64(r.bound)])
	}
}

// describe compares what outputs aimed at before and after a write.
func describe(before, after []aim) []Change {
	var out []Change
	for i, a := range after {
		was := before[i]
		if a == was {
			continue
		}
		c := Change{NodeID: a.node, ShadeID: a.shade}
		if a.shade != 0 {
			c.Motion = motionWord(a.motion)
		} else {
			c.Channel = a.channel
			level := a.level
			c.Level = &level
			if a.kelvin != 0 {
				kelvin := a.kelvin
				c.ColorTemp = &kelvin
			}
			if a.colour != was.colour {
				c.RGBW = rgbwText(a.colour)
			}
		}
		out = append(out, c)
	}
	return out
}

func motionWord(d direction) string {
	switch d {
	case opening:
		return "opening"
	case closing:
		return "closing"
	}
	return "stopped"
}

func rgbwText(c [4]uint8) string {
	return fmt.Sprintf("%d:%d:%d:%d", c[0], c[1], c[2], c[3])
}

// log adds a frame; the bytes are copied.
func (b *bus) log(at time.Time, d Direction, frame []byte, note string, changes []Change) {
	b.frameLog.add(frameEntry{at, d, append([]byte(nil), frame...), note, changes})
}

// Log returns the frames of a bus numbered above since, the last limit of them
// (0: all that are kept).
func (bd *Building) Log(busName string, since uint64, limit int) ([]Frame, error) {
	b, err := bd.bus(busName)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect()
	out := []Frame{}
	b.frameLog.after(since, limit, func(seq uint64, e frameEntry) {
		out = append(out, Frame{Seq: seq, At: e.at.Round(0), Monotonic: bd.monotonic(e.at), Bus: b.name,
			Direction: e.direction, Hex: hex.EncodeToString(e.bytes), Note: e.note, Changes: e.changes})
	})
	return out, nil
}

// Writes returns the writes that devices of a bus carried out, numbered above
// since, the last limit of them (0: all that are kept).
func (bd *Building) Writes(busName string, since uint64, limit int) ([]Write, error) {
	b, err := bd.bus(busName)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.collect()
	out := []Write{}
	b.writeLog.after(since, limit, func(seq uint64, e writeEntry) {
		w := Write{Seq: seq, At: e.at.Round(0), Monotonic: bd.monotonic(e.at), Bus: b.name, Unit: int(e.unit),
			Source: e.source, PDU: hex.EncodeToString(e.pdu), Changes: e.changes}
		if w.Changes == nil {
			w.Changes = []Change{}
		}
		out = append(out, w)
	})
	return out, nil
}
