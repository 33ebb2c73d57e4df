//go:build image && built

package buildroot

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// board is a machine of QEMU with a card in it, as an appliance has one.
type board struct {
	name   string // as in configs/
	work   string // folder of everything that belongs to it
	card   string // path of the disk
	house  house
	port   string // on loopback, of its port 443
	static string // likewise, while its address is 10.0.2.50
	extra  []string
	starts int
	qemu   *exec.Cmd
	gone   chan struct{} // closed when QEMU has ended
	monitor
}

// newBoard flashes a card of 2 GB with the image that was built for the board of that name.
func newBoard(t *testing.T, name string, h house, extra ...string) *board {
	t.Helper()
	b := &board{name: name, work: t.TempDir(), house: h, port: freePort(t), static: freePort(t), extra: extra}
	b.card = filepath.Join(b.work, "card")
	run(t, "cp", "--sparse=always", filepath.Join(images(t, name), "sdcard.img"), b.card)
	if err := os.Truncate(b.card, 2<<30); err != nil {
		t.Fatal(err)
	}
	switch name {
	case raspberryPi:
		b.preparePi(t)
	case beagleBone:
		b.prepareBone(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			text := b.console(t)
			t.Logf("end of the console:\n%s", text[max(0, len(text)-8000):])
		}
		b.cut(t)
	})
	return b
}

// power switches it on.
func (b *board) power(t *testing.T) {
	t.Helper()
	b.starts++
	qmp := filepath.Join(b.work, "qmp")
	line, err := net.Listen("unix", qmp)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	args := []string{
		"-display", "none", "-monitor", "none", "-qmp", "unix:" + qmp,
		"-netdev", "user,id=lan,hostfwd=tcp:127.0.0.1:" + b.port + "-10.0.2.15:443,hostfwd=tcp:127.0.0.1:" + b.static + "-10.0.2.50:443",
	}
	qemu, machine := b.machine()
	args = append(args, machine...)
	tty := ""
	if b.house.serial != "" {
		if tty, err = filepath.EvalSymlinks(b.house.serial); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-chardev", "serial,id=rs485,path="+tty)
		if b.name != raspberryPi { // which has it on its pins
			args = append(args, "-device", "usb-serial,chardev=rs485")
		}
	}
	b.qemu = exec.Command(qemu, append(args, b.extra...)...)
	log, err := os.Create(filepath.Join(b.work, "qemu.log"))
	if err != nil {
		t.Fatal(err)
	}
	b.qemu.Stdout, b.qemu.Stderr = log, log
	if err := b.qemu.Start(); err != nil {
		t.Fatal(err)
	}
	b.gone = make(chan struct{})
	go func(c *exec.Cmd, gone chan struct{}) { _ = c.Wait(); log.Close(); close(gone) }(b.qemu, b.gone)
	if err := line.(*net.UnixListener).SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	conn, err := line.Accept()
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("QEMU did not start: %v\n%s", err, said)
	}
	b.greet(t, conn)
	if b.name == raspberryPi && tty != "" { // whose serial port QEMU gives no speed
		run(t, "stty", "-F", tty, "9600", "cstopb")
	}
}

// machine is the program that is QEMU for this board, and what it is told of the board.
func (b *board) machine() (program string, args []string) {
	switch b.name {
	case raspberryPi:
		return "qemu-system-aarch64", b.pi()
	case beagleBone:
		return "qemu-system-arm", append([]string{"-M", "virt,highmem=off", "-cpu", "cortex-a15", "-smp", "1",
			"-bios", "/usr/lib/u-boot/qemu_arm/u-boot.bin"}, b.virtual()...)
	default:
		return "qemu-system-aarch64", append([]string{"-M", "virt", "-cpu", "cortex-a53", "-smp", "2",
			"-bios", "/usr/lib/u-boot/qemu_arm64/u-boot.bin"}, b.virtual()...)
	}
}

// virtual is what QEMU's virt machines have, of either width.
func (b *board) virtual() []string {
	return []string{
		"-m", "512", "-serial", "file:" + b.consolePath(),
		"-drive", "if=none,id=card,format=raw,file=" + b.card, "-device", "virtio-blk-pci,drive=card",
		"-device", "virtio-net-pci,netdev=lan,romfile=", "-device", "virtio-rng-pci", "-device", "i6300esb", "-device", "qemu-xhci,id=usb",
	}
}

