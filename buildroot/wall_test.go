//go:build image

package buildroot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
)

// wall is what a box on a wall has and QEMU's machine has not by itself: a lamp on the first pin but one of its GPIO, and a USB stick.
type wall struct {
	monitor
	stick string // path of its image
	owner *age.X25519Identity
}

// prepareWall makes the machine's device tree, with the lamp, and the stick, and gives the guest the rules, units and scripts that the
// appliance has for them, for its log and its watchdog.
func prepareWall(t *testing.T, work, guest string) *wall {
	t.Helper()
	w := &wall{stick: filepath.Join(work, "stick")}
	tree := filepath.Join(work, "wall.dtb")
	run(t, "qemu-system-aarch64", "-M", "virt,dumpdtb="+tree, "-cpu", "cortex-a53", "-smp", "2", "-m", "512", "-display", "none")
	gpio, err := exec.Command("fdtget", "-t", "x", tree, "/pl061@9030000", "phandle").Output()
	if err != nil {
		t.Fatal(err)
	}
	run(t, "fdtput", "-c", tree, "/leds", "/leds/led-act")
	run(t, "fdtput", "-t", "s", tree, "/leds", "compatible", "gpio-leds")
	run(t, "fdtput", "-t", "s", tree, "/leds/led-act", "label", "ACT")
	run(t, "fdtput", "-t", "x", tree, "/leds/led-act", "gpios", strings.TrimSpace(string(gpio)), "1", "0")
	run(t, "truncate", "-s", "32M", w.stick)
	run(t, "mkfs.vfat", "-n", "CONTROLLER", w.stick)

	const units, scripts, rules = "usr/lib/systemd/system/", "usr/lib/appliance/", "etc/udev/rules.d/"
	for _, path := range []string{
		rules + "70-serial-names.rules", rules + "75-lamp.rules", rules + "80-usb-stick.rules",
		units + "appliance-lamp@.service", units + "appliance-stick@.service", units + "run-appliance-backup.automount",
		units + "run-appliance-backup.mount", units + "appliance-log.service", units + "controllerd.service.d/appliance.conf",
		scripts + "lamp", scripts + "stick", scripts + "keep-warnings", "usr/bin/appliance",
		"etc/systemd/journald.conf.d/memory.conf", "etc/systemd/system.conf.d/watchdog.conf",
	} {
		to := filepath.Join(guest, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, "cp", "board/common/overlay/"+path, to)
	}
	if w.owner, err = age.GenerateX25519Identity(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(guest, "etc/acceptance/backup-key"), w.owner.Recipient().String())
	return w
}

// lamp looks at the machine's pin until the lamp shows what is wanted: "shines", "1 flash", "2 flashes", "3 flashes", "quick", or "beats",
// which is anything that goes on and off; and then reads what the kernel was told.
func (w *wall) lamp(t *testing.T, vm *machine, state, looks, told string) {
	t.Helper()
	vm.await(t, "state "+state)
	saw := ""
	awaitFor(t, "a lamp that "+looks+" for "+state, func() bool {
		saw = w.look(t)
		return saw == looks || looks == "beats" && saw != "shines" && saw != "is dark"
	})
	vm.goOn(t)
	if got := strings.TrimSpace(vm.await(t, "lamp "+state+":")); got != told {
		t.Errorf("%s: the lamp was told %q, want %q", state, got, told)
	} else {
		t.Logf("%s: on the pin %s; the kernel has %s", state, saw, got)
	}
}

