//go:build image && built

package buildroot

import (
	"path/filepath"
	"testing"
)

// TestRaspberryPi does on a Raspberry Pi 3 what TestAppliance and TestUpdate do: U-Boot, kernel and system are those of the card. Its
// Ethernet is not emulated, so that the network is an adapter on USB; its lights are on the pins' serial port.
func TestRaspberryPi(t *testing.T) {
	t.Parallel()
	b, c := installed(t, raspberryPi)
	b.works(t, c)
	b.updates(t, c, newBundles(t, b.name, c.version(t)), []update{
		{"whose buses are broken", `return\[\d+\]: .*to %s was undone by the health gate`, false, breakBuses},
		{"that does not start", `to %s was undone by the bootloader`, false, loseInit},
		{"that is good", `updated from .* to %s`, true, nil},
	})
}

// piTree is what QEMU needs of the first partition, as it starts no firmware.
const piTree = "bcm2837-rpi-3-b.dtb"

// forQEMU is the kernel's console and more on the card's copy: a serial port, since there is no screen; no watchdog, which resets QEMU
// when it is opened; one core, as there is one for all of them here; and time for the first start to make a partition, however busy this
// machine is.
const forQEMU = "console=ttyS1,115200 systemd.watchdog_device=none maxcpus=1 systemd.default_device_timeout_sec=15min systemd.default_timeout_start_sec=15min"

// preparePi changes the card's copy as QEMU needs it.
func (b *board) preparePi(t *testing.T) {
	t.Helper()
	for _, name := range []string{"u-boot.bin", piTree} {
		run(t, "mcopy", "-i", b.card+firstPartition, "::"+name, filepath.Join(b.work, name))
	}
	// What the kernel says comes from the port that a real one has off.
	b.rescript(t, "arm64", "console=tty1", forQEMU, "fdt set /soc/serial@7e215040 status disabled", "fdt rm /soc/serial@7e215040 pinctrl-0")
}

// pi is what QEMU is told of it; the console is the second serial port.
func (b *board) pi() []string {
	return []string{
		// One thread for its four cores: U-Boot has three of them wait in a loop, and a kernel whose cores wait for each other on a busy
		// machine takes the card for dead.
		"-accel", "tcg,thread=single",
		"-M", "raspi3b", "-kernel", filepath.Join(b.work, "u-boot.bin"), "-dtb", filepath.Join(b.work, piTree),
		"-serial", "chardev:rs485", "-serial", "file:" + b.consolePath(),
		"-drive", "if=sd,id=card,format=raw,file=" + b.card, "-device", "usb-net,netdev=lan",
	}
}

// TestPinsOfEveryRaspberryPi looks whether the boot script finds in each device tree what it changes: the group of the pins 8 and 10
// (BCM2835 ARM Peripherals, 6.2: GPIO 14 and 15, where function 4 is UART 0) is that of the other serial port, and the better one is Bluetooth's.
func TestPinsOfEveryRaspberryPi(t *testing.T) {
	t.Parallel()
	work, card := t.TempDir(), filepath.Join(images(t, raspberryPi), "sdcard.img")
	for _, model := range []string{"bcm2837-rpi-3-b", "bcm2837-rpi-3-b-plus", "bcm2837-rpi-3-a-plus", "bcm2711-rpi-4-b"} {
		tree := filepath.Join(work, model)
		run(t, "mcopy", "-i", card+firstPartition, "::"+model+".dtb", tree)
		const group = "/soc/gpio@7e200000/uart1_gpio14"
		if pins := run(t, "fdtget", tree, group, "brcm,pins"); pins != "14 15\n" {
			t.Errorf("%s: the group has the pins %q", model, pins)
		}
		if has, is := run(t, "fdtget", tree, "/soc/serial@7e215040", "pinctrl-0"), run(t, "fdtget", tree, group, "phandle"); has != is {
			t.Errorf("%s: the other port has the group %q, that of the pins is %q", model, has, is)
		}
		run(t, "fdtget", "-p", tree, "/soc/serial@7e201000/bluetooth")
	}
}
