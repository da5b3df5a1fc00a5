#!/usr/bin/env bash
# Concludes a night, whether or not its tasks succeeded: one report per device, the verdict, the exit code.
#
#   scripts/farm/night/conclude.sh NIGHT
#
# May be run again: it then includes what tasks have finished since.
set -euo pipefail
# shellcheck source=scripts/farm/night/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap one_is_an_answer EXIT
night=$1
read_plan "$night"
farm=$(dirname "$night")
pages_show=120 # reports: thirty nights of four devices

# merge SLUG NAME: fails where there is no report of the device.
merge() {
  local shard parts=() status=0 told
  for ((shard = 1; shard <= shards; ++shard)); do
    ! has_plan "$night/shards/$1/$shard" || parts+=("$night/shards/$1/$shard")
  done
  if ((${#parts[@]} == 0)); then
    say "conclude: $2 has no report: none of its $shards tasks planned its rows; see $night/console/$1.*"
    return 1
  fi
  say "conclude: $2: ${#parts[@]} of $shards tasks have reports"
  rm -f "$night/$1" # the link of an earlier merge, when a night was resumed: its report stays below runs/
  told=$("$assay" merge "$night" "${parts[@]}" 2>&1) || status=$?
  printf '%s\n' "$told" >"$night/console/$1.merge.txt" || true # the disk may be full: what was told is shown below
  # Exit codes 0, 1 and 3 depend on the rows' statuses; a merge that was refused leaves no report.
  [[ -e $night/$1/journal.jsonl ]] && return
  say "conclude: the reports of $2 could not be merged (exit code $status):"
  printf '%s\n' "$told" >&2
  return 1
}

# Shows this night's verdict and reports, and those of earlier nights for the history of rows; a night that is concluded
# again may have later ones.
# A failure here does not fail the night.
write_page() {
  local reports how=()
  [[ ! -f $night/nightly.json ]] || how+=(--night "$night")
  [[ ! -f $farm/run-noise.csv ]] || how+=(--run-noise "$farm/run-noise.csv")
  mapfile -t reports < <(find "$farm" -mindepth 2 -maxdepth 2 -type l -path "$farm/2*" | sort -r | LC_ALL=C awk -v last="$night/~" '$0 <= last' | sed -n "1,${pages_show}p")
  ((${#reports[@]} > 0)) || return 0
  "$assay" page "$night/page.html" "${reports[@]}" "${how[@]}" >"$night/console/page.txt" 2>&1 ||
    say "conclude: the page could not be written; see $night/console/page.txt"
  grep '^warning: ' "$night/console/page.txt" >&2 || true
}

# Names the cases to which `assay fuzz` shrank what it found, as a part of the verdict. Fails where there is one.
tell_fuzzed() {
  local found
  [[ -d $night/fuzz ]] || return 0
  mapfile -t found < <(find "$night/fuzz" -mindepth 3 -maxdepth 3 -name '*.yaml' | sort)
  ((${#found[@]} > 0)) || return 0
  printf '%s\n' "FUZZ: ${#found[@]} cases fail that no case file has; run them with \`assay run FILE\`:" "${found[@]/#/  }" |
    tee -a "$night/verdict.txt"
  return 1
}

# Fails for a device on which `assay fuzz` was asked for and did not come to an end, or ran nothing.
all_have_fuzzed() {
  local slug failed=0
  ((fuzz)) || return 0
  while IFS=$'\t' read -r slug _ <&8; do
    has_fuzzed "$night" "$slug" && continue
    say "conclude: assay fuzz on $slug ran no point to its end; see $night/console/$slug.fuzz.txt" && failed=1
  done 8<"$night/devices.tsv"
  return "$failed"
}

# write_exit_code CODE: writes over the file that nightly.sh made, in place, which a full disk allows.
write_exit_code() {
  printf '%s\n' "$1" 1<>"$night/exit_code.new" && mv -T "$night/exit_code.new" "$night/exit_code"
}

main() {
  local slug name status=0 lost=0 judge=(verdict "$night" --last-good "$farm/last-good")
  while IFS=$'\t' read -r slug _ name _ <&8; do
    # The verdict may then be of an earlier report of the device.
    merge "$slug" "$name" || { lost=1 && judge+=(--keep-last-good "$slug"); }
    judge+=(--expect-slug "$slug")
  done 8<"$night/devices.tsv"
  [[ " ${options[*]} " != *" --strict "* ]] || judge+=(--strict)
  [[ ! -f $farm/run-noise.csv ]] || judge+=(--run-noise "$farm/run-noise.csv")
  "$assay" "${judge[@]}" || status=$?
  tell_fuzzed || ((status != 0)) || status=1
  all_have_fuzzed || status=3
  ((!lost)) || status=3 # an earlier report of a resumed night is no answer
  [[ -z $keep ]] || "$assay" prune "$farm" --keep "$keep" --shards >&2 || say "conclude: removing old nights failed, see above"
  write_exit_code "$status" || { status=3 && say "conclude: $night/exit_code could not be written, see above"; }
  write_page # last: it may take long, and the answer is there by now
  ((status == 0)) || say "nightly: exit code $status; the night is in $night" # output makes cron send a mail
  answer "$status"
}

main
