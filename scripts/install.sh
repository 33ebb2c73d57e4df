#!/bin/sh
# Puts the two daemons, their units, users, settings, manual pages and completions below DESTDIR, as "make install" and the
# Debian packages do. usage: install.sh DESTDIR BINARIES MANUALS [PROGRAM …]; MANUALS - leaves the pages and completions out
set -eu
dest=$1 bin=$2 manuals=$3
shift 3
[ $# -gt 0 ] || set -- controllerd platformd
cd "$(dirname "$0")/.."
for p; do
  install -Dm755 "$bin/$p" "$dest/usr/bin/$p"
  install -Dm644 "systemd/$p.service" "$dest/lib/systemd/system/$p.service"
  install -Dm644 "systemd/$p.socket" "$dest/lib/systemd/system/$p.socket"
  install -Dm644 "systemd/$p.sysusers" "$dest/usr/lib/sysusers.d/$p.conf"
  [ -e "$dest/etc/default/$p" ] || install -Dm600 "systemd/$p.default" "$dest/etc/default/$p"
  [ "$manuals" != - ] || continue
  for m in "$manuals"/man/"$p"*.1; do install -Dm644 "$m" "$dest/usr/share/man/man1/${m##*/}"; done
  install -Dm644 "$manuals/completion/$p.bash" "$dest/usr/share/bash-completion/completions/$p"
  install -Dm644 "$manuals/completion/$p.zsh" "$dest/usr/share/zsh/vendor-completions/_$p"
  install -Dm644 "$manuals/completion/$p.fish" "$dest/usr/share/fish/vendor_completions.d/$p.fish"
done
