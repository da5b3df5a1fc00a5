#!/usr/bin/python3
"""Counts the tests that a run of CTest ran: `test_counts.py RESULTS JUNIT` prints "PASSED FAILED SKIPPED".

RESULTS is the folder that scripts/dev/test_shard.py writes to, JUNIT the file that `ctest --output-junit` wrote. A process
of GoogleTest counts as the tests in it; a process without results, and a test without GoogleTest, count as one.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree


def count_one(entry):
    """Passed, failed, skipped for an entry of CTest without results: one of them is 1, the others are 0."""
    status, skipped = entry.get("status"), entry.find("skipped")
    if status == "run":
        return 1, 0, 0
    # CTest reports "notrun" for a missing executable, too.
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
