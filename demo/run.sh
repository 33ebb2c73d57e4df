#!/bin/bash
# Starts the demo building and a controller for it, prints where they are and waits
# for Ctrl-C, which stops both. With CLAIM=1 the controller has no users yet and waits
# to be claimed. PORT_BASE (18440) and the three ports above it are
# used, on loopback only.
set -eu
cd "$(dirname "$0")/.."
base=${PORT_BASE:-18440}
run=$PWD/.run

give_up() { echo "make run: $*" >&2; exit 1; }

[[ $base =~ ^[0-9]{4,5}$ ]] && ((base >= 1024 && base <= 65532)) ||
  give_up "PORT_BASE is \"$base\", want a number from 1024 to 65532"
command -v curl >/dev/null || give_up "curl is missing; install it with: sudo apt-get install curl"

# Nothing of a demo that is running may be touched: look before clearing up.
exec 9<demo
flock -n 9 || give_up "a demo of this checkout is running already; stop it with Ctrl-C in its terminal (its logins are in .run/demo.json)"
for port in $base $((base + 1)) $((base + 2)) $((base + 3)); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    give_up "port $port is taken by another program, perhaps another demo; choose others, for instance: PORT_BASE=20000 make run"
  fi
done

rm -rf "$run"
mkdir -p "$run"
umask 077
sed -e "s|@RUN@|$run|; s|@PORT_OFFICES@|$((base + 2))|; s|@PORT_ANNEX@|$((base + 3))|" demo/site.yaml.in >"$run/site.yaml"

# Both programs get a session of their own, so that Ctrl-C reaches them once, by way
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
  kill -TERM "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
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

logs() { tail -n 5 "$run"/simbuilding.log "$run"/controllerd.log 2>/dev/null; }
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
start "$run/controllerd.log" bin/controllerd --data-dir .run/data serve --listen "127.0.0.1:$base"
await controllerd curl -fsS --cacert "$run/data/certificate.pem" "https://127.0.0.1:$base/readyz"

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
  $logins},
 "simbuilding":{"url":"http://127.0.0.1:$((base + 1))"}}
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
  logs           $run/controllerd.log, $run/simbuilding.log
  all of this    $run/demo.json

$table

Ctrl-C stops everything.
TEXT
wait -n "${pids[@]}" || true
logs
give_up "one of the two programs ended by itself; above are the ends of their logs"
