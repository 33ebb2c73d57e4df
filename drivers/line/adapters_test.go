package line

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.internal/controller/drivers/line/pty"
)

// What is plugged in is listed by the name that stays; what is no serial port is not.
func TestAdaptersAreThoseThatAreThere(t *testing.T) {
	t.Parallel()
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	root := t.TempDir()
	byID := filepath.Join(root, "serial/by-id")
	if got := Adapters(root); len(got) != 0 {
		t.Fatalf("nothing is there, and listed are %+v", got)
	}
	if err := os.MkdirAll(byID, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(byID, "usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0")
	for name, to := range map[string]string{link: p.SlavePath(), filepath.Join(byID, "usb-gone-if00"): "/dev/ttyUSB99", filepath.Join(byID, "usb-null"): "/dev/null"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	got := Adapters(root)
	if want := (Adapter{link, p.SlavePath(), "FTDI FT232R USB UART A50285BI"}); len(got) != 1 || got[0] != want {
		t.Errorf("listed are %+v, want %+v", got, want)
	}
	if DeviceOf(link) != p.SlavePath() || DeviceOf("tcp://10.0.0.1:502") != "tcp://10.0.0.1:502" {
		t.Errorf("%s leads to %s", link, DeviceOf(link))
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	pins := filepath.Join(root, "rs485-pins")
	if err := os.Symlink(p.SlavePath(), pins); err != nil {
		t.Fatal(err)
	}
	if got, want := Adapters(root), (Adapter{pins, p.SlavePath(), "RS-485 on the board's pins"}); len(got) != 1 || got[0] != want {
		t.Errorf("listed are %+v, want %+v", got, want)
	}
	if err := os.Remove(pins); err != nil {
		t.Fatal(err)
	}
	if got := Adapters(root); len(got) != 0 {
		t.Errorf("unplugged, and listed are %+v", got)
	}
}

// A board's own ports count if there is a chip behind them and no console on them.
func TestHardwareIsWhatTheKernelFound(t *testing.T) {
	t.Parallel()
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	class, root := t.TempDir(), t.TempDir()
	add := func(name, kind string, device bool) {
		t.Helper()
		at := filepath.Join(class, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if device {
			if err := os.Mkdir(filepath.Join(at, "device"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if kind != "" {
			if err := os.WriteFile(filepath.Join(at, "type"), []byte(kind+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(p.SlavePath(), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	add("ttyS0", "4", true) // the console
	add("ttyS1", "0", true) // no chip
	add("tty7", "", false)  // a screen
	add("console", "", false)
	if err := os.WriteFile(filepath.Join(class, "console/active"), []byte("tty0 ttyS0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := hardware(class, root); len(got) != 0 {
		t.Errorf("listed are %q", got)
	}
	add("ttyAMA1", "32", true)
	add("ttyUSB0", "", true)
	if got := hardware(class, root); len(got) != 2 {
		t.Errorf("listed are %q, want the board's own and the adapter", got)
	}
}

// A port that has a name of its own and hardware behind it is one, by that name.
func TestAPortIsListedOnce(t *testing.T) {
	t.Parallel()
	named, bare := newPty(t), newPty(t)
	class, root := t.TempDir(), t.TempDir()
	byID := filepath.Join(root, "serial/by-id")
	for _, dir := range []string{byID, filepath.Join(class, "ttyUSB0/device"), filepath.Join(class, "ttyUSB1/device")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{filepath.Join(byID, "usb-Z"): named, filepath.Join(root, "ttyUSB0"): named, filepath.Join(root, "ttyUSB1"): bare} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	want := []Adapter{{bare, bare, filepath.Base(bare)}, {filepath.Join(byID, "usb-Z"), named, "Z"}}
	slices.SortFunc(want, func(a, b Adapter) int { return strings.Compare(a.Name, b.Name) })
	if got := adapters(class, root); !slices.Equal(got, want) {
		t.Errorf("listed are %+v, want %+v", got, want)
	}
}

func newPty(t *testing.T) string {
	t.Helper()
	p, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p.SlavePath()
}

// A port is a terminal, or may be one that is plugged in later; what is something else is refused before it is opened.
func TestWhatMayBeAPort(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for port, ok := range map[string]bool{newPty(t): true, "/dev/ttyUSB99": true, "ttyUSB0": false, "/dev/null": false, file: false, "/dev/": false, file + "/below": false} {
		if err := CheckPort(port); (err == nil) != ok {
			t.Errorf("%s: %v", port, err)
		}
	}
}

// A request waits as long as it says, or longer if that holds when its turn has come.
func TestHowLongARequestWaits(t *testing.T) {
	for _, tc := range []struct{ says, holds, waits time.Duration }{{5, 3, 5}, {5, 9, 9}} {
		r := Request{Timeout: tc.says, Patience: func() time.Duration { return tc.holds }}
		if got := r.patient().Timeout; got != tc.waits {
			t.Errorf("%v, and %v when the turn came: waits %v", tc.says, tc.holds, got)
		}
	}
	if got := (Request{Timeout: 5}).patient().Timeout; got != 5 {
		t.Errorf("waits %v", got)
	}
}
