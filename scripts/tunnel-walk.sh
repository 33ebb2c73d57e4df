#!/bin/bash
# Takes the walk of the README against the demo (make run), directly and through the platform's tunnel, and compares the bodies byte for byte.
set -eu
cd "$(dirname "$0")/../.run" || exit 1
direct=$(sed -n 's/.*"controller":{"url":"\([^"]*\)".*/\1/p' demo.json)
platform=$(sed -n 's/.*"platform":{"url":"\([^"]*\)".*/\1/p' demo.json)
far=https://demo-building.tunnel.localhost:${platform##*:}
password=$(sed -n 's/.*"username":"building_os","password":"\([^"]*\)".*/\1/p' demo.json)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

token=""
ask() { # FILE BASE PATH [BODY]
  local ca=data/certificate.pem
  [ "$2" = "$direct" ] || ca=platform/certificate.pem
  curl -sS --cacert $ca -o "$work/$1" -H "Authorization: Bearer $token" "$2/svc/api/$3" ${4:+-d "$4"}
}
failed=0
same() { # PATH [BODY]: what is read may change between two questions, so the tunnel's answer counts between two that are the same
  for _ in $(seq 200); do
    ask before "$direct" "$@"
    ask far "$far" "$@"
    ask after "$direct" "$@"
    cmp -s "$work/before" "$work/after" && break
  done
  if cmp -s "$work/before" "$work/far"; then
    echo "the same $(wc -c <"$work/far") bytes: $*"
  else
    echo "DIFFERENT: $*"
    failed=1
  fi
}

same getClusters # nobody gets in without a token
ask login "$far" authenticate "{\"username\":\"building_os\",\"password\":\"$password\"}"
token=$(sed 's/.*"auth_token":"\([^"]*\)".*/\1/' "$work/login")
same getClusters
same channelControl '{"targetType":2,"targetId":3,"command":"DIM","dimLevel":40}'
same "getLightLevels?targetType=2&targetId=3"
same shadeControl '{"targetType":3,"targetId":5001,"command":"POS","posValue":60}'
same getShades
exit $failed
