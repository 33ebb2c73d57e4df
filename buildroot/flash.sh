#!/bin/bash
# Makes of a card's image what people write to cards with: controller-BOARD.img.xz, its map of blocks for bmaptool, a list for Raspberry Pi
# Imager (of boards that are one, by imager.json beside the board's files) and the checksums of all.
# usage: flash.sh BOARD FOLDER     with sdcard.img, rootfs.ext4 and update.raucb in it
#   IMAGE_URL=https://…        the folder where the .img.xz will be fetched from; without one the list is for the file where it is made
#   CONTROLLER_VERSION=        what the list calls it
#   SOURCE_DATE_EPOCH=         its date
set -eu
export PATH=$PATH:/usr/sbin:/sbin
board=$1 folder=$(realpath "$2")
about=$(realpath "$(dirname "$0")")/board/$board/imager.json
cd "$folder"
image=controller-$board.img

# A hole in the file is what bmaptool leaves on a card as it was before. That has to be space that nobody reads: which zeros are in a file or
# between partitions says nothing, and those of bootstate, which starts the first system, count. So nothing is left out but free blocks of
# the first system, and the second behind its beginning: what an old card has there is no system any more.
cp --sparse=never sdcard.img "$image"
hole() { [ "$2" -le 0 ] || fallocate --punch-hole --offset "$1" --length "$2" "$image"; }
while read -r name start sectors; do
  start=$((start * 512)) length=$((sectors * 512))
  case $name in
  rootA)
    block=$(dumpe2fs -h rootfs.ext4 2>/dev/null | sed -n 's/^Block size: *//p')
    dumpe2fs rootfs.ext4 2>/dev/null | sed -n 's/^  Free blocks: //p' | tr -d ' ' | tr ',' '\n' | grep . >free.part || true
    while IFS=- read -r first last; do
      hole $((start + first * block)) $(((${last:-$first} + 1 - first) * block))
    done <free.part
    rm free.part
    size=$(stat -Lc %s rootfs.ext4)
    hole $((start + size)) $((length - size))
    ;;
  rootB) hole $((start + (1 << 20))) $((length - (1 << 20))) ;;
  esac
done < <(partx --show --bytes --noheadings --output NAME,START,SECTORS "$image")
mv "$image" sdcard.img

bmaptool -q create -o "$image.bmap" sdcard.img
xz -T0 --keep --stdout sdcard.img >"$image.xz"

files=(sdcard.img update.raucb "$image.xz" "$image.bmap")
if [ -e "$about" ]; then
  jq --arg url "${IMAGE_URL:-file://$folder}/$image.xz" --arg version "$CONTROLLER_VERSION" \
    --argjson size "$(stat -c %s sdcard.img)" --arg sum "$(sha256sum <sdcard.img | cut -d' ' -f1)" \
    --argjson packed "$(stat -c %s "$image.xz")" --arg packedsum "$(sha256sum <"$image.xz" | cut -d' ' -f1)" \
    --arg date "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)" \
    '{os_list: [.name += " \($version)" | . + {url: $url, extract_size: $size, extract_sha256: $sum,
      image_download_size: $packed, image_download_sha256: $packedsum, release_date: $date}]}' "$about" >imager.json
  files+=(imager.json)
fi
sha256sum "${files[@]}" >sha256sums
