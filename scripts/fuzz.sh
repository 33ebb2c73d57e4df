#!/bin/bash
# Runs every fuzz target for the time given (default 60s) and fails at the first
# finding.
set -eu
cd "$(dirname "$0")/.."
each=${1:-60s}
for dir in $(git ls-files '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do
  for target in $(grep -h -o '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //'); do
    echo "== $dir $target $each"
    go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$each"
  done
done
