//go:build image && built

package buildroot

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// beagleBone is a board that QEMU has no machine for.
const beagleBone = "beaglebone"

// TestBeagleBone does what TestAppliance and TestUpdate do with the BeagleBone's kernel, initial RAM disk and system on QEMU's virt
// machine for 32 bits. The boot script is the card's, run by the U-Boot of that machine.
func TestBeagleBone(t *testing.T) {
	t.Parallel()
	b, c := installed(t, beagleBone)
	b.works(t, c)
	b.updates(t, c, newBundles(t, b.name, c.version(t)), []update{
		{"whose buses are broken", `return\[\d+\]: .*to %s was undone by the health gate`, false, breakBuses},
		{"that does not start", `to %s was undone by the bootloader`, false, loseInit},
		{"that is good", `updated from .* to %s`, true, nil},
	})
}

// prepareBone changes the card's copy for a machine whose memory begins elsewhere, whose device tree is QEMU's and whose console is
// another.
func (b *board) prepareBone(t *testing.T) {
	t.Helper()
	b.rescript(t, "arm",
		"setenv kernel zImage", "setenv kernel zImage\nsetenv fdtaddr 0x43000000",
		"0x81000000", "0x47000000", "0x81080000", "0x47080000",
		"console=ttyO0,115200n8", "console=ttyAMA0",
		":${filesize} ${fdtaddr}", ":${filesize} ${fdtcontroladdr}")
}

// TestBeagleBoneCardIsAsItsROMWantsIt looks at what no emulator can start (AM335x Technical Reference Manual, 26.1.8.5, "MMC/SD"): the
// old partition table with an active FAT partition, MLO in it with the header of a configuration, and U-Boot that is whole.
func TestBeagleBoneCardIsAsItsROMWantsIt(t *testing.T) {
	t.Parallel()
	work, path := t.TempDir(), filepath.Join(images(t, beagleBone), "sdcard.img")
	card, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer card.Close()
	var sector [512]byte
	if _, err := io.ReadFull(card, sector[:]); err != nil {
		t.Fatal(err)
	}
	var active [][]byte
	for at := 446; at < 510; at += 16 {
		if entry := sector[at : at+16]; entry[0] == 0x80 {
			active = append(active, entry)
		}
	}
	if sector[510] != 0x55 || sector[511] != 0xAA || len(active) != 1 || active[0][4] != 0xC || !bytes.Equal(active[0][8:12], []byte{0, 8, 0, 0}) {
		t.Errorf("want one active FAT partition (type 0C) at 1 MiB, have %x", sector[446:])
	}
	for _, name := range []string{"MLO", "u-boot.img", "uboot.env", "boot.scr"} {
		run(t, "mcopy", "-i", path+firstPartition, "::"+name, filepath.Join(work, name))
	}
	mlo, err := os.ReadFile(filepath.Join(work, "MLO"))
	if err != nil {
		t.Fatal(err)
	}
	if len(mlo) < 512 || string(mlo[0x14:0x1E]) != "CHSETTINGS" {
		t.Errorf("MLO has no configuration header: %q", mlo[:min(len(mlo), 64)])
	}
	run(t, "dumpimage", "-l", filepath.Join(work, "u-boot.img"))
}
