setenv kernel Image
setenv scriptaddr_state 0x47000000
setenv bootargs_board console=ttyAMA0
setenv boot_kernel 'booti ${kernel_addr_r} - ${fdtcontroladdr}'
