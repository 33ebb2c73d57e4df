setenv kernel Image.gz
setenv state_addr 0x02500000
setenv spare_addr 0x02580000
# Far enough apart: the packed kernel, where it is unpacked, the initial RAM disk. QEMU's device tree lies at 0x08000000, the
# firmware's at the end of memory.
setenv kernel_addr_r 0x10000000
setenv kernel_comp_addr_r 0x12000000
setenv kernel_comp_size 0x02000000
setenv ramdisk_addr_r 0x16000000
# On a screen: the pins' serial port is there for RS-485.
setenv bootargs_board console=tty1
# An RS-485 board on the pins 8 and 10 gets the better of the two serial ports, which knows parity; Debian's tree gives it to Bluetooth,
# which nobody needs here. The pins' group is the other port's, told to lead to this one.
fdt addr ${fdt_addr}
if fdt get value pins /soc/serial@7e215040 pinctrl-0; then
  fdt set /soc/gpio@7e200000/uart1_gpio14 brcm,function <4>
  fdt rm /soc/serial@7e201000/bluetooth
  fdt set /soc/serial@7e201000 pinctrl-0 <${pins}>
  fdt set /soc/serial@7e215040 status disabled
fi
setenv boot_kernel 'load ${devtype} ${devnum}:${slot_number} ${ramdisk_addr_r} boot/initramfs && booti ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdt_addr}'
