#!/usr/bin/env bash
# Tests the binary with hostile inputs: mutated case files, arrays and journals, kills and signals, shaders, odd
# descriptors and folders. Prints one row per kind: tried, misbehaved, slowest, largest. The exit code is 1 if anything
# misbehaved; its input is then kept in the folder that the last line names.
#
#   tests/hostile/run.sh            the short form, for CI: under a minute
#   tests/hostile/run.sh --long     10,000 inputs and 200 kills
#   tests/hostile/run.sh --seed 7 --binary build/asan/assay
#
# docs/reliability.md says what is promised, and has the results of the last long run.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
exec /usr/bin/python3 tests/hostile/hostile.py "$@"
