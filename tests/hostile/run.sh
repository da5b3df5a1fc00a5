#!/usr/bin/env bash
# What does not mean well, tried against the binary: mutated case files, arrays and journals, kills and signals,
# shaders, odd descriptors and folders. Prints a row a kind: tried, misbehaved, slowest, largest. The exit code is 1
# when anything misbehaved; its input is kept then, in the folder that the last line names.
#
#   tests/hostile/run.sh            in under a minute, for CI
#   tests/hostile/run.sh --long     10,000 inputs and 200 kills
#   tests/hostile/run.sh --seed 7 --binary build/asan/assay
#
# What is promised, and what the last long run showed: docs/reliability.md.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
exec /usr/bin/python3 tests/hostile/hostile.py "$@"
