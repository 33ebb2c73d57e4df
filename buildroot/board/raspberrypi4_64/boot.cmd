setenv kernel Image
setenv scriptaddr_state 0x02500000
setenv bootargs_board console=ttyAMA0,115200
setenv boot_kernel 'booti ${kernel_addr_r} - ${fdt_addr}'
