#!/usr/bin/python3
"""Compares how the rows of two runs of the same cases ended, on this machine and on another target.

    scripts/dev/compare_targets.py HERE THERE      two folders that `assay run --out` wrote, with one device each

All rows must end there as here, with the same hashes of exact outputs. The exit code is 0 if they do, and 1 if not.
"""

import argparse
import csv
import pathlib
import sys


def rows_of(folder):
    """The rows of both modes of a run by mode and id."""
    rows = {}
    for name in ("accu", "perf"):
        for path in sorted(pathlib.Path(folder).glob(f"*/{name}.csv")):
            with open(path, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    rows[name, row["case"], row.get("cache", "")] = row
    return rows


def shortened(reason):
    """The first line of a reason, which for a crash may be followed by a dump."""
    first, _, rest = reason.partition("\n")
    return first + (" ..." if rest else "")


def difference(here, there):
    """How a row differs between the targets, or None."""
    if here is None or there is None:
        return "is in one of the runs only"
    if here["status"] != there["status"]:
        return f"{here['status']} here, {there['status']} there: {shortened(there['reason'] or here['reason'])}"
    is_exact = here.get("hash_portable") == there.get("hash_portable") == "true"
    if is_exact and here["output_hash"] != there["output_hash"]:
        return f"the exact output has the hash {here['output_hash']} here and {there['output_hash']} there"
    return None


def rows_text(count):
    return f"{count} row" if count == 1 else f"{count} rows"


def compare(here, there):
    """Prints how many rows agree, and each difference; returns the number of those."""
    keys = sorted(here.keys() | there.keys())
    found = [(key, difference(here.get(key), there.get(key))) for key in keys]
    differences = [f"{key[1]} ({key[0]}): {text}" for key, text in found if text]
    print(f"{len(keys) - len(differences)} of {len(keys)} rows end there as here, with equal exact outputs")
    print(f"{rows_text(len(differences))} {'differs' if len(differences) == 1 else 'differ'}")
    for line in differences:
        print(f"  {line}")
    return len(differences)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("here", type=pathlib.Path)
    parser.add_argument("there", type=pathlib.Path)
    options = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    here, there = rows_of(options.here), rows_of(options.there)
    if not here or not there:
        parser.error("give two folders with reports")
    return 1 if compare(here, there) else 0


if __name__ == "__main__":
    sys.exit(main())
