#!/usr/bin/python3
"""Counts the tests that a run of CTest ran: `test_counts.py RESULTS JUNIT` prints "PASSED FAILED SKIPPED".

RESULTS is the folder that scripts/test_shard.py writes to, JUNIT what `ctest --output-junit` wrote. A process of
GoogleTest counts as the tests in it; one that has left no results, and what is no GoogleTest, as one test.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree


def count_one(entry):
    """Passed, failed, skipped of an entry of CTest that has no results of its own: one of them is 1."""
    status, skipped = entry.get("status"), entry.find("skipped")
    if status == "run":
        return 1, 0, 0
    # CTest says "notrun" of an executable that is missing, too.
    if status == "notrun" and skipped is not None and skipped.get("message", "").startswith("SKIP"):
        return 0, 0, 1
    return 0, 1, 0


def count_shard(entry, file):
    shard = json.loads(file.read_text())
    failed = max(len(shard["failed"]), 0 if entry.get("status") == "run" else 1)
    return shard["passed"], failed, len(shard["skipped"])


def count(results, junit):
    counts = []
    for entry in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        file = results / f"{entry.get('name')}.json"
        counts.append(count_shard(entry, file) if file.exists() else count_one(entry))
    return [sum(column) for column in zip(*counts)] or [0, 0, 0]


if __name__ == "__main__":
    print(*count(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
