#!/bin/bash
# Fetches what Debian has for a board, kernel, bootloader and firmware, each by its hash, and makes of it what goes onto the card.
# usage: board.sh BOARD WORK     from board/BOARD/{debian.txt,modules.txt,image.conf} and, if there, {config.txt,environment.txt},
#   and board/common/{modules.txt,init}; makes WORK/parts-BOARD/root (into each system), boot (into the first partition) and components.json (for the SBOM)
set -eu
board=$1 work=$2
common=$(realpath "$(dirname "$0")/../board/common")
here=$(realpath "$common/../$board")
parts=$work/parts-$board
tmp=$parts/unpacked
mkdir -p "$work/debs"
rm -rf "$parts"
mkdir -p "$tmp" "$parts"/{root/boot,root/usr/lib,boot}

: >"$parts/components"
while read -r component path sha256 licence; do
  [[ $component != \#* ]] || continue
  file=${path##*/}
  if ! echo "$sha256  $work/debs/$file" | sha256sum --quiet -c 2>/dev/null; then
    curl -fsS -o "$work/debs/$file" "$DEBIAN_MIRROR/${path//+/%2B}" ||
      { echo "board.sh: $DEBIAN_MIRROR has no $path any more; put the newer one into board/$board/debian.txt" >&2; exit 1; }
    echo "$sha256  $work/debs/$file" | sha256sum --quiet -c >&2
  fi
  dpkg-deb --fsys-tarfile "$work/debs/$file" | tar x -C "$tmp" --exclude './usr/share/man' --exclude './usr/share/lintian'
  dpkg-deb --show --showformat "$component\t\${Package}\t\${Version}\t\${Architecture}\t$licence\n" "$work/debs/$file" >>"$parts/components"
done <"$here/debian.txt"
jq -Rn '[inputs | split("\t") | {type: (if .[0] == "linux" then "operating-system" elif (.[0] | endswith("firmware")) then "firmware" else "library" end),
  name: .[0], version: .[2], licenses: [{license: {name: .[4]}}], purl: "pkg:deb/debian/\(.[1])@\(.[2] | @uri)?arch=\(.[3])"}]' <"$parts/components" >"$parts/components.json"

# The kernel: the modules that the board needs of the several thousand, and what they need themselves.
kernel=$(cd "$tmp/lib/modules" && echo *)
mkdir -p "$tmp/few/lib/modules/$kernel"
/sbin/depmod -b "$tmp" "$kernel"
# needs MODULE... names the files in the order of their loading.
needs() { /sbin/modprobe -d "$tmp" -S "$kernel" --show-depends -a "$@" | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'; }
mapfile -t all < <(cat "$common/modules.txt" "$here/modules.txt" | sed '/^#/d; s/^start //' | tr ' ' '\n')
mapfile -t first < <(cat "$here/modules.txt" "$common/modules.txt" | sed -n 's/^start //p' | tr ' ' '\n')
needs "${all[@]}" >"$tmp/modules"
needs "${first[@]}" >"$tmp/first"
[ -s "$tmp/modules" ] && [ -s "$tmp/first" ]
sed "s|^$tmp/||" "$tmp/modules" | tar c -C "$tmp" -T - | tar x -C "$tmp/few"
cp "$tmp/lib/modules/$kernel"/modules.{builtin,builtin.modinfo,order} "$tmp/few/lib/modules/$kernel/"
/sbin/depmod -b "$tmp/few" "$kernel"
mv "$tmp/few/lib/modules" "$parts/root/usr/lib/modules"

# What finds the system on the card and goes on to it.
init=$tmp/initramfs
mkdir -p "$init"/{bin,dev,proc,sys,root,modules}
cp "$tmp/bin/busybox" "$init/bin/"
cp "$common/init" "$init/init"
while read -r module; do cp "$module" "$init/modules/" && echo "${module##*/}"; done <"$tmp/first" >"$init/order"
find "$init" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
(cd "$init" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --reproducible -R 0:0) | gzip -9n >"$parts/root/boot/initramfs"

boot_from="" system_from="" firmware_from="" uboot=u-boot.bin environment_size=0x4000
# shellcheck source=/dev/null
. "$here/image.conf"
if [ -n "$system_from" ]; then
  # shellcheck disable=SC2086 # a list of names
  (cd "$tmp" && cp $system_from "$parts/root/boot/")
fi
if [ -n "$firmware_from" ]; then
  # shellcheck disable=SC2086 # a list of names
  (cd "$tmp" && tar c $firmware_from) | tar x -C "$parts/root/usr"
fi
case $(file -b "$tmp/boot/vmlinuz-$kernel") in
*"ARM64 boot executable Image"*) gzip -9n <"$tmp/boot/vmlinuz-$kernel" >"$parts/root/boot/Image.gz" ;;
*) cp "$tmp/boot/vmlinuz-$kernel" "$parts/root/boot/zImage" ;;
esac
# shellcheck disable=SC2086 # a list of names
(cd "$tmp" && cp $boot_from "$parts/boot/")
[ ! -e "$here/config.txt" ] || cp "$here/config.txt" "$parts/boot/"

# U-Boot's environment is the one that is built into it, but for what environment.txt says.
if [ -e "$here/environment.txt" ]; then
  python3 - "$parts/boot/$uboot" "$here/environment.txt" <<'PYTHON' | mkenvimage -s "$environment_size" -o "$parts/boot/uboot.env" -
import re, sys
inside = re.findall(rb"(?:[A-Za-z_]\w*=[^\0]*\0){10,}", open(sys.argv[1], "rb").read())
values = dict(v.split("=", 1) for block in inside for v in block.decode("ascii").split("\0") if v)
if "bootcmd" not in values:
    sys.exit("board.sh: no environment in " + sys.argv[1])
values.update(line.rstrip("\n").split("=", 1) for line in open(sys.argv[2]) if not line.startswith("#"))
print("\n".join(f"{name}={value}" for name, value in sorted(values.items()) if value))
PYTHON
fi
rm -rf "$tmp"
