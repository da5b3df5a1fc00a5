#!/usr/bin/python3
"""Runs a night through Slurm and one without, end to end, from a package in another folder: is anything lost?

    night_test.py ASSAY [--keep FOLDER] [TestNight.test_...]

It starts a Slurm of one node (scripts/farm/farm-up.sh) with two slots of lavapipe and runs eight shards of a small selection
there. Meanwhile it kills one task (scancel --signal=KILL) and the run of another (SIGKILL), and signals to a third that
its time limit is near (SIGUSR1); one row crashes its worker and one hangs. The merged report must have each row once,
with the right status, and otherwise equal that of an undisturbed run. Needs root, for slurmd: without root the test is
SKIPPED, with a message. So are nights on a full and on a read-only disk where no file system can be mounted.

Nothing here depends on how fast the machine is: the run of a task is stopped (SIGSTOP) before it is disturbed, and
continues when it has been.
"""

import collections
import contextlib
import csv
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARDS = 8
CRASHES = "q8ta_relu/small/1x8x4x4/4W4C.4W4C/fused"
HANGS = "q8ta_relu/small/1x4x8x8/4W4C.4C1W/fused"
CASES = """op: q8ta_relu
sets: {q: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}}
cases:
  - name: small
    shape: {each: [[1, 4, 4, 4], [1, 8, 4, 4], [1, 4, 8, 4], [1, 4, 4, 8],
                   [1, 8, 8, 4], [1, 8, 4, 8], [1, 4, 8, 8], [1, 8, 8, 8]]}
    qparams: q
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
  - name: timed
    mode: perf
    shape: {each: [[1, 16, 8, 8], [1, 8, 16, 8], [1, 8, 8, 16], [1, 16, 16, 8],
                   [1, 16, 8, 16], [1, 8, 16, 16], [1, 16, 16, 16], [1, 32, 16, 16]]}
    qparams: q
"""
# Columns that differ between two equal runs: dates and durations.
VARIES = {"run_id", "date", "reference_ms", "gpu_ms", "total_ms"}
# The rows that are made to fail: status, retry and a part of the reason.
FAULTY = {CRASHES: ("CRASH", "REPRODUCED", "SIGSEGV"), HANGS: ("TIMEOUT", "REPRODUCED", "in work on the CPU")}
RUN_OPTIONS = ["--budget", "0.5"]
HANG_LIMIT = "20"  # seconds: rows that only wait for a busy machine are not to become a TIMEOUT


def say(text):
    print(f"night_test: {text}", file=sys.stderr, flush=True)


def lay_out_package(assay, folder):
    """Lays out a package like scripts/package.sh, with other cases."""
    (folder / "scripts/farm").mkdir(parents=True)
    shutil.copy(assay, folder / "assay")
    for name in ("farm/nightly.sh", "farm/night", "farm/farm-up.sh", "setup.sh", "lib.sh"):
        source = ROOT / "scripts" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / "scripts" / name)
    (folder / "cases").mkdir()
    (folder / "cases/night.yaml").write_text(CASES)


def lavapipe_of(assay):
    """The UUID of lavapipe: a machine may have GPUs as well, and this test is about two slots of one device."""
    devices = json.loads(subprocess.run([assay, "devices", "--json"], capture_output=True, check=True).stdout)
    lavapipe = [device["uuid"] for device in devices if "llvmpipe" in device["name"]]
    if not lavapipe:
        raise RuntimeError(f"lavapipe is not among the devices: {devices}")
    return lavapipe[0]


def rows_of(report, name="accu.csv"):
    with (report / name).open(newline="") as file:
        return list(csv.DictReader(file))


