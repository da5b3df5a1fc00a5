#!/usr/bin/env bash
# Every test: unit and end-to-end tests, the page in a browser, formatting, linters. Installs what is missing.
#
#   scripts/test.sh [--asan] [ctest arguments]
#
# --asan runs those of `asan_tests` a second time under AddressSanitizer and UBSan. The last line is always
# "N passed, N failed", and the exit code is non-zero unless nothing failed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
exec 2>&1 # one stream, so that the last line is the last

# What runs under the sanitizers: the modules that read what people and files say, and that compute. The others pass
# as well (ctest --preset asan), and would take five minutes more to build.
asan_tests=(base_test tensor_test op_test report_test references_test cases_test)

passed=0
failed=0
conclude() {
  local status=$?
  # A script that ends early (no packages, an interrupt) must not read as a success.
  ((status == 0 || failed > 0)) || failed=1
  printf '%s passed, %s failed\n' "$passed" "$failed"
}
trap conclude EXIT

# check NAME COMMAND...: one check that is no CTest test.
check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    say "FAILED: $name"
  fi
}

# run_tests PRESET [ctest arguments]: builds everything and counts what CTest says in its summary.
run_tests() {
  local preset=$1 log=build/$1.ctest.log status=0 summary bad=0 all=0 skipped
  shift
  say "== tests, preset $preset"
  local targets=()
  if [[ $preset == asan ]]; then
    targets=("${asan_tests[@]}")
    set -- "$@" -L "^($(IFS='|' && echo "${asan_tests[*]}"))\$"
  fi
  build_preset "$preset" "${targets[@]}" || { failed=$((failed + 1)); return; }
  ctest --preset "$preset" --parallel 2 --no-tests=error "$@" </dev/null | tee "$log" || status=$?
  summary=$(grep -E '^[0-9]+% tests passed' "$log" | tail -1) || true
  if [[ $summary =~ ([0-9]+)' tests failed out of '([0-9]+) ]]; then
    bad=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
  fi
  # Neither a run without a summary nor a failure that the summary does not show may pass.
  ((status == 0 || bad > 0)) || bad=1 all=$((all > 0 ? all : 1))
  skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*\*\*\*Skipped' "$log") || true
  ((skipped == 0)) || say "Skipped, hence neither passed nor failed: $skipped"
  passed=$((passed + all - bad - skipped))
  failed=$((failed + bad))
}

formatting_is_clean() {
  git ls-files -z '*.cpp' '*.h' '*.js' | xargs -0 -r clang-format --dry-run -Werror
}

# NODE_PATH: where Debian's packages lie, for a Node.js that is not Debian's own.
page_script_is_clean() {
  NODE_PATH=/usr/share/nodejs eslint --format unix reports/page
}

scripts_are_clean() {
  shellcheck -x scripts/*.sh scripts/night/*.sh tests/hostile/*.sh .ci/run
}

# Exact outputs are the same on every device: the published reports prove it, or one of them is stale.
published_hashes_are_equal() {
  build/release/assay pivot reports/published --hashes
}

main() {
  local presets=(release) preset
  if [[ ${1:-} == --asan ]]; then
    presets+=(asan)
    shift
  fi
  scripts/setup.sh --dev
  for preset in "${presets[@]}"; do run_tests "$preset" "$@"; done
  check "formatting (repair with: git ls-files '*.cpp' '*.h' '*.js' | xargs clang-format -i)" formatting_is_clean
  check "the linter on the page's script" page_script_is_clean
  check "formatting of GLSL (repair with: scripts/format_glsl.py)" scripts/format_glsl.py --check
  check "include cycles" scripts/check_includes.py
  check "shellcheck on the scripts" scripts_are_clean
  check "documents: lengths and links" scripts/check_docs.py
  check "pictures are those of the published reports" docs/images/fused_and_unfused.py --check
  check "equal hashes in the published reports" published_hashes_are_equal
  check "walks print what docs/walks.md says (repair with: scripts/walks.py)" scripts/walks.py --check
  ((failed == 0))
}

main "$@"