// look tells what a person sees who looks at the lamp for five seconds.
func (w *wall) look(t *testing.T) string {
	t.Helper()
	type span struct {
		on   bool
		from time.Time
	}
	var seen []span
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(15 * time.Millisecond) { // as eyes do
		var said string
		const data = 0x9030000 + 1<<1<<2 // of the pin alone
		if err := json.Unmarshal(w.tell(t, "human-monitor-command", map[string]any{"command-line": fmt.Sprintf("xp /1xb 0x%x", data)}), &said); err != nil {
			t.Fatal(err)
		}
		_, value, _ := strings.Cut(said, ": ")
		n, err := strconv.ParseUint(strings.TrimSpace(value), 0, 8)
		if err != nil {
			t.Fatalf("QEMU says %q of the pin", said)
		}
		if on := n != 0; len(seen) == 0 || seen[len(seen)-1].on != on {
			seen = append(seen, span{on, time.Now()})
		}
	}
	switch {
	case len(seen) == 1 && seen[0].on:
		return "shines"
	case len(seen) == 1:
		return "is dark"
	}
	// Between two pauses all flashes were seen.
	flashes, pauses, counted := 0, 0, map[int]bool{}
	for i := range seen[:len(seen)-1] {
		if seen[i].on {
			flashes++
		} else if seen[i+1].from.Sub(seen[i].from) > 700*time.Millisecond {
			if pauses++; pauses > 1 {
				counted[flashes] = true
			}
			flashes = 0
		}
	}
	switch {
	case pauses == 0 && flashes >= 10:
		return "quick"
	case len(counted) != 1:
		return "flickers"
	case counted[1]:
		return "1 flash"
	default:
		for flashes = range counted {
		}
		return fmt.Sprint(flashes, " flashes")
	}
}

const (
	flash = "1 150 1 0 0 250 0 0 "
	pause = "0 1200 0 0"
)

