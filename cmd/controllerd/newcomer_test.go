package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"svc.internal/controller/admin/api"
	"svc.internal/controller/site/recording"
)

// TestEmptyListsSayHowToFillThem lists what a new controller does not have.
func TestEmptyListsSayHowToFillThem(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "site: {name: Empty}\nbuses: []\nnodes: []\n")
	fresh := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	fresh.must("site", "import", fresh.write("site.yaml", "site: {name: Empty}\nbuses: []\n"))
	for _, c := range []struct {
		desk *desk
		args []string
		want string
	}{
		{fresh, []string{"user", "list"}, "controllerd user add NAME --role ROLE"},
		{fresh, []string{"key", "list"}, "controllerd key add NAME"},
		{fresh, []string{"bus", "list"}, "controllerd bus scan --port /dev/… --site found.yaml (docs/installing.md, 5)"},
		{h.desk(), []string{"shade", "list"}, "controllerd site import FILE"},
	} {
		out := c.desk.must(c.args...)
		if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, c.want+"\n") {
			t.Errorf("%v: %q, want one line that ends with %q", c.args, out, c.want)
		}
		if got := c.desk.must(append(c.args, "--json")...); strings.TrimSpace(got) != "[]" {
			t.Errorf("%v --json: %q, want []", c.args, got)
		}
	}
}

func TestCommissioningSaysWhereElseAddressesComeFrom(t *testing.T) {
	t.Parallel()
	h := newHouse(t, smallSite)
	for _, args := range [][]string{{"--yes"}, {"--dry-run", "--json"}, nil} {
		s := h.desk().run(append([]string{"bus", "commission", "tcp"}, args...)...)
		if s.code != 1 || s.out != "" || !strings.Contains(s.err, "driver dali") || !strings.Contains(s.err, "unit IDs are set at the device") {
			t.Errorf("%v: exit code %d, %q %q", args, s.code, s.out, s.err)
		}
	}
}

func TestInputThatIsNoFrameFails(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dataDir: filepath.Join(t.TempDir(), "data")}
	const good, damaged = "01 03 00 00 00 02 c4 0b", "01 03 00 00 00 02 c4 0c"
	if s := d.run("bus", "decode", "--protocol", "modbus-rtu", good, damaged); s.code != 0 || strings.Count(s.out, "\n") != 2 {
		t.Errorf("a damaged frame is explained: exit code %d, %q %q", s.code, s.out, s.err)
	}
	s := d.run("bus", "decode", "--protocol", "modbus-rtu", "01 0z", good, "012", "µ")
	lines := strings.Split(strings.TrimSpace(s.out), "\n")
	if s.code != 1 || len(lines) != 4 || !strings.Contains(s.err, "3 of 4 inputs are not frames") || strings.Contains(s.out, "encoding/hex") {
		t.Fatalf("exit code %d, %q %q", s.code, s.out, s.err)
	}
	for i, want := range []string{`{"ok":false,"error":"character 4 is 'z': `, `{"ok":true,`, `{"ok":false,"error":"3 hexadecimal digits: `, `{"ok":false,"error":"character 1 is 'µ': `} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: %s, want %s…", i+1, lines[i], want)
		}
	}
	s = d.typed(good+"\n"+strings.Repeat("00", recording.LongestLine)+"\n", "bus", "decode", "--protocol", "modbus-rtu")
	if s.code != 1 || !strings.Contains(s.err, "line 2 has more than") {
		t.Errorf("an endless line: exit code %d, %q", s.code, s.err)
	}
}

func FuzzHexBytes(f *testing.F) {
	for _, text := range []string{"", "0", "00", "fF0a", "0z", "é1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := recording.HexBytes(text)
		if want, werr := hex.DecodeString(text); (err == nil) != (werr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%q: % x, %v, want % x, %v", text, got, err, want, werr)
		}
	})
}

// endedInput calibrates for somebody whose terminal goes away.
func endedInput(t *testing.T, h *house) {
	d := h.desk()
	if s := d.run("shade", "calibrate", "5002"); s.code != 1 || !strings.Contains(s.err, "input ended before the answer; nothing was moved") {
		t.Errorf("no input: exit code %d, %q", s.code, s.err)
	}
	s := d.typed("y\n", "shade", "calibrate", "5002")
	if s.code != 1 || !strings.Contains(s.err, "standard input ended before the run was over; the shade was stopped") {
		t.Errorf("input that ends: exit code %d, %q", s.code, s.err)
	}
	// It is not only said: who looks now sees it stand, really and in the list.
	if h.truth(relayShade).Moving {
		t.Error("the shade moves")
	}
	var list []api.Shade
	if err := json.Unmarshal([]byte(d.must("shade", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, sh := range list {
		if sh.ID == relayShade && sh.Motion != "stopped" {
			t.Errorf("right after it the shade is %s", sh.Motion)
		}
	}
}
