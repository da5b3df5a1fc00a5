# shellcheck shell=bash
# The tasks of a night on this machine, one after the other, so that nothing else is at work while one of them times.
# Sourced by scripts/nightly.sh.
# shellcheck disable=SC2154 # it is that script that sets here, night, shards and minutes

# Each signal ends the night: the run brings its row to an end and writes its reports. A second one ends it at once.
pass_signals_on() {
  local signal
  stopped='' running=''
  for signal in INT TERM HUP; do
    # shellcheck disable=SC2064 # the words of now
    trap "interrupted=1; stop $signal" "$signal"
  done
}

stop() {
  stopped=$1
  say "nightly: SIG$1: ending the night"
  [[ -z $running ]] || kill -s TERM "$running" 2>/dev/null || true
}

# run_task SLUG SHARD: in the background, since bash looks at signals only when a command in the foreground has ended;
# and in a process group of its own (set -m), so that Ctrl-C reaches it once, from here. A run that is told to end and
# does not is killed a minute later: its journal stays.
run_task() {
  local left=$((end - SECONDS)) status
  ((left > 0)) || stopped=${stopped:-limit}
  [[ -z $stopped ]] || return 0
  set -m
  timeout --foreground --kill-after=60 "$left" "$here/night/task.sh" "$night" "$1" "$2" </dev/null 9>&- &
  running=$!
  set +m
  [[ -z $stopped ]] || kill -s TERM "$running" 2>/dev/null || true # it came while the task was being started
  wait_for "$running"
  running=''
  ((status == 0)) || say "nightly: $1, task $2: exit code $status; see $night/console/$1.$2.txt"
  ((SECONDS < end)) || { stopped=${stopped:-limit} && say "nightly: the night has taken its $minutes min, and is ended"; }
}

run_device() {
  local shard
  ! is_timed || run_task "$1" ceilings
  for ((shard = 1; shard <= shards; ++shard)); do run_task "$1" "$shard"; done
}

run_here() {
  local slug status=0 end=$((SECONDS + 60 * minutes))
  pass_signals_on
  while IFS=$'\t' read -r slug _ <&8; do run_device "$slug"; done 8<"$night/devices.tsv"
  "$here/night/conclude.sh" "$night" 9>&- || status=$?
  exit "$status"
}
