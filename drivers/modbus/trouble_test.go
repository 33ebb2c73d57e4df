package modbus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A register that holds more than a percentage can be is shown as 100 %, and told.
func TestPercentAboveHundredIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	profiles := filepath.Join(dir, "profiles")
	if err := os.MkdirAll(profiles, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "name: per-cent\ntitle: T\nsource: S\noutputs:\n  - kind: light\n    level: {at: {table: holding, address: 7}, map: percent}\n"
	if err := os.WriteFile(filepath.Join(profiles, "per-cent.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	end := socketWire(t, "tcp")
	b := newBank()
	b.serve(t, end)
	cfg := busOf(end, nil)
	cfg.DataDir = dir
	cfg.Nodes = append(cfg.Nodes, node(1, "5", "per-cent"))
	d, _ := open(t, cfg)
	for _, c := range []struct {
		word uint16
		want string
	}{{100, ""}, {180, "holding 7 holds 180"}, {99, ""}} {
		b.set(5, point{holdings, 7}, c.word)
		pollAll(t, d)
		if got := d.Troubles()["5"]; (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d: said %q, want %q", c.word, got, c.want)
		}
	}
}
