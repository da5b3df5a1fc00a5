#!/usr/bin/python3
"""Tries that end, stop or rob runs: kills and power cuts, signals, files that are taken away."""
import collections
import hashlib
import json
import os
import pathlib
import shutil
import signal
import time

import mutate
from tries import Killed, Result, complaint, reports_complaint

MOCK = pathlib.Path(__file__).resolve().parent.parent / "farm/mock_worker.py"
AGAIN = ("MISSING", "INTERRUPTED")  # ends after which a row is run again
HANG_LIMIT_S = 4
PAGE = 4096


def setups_of(tries):
    """By name: the options of a run, those of them that --resume must be given again, and the victims.

    The first two have a worker process per device, the others run in one process.
    """
    real = [str(tries.base / "c.yaml"), "--ceilings", "none", "--budget", "0.01"]
    mock = ["--worker-command", f"exec {MOCK} --rows 40 --perf 12 --row-ms 4"]
    timed = ["--filter", "*1x16x4x4*"]
    parent = ["group", "parent", "power", "power", "stopped parent"]
    both = parent + ["worker", "worker", "stopped worker"]
    return {"mock": (real + mock, mock, both), "workers": (real + ["--mode", "accu"], [], both),
            "timed workers": (real + timed, [], both),
            "process": (real + ["--mode", "accu", "--no-isolation"], ["--no-isolation"], parent),
            "timed process": (real + timed + ["--no-isolation"], ["--no-isolation"], parent)}


WAIT_S = 120  # for a run with timed rows on a machine that does other work
WEIGHTS = {"mock": 26, "workers": 6, "process": 6, "timed workers": 1, "timed process": 1}


