# Starts the slot that has tries left, first in the order first, and counts the try. RAUC and the health gate reset the
# count once the system is good; three starts that never got there, and the other slot has its turn.
# Set by the board's own part before: kernel, kernel_addr_r, bootargs_board, and for fdt_file a device tree to load.
setenv BOOT_ORDER "A B"
setenv BOOT_A_LEFT 3
setenv BOOT_B_LEFT 3
setenv FACTORY_RESET
part start ${devtype} ${devnum} bootstate state_start
setexpr spare_start ${state_start} + 0x400
${devtype} read ${scriptaddr_state} ${state_start} 0x20
if env import -c ${scriptaddr_state} 0x4000 BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT FACTORY_RESET; then
  echo Slots in order ${BOOT_ORDER}
else
  # The power failed while this was written, by the system or here; the spare is that of the last start.
  ${devtype} read ${scriptaddr_state} ${spare_start} 0x20
  env import -c ${scriptaddr_state} 0x4000 BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT
fi

setenv slot
for s in "${BOOT_ORDER}"; do
  if test "x${slot}" = "x" -a "x${s}" = "xA" -a ${BOOT_A_LEFT} -gt 0; then
    setexpr BOOT_A_LEFT ${BOOT_A_LEFT} - 1
    setenv slot A
  elif test "x${slot}" = "x" -a "x${s}" = "xB" -a ${BOOT_B_LEFT} -gt 0; then
    setexpr BOOT_B_LEFT ${BOOT_B_LEFT} - 1
    setenv slot B
  fi
done
if test "x${slot}" = "x"; then
  # Both have used up their tries, after power cuts for instance: begin anew rather than stay dark.
  setenv BOOT_A_LEFT 3
  setenv BOOT_B_LEFT 3
  setexpr first sub " .*" "" "${BOOT_ORDER}"
  setenv slot ${first}
fi
setenv reset_args
if test "x${FACTORY_RESET}" = "xyes"; then setenv reset_args systemd.factory_reset=1; fi
setenv FACTORY_RESET
env export -c -s 0x4000 ${scriptaddr_state} BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT
${devtype} write ${scriptaddr_state} ${spare_start} 0x20
${devtype} write ${scriptaddr_state} ${state_start} 0x20

part number ${devtype} ${devnum} root${slot} slot_number
setenv bootargs "${bootargs_board} root=PARTLABEL=root${slot} rauc.slot=${slot} ro rootwait init=/sbin/init panic=5 systemd.getty_auto=no quiet fsck.repair=yes ${reset_args}"
echo Starting slot ${slot}
load ${devtype} ${devnum}:${slot_number} ${kernel_addr_r} boot/${kernel} && run boot_kernel
# This slot has no kernel that loads: the next start counts it down.
reset
