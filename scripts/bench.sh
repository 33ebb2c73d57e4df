#!/bin/bash
# Measures every figure of the first table of docs/performance.md in one run.
# Arguments go to the program: --only writes,polling, --poll 20s, --commands 500,
# --idle 1m.
set -eu
cd "$(dirname "$0")/.."
make --no-print-directory build peers
gcc -O2 -Wall -o bin/modbus-peer tools/bench/peer/modbus-peer.c $(pkg-config --cflags --libs libmodbus)
${GO:-go} build -trimpath -o bin/bench ./tools/bench
# Everything that is measured, floors included, goes before whatever else the
# machine does, if we may: the figures are about this program, not about its
# neighbours.
before=(nice -n -15)
"${before[@]}" true 2>/dev/null && [ "$(nice -n -15 nice 2>/dev/null)" = -15 ] || before=()
exec "${before[@]}" bin/bench "$@"
