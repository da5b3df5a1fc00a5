# shellcheck shell=bash
# The times by which the shards of a device are balanced: NIGHT/shards/<slug>/times, the journal of an earlier night.
# Sourced by scripts/farm/nightly.sh. A damaged journal costs a warning and never a shard.
# shellcheck disable=SC2154 # that script sets assay, farm, night and shards

# keep_times SLUG: copies the report of the device's last good night or, if that cannot be read, of the newest other night
# in which all devices were good. Without times the shards are balanced by their number of rows.
keep_times() {
  local nights=("$farm"/2*) last_good=$farm/last-good/$1 i
  ! copy_times "$1" "$last_good" || return 0
  for ((i = ${#nights[@]} - 1; i >= 0; --i)); do # named by their dates: the newest first
    was_good "${nights[i]}" || continue
    [[ ! ${nights[i]}/$1 -ef $last_good ]] || continue
    copy_times "$1" "${nights[i]}/$1" || continue
    say "nightly: the shards of $1 are balanced by ${nights[i]}/$1"
    return 0
  done
}

was_good() { [[ -s $1/exit_code && $(<"$1/exit_code") == 0 ]]; }

# copy_times SLUG REPORT: fails where there is no report, or one that cannot be read.
copy_times() {
  local journal times=$night/shards/$1/times
  rm -rf "$times"
  for journal in "$2"/journal.jsonl*; do
    [[ ! -f $journal ]] || { mkdir -p "$times" && cp "$journal" "$times/"; }
  done
  [[ -d $times ]] || return 1
  ! are_readable "$1" || return 0
  say "nightly: warning: $2 is damaged and does not balance the shards of $1: $why_not"
  rm -r "$times"
  return 1
}

# are_readable SLUG: reads the device's times as --balance does; if that fails, `why_not` is what assay says.
are_readable() {
  why_not=$("$assay" summary "$night/shards/$1/times" 2>&1 >/dev/null </dev/null) && return
  why_not=${why_not##*"$night/shards/$1/times/"}
  return 1
}

# For a night that is resumed: damaged times are chosen again unless shards were already divided by them.
mend_times() {
  local slug
  while IFS=$'\t' read -r slug _ <&8; do
    [[ -d $night/shards/$slug/times ]] || continue
    ! are_readable "$slug" || continue
    say "nightly: warning: the times that balance the shards of $slug are damaged: $why_not"
    if has_begun "$slug"; then
      say "nightly: the shards that have not begun cannot be run. Run their rows when this night is concluded: $assay run --resume $night/$slug"
    else
      rm -r "$night/shards/$slug/times"
      keep_times "$slug"
    fi
  done 8<"$night/devices.tsv"
}

# has_begun SLUG: whether a shard of the device has planned its rows.
has_begun() {
  local shard
  for ((shard = 1; shard <= shards; ++shard)); do
    ! has_plan "$night/shards/$1/$shard" || return 0
  done
  return 1
}