def wait_until(what, happens, seconds=300):
    """Waits for a state; returns what `happens` returned then."""
    end = time.monotonic() + seconds
    while not (happened := happens()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: did not happen within {seconds} s")
        time.sleep(0.02)
    return happened


@contextlib.contextmanager
def small_disk(test, folder, size="8m"):
    """Mounts a file system of that size on a new folder, while the context lasts."""
    folder.mkdir(parents=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "assay-night", folder], capture_output=True, text=True)
    if done.returncode != 0:
        say(f"SKIPPED: a night on a small disk. No file system can be mounted here: {done.stderr.strip()}")
        test.skipTest("no mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill_disk(folder):
    with (folder / "fill").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    try:
        (folder / "more").write_bytes(bytes(4096))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return
        raise
    raise AssertionError(f"{folder} is not full")


class StoppedRun:
    """The processes of a run, stopped until resume(): what is found about them stays true, and signals wait."""

    def __init__(self, pids):
        self.pids = pids
        for pid in pids:  # the supervisor first, so that it does not miss its workers
            self.send(pid, signal.SIGSTOP)

    @staticmethod
    def send(pid, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def kill(self):
        """Kills the supervisor, as the kernel does when memory runs out."""
        self.send(self.pids[0], signal.SIGKILL)

    def resume(self):
        for pid in self.pids:
            self.send(pid, signal.SIGCONT)

    def got_a_signal(self):
        """Whether SIGTERM waits for the supervisor, or it runs again: Slurm sends SIGCONT before SIGTERM."""
        try:
            status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{self.pids[0]}/status").read_text().splitlines())
        except (FileNotFoundError, ProcessLookupError):
            return True
        waiting = int(status["ShdPnd"], 16) | int(status["SigPnd"], 16)
        return bool(waiting & 1 << (signal.SIGTERM - 1)) or not status["State"].strip().startswith("T")


class Slurm:
    """The Slurm that farm-up.sh starts."""

    def __init__(self, scripts, folder):
        self.script = scripts / "farm/farm-up.sh"
        self.folder = folder
        self.environment = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"))
        done = subprocess.run([self.script, folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"farm-up.sh ended with {done.returncode}:\n{done.stderr}")
        if f"export SLURM_CONF={folder}/slurm.conf" not in done.stdout:
            raise RuntimeError(f"farm-up.sh is to print the line that sets SLURM_CONF, and printed: {done.stdout}")

    def down(self):
        subprocess.run([self.script, "down", self.folder], check=True)
        left = [pid for pid in self.folder.glob("*.pid") if pathlib.Path(f"/proc/{pid.read_text().strip()}").exists()]
        if left:
            raise RuntimeError(f"farm-up.sh down left daemons running: {left}")

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True).stdout.strip()


class Night:
    """A folder of nights, and the contents of its newest night."""

    def __init__(self, farm):
        self.farm = farm

    @property
    def folder(self):
        return (self.farm / "latest").resolve()

    @property
    def slug(self):
        return (self.folder / "devices.tsv").read_text().split("\t")[0]

    @property
    def report(self):
        return self.folder / self.slug

    def shard(self, shard):
        return self.folder / "shards" / self.slug / str(shard)

    def journal(self, shard):
        found = sorted(self.shard(shard).glob("runs/*/*/journal.jsonl"))
        return found[-1].read_text() if found else ""

    def console(self, name):
        path = self.folder / "console" / f"{self.slug}.{name}.txt"
        return path.read_text() if path.exists() else ""

    def can_be_disturbed(self, shard):
        """Whether the shard runs a row, has all of its timed rows left, and has no row that is made to fail, since a
        kill would prevent its retry."""
        journal = self.journal(shard)
        is_running = '"event":"begin"' in journal and '"mode":"perf"' in journal and '"event":"block"' not in journal
        return is_running and not any(f'"{case}"' in journal for case in FAULTY)

    def processes_of(self, shard, assay):
        """The supervisor of the shard's run and its workers; empty if there is none."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                if words[:2] == [bytes(assay), b"run"] and bytes(self.shard(shard)) in words:
                    children = (process / "task" / process.name / "children").read_text().split()
                    return [int(process.name), *map(int, children)]
            except OSError:
                continue
        return []

    def stopped_run(self, shard, assay):
        """Stops the shard's run, if it can be disturbed then; else None."""
        pids = self.can_be_disturbed(shard) and self.processes_of(shard, assay)
        if not pids:
            return None
        run = StoppedRun(pids)
        if self.can_be_disturbed(shard) and self.processes_of(shard, assay) == pids:
            return run
        run.resume()
        return None


class TestNight(unittest.TestCase):
    failed = False

    @classmethod
    def setUpClass(cls):
        cls.place = KEEP or pathlib.Path(tempfile.mkdtemp(prefix="assay-night-"))
        cls.place.mkdir(parents=True, exist_ok=True)
        cls.package = cls.place / "moved/elsewhere"
        lay_out_package(ASSAY, cls.package)
        began = time.monotonic()
        # One run, as a person would start it, at a quiet time; with --device, which each row's repro line has.
        done = subprocess.run([cls.package / "assay", "run", "--device", lavapipe_of(cls.package / "assay"),
                               "--out", cls.place / "whole", *RUN_OPTIONS],
                              cwd=cls.package, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"the undisturbed run ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        say(f"one undisturbed run took {time.monotonic() - began:.1f} s")
        cls.whole = next(path for path in (cls.place / "whole").iterdir() if path.is_symlink())

    @classmethod
    def tearDownClass(cls):
        if not KEEP and not cls.failed:
            shutil.rmtree(cls.place)

    def setUp(self):
        self.night = Night(self.place / self._testMethodName)

    def tearDown(self):
        result = self._outcome.result
        if any(test is self for test, _ in result.failures + result.errors):
            type(self).failed = True
            say(f"{self._testMethodName} failed; its night, with consoles, is in {self.night.farm}/latest, and Slurm's "
                f"logs are in {self.place}/slurm")

    def command(self, *words):
        return [str(word) for word in (self.package / "scripts/farm/nightly.sh", "--device", "llvmpipe", *words)]

    def nightly(self, *words, environment=None):
        return subprocess.run(self.command(*words), env=environment, capture_output=True, text=True)

    def expect_equal_to_whole(self, report, but=()):
        """Checks that every row is there once, and equals the undisturbed run in every column without times."""
        expected, got = rows_of(self.whole), rows_of(report)
        self.assertEqual([row["case"] for row in got], [row["case"] for row in expected], "rows of accu.csv")
        for a, b in zip(expected, got):
            if a["case"] in but:
                continue
            differ = {name: (a[name], b[name]) for name in a if name not in VARIES and a[name] != b[name]}
            self.assertFalse(differ, f"{a['case']}: columns of accu.csv that differ (undisturbed, this)")
        self.assertEqual([row["case"] for row in rows_of(report, "perf.csv")],
                         [row["case"] for row in rows_of(self.whole, "perf.csv")], "rows of perf.csv")
        for row in rows_of(report, "perf.csv"):
            # On a machine with other load a time may be above the ceilings: it only matters that there is one.
            self.assertIn(row["status"], ("PASS", "SUSPECT"), f"{row['case']}: {row['reason']}")
            self.assertTrue(row["time_us_p50"], f"{row['case']} has no time")

    def expect_one_set_of_ceilings(self):
        sets = set()
        for shard in range(1, SHARDS + 1):
            first = self.night.journal(shard).split("\n", 1)[0]
            if first:
                sets.add(json.loads(first)["ceilings"]["measured_utc"])
        again = sum(self.night.console(shard).count("measured again") for shard in range(1, SHARDS + 1))
        self.assertTrue((self.night.folder / "ceilings").is_dir(), "the night has no store of ceilings")
        self.assertGreaterEqual(len(sets), 1)
        self.assertLessEqual(len(sets), 1 + again, f"shards are compared with several sets of ceilings: {sets}")

    def test_here(self):
        began = time.monotonic()
        done = self.nightly("--shards", "2", self.night.farm, "--", *RUN_OPTIONS)
        say(f"2 shards here, one after the other, took {time.monotonic() - began:.1f} s")
        where = f"{done.stdout}{done.stderr}"
        self.assertIn(done.returncode, (0, 1), where)  # 1: a SUSPECT time on a busy machine
        self.expect_equal_to_whole(self.night.report)
        self.assertEqual((self.night.folder / "exit_code").read_text().strip(), str(done.returncode))
        self.assertTrue((self.night.folder / "nightly.json").is_file(), where)
        self.assertIn("<html", (self.night.folder / "page.html").read_text()[:2000], where)
        self.assertEqual((self.night.folder / "verdict.txt").read_text(), done.stdout)

    def test_fuzz(self):
        """A night with --fuzz is an answer only where points ran to the end."""
        done = self.nightly("--fuzz", "3", self.night.farm, "--", "--mode", "accu")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        console = self.night.folder / "console" / f"{self.night.slug}.fuzz.txt"
        self.assertRegex(console.read_text(), r"(?m)^fuzz: [1-9][0-9]* points? ")
        console.write_text("-- killed\n")
        again = subprocess.run([self.package / "scripts/farm/night/conclude.sh", self.night.folder],
                               capture_output=True, text=True)
        self.assertEqual((self.night.folder / "exit_code").read_text().strip(), "3")
        self.assertIn("ran no point to its end", again.stderr)

    def test_here_twice_and_balanced(self):
        options = ["--shards", "2", self.night.farm, "--", "--mode", "accu"]
        first = self.nightly(*options)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        good = (self.night.farm / "last-good" / self.night.slug).resolve()
        self.assertEqual(good, self.night.report.resolve(), "the first good night is the last good one")
        wait_until("another second, by which nights are named", lambda: not self.is_now(self.night.folder.name))
        second = self.nightly(*options)
        self.assertEqual(second.returncode, 0, second.stdout + second.stderr)
        self.assertIn("--balance ", self.night.console(1), "its shards are packed by the last good night")
        statuses = collections.Counter(row["status"] for row in rows_of(self.night.report))
        self.assertEqual(statuses, {"PASS": 16})
        self.assertNotEqual(good, self.night.report.resolve())

    def test_slurm(self):
        if os.geteuid() != 0:
            say("SKIPPED: a night through Slurm. slurmd needs root: run this as root")
            self.skipTest("not root")
        slurm = Slurm(self.package / "scripts", self.place / "slurm")
        try:
            self.run_with_faults(slurm)
        finally:
            slurm.down()
        rows = {row["case"]: row for row in rows_of(self.night.report)}
        self.expect_equal_to_whole(self.night.report, but=FAULTY)
        for case, (status, retry, reason) in FAULTY.items():
            got = rows[case]
            self.assertEqual((got["status"], got["retry"]), (status, retry), got["reason"])
            self.assertIn(reason, got["reason"])
        self.expect_one_set_of_ceilings()

    def run_with_faults(self, slurm):
        began = time.monotonic()
        command = self.command("--slurm", "--wait", "--shards", SHARDS, "--gres", "acme=vulkan:none", "--gres",
                               "llvmpipe=vulkan:lavapipe:1", self.night.farm, "--", *RUN_OPTIONS, "--hang-limit", HANG_LIMIT,
                               "--inject-fault", f"segfault@{CRASHES}", "--inject-fault", f"host-loop@{HANGS}")
        said = self.place / "slurm/nightly.txt"
        with said.open("w") as errors, subprocess.Popen(command, env=slurm.environment, stdout=subprocess.PIPE,
                                                        stderr=errors, text=True) as night:
            jobs = [night.stdout.readline().strip() for _ in range(3)]  # conclusion, ceilings, array
            self.assertTrue(all(job.isdigit() for job in jobs), f"ids of three jobs, not {jobs}: {said.read_text()}")
            beside = self.nightly(self.night.farm, environment=slurm.environment)
            self.assertEqual(beside.returncode, 3, f"a second night beside the first is refused: {beside.stderr}")
            killed = self.disturb(slurm, jobs[-1])
            verdict = night.stdout.read()
        say(f"{SHARDS} shards on 2 slots of Slurm, with faults and kills, took {time.monotonic() - began:.1f} s")
        self.expect_requeued(jobs[-1], killed)
        self.assertEqual(night.returncode, 1, said.read_text() + verdict)
        self.assertEqual((self.night.folder / "exit_code").read_text(), "1\n", self.night.folder)
        self.assertEqual((self.night.folder / "jobs").read_text().split(), jobs)
        self.assertEqual((self.night.folder / "verdict.txt").read_text(), verdict)
        self.assertIn("CRASH", verdict)

    def expect_requeued(self, array, killed):
        tasks = self.night.console("slurm")
        for shard, how in killed.items():
            which = f"shard {shard} ({how})"
            self.assertIn("--resume", self.night.console(shard), f"{which} was not resumed:\n{tasks}")
            self.assertIn(f"task {array}/{shard}, restart 1", tasks, f"{which} was not requeued")
        self.assertEqual(tasks.count("requeued"), len(killed), tasks)

    def disturb(self, slurm, array):
        """Ends three tasks, each while it runs a row: {shard: how}."""
        ways = {"cancelled": lambda shard: slurm.ask("scancel", "--signal=KILL", f"{array}_{shard}"),
                "its run killed": lambda shard: self.stopped[shard].kill(),
                "near its time limit": lambda shard: slurm.ask("scancel", "--batch", "--signal=USR1", f"{array}_{shard}")}
        done, self.stopped = {}, {}
        try:
            for how, disturb in ways.items():
                shard = wait_until("a task that runs a row", lambda: self.stop_runs(done))
                disturb(shard)
                done[shard] = how
                wait_until(f"{how}: a signal for the run of shard {shard}", lambda: self.got_a_signal(shard, done))
                self.stopped.pop(shard).resume()
        finally:
            for run in self.stopped.values():
                run.resume()
        return done

    def stop_runs(self, done):
        """Stops every run that can be disturbed, so that none ends before its turn; the shard of the first, or None."""
        for shard in set(range(1, SHARDS + 1)) - set(done) - set(self.stopped):
            run = self.night.stopped_run(shard, self.package / "assay")
            if run:
                self.stopped[shard] = run
        return next((shard for shard in self.stopped if shard not in done), None)

    def got_a_signal(self, shard, done):
        self.stop_runs(done)
        return self.stopped[shard].got_a_signal()

    def test_full_disk(self):
        with small_disk(self, self.night.farm):
            self.run_on_a_full_disk()

    def run_on_a_full_disk(self):
        command = self.command("--shards", "2", self.night.farm, "--", *RUN_OPTIONS)
        said = self.place / "full.txt"
        with said.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as night:
            wait_until("a shard that runs a row", self.has_begun)
            fill_disk(self.night.farm)
            verdict = night.stdout.read()
        where = verdict + said.read_text()
        self.assertTrue(verdict.startswith("INFRASTRUCTURE: "), where)
        self.assertEqual(night.returncode, 3, where)
        self.assertEqual((self.night.folder / "exit_code").read_text(), "3\n", where)
        for name in ("fill", "more"):
            (self.night.farm / name).unlink(missing_ok=True)
        done = subprocess.run([self.package / "scripts/farm/nightly.sh", "--resume", self.night.folder],
                              capture_output=True, text=True)
        where = f"{done.stdout}{done.stderr}"
        self.assertIn(done.returncode, (0, 1), where)  # 1: a SUSPECT time on a busy machine
        self.assertEqual((self.night.folder / "exit_code").read_text(), f"{done.returncode}\n", where)
        self.expect_equal_to_whole(self.night.report)

    def has_begun(self):
        return (self.night.farm / "latest").exists() and '"event":"begin"' in self.night.journal(1)

    def test_read_only_disk(self):
        with small_disk(self, self.night.farm):
            subprocess.run(["mount", "-o", "remount,ro", self.night.farm], check=True)
            done = self.nightly(self.night.farm, "--", *RUN_OPTIONS)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("cannot be written", done.stderr)

    def test_damaged_baseline(self):
        """A damaged journal of the last good night costs a warning, and neither a row nor the page."""
        options = ["--shards", "2", self.night.farm, "--", "--mode", "accu"]
        reports = []
        for _ in range(2):
            done = self.nightly(*options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            reports.append(self.night.report.resolve())
            wait_until("another second, by which nights are named", lambda: not self.is_now(self.night.folder.name))
        with (reports[1] / "journal.jsonl").open("r+b") as journal:
            journal.seek(2000)
            journal.write(b"\xff" * 500)
        done = self.nightly(*options)
        where = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, where)
        self.assertEqual(collections.Counter(row["status"] for row in rows_of(self.night.report)), {"PASS": 16}, where)
        self.assertIn("is damaged and does not balance the shards", done.stderr)
        self.assertIn("warning its last good night cannot be read", done.stdout)
        self.assertIn(reports[1].parent.name, done.stdout)
        self.assertIn(f"against {reports[0].parent.name}: 16 SAME", done.stdout)
        self.assertIn("--balance ", self.night.console(1))
        self.assertTrue((self.night.folder / "page.html").is_file(), where)
        self.assertEqual((self.night.farm / "last-good" / self.night.slug).resolve(), self.night.report.resolve())

    @staticmethod
    def is_now(name):
        return time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime()) == name


def main():
    global ASSAY, KEEP
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__)
    ASSAY, KEEP = pathlib.Path(words.pop(0)).resolve(), None
    if "--keep" in words:
        place = words.index("--keep")
        KEEP = pathlib.Path(words[place + 1]).resolve()
        del words[place:place + 2]
    unittest.main(argv=[sys.argv[0], *words], verbosity=2)


if __name__ == "__main__":
    main()
