# shellcheck shell=bash
# The tasks of a night as jobs of Slurm. Sourced by scripts/nightly.sh.
# shellcheck disable=SC2154 # it is that script that sets here, root, night, shards, minutes and more

ending_s=60 # before its time limit a task is told to bring its row to an end

# gres_of SLUG UUID NAME: what a task on this device holds.
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

# submit NAME [OPTION...] -- COMMAND...: prints the job's id. Slurm runs a copy of a script, elsewhere: what it is given
# is one line that names ours.
submit() {
  local name=$1 before=()
  shift
  while [[ $1 != -- ]]; do before+=("$1") && shift; done
  shift
  sbatch --parsable --job-name="assay-$name" --chdir="$root" --open-mode=append "${sbatch_options[@]}" "${before[@]}" \
    --wrap="exec $(printf '%q ' "$@")" 9>&- | cut -d ';' -f 1
}

# submit_device SLUG UUID NAME: the ceilings first, since all shards of a device are held against one set.
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
  say "nightly: $3: job $id, $shards tasks, $gres"
}

submit_night() {
  local slug uuid name conclusion
  jobs=()
  trap 'give_up' EXIT # sbatch refused something: no part of a night is left in the queue
  while IFS=$'\t' read -r slug uuid name _ <&8; do submit_device "$slug" "$uuid" "$name"; done 8<"$night/devices.tsv"
  conclusion=$(submit conclude --time=60 --requeue --dependency="afterany:$(IFS=: && echo "${jobs[*]}")" \
    --output="$night/console/conclude.txt" -- "$here/night/conclude.sh" "$night")
  trap - EXIT
  jobs=("$conclusion" "${jobs[@]}")
  printf '%s\n' "${jobs[@]}" >"$night/jobs"
}

give_up() {
  say "nightly: the night could not be submitted; sbatch says why, above"
  ((${#jobs[@]} == 0)) || scancel "${jobs[@]}"
  exit 3
}

# The jobs go on without this script; a signal ends the wait alone.
wait_for_night() {
  local status=3
  trap 'say "nightly: not waiting any longer; the night goes on as jobs ${jobs[*]}"; exit 3' INT TERM HUP
  until [[ -s $night/exit_code ]] || ! is_queued "${jobs[*]}"; do sleep 2; done
  [[ ! -s $night/verdict.txt ]] || cat "$night/verdict.txt"
  [[ ! -s $night/exit_code ]] || status=$(<"$night/exit_code")
  exit "$status"
}

run_with_slurm() {
  submit_night
  say "nightly: job ${jobs[0]} concludes; give the night up with: scancel ${jobs[*]}"
  printf '%s\n' "${jobs[@]}"
  ((!waits)) || wait_for_night
}
