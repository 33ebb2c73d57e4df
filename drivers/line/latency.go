package line

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lowLatency asks a USB adapter to hand bytes on after 1 ms. Adapters with an
// FTDI chip keep them back for 16 ms otherwise, which makes every exchange that
// much longer. Others have no such setting, and need none.
func lowLatency(sysRoot, device string) error {
	real, err := filepath.EvalSymlinks(device)
	if err != nil {
		return nil
	}
	timer := filepath.Join(sysRoot, "class/tty", filepath.Base(real), "device/latency_timer")
	err = os.WriteFile(timer, []byte("1"), 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("set %s to 1 ms: %w; a udev rule may do it instead", timer, err)
}
