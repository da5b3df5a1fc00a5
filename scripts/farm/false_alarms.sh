#!/usr/bin/env bash
# Tests `assay compare` on runs of the same program, and on runs with a slowdown that was added on purpose.
#
#   scripts/farm/false_alarms.sh [PAIRS] [OUT] [assay run's options]
#       PAIRS   default 20: the number of pairs of consecutive runs, among PAIRS + 1 runs
#       OUT     default assay-out/false-alarms; existing runs are not made again
#       options default: --tier ci --budget 0.15
#
# Prints, with the same-program rule switched off, how many of the rows were called SLOWER or FASTER; then how many of
# the rows that scatter by less than 1 % are found SLOWER with 5 % more work in them (--inject-slowdown).
# Writes the run noise of the pairs to OUT/run_noise.csv, for `assay compare --run-noise`: the alarms counted there are
# those that would be raised without knowledge of the run noise.
# The results are meaningful only on an idle machine. The exit code is 0 unless a run or a comparison fails.
set -euo pipefail
pairs=${1:-20}
out=$(realpath -m "${2:-assay-out/false-alarms}")
options=("${@:3}")
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
((${#options[@]})) || options=(--tier ci --budget 0.15)
assay=${ASSAY:-build/release/assay}
slowed_down=2

# run NAME [OPTION...]: makes the run, unless it exists.
run() {
  local name=$1
  shift
  [[ ! -e $out/$name/done ]] || return 0
  "$assay" run --mode perf --out "$out/$name" --overwrite "${options[@]}" "$@" >"$out/$name.log" 2>&1 ||
    die "the run $name failed; see $out/$name.log"
  touch "$out/$name/done"
}

# judge BASE NEW [OPTION...]: prints the CSV of a comparison; no verdict is a failure here.
judge() {
  "$assay" compare "$out/$1" "$out/$2" --judge-same-programs --fail-on none --all --csv - "${@:3}"
}

# rows CSV...: verdict and the two spreads of each judged row.
rows() {
  /usr/bin/python3 -c '
import csv, sys
for name in sys.argv[1:]:
    for row in csv.DictReader(open(name, newline="")):
        if row["needed_pct"]:
            print(row["verdict"], row["base_spread_pct"], row["new_spread_pct"])' "$@"
}

mkdir -p "$out"
for ((i = 0; i <= pairs; ++i)); do run "run$i"; done
for ((i = 1; i <= slowed_down; ++i)); do run "slow$i" --inject-slowdown 5; done

rm -f "$out/run_noise.csv"
for ((i = 1; i <= pairs; ++i)); do
  judge "run$((i - 1))" "run$i" --keep-run-noise "$out/run_noise.csv" >"$out/same$i.csv"
done
for ((i = 1; i <= slowed_down; ++i)); do
  for ((k = 0; k <= pairs; k += 5)); do judge "run$k" "slow$i" >"$out/slow$i.$k.csv"; done
done

say "$pairs pairs of runs of the same program (${options[*]}):"
rows "$out"/same*.csv | awk '
  { ++all; ++of[$1]; if ($2 < 1 && $3 < 1) ++quiet }
  END { printf "  %d rows judged: %d SLOWER, %d FASTER, %d SAME, %d AMBIGUOUS; %d scatter by less than 1 %%\n",
        all, of["SLOWER"], of["FASTER"], of["SAME"], of["AMBIGUOUS"], quiet }'
say "5 % more work:"
rows "$out"/slow*.csv | awk '
  { ++all; if ($1 == "SLOWER") ++found; if ($2 < 1 && $3 < 1) { ++quiet; if ($1 == "SLOWER") ++quiet_found } }
  END { printf "  %d of %d rows SLOWER; of the %d that scatter by less than 1 %%: %d\n", found, all, quiet, quiet_found }'
/usr/bin/python3 -c '
import csv, sys
pairs = list(csv.DictReader(open(sys.argv[1], newline="")))
rows, alarms = (sum(int(pair[name]) for pair in pairs) for name in ("rows", "alarms"))
largest = max(float(pair["largest_pct"]) for pair in pairs)
print(f"kept in {sys.argv[1]}: {alarms} of {rows} rows would be alarms by what each run shows alone, "
      f"the largest of {largest:.2f} %")' "$out/run_noise.csv"
