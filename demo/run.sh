#!/bin/bash
# Starts the demo building and a controller for it, prints where they are and waits
# for Ctrl-C, which stops both. PORT_BASE moves every port.
set -eu
cd "$(dirname "$0")/.."
base=${PORT_BASE:-18440}
run=$PWD/.run
rm -rf "$run"
mkdir -p "$run"
umask 077

sed -e "s|@RUN@|$run|; s|@PORT_OFFICES@|$((base + 2))|; s|@PORT_ANNEX@|$((base + 3))|" demo/site.yaml.in >"$run/site.yaml"
controllerd() { bin/controllerd --data-dir "$run/data" "$@"; }

pids=()
stop() {
  trap - EXIT INT TERM
  for p in "${pids[@]}"; do kill -TERM "$p" 2>/dev/null || true; done
  for p in "${pids[@]}"; do wait "$p" 2>/dev/null || true; done
}
trap stop EXIT
trap 'exit 0' INT TERM

secret() { od -An -N12 -tx1 /dev/urandom | tr -d ' \n'; }
add() { # NAME ROLE: a user with a password of their own, told in variable pw_NAME
  local password
  password=$(secret)
  printf '%s\n' "$password" | controllerd user add "$1" --role "$2" --password-stdin >/dev/null
  printf -v "pw_$1" %s "$password"
}
controllerd --log-level WARN site import "$run/site.yaml" >"$run/import.log"
add admin admin
add operator operator
add building_os api_service
add viewer viewer

bin/simbuilding --site "$run/site.yaml" --listen "127.0.0.1:$((base + 1))" >"$run/simbuilding.log" 2>&1 &
pids+=($!)
controllerd serve --listen "127.0.0.1:$base" >"$run/controllerd.log" 2>&1 &
pids+=($!)

ready() { curl -fsS --cacert "$run/data/certificate.pem" "https://127.0.0.1:$base/readyz" >/dev/null 2>&1 && curl -fsS "http://127.0.0.1:$((base + 1))/devices" >/dev/null 2>&1; }
for _ in $(seq 100); do
  ready && break
  for p in "${pids[@]}"; do
    kill -0 "$p" 2>/dev/null || { echo "did not start:"; tail -n 5 "$run"/*.log; exit 1; }
  done
  sleep 0.1
done
ready || { echo "not ready after 10 s:"; tail -n 5 "$run"/*.log; exit 1; }

login() { printf '{"username":"%s","password":"%s"}' "$1" "$2"; }
cat >"$run/demo.json.part" <<JSON
{"controller":{"url":"https://127.0.0.1:$base","caFile":"$run/data/certificate.pem",
  "admin":$(login admin "$pw_admin"),
  "operator":$(login operator "$pw_operator"),
  "apiService":$(login building_os "$pw_building_os"),
  "viewer":$(login viewer "$pw_viewer")},
 "simbuilding":{"url":"http://127.0.0.1:$((base + 1))"}}
JSON
mv "$run/demo.json.part" "$run/demo.json"

cat <<TEXT

The demo building is running: 120 lights, 16 shades, 3 meters on 4 buses.

  public API    https://127.0.0.1:$base/svc/api
  documentation https://127.0.0.1:$base/docs
  true state    http://127.0.0.1:$((base + 1))/devices   (of the simulated devices)
  certificate   $run/data/certificate.pem
  all of this   $run/demo.json

  login          password                   role
  admin          $pw_admin   admin
  operator       $pw_operator   operator
  building_os    $pw_building_os   api_service
  viewer         $pw_viewer   viewer

Ctrl-C stops everything.
TEXT
wait -n "${pids[@]}"
echo "one of the two programs ended by itself:"
tail -n 5 "$run"/*.log
exit 1
