#!/bin/bash
# Measures every figure of docs/performance.md in one run. Arguments go to the
# program: --only writes,polling, --poll 20s, --commands 500, --idle 1m.
set -eu
cd "$(dirname "$0")/.."
gcc -O2 -Wall -o bin/modbus-peer bench/peer/modbus-peer.c $(pkg-config --cflags --libs libmodbus)
${GO:-go} build -trimpath -o bin/bench ./bench
exec bin/bench "$@"
