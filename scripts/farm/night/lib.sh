# shellcheck shell=bash
# Functions that the scripts of a night share; sourced, never run. Changes to the root of the package or of the source
# tree, since that is where case files are.

# shellcheck disable=SC2034 # used by nightly.sh: paths of the user are relative to the user's folder
caller=$PWD
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) # scripts/farm/
root=$(cd "$here/../.." && pwd)
cd "$root" || exit 3

# stdout is for data (the verdict, the ids of jobs); everything else goes to stderr.
say() { printf '%s\n' "$*" >&2; }

# die MESSAGE [EXIT_CODE]
die() {
  say "$1"
  exit "${2:-1}"
}

# Exit code 1 of a night says that rows failed. set -e ends a script with 1 as well, when a command fails (a full disk, a
# folder that cannot be written): that is infrastructure. Scripts of a night set this as their trap on EXIT, and end with
# an exit code of assay by `answer`.
answered=0
one_is_an_answer() {
  local ended=$?
  ((ended == 1 && !answered)) || return 0
  say "nightly: a command failed, see above: exit code 3"
  exit 3
}
answer() {
  answered=1
  exit "$1"
}

# json_field NAME LINE: the text of a string field in a JSON object on one line.
json_field() { grep -oP "\"$1\":\"\\K([^\"\\\\]|\\\\.)*" <<<"$2" | sed -n 1p; }

# read_plan NIGHT: sets the variables that write_plan wrote.
read_plan() {
  assay='' shards=0 fuzz=0 keep='' options=()
  # shellcheck source=/dev/null
  source "$1/plan"
}

# write_plan NIGHT: writes bash assignments, quoted, since options may contain blanks.
write_plan() {
  local words=''
  ((${#options[@]} == 0)) || words=$(printf '%q ' "${options[@]}")
  printf 'assay=%q shards=%q fuzz=%q keep=%q options=(%s)\n' "$assay" "$shards" "$fuzz" "$keep" "$words" >"$1/plan"
}

# is_queued IDS: whether one of these jobs waits or runs in Slurm. Without Slurm none does; if Slurm does not answer,
# they are assumed to.
is_queued() {
  local answer
  command -v squeue >/dev/null || return 1
  answer=$(squeue --noheader --format=%A --jobs="${1//[[:space:]]/,}" 2>&1) || [[ $answer != *"Invalid job id"* ]] || return 1
  [[ -n $answer ]]
}

# wait_for PID: sets `status` to its exit code. A trap ends bash's wait early: it sets `interrupted`, to wait again.
wait_for() {
  interrupted=1
  while ((interrupted)); do
    interrupted=0 status=0
    wait "$1" || status=$?
  done
}

# has_plan SHARD: whether the folder holds a run that can be resumed.
has_plan() {
  local journal
  for journal in "$1"/runs/*/*/journal.jsonl; do
    [[ ! -f $journal ]] || ! grep -q '"event":"plan"' "$journal" || return 0
  done
  return 1
}

# given_again: sets `again` to those of the night's options that assay never takes from a journal.
given_again() {
  local i
  again=()
  for ((i = 0; i < ${#options[@]}; i++)); do
    case ${options[i]} in
      --shaders=* | --versus-shaders=* | --dump=* | --github-summary=* | --answer-cache=* | --ceiling-store=* | \
        --worker-command=* | --ops=*) again+=("${options[i]}") ;;
      --shaders | --versus-shaders | --dump | --github-summary | --answer-cache | --ceiling-store | --worker-command | --ops)
        again+=("${options[@]:i:2}") && i=$((i + 1)) ;;
    esac
  done
}

# is_timed: whether the night may time rows and its options do not say which ceilings to compare them with.
is_timed() {
  local all=" ${options[*]} "
  [[ $all != *" --mode accu "* && $all != *" --mode=accu "* && $all != *" --ceilings"* && $all != *" --ceiling-store"* ]]
}

# has_fuzzed NIGHT SLUG: whether `assay fuzz` finished on the device, with at least one point: the last line that it
# prints says how many.
has_fuzzed() {
  grep -qs '^fuzz: [1-9][0-9]* points\? ' "$1/console/$2.fuzz.txt"
}
