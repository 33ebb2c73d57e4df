package buildroot

import (
	"strings"
	"testing"
)

// TestClockThatControllerTxtNames runs the script on a folder in place of the kernel's bus: what it tells the kernel, and what the journal.
func TestClockThatControllerTxtNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, answersAt, told, forgot, says string }{
		{"ds3231", "1-0068", "ds3231 0x68\n", "", "clock: ds3231 on the pins, 2031-06-01 12:00:00 UTC\n"},
		{"pcf8563", "1-0051", "pcf8563 0x51\n", "", "clock: pcf8563 on the pins, 2031-06-01 12:00:00 UTC\n"},
		{"pcf8523", "", "pcf8523 0x68\n", "0x68\n", "clock: no pcf8523 answers on the pins\n"},
		{"sundial", "", "", "", "clock: sundial is none that a box knows\n"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.script("usr/lib/appliance/clock", "clock", "/var/lib/appliance/clock", s.dir+"/kind", "/sys/bus/i2c/devices", s.dir+"/bus")
			s.put("kind", c.kind+"\n")
			s.put("bus/i2c-1/new_device", "")
			s.put("bus/i2c-1/delete_device", "")
			s.put("date", "2031-06-01\n")
			s.put("time", "12:00:00\n")
			// Its driver comes while the script waits.
			s.put("bin/usleep", "#!/bin/sh\n[ -z '"+c.answersAt+"' ] || { mkdir -p "+s.dir+"/bus/"+c.answersAt+"/rtc/rtc0 && cp "+s.dir+"/date "+s.dir+"/time "+s.dir+"/bus/"+c.answersAt+"/rtc/rtc0; }\n")
			out, err := s.command("clock", "i2c-1").CombinedOutput()
			if string(out) != c.says || (err == nil) != strings.Contains(c.says, "UTC") {
				t.Errorf("%v, it says %q, want %q", err, out, c.says)
			}
			if told, forgot := s.read("bus/i2c-1/new_device"), s.read("bus/i2c-1/delete_device"); told != c.told || forgot != c.forgot {
				t.Errorf("the kernel is told %q and %q, want %q and %q", told, forgot, c.told, c.forgot)
			}
		})
	}
}
