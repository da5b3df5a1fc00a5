# shellcheck shell=bash
# Runs the tasks of a night as jobs of Slurm. Sourced by scripts/farm/nightly.sh.
# shellcheck disable=SC2154 # that script sets here, root, night, shards, minutes and more

ending_s=60 # a task is asked to stop this long before its time limit, so that its row can finish

# gres_of SLUG UUID NAME: the generic resource that a task on this device holds.
gres_of() {
  local one found=vulkan:1
  for one in "${resources[@]}"; do
    if [[ $one != *=* ]]; then
      found=$one
    elif [[ "$1 $2 ${3,,}" == *"$(tr '[:upper:]' '[:lower:]' <<<"${one%%=*}")"* ]]; then
      echo "${one#*=}" && return
    fi
  done
  echo "$found"
}

# submit NAME [OPTION...] -- COMMAND...: prints the job's id. Slurm copies a script to another folder before running it,
# so the script it gets is one line that runs ours.
submit() {
  local name=$1 before=()
  shift
  while [[ $1 != -- ]]; do before+=("$1") && shift; done
  shift
  sbatch --parsable --job-name="assay-$name" --chdir="$root" --open-mode=append "${sbatch_options[@]}" "${before[@]}" \
    --wrap="exec $(printf '%q ' "$@")" 9>&- | cut -d ';' -f 1
}

# submit_device SLUG UUID NAME: the ceilings come first, since all shards of a device are compared with one set of them.
submit_device() {
  local gres limit="--time=$minutes" ceilings=() id
  gres=--gres=$(gres_of "$@")
  if is_timed; then
    id=$(submit "ceilings" "$gres" "$limit" --output="$night/console/$1.slurm.txt" -- "$here/night/task.sh" "$night" "$1" ceilings)
    ceilings=(--dependency="afterany:$id")
    jobs+=("$id")
  fi
  id=$(submit "$1" "$gres" "$limit" "${ceilings[@]}" --array="1-$shards" --requeue --signal="B:USR1@$ending_s" \
    --output="$night/console/$1.slurm.txt" -- "$here/night/slurm_task.sh" "$night" "$1")
  jobs+=("$id")
  ((!fuzz)) || jobs+=("$(submit fuzz "$gres" "$limit" --dependency="afterany:$id" --output="$night/console/$1.slurm.txt" -- "$here/night/task.sh" "$night" "$1" fuzz)")
  say "nightly: $3: job $id, $shards tasks, $gres"
}

submit_night() {
  local slug uuid name conclusion
  jobs=()
  trap 'give_up' EXIT # if sbatch refuses a job, no part of the night stays in the queue
  while IFS=$'\t' read -r slug uuid name _ <&8; do submit_device "$slug" "$uuid" "$name"; done 8<"$night/devices.tsv"
  conclusion=$(submit conclude --time=60 --requeue --dependency="afterany:$(IFS=: && echo "${jobs[*]}")" \
    --output="$night/console/conclude.txt" -- "$here/night/conclude.sh" "$night")
  trap one_is_an_answer EXIT
  jobs=("$conclusion" "${jobs[@]}")
  printf '%s\n' "${jobs[@]}" >"$night/jobs"
}

give_up() {
  say "nightly: the night could not be submitted; sbatch says why, above"
  ((${#jobs[@]} == 0)) || scancel "${jobs[@]}"
  exit 3
}

# The jobs do not need this script: a signal ends only the wait.
wait_for_night() {
  local status=3
  trap 'say "nightly: no longer waiting; the night continues as jobs ${jobs[*]}"; exit 3' INT TERM HUP
  until [[ -s $night/exit_code ]] || ! is_queued "${jobs[*]}"; do sleep 2; done
  [[ ! -s $night/verdict.txt ]] || cat "$night/verdict.txt"
  [[ ! -s $night/exit_code ]] || status=$(<"$night/exit_code")
  answer "$status"
}

run_with_slurm() {
  submit_night
  say "nightly: job ${jobs[0]} concludes the night; cancel all of it with: scancel ${jobs[*]}"
  printf '%s\n' "${jobs[@]}"
  ((!waits)) || wait_for_night
}
