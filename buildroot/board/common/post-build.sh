#!/bin/sh
# What differs from build to build: version, board, its kernel if that is Debian's, and whose updates are trusted. Arguments: target folder, board.
set -eu
target=$1 board=$2
sed "s/@BOARD@/$board/" "$target/etc/rauc/system.conf.in" >"$target/etc/rauc/system.conf"
rm "$target/etc/rauc/system.conf.in"
cp "$CONTROLLER_KEYS/authority.pem" "$target/etc/rauc/keyring.pem"
chmod 644 "$target/etc/rauc/keyring.pem"
rm -f "$target/etc/os-release" "$target/usr/lib/os-release"
cat >"$target/usr/lib/os-release" <<RELEASE
NAME=Controller
ID=controller
PRETTY_NAME="Controller $CONTROLLER_VERSION"
VERSION_ID=$CONTROLLER_VERSION
VARIANT_ID=$board
RELEASE
ln -s ../usr/lib/os-release "$target/etc/os-release"
: >"$target/etc/machine-id"
# Nobody logs in on this box, so nothing asks.
rm -f "$target"/etc/systemd/system/getty.target.wants/*
mkdir -p "$target/var" "$target/boot"
[ ! -d "$CONTROLLER_PARTS" ] || cp -a "$CONTROLLER_PARTS/root/." "$target/"
