#!/usr/bin/python3
"""Compares how the rows of two runs of the same cases ended, on this machine and on another target.

    scripts/dev/compare_targets.py HERE THERE      two folders that `assay run --out` wrote, with one device each
    scripts/dev/compare_targets.py --left THERE    prints how many rows did not run (MISSING), nothing else

A row that crashed there is known if its reason has the words of a bug of that target's driver (KNOWN_CRASHES): it says
nothing about assay. All other rows must end there as here, with the same hashes of exact outputs. The exit code is 0 if
they do, and 1 if not.
"""

import argparse
import collections
import csv
import pathlib
import re
import sys

# Words in the reason of a row that crashed, and whose bug that is.
KNOWN_CRASHES = {
    r"Cannot select: .*\bfp_extend\b": "LLVM 15, with which Debian 12's lavapipe compiles, cannot convert a vector of "
                                       "halves on arm64",
}


def rows_of(folder):
    """The rows of both modes of a run by mode and id."""
    rows = {}
    for name in ("accu", "perf"):
        for path in sorted(pathlib.Path(folder).glob(f"*/{name}.csv")):
            with open(path, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    rows[name, row["case"], row.get("cache", "")] = row
    return rows


def known_crash(row):
    """The words of KNOWN_CRASHES that a row's reason has, or None."""
    if row["status"] != "CRASH":
        return None
    return next((words for words in KNOWN_CRASHES if re.search(words, row["reason"], re.DOTALL)), None)


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
    """Prints what agrees, what crashed as it is known to, and each difference; returns the number of those."""
    crashed, differences, equal = collections.defaultdict(list), [], 0
    for key in sorted(here.keys() | there.keys()):
        words = known_crash(there[key]) if key in there else None
        found = None if words else difference(here.get(key), there.get(key))
        if words:
            crashed[words].append(f"{key[1]} ({key[0]})")
        elif found:
            differences.append(f"{key[1]} ({key[0]}): {found}")
        else:
            equal += 1
    print(f"{equal} of {len(here.keys() | there.keys())} rows end there as here, with equal exact outputs")
    for words, why in KNOWN_CRASHES.items():
        rows = crashed[words]
        print(f"{rows_text(len(rows))} crashed there as is known ('{words}': {why})" +
              ("" if rows else "; remove it from KNOWN_CRASHES if that is repaired"))
        for row in rows:
            print(f"  {row}")
    print(f"{rows_text(len(differences))} {'differs' if len(differences) == 1 else 'differ'}")
    for line in differences:
        print(f"  {line}")
    return len(differences)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--left", action="store_true")
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    runs = [rows_of(folder) for folder in options.folders]
    if options.left:
        print(sum(row["status"] == "MISSING" for rows in runs for row in rows.values()))
        return 0
    if len(runs) != 2 or not all(runs):
        parser.error("give two folders with reports")
    return 1 if compare(*runs) else 0


if __name__ == "__main__":
    sys.exit(main())
