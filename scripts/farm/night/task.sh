#!/usr/bin/env bash
# Replaces itself with the run of assay that a task of a night stands for; scripts/farm/nightly.sh starts it.
#
#   scripts/farm/night/task.sh NIGHT SLUG SHARD        SHARD: 1 to the night's shards, "ceilings" or "fuzz"
#
# "ceilings" measures the device's ceilings, with which all shards are compared; "fuzz" draws points. If a shard's folder already holds a run,
# its task was lost before: that run is resumed.
set -euo pipefail
# shellcheck source=scripts/farm/night/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap one_is_an_answer EXIT
night=$1 slug=$2 shard=$3
read_plan "$night"
IFS=$'\t' read -r _ uuid _ < <(grep -P "^\Q$slug\E\t" "$night/devices.tsv")
out=$night/shards/$slug/$shard
store=(--ceiling-store "$night/ceilings")
is_timed || store=()

if [[ $shard == ceilings ]]; then
  command=(devices --device "$uuid" --ceilings "${store[@]}")
elif [[ $shard == fuzz ]]; then
  date=$(basename "$night")
  date=${date:0:10}
  command=(fuzz --device "$uuid" --seconds "$fuzz" --seed "${date//-/}" --keep-going --out "$night/fuzz/$slug")
elif has_plan "$out"; then
  given_again
  command=(run --resume "$out" "${store[@]}" "${again[@]}")
else
  # A run that was killed before it planned its rows cannot be resumed; --overwrite allows its remains in the folder.
  command=(run --device "$uuid" --shard "$shard/$shards" --out "$out" --overwrite "${store[@]}" "${options[@]}")
  # The last good night has the time of each group.
  [[ ! -d $night/shards/$slug/times ]] || command+=(--balance "$night/shards/$slug/times")
fi
exec >>"$night/console/$slug.$shard.txt" 2>&1
echo "-- $(date -u +%FT%TZ) on $(hostname): assay ${command[*]}"
exec "$assay" "${command[@]}"
