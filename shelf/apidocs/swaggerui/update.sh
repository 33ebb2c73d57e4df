#!/bin/sh
# Takes the two files that /docs needs from the Swagger UI that go.mod names.
# Run by go generate in shelf/apidocs; a test fails when they are not the same.
set -eu
dist=$(go list -m -f '{{.Dir}}' github.com/swaggo/files/v2)/dist
for f in swagger-ui-bundle.js swagger-ui.css; do
	gzip -9 -n -c "$dist/$f" >"swaggerui/$f.gz"
done
