package dmx

import (
	"bytes"
	"fmt"
)

// The bytes around a widget frame, and its bounds.
const (
	frameStart   = 0x7E
	frameEnd     = 0xE7
	frameAround  = 5 // start, label, length (2), end
	maxFrameData = 600

	// UniverseSlots is how many slots a universe has.
	UniverseSlots = 512
	// minSlots is the shortest universe that label 6 takes.
	minSlots = 24
)

// label says what a widget frame means.
type label byte

// The labels used here (ENTTEC "DMX USB Pro Widget API 1.44"; 11 and 12 belong to
// its RDM firmware).
const (
	labelParameters   label = 3  // → empty configuration request ← firmware, break, mark, rate
	labelSetParameter label = 4  // →
	labelReceived     label = 5  // ← status, then what came on the wire
	labelOutput       label = 6  // → start code, slots
	labelSendRDM      label = 7  // → RDM packet
	labelReceiveMode  label = 8  // →
	labelChange       label = 9  // ←
	labelSerial       label = 10 // → nothing ← 4 bytes BCD, lowest first
	labelDiscovery    label = 11 // → RDM discovery packet
	labelRDMTimeout   label = 12 // ← nothing
	labelHardware     label = 14 // → nothing: Mk2 only
	labelManufacturer label = 77 // extension of other makers
	labelDeviceName   label = 78
)

var labelNames = map[label]string{
	labelParameters: "widget parameters", labelSetParameter: "set widget parameters",
	labelReceived: "received packet", labelOutput: "send DMX", labelSendRDM: "send RDM packet",
	labelReceiveMode: "receive mode", labelChange: "change of state", labelSerial: "widget serial number",
	labelDiscovery: "send RDM discovery", labelRDMTimeout: "RDM time-out",
	labelHardware: "hardware version", labelManufacturer: "manufacturer", labelDeviceName: "device name",
}

// String names a label as the manual does.
func (l label) String() string {
	if name := labelNames[l]; name != "" {
		return name
	}
	return fmt.Sprintf("label %d", byte(l))
}

// widgetFrame is one frame to or from a widget.
type widgetFrame struct {
	label label
	data  []byte // 0 … 600 bytes
}

// encode puts the frame's bytes behind b.
func (f widgetFrame) encode(b []byte) []byte {
	b = append(b, frameStart, byte(f.label), byte(len(f.data)), byte(len(f.data)>>8))
	b = append(b, f.data...)
	return append(b, frameEnd)
}

// cut looks for the first whole frame in b. n bytes are used up: those of the
// frame, or, if ok is false, those that cannot begin one (0: wait for more). A
// start byte whose length is impossible or whose end byte is missing was none, and
// the search goes on behind it. The frame's data is part of b.
func cut(b []byte) (f widgetFrame, n int, ok bool) {
	if len(b) == 0 {
		return f, 0, false
	}
	if b[0] != frameStart {
		if i := bytes.IndexByte(b, frameStart); i > 0 {
			return f, i, false
		}
		return f, len(b), false
	}
	if len(b) < 4 {
		return f, 0, false
	}
	size := int(b[2]) | int(b[3])<<8
	switch {
	case size > maxFrameData:
		return f, 1, false
	case len(b) < size+frameAround:
		return f, 0, false
	case b[size+frameAround-1] != frameEnd:
		return f, 1, false
	}
	return widgetFrame{label(b[1]), b[4 : 4+size]}, size + frameAround, true
}

// parseFrame takes b as exactly one frame and says what is wrong if it is none.
func parseFrame(b []byte) (widgetFrame, error) {
	switch {
	case len(b) < frameAround:
		return widgetFrame{}, fmt.Errorf("%d bytes are too few for a widget frame, which has 5 at least", len(b))
	case b[0] != frameStart:
		return widgetFrame{}, fmt.Errorf("begins with %02X, a widget frame with 7E", b[0])
	}
	size := int(b[2]) | int(b[3])<<8
	switch {
	case size > maxFrameData:
		return widgetFrame{}, fmt.Errorf("length %d, at most %d are allowed", size, maxFrameData)
	case len(b) != size+frameAround:
		return widgetFrame{}, fmt.Errorf("length %d needs a frame of %d bytes, it has %d", size, size+frameAround, len(b))
	case b[len(b)-1] != frameEnd:
		return widgetFrame{}, fmt.Errorf("ends with %02X, a widget frame with E7", b[len(b)-1])
	}
	return widgetFrame{label(b[1]), b[4 : 4+size]}, nil
}

// outputFrame puts a label-6 frame with the given slots behind b, filled up with
// zeros to the 24 that a widget wants at least.
func outputFrame(b []byte, slots []byte) []byte {
	size := 1 + max(len(slots), minSlots)
	b = append(b, frameStart, byte(labelOutput), byte(size), byte(size>>8), 0)
	b = append(b, slots...)
	for n := len(slots); n < minSlots; n++ {
		b = append(b, 0)
	}
	return append(b, frameEnd)
}

// parametersQuery asks for the widget's parameters and none of its user
// configuration. It is the only question that does not stop the output.
var parametersQuery = widgetFrame{labelParameters, []byte{0, 0}}.encode(nil)

// Widget is what a USB Pro says of itself.
type Widget struct {
	// Firmware is the version, high byte first: 1.x sends and receives DMX, 2.x
	// speaks RDM too, 3.x only listens.
	FirmwareHigh byte `json:"firmware_high"`
	FirmwareLow  byte `json:"firmware_low"`
	// Break and MarkAfterBreak in units of 10.67 µs.
	Break          byte `json:"break"`
	MarkAfterBreak byte `json:"mark_after_break"`
	// Rate in packets a second; 0: as fast as possible.
	Rate byte `json:"rate"`
}

// RDM reports whether the firmware can speak RDM.
func (w Widget) RDM() bool { return w.FirmwareHigh == 2 }

// parseWidget reads the data of a label-3 answer.
func parseWidget(data []byte) (Widget, error) {
	if len(data) < 5 {
		return Widget{}, fmt.Errorf("widget parameters of %d bytes, want 5 at least", len(data))
	}
	return Widget{FirmwareLow: data[0], FirmwareHigh: data[1], Break: data[2], MarkAfterBreak: data[3], Rate: data[4]}, nil
}

// parseSerial reads the data of a label-10 answer: 8 decimal digits.
func parseSerial(data []byte) (string, error) {
	if len(data) != 4 {
		return "", fmt.Errorf("serial number of %d bytes, want 4", len(data))
	}
	return fmt.Sprintf("%02X%02X%02X%02X", data[3], data[2], data[1], data[0]), nil
}
