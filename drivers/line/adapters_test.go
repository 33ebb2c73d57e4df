package line

import (
	"os"
	"path/filepath"
	"testing"

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
