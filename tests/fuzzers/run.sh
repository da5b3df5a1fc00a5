#!/usr/bin/env bash
# Runs the libFuzzer targets of this folder: everything that reads a file which somebody else wrote, with
# AddressSanitizer and UBSan. A finding is an input that crashes, takes more than 5 s or more than 1 GiB.
#
#   tests/fuzzers/run.sh [SECONDS [TARGET...]]   default: 60 s for each of cases, expectations, filter, journal,
#                                              manifest, model, npy, npz, tuning
#
# Inputs that took a new path are kept in build/fuzzers/corpus for the next run. The exit code is 1 if there is a
# finding: it is then in build/fuzzers/findings, and `build/fuzzers/tests/fuzzers/fuzz_TARGET FILE` repeats it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

# seeds_of TARGET: the files that a new corpus starts from: those of this folder, and all small files of cases.
seeds_of() {
  find "tests/fuzzers/corpus/$1" -type f 2>/dev/null || true
  case $1 in
    cases) find cases -maxdepth 1 -name '*.yaml' -size -7k ;;
    expectations) find cases/expectations -name '*.yaml' ;;
    model) tests/support/model_files.py build/fuzzers/corpus/model ;;
    manifest) find tests/external -name op.yaml | while read -r file; do
      cp "$file" "build/fuzzers/corpus/manifest/$(basename "$(dirname "$file")")"
    done ;;
  esac
}

# fuzz TARGET SECONDS
fuzz() {
  local corpus=build/fuzzers/corpus/$1 findings=build/fuzzers/findings/$1 log=build/fuzzers/$1.log status=0
  mkdir -p "$corpus" "$findings"
  seeds_of "$1" | xargs -r cp -t "$corpus"
  "build/fuzzers/tests/fuzzers/fuzz_$1" "$corpus" -max_total_time="$2" -timeout=5 -rss_limit_mb=1024 -max_len=65536 \
    -artifact_prefix="$findings/" -print_final_stats=1 >"$log" 2>&1 || status=$?
  say "$1: $(grep -oP 'stat::number_of_executed_units: *\K[0-9]+' "$log" || echo '?') inputs, exit code $status"
  ((status == 0)) || { tail -40 "$log" >&2; say "The input is in $findings, all output in $log."; }
  return "$status"
}

main() {
  local seconds=${1:-60} failed=0 target
  shift || true
  local -a targets=("$@")
  ((${#targets[@]})) || targets=(cases expectations filter journal manifest model npy npz tuning)
  scripts/setup.sh --fuzzers
  build_preset fuzzers "${targets[@]/#/fuzz_}"
  for target in "${targets[@]}"; do
    fuzz "$target" "$seconds" || failed=1
  done
  return "$failed"
}

main "$@"
