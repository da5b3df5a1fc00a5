#!/usr/bin/python3
"""Starts processes, says what is wrong with how they ended, and counts that by kind."""
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

SLOWEST_S = 20       # limit for a try without a shader
LARGEST_KIB = 1 << 20

CASES = b"""op: q8ta_pixel_shuffle
cases:
  - name: small
    mode: both
    upscale_factor: 2
    shape: {each: [[1, 16, 4, 4], [2, 24, 8, 5], [1, 32, 6, 6]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
"""
RAW = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae\xa8\xa9]|\xe2\x81[\xa6-\xa9]")


class Result:
    """The end, output and cost of a process; `code` is negative for a signal.

    `label` is the kind that the try counts as, if that is known only after it.
    """

    label = None

    def __init__(self, words, timeout=120, **options):
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            options = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **options}
            process = subprocess.Popen(words, **options)
            self.interrupt(process)
            code, usage = None, None
            while code is None:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    code = os.waitstatus_to_exitcode(status)
                elif time.monotonic() - began > timeout:
                    process.kill()
                    timeout = 1e9
                else:
                    time.sleep(0.002)
            process.returncode = code
            self.code, self.seconds, self.kib = code, time.monotonic() - began, usage.ru_maxrss
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()

    def interrupt(self, process):
        """Called while the process runs, for tries that disturb it."""


class Killed(Result):
    """A process that gets signals some time after its start."""

    def __init__(self, words, numbers, after, **options):
        self.numbers, self.after = numbers, after
        super().__init__(words, **options)

    def interrupt(self, process):
        time.sleep(self.after)
        for number in self.numbers:
            os.kill(process.pid, number)


def complaint(result, codes, sanitized, seconds=SLOWEST_S, kib=LARGEST_KIB):
    """The reason why the end of a process is misbehaviour, or None."""
    if result.code not in codes:
        return f"exit code {result.code}"
    if b"internal error" in result.err:
        return "internal error"
    if re.search(rb"AddressSanitizer|runtime error:", result.err):
        return "sanitizer"
    if not sanitized and result.seconds > seconds:
        return f"{result.seconds:.1f} s"
    if not sanitized and result.kib > kib:
        return f"{result.kib >> 10} MiB"
    if result.code in (2, 77) and not result.err:
        return "an exit code without a word"
    raw = RAW.search(result.out + result.err)
    return f"raw byte {raw.group()!r}" if raw else None


def reports_complaint(folder, rows=None):
    """The defects of the written reports."""
    def no_constant(word):
        raise ValueError(word)
    try:
        run = json.loads((folder / "run.json").read_bytes(), parse_constant=no_constant)
        json.loads((folder / "perf.json").read_bytes(), parse_constant=no_constant)
        xml.etree.ElementTree.parse(folder / "junit.xml")
        told = sum(len(list(csv.DictReader(open(folder / name, newline="", encoding="utf-8"))))
                   for name in ("accu.csv", "perf.csv"))
    except (OSError, ValueError, xml.etree.ElementTree.ParseError) as error:
        return f"a report that cannot be read: {error}"
    if told != run["cases"] or told != sum(run["statuses"].values()):
        return f"{told} rows in the tables, {run['cases']} in run.json"
    return f"{told} rows of {rows}" if rows not in (None, told) else None


class Tries:
    """The results of all tries, and what these share: the binary, a finished run, a folder for files.

    `counts` has the number of tries by kind, for kinds whose tries are drawn at random.
    """

    def __init__(self, options, counts):
        self.binary = os.path.abspath(options.binary)
        self.seed, self.counts = options.seed, counts
        self.sanitized = b"__asan_init" in pathlib.Path(self.binary).read_bytes()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-hostile-"))
        self.kept = pathlib.Path("build/hostile")
        self.table, self.misbehaved = {}, 0
        self.at_once = options.jobs
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        self.environment = dict(os.environ)
        self.base = self.folder / "base"
        self.base.mkdir()
        (self.base / "c.yaml").write_bytes(CASES)
        self.assay("run", self.base / "c.yaml", "--out", self.base / "out", "--ceilings", "none", "--budget", "0.1")
        journals = list((self.base / "out/runs").glob("*/*/journal.jsonl"))
        if len(journals) != 1:
            sys.exit("hostile: the run that journals are made of left none")
        self.journal = journals[0].read_bytes()

    def assay(self, *words, **options):
        return Result([self.binary, *map(str, words)], **options)

    def note(self, kind, result, wrong, keep=None):
        tried, bad, seconds, kib = self.table.get(kind, (0, 0, 0, 0))
        self.table[kind] = (tried + 1, bad + bool(wrong), max(seconds, result.seconds), max(kib, result.kib))
        if not wrong:
            return
        self.misbehaved += 1
        name = self.kept / f"{re.sub('[^a-z0-9]+', '-', kind)}-{tried}"
        name.mkdir(parents=True, exist_ok=True)
        (name / "why").write_text(f"{wrong}\n{result.err[-2000:].decode(errors='replace')}", encoding="utf-8")
        for file in keep or []:
            if file.is_file() and file.stat().st_size < 1 << 24:
                shutil.copy(file, name)
        print(f"  {kind} {tried}: {wrong} ({name})", flush=True)

    def each(self, kind, body):
        """Makes the tries of one kind, some side by side; results are recorded in order."""
        with concurrent.futures.ThreadPoolExecutor(self.at_once) as pool:
            for result, wrong, keep in pool.map(body, range(self.counts[kind])):
                self.note(result.label or kind, result, wrong, keep)
                if keep:
                    shutil.rmtree(keep[0].parent, ignore_errors=True)

    def place(self, kind, number):
        folder = self.folder / kind / str(number)
        folder.mkdir(parents=True)
        return folder

    def show(self):
        print(f"seed {self.seed}, {self.binary}{' (sanitized)' if self.sanitized else ''}")
        print("| kind | tried | misbehaved | slowest, s | largest, MiB |\n|---|--:|--:|--:|--:|")
        for kind, (tried, bad, seconds, kib) in self.table.items():
            print(f"| {kind} | {tried} | {bad} | {seconds:.2f} | {kib >> 10} |")