// checkUnclaimed sees the lamp of a box that nobody has claimed.
func (w *wall) checkUnclaimed(t *testing.T, vm *machine) {
	t.Helper()
	qmp, err := net.Dial("unix", filepath.Join(filepath.Dir(vm.console), "qmp"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { qmp.Close() })
	w.greet(t, qmp)
	w.lamp(t, vm, "waits to be claimed", "1 flash", flash+pause)
}

// check sees the lamp's other states, the stick, the adapter's name, the clock, the log under a flood and the watchdog.
func (w *wall) check(t *testing.T, vm *machine, h house) {
	t.Helper()
	w.lamp(t, vm, "in order", "shines", "brightness 1")
	h.fault(t, http.MethodPost, `{"kind": "silent", "bus": "network"}`)
	w.lamp(t, vm, "a bus is silent", "2 flashes", flash+flash+pause)
	h.fault(t, http.MethodDelete, "")
	w.lamp(t, vm, "an update is under way", "quick", "1 100 1 0 0 100 0 0")
	w.lamp(t, vm, "starting", "beats", "heartbeat")
	w.lamp(t, vm, "failed", "3 flashes", flash+flash+flash+pause)

	type m = map[string]any
	limit := func(bytesPerSecond int) {
		w.tell(t, "qom-set", m{"path": "/objects/slow", "property": "limits", "value": m{"bps-total": bytesPerSecond}})
	}
	plug := func() {
		w.tell(t, "device_add", m{"driver": "usb-storage", "id": "stick", "drive": "stick", "removable": true})
	}
	vm.await(t, "stick in")
	w.tell(t, "object-add", m{"qom-type": "throttle-group", "id": "slow"})
	w.tell(t, "blockdev-add", m{"driver": "throttle", "node-name": "stick", "throttle-group": "slow",
		"file": m{"driver": "raw", "file": m{"driver": "file", "filename": w.stick}}})
	plug()
	vm.goOn(t)
	first := vm.await(t, "stick first:")
	vm.await(t, "stick slow")
	limit(4000)
	vm.goOn(t)
	vm.await(t, "stick out")
	w.tell(t, "device_del", m{"id": "stick"})
	vm.goOn(t)
	if got := vm.await(t, "stick out in the middle:"); !strings.HasPrefix(got, "the stick fails, or was pulled out") {
		t.Errorf("of a stick that is pulled out while it is written is told %q", got)
	}
	if got := vm.await(t, "stick missing:"); !strings.HasPrefix(got, "no stick is plugged in") {
		t.Errorf("of a stick that is out is told %q", got)
	}
	vm.await(t, "stick again")
	limit(0)
	plug()
	vm.goOn(t)
	second := vm.await(t, "stick second:")
	for _, name := range []string{first, second} {
		w.opens(t, name)
	}
	if first == second {
		t.Errorf("both copies are %s", first)
	}
	if out, err := exec.Command("mdir", "-b", "-i", w.stick, "::").CombinedOutput(); err != nil || strings.Contains(string(out), ".part") || !strings.Contains(string(out), "report.txt") {
		t.Errorf("on the stick are %s (%v)", out, err)
	}

	vm.await(t, "adapter in")
	w.tell(t, "chardev-add", m{"id": "adapter", "backend": m{"type": "null", "data": m{}}})
	w.tell(t, "device_add", m{"driver": "usb-serial", "chardev": "adapter", "always-plugged": true})
	vm.goOn(t)
	if got := vm.await(t, "adapter:"); !strings.HasPrefix(got, "rs485-") || !strings.Contains(got, "usb") || strings.Contains(got, "*") {
		t.Errorf("a serial adapter is called %q", got)
	} else {
		t.Log("a serial adapter is called ", got)
	}

	var kB, warnings, more, notes, seconds int
	var kind, clock string
	journal, kept := vm.await(t, "journal:"), vm.await(t, "warnings:")
	if n, err := fmt.Sscan(journal, &kB, &kind); n != 2 || kB < 4<<10 || kB > 17<<10 || kind != "volatile" {
		t.Errorf("after a flood of 24 MB the journal has %q kB, want 4,096 to 17,408 in memory alone: %v", journal, err)
	}
	if n, err := fmt.Sscan(kept, &warnings, &more, &notes); n != 3 || warnings < 128 || warnings > 160 || more > 1024 || notes != 1 {
		t.Errorf("after a flood of 24 MB %q: kB of kept warnings, growth of the disk in kB, notes of what was left out; want 128 to 160, at most 1,024, and 1: %v", kept, err)
	}
	t.Logf("after a flood of 24 MB: journal %s; kept warnings, growth of the disk in kB, notes: %s", journal, kept)
	told := vm.await(t, "clock:")
	if n, err := fmt.Sscan(told, &seconds, &clock); n != 2 || time.Since(time.Unix(int64(seconds), 0)).Abs() > patience || !strings.HasPrefix(clock, "rtc-pl031") {
		t.Errorf("of the clock %q: the battery's does not count (%v)", told, err)
	}
	if got := vm.await(t, "watchdog device:"); got != "i6300ESB timer, active, 30 s" {
		t.Errorf("watchdog %q", got)
	}
	if got := vm.await(t, "serves:"); got != "active" {
		t.Errorf("after all of that the daemon is %s", got)
	}
	if err := w.qmp.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for w.says.Scan() {
		if strings.Contains(w.says.Text(), `"WATCHDOG"`) {
			return
		}
	}
	t.Errorf("systemd stands still, and the watchdog does not start anew: %v", w.says.Err())
}

// opens sees that a copy on the stick is whole, and the owner's.
func (w *wall) opens(t *testing.T, name string) {
	t.Helper()
	b, err := exec.Command("mtype", "-i", w.stick, "::"+name).Output()
	if err != nil {
		t.Errorf("no copy %q is on the stick: %v", name, err)
		return
	}
	r, err := age.Decrypt(bytes.NewReader(b), w.owner)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		t.Errorf("%s of %d bytes does not open: %v", name, len(b), err)
	}
}

// fault puts a fault of the building in force, or ends all.
func (h house) fault(t *testing.T, method, fault string) {
	t.Helper()
	req, err := http.NewRequest(method, h.url+"/faults", strings.NewReader(fault))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		t.Fatalf("%s /faults: %s", method, resp.Status)
	}
}
