#!/usr/bin/env bash
# Starts a Slurm of one node, to try scripts/farm/nightly.sh --slurm out and for its test: munged, slurmctld and slurmd with
# their configuration, state and logs in one folder. It changes neither /etc nor a Slurm that is already running here:
# it has its own ports, key and sockets.
#
#   eval "$(scripts/farm/farm-up.sh [DIR])"      DIR: default build/farm; starts it and sets SLURM_CONF for this shell
#   scripts/farm/farm-up.sh down [DIR]           cancels its jobs and takes it down; DIR keeps the logs
#
# The node has two slots of the generic resource vulkan:lavapipe, so that two tasks run at a time. Needs root, as slurmd
# does. Missing packages are installed (scripts/setup.sh --farm). Ready means that the node is idle: if it is not idle
# within 60 s, the last lines of each log are printed, and the exit code is 3.
set -euo pipefail
caller=$PWD
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

slots=2
first_port=26817 # Slurm's defaults are 6817 and 6818
patience=60      # seconds until the node is idle, and until daemons have ended
PATH=$PATH:/usr/sbin:/sbin

is_running() { [[ -s $1 ]] && kill -0 "$(<"$1")" 2>/dev/null; }

# wait_until SECONDS COMMAND...
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

# free_port FROM: the first port that no process listens on.
free_port() {
  local port=$1
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}

write_configuration() {
  local host cpus controller_port node_port
  host=$(hostname -s)
  cpus=$(nproc)
  ((cpus >= slots)) || cpus=$slots
  controller_port=$(free_port "$first_port")
  node_port=$(free_port $((controller_port + 1)))
  cat >"$dir/slurm.conf" <<CONF
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=root
# A requeued task starts again when its credential has expired: Slurm's own 120 s are for nodes that page.
AuthInfo=socket=$dir/munge.socket,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
# These two need no cgroups, which a container may not have.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=5,bf_interval=5
MpiDefault=none
JobRequeue=1
ReturnToService=2
# More CPUs than there are, on a machine with one: tasks of two slots are to run side by side.
SlurmdParameters=config_overrides
GresTypes=vulkan
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus Gres=vulkan:lavapipe:$slots State=UNKNOWN
PartitionName=farm Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
  echo "Name=vulkan Type=lavapipe Count=$slots Flags=CountOnly" >"$dir/gres.conf"
}

write_key() {
  [[ -s $dir/munge.key ]] || (umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
}

# start NAME COMMAND...: daemons go to the background by themselves; their output before that is kept.
start() {
  local name=$1
  shift
  is_running "$dir/$name.pid" && return
  "$@" >>"$dir/$name.out" 2>&1 </dev/null || fail "$name did not start"
}

# fail WHAT: prints the ends of the logs too, as they have the reason.
fail() {
  local log
  say "farm-up: $1. The logs end in:"
  for log in "$dir"/*.out "$dir"/*.log; do
    [[ ! -s $log ]] || { say "-- $log" && tail -8 "$log" >&2; }
  done
  exit 3
}

node_is_idle() { [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]]; }

up() {
  ((EUID == 0)) || die "farm-up: starting a Slurm needs root, as slurmd starts the jobs of its users. Run this as root." 3
  scripts/setup.sh --farm || exit 3
  mkdir -p "$dir"/{state,spool}
  chmod 755 "$dir"
  if is_running "$dir/slurmctld.pid"; then
    say "farm-up: it is already running"
  else
    write_configuration
  fi
  write_key
  # --force: munged objects to who may write the folders above its socket, which are the caller's choice.
  start munged munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
    --log-file="$dir/munged.log" --seed-file="$dir/munge.seed"
  start slurmctld slurmctld -f "$dir/slurm.conf"
  start slurmd slurmd -f "$dir/slurm.conf"
  wait_until "$patience" node_is_idle || fail "the node was not idle within $patience s but '$(sinfo --noheader --format='%T %E' 2>&1)'"
  say "farm-up: $(sinfo --noheader --format='%n, %c CPUs, %G') is idle; logs are in $dir"
  echo "export SLURM_CONF=$(printf %q "$SLURM_CONF")"
}

# Again and again, since a job may put itself back into the queue when it is cancelled.
jobs_are_cancelled() {
  local jobs
  mapfile -t jobs < <(squeue --noheader --format=%A 2>/dev/null | sort -u)
  ((${#jobs[@]} == 0)) && return
  scancel "${jobs[@]}" 2>/dev/null || true
  return 1
}

cancel_jobs() {
  wait_until "$patience" jobs_are_cancelled || say "farm-up: these jobs did not end: $(squeue --noheader | tr -s ' ')"
}

# stop NAME: finds the daemon by its pid file, since another Slurm may have daemons of the same name.
stop() {
  local pid
  is_running "$dir/$1.pid" || return 0
  pid=$(<"$dir/$1.pid")
  kill "$pid" 2>/dev/null || return 0
  wait_until "$patience" eval "! kill -0 $pid 2>/dev/null" || { say "farm-up: $1 did not end, and is killed"; kill -KILL "$pid"; }
  rm -f "$dir/$1.pid"
}

down() {
  local daemon
  [[ -e $dir/slurm.conf ]] || die "farm-up: there is no Slurm in $dir that this script started" 2
  ! is_running "$dir/slurmctld.pid" || cancel_jobs
  for daemon in slurmd slurmctld munged; do stop "$daemon"; done
  say "farm-up: down; logs are in $dir"
}

action=up
[[ ${1:-} != down ]] || { action=down && shift; }
[[ $# -le 1 && ${1:-} != -* ]] || die "usage: scripts/farm/farm-up.sh [down] [DIR]" 2
dir=$(cd "$caller" && realpath -m "${1:-$root/build/farm}")
export SLURM_CONF=$dir/slurm.conf
"$action"
