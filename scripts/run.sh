#!/usr/bin/env bash
# From a fresh machine to reports in one command: installs what is missing, builds, runs the smoke and ci
# tiers on the best Vulkan device.
#
#   scripts/run.sh [arguments of `assay run`]
#
# Case files given here replace cases/, a --tier or --budget given here replaces ours: a first look samples each timed
# row for 0.3 s, `assay run` itself for up to one. Reports go where `assay run` puts them: assay-out/<device> links to
# the newest. Paths are relative to the repository's root. The exit code is assay's own: 0 fine, 1 failures, 2 usage,
# 3 infrastructure, 77 no device.
# When the machine cannot be prepared or the build fails it is 3 too: no verdict on any op was reached.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# given OPTION ARGUMENT...: is the option among the arguments, as "--out x" or "--out=x"?
given() {
  local option=$1 argument
  shift
  for argument in "$@"; do
    [[ $argument == "$option" || $argument == "$option="* ]] && return
  done
  return 1
}

scripts/setup.sh || exit 3
build_preset release assay || exit 3

defaults=()
given --tier "$@" || defaults+=(--tier smoke --tier ci)
given --budget "$@" || defaults+=(--budget 0.3)
exec build/release/assay run "$@" "${defaults[@]}"
