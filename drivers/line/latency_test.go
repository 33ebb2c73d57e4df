package line

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLatencyTimerIsSetWhereThereIsOne(t *testing.T) {
	sys, dev := t.TempDir(), t.TempDir()
	dir := filepath.Join(sys, "class/tty/ttyUSB7/device")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	device, link := filepath.Join(dev, "ttyUSB7"), filepath.Join(dev, "by-id")
	if err := os.WriteFile(device, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(device, link); err != nil {
		t.Fatal(err)
	}
	if err := lowLatency(sys, link); err != nil {
		t.Errorf("an adapter without the setting: %v", err)
	}
	timer := filepath.Join(dir, "latency_timer")
	if err := os.WriteFile(timer, []byte("16"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := lowLatency(sys, link); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(timer); string(got) != "1" {
		t.Errorf("latency timer is %q, want 1", got)
	}
}
