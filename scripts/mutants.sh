#!/bin/bash
# Switches off, one by one, the mechanisms that every mutants.txt names, and demands that
# a unit test beside it notices. The explorers are left out: they notice most, and say
# least about which rule it was.
#
#   scripts/mutants.sh [-n] [package directory …]     default: all that have a mutants.txt
#
# A line "@ package directory" has the tests of that package look, too, where those beside
# the file notice nothing: of a room that is tried with what it works in. A line
# "! regular expression" leaves out tests that wait for wire time: on a busy machine they
# fail for nothing, which would look as if they had noticed something.
#
# With -n it only demands that each line is there, in a second.
#
# A mutants.txt is a list of
#
#   = file.go  what is switched off
#   - the line, without the space around it; it must be there exactly once
#   + what stands there instead; without this line: nothing
#
# The files themselves are never touched: the compiler is handed others in their place.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0
alive=0 dead=0 only= also=() skip=
if [ "${1:-}" = -n ]; then only=1; shift; fi

# try PACKAGE FILE LINE REPLACEMENT NAME
try() {
  local pkg=$1 file=$2 line=$3 instead=$4 name=$5
  local there
  there=$(awk -v line="$line" '{ t = $0; gsub(/^[ \t]+|[ \t]+$/, "", t) } t == line { n++ } END { print n + 0 }' "$pkg/$file")
  if [ "$there" != 1 ]; then
    echo "STALE   $pkg/$file: $there lines read: $line"
    alive=$((alive + 1))
    return
  fi
  [ -z "$only" ] || return 0
  awk -v line="$line" -v instead="$instead" '{ t = $0; gsub(/^[ \t]+|[ \t]+$/, "", t) } t == line { print instead; next } { print }' "$pkg/$file" >"$work/mutant.go"
  printf '{"Replace": {"%s/%s/%s": "%s/mutant.go"}}\n' "$PWD" "$pkg" "$file" "$work" >"$work/overlay.json"
  local dir
  for dir in "$pkg" "${also[@]}"; do
    if ! go test -c -vet=off -ldflags=-w -overlay="$work/overlay.json" -o "$work/mutant.test" "./$dir" >"$work/out" 2>&1; then
      echo "BROKEN  $pkg/$file: $name: does not compile"
      cat "$work/out"
      alive=$((alive + 1))
      return
    elif ! (cd "$dir" && "$work/mutant.test" -test.failfast -test.timeout 2m -test.skip "Campaign|Soak|Explorer$skip") >"$work/out" 2>&1; then
      dead=$((dead + 1))
      return
    fi
  done
  echo "ALIVE   $pkg/$file: $name"
  alive=$((alive + 1))
}

lists=()
if [ $# -gt 0 ]; then
  for dir; do lists+=("${dir%/}/mutants.txt"); done
else
  mapfile -t lists < <(git ls-files '*mutants.txt')
fi
for list in "${lists[@]}"; do
  pkg=$(dirname "$list") pkg=${pkg#./} file="" name="" line="" instead="" also=() skip=
  while IFS= read -r row || [ -n "$row" ]; do
    case $row in
      '= '*)
        [ -z "$line" ] || try "$pkg" "$file" "$line" "$instead" "$name"
        row=${row#= } file=${row%% *} name=$(echo "${row#* }" | sed 's/^ *//') line="" instead="" ;;
      '@ '*) also+=("${row#@ }") ;;
      '! '*) skip="|${row#! }" ;;
      '- '*) line=${row#- } ;;
      '+ '*) instead=${row#+ } ;;
      '' | '#'*) ;;
      *) echo "$list: cannot read: $row"; exit 1 ;;
    esac
  done <"$list"
  [ -z "$line" ] || try "$pkg" "$file" "$line" "$instead" "$name"
done
[ -n "$only" ] || echo "$dead noticed, $alive not"
[ "$alive" = 0 ]
