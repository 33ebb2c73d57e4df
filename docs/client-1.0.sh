#!/bin/sh
# A client as they were written for Controller 1.0: curl and POSIX sh, nothing else.
# It logs in, reads, and commands lights and shades for all, one cluster and one
# target. It ends with 1 at the first answer that is not a success.
#
#   CONTROLLER_URL       https://controller.local:8443
#   CONTROLLER_CA        file with the controller's certificate (PEM)
#   CONTROLLER_USER      an account with the role api_service, operator or admin
#   CONTROLLER_PASSWORD  its password
#   CHECK                optional: a program that is called after each command that
#                        succeeded, with the endpoint and the body as arguments; if
#                        it fails, so does this client
set -eu

: "${CONTROLLER_URL:?set CONTROLLER_URL, such as https://controller.local:8443}"
: "${CONTROLLER_CA:?set CONTROLLER_CA to the file with the certificate of the controller}"
: "${CONTROLLER_USER:?set CONTROLLER_USER to the name of an account}"
: "${CONTROLLER_PASSWORD:?set CONTROLLER_PASSWORD to its password}"
api=$CONTROLLER_URL/svc/api

# Neither password nor token goes on a command line, where others could read it.
umask 077
auth=$(mktemp)
trap 'rm -f "$auth"' EXIT
trap 'exit 1' HUP INT TERM

fail() { echo "client: $*" >&2; exit 1; }

# curl with certificate, time limit and the token once there is one.
ask() { curl --silent --show-error --max-time 20 --cacert "$CONTROLLER_CA" --config "$auth" "$@"; }

get() { ask --fail "$api/$1" || fail "GET $1 failed"; }

# text NAME: value of the first string field of that name on standard input.
text() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' | head -n 1; }

# number NAME: the same of an integer field.
number() { sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p' | head -n 1; }

# records: one JSON object of a list per line.
records() { tr '}' '\n'; }

# json STRING: as JSON text.
json() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g'; }

# demand ENDPOINT BODY: must answer status 1.
demand() {
	answer=$(printf '%s' "$2" | ask --data @- "$api/$1") || fail "POST $1 $2 failed"
	echo "$1 $2 -> $answer"
	case $answer in
	'{"status":1'*) ;;
	*) fail "$1 $2 did not succeed" ;;
	esac
	if [ -n "${CHECK:-}" ]; then
		"$CHECK" "$1" "$2" || fail "after $1 $2 the check found something else"
	fi
}

# for_all_cluster_one ENDPOINT CLUSTER ONE FIELDS
for_all_cluster_one() {
	demand "$1" "{\"targetType\":1,$4}"
	if [ "${2:-0}" -ne 0 ]; then
		demand "$1" "{\"targetType\":2,\"targetId\":$2,$4}"
	fi
	demand "$1" "{\"targetType\":3,\"targetId\":$3,$4}"
}

# Log in.
login=$(printf '{"username":"%s","password":"%s"}' "$(json "$CONTROLLER_USER")" "$(json "$CONTROLLER_PASSWORD")" |
	ask --data @- "$api/authenticate") || fail "authenticate failed"
token=$(printf '%s' "$login" | text auth_token)
[ -n "$token" ] || fail "not logged in: $login"
printf 'header = "Authorization: Bearer %s"\n' "$token" >"$auth"
echo "authenticate -> token until $(printf '%s' "$login" | text tokenExpiresOn)"

# Look around.
clusters=$(get getClusters)
echo "getClusters -> $(printf '%s' "$clusters" | records | grep -c '"id"') clusters"
levels=$(get getLightLevels)
echo "getLightLevels -> $(printf '%s' "$levels" | records | grep -c '"Id"') values"
shades=$(get getShades)
echo "getShades -> $(printf '%s' "$shades" | records | grep -c '"id"') shades"

# rows KIND: the rows of that kind, those in a cluster first.
rows() {
	printf '%s' "$levels" | records | grep "\"valueType\":\"$1\"" | grep -v '"ClusterId":0,' || true
	printf '%s' "$levels" | records | grep "\"valueType\":\"$1\"" | grep '"ClusterId":0,' || true
}

dim=$(rows DIM_LEVEL | head -n 1)
if [ -n "$dim" ]; then
	cluster=$(printf '%s\n' "$dim" | number ClusterId)
	node=$(printf '%s\n' "$dim" | number NodeId)
	get "getLightLevels?targetType=2&targetId=$cluster" >/dev/null
	for_all_cluster_one channelControl "$cluster" "$node" '"channelId":0,"command":"ON"'
	for_all_cluster_one channelControl "$cluster" "$node" '"channelId":0,"command":"DIM","dimLevel":40'
	for_all_cluster_one channelControl "$cluster" "$node" '"channelId":0,"command":"OFF"'
else
	echo "no lights here"
fi

tuned=$(rows COLOR_LEVEL | head -n 1)
if [ -n "$tuned" ]; then
	for_all_cluster_one setColorTemp "$(printf '%s\n' "$tuned" | number ClusterId)" \
		"$(printf '%s\n' "$tuned" | number NodeId)" '"colorTemp":3500'
else
	echo "no tunable lights here"
fi

coloured=$(rows COLOR | head -n 1)
if [ -n "$coloured" ]; then
	for_all_cluster_one setRGBW "$(printf '%s\n' "$coloured" | number ClusterId)" \
		"$(printf '%s\n' "$coloured" | number NodeId)" '"R":255,"G":120,"B":0,"W":10,"DL":60'
else
	echo "no coloured lights here"
fi

shade=$(printf '%s' "$shades" | records | grep '"status":"ONLINE"' | head -n 1)
if [ -n "$shade" ]; then
	id=$(printf '%s\n' "$shade" | number id)
	cluster=$(printf '%s\n' "$shade" | number clusterId)
	for_all_cluster_one shadeControl "$cluster" "$id" '"command":"UP"'
	for_all_cluster_one shadeControl "$cluster" "$id" '"command":"STOP"'
	for_all_cluster_one shadeControl "$cluster" "$id" '"command":"DOWN"'
	for_all_cluster_one shadeControl "$cluster" "$id" '"command":"STOP"'
	for_all_cluster_one shadeControl "$cluster" "$id" '"command":"POS","posValue":50'
else
	echo "no shades here"
fi
echo "all done"
