#!/bin/bash
# Installs, upgrades, removes and purges a built package in a Debian system of its own, and looks at what each leaves behind.
# Nothing is installed on this machine. The upgrade is to the same package with a later version.
# usage: deb-test.sh PACKAGE.deb, of this machine's architecture
set -eu
cd "$(dirname "$0")/.."
old=$(realpath "$1")
[ "$(id -u)" = 0 ] || exec sudo "$0" "$@"
name=$(dpkg-deb -f "$old" Package)
cache=$PWD/.cache/deb-test
packages=(base-files base-passwd bash libc-bin coreutils dash dpkg tar sed grep gzip xz-utils findutils diffutils util-linux systemd adduser)
mkdir -p "$cache"/{state/lists/partial,archives/partial}
: >"$cache/status"
if [ ! -e "$cache/complete" ]; then
  apt=(apt-get -qq -o Dir::State="$cache/state" -o Dir::State::status="$cache/status" -o Dir::Cache="$cache" -o Dir::Cache::archives="$cache/archives"
    -o APT::Sandbox::User=root -o APT::Install-Recommends=0 -o Acquire::Languages=none)
  "${apt[@]}" update
  "${apt[@]}" -y --download-only install "${packages[@]}"
  touch "$cache/complete"
fi

root=$(mktemp -d)
trap 'rm -rf "$root" "$root.said"' EXIT
mkdir -p "$root/run/systemd/system" "$root"/usr/{bin,sbin,lib,lib64} "$root"/var/lib/dpkg/{info,updates,triggers}
for d in bin sbin lib lib64; do ln -s "usr/$d" "$root/$d"; done
: >"$root/var/lib/dpkg/status"
for deb in "$cache"/archives/*.deb; do
  [[ ${deb##*/} =~ ^(perl|libperl|perl-modules) ]] && continue
  dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" --exclude './usr/share/doc' --exclude './usr/share/man' --exclude './usr/share/locale'
done
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
ln -sf dash "$root/usr/bin/sh"
mv "$root/usr/bin/systemctl" "$root/usr/bin/systemctl.real"
cat >"$root/usr/bin/systemctl" <<'SYSTEMCTL'
#!/bin/sh
# There is no systemd in here: what it is asked to start and stop is written down.
case " $* " in
*" is-active "*) exit 3 ;;
*" is-enabled "* | *" enable "* | *" disable "*) SYSTEMD_OFFLINE=1 exec systemctl.real "$@" ;;
*) echo "$*" >>/asked ;;
esac
SYSTEMCTL
chmod +x "$root/usr/bin/systemctl"
cp "$old" "$root/old.deb"
dpkg-deb -R "$old" "$root/later"
sed -i 's/^Version: .*/&.1/' "$root/later/DEBIAN/control"
new=$root/new.deb
dpkg-deb -b "$root/later" "$new" >/dev/null
rm -rf "$root/later"

failed=0
want() { # WHAT COMMAND…
  local what=$1
  shift
  if "$@" >"$root.said" 2>&1; then echo "ok      $what"; else echo "FAILED  $what"; sed "s/^/        /" "$root.said"; failed=1; fi
}
in_root() { chroot "$root" /usr/bin/env PATH=/usr/sbin:/usr/bin "$@"; }
dpkg_in() { in_root dpkg --force-depends --force-confold "$@" >"$root/log" 2>&1 || { cat "$root/log"; return 1; }; }
state() { in_root dpkg-query -W -f '${db:Status-Status} ${Version}' "$name" 2>/dev/null; }
enabled() { [ -L "$root/etc/systemd/system/multi-user.target.wants/$name.service" ] && [ -L "$root/etc/systemd/system/sockets.target.wants/$name.socket" ]; }

# asked tells whether systemd was asked for something since the last time.
asked() {
  local found=0
  grep -qE "$1" "$root/asked" || found=1
  : >"$root/asked"
  return $found
}

want "install" dpkg_in -i /old.deb
want "is installed" [ "$(state)" = "installed $(dpkg-deb -f "$old" Version)" ]
want "has its user" grep -q "^$name:" "$root/etc/passwd"
want "is enabled" enabled
want "is started" asked "^(re)?start .*$name.service"
want "runs and tells its version" in_root "$name" version
want "keeps its settings to root" [ "$(stat -c %a "$root/etc/default/$name" 2>&1)" = 600 ]
mkdir -p "$root/var/lib/$name"
echo kept >"$root/var/lib/$name/data"
echo "# of the installer" >>"$root/etc/default/$name"

want "upgrade" dpkg_in -i /new.deb
want "is upgraded" [ "$(state)" = "installed $(dpkg-deb -f "$new" Version)" ]
want "is started anew" asked "^restart $name.service"
want "keeps data and changed settings over an upgrade" sh -c "grep -q kept '$root/var/lib/$name/data' && grep -q 'of the installer' '$root/etc/default/$name'"

want "remove" dpkg_in -r "$name"
want "is stopped" asked "^(stop|disable --quiet --now) .*$name.service"
want "is removed" [ ! -e "$root/usr/bin/$name" ]
want "keeps data and settings over a removal" sh -c "[ -e '$root/var/lib/$name/data' ] && [ -e '$root/etc/default/$name' ]"

want "install again" dpkg_in -i /new.deb
want "is enabled again" enabled
want "is started again" asked "^(re)?start .*$name.service"
want "finds its data" grep -q kept "$root/var/lib/$name/data"
want "purge" dpkg_in -P "$name"
want "leaves nothing" sh -c "[ ! -e '$root/var/lib/$name' ] && [ ! -e '$root/etc/default/$name' ] && ! ls '$root/lib/systemd/system/$name'* && ! ls '$root'/etc/systemd/system/*.wants/$name.*"

want "install once more" dpkg_in -i /old.deb
in_root systemctl disable --quiet "$name.socket" "$name.service"
: >"$root/asked"
want "upgrade of what somebody has disabled" dpkg_in -i /new.deb
want "leaves it disabled and alone" sh -c "! ls '$root'/etc/systemd/system/*.wants/$name.* && ! grep -q start '$root/asked'"
exit $failed
