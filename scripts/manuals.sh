#!/bin/sh
# Writes the manual pages and shell completions of both daemons, from the daemons themselves. usage: manuals.sh DIRECTORY
set -eu
out=$1
cd "$(dirname "$0")/.."
mkdir -p "$out/man" "$out/completion"
for p in controllerd platformd; do
  go build -tags manuals -o "$out/$p" "./cmd/$p"
  "$out/$p" manuals "$out/man"
  for shell in bash zsh fish; do "$out/$p" completion $shell >"$out/completion/$p.$shell"; done
  rm "$out/$p"
done
