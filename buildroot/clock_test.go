//go:build image && built

package buildroot

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clockInit is the first program of a system that has nothing but the script of the clock on the pins: it tells of the clock of a bus
// where one is, and of one where none is, and the time that it is then.
const clockInit = `#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
export PATH=/bin
insmod /i2c-imx.ko
until [ -e /sys/bus/i2c/devices/i2c-1 ]; do usleep 100000; done
sh /clock i2c-0
sh /clock i2c-1
echo "code $?, $(ls /sys/bus/i2c/devices | grep -c 0068) clock, system $(date -u +%Y-%m-%d)"
sleep 99999
`

// TestClockOnThePins finds a clock by its chip as on a Raspberry Pi's pins, with the script, kernel and driver of the appliance, on the one machine
// of QEMU that has such a bus and a kernel of Debian's (Freescale's SABRE Lite, without the clock that it has of its own). What the clock
// says becomes the time.
func TestClockOnThePins(t *testing.T) {
	t.Parallel()
	work, debs := t.TempDir(), filepath.Join(images(t, beagleBone), "..", "debs")
	unpack := func(deb, pattern, to string) {
		t.Helper()
		all, _ := filepath.Glob(filepath.Join(debs, deb))
		if len(all) != 1 {
			t.Fatalf("want one %s in %s, have %q", deb, debs, all)
		}
		run(t, "sh", "-c", fmt.Sprintf("dpkg-deb --fsys-tarfile '%s' | tar xO --wildcards '%s' >'%s'", all[0], pattern, filepath.Join(work, to)))
	}
	if err := os.MkdirAll(filepath.Join(work, "root/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"dev", "proc", "sys", "var/lib/appliance"} {
		if err := os.MkdirAll(filepath.Join(work, "root", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const kernel = "linux-image-*-armmp_*.deb"
	unpack(kernel, "./boot/vmlinuz-*", "vmlinuz")
	unpack(kernel, "*/imx6q-sabrelite.dtb", "tree")
	unpack(kernel, "*/i2c-imx.ko", "root/i2c-imx.ko")
	unpack("busybox-static_*_armhf.deb", "./bin/busybox", "root/bin/busybox")
	run(t, "chmod", "+x", filepath.Join(work, "root/bin/busybox"))
	run(t, "cp", "board/common/overlay/usr/lib/appliance/clock", filepath.Join(work, "root/clock"))
	for name, text := range map[string]string{"init": clockInit, "var/lib/appliance/clock": "ds1307\n"} {
		if err := os.WriteFile(filepath.Join(work, "root", name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "sh", "-c", fmt.Sprintf("cd %s && dtc -q -I dtb -O dts tree | sed 's/fsl,sec-v4.0-mon-rtc-lp/none/' | dtc -q -I dts -O dtb -o tree.dtb - && cd root && find . | cpio -o -H newc --quiet >../initramfs", work))

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	qemu := exec.CommandContext(ctx, "qemu-system-arm", "-M", "sabrelite", "-m", "512", "-display", "none", "-monitor", "none", "-serial", "null", "-serial", "stdio",
		"-kernel", filepath.Join(work, "vmlinuz"), "-initrd", filepath.Join(work, "initramfs"), "-dtb", filepath.Join(work, "tree.dtb"),
		"-append", "console=ttymxc1,115200 quiet", "-rtc", "base=2031-06-01T12:00:00", "-device", "ds1338,bus=i2c-bus.0,address=0x68")
	told, err := qemu.StdoutPipe()
	if err == nil {
		err = qemu.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for lines := bufio.NewScanner(told); !strings.Contains(out.String(), ", system ") && lines.Scan(); {
		out.WriteString(lines.Text() + "\n")
	}
	cancel()
	_ = qemu.Wait()
	for _, want := range []string{"clock: ds1307 on the pins, 2031-06-01 12:0", "clock: no ds1307 answers on the pins", "code 1, 1 clock, system 2031-06-01"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in \n%s", want, out.String())
		}
	}
}
