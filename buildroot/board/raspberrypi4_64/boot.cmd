setenv kernel Image
setenv scriptaddr_state 0x02500000
# On a screen: the pins' serial port is there for RS-485.
setenv bootargs_board console=tty1
setenv boot_kernel 'booti ${kernel_addr_r} - ${fdt_addr}'
