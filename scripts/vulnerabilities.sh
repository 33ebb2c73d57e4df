#!/bin/bash
# Fails if our programs reach a function of somebody else's module with a known hole. The database is a Go module, so that
# nothing but what modules come from is asked. Holes of Go itself are told, and which Go mends them: whoever builds has it.
set -eu
cd "$(dirname "$0")/.."
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
database=golang.org/x/vulndb@latest

# Reviewed: in a package, but not where we go. One line each, with the reason.
reviewed='
GO-2026-6872 echo believes X-Forwarded-For unless told otherwise: web.New tells it otherwise (IPExtractor)
GO-2026-6875 the reverse proxy of echo: not used, platformd and controllerd pass nothing on with it
'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -r version dir < <(go mod download -json "$database" | sed -n 's/^\t"Version": "\(.*\)",/\1/p; s/^\t"Dir": "\(.*\)",/\1/p' | paste -sd ' ')
go run "golang.org/x/vulndb/cmd/indexdb@$version" -vulns "$dir/data/osv" -out "$work/db"
echo "database of $version"

status=0
go run "$govulncheck" -db "file://$work/db" ./... >"$work/told" 2>&1 || status=$?
if [ "$status" != 0 ] && ! grep -q '^Vulnerability #' "$work/told"; then
	cat "$work/told"
	exit 1
fi
found() { # Go or modules: the IDs of the holes there
	awk -v go="$1" '/^Vulnerability #/ { id = $3 } /^  (Module|Standard library)/ { if ((/Standard library/ ? "go" : "modules") == go) print id }' "$work/told" | sort -u
}
left=$(found modules | while read -r id; do grep -q "^$id " <<<"$reviewed" || echo "$id"; done)
if [ -n "$left" ]; then
	cat "$work/told"
	echo "reached, and not reviewed:" $left
	exit 1
fi
holes=$(found go)
[ -z "$holes" ] || echo "of $(go env GOVERSION) itself: $(wc -w <<<"$holes") holes are reached; mended in $(sed -n 's/^    Fixed in: .*@//p' "$work/told" | sort -uV | paste -sd ' '): build with that or a newer one"
echo "no known hole of a module is reached but those reviewed"
