setenv kernel zImage
# Below the kernel; spare_addr is 0x80000 further, as the spare is on the card.
setenv state_addr 0x81000000
setenv spare_addr 0x81080000
setenv bootargs_board console=ttyO0,115200n8
# U-Boot knows by its memory which of the boards it is on.
if test -e ${devtype} ${devnum}:2 boot/${fdtfile}; then true; else setenv fdtfile am335x-boneblack.dtb; fi
setenv boot_kernel 'load ${devtype} ${devnum}:${slot_number} ${fdtaddr} boot/${fdtfile} && load ${devtype} ${devnum}:${slot_number} ${ramdisk_addr_r} boot/initramfs && bootz ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdtaddr}'
