package buildroot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCardsFileIsWipedOnceItIsOfNoUse runs the script on a folder in place of a mounted card, with a daemon that says how it was.
func TestCardsFileIsWipedOnceItIsOfNoUse(t *testing.T) {
	t.Parallel()
	const file = "hostname=annex\nplatform-code=ABCDE-FGHIJ\n"
	for _, c := range []struct {
		name, code, says, result string
		stays                    bool
	}{
		{"taken over", "0", "hostname: annex", "was taken over, and is overwritten and removed.\nhostname: annex", false},
		{"refused", "1", "line 1, hostname: want letters", "line 1, hostname: want letters\ncontroller.txt stays: mend it", true},
		{"owned", "3", "has an owner already", "has an owner already\ncontroller.txt is overwritten and removed.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := s.dir
			s.script("usr/lib/appliance/card", "card", "/dev/disk/by-partlabel/boot", dir+"/partition", "/run/appliance-card", dir+"/at",
				"/var/lib/controllerd", dir+"/data", "/var/lib/appliance", dir+"/state")
			s.put("partition", "")
			s.put("bin/mount", "#!/bin/sh\necho \"$@\" >>"+dir+"/mounts\n")
			s.put("bin/umount", "#!/bin/sh\necho umount >>"+dir+"/mounts\n")
			s.put("bin/sync", "#!/bin/sh\n")
			s.put("bin/su", "#!/bin/sh\ncat >"+dir+"/heard\necho '"+c.says+"'\nexit "+c.code+"\n")
			s.put("at/controller.txt", file)
			s.put("data/prepared/hostname", "annex\n")
			s.put("data/prepared/clock", "ds3231\n")
			if err := os.Link(filepath.Join(dir, "at/controller.txt"), filepath.Join(dir, "blocks")); err != nil { // what its blocks hold afterwards
				t.Fatal(err)
			}
			run := func() string {
				t.Helper()
				out, err := s.command("card").CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				return string(out)
			}
			if out := run(); strings.Contains(out, "ABCDE") || !strings.Contains(out, c.says) {
				t.Errorf("the console hears\n%s", out)
			}
			if s.read("heard") != file {
				t.Errorf("the daemon was given %q", s.read("heard"))
			}
			if got := s.read("at/controller-result.txt"); !strings.Contains(got, c.result) {
				t.Errorf("controller-result.txt: %q, want %q", got, c.result)
			}
			want, blocks := "", strings.Repeat("\x00", len(file))
			if c.stays {
				want, blocks = file, file
			}
			if s.read("at/controller.txt") != want || s.read("blocks") != blocks {
				t.Errorf("controller.txt is %q in blocks that hold %q, want %q in %q", s.read("at/controller.txt"), s.read("blocks"), want, blocks)
			}
			named, clock := "", ""
			if c.code == "0" {
				named, clock = "annex\n", "ds3231\n"
			}
			if got := s.read("state/hostname") + s.read("state/clock"); got != named+clock {
				t.Errorf("the box's name and clock are %q, want %q", got, named+clock)
			}
			if got := s.read("mounts"); !strings.HasPrefix(got, "-t vfat -o ro,") || !strings.HasSuffix(got, "umount\n") {
				t.Errorf("mounts: %q", got)
			}
			if c.stays {
				return
			}
			if run(); strings.Contains(s.read("mounts")[strings.Index(s.read("mounts"), "umount"):], "rw") {
				t.Errorf("a card without the file is written to: %q", s.read("mounts"))
			}
		})
	}
}