// rescript changes the boot script of the card's copy as QEMU needs it; each of the old words is there once.
func (b *board) rescript(t *testing.T, arch string, oldAndNew ...string) {
	t.Helper()
	script, command := filepath.Join(b.work, "boot.scr"), filepath.Join(b.work, "boot.cmd")
	run(t, "mcopy", "-i", b.card+firstPartition, "::boot.scr", script)
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	const header = 64 + 8 // of the image, and the length of its only part
	for i := 0; i < len(oldAndNew); i += 2 {
		if len(text) < header || strings.Count(string(text), oldAndNew[i]) != 1 {
			t.Fatalf("boot.scr has %q not once: mend this test\n%q", oldAndNew[i], text)
		}
	}
	put(t, command, strings.NewReplacer(oldAndNew...).Replace(string(text[header:])))
	run(t, "mkimage", "-A", arch, "-T", "script", "-C", "none", "-d", command, script)
	run(t, "mcopy", "-o", "-i", b.card+firstPartition, script, "::boot.scr")
}

// cut takes the power away.
func (b *board) cut(t *testing.T) {
	t.Helper()
	if b.qemu == nil {
		return
	}
	b.qmp.Close()
	_ = b.qemu.Process.Kill()
	<-b.gone
	b.qemu = nil
}

// written is how many bytes the card has been given since it was switched on.
func (b *board) written(t *testing.T) (bytes, flushes int64) {
	t.Helper()
	var drives []struct {
		Device string
		Stats  struct {
			Bytes   int64 `json:"wr_bytes"`
			Flushes int64 `json:"flush_operations"`
		}
	}
	if err := json.Unmarshal(b.tell(t, "query-blockstats", nil), &drives); err != nil {
		t.Fatal(err)
	}
	for _, d := range drives {
		if d.Device == "card" {
			return d.Stats.Bytes, d.Stats.Flushes
		}
	}
	t.Fatal("QEMU tells nothing of the card")
	return 0, 0
}

// plug makes a USB stick of files, plugs it in, and returns what pulls it out and reads its report.
func (b *board) plug(t *testing.T, files map[string]string) (report func() string) {
	t.Helper()
	stick := filepath.Join(b.work, fmt.Sprintf("stick-%d", time.Now().UnixNano()))
	run(t, "truncate", "-s", "400M", stick)
	run(t, "mkfs.vfat", "-n", "CONTROLLER", stick)
	for name, path := range files {
		run(t, "mcopy", "-i", stick, path, "::"+name)
	}
	b.tell(t, "blockdev-add", map[string]any{"driver": "raw", "node-name": "stick", "file": map[string]any{"driver": "file", "filename": stick}})
	b.tell(t, "device_add", map[string]any{"driver": "usb-storage", "id": "stick", "drive": "stick", "removable": true})
	return func() string {
		out, err := exec.Command("mtype", "-i", stick, "::report.txt").CombinedOutput() // of the last time it was plugged in, or of the last start with it
		if err != nil {
			return ""
		}
		return string(out)
	}
}

// unplug pulls the stick out.
func (b *board) unplug(t *testing.T) {
	t.Helper()
	b.tell(t, "device_del", map[string]any{"id": "stick"})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) { // until the guest has let go
		if err := json.NewEncoder(b.qmp).Encode(map[string]any{"execute": "blockdev-del", "arguments": map[string]any{"node-name": "stick"}}); err != nil {
			t.Fatal(err)
		}
		for b.says.Scan() && !strings.Contains(b.says.Text(), `"return"`) && !strings.Contains(b.says.Text(), `"error"`) {
		}
		if strings.Contains(b.says.Text(), `"return"`) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the stick stays in: %s", b.says.Text())
		}
	}
}

func (b *board) consolePath() string {
	return filepath.Join(b.work, fmt.Sprintf("console-%d", b.starts))
}

// console is what it has said since it was last switched on.
func (b *board) console(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(b.consolePath())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r", "")
}

// said waits until the console has said what the pattern wants for the nth time and returns its first group.
func (b *board) said(t *testing.T, nth int, pattern string) string {
	t.Helper()
	want := regexp.MustCompile(pattern)
	var found [][]string
	awaitFor(t, "the console to say "+pattern, func() bool {
		found = want.FindAllStringSubmatch(b.console(t), -1)
		return len(found) >= nth
	})
	return found[nth-1][len(found[nth-1])-1]
}
