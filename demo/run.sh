#!/bin/bash
# Starts the demo building, a controller for it and the platform that it reports to,
# prints where they are and waits for Ctrl-C, which stops all. With CLAIM=1 the
# controller has no users yet and waits to be claimed. PORT_BASE (18440) and the five
# ports above it are used, on loopback only. The demo goes on when its controller is
# killed; .run/start-controller starts it again.
set -eu
cd "$(dirname "$0")/.."
base=${PORT_BASE:-18440}
run=$PWD/.run

give_up() { echo "make run: $*" >&2; exit 1; }

[[ $base =~ ^[0-9]{4,5}$ ]] && ((base >= 1024 && base <= 65530)) ||
  give_up "PORT_BASE is \"$base\", want a number from 1024 to 65530"
command -v curl >/dev/null || give_up "curl is missing; install it with: sudo apt-get install curl"

# Nothing of a demo that is running may be touched: look before clearing up.
exec 9<demo
flock -n 9 || give_up "a demo of this checkout is running already; stop it with Ctrl-C in its terminal (its logins are in .run/demo.json)"
for port in $(seq "$base" $((base + 5))); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    give_up "port $port is taken by another program, perhaps another demo; choose others, for instance: PORT_BASE=20000 make run"
  fi
done

rm -rf "$run"
mkdir -p "$run"
umask 077
plan() { # NAME: the plan of a floor as a site file has it
  printf '      plan:\n        picture: |\n'
  sed 's/^/          /' "demo/plans/$1.svg"
  sed 's/^/        /' "demo/plans/$1.yaml"
}
while IFS= read -r line; do
  if [[ $line =~ @PLAN\ ([a-z-]+)@ ]]; then plan "${BASH_REMATCH[1]}"; else printf '%s\n' "$line"; fi
done <demo/site.yaml.in |
  sed -e "s|@RUN@|$run|; s|@PORT_OFFICES@|$((base + 2))|; s|@PORT_ANNEX@|$((base + 3))|" >"$run/site.yaml"

