#!/bin/bash
# Gives a build this machine's tools instead of Buildroot's own: every host package is marked as built, and its programs are
# links to Debian's. usage: host-tools.sh OUTPUT INFO MESON BUILDROOT STAGING; OUTPUT is Buildroot's output folder, INFO its "make show-info",
# MESON an unpacked package of meson, STAGING where the sysroot lies below OUTPUT/host
set -eu
output=$1 info=$2 meson=$3 buildroot=$4 staging=$5
mkdir -p "$output"/host/{bin,sbin,lib,share}

# These need no download, and make what nobody else has.
own='["host-skeleton","host-makedevs","host-mkpasswd"]'
jq -r --argjson own "$own" 'to_entries[] | select(.value.type == "host" and (.value.virtual | not)) | select(.key as $k | $own | index($k) | not) | .value.stamp_dir' "$info" |
  while read -r dir; do
    mkdir -p "$output/$dir"
    for stamp in downloaded extracted rsynced patched configured built host_installed installed; do touch "$output/$dir/.stamp_$stamp"; done
  done

link() { ln -sfn "$1" "$output/host/$2"; }
for tool in python3 ninja m4 autoconf autoheader autoreconf automake aclocal autom4te libtoolize libtool msgfmt msgmerge xgettext autopoint \
  gperf fakeroot patchelf mkimage rauc genimage mcopy mformat mkdosfs mksquashfs cmake bison flex glib-compile-resources glib-compile-schemas \
  glib-genmarshal glib-mkenums gdbus-codegen systemctl journalctl dtc tar lzip xz; do
  path=$(command -v "$tool" || true)
  if [ -n "$path" ]; then link "$path" "bin/$tool"; fi
done
for tool in depmod mkfs.ext4 mkfs.ext2 resize2fs tune2fs e2fsck mkfs.vfat; do link "$(PATH=$PATH:/sbin:/usr/sbin command -v $tool)" "sbin/$tool"; done
# Debian 12's does not know the modifier "$" (remove when purged) of the newer systemd in the image, and would leave those lines out.
rm -f "$output/host/bin/systemd-tmpfiles"
cat >"$output/host/bin/systemd-tmpfiles" <<TMPFILES
#!/bin/sh
case " \$* " in
*" - ") sed -E 's/^([A-Za-z+!=~^-]+)\\$/\\1/' | $(command -v systemd-tmpfiles) "\$@" ;;
*) exec $(command -v systemd-tmpfiles) "\$@" ;;
esac
TMPFILES
chmod +x "$output/host/bin/systemd-tmpfiles"
printf '#!/bin/sh\nexec %s "$@"\n' "$meson/usr/bin/meson" >"$output/host/bin/meson"
chmod +x "$output/host/bin/meson"
link "$(go env GOROOT)" lib/go
link ../lib/go/bin/go bin/go
link ../lib/go/bin/gofmt bin/gofmt
# Buildroot patches its pkgconf to put the sysroot before these variables only; Debian's puts it before all of them.
rm -f "$output/host/bin/pkgconf"
cat >"$output/host/bin/pkgconf" <<PKGCONF
#!/bin/sh
case " \$* " in
*--variable=libdir\ * | *--variable=includedir\ * | *--variable=mapdir\ * | *--variable=sdkdir\ * | *--variable=g_ir_*) ;;
*--variable=*) export PKG_CONFIG_SYSROOT_DIR=/ ;;
esac
exec $(command -v pkgconf) "\$@"
PKGCONF
sed "s,@STAGING_SUBDIR@,$staging,g; s,@STATIC@,," "$buildroot/package/pkgconf/pkg-config.in" >"$output/host/bin/pkg-config"
chmod +x "$output/host/bin/pkgconf"
chmod +x "$output/host/bin/pkg-config"
mkdir -p "$output/host/share/zoneinfo/posix"
(cd /usr/share/zoneinfo && cp -aL Africa America Antarctica Asia Atlantic Australia Europe Indian Pacific Etc UTC "$output/host/share/zoneinfo/posix/")
cp /usr/share/zoneinfo/*.tab "$output/host/share/zoneinfo/"
