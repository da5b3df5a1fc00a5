#!/usr/bin/env bash
# Runs a night on devices at the end of a cable or a network: every case on each device, on all devices at the same time,
# and one verdict in the morning (docs/farm.md).
#
#   scripts/farm/remote_night.sh [OPTIONS] DIR WORKERS [-- OPTIONS OF assay run]
#   scripts/farm/remote_night.sh --resume DIR/nights/NIGHT    runs what a night has not finished, and concludes it again
#
#   --time-limit MINUTES  of the night (default 480)
#   --keep N              remove all nights of each device except the newest N and its last good one
#
# WORKERS is a file with a line for each device: its name, and the command that starts a worker on it, such as
#   pixel-a   scripts/farm/worker/adb.py 3A021JEHN02756 --folder /srv/assay-android --rest-above 38
#   board     scripts/farm/worker/ssh.py pi@board --folder /srv/assay-arm64
# Names are letters, digits and '-'; lines that begin with # are left out. DIR/NAME is a folder of nights of this device,
# for `assay trend`, `assay page` and `assay verdict`; DIR/nights/NIGHT has verdict.txt, exit_code and what each run
# printed. Relative paths in commands and options start at the root of the package or the source tree. ASSAY names a
# binary other than the package's.
# The exit code is the first of 3, 1, 2, 0 that `assay verdict` has for a device: 0 fine, 1 failures or regressions, 2
# usage or nothing judged, 3 infrastructure.
set -euo pipefail
# shellcheck source=scripts/farm/night/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/night/lib.sh"
trap one_is_an_answer EXIT

how_to_use() {
  sed -n '2,/^# The exit code/p' "$here/remote_night.sh" | sed '$d; s/^# \{0,1\}//'
}

usage() {
  say "remote_night: $1"
  how_to_use >&2
  exit 2
}

