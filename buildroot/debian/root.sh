#!/bin/bash
# Makes a bootable ARM system with Debian's packages around our daemon and its units: the part of the image's acceptance that
# needs no Buildroot. Nothing is installed on this machine and no foreign program runs: packages are unpacked, not configured.
#
# usage: root.sh OUT BINARY [SITE]   makes OUT/{kernel,initramfs,root.ext4}; packages are kept in .cache/arm64
set -eu
cd "$(dirname "$0")/../.."
out=$1 binary=$2 site=${3:-}
cache=$PWD/.cache/arm64
[ "$(id -u)" = 0 ] || exec sudo "$0" "$@"

packages=(base-files base-passwd bash coreutils dash login mount util-linux systemd systemd-sysv udev dbus kmod libnss-systemd
  procps grep sed gawk linux-image-arm64 busybox-static hostapd dnsmasq-base wpasupplicant iw openssl)
mkdir -p "$cache/state/lists/partial" "$cache/archives/partial" "$out"
: >"$cache/status"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$cache/state" -o Dir::State::status="$cache/status"
  -o Dir::Cache="$cache" -o Dir::Cache::archives="$cache/archives" -o APT::Sandbox::User=root -o APT::Install-Recommends=0 -o Acquire::Languages=none)
if [ "$(cat "$cache/complete" 2>/dev/null)" != "${packages[*]}" ]; then
  "${apt[@]}" update
  "${apt[@]}" -y --download-only install "${packages[@]}"
  echo "${packages[*]}" >"$cache/complete"
fi

root=$out/root
rm -rf "$root"
mkdir -p "$root"/usr/{bin,sbin,lib}
for d in bin sbin lib; do ln -s "usr/$d" "$root/$d"; done
unneeded='^(perl|perl-modules|libperl|libfile-find|libnumber|libtext-glob|adduser|cpio|gcc-12-base|tiny-initramfs|linux-base|usrmerge|debconf)'
for deb in "$cache"/archives/*.deb; do
  [[ ${deb##*/} =~ $unneeded ]] && continue
  dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" \
    --exclude './usr/share/doc' --exclude './usr/share/man' --exclude './usr/share/locale' --exclude './usr/share/info' \
    --exclude '*/kernel/drivers/gpu' --exclude '*/kernel/drivers/media' --exclude '*/kernel/drivers/net/wireless/*/*' --exclude '*/kernel/sound'
done
kernel=$(basename "$root"/boot/vmlinuz-*)
kernel=${kernel#vmlinuz-}
mv "$root/boot/vmlinuz-$kernel" "$out/kernel"
rm -rf "${root:?}"/boot/*
depmod -b "$root" "$kernel"

# What a package's own scripts would have done.
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
ln -sf dash "$root/usr/bin/sh"
[ -e "$root/usr/bin/awk" ] || ln -s gawk "$root/usr/bin/awk"
: >"$root/etc/machine-id"
echo appliance >"$root/etc/hostname"
printf 'passwd: files systemd\ngroup: files systemd\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
printf '/dev/vda / ext4 rw,noatime 0 1\n' >"$root/etc/fstab"
systemd-sysusers --root="$root" >/dev/null 2>&1 || true

# Our part, the same as in the package and the image.
mkdir -p "$out/bin"
cp "$binary" "$out/bin/controllerd"
./scripts/install.sh "$root" "$out/bin" - controllerd
systemd-sysusers --root="$root" controllerd.conf
mkdir -p "$root/etc/systemd/network" "$root/etc/systemd/system/multi-user.target.wants" "$root/etc/systemd/system/sockets.target.wants"
printf '[Match]\nType=ether\n[Network]\nDHCP=yes\n' >"$root/etc/systemd/network/lan.network"
for unit in multi-user.target.wants/systemd-networkd.service multi-user.target.wants/controllerd.service sockets.target.wants/controllerd.socket; do
  ln -sf "/lib/systemd/system/${unit##*/}" "$root/etc/systemd/system/$unit"
done
ln -sf /dev/null "$root/etc/systemd/system/systemd-firstboot.service"
if [ -n "$site" ]; then cp -r "$site/." "$root/"; fi
# Nothing has to be brought up to date at the first start, and only devices are announced: what Debian's kernel has of drivers and modules
# are twice as many, and no rule asks for them.
touch "$root/etc/.updated" "$root/var/.updated"
mkdir -p "$root/etc/systemd/system/systemd-udev-trigger.service.d"
printf '[Service]\nExecStart=\nExecStart=udevadm trigger --type=devices --action=add\n' >"$root/etc/systemd/system/systemd-udev-trigger.service.d/devices.conf"

# The initramfs finds the disk and goes on to it.
tree=$out/initramfs.d
rm -rf "$tree"
mkdir -p "$tree"/{bin,dev,proc,sys,mnt,modules}
cp "$root/usr/bin/busybox" "$tree/bin/busybox"
wanted=(virtio_pci virtio_blk ext4 virtio_net virtio-rng i6300esb)
: >"$tree/order"
for m in "${wanted[@]}"; do
  modprobe -d "$root" -S "$kernel" --show-depends "$m" 2>/dev/null | awk '/^insmod/ {print $2}'
done | awk '!seen[$0]++' | while read -r file; do
  cp "$file" "$tree/modules/"
  basename "$file" >>"$tree/order"
done
cat >"$tree/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev; $b mount -t proc proc /proc; $b mount -t sysfs sys /sys
while read -r m; do $b insmod /modules/"$m"; done </order
n=0
until [ -b /dev/vda ] || [ $n = 100 ]; do $b usleep 100000; n=$((n + 1)); done
$b mount -t ext4 -o rw,noatime /dev/vda /mnt || exec $b sh
$b umount /proc /sys; $b mount -o move /dev /mnt/dev
exec $b switch_root /mnt /lib/systemd/systemd
INIT
chmod +x "$tree/init"
(cd "$tree" && find . | cpio --quiet -o -H newc 2>/dev/null | gzip -1) >"$out/initramfs"

rm -f "$out/root.ext4"
truncate -s 1G "$out/root.ext4"
mkfs.ext4 -q -F -d "$root" "$out/root.ext4"
rm -rf "$root" "$tree"
