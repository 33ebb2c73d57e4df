package drivers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/drivers"
)

// What passes on every bus that can be opened is named in words that have a decoder.
func TestWhatPassesOnABusHasADecoder(t *testing.T) {
	for _, row := range []struct{ driver, port, gateway, want string }{
		{"modbus", "/dev/ttyUSB0", "", "modbus-rtu"}, {"modbus", "rtu+tcp://10.0.0.9:4001", "", "modbus-rtu"}, {"modbus", "tcp://10.0.0.9:502", "", "modbus-tcp"},
		{"dali", "/dev/ttyUSB0", "atx", "dali-atx"}, {"dali", "tcp://10.0.0.9:23", "luba", "dali-luba"}, {"dali", "/dev/ttyUSB0", "sci", "dali-sci"},
		{"dmx", "/dev/ttyUSB0", "", "dmx-pro"}, {"sdn", "/dev/ttyUSB0", "", "sdn"},
	} {
		got := drivers.Protocol(row.driver, row.port, map[string]string{"gateway": row.gateway})
		if got != row.want || drivers.Decoders[got] == nil {
			t.Errorf("%s on %s: %q, want %q, and its decoder", row.driver, row.port, got, row.want)
		}
	}
	for protocol, frame := range map[string]string{ // one that no other of them takes
		"dali": "\x01\x90", "dali-atx": "J7F\n", "dali-luba": "\x00", "dali-sci": "\x00", "dmx-pro": "\x00", "modbus-rtu": "\x01\x06\x00\x00\x00\x01\x48\x0a",
		"modbus-tcp": "\x00\x01\x00\x00\x00\x06\x01\x06\x00\x00\x00\x01", "sdn": "\xBF\xF4\xFF\x80\x80\x80\x00\x00\x00\x04\x32",
	} {
		got, err := drivers.Decoders[protocol]([]byte(frame))
		if (err == nil) == (frame == "\x00") || frame != "\x00" && got == nil {
			t.Errorf("%s: % X is %+v, %v", protocol, frame, got, err)
		}
	}
}

// Whoever starts a controller is told of own profiles that are wrong, of every driver that
// has such.
func TestOwnProfilesThatAreWrongAreTold(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"profiles", filepath.Join("profiles", "dmx")} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, "lamp.yaml"), []byte("what: nonsense\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	told := ""
	drivers.CheckOwnProfiles(dir, func(err error) { told += err.Error() + "\n" })
	for _, folder := range []string{"profiles", filepath.Join("profiles", "dmx")} {
		if !strings.Contains(told, filepath.Join(folder, "lamp.yaml")) {
			t.Errorf("nothing is told of the profile in %s: %s", folder, told)
		}
	}
}