parse() {
  minutes=480 keep='' resumed='' options=() words=()
  while (($#)); do
    case $1 in
      --time-limit | --keep | --resume)
        (($# > 1)) || usage "$1 needs a value"
        [[ $1 == --resume || $2 =~ ^[1-9][0-9]{0,5}$ ]] || usage "$1 takes a number of at least 1, not '$2'"
        case $1 in --time-limit) minutes=$2 ;; --keep) keep=$2 ;; --resume) resumed=$2 ;; esac
        shift
        ;;
      --help | -h)
        how_to_use
        exit 0
        ;;
      --) options=("${@:2}") && break ;;
      -*) usage "there is no option $1; options of assay run come after --" ;;
      *) words+=("$1") ;;
    esac
    shift
  done
  [[ -n $resumed || ${#words[@]} -eq 2 ]] || usage "DIR and WORKERS are needed"
  [[ -z $resumed || ${#words[@]}${#options[@]} == 00 ]] || usage "--resume uses what the night was started with: no DIR, WORKERS or options of assay run"
}

# Reads the names and commands of the file of workers.
read_workers() {
  local name command
  names=() commands=()
  while read -r name command || [[ -n $name ]]; do
    [[ -n $name && $name != '#'* ]] || continue
    [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9-]*$ && " nights latest lock " != *" $name "* ]] || die "remote_night: $1: '$name' cannot be the name of a device: only letters, digits and '-', and not nights, latest or lock." 2
    [[ -n $command ]] || die "remote_night: $1: $name has no command." 2
    [[ " ${names[*]} " != *" $name "* ]] || die "remote_night: $1: there are two devices called $name." 2
    names+=("$name") commands+=("$command")
  done <"$1"
  ((${#names[@]} > 0)) || die "remote_night: $1 has no device." 2
}

lock_farm() {
  mkdir -p "$farm"
  exec 9>"$farm/lock"
  flock --nonblock 9 || die "remote_night: another night holds $farm/lock; not starting a second one." 3
}

begin() {
  # What write_plan stores; such a night has no shards.
  # shellcheck disable=SC2034
  shards=1 fuzz=0
  if [[ -n $resumed ]]; then
    night=$(cd "$caller" && realpath "$resumed")
    [[ -f $night/plan && -f $night/workers ]] || die "remote_night: $resumed is not the folder of such a night." 2
    farm=$(dirname "$(dirname "$night")")
    lock_farm
    read_plan "$night"
    read_workers "$night/workers"
  else
    farm=$(cd "$caller" && realpath -m "${words[0]}")
    workers=$(cd "$caller" && realpath -m "${words[1]}")
    [[ -r $workers ]] || die "remote_night: ${words[1]}, the file of workers, cannot be read." 2
    read_workers "$workers"
    assay=$(cd "$caller" && realpath -m "${ASSAY:-$root/assay}")
    [[ -x $assay ]] || die "remote_night: there is no binary $assay: run this from a package, or set ASSAY." 2
    lock_farm
    night=$farm/nights/$(date -u +%Y-%m-%dT%H%M%SZ)
    mkdir -p "$night"
    cp "$workers" "$night/workers"
    write_plan "$night"
  fi
  date=$(basename "$night")
  rm -f "$night/exit_code"
}

# run_device NAME COMMAND: replaces this subshell. A run that was planned is resumed.
run_device() {
  local out=$farm/$1/$date words
  if has_plan "$out"; then
    given_again
    words=(run --resume "$out" --worker-command "$2" "${again[@]}")
  else
    words=(run --worker-command "$2" --out "$out" --overwrite "${options[@]}")
  fi
  echo "-- $(date -u +%FT%TZ): assay ${words[*]}"
  exec timeout --kill-after=60 "$((60 * minutes))" "$assay" "${words[@]}"
}

run_all() {
  local i status running=()
  # shellcheck disable=SC2154 # wait_for sets status
  trap 'interrupted=1; say "remote_night: ending the night"; kill -s TERM "${running[@]}" 2>/dev/null || true' INT TERM HUP
  for i in "${!names[@]}"; do
    run_device "${names[i]}" "${commands[i]}" </dev/null >>"$night/${names[i]}.txt" 2>&1 9>&- &
    running+=($!)
  done
  for i in "${!names[@]}"; do
    wait_for "${running[i]}"
    ((status == 0)) || say "remote_night: ${names[i]}: exit code $status; see $night/${names[i]}.txt"
  done
}

# verdict_of NAME: prints the device's verdict; its exit code is that of `assay verdict`, or 3 where there is no report.
verdict_of() {
  local out=$farm/$1/$date status=0 judge=()
  if ! has_plan "$out"; then
    echo "INFRASTRUCTURE: no report, its worker did not start; see $night/$1.txt"
    tail -n 3 "$night/$1.txt" | sed 's/^/  /'
    return 3
  fi
  ln -sfn "$date" "$farm/$1/latest"
  [[ ! -f $farm/$1/run-noise.csv ]] || judge+=(--run-noise "$farm/$1/run-noise.csv")
  [[ " ${options[*]} " != *" --strict "* ]] || judge+=(--strict)
  "$assay" verdict "$out" "${judge[@]}" || status=$?
  return "$status"
}

# What a night printed goes with the last of its reports.
remove_old() {
  local name old
  [[ -n $keep ]] || return 0
  for name in "${names[@]}"; do
    [[ ! -d $farm/$name ]] || "$assay" prune "$farm/$name" --keep "$keep" >&2 || say "remote_night: removing old nights of $name failed, see above"
  done
  for old in "$farm"/nights/2*; do
    compgen -G "$farm/*/$(basename "$old")/runs" >/dev/null || [[ $old == "$night" ]] || rm -r "$old"
  done
}

conclude() {
  local name status code worst=0 text='' not_good=()
  for name in "${names[@]}"; do
    status=0
    text+="== $name"$'\n'$(verdict_of "$name" 2>&1) || status=$?
    text+=$'\n'
    ((status == 0)) || not_good+=("$name")
    ((status <= 3)) || status=3 # `assay verdict` could not be run, or was killed
    for code in 3 1 2; do
      ((status != code && worst != code)) || { worst=$code && break; }
    done
  done
  {
    if ((${#not_good[@]} == 0)); then
      echo "GOOD: ${#names[@]} devices"
    else
      echo "${#not_good[@]} of ${#names[@]} devices are not good: ${not_good[*]}"
    fi
    printf '\n%s' "$text"
  } | tee "$night/verdict.txt"
  echo "$worst" >"$night/exit_code"
  ln -sfn "nights/$date" "$farm/latest"
  ((worst == 0)) || say "remote_night: exit code $worst; the night is $night. To run what it has not finished: $here/remote_night.sh --resume $night"
  remove_old
  answer "$worst"
}

parse "$@"
begin
run_all
conclude
