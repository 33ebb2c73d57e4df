#!/bin/bash
# Speaks sentences with espeak-ng, hears them with pocketsphinx and a small grammar, and tells how many were heard as they were meant.
# With a device of the demo (make run) each is said to the voice endpoint as it was heard: scripts/speech.sh canteen-device
# Debian: apt-get install espeak-ng sox pocketsphinx pocketsphinx-en-us
set -eu
cd "$(dirname "$0")/.."
device=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in espeak-ng sox pocketsphinx_continuous; do
  command -v "$program" >/dev/null || { echo "speech.sh: $program is missing: apt-get install espeak-ng sox pocketsphinx pocketsphinx-en-us" >&2; exit 1; }
done
cat >"$work/room.gram" <<'JSGF'
#JSGF V1.0;
grammar room;
public <command> = <switch> | <level> | <step> | <move> | <part> | stop the shades | show the controls;
<switch> = turn ( on | off ) the lights | lights ( on | off );
<level> = set the lights to <number> percent;
<step> = dim the lights | brighten the lights;
<move> = ( open | close ) the ( shades | blinds );
<part> = shades ( one third | two thirds );
<number> = ten | twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety;
JSGF
sentences=("turn on the lights" "turn off the lights" "lights on" "lights off" "set the lights to forty percent" "set the lights to seventy percent"
  "set the lights to ninety percent" "dim the lights" "brighten the lights" "open the shades" "close the blinds" "shades one third" "shades two thirds"
  "stop the shades" "show the controls")
models=/usr/share/pocketsphinx/model/en-us
if [ -n "$device" ]; then
  field() { sed -n "s/.*\"voice\":{.*\"$1\":\"\([^\"]*\)\".*/\1/p" .run/demo.json; }
  VOICE_ACTION_TOKEN=$(field token)
  export VOICE_ACTION_TOKEN
  url=$(field url)
  url=${url%/api/*}
fi
right=0
for sentence in "${sentences[@]}"; do
  espeak-ng -v en-us -s 140 -w "$work/said.wav" "$sentence"
  sox -q "$work/said.wav" -r 16000 -c 1 -b 16 "$work/heard.wav" pad 0.3 0.5
  heard=$(pocketsphinx_continuous -infile "$work/heard.wav" -jsgf "$work/room.gram" -hmm $models/en-us -dict $models/cmudict-en-us.dict -logfn /dev/null 2>/dev/null | tail -n 1)
  [ "$heard" != "$sentence" ] || right=$((right + 1))
  answer=""
  [ -z "$device" ] || [ -z "$heard" ] ||
    answer=$(bin/platformd voice say --url "$url" --ca .run/platform/certificate.pem --device "$device" "$heard" 2>&1 || true)
  printf '%-34s heard as %-34s %s\n' "$sentence" "${heard:-(nothing)}" "$answer"
done
echo "$right of ${#sentences[@]} heard as they were said"
