#!/bin/sh
# Tells which version this checkout is, in the form that packages, images and the daemon share. A tag v1.4.0 is 1.4.0, twelve
# commits later it is 1.4.0+12.gabcdef1, which is newer than 1.4.0 and older than 1.4.1; v1.5.0-rc1 is older than 1.5.0. Where
# there is no tag yet, the number of commits says which is newer.
set -eu
now=$(git describe --tags --match 'v[0-9]*' --long 2>/dev/null) || now=
if [ -z "$now" ]; then
  version=0.$(git rev-list --count HEAD)+$(git rev-parse --short HEAD)
else
  tag=${now%-*-g*} after=${now#"${now%-*-g*}"-}
  version=${tag#v}
  [ "${after%-*}" = 0 ] || version=$version+${after%-*}.${after#*-}
fi
[ -z "$(git status --porcelain --untracked-files=no)" ] || case $version in *+*) version=$version.dirty ;; *) version=$version+dirty ;; esac
echo "$version"
