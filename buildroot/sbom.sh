#!/bin/bash
# Says what an image consists of: a CycloneDX 1.6 document of the system's packages and of the modules that the daemon is made of.
# usage: sbom.sh INFO DAEMON VERSION [SOURCES [COMPONENTS]]     INFO is Buildroot's "make show-info", DAEMON the built program, SOURCES a
#   list "package,package source version" of what was taken from Debian instead, COMPONENTS a JSON list of what else there is
set -eu
info=$1 daemon=$2 version=$3 sources=${4:-/dev/null} components=${5:-}
instead=$(grep -v '^#' "$sources" | awk '{n = split($1, p, ","); sub(/^[0-9]*:/, "", $3); sub(/-[^-]*$/, "", $3); for (i = 1; i <= n; i++) print p[i] "\t" $3}' |
  jq -Rn '[inputs | split("\t") | {(.[0]): .[1]}] | add // {}')
go version -m "$daemon" | awk '$1 == "dep" {print $2 "\t" $3}' |
  jq -Rn '[inputs | split("\t") | {type: "library", name: .[0], version: .[1], purl: "pkg:golang/\(.[0])@\(.[1])"}]' |
  jq --slurpfile info "$info" --argjson instead "$instead" --argjson more "$([ -z "$components" ] && echo [] || cat "$components")" --arg version "$version" '{
    bomFormat: "CycloneDX", specVersion: "1.6", version: 1,
    metadata: {component: {type: "firmware", name: "controller", version: $version}},
    components: ([$info[0] | to_entries[] | select(.value.type == "target" and (.value.virtual | not)) | .key as $name | .value + (if $instead[$name] then {version: $instead[$name], "cpe-id": ""} else {} end) | . as $p
      | {type: (if $name == "linux" then "operating-system" else "library" end), name: $name}
        + (if ($p.version // "") == "" then {} else {version: $p.version} end)
        + (if ($p.licenses // "") == "" then {} else {licenses: [{license: {name: $p.licenses}}]} end)
        + (if ($p["cpe-id"] // "") == "" then {} else {cpe: $p["cpe-id"]} end)] + $more + .)
  }'
