//go:build peers

package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// exposure is the score of "systemd-analyze security" that each unit keeps, 0 to 10; serial ports, a network and the own
// addresses cost what is left.
var exposure = map[string]float64{"controllerd": 1.3, "platformd": 1.1}

func TestUnitsAreSoundAndShut(t *testing.T) {
	for name, most := range exposure {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, kind := range []string{".service", ".socket"} {
				b, err := os.ReadFile(name + kind)
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(root, "etc/systemd/system", name+kind), b, 0o644)
			}
			write(t, filepath.Join(root, "usr/bin", name), []byte("#!/bin/sh\n"), 0o755)
			for _, target := range []string{"sysinit.target", "basic.target", "shutdown.target", "network.target", "time-set.target", "multi-user.target", "sockets.target"} {
				write(t, filepath.Join(root, "etc/systemd/system", target), []byte("[Unit]\nDescription="+target+"\n"), 0o644)
			}
			unit := filepath.Join(root, "etc/systemd/system", name+".service")
			verify := exec.Command("systemd-analyze", "verify", "--man=no", "--root="+root, name+".service", name+".socket")
			if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("systemd-analyze verify: %v\n%s", err, out)
			}
			out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", unit).CombinedOutput()
			if err != nil {
				t.Fatalf("systemd-analyze security: %v\n%s", err, out)
			}
			found := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindSubmatch(out)
			if found == nil {
				t.Fatalf("no score in:\n%s", out)
			}
			if score, err := strconv.ParseFloat(string(found[1]), 64); err != nil || score > most {
				t.Errorf("exposure is %s, at most %.1f\n%s", found[1], most, out)
			}
		})
	}
}

func write(t *testing.T, path string, b []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, mode); err != nil {
		t.Fatal(err)
	}
}
