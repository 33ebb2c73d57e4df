package modbus

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.internal/controller/appliance"
)

// A register that holds more than a percentage can be is shown as 100 %, and told.
func TestPercentAboveHundredIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// Of three units on a line one talks although it has been answered to, and one answers when
// its time is over: the first is told of, and in the log once; the second is slow.
func TestWhoTalksUnaskedIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := serialWire(t)
		b := newBank()
		for _, u := range []byte{5, 6, 7} {
			for i := range uint16(8) {
				b.set(u, point{coils, i}, 0)
			}
		}
		said := rtuFrame(5, []byte{byte(readCoils), 1, 0})
		end.play(t, false, func(q []byte) []piece {
			answer := piece{bytes: rtuFrame(q[0], b.answer(q[0], q[1:len(q)-2]))}
			switch q[0] {
			case 5: // what it says has the form of its answers
				return []piece{answer, {30 * time.Millisecond, said[:2]}, {2 * time.Millisecond, said[2:]}}
			case 7:
				answer.after = 600 * time.Millisecond
			}
			return []piece{answer}
		})
		var log bytes.Buffer
		cfg := busOf(end, map[string]string{"responseTimeout": "300ms"})
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		for i, u := range []string{"5", "6", "7"} {
			cfg.Nodes = append(cfg.Nodes, node(appliance.ID(i+1), u, "waveshare-relay-8ch"))
		}
		d, _ := open(t, cfg)
		for range 2 * (chance + 1) {
			for _, p := range d.Polls() {
				stray := d.line.Stray()
				if _, err := do(t, p.Exchange); err == nil && p.Device == "7" {
					t.Fatal("unit 7 was in time")
				}
				until(t, "what comes unasked has come", func() bool { return p.Device == "6" || d.line.Stray() > stray })
				until(t, "it is looked at", func() bool { d.Troubles(); return len(d.gossip.piece) == 0 })
			}
		}
		list := d.Troubles()
		if !strings.Contains(list["5"], "talks unasked") || list["6"] != "" || list["7"] != "" {
			t.Errorf("said %q", list)
		}
		if n := strings.Count(log.String(), "talks without being asked"); n != 1 {
			t.Errorf("%d lines of log:\n%s", n, log.String())
		}
		if list := d.gossip.told(d, time.Now().Add(forgiven+time.Minute)); len(list) > 0 {
			t.Errorf("long afterwards: %q", list)
		}
	})
}
