#!/bin/bash
# Installs what the tests talk to (Debian packages), when it is not there yet.
set -eu
packages=(gcc libc6-dev socat mbpoll python3-pymodbus python3-serial-asyncio libmodbus-dev pkg-config curl jq chromium ola postgresql redis-server)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing ${missing[*]}"
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