def children(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def alive_in(session):
    """The processes of a session that have not ended."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = stat.read_bytes().rsplit(b")", 1)[1].split()[:4]
        except (OSError, ValueError):
            continue
        if int(its_session) == session and state != b"Z":
            found.append(int(stat.parent.name))
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Disturbed(Result):
    """A run that is disturbed at a random moment: `victim` says how."""

    def __init__(self, words, victim, rng, journals, longest_s=None):
        self.victim, self.rng, self.journals, self.longest_s = victim, rng, journals, longest_s
        self.sizes = []  # of the journal: pairs of time and bytes
        self.cut_at = 0  # the time of the kill
        self.was_running = False  # when it was disturbed
        super().__init__(words, start_new_session=True)
        self.orphans = self.await_session()

    def await_session(self):
        """The processes that are left although they had time to notice that their parent has gone."""
        end = time.monotonic() + 15
        while (left := alive_in(self.process.pid)) and time.monotonic() < end:
            time.sleep(0.02)
        for pid in left:
            send(pid, signal.SIGKILL)
        return left

    def await_moment(self):
        """Waits some time after the start, or after a random line of the journal."""
        if self.rng.random() < 0.2:
            return time.sleep(self.rng.uniform(0, 0.6))
        wanted, end = self.rng.randint(1, 110), time.monotonic() + self.rng.uniform(0.5, 20)
        while time.monotonic() < end and os.waitid(os.P_PID, self.process.pid,
                                                   os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            for journal in self.journals():
                text = journal.read_bytes()
                self.sizes.append((time.monotonic(), len(text)))
                if text.count(b"\n") >= wanted:
                    return time.sleep(self.rng.uniform(0, 0.01))
            time.sleep(0.003)

    def interrupt(self, process):
        self.process = process
        self.await_moment()
        workers = children(process.pid)
        self.was_running = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None
        if self.victim in ("worker", "stopped worker"):
            self.was_running = self.was_running and bool(workers)
        if self.victim in ("group", "power"):
            os.killpg(process.pid, signal.SIGKILL)
        elif self.victim == "parent":
            send(process.pid, signal.SIGKILL)
        elif self.victim == "stopped parent":
            send(process.pid, signal.SIGSTOP)
            time.sleep(self.rng.choice([0.05, 0.5, HANG_LIMIT_S + 1]) if self.rng.random() < 0.5 else 0.01)
            send(process.pid, signal.SIGCONT)
        elif workers:
            send(self.rng.choice(workers), signal.SIGKILL if self.victim == "worker" else signal.SIGSTOP)
        self.cut_at = time.monotonic()

    def synced(self):
        """A size of the journal that was on the disk at the kill: what was written a second and more before it."""
        return max((size for when, size in self.sizes if when < self.cut_at - 1), default=0)


def cut(rng, text, synced):
    """What a power failure may leave of a journal whose first `synced` bytes are on the disk."""
    at = rng.randint(min(synced, len(text)), len(text))
    kind = rng.choice(["short", "zeros", "long zeros", "hole", "garbage"])
    if kind == "short":
        return text[:at]
    if kind == "zeros":
        return text[:at] + bytes(len(text) - at)
    if kind == "long zeros":
        return text[:at] + bytes(PAGE - at % PAGE + PAGE * rng.randint(0, 3))
    if kind == "garbage":
        return text[:at] + rng.randbytes(len(text) - at)
    end = min(len(text), at - at % PAGE + PAGE)
    return text[:at] + bytes(end - at) + text[end:]


def defects_of(text):
    """What is wrong with the journal of a run that should be complete."""
    rows, ended, ends, done = 0, {}, collections.Counter(), False
    for line in text.splitlines():
        event = json.loads(line)
        kind, row = event["event"], event.get("row")
        done = kind == "done"
        if kind == "plan":
            if event["first"] != rows:
                return "it is planned twice"
            rows += len(event["rows"])
        elif kind == "begin" and row in ended:
            return f"row {row} had ended as {ended[row]} and begins again"
        elif kind == "end" and event["status"] not in AGAIN:
            ends[row] += 1
            ended[row] = event["status"]
    if not done:
        return "the run never ended"
    wrong = [row for row in range(rows) if ends[row] != 1]
    return f"row {wrong[0]} has {ends[wrong[0]]} ends" if wrong else None


def statuses_of(folder):
    return json.loads((folder / "run.json").read_bytes())["statuses"]


class KillTry:
    """One run that is killed, and all that must work afterwards."""

    def __init__(self, tries, number):
        self.tries = tries
        self.rng = mutate.generator(tries.seed, "kill", number)
        self.setup = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        self.options, self.given_again, victims = setups_of(tries)[self.setup]
        self.victim = self.rng.choice(victims)
        self.out = tries.place("kill", number) / "out"
        self.before = {}
        if self.rng.random() < 0.2:  # a folder that holds another run
            shutil.copytree(tries.base / "out", self.out, symlinks=True)
            self.before = prints_of(self.out / "runs")

    def journals(self):
        return [path for path in self.out.glob("runs/*/*/journal.jsonl") if str(path) not in self.before]

    def run(self):
        words = [self.tries.binary, "run", *self.options, "--out", str(self.out), "--overwrite"]
        if self.victim.startswith("stopped"):
            words += ["--hang-limit", str(HANG_LIMIT_S)]
        result = Disturbed(words, self.victim, self.rng, self.journals)
        result.label = f"kill {self.setup}: {self.victim}" if result.was_running else "kill: had ended"
        wrong = self.wrong(result)
        return result, wrong and f"{self.setup}, {self.victim}: {wrong}", [self.out, *self.journals()]

    def wrong(self, result):
        codes = (0, -9) if self.victim in ("group", "parent", "power") else (0, 1, 3)
        if wrong := complaint(result, codes, self.tries.sanitized, WAIT_S):
            return wrong
        if result.orphans:
            return f"{len(result.orphans)} processes are left"
        if not self.journals() or not self.journals()[0].stat().st_size:
            return None if result.code in (-9, 3) else "there is no journal"
        journal = self.journals()[0]
        text = journal.read_bytes()
        if self.victim == "power" and result.code == -9:
            text = cut(self.rng, text, result.synced())
            journal.write_bytes(text)
        whole = text[:text.rfind(b"\n") + 1]
        return self.wrong_report(journal, whole) or self.wrong_resumed(journal, whole, result)

    def wrong_report(self, journal, text):
        """What is wrong with reading the journal that is left."""
        if self.is_damaged(text):
            result = self.tries.assay("report", journal.parent)
            if result.code != 2 or not b"journal.jsonl:" in result.err:
                return f"a damaged journal gives exit code {result.code}"
            result = self.tries.assay("report", journal.parent, "--salvage")
            return complaint(result, (2, 3), self.tries.sanitized) or (
                result.code == 3 and reports_complaint(journal.parent)) or None
        return left_behind(self.tries, self.out, self.before, self.victim)

    @staticmethod
    def is_damaged(text):
        try:
            for line in text.splitlines():
                json.loads(line)
        except ValueError:
            return True
        return False

    def resume(self, journal, **options):
        words = ["run", "--resume", journal.parent, *self.given_again]
        return self.tries.assay(*words, **options)

    def wrong_resumed(self, journal, whole, first):
        """What is wrong with resuming the run."""
        if not whole or self.is_damaged(whole):
            result = self.resume(journal)
            return complaint(result, (2,), self.tries.sanitized)
        if first.code in (-9, 3) and self.rng.random() < 0.2:
            words = [self.tries.binary, "run", "--resume", str(journal.parent), *self.given_again]
            second = Disturbed(words, "parent", self.rng, self.journals)
            if wrong := complaint(second, (0, -9), self.tries.sanitized, WAIT_S):
                return f"resumed and killed: {wrong}"
            if second.orphans:
                return "resumed and killed: processes are left"
        if first.code in (-9, 3) and (
                wrong := complaint(self.resume(journal), (0, 1), self.tries.sanitized, WAIT_S)):
            return f"resumed: {wrong}"
        text = journal.read_bytes()
        if not text.startswith(whole):
            return "events that were in the journal are gone"
        return defects_of(text) or self.wrong_statuses(journal.parent)

    def wrong_statuses(self, folder):
        statuses = statuses_of(folder)
        disturbed = sum(count for status, count in statuses.items() if status != "PASS")
        if disturbed > (self.victim in ("worker", "stopped worker")):
            return f"innocent rows did not pass: {statuses}"
        return reports_complaint(folder)


def kills(tries):
    """Kills or stops runs of every setup at random moments, and resumes them."""
    tries.each("kill", lambda number: KillTry(tries, number).run())


def prints_of(folder):
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def stopped(tries, kind, numbers, codes, times=1):
    """Makes runs that one signal, or several at once, ends, in a folder that holds another run."""
    def one(number):
        rng = mutate.generator(tries.seed, kind, number)
        out = tries.place(kind, number) / "out"
        shutil.copytree(tries.base / "out", out, symlinks=True)
        before = prints_of(out / "runs")
        words = [tries.binary, "run", str(tries.base / "c.yaml"), "--out", str(out), "--overwrite",
                 "--ceilings", "none"]
        result = Killed(words, [rng.choice(numbers)] * times, rng.uniform(0.02, 1.5))
        return result, complaint(result, codes, tries.sanitized) or left_behind(tries, out, before, kind), [out]
    tries.each(kind, one)


def signals(tries):
    # timeout(1) sends its signal twice.
    stopped(tries, "signal", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], (0, 3, -1, -2, -15), times=2)


def left_behind(tries, out, before, kind):
    """The defects in the files of a run that was ended."""
    after = prints_of(out / "runs")
    if any(after.get(name) != was for name, was in before.items()):
        return "another run's results were changed"
    for journal in set(out.glob("runs/*/*/journal.jsonl")) - {pathlib.Path(name) for name in before}:
        lines = [line for line in journal.read_bytes().split(b"\n")[:-1]]
        ended = {json.loads(line)["row"] for line in lines if line.startswith(b'{"event":"end"')}
        again = tries.assay("report", journal.parent)
        if not any(line.startswith(b'{"event":"plan"') for line in lines):
            if again.code != 2:
                return "a report without a plan"
            continue
        wrong = complaint(again, (0, 1, 3), tries.sanitized) or reports_complaint(journal.parent)
        if wrong:
            return wrong
        statuses = json.loads((journal.parent / "run.json").read_bytes())["statuses"]
        kept = sum(count for status, count in statuses.items() if status not in ("MISSING", "CRASH", "INTERRUPTED"))
        lost = sum(1 for line in lines if b'"status":"MISSING"' in line or b'"status":"INTERRUPTED"' in line)
        if kept != len(ended) - lost:
            return f"{kept} results in the reports, {len(ended) - lost} in the journal"
        if kind == "signal" and "CRASH" in statuses:
            return "an innocent row is a CRASH"
    return None


class Robbed(Result):
    """A run whose files are moved or removed by `take` when its journal has a plan."""

    def __init__(self, words, out, take, **options):
        self.out, self.take = out, take
        super().__init__(words, **options)

    def interrupt(self, process):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for journal in self.out.glob("runs/*/*/journal.jsonl"):
                if b'"event":"plan"' in journal.read_bytes():
                    return self.take(self.out, journal)
            time.sleep(0.002)


def robbed(tries):
    """Makes runs whose journal or folder is moved or removed."""
    takes = {"folder removed": lambda out, journal: shutil.rmtree(out, ignore_errors=True),
             "journal removed": lambda out, journal: journal.unlink(),
             "folder moved": lambda out, journal: out.rename(out.parent / "moved"),
             "journal moved": lambda out, journal: journal.rename(out.parent / "journal.jsonl")}
    for name, take in takes.items():
        place = tries.place("robbed", name)
        words = [tries.binary, "run", str(tries.base / "c.yaml"), "--out", str(place / "out"), "--ceilings", "none"]
        result = Robbed(words, place / "out", take)
        wrong = complaint(result, (3,), tries.sanitized)
        journals = list(place.rglob("journal.jsonl"))
        if not wrong and (len(journals) != 1 or not journals[0].read_bytes().endswith(b"\n")):
            wrong = f"{len(journals)} journals are left"
        tries.note("robbed", result, wrong, journals)
