# shellcheck shell=bash
# Runs the tasks of a night on this machine, one after the other, so that nothing else runs while one of them times.
# Sourced by scripts/farm/nightly.sh.
# shellcheck disable=SC2154 # that script sets here, night, shards and minutes

# Each signal ends the night: the run finishes its row and writes its reports. One that comes a second or more later ends it immediately.
pass_signals_on() {
  local signal
  stopped='' running=''
  for signal in INT TERM HUP; do
    # shellcheck disable=SC2064 # $signal is to be expanded now
    trap "interrupted=1; stop $signal" "$signal"
  done
}

stop() {
  stopped=$1
  say "nightly: SIG$1: ending the night"
  [[ -z $running ]] || kill -s TERM "$running" 2>/dev/null || true
}

# run_task SLUG SHARD: runs in the background, since bash handles signals only when a foreground command has ended, and
# in its own process group (set -m), so that Ctrl-C reaches it once, from here. A run that does not stop within a minute
# of the signal is killed: its journal stays.
run_task() {
  local left=$((end - SECONDS)) status
  ((left > 0)) || stopped=${stopped:-limit}
  [[ -z $stopped ]] || return 0
  set -m
  timeout --foreground --kill-after=60 "$left" "$here/night/task.sh" "$night" "$1" "$2" </dev/null 9>&- &
  running=$!
  set +m
  [[ -z $stopped ]] || kill -s TERM "$running" 2>/dev/null || true # the signal came while the task was being started
  wait_for "$running"
  running=''
  ((status == 0)) || say "nightly: $1, task $2: exit code $status; see $night/console/$1.$2.txt"
  ((SECONDS < end)) || { stopped=${stopped:-limit} && say "nightly: the time limit of $minutes min is reached: ending the night"; }
}

run_device() {
  local shard
  ! is_timed || run_task "$1" ceilings
  for ((shard = 1; shard <= shards; ++shard)); do run_task "$1" "$shard"; done
  ((!fuzz)) || has_fuzzed "$night" "$1" || run_task "$1" fuzz # once: a night that is resumed has its findings
}

run_here() {
  local slug status=0 end=$((SECONDS + 60 * minutes))
  pass_signals_on
  while IFS=$'\t' read -r slug _ <&8; do run_device "$slug"; done 8<"$night/devices.tsv"
  "$here/night/conclude.sh" "$night" 9>&- || status=$?
  [[ -z $stopped ]] || say "nightly: it was ended early; to run the rest and conclude it again: $here/nightly.sh --resume $night"
  answer "$status"
}
