package recording

import (
	"encoding/hex"
	"strings"
	"testing"

	"svc.internal/controller/drivers"
)

func TestBriefTellsAFrameInOneLine(t *testing.T) {
	for _, c := range []struct{ protocol, way, hex, want string }{
		{"modbus-rtu", "sent", "110300000002c69b", "read holding registers request · unit 17 · addr 0 · count 2"},
		{"modbus-rtu", "received", "010404449a5000f35b", "read input registers response · unit 1 · values 17562 20480"},
		{"modbus-rtu", "received", "118102c054", "read coils exception · unit 17 · exception 2 · exception name illegal data address"},
		{"modbus-rtu", "sent", "050600000032099b", "write register · unit 5 · addr 0 · values 50"},
		{"modbus-rtu", "sent", "0005000200006ddb", "write coil request · unit 0 · broadcast · addr 2 · values 0"},
		{"modbus-rtu", "received", "0506", "frame of 2 bytes"},
		{"dali", "sent", "0a80", "DAPC · address short 5 · arg 128"},
		{"dali", "received", "fe", "value 254"},
		{"another", "sent", "00", ""},
	} {
		f := Frame{Protocol: c.protocol, Direction: c.way, Hex: c.hex}
		f.Explain(drivers.Decoders[f.Protocol])
		if got := f.Brief(); got != c.want && !(f.Error != "" && got == f.Error) {
			t.Errorf("%s %s %s: %q, want %q", c.protocol, c.way, c.hex, got, c.want)
		}
	}
}

// A universe with every slot lit is told of in a line all the same.
func TestBriefIsBounded(t *testing.T) {
	data := append([]byte{0x7e, 6, 1, 2, 0}, make([]byte, 512)...)
	for i := range data[5:] {
		data[5+i] = byte(i%254 + 1)
	}
	f := Frame{Protocol: "dmx-pro", Direction: "sent", Hex: hex.EncodeToString(append(data, 0xe7))}
	f.Explain(drivers.Decoders[f.Protocol])
	if got := f.Brief(); f.Error != "" || len(got) > briefMost+5 || !strings.Contains(got, "slots 512") {
		t.Errorf("%s: %d bytes: %q", f.Error, len(got), got)
	}
}
