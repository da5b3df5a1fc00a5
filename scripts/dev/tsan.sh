#!/usr/bin/env bash
# Builds the tests of the modules that have threads with ThreadSanitizer and runs them: base, engine, and the supervision
# of workers. tsan.supp names the libraries whose reports are not ours. Builds for about ten minutes the first time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tests=(base_test engine_test engine_supervision_test)
cmake --preset tsan >/dev/null
cmake --build --preset tsan --target "${tests[@]}"
labels=$(IFS='|' && echo "${tests[*]}")
ctest --preset tsan --label-regex "^($labels)\$" "$@"
