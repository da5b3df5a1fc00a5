#!/usr/bin/env bash
# Goes from a fresh machine to reports in one command: installs what is missing, builds, runs the smoke tier on the best
# Vulkan device, writes the HTML page that shows the reports (OUT/page.html) and prints where it is.
#
#   scripts/run.sh [arguments of `assay run`]
#
# The smoke tier is a first look: every op is checked, and one or two rows of each family are timed, for 0.1 s each.
# A --tier or --budget given here replaces these, and case files replace cases/:
#
#   scripts/run.sh --tier smoke --tier ci   every case that a change must pass
#
# Reports go where `assay run` puts them: assay-out/<device> links to the newest. Paths are relative to the repository's
# root. The exit code is assay's own: 0 fine, 1 failures, 2 usage, 3 infrastructure, 77 no device.
# If the machine cannot be prepared or the build fails it is 3 too, since no op was checked.
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

# Prints the folder that the reports go to: that of the last --out, or the default.
out_of() {
  local out=assay-out
  while (($# > 0)); do
    case $1 in
      --out=*) out=${1#--out=} ;;
      --out) out=${2:-} ;;
    esac
    shift
  done
  echo "$out"
}

# Writes an HTML page of all runs in the folder. There may be no report: after --help, or after a run of a part of the
# cases, whose reports are below OUT/scratch.
write_page() {
  local log=build/page.log
  if build/release/assay page "$1/page.html" "$1" 2>"$log"; then
    say "The page of these reports: $1/page.html"
  elif [[ -e $1/runs ]]; then
    say "The page could not be written: $(<"$log")"
  fi
}

scripts/setup.sh || exit 3
build_preset release assay || exit 3

defaults=()
is_first_look=0
given --tier "$@" || { defaults+=(--tier smoke) && is_first_look=1; }
given --budget "$@" || defaults+=(--budget 0.1)
# Signals are left to the run: Ctrl-C and `timeout` send them to the whole group. This script waits for the reports.
trap : INT TERM HUP
status=0
build/release/assay run "$@" "${defaults[@]}" || status=$?
write_page "$(out_of "$@")"
((!is_first_look)) || say "This was a first look, the smoke tier; its times are imprecise (column +-). The rest, with time to measure: scripts/run.sh --tier smoke --tier ci --budget 1"
exit "$status"
