package buildroot

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svc.internal/controller/drivers/drivertest"
)

// box is the appliance's own scripts in a folder, with a model of bootloader, RAUC and daemon around them. Every command that
// they call is a step at which the power may fail.
type box struct {
	sandbox
}

const oldVersion, newVersion = "1.4.0", "1.5.0"

// newBox has the old version in slot A, and loses its power at a step; 0: never. A version in broken hears no device.
func newBox(t *testing.T, cut int, migrates, broken bool) *box {
	t.Helper()
	b := &box{newSandbox(t)}
	for _, d := range []string{"bin", "etc/rauc", "proc", "run", "var/lib/appliance", "var/lib/controllerd", "forms"} {
		if err := os.MkdirAll(filepath.Join(b.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put("env", "BOOT_ORDER='A B' BOOT_A_LEFT=3 BOOT_B_LEFT=3\n")
	b.put("slot-A", oldVersion+"\n")
	b.put("steps", "0\n")
	b.put("cut", fmt.Sprintln(cut))
	b.put("forms/"+oldVersion, "1\n")
	b.put("forms/"+newVersion, "1\n")
	if migrates {
		b.put("forms/"+newVersion, "2\n")
	}
	if broken {
		b.put("broken", newVersion+"\n")
	}
	b.put("var/lib/controllerd/data", "1\n")
	b.put("bundle", "of the version in the file bundle-version")
	b.put("bundle-version", newVersion+"\n")
	b.put("etc/os-release", "VERSION_ID="+oldVersion+"\n")
	b.put("proc/cmdline", "rauc.slot=A\n")
	b.put("serving", "")
	for _, path := range []string{"usr/bin/appliance", "usr/lib/appliance/gate", "usr/lib/appliance/return", "etc/rauc/system.conf.in"} {
		to := "bin/" + filepath.Base(path)
		if filepath.Ext(path) == ".in" {
			to = "etc/rauc/system.conf"
		}
		b.script(path, to, "/var/lib/", b.dir+"/var/lib/", "/run/appliance", b.dir+"/run/appliance", "/etc/", b.dir+"/etc/",
			"/proc/cmdline", b.dir+"/proc/cmdline", "@BOARD@", "test")
	}
	model, err := filepath.Abs("testdata/model")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rauc", "controllerd", "su", "systemctl", "fw_printenv", "sync", "mv", "rm", "cp", "chown", "sleep"} {
		if err := os.Symlink(model, filepath.Join(b.dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *box) read(path string) string {
	return strings.TrimSpace(b.sandbox.read(path))
}

func (b *box) is(path string) bool {
	_, err := os.Stat(filepath.Join(b.dir, path))
	return err == nil
}

// run runs one of the scripts and reports whether the power stayed on.
func (b *box) run(name string, args ...string) (said string, on bool) {
	b.t.Helper()
	c := b.command("bin/"+name, args...)
	c.Env = append(c.Env, "BOX="+b.dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return string(out), false
	}
	return string(out), true
}

// settle starts the box until it stays on, and returns the version that runs; "" where its daemon cannot read the data.
func (b *box) settle() string {
	b.t.Helper()
	for range 12 {
		for _, path := range []string{"run/appliance", "rebooting", "serving", "waits"} {
			if err := os.RemoveAll(filepath.Join(b.dir, path)); err != nil {
				b.t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(b.dir, "run/appliance"), 0o755); err != nil {
			b.t.Fatal(err)
		}
		version := b.start()
		if b.is("var/lib/appliance/update/pending") || b.is("var/lib/appliance/back") {
			if out, on := b.run("return"); !on {
				continue
			} else if strings.Contains(out, "not found") {
				b.t.Fatal(out)
			}
		}
		reads := b.read("var/lib/controllerd/data") <= b.read("forms/"+version)
		if reads {
			b.put("var/lib/controllerd/data", b.read("forms/"+version)+"\n")
			b.put("serving", "")
		}
		if _, on := b.run("gate"); !reads && b.is("waits") {
			return ""
		} else if on && !b.is("rebooting") {
			return version
		}
	}
	b.t.Fatal("it starts again and again")
	return ""
}

// start is what boot.cmd does: the slot that has tries left, first in the order first.
func (b *box) start() (version string) {
	b.t.Helper()
	var order string
	var a, second int
	if _, err := fmt.Sscanf(strings.ReplaceAll(b.read("env"), "'", `"`), "BOOT_ORDER=%q BOOT_A_LEFT=%d BOOT_B_LEFT=%d", &order, &a, &second); err != nil {
		b.t.Fatal(err)
	}
	left := map[string]int{"A": a, "B": second}
	for _, slot := range strings.Fields(order) {
		if left[slot] == 0 {
			continue
		}
		left[slot]--
		b.put("env", fmt.Sprintf("BOOT_ORDER='%s' BOOT_A_LEFT=%d BOOT_B_LEFT=%d\n", order, left["A"], left["B"]))
		b.put("proc/cmdline", "quiet rauc.slot="+slot+" ro\n")
		version = b.read("slot-" + slot)
		break
	}
	b.put("etc/os-release", "VERSION_ID="+version+"\n")
	return version
}

// TestPowerFailsAtEveryStepOfAnUpdate takes the power away once at each command that the scripts call. A system that the health
// gate would undo never stays, whoever comes out serves, and an update can be tried again.
func TestPowerFailsAtEveryStepOfAnUpdate(t *testing.T) {
	drivertest.Long(t)
	t.Parallel()
	for _, broken := range []bool{false, true} {
		t.Run(fmt.Sprintf("broken=%v", broken), func(t *testing.T) {
			t.Parallel()
			cut := 1
			for ; cutOnce(t, cut, broken); cut++ {
				if t.Failed() {
					return
				}
			}
			t.Logf("%d steps", cut-1)
			if cut < 20 {
				t.Errorf("an update takes %d steps only: does the model still see the scripts' commands?", cut)
			}
		})
	}
}

// cutOnce reports whether there was such a step.
func cutOnce(t *testing.T, cut int, broken bool) bool {
	t.Helper()
	b := newBox(t, cut, true, broken)
	bundle := filepath.Join(b.dir, "bundle")
	said, _ := b.run("appliance", "install", bundle)
	got := b.settle()
	was := b.is("failed")
	switch {
	case got == "":
		t.Errorf("cut at step %d: the system that runs cannot read the data\n%s", cut, said)
	case broken && got != oldVersion:
		t.Errorf("cut at step %d: a system that the gate would undo stays", cut)
	case !broken && !was && got != newVersion:
		t.Errorf("without a cut %s runs after the update\n%s", got, said)
	case b.is("var/lib/appliance/update/pending"):
		t.Errorf("cut at step %d: the update never ends", cut)
	case !broken && got == oldVersion:
		said, _ = b.run("appliance", "install", bundle)
		if got := b.settle(); got != newVersion {
			t.Errorf("cut at step %d: %q runs after the update was tried again\n%s%s", cut, got, said, b.read("var/lib/appliance/report"))
		}
	}
	return was
}

// Whoever goes back after an update that changed the form of the data gets those from before it, and is told so.
func TestGoingBackTakesTheDataAlong(t *testing.T) {
	t.Parallel()
	b := newBox(t, 0, true, false)
	said, _ := b.run("appliance", "install", filepath.Join(b.dir, "bundle"))
	if got := b.settle(); got != newVersion {
		t.Fatalf("after an update %q runs\n%s", got, said)
	}
	b.run("appliance", "back")
	if got := b.settle(); got != oldVersion {
		t.Errorf("after going back %q runs", got)
	}
	if report := b.read("var/lib/appliance/report"); !strings.Contains(report, "by hand") || !strings.Contains(report, "the data are those from before") {
		t.Errorf("the report says %q", report)
	}
	b.run("appliance", "back")
	if got := b.settle(); got != newVersion {
		t.Errorf("after going forth again %q runs", got)
	}
}

func TestVersionsAreInOrder(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		now, bundle string
		newer       bool
	}{
		{"1.4.0", "1.4.1", true}, {"1.9.0", "1.10.0", true}, {"1.4.0", "1.4.0+3.gabcdef1", true}, {"1.4.0+9.gabcdef1", "1.4.0+12.g0bcdef1", true},
		{"1.4.0+12.gabcdef1", "1.4.1", true}, {"1.5.0-rc1", "1.5.0", true}, {"1.4.0", "1.5.0-rc1", true}, {"0.999+fffffff", "0.1000+0000000", true},
		{"1.4.1", "1.4.0", false}, {"1.5.0", "1.5.0-rc2", false}, {"1.4.0+3.gabcdef1", "1.4.0", false},
	} {
		b := newBox(t, 0, false, false)
		b.put("slot-A", v.now+"\n")
		b.put("etc/os-release", "VERSION_ID="+v.now+"\n")
		b.put("bundle-version", v.bundle)
		b.put("forms/"+v.now, "1\n")
		said, _ := b.run("appliance", "install", filepath.Join(b.dir, "bundle"))
		if got := strings.Contains(said, "is installed beside"); got != v.newer {
			t.Errorf("%s over %s: %s", v.bundle, v.now, said)
		}
	}
}

// A daemon that does not run may be what an update is to mend.
func TestUpdateOfADaemonThatDoesNotRun(t *testing.T) {
	t.Parallel()
	b := newBox(t, 0, false, false)
	if err := os.Remove(filepath.Join(b.dir, "serving")); err != nil {
		t.Fatal(err)
	}
	said, _ := b.run("appliance", "install", filepath.Join(b.dir, "bundle"))
	if got := b.settle(); got != newVersion {
		t.Errorf("%q runs\n%s", got, said)
	}
}
