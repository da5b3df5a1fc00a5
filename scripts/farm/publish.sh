#!/usr/bin/env bash
# Publishes the report of one device in the repository, so that others can read it and compare it with their own.
#
#   scripts/farm/publish.sh REPORT NAME [INTO]     REPORT: assay-out, assay-out/DEVICE, a run's folder or a journal
#                                             INTO: default reports/published; an older INTO/NAME is replaced
#
# The journal, plain or compressed, is copied without the machine's name and without the folders of the binary and of
# the output, and is compressed (journal.jsonl.zst); perf.csv and run.json are made again from the copy, and the other
# reports are left to `assay report`. A report that must not be published is refused, with the reason: see
# reports/published/README.md. The exit code is 0 if it is published, 1 if it is refused, 2 for a usage error. ASSAY
# names another binary than build/release/assay.
set -euo pipefail
# Paths are the caller's; the repository's root is where lib.sh leaves us.
folder=${1:+$(realpath -m "$1")}
into=${3:+$(realpath -m "$3")}
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

assay=${ASSAY:-build/release/assay}
max_bytes=$((16 << 20))

refuse() { die "Not published: $1" 1; }

# journal_in FOLDER: the folder's own journal, plain before compressed.
journal_in() {
  local journal
  for journal in "$1"/journal.jsonl{,.zst}; do
    [[ ! -f $journal ]] || { echo "$journal" && return; }
  done
}

# journal_of REPORT: the journal that REPORT stands for; REPORT must have one device.
journal_of() {
  local journals device
  if [[ -f $1 ]]; then
    journals=("$1")
  else
    mapfile -t journals < <(journal_in "$1")
    ((${#journals[@]})) || mapfile -t journals < <(for device in "$1"/*/; do journal_in "${device%/}"; done)
  fi
  ((${#journals[@]} == 1)) && echo "${journals[0]}"
}

# field NAME: the text of a field of the run event, the journal's first line. That line has each name once
# before its free text (the command line) and is written by assay alone: no blanks, no reordering.
field() {
  head -1 "$journal" | grep -oP "\"$1\":\K(\"([^\"\\\\]|\\\\.)*\"|[^,}]*)" | sed -n 1p | sed 's/^"//; s/"$//'
}

# Removes from the run event (which may occur twice, if rules of the expectations are stale) details that do not affect
# the figures: the machine's name, and in the command line the parent folders of the binary and of the output. Tasks of
# a night get all of these as absolute paths, and the device as a UUID, which must not be in repro lines for others.
without_the_machine() {
  sed -E '/^\{"event":"run"/{s/"host":"[^"]*",//
    :device; s#("repro_options":"([^"\\]|\\.)*)--device \x27[^\x27]*\x27 ?#\1#; t device
    s#("command":\[)"/[^"]*/([^"/]+)"#\1"\2"#
    s#("--(out|ceiling-store|answer-cache)",)"/[^"]*/([^"/]+)"#\1"\3"#g}'
}

# A report proves little if others cannot reproduce it: its commit must be one that they have.
check_build() {
  local version commit
  version=$(field version)
  commit=${version##*+}
  [[ $commit != *-dirty ]] ||
    refuse "the binary ($version) was built with uncommitted changes. Commit them, build, run again."
  git cat-file -e "$commit^{commit}" 2>/dev/null ||
    refuse "the binary ($version) was built from a commit that is not in this repository."
}

check_kernels() {
  ! grep -qP '"shaders":"' "$journal" ||
    refuse "the run took its kernels from a folder (--shaders, --versus-shaders), not from the commit it names."
}

# Absolute paths reveal user names and the set-up of a machine, except paths of the system's own packages.
check_privacy() {
  local paths
  paths=$(grep -oP '(?<=["'"'"' =:,(])/(?!usr/|etc/|opt/|sys/)[\w.~+-]+(/[\w.~+-]+)+' "$journal" | sort -u | sed -n 1,5p) || true
  [[ -z $paths ]] ||
    refuse "the report holds paths of this machine, such as
$paths
Run from the repository's root with relative paths: build/release/assay run --out assay-out"
}

# The validation layer slows what is timed.
check_times() {
  [[ $(field validation) != true ]] || ! grep -q '^{"event":"plan".*"mode":"perf"' "$journal" ||
    refuse "cases were timed with the validation layer on. Run once more without --validation."
}

# Makes every report again from the copied journal; assay's exit code decides.
check_rows() {
  local status=0
  "$assay" report "$staging" >"$staging/summary.txt" || status=$?
  case $status in
    0) ;;
    2) refuse "no case was judged, or the journal cannot be read." ;;
    *)
      sed -n '/^FAILURES/,$p' "$staging/summary.txt" >&2
      refuse "not every row is fine (exit code $status); the list is above."
      ;;
  esac
  grep -q '^  "complete": true' "$staging/run.json" || refuse "the run did not finish."
}

main() {
  local name=${2:-} target source
  (($# == 2 || $# == 3)) || die "Usage: scripts/farm/publish.sh REPORT NAME [INTO]" 2
  [[ $name =~ ^[a-z0-9][a-z0-9.-]*$ ]] || die "NAME must be a folder's name of a-z, 0-9, - and ., not '$name'." 2
  source=$(journal_of "$folder") ||
    die "$1 does not hold the journal of one device: name the folder of a device, such as assay-out/DEVICE." 2
  command -v zstd >/dev/null || die "Published journals are compressed with zstd, which is not installed: run scripts/setup.sh." 3
  [[ -x $assay ]] || build_preset release assay || exit 3

  staging=$(mktemp -d)
  trap 'rm -rf "$staging"' EXIT
  journal=$staging/journal.jsonl
  compressed=$journal.zst
  # -f: a file that is not compressed passes unchanged.
  zstd -dcfq "$source" | without_the_machine >"$journal"
  zstd -19 -q "$journal" -o "$compressed"
  (($(stat -c %s "$compressed") <= max_bytes)) ||
    refuse "the compressed journal has $(stat -c %s "$compressed") bytes, more than $max_bytes: run fewer tiers."
  check_rows
  check_build
  check_kernels
  check_times
  check_privacy

  target=${into:-reports/published}/$name
  rm -rf "$target"
  mkdir -p "$target"
  cp "$staging"/{journal.jsonl.zst,perf.csv,run.json} "$target/"
  # A row of a resumed run may have ended more than once.
  say "Published $(grep -o '^{"event":"end","row":[0-9]*' "$journal" | sort -u | wc -l) rows of $(field name) in $target"
}

main "$@"
