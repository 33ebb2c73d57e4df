#!/bin/bash
# Makes the Debian packages of both daemons for amd64, arm64 and armhf, into output/deb. usage: deb.sh [ARCHITECTURE …]
set -eu
cd "$(dirname "$0")/.."
nfpm="go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4"
[ $# -gt 0 ] || set -- amd64 arm64 armhf
version=$(./scripts/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p output/deb

./scripts/manuals.sh "$work/manuals"
declare -A about=(
  [controllerd]="Controller for a building's lights and shades (Modbus, Somfy SDN, DALI, DMX)"
  [platformd]="Cloud platform for building controllers: API keys, assistant, MCP, panel and voice"
)
for arch; do
  case $arch in
  amd64) target="GOARCH=amd64" ;;
  arm64) target="GOARCH=arm64" ;;
  armhf) target="GOARCH=arm GOARM=7" ;;
  *) echo "deb.sh: architecture $arch is none of amd64, arm64, armhf" >&2; exit 2 ;;
  esac
  mkdir -p "$work/$arch/bin"
  env GOOS=linux CGO_ENABLED=0 $target go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$work/$arch/bin/" ./cmd/controllerd ./cmd/platformd
  for name in controllerd platformd; do
    root="$work/$arch/$name"
    ./scripts/install.sh "$root" "$work/$arch/bin" "$work/manuals" "$name"
    mkdir -p "$root.scripts"
    for s in postinst prerm postrm; do sed "s/@NAME@/$name/g" "systemd/$s.in" >"$root.scripts/$s"; done
    sed -e "s|@NAME@|$name|g; s|@ARCH@|$arch|; s|@VERSION@|$version|; s|@ROOT@|$root|; s|@SCRIPTS@|$root.scripts|" \
      -e "s|@DESCRIPTION@|${about[$name]}|" systemd/nfpm.yaml.in >"$root.yaml"
    $nfpm package --config "$root.yaml" --packager deb --target output/deb/ | grep created || exit 1
  done
done
ls -l output/deb
