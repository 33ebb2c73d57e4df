setenv kernel Image
setenv state_addr 0x47000000
setenv spare_addr 0x47080000
setenv bootargs_board console=ttyAMA0
setenv boot_kernel 'booti ${kernel_addr_r} - ${fdtcontroladdr}'
