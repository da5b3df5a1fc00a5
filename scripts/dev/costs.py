#!/usr/bin/python3
"""Prints the most expensive test suites of the last run, in CPU seconds, compared with tests/costs.csv.

    scripts/dev/costs.py [--preset release] [--record]

A shard's CPU seconds include its whole process tree; they are divided among its suites by the seconds that these took.
A suite that costs more than 1.3 times its recorded value is named in a warning. The script never fails: machines
differ, and a test that compares the clock with a number fails on a busy one. --record writes the file again, after a
complete run on the machine that the first line of the file names.
"""

import argparse
import collections
import csv
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "costs.csv"
SHOWN = 10
FACTOR = 1.3
LEAST_S = 2  # CPU seconds: cheaper suites are neither recorded nor named in warnings


def costs_of_shard(shard):
    seconds = shard["suites"]
    total = sum(seconds.values())
    for suite, took in seconds.items():
        yield suite, took, shard["cpu_s"] * took / total if total else 0


def measured(results):
    """Seconds and CPU seconds by "executable suite", and the totals over all shards."""
    suites = collections.defaultdict(lambda: [0.0, 0.0])
    total = [0.0, 0.0, 0]
    for file in sorted(results.glob("*.json")):
        shard = json.loads(file.read_text())
        total = [total[0] + shard["wall_s"], total[1] + shard["cpu_s"], total[2] + 1]
        for suite, took, cpu in costs_of_shard(shard):
            cost = suites[f"{shard['executable']} {suite}"]
            cost[0] += took
            cost[1] += cpu
    return suites, total


def recorded():
    if not RECORDED.exists():
        return {}
    with open(RECORDED, newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["suite"]: float(row["cpu_s"]) for row in rows}


def record(suites):
    with open(RECORDED, "w", newline="") as file:
        file.write("# CPU seconds of expensive test suites with cold caches, on two cores under Debian 12 "
                   "(scripts/dev/costs.py --record)\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["suite", "cpu_s"])
        for suite, (_, cpu) in sorted(suites.items()):
            if cpu >= LEAST_S:
                writer.writerow([suite, f"{cpu:.1f}"])


def print_table(suites, before):
    print(f"{'CPU s':>8} {'wall s':>8} {'recorded':>9}  the most expensive suites")
    for suite, (took, cpu) in sorted(suites.items(), key=lambda entry: -entry[1][1])[:SHOWN]:
        known = f"{before[suite]:.1f}" if suite in before else "-"
        print(f"{cpu:8.1f} {took:8.1f} {known:>9}  {suite}")


def warnings(suites, before):
    for suite, (_, cpu) in sorted(suites.items()):
        allowed = FACTOR * before.get(suite, LEAST_S)
        if before and cpu > allowed and cpu > LEAST_S:
            yield (f"Warning: {suite} cost {cpu:.1f} CPU s, more than {FACTOR} times the {before.get(suite, 0):.1f} "
                   "recorded in tests/costs.csv")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="release")
    parser.add_argument("--record", action="store_true", help="write tests/costs.csv")
    options = parser.parse_args()
    results = ROOT / "build" / options.preset / "test-results"
    suites, (wall, cpu, shards) = measured(results)
    if not suites:
        sys.exit(f"There are no results in {results}: run the tests first.")
    before = recorded()
    print_table(suites, before)
    print(f"{cpu:8.1f} {wall:8.1f} {sum(before.values()) or 0:9.1f}  all of {shards} processes")
    print("\n".join(warnings(suites, before)) or "No suite costs more than recorded.")
    if options.record:
        record(suites)


if __name__ == "__main__":
    main()
