#!/bin/bash
# Fetches from Debian what a build needs of other people's sources, and unpacks each so that Buildroot takes the folder instead
# of a download. usage: sources.sh WORK BUILDROOT; makes WORK/sources/NAME and WORK/local.mk
set -eu
cd "$(dirname "$0")"
work=$1 buildroot=$2
mirror=$DEBIAN_MIRROR
mkdir -p "$work"/apt/{state/lists/partial,archives/partial} "$work/tarballs" "$work/sources"
: >"$work/apt/status"
for suite in bookworm trixie sid; do
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
done >"$work/apt/sources.list"
cat >"$work/apt/apt.conf" <<CONF
Dir::State "$work/apt/state";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt";
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "-";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
export APT_CONFIG=$work/apt/apt.conf

: >"$work/local.mk"
updated=no
while read -r packages source version unpatched; do
  [[ $packages != \#* ]] || continue
  dir=$work/sources/$source
  upstream=${version#*:}
  upstream=${upstream%-*}
  if [ ! -e "$dir/.complete" ]; then
    if ! ls "$work/tarballs/${source}_$upstream".orig.tar.?z* >/dev/null 2>&1; then
      [ $updated = yes ] || apt-get -qq update
      updated=yes
      (cd "$work/tarballs" && apt-get -qq source --tar-only --download-only "$source=$version" 2>/dev/null) || true
    fi
    tarball=$(find "$work/tarballs" -name "${source}_$upstream.orig.tar.?z*" ! -name '*.asc' | head -1)
    [ -n "$tarball" ] || { echo "sources.sh: Debian has no source $source=$version any more; correct offline/sources.txt" >&2; exit 1; }
    rm -rf "$dir"
    mkdir -p "$dir"
    tar xf "$tarball" -C "$dir" --strip-components=1
    for patch in "$buildroot/package/${packages%%,*}"/*.patch; do
      [ ! -e "$patch" ] || [ "$unpatched" ] || patch -d "$dir" -p1 -s --no-backup-if-mismatch <"$patch"
    done
    # Some of Debian's tarballs are what is in the project's repository, without the generated parts of a release.
    ac=$(find "$dir" -maxdepth 2 -name configure.ac | head -1)
    if [ -n "$ac" ] && [ ! -e "$dir/meson.build" ] && [ ! -e "${ac%/*}/configure" ]; then (cd "${ac%/*}" && autoreconf -fi >autoreconf.log 2>&1) || { tail -5 "${ac%/*}/autoreconf.log"; exit 1; }; fi
    # As Buildroot does with what it downloads: libtool looks for libraries in this machine's folders otherwise.
    for libtool in $(find "$dir" -name ltmain.sh); do patch -s -i "$buildroot/support/libtool/buildroot-libtool-v2.4.4.patch" "$libtool"; done
    touch "$dir/.complete"
  fi
  for p in ${packages//,/ }; do
    name=${p^^}
    [ ! -d "$dir/$p" ] || [ ! -e "$dir/$p/configure" ] || dir=$dir/$p
    echo "${name//-/_}_OVERRIDE_SRCDIR = $dir" >>"$work/local.mk"
  done
done <sources.txt
# What describes time zones comes from this machine's tzdata.
mkdir -p "$work/sources/none"
echo "TZDATA_OVERRIDE_SRCDIR = $work/sources/none" >>"$work/local.mk"
# glib wants a newer meson than Debian 12 has; it is Python, so that of Debian 13 will do.
if [ ! -e "$work/meson/usr/bin/meson" ]; then
  (cd "$work/tarballs" && curl -fsSO "$mirror"/pool/main/m/meson/meson_1.7.0-1_all.deb &&
    echo "e92d04e60e784336883d537755d09b7dcb856809fa318a0931df3898e84ded95  meson_1.7.0-1_all.deb" | sha256sum --quiet -c && dpkg -x meson_1.7.0-1_all.deb "$work/meson")
  # It calls itself by its path, and then has to find its own modules and not those of the older one.
  ln -s ../lib/python3/dist-packages/mesonbuild "$work/meson/usr/bin/mesonbuild"
fi
