#!/usr/bin/env bash
# A farm's night, as an example to copy: every tier on every device, one folder a night, never two at once.
#
#   scripts/nightly.sh [DIR]        e.g. from cron: 0 1 * * *  /opt/assay/scripts/nightly.sh /srv/assay
#
# DIR (default: assay-nightly here) gets DIR/<UTC date and time>/<device>, a link to the reports of that night, and
# DIR/latest. The exit code is
# assay's: 0 fine, 1 failures, 2 usage, 3 infrastructure, 77 no device; 124 when the night was too short.
set -euo pipefail
out=$(realpath -m "${1:-assay-nightly}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hours=8 # a night that takes longer is ended; what was finished by then is in the journals
night=$out/$(date -u +%Y-%m-%dT%H%M%SZ)
mkdir -p "$out"
exec 9>"$out/lock"
if ! flock --nonblock 9; then
  echo "nightly: the run before this one still holds $out/lock; not starting another." >&2
  exit 3
fi
mkdir "$night"
ln -sfn "$night" "$out/latest"

# In the background, since bash looks at signals only when a command in the foreground has ended: by then the night
# is over. Each goes on to the run, which brings its row to an end and writes its reports; a second one ends it at once.
timeout --signal=INT --kill-after=60 "${hours}h" \
  scripts/run.sh --tier smoke --tier ci --tier nightly --budget 1 --ceilings measure --device all --out "$night" >"$night/console.txt" 2>&1 &
run=$!
for signal in INT TERM HUP; do
  # shellcheck disable=SC2064 # the words of now
  trap "interrupted=1; echo 'nightly: SIG$signal: stopping the run' >&2; kill -s $signal $run || true" "$signal"
done
interrupted=1
while ((interrupted)); do # a signal ends the wait, not the run
  interrupted=0 status=0
  wait "$run" || status=$?
done
((status == 0)) || echo "nightly: exit code $status; see $night/console.txt" >&2 # which makes cron write a mail
exit "$status"
