#!/usr/bin/env bash
# Runs every test: unit and end-to-end tests, the HTML page in a browser, formatting, linters. Installs what is missing.
#
#   scripts/test.sh [--all | --asan | --changed] [ctest arguments]
#
# Of checks that are made hundreds of times with a compilation each (faults seeded into kernels, variants of shaders,
# other devices) a part is drawn by the commit (tests/support/drawn.h); --all makes all of them. --asan runs the tests of
# `asan_tests` under AddressSanitizer and UBSan, those of `only_asan_tests` only there. --changed builds and runs only
# tests that the changes since main can affect, and all other checks. The last line is always "N passed, N failed",
# which counts tests of GoogleTest one by one, and the exit code is non-zero unless nothing failed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
exec 2>&1 # one stream, so that the last line is the last

# The tests that run under the sanitizers: modules that parse outside input, and modules that compute. The others pass
# too (ctest --preset asan), but would take five minutes more to build.
asan_tests=(base_test tensor_test op_test report_test references_test cases_test)
# With --asan these are neither built nor run without them: they leave out no test there, and compute nothing that
# depends on how it is compiled.
only_asan_tests=(base_test report_test cases_test)

passed=0
failed=0
conclude() {
  local status=$?
  # A script that ends early (no packages, an interrupt) must not read as a success.
  ((status == 0 || failed > 0)) || failed=1
  printf '%s passed, %s failed\n' "$passed" "$failed"
}
trap conclude EXIT

# check NAME COMMAND...: one check outside CTest.
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

# run_tests PRESET TESTS [ctest arguments]: builds these test executables, or everything where TESTS is "all", runs them
# and counts their tests.
run_tests() {
  local preset=$1 tests=$2 junit=$PWD/build/$1.junit.xml results=build/$1/test-results status=0
  local jobs=$(($(nproc) * 3 / 2)) # many tests wait: for a worker that hangs, for a deadline
  local -a targets=() counts=()
  shift 2
  say "== tests, preset $preset"
  if [[ $tests != all ]]; then
    read -ra targets <<<"$tests"
    set -- "$@" -L "^(${tests// /|})\$"
  fi
  build_preset "$preset" "${targets[@]}" || { failed=$((failed + 1)); return; }
  rm -rf "$results" "$junit"
  ctest --preset "$preset" --parallel "$jobs" --no-tests=error --output-junit "$junit" "$@" </dev/null || status=$?
  read -ra counts < <(scripts/dev/test_counts.py "$results" "$junit" || echo 0 1 0)
  count_tests "$status" "${counts[@]}"
}

# count_tests STATUS PASSED FAILED SKIPPED: a failure of CTest that is in no count still counts as one.
count_tests() {
  (($1 == 0 || $3 > 0)) || failed=$((failed + 1))
  passed=$((passed + $2))
  failed=$((failed + $3))
  (($4 == 0)) || say "Skipped, hence neither passed nor failed: $4"
}

# run_changed_tests [ctest arguments]
run_changed_tests() {
  local tests
  cmake --preset release >build/release.configure.log 2>&1 || { failed=$((failed + 1)); return; }
  tests=$(scripts/dev/affected_tests.py release) || { failed=$((failed + 1)); return; }
  if [[ -z $tests ]]; then
    say "== tests: the changes since main affect none"
    return
  fi
  tests=${tests//$'\n'/ }
  say "== tests that the changes since main can affect: $tests"
  run_tests release "$tests" "$@"
}

formatting_is_clean() {
  git ls-files -z '*.cpp' '*.h' '*.js' | xargs -0 -r clang-format --dry-run -Werror
}

# NODE_PATH: where Debian's packages are, for a Node.js that is not Debian's own.
page_script_is_clean() {
  NODE_PATH=/usr/share/nodejs eslint --format unix harness/report/html/assets
}

scripts_are_clean() {
  local -a scripts=(scripts/*.sh scripts/*/*.sh scripts/farm/night/*.sh tests/hostile/*.sh tests/fuzzers/*.sh .ci/run)
  shellcheck -x "${scripts[@]}" && pipelines_are_read_to_their_end "${scripts[@]}"
}

# Under `pipefail` a reader that ends early fails the script now and then: its writer dies of SIGPIPE if it is still
# writing.
pipelines_are_read_to_their_end() {
  ! grep -nE '[^|]\| *(head|grep -[a-zA-Z]*[qm]|(awk|sed) .*\b(exit|q)\b)' "$@" | grep -v 'grep -nE' ||
    { say "Read all of the pipe above, for example with: sed -n 1p"; return 1; }
}

# Exact outputs are the same on every device: if the published reports differ, one of them is stale.
published_hashes_are_equal() {
  build/release/assay pivot reports/published --hashes
}

main() {
  local mode=${1:-}
  [[ $mode == --all || $mode == --asan || $mode == --changed ]] && shift
  scripts/setup.sh --dev
  mkdir -p build
  if [[ $mode != --all ]]; then
    ASSAY_TEST_DRAW=$(git rev-parse HEAD)
    export ASSAY_TEST_DRAW
    say "== checks are drawn by the commit $ASSAY_TEST_DRAW; scripts/test.sh --all makes all of them"
  fi
  if [[ $mode == --changed ]]; then
    run_changed_tests "$@"
  else
    [[ $mode != --asan ]] || configure_options=("-DASSAY_TESTS_LEFT_OUT=$(IFS=';' && echo "${only_asan_tests[*]}")")
    run_tests release all "$@"
    configure_options=()
    scripts/dev/costs.py || true
  fi
  [[ $mode != --asan ]] || run_tests asan "${asan_tests[*]}" "$@"
  check "formatting (repair with: git ls-files '*.cpp' '*.h' '*.js' | xargs clang-format -i)" formatting_is_clean
  check "the linter on the page's script" page_script_is_clean
  check "formatting of GLSL (repair with: scripts/dev/format_glsl.py)" scripts/dev/format_glsl.py --check
  check "include cycles" scripts/dev/check_includes.py
  check "shellcheck on the scripts" scripts_are_clean
  check "documents: lengths, links and names of files" scripts/dev/check_docs.py
  check "phrases that are not plain English" scripts/dev/check_words.py
  check "pictures are those of the published reports" docs/images/fused_and_unfused.py --check
  check "tables of measured figures (repair with: scripts/docs/performance.py)" scripts/docs/performance.py --check
  check "generated cases (repair with: scripts/cases/mobilenet_v2_chain.py)" scripts/cases/mobilenet_v2_chain.py --check
  check "equal hashes in the published reports" published_hashes_are_equal
  check "walks print what docs/walks.md says (repair with: scripts/docs/walks.py)" scripts/docs/walks.py --check
  ((failed == 0))
}

main "$@"
