#!/usr/bin/python3
"""Runs one shard of a GoogleTest executable and records the result of each of its tests.

CTest calls it (cmake/assay_targets.cmake); a person runs the executable itself with --gtest_filter. Below FOLDER it
writes NAME.log (all output), NAME.xml (GoogleTest's report) and NAME.json (counts, seconds, CPU seconds), and it prints
only the output of failed tests. If a shard ends before its report is complete, the test that was running has failed,
and the tests after it have not run. --silence limits the time between two lines of output, to end a hang.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

BEGUN = re.compile(r"^\[ RUN      \] (\S+)")
ENDED = re.compile(r"^\[ *(OK|FAILED|SKIPPED) *\] (\S+?)(?:,.*)? \(\d+ ms\)$")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", required=True, help="name of the shard and of its files")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where results are written")
    parser.add_argument("--shard", default="1/1", help="NUMBER/COUNT, numbers from 1")
    parser.add_argument("--filter", default="*", help="as --gtest_filter of the executable")
    parser.add_argument("--silence", type=float, default=600, help="seconds without a line of output")
    parser.add_argument("command", nargs="+", help="executable and its arguments")
    return parser.parse_args()


class Watch:
    """Ends the process group of a child that has been silent for too long."""

    def __init__(self, child, limit):
        self.child, self.limit = child, limit
        self.heard = time.monotonic()
        self.hung = False
        self.over = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while not self.over.wait(1):
            if time.monotonic() - self.heard > self.limit:
                self.hung = True
                os.killpg(self.child.pid, signal.SIGKILL)
                return


def run(options, log_file, xml_file):
    """Returns the exit code, negative for a signal, and whether silence ended the process."""
    number, count = options.shard.split("/")
    environment = os.environ | {"GTEST_TOTAL_SHARDS": count, "GTEST_SHARD_INDEX": str(int(number) - 1)}
    command = options.command + [f"--gtest_filter={options.filter}", f"--gtest_output=xml:{xml_file.resolve()}"]
    with open(log_file, "wb", buffering=0) as log:
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        watch = Watch(child, options.silence)
        for line in child.stdout:
            watch.heard = time.monotonic()
            log.write(line)
        watch.over.set()
        return child.wait(), watch.hung


class Results:
    """The result of each test, by name."""

    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []
        self.seconds = {}  # of suites
        self.whole = False

    def add(self, name, end, seconds):
        {"OK": self.passed, "FAILED": self.failed, "SKIPPED": self.skipped}[end].append(name)
        suite = name.rsplit(".", 1)[0]
        self.seconds[suite] = round(self.seconds.get(suite, 0) + seconds, 3)


def of_report(xml_file):
    """The results in GoogleTest's report, or None if there is no complete one."""
    try:
        suites = xml.etree.ElementTree.parse(xml_file).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return None
    results = Results()
    results.whole = True
    for test in suites.iter("testcase"):
        if test.get("status") != "run":
            continue
        is_bad, is_skipped = test.find("failure") is not None, test.get("result") == "skipped"
        end = "FAILED" if is_bad else "SKIPPED" if is_skipped else "OK"
        results.add(f"{test.get('classname')}.{test.get('name')}", end, float(test.get("time", 0)))
    return results


def of_log(lines):
    """The results in the output of a process that wrote no report, and the test that was running."""
    results, running = Results(), None
    for line in lines:
        if begun := BEGUN.match(line):
            running = begun[1]
        elif (ended := ENDED.match(line)) and ended[2] == running:
            results.add(running, ended[1], 0)
            running = None
    return results, running


def story_of(lines, failed):
    """The lines of the failed tests, or the last lines if no failed test printed any."""
    story, name = [], None
    for line in lines:
        if begun := BEGUN.match(line):
            name = begun[1]
        if name in failed:
            story.append(line)
        if ENDED.match(line):
            name = None
    return story or lines[-40:]


def main():
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    files = {kind: options.folder / f"{options.name}.{kind}" for kind in ("log", "xml", "json")}
    for file in files.values():
        file.unlink(missing_ok=True)
    began = time.monotonic()
    code, hung = run(options, files["log"], files["xml"])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = files["log"].read_text(errors="replace").splitlines()
    results = of_report(files["xml"])
    note = ""
    if results is None:
        results, running = of_log(lines)
        why = f"was silent for {options.silence:g} s" if hung else f"ended with code {code}"
        note = f"{options.name} {why} before its report was complete, " + (
            f"while {running} was running; the tests after it have not run" if running else "between two tests")
        results.failed.append(running or f"{options.name} (no test was running)")
    elif code != 0 and not results.failed:
        note = f"{options.name} ended with code {code} though none of its tests failed"
        results.failed.append(f"{options.name} (its exit code)")
    files["json"].write_text(json.dumps({
        "name": options.name, "executable": pathlib.Path(options.command[0]).name, "whole": results.whole,
        "passed": len(results.passed), "failed": results.failed, "skipped": results.skipped, "note": note,
        "wall_s": round(time.monotonic() - began, 2), "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "suites": results.seconds}, indent=1))
    if results.failed:
        print("\n".join(story_of(lines, set(results.failed))))
    for name in results.failed:
        print(f"FAILED: {name}")
    for text in [note] if note else []:
        print(text)
    print(f"{options.name}: {len(results.passed)} passed, {len(results.failed)} failed, "
          f"{len(results.skipped)} skipped")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
