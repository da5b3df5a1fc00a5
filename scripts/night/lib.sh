# shellcheck shell=bash
# What the scripts of a night share; sourced, never run. Leaves the caller in the root of the package or of the source
# tree, since that is where case files are.

# shellcheck disable=SC2034 # for nightly.sh: paths that a person gives are those of where they are
caller=$PWD
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) # scripts/
root=$(dirname "$here")
cd "$root" || exit 3

# stdout is for data (the verdict, the ids of jobs); everything else goes to stderr.
say() { printf '%s\n' "$*" >&2; }

# die MESSAGE [EXIT_CODE]
die() {
  say "$1"
  exit "${2:-1}"
}

# json_field NAME LINE: the text of a string in an object that has no strings with quotes in them but escaped ones.
json_field() { grep -oP "\"$1\":\"\\K([^\"\\\\]|\\\\.)*" <<<"$2" | head -1; }

# read_plan NIGHT: sets what the tasks of the night are told, as write_plan put it there.
read_plan() {
  assay='' shards=0 keep='' options=()
  # shellcheck source=/dev/null
  source "$1/plan"
}

# write_plan NIGHT: in bash's own words, since options may have blanks in them.
write_plan() {
  local words=''
  ((${#options[@]} == 0)) || words=$(printf '%q ' "${options[@]}")
  printf 'assay=%q shards=%q keep=%q options=(%s)\n' "$assay" "$shards" "$keep" "$words" >"$1/plan"
}

# is_queued IDS: whether one of these jobs of Slurm waits or runs. Without Slurm none does; of one that does not answer
# nothing is known, and they are taken to be there.
is_queued() {
  local answer
  command -v squeue >/dev/null || return 1
  answer=$(squeue --noheader --format=%A --jobs="${1//[[:space:]]/,}" 2>&1) || [[ $answer != *"Invalid job id"* ]] || return 1
  [[ -n $answer ]]
}

# wait_for PID: sets `status` to its exit code. A trap, which ends a wait, sets `interrupted`.
wait_for() {
  interrupted=1
  while ((interrupted)); do
    interrupted=0 status=0
    wait "$1" || status=$?
  done
}

# has_plan SHARD: whether the folder holds a run that can be gone on with.
has_plan() {
  local journal
  for journal in "$1"/runs/*/*/journal.jsonl; do
    [[ ! -f $journal ]] || ! grep -q '"event":"plan"' "$journal" || return 0
  done
  return 1
}

# is_timed: whether the night may time a row, and is not told which ceilings to hold it against.
is_timed() {
  local all=" ${options[*]} "
  [[ $all != *" --mode accu "* && $all != *" --mode=accu "* && $all != *" --ceilings"* && $all != *" --ceiling-store"* ]]
}
