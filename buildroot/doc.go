// Package buildroot is the flashable appliance: an ARM system around controllerd. The acceptance of an image is a test here,
// which boots it in QEMU.
package buildroot