# The programs get a session of their own, so that Ctrl-C reaches them once, by way
# of this script, and end with it however it ends.
start() { # LOG PROGRAM ARGUMENT…
  local log=$1
  shift
  setpriv --pdeathsig TERM setsid "$@" >"$log" 2>&1 9<&- &
  pids+=($!)
}
pids=()
stop() {
  trap - EXIT INT TERM HUP
  [ ${#pids[@]} -eq 0 ] && return
  local again
  again=$(cat "$run/controllerd.pid" 2>/dev/null || true) # the controller may have been started again
  kill -TERM "${pids[@]}" $again 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  for _ in $(seq 100); do [ -n "$again" ] && kill -0 "$again" 2>/dev/null || break; sleep 0.1; done
}
trap stop EXIT
trap 'stop; echo "Stopped."; exit 0' INT TERM HUP

secret() { od -An -N12 -tx1 /dev/urandom | tr -d ' \n'; }
add() { # NAME ROLE: a user with a password of their own, told in variable pw_NAME
  local password
  password=$(secret)
  printf '%s\n' "$password" | bin/controllerd --data-dir .run/data user add "$1" --role "$2" --password-stdin >/dev/null
  printf -v "pw_$1" %s "$password"
}
echo "Starting the demo building …"
bin/controllerd --data-dir .run/data --log-level WARN site import "$run/site.yaml" >"$run/import.log"
claim=${CLAIM:-0}
if [ "$claim" != 1 ]; then
  add admin admin
  add operator operator
  add building_os api_service
  add viewer viewer
fi

logs() { tail -n 5 "$run"/simbuilding.log "$run"/controllerd.log "$run"/platformd.log 2>/dev/null; }
running() { for p in "${pids[@]}"; do kill -0 "$p" 2>/dev/null || return 1; done; }
await() { # PROGRAM COMMAND…: until the command succeeds
  local program=$1
  shift
  until "$@" >/dev/null 2>&1; do
    running || { logs; give_up "$program did not start; above are the ends of the logs"; }
    ((SECONDS < 30)) || { logs; give_up "$program is not ready after 30 s; above are the ends of the logs"; }
    sleep 0.1
  done
}

# The building first: a controller that finds no adapter warns of it.
start "$run/simbuilding.log" bin/simbuilding --site "$run/site.yaml" --listen "127.0.0.1:$((base + 1))"
await simbuilding grep -q '^control interface at ' "$run/simbuilding.log"
building=$!
start "$run/controllerd.log" bin/controllerd --data-dir .run/data serve --listen "127.0.0.1:$base" --tunnel
echo $! >"$run/controllerd.pid"
await controllerd curl -fsS --cacert "$run/data/certificate.pem" "https://127.0.0.1:$base/readyz"
cat >"$run/start-controller" <<SCRIPT
#!/bin/sh
# Starts the controller of the demo again after it was killed, and waits until it is ready.
cd "$PWD" || exit 1
umask 077
setsid bin/controllerd --data-dir .run/data serve --listen 127.0.0.1:$base --tunnel >>.run/controllerd.log 2>&1 </dev/null &
echo \$! >.run/controllerd.pid
sed -i "s/\"pid\":[0-9]*/\"pid\":\$!/" .run/demo.json
for _ in \$(seq 300); do
  curl -fsS --cacert .run/data/certificate.pem https://127.0.0.1:$base/readyz >/dev/null 2>&1 && exit 0
  sleep 0.1
done
echo "the controller is not ready after 30 s; .run/controllerd.log says why" >&2
exit 1
SCRIPT
chmod 700 "$run/start-controller"

# The platform: two people, a key of one of them, and the controller, enrolled.
person() { # NAME ROLE: likewise on the platform, in variable platform_NAME
  local password
  password=$(secret)
  printf '%s\n' "$password" | bin/platformd --data-dir .run/platform user add "$1" --role "$2" --password-stdin >/dev/null
  printf -v "platform_$1" %s "$password"
}
field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -n 1; } # of JSON, in text
person admin admin
person user user
url=https://127.0.0.1:$((base + 4))
voice=$(secret)
TUNNEL_DOMAIN=tunnel.localhost VOICE_ACTION_ENABLED=true VOICE_ACTION_TOKEN=$voice start "$run/platformd.log" bin/platformd --data-dir .run/platform serve --listen "127.0.0.1:$((base + 4))" --mqtt-listen "127.0.0.1:$((base + 5))"
cloud=$!
ask() { curl -fsS --cacert "$run/platform/certificate.pem" -H 'Content-Type: application/json' "$@"; }
await platformd ask "$url/readyz"
token=$(ask "$url/api/auth/login" -d "{\"username\":\"user\",\"password\":\"$platform_user\"}" | field token)
key=$(ask "$url/api/api-keys" -H "Authorization: Bearer $token" -d '{"name":"demo","permissions":{}}' | field key)
[ -n "$key" ] || { logs; give_up "the platform made no API key; above are the ends of the logs"; }
cid=demo-building
code=$(bin/platformd --data-dir .run/platform controller add "Demo building" --id $cid --json | field code)
bin/controllerd --data-dir .run/data cloud enroll --platform "$url" --code "$code" --ca-file "$run/platform/certificate.pem" >>"$run/import.log"
# Rooms with a device each: the lobby's and the canteen's are ready, one has no panel yet, one no controller.
token=$(ask "$url/api/auth/login" -d "{\"username\":\"admin\",\"password\":\"$platform_admin\"}" | field token)
room() { # ID WORKSPACE [CLUSTERS [deploy]]
  local binding=""
  [ $# -lt 3 ] || binding=",\"controllerId\":\"$cid\",\"clusterIds\":$3"
  ask "$url/api/conferencing/devices" -H "Authorization: Bearer $token" -d "{\"deviceId\":\"$1\",\"workspaceName\":\"$2\"$binding}" >/dev/null
  [ $# -lt 4 ] || code=$(ask -X POST "$url/api/conferencing/devices/$1/deploy" -H "Authorization: Bearer $token" | field panelCode)
}
room canteen-device Canteen "[4]" deploy
room lobby-device Lobby "[3]" deploy
panel="panel/lobby-device?code=$code"
room new-device "Meeting room Alps" "[5]"
room unknown-room-device "New room"
peer=$(bin/platformd --data-dir .run/platform controller peer $cid demo --json)

login() { printf '{"username":"%s","password":"%s"}' "$1" "$2"; }
if [ "$claim" = 1 ]; then
  logins="\"claimCodeFile\":\"$run/data/claim-code\""
  table="  claim code     $(cat "$run/data/claim-code")   (it makes the first user)"
else
  logins="\"admin\":$(login admin "$pw_admin"),
  \"operator\":$(login operator "$pw_operator"),
  \"apiService\":$(login building_os "$pw_building_os"),
  \"viewer\":$(login viewer "$pw_viewer")"
  table="  login          password                   role
  admin          $pw_admin   admin
  operator       $pw_operator   operator
  building_os    $pw_building_os   api_service
  viewer         $pw_viewer   viewer"
fi
cat >"$run/demo.json.part" <<JSON
{"controller":{"url":"https://127.0.0.1:$base","caFile":"$run/data/certificate.pem",
  "pid":$(cat "$run/controllerd.pid"),"start":"$run/start-controller",
  $logins},
 "simbuilding":{"url":"http://127.0.0.1:$((base + 1))"},
 "platform":{"url":"$url","caFile":"$run/platform/certificate.pem",
  "admin":$(login admin "$platform_admin"),
  "user":$(login user "$platform_user"),
  "apiKey":"$key"},
 "voice":{"url":"$url/api/conferencing/voice/action","token":"$voice","deviceId":"lobby-device","clusterIds":[3],
  "unassignedDeviceId":"unknown-room-device","undeployedDeviceId":"new-device","otherDeviceId":"canteen-device"},
 "panel":{"url":"$url/$panel","valuesUrl":"$url/api/conferencing/${panel/panel/panels}"},
 "mqtt":{"url":"mqtts://127.0.0.1:$((base + 5))","caFile":"$run/platform/certificate.pem","controllerId":"$cid",
  "username":"$(field username <<<"$peer")","password":"$(field password <<<"$peer")"}}
JSON
mv "$run/demo.json.part" "$run/demo.json"

cat <<TEXT

The demo building is running: 172 lights, 40 shades, 3 meters on 7 buses
(Modbus, Somfy SDN, DALI, DMX).

  open this      https://127.0.0.1:$base            (the browser warns: the certificate is the controller's own)
  public API     https://127.0.0.1:$base/svc/api
  documentation  https://127.0.0.1:$base/docs
  true state     http://127.0.0.1:$((base + 1))/devices   (of the simulated devices)
  certificate    $run/data/certificate.pem
  platform       $url      (its certificate: $run/platform/certificate.pem)
  its panel      $url/$panel   (of the lobby)
  its tunnel     https://$cid.tunnel.localhost:$((base + 4))/svc/api   (to the controller; scripts/tunnel-walk.sh)
  MQTT           mqtts://127.0.0.1:$((base + 5))      (docs/mqtt.md)
  logs           $run/controllerd.log, $run/simbuilding.log, $run/platformd.log
  all of this    $run/demo.json

$table

  on the platform
  admin          $platform_admin   admin
  user           $platform_user   user
  API key        $key
  voice          VOICE_ACTION_TOKEN=$voice \\
                   bin/platformd voice say --url $url --ca .run/platform/certificate.pem --device lobby-device "lights to 40 percent"

Ctrl-C stops everything.
TEXT
# The controller may be killed and started again; the others may not end.
while kill -0 "$building" 2>/dev/null && kill -0 "$cloud" 2>/dev/null; do
  wait -n "$building" "$cloud" || true
done
logs
give_up "the building or the platform ended by itself; above are the ends of the logs"
