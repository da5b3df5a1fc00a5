#!/usr/bin/python3
"""Kills a run at random moments, resumes it, and checks that nothing is lost and nothing is done twice.

    kill_loop.py ASSAY --kills 20 [--victim supervisor|worker|any] [--no-isolation] [--seed N] -- ARGUMENTS OF assay run

Each round starts a run in an empty folder, kills it with SIGKILL after a random time, resumes it with
`assay run --resume`, kills that too with some probability, and lets the last one end. Then every planned row must have
exactly one end, no row that had ended may have begun again, and the run must be complete. A round in which the run
ended before it was killed does not count. Prints a line for each defect and the totals; the exit code is 1 if there was
a defect.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

GOES_ON = ("MISSING", "INTERRUPTED")  # ends after which a row is run again


def children(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Round:
    def __init__(self, options, chance, folder):
        self.options = options
        self.chance = chance
        self.folder = folder
        self.killed = 0

    def command(self, resumed):
        words = [self.options.assay, "run"]
        words += ["--resume", str(self.folder)] if resumed else self.options.arguments + ["--out", str(self.folder)]
        if self.options.no_isolation:
            words.append("--no-isolation")
        elif resumed and "--worker-command" in self.options.arguments:
            place = self.options.arguments.index("--worker-command")
            words += self.options.arguments[place:place + 2]
        return words

    def run(self, resumed, kill_after):
        """Whether the run was complete."""
        log = self.folder.parent / f"{self.folder.name}.log"
        with log.open("ab") as out:
            process = subprocess.Popen(self.command(resumed), stdout=out, stderr=out, start_new_session=True)
        try:
            process.wait(kill_after)
            return True
        except subprocess.TimeoutExpired:
            pass
        workers = children(process.pid)
        victim = self.options.victim if self.options.victim != "any" else self.chance.choice(["supervisor", "worker"])
        if victim == "worker" and workers:
            self.killed += 1
            kill(self.chance.choice(workers))
            process.wait()  # the supervisor continues by itself
            return True
        self.killed += 1
        kill(process.pid)
        process.wait()
        return False

    def journals(self):
        return sorted(self.folder.glob("runs/*/*/journal.jsonl"))

    def play(self):
        longest = self.options.longest
        ended = self.run(False, self.chance.uniform(0, longest))
        while not ended:
            if not any(journal.stat().st_size for journal in self.journals()):
                return []  # killed before it had begun: there is nothing to resume
            again = self.chance.random() < 0.3
            ended = self.run(True, self.chance.uniform(0, longest) if again else None)
        return [defect for journal in self.journals() for defect in defects_of(journal)]


def lines_of(journal):
    for line in journal.read_text().splitlines():
        yield json.loads(line)


def defects_of(journal):
    """The defects in the journal of a run that should be complete."""
    rows, ended, ends, done = 0, {}, collections.Counter(), False
    for event in lines_of(journal):
        kind, row = event["event"], event.get("row")
        done = kind == "done"
        if kind == "plan":
            if rows:
                yield f"{journal}: it is planned twice"
            rows += len(event["rows"])
        elif kind == "begin" and row in ended:
            yield f"{journal}: row {row} had ended as {ended[row]} and begins again"
        elif kind == "end" and event["status"] not in GOES_ON:
            ends[row] += 1
            ended[row] = event["status"]
    if not done:
        yield f"{journal}: the run never ended"
    for row in range(rows):
        if ends[row] != 1:
            yield f"{journal}: row {row} has {ends[row]} ends"


def options_of(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--victim", choices=["supervisor", "worker", "any"], default="any")
    parser.add_argument("--no-isolation", action="store_true")
    parser.add_argument("--longest", type=float, default=1.0, help="seconds before a kill, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the runs (default: a temporary one)")
    own, arguments = words, []
    if "--" in words:
        place = words.index("--")
        own, arguments = words[:place], words[place + 1:]
    options = parser.parse_args(own)
    options.arguments = arguments
    return options


def main():
    options = options_of(sys.argv[1:])
    chance = random.Random(options.seed)
    kills, rounds, defects = 0, 0, []
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        place = options.keep or pathlib.Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        while kills < options.kills and rounds < 20 * options.kills:
            game = Round(options, chance, place / f"round{rounds}")
            defects += game.play()
            kills += game.killed
            rounds += 1
    for defect in defects:
        print(defect)
    print(f"{kills} kills in {rounds} runs, {time.monotonic() - started:.0f} s: {len(defects)} defects")
    return 1 if defects or kills < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
