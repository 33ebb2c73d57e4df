package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// job does a job of a bus and returns what it told.
func (d *desk) job(args ...string) (rows []map[string]any) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.must(append([]string{"bus", "service", "--json"}, args...)...)), &rows); err != nil {
		d.t.Fatal(err)
	}
	return rows
}

func TestMotorsAreServedByTheCommandLine(t *testing.T) {
	t.Parallel()
	virtually(t, recordedSite, func(t *testing.T, h *house) {
		d := h.desk()
		const motor = "address=06.1A.2B"
		h.part("jobs are listed", func() {
			out := d.must("bus", "service", "shades")
			for _, want := range []string{"label: ", "lock: ", "unlock: ", "text=…", "(required)"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
			if out := d.must("bus", "service", "tcp"); !strings.Contains(out, "no jobs") {
				t.Error(out)
			}
		})
		h.part("what a motor tells", func() {
			rows := d.job("shades", "motor", motor)
			if len(rows) != 1 || rows[0]["limits_set"] != true || rows[0]["position_percent_open"] == nil || rows[0]["status"] == nil {
				t.Errorf("%v", rows)
			}
		})
		h.part("its label", func() {
			if rows := d.job("shades", "label", motor, "text=Board room 1"); len(rows) != 1 || rows[0]["label"] != "Board room 1" {
				t.Errorf("written: %v", rows)
			}
			if rows := d.job("shades", "label", motor); len(rows) != 1 || rows[0]["label"] != "Board room 1" {
				t.Errorf("read: %v", rows)
			}
			if s := d.run("bus", "service", "shades", "label", motor, "text=much too long a label"); s.code != 1 || !strings.Contains(s.err, "16") {
				t.Errorf("exit code %d: %s", s.code, s.err)
			}
		})
		h.part("its lock", func() {
			h.t = t
			if rows := d.job("shades", "lock", motor, "priority=20"); rows[0]["locked"] != true {
				t.Errorf("locked: %v", rows)
			}
			if status, message := h.control("shadeControl", `{"targetType":3,"targetId":5001,"command":"DOWN"}`); status != 0 || !strings.Contains(message, "locked") {
				t.Errorf("a locked motor: status %d %q", status, message)
			}
			if s := d.run("bus", "service", "shades", "unlock", motor, "priority=5"); s.code != 1 || !strings.Contains(s.err, "locked") {
				t.Errorf("a lower priority: exit code %d: %s", s.code, s.err)
			}
			if rows := d.job("shades", "unlock", motor, "priority=20"); rows[0]["locked"] != false {
				t.Errorf("unlocked: %v", rows)
			}
		})
		h.part("a jog", func() {
			before := h.orders("shades", 0)
			d.must("bus", "service", "shades", "jog", motor, "direction=down", "pulses=50")
			if after := h.orders("shades", 0); len(after) != len(before)+1 {
				t.Errorf("%d orders, want one", len(after)-len(before))
			}
		})
		h.part("what is wrong", func() {
			for _, c := range []struct {
				args []string
				want string
			}{
				{[]string{"shades", "jog", motor, "direction=left", "pulses=5"}, "want up or down"},
				{[]string{"shades", "jog", motor, "direction=up", "pulses=5000"}, "want 1 to 1000"},
				{[]string{"shades", "motor"}, "input address is missing"},
				{[]string{"shades", "motor", "address=01.01.05"}, "one motor"},
				{[]string{"shades", "motor", "address=06.1A.99"}, "no answer"},
				{[]string{"shades", "intermediate", motor, "number=17"}, "want 1 to 16"},
				{[]string{"tcp", "polish"}, "it has none"},
			} {
				if s := d.run(append([]string{"bus", "service"}, c.args...)...); s.code != 1 || !strings.Contains(s.err, c.want) {
					t.Errorf("%q: exit code %d, %q, want %q", c.args, s.code, s.err, c.want)
				}
			}
			if s := d.run("bus", "service", "shades", "motor", "06.1A.2B"); s.code != 2 {
				t.Errorf("an input without a name: exit code %d", s.code)
			}
		})
	})
}
