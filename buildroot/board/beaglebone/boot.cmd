setenv kernel zImage
setenv scriptaddr_state 0x80000000
setenv bootargs_board console=ttyS0,115200n8
setenv boot_kernel 'load ${devtype} ${devnum}:${slot_number} ${fdtaddr} boot/am335x-boneblack.dtb && bootz ${kernel_addr_r} - ${fdtaddr}'
