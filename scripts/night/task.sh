#!/usr/bin/env bash
# One task of a night becomes the run of assay that it stands for; scripts/nightly.sh starts it.
#
#   scripts/night/task.sh NIGHT SLUG SHARD        SHARD: 1 to the night's shards, or "ceilings"
#
# "ceilings" measures what the device reaches, for all shards to be held against. A shard whose folder holds a run
# already was lost before: that run is gone on with.
set -euo pipefail
# shellcheck source=scripts/night/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
night=$1 slug=$2 shard=$3
read_plan "$night"
IFS=$'\t' read -r _ uuid _ < <(grep -P "^\Q$slug\E\t" "$night/devices.tsv")
out=$night/shards/$slug/$shard
store=(--ceiling-store "$night/ceilings")
is_timed || store=()

if [[ $shard == ceilings ]]; then
  command=(devices --device "$uuid" --ceilings "${store[@]}")
elif has_plan "$out"; then
  command=(run --resume "$out")
else
  # What was killed before it planned its rows has nothing to go on with, and may lie there.
  command=(run --device "$uuid" --shard "$shard/$shards" --out "$out" --overwrite "${store[@]}" "${options[@]}")
  # A night that was good knows how long each group takes.
  [[ ! -d $night/shards/$slug/times ]] || command+=(--balance "$night/shards/$slug/times")
fi
exec >>"$night/console/$slug.$shard.txt" 2>&1
echo "-- $(date -u +%FT%TZ) on $(hostname): assay ${command[*]}"
exec "$assay" "${command[@]}"
