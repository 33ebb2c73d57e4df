#!/bin/bash
# Builds the image of one board with Buildroot, and an update bundle signed with a development key that is made on the spot.
#
# usage: image.sh BOARD [offline]     BOARD as in buildroot/configs/controller_BOARD_defconfig; offline: from Debian's packages alone, which
#                                     is how boards with a debian.txt (their kernel, bootloader and firmware) are always built; of other
#                                     boards than qemu_aarch64 our own packages are built then, and no image
#   IMAGE_DIR=output/image            where everything is built; in output/image/BOARD come out what buildroot/flash.sh makes, sdcard.img and
#                                     update.raucb
#   IMAGE_URL=                        where what comes out will be fetched from (https://…, a folder), for Raspberry Pi Imager's list
#   BUILDROOT_DIR=                    an unpacked Buildroot to take instead of fetching the pinned release
#   DEBIAN_MIRROR=                    where Debian's packages are; what this machine has them from by default
#   BR2_DL_DIR=                       sources that were downloaded before
#   CONTROLLER_VERSION=               of the daemon and the bundle; what scripts/version.sh says by default
set -eu
cd "$(dirname "$0")/.."
board=${1:?usage: image.sh BOARD [offline]} mode=${2:-online}
release=2026.05.1 commit=cb857ba4c87a93e5265a9e4a3f32071abf39e14a
external=$PWD/buildroot
[ -e "$external/configs/controller_${board}_defconfig" ] ||
  { echo "image.sh: there is no board $board; boards are: $(cd "$external/configs" && ls | sed 's/controller_\(.*\)_defconfig/\1/' | paste -sd' ')" >&2; exit 2; }
[ ! -e "$external/board/$board/debian.txt" ] || mode=offline
export PATH=$PATH:/usr/sbin:/sbin
for tool in jq bmaptool xz dumpe2fs partx fallocate; do
  command -v $tool >/dev/null || { echo "image.sh: $tool is missing; of Debian's packages: jq bmap-tools xz-utils e2fsprogs util-linux" >&2; exit 2; }
done
work=$(realpath -m "${IMAGE_DIR:-output/image}")
out=$work/$board
mkdir -p "$work" "$out"

buildroot=${BUILDROOT_DIR:-$work/buildroot-$release}
if [ ! -e "$buildroot/Makefile" ]; then
  git -c advice.detachedHead=false clone --quiet --depth 1 --branch $release https://gitlab.com/buildroot.org/buildroot.git "$buildroot.part"
  got=$(git -C "$buildroot.part" rev-parse HEAD)
  [ "$got" = $commit ] || { echo "image.sh: Buildroot $release is $got, not $commit as written here" >&2; exit 1; }
  mv "$buildroot.part" "$buildroot"
fi

export CONTROLLER_VERSION=${CONTROLLER_VERSION:-$(./scripts/version.sh)}
export CONTROLLER_SOURCE=$work/source CONTROLLER_KEYS=$work/keys CONTROLLER_PARTS=$work/parts-$board
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
rm -rf "$CONTROLLER_SOURCE"
mkdir -p "$CONTROLLER_SOURCE"
git ls-files -z | xargs -0 cp --parents --no-dereference -t "$CONTROLLER_SOURCE"
(cd "$CONTROLLER_SOURCE" && go mod vendor)
"$external/board/common/keys.sh" "$CONTROLLER_KEYS"

defconfig=$work/$board.defconfig
cp "$external/configs/controller_${board}_defconfig" "$defconfig"
options=(-C "$buildroot" O="$work/build-$board" BR2_EXTERNAL="$external")
if [ "$mode" = offline ]; then
  # shellcheck disable=SC2016 # the word is apt's
  DEBIAN_MIRROR=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -1)}
  export DEBIAN_MIRROR=${DEBIAN_MIRROR%/}
  triplet=aarch64-linux-gnu
  ! grep -q '^BR2_arm=y' "$defconfig" || triplet=arm-linux-gnueabihf
  [ ! -e "$external/board/$board/debian.txt" ] || "$external/offline/board.sh" "$board" "$work"
  "$external/offline/sources.sh" "$work" "$buildroot"
  "$external/offline/toolchain.sh" $triplet "$work/toolchain-$triplet"
  cp "$external/offline/sources.txt" "$work/from-debian.txt"
  ! grep -q '^BR2_LINUX_KERNEL=y' "$defconfig" || dpkg-query -W -f 'linux linux ${Version}\n' linux-source-6.1 >>"$work/from-debian.txt"
  from_debian=$work/from-debian.txt
  export CONTROLLER_TRIPLET=$triplet CONTROLLER_TOOLCHAIN=$work/toolchain-$triplet
  cat "$external/offline/offline.config" >>"$defconfig"
  echo "BR2_PACKAGE_OVERRIDE_FILE=\"$work/local.mk\"" >>"$defconfig"
fi
make -s "${options[@]}" BR2_DEFCONFIG="$defconfig" defconfig >/dev/null
make -s --no-print-directory "${options[@]}" show-info >"$work/$board.info.json"
if [ "$mode" = offline ]; then
  "$external/offline/host-tools.sh" "$work/build-$board" "$work/$board.info.json" "$work/meson" "$buildroot" \
    "$(make -s --no-print-directory "${options[@]}" printvars VARS=STAGING_SUBDIR | sed 's/.*=//')"
  if [ "$board" != qemu_aarch64 ] && [ ! -d "$CONTROLLER_PARTS" ]; then
    make "${options[@]}" controllerd
    echo "built without kernel and firmware, for which there is no board/$board/debian.txt: $(file -b "$work/build-$board/target/usr/bin/controllerd")"
    exit 0
  fi
fi
make "${options[@]}"

# What is carried away: the card's image, the update, their checksums, what is in them, and under which licences.
cp --sparse=always "$work/build-$board/images/"{sdcard.img,update.raucb,rootfs.ext4} "$out/"
"$external/flash.sh" "$board" "$out"
"$external/sbom.sh" "$work/$board.info.json" "$work/build-$board/target/usr/bin/controllerd" "$CONTROLLER_VERSION" "${from_debian:-/dev/null}" \
  "$([ ! -e "$CONTROLLER_PARTS/components.json" ] || echo "$CONTROLLER_PARTS/components.json")" >"$out/sbom.cdx.json"
jq -r '.components[] | [.name, .version // "", .licenses[0].license.name // "see its source"] | @tsv' "$out/sbom.cdx.json" >"$out/licences.txt"
echo "in $out:"
ls -sh1 "$out"
