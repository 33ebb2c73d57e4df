# Starts the slot that has tries left, first in the order first, and counts the try. RAUC and the health gate reset the
# count once the system is good; three starts that never got there, and the other slot has its turn.
# Set by the board's own part before: kernel, boot_kernel, bootargs_board, state_addr, and spare_addr = state_addr + 0x80000. No
# arithmetic: not every bootloader has setexpr.
setenv BOOT_ORDER "A B"
setenv BOOT_A_LEFT 3
setenv BOOT_B_LEFT 3
setenv FACTORY_RESET
part start ${devtype} ${devnum} bootstate state_start
${devtype} read ${state_addr} ${state_start} 0x420
if env import -c ${state_addr} 0x4000 BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT FACTORY_RESET; then
  echo Slots in order ${BOOT_ORDER}
else
  # The power failed while this was written, by the system or here; the spare is that of the last start.
  env import -c ${spare_addr} 0x4000 BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT
fi

setenv count 'if test ${left} -ge 3; then setenv left 2; elif test ${left} -eq 2; then setenv left 1; else setenv left 0; fi'
setenv slot
setenv first
for s in "${BOOT_ORDER}"; do
  if test "x${first}" = "x"; then setenv first ${s}; fi
  if test "x${slot}" = "x" -a "x${s}" = "xA" -a ${BOOT_A_LEFT} -gt 0; then
    setenv slot A
    setenv left ${BOOT_A_LEFT}
    run count
    setenv BOOT_A_LEFT ${left}
  elif test "x${slot}" = "x" -a "x${s}" = "xB" -a ${BOOT_B_LEFT} -gt 0; then
    setenv slot B
    setenv left ${BOOT_B_LEFT}
    run count
    setenv BOOT_B_LEFT ${left}
  fi
done
if test "x${slot}" = "x"; then
  # Both have used up their tries, after power cuts for instance: begin anew rather than stay dark.
  setenv BOOT_A_LEFT 3
  setenv BOOT_B_LEFT 3
  setenv slot ${first}
fi
setenv reset_args
if test "x${FACTORY_RESET}" = "xyes"; then setenv reset_args systemd.factory_reset=1; fi
setenv FACTORY_RESET
# The spare first, with the rest as it was read; then, when it is safe, the state.
env export -c -s 0x4000 ${spare_addr} BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT
${devtype} write ${state_addr} ${state_start} 0x420
env export -c -s 0x4000 ${state_addr} BOOT_ORDER BOOT_A_LEFT BOOT_B_LEFT
${devtype} write ${state_addr} ${state_start} 0x20

# A kernel that has hurt itself starts anew, and is counted down: one that goes on may wait for its card for ever.
part number ${devtype} ${devnum} root${slot} slot_number
setenv bootargs "${bootargs_board} root=PARTLABEL=root${slot} rauc.slot=${slot} ro rootwait init=/sbin/init panic=5 oops=panic systemd.getty_auto=no quiet fsck.repair=yes ${reset_args}"
echo Starting slot ${slot}
load ${devtype} ${devnum}:${slot_number} ${kernel_addr_r} boot/${kernel} && run boot_kernel
# This slot has no kernel that loads: the next start counts it down.
reset
