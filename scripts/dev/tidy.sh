#!/usr/bin/env bash
# Runs clang-tidy with the settings of .clang-tidy, on as many files in parallel as there are cores.
#
#   scripts/dev/tidy.sh                                all sources: for a night, it takes the better part of an hour
#   scripts/dev/tidy.sh --changed [--at-most N] [--budget S]
#                                                  those that differ from the main branch; N of them, for S seconds
#   scripts/dev/tidy.sh FILE...                        these
#
# The exit code is non-zero if anything is found. If the budget ends, that is not a failure: the output says so.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

database=build/tools

# The preset for clang-tidy. The release preset compiles several files together and precompiles headers, which clang
# cannot read.
write_database() {
  mkdir -p build
  cmake --preset tools >build/tools.configure.log 2>&1 ||
    { cat build/tools.configure.log >&2; die "Configuring the CMake preset 'tools' failed; see above."; }
}

# The commit that changes are counted from: the merge base with the main branch, the parent when we are that
# branch, nothing when the clone is too shallow to know.
base_commit() {
  local base
  base=$(git merge-base origin/main HEAD 2>/dev/null) || base=
  if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
    base=$(git rev-parse --verify --quiet HEAD~1) || base=
  fi
  echo "$base"
}

# Changed sources, and the sources of changed headers; without history, all of them.
changed_sources() {
  local base
  base=$(base_commit)
  if [[ -n $base ]]; then
    git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.h' | sed 's/\.h$/.cpp/' | sort -u
  else
    git ls-files '*.cpp'
  fi
}

# Prints the names on stdin that the build knows how to compile, in an order that differs from commit to commit: if
# there are too many, it is not always the same ones that are left out.
known_sources() {
  local file
  while read -r file; do
    if grep -qF "\"file\": \"$root/$file\"" "$database/compile_commands.json"; then echo "$file"; fi
  done < <(shuf --random-source=<(yes "$(git rev-parse HEAD)"))
}

# analyse BUDGET FILE...
analyse() {
  local budget=$1 log=build/tidy.log status=0
  shift
  printf '%s\0' "$@" |
    timeout "$budget" xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$database" --quiet >"$log" 2>&1 || status=$?
  grep -vE '^[0-9]+ warnings? (and [0-9]+ errors? )?generated' "$log" || true
  ((status != 124)) || say "The budget of $budget s ended before all files were analysed."
  # Files that were cut off do not count; findings before that do.
  ((status == 0)) || { ((status == 124)) && ! grep -qE ': (error|warning): ' "$log"; }
}

main() {
  local mode=all at_most=1000000 budget=infinity given=() files
  while (($#)); do
    case $1 in
      --changed) mode=changed ;;
      --at-most) at_most=$2 && shift ;;
      --budget) budget=$2 && shift ;;
      -*) die "tidy: unknown option $1; see the head of scripts/dev/tidy.sh." 2 ;;
      *) mode=given && given+=("$1") ;;
    esac
    shift
  done
  write_database
  case $mode in
    all) mapfile -t files < <(git ls-files '*.cpp' | known_sources) ;;
    changed) mapfile -t files < <(changed_sources | known_sources) ;;
    given) mapfile -t files < <(printf '%s\n' "${given[@]}" | known_sources) ;;
  esac
  say "clang-tidy: ${#files[@]} sources to analyse, analysing $((${#files[@]} < at_most ? ${#files[@]} : at_most))."
  files=("${files[@]:0:at_most}")
  ((${#files[@]} == 0)) || analyse "$budget" "${files[@]}"
}

main "$@"
