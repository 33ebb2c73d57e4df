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
setenv boot_kernel 'load ${devtype} ${devnum}:${slot_number} ${ramdisk_addr_r} boot/initramfs && booti ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdt_addr}'
