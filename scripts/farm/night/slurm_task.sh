#!/usr/bin/env bash
# Runs a shard of a night as a task of a Slurm job array; the task requeues itself when a signal ended it.
#
#   scripts/farm/night/slurm_task.sh NIGHT SLUG        the shard is $SLURM_ARRAY_TASK_ID
#
# What ends a task, and what then happens:
#   its time limit       SIGUSR1, to this script alone, a minute before: the run finishes its row and writes its reports
#   scancel, preemption  SIGTERM, to all processes of the task: the same
#   a kill of the run    exit code 137 (out of memory, scancel --signal=KILL of a step)
#   a node that fails    Slurm requeues the task itself
# It is requeued only while the night's concluding job is in the queue, and at most `most_restarts` times: a row that
# ends its task each time is CRASH after three, and is not started again.
set -euo pipefail

# Signals are handled from here on, since one may come before there is a run. The run gets SIGTERM from this script only
# if Slurm did not send it to all processes.
run='' ended_by=''
end_by() {
  interrupted=1 ended_by=$1
  echo "SIG$1: $2" >&2
  [[ $1 != USR1 || -z $run ]] || kill -s TERM "$run" || true
}
trap 'end_by USR1 "the time limit is near"' USR1
trap 'end_by TERM "cancelled or preempted"' TERM

# shellcheck source=scripts/farm/night/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
night=$1 slug=$2 shard=$SLURM_ARRAY_TASK_ID
most_restarts=4

say "-- $(date -u +%FT%TZ) task $SLURM_ARRAY_JOB_ID/$shard, restart ${SLURM_RESTART_COUNT:-0}"
"$here/night/task.sh" "$night" "$slug" "$shard" &
run=$!
[[ -z $ended_by ]] || kill -s TERM "$run" || true # the signal came before the run
wait_for "$run"
((status <= 128)) || ended_by=${ended_by:-SIG$(kill -l $((status - 128)))}
say "-- $(date -u +%FT%TZ) task $SLURM_ARRAY_JOB_ID/$shard: exit code $status${ended_by:+, ended by $ended_by}"
[[ -n $ended_by && $status -gt 2 ]] || exit "$status"

sleep 1 # whoever gives up a night cancels this task and the concluding job, but not at the same instant
stay_away() {
  say "not requeued: $1"
  exit "$status"
}
is_queued "$(head -1 "$night/jobs")" || stay_away "the night was given up"
((${SLURM_RESTART_COUNT:-0} < most_restarts)) || stay_away "it was restarted $most_restarts times already"
say "requeued"
exec scontrol requeue "$SLURM_JOB_ID"
