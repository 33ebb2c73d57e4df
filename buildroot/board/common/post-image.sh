#!/bin/bash
# Makes the card's image and the signed update bundle. Arguments: folder of images, board.
set -eu
images=$1 board=$2
here=$(dirname "$0")
cd "$images"
cat "$here/../$board/boot.cmd" "$here/boot.cmd" >boot.cmd
arch=arm64
boot_files="" table="" raw="" active=""
# shellcheck source=/dev/null
. "$here/../$board/image.conf" # boot_files, table, raw, active, and for 32 bits arch=arm
if [ -d "$CONTROLLER_PARTS" ]; then
  cp "$CONTROLLER_PARTS"/boot/* .
  boot_files=$(cd "$CONTROLLER_PARTS/boot" && echo *)
fi
mkimage -A "$arch" -T script -C none -n "slot" -d boot.cmd boot.scr >/dev/null
truncate -s 1M bootstate.bin

# The partition type of a system for this processor (Discoverable Partitions Specification).
root=b921b045-1df0-41c3-af44-4c6f280d3fae
[ "$arch" != arm ] || root=69dad710-2ce4-4e3c-b16c-21a1d49abed3

# A ROM that knows the old table only finds the first partition in it.
mbr=""
[ "$table" != hybrid ] || mbr="partition-type = 0xC"
[ -z "$active" ] || mbr="$mbr bootable = true"
cp "$here/controller.txt.example" .
# shellcheck disable=SC2086 # names, separated by spaces
list=$(printf '"%s", ' boot.scr controller.txt.example $boot_files)
sed -e "s|@BOOTFILES@|${list%, }|; s|@TABLE@|$table|; s|@RAW@|$raw|; s|@MBR@|$mbr|; s|@ROOT@|$root|" "$here/genimage.cfg.in" >genimage.cfg
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/root"
genimage --loglevel 1 --rootpath "$tmp/root" --tmppath "$tmp/work" --inputpath . --outputpath . --config genimage.cfg

rm -rf "$tmp/bundle" update.raucb
mkdir "$tmp/bundle"
ln "$(readlink -f rootfs.ext4)" "$tmp/bundle/rootfs.ext4" 2>/dev/null || cp -L rootfs.ext4 "$tmp/bundle/rootfs.ext4"
cat >"$tmp/bundle/manifest.raucm" <<MANIFEST
[update]
compatible=controller-$board
version=$CONTROLLER_VERSION
[bundle]
format=verity
[image.rootfs]
filename=rootfs.ext4
MANIFEST
rauc bundle --cert="$CONTROLLER_KEYS/signing.pem" --key="$CONTROLLER_KEYS/signing.key" --keyring="$CONTROLLER_KEYS/authority.pem" "$tmp/bundle" update.raucb
