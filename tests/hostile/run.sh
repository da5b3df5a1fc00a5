#!/usr/bin/env bash
# Tests the binary with hostile inputs: mutated files for everything that reads one, kills and power cuts, signals,
# shaders and submissions, odd descriptors, folders and files. Prints one row per kind: tried, misbehaved, slowest,
# largest. The exit code is 1 if anything misbehaved; its input is then kept in the folder that the last line names.
#
#   tests/hostile/run.sh                                  the short form, for CI: 150 s of CPU time
#   tests/hostile/run.sh --long                           14,000 inputs and 1,000 kills
#   tests/hostile/run.sh --only kill --count 50 --seed 3  another sample of one kind
#   tests/hostile/run.sh --seed 7 --binary build/asan/assay
#
# docs/reliability.md says what is promised, and has the results of the last long run.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
exec /usr/bin/python3 tests/hostile/hostile.py "$@"
