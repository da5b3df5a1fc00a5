#!/usr/bin/env bash
# Puts tricks into the kernels of every op and hands each to `assay judge`: none may be trusted.
#
#   scripts/dev/red_team.sh [--op OP]... [--trick TRICK]... [--each-kernel-once] [--list] [-- assay judge's options]
#
# Without --op all ops are tried, and without --trick all tricks; --list prints them. --each-kernel-once tries a kernel
# with the first op that runs it alone. ASSAY names the binary (default build/release/assay). Prints a line for each
# submission, then those that were trusted. Exit code 1: there are some.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
export ASSAY=${ASSAY:-build/release/assay}
[[ -x $ASSAY ]] || die "There is no binary $ASSAY: build it, or name it in ASSAY." 2
exec scripts/dev/red_team.py "$@"
