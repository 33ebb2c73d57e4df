#!/bin/bash
# Takes the libraries of the pages from npm, four for all, one for the
# platform's and one for the controller's history: upstream's ES modules as they are, except that imports by name
# become relative ones, as browsers resolve no names without an import map, which
# the content security policy forbids.
# Run by go generate in ui; needs npm. Refuses a package whose integrity is not
# the one below.
set -eu
cd "$(dirname "$0")/assets/vendor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

get() { # PACKAGE VERSION LICENCE INTEGRITY FILE=NAME…
  local package=$1 version=$2 licence=$3 integrity=$4 archive sum
  shift 4
  archive=$work/$(cd "$work" && npm pack --silent "$package@$version" 2>/dev/null)
  sum=sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)
  [ "$sum" = "$integrity" ] || { echo "vendor: $package@$version is $sum, want $integrity" >&2; exit 1; }
  local name=${package##*/}
  tar xzOf "$archive" package/LICENSE >"$name.LICENSE"
  for pair in "$@"; do
    tar xzOf "$archive" "package/${pair%%=*}" |
      sed -E -e 's#from ?"preact/hooks"#from"./hooks.js"#g' -e 's#from ?"preact"#from"./preact.js"#g' \
        -e 's#from ?"@preact/signals-core"#from"./signals-core.js"#g' -e '/^\/\/# sourceMappingURL=/d' \
        -e 's#//\# sourceMappingURL=.*$##' ${ending:+-e "\$a $ending"} >"${pair##*=}"
    echo "${pair##*=} | $package | $version | $licence | $(openssl dgst -sha256 -r "${pair##*=}" | cut -d' ' -f1) | $integrity" >>VERSIONS
  done
}

# types NAME PACKAGE: tsc reads what is in NAME.js from the package's own types (package.json pins the same version).
types() { echo "export * from '$2';" >"$1.d.ts"; }

begin() { # in an empty folder
  rm -f ./*
  echo "file | npm package | version | licence | sha256 of the file here | integrity of the package" >VERSIONS
}

begin
get preact 11.2.0 MIT sha512-/HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxMPZ7xBg== \
  dist/preact.mjs=preact.js hooks/dist/hooks.mjs=hooks.js
get htm 3.1.1 Apache-2.0 sha512-983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ== \
  dist/htm.mjs=htm.js
get @preact/signals-core 1.14.5 MIT sha512-vcRv7Ityz5JVmeiVqIluLFzT/PDS/AlhHUpw3/aUWqcVUs6bDGIPXE/6RSC4evBNWYvnniozg5Syfj33al3gkg== \
  dist/signals-core.mjs=signals-core.js
get @preact/signals 2.11.4 MIT sha512-Rb+5RPo9gWSaHtzJeauhHxiC8KP/IF2DEPkHPEOGOnuy2wnJzRqyeLRankUCYd6ADqtxS6GnWGv6Ie343d8aYw== \
  dist/signals.mjs=signals.js
types preact preact
types hooks preact/hooks
types signals @preact/signals
echo "export { default } from 'htm';" >htm.d.ts
get lean-qr 2.7.4 MIT sha512-tlMPFfqhAAZN7+j/djRSvl/2+AYT2+7RRuyq8bvcbV8gMiENiscquQ9WTfCSyeEdxsVaEB+tU7e9nFZC63BFnQ== \
  nano.mjs=lean-qr.js
echo 'export function generate(text: string): { size: number; get(x: number, y: number): boolean };' >lean-qr.d.ts

# Of uPlot only what is no module is made small; it becomes one.
cd ../../../../admin/pages/app/past/vendor
begin
ending='export default uPlot;' get uplot 1.6.32 MIT sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw== \
  dist/uPlot.iife.min.js=uplot.js
ending='' get uplot 1.6.32 MIT sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw== \
  dist/uPlot.min.css=uplot.css
echo 'declare const uPlot: any; export default uPlot;' >uplot.d.ts
