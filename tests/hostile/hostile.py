#!/usr/bin/python3
"""Makes the tries of run.sh: starts the binary, and prints for each kind of input how many tries misbehaved."""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import mutate

SHORT = {"yaml": 250, "npy": 150, "journal": 200, "kill": 12, "signal": 6}
LONG = {"yaml": 5000, "npy": 2000, "journal": 3000, "kill": 200, "signal": 60}
SLOWEST_S = 20       # limit for a try without a shader
LARGEST_KIB = 1 << 20
SHADER_S, SHADER_KIB = 60, (2 << 20) + (1 << 18)  # limits for shaders: the compiler's own, plus the rest of the process

CASES = b"""op: q8ta_pixel_shuffle
cases:
  - name: small
    mode: both
    upscale_factor: 2
    shape: {each: [[1, 16, 4, 4], [2, 24, 8, 5], [1, 32, 6, 6]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    forms: {each: [{x: buffer/4W4C, y: buffer/4W4C}, {x: buffer/4W4C, y: buffer/4C1W}]}
"""
NPY_CASE = b"""op: quantize_affine
cases:
  - {name: one, shape: [8, 6], block_size: [2, 3], fill: {x: {npy: x.npy}}}
"""
RAW = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae\xa8\xa9]|\xe2\x81[\xa6-\xa9]")


class Result:
    """The end, output and cost of a process; `code` is negative for a signal."""

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
    """All kinds of tries, and their results."""

    def __init__(self, options):
        self.binary = os.path.abspath(options.binary)
        self.seed, self.counts = options.seed, LONG if options.long else SHORT
        self.sanitized = b"__asan_init" in pathlib.Path(self.binary).read_bytes()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-hostile-"))
        self.kept = pathlib.Path("build/hostile")
        self.table, self.misbehaved = {}, 0
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
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
        name = self.kept / f"{kind.replace(' ', '-')}-{tried}"
        name.mkdir(parents=True, exist_ok=True)
        (name / "why").write_text(f"{wrong}\n{result.err[-2000:].decode(errors='replace')}", encoding="utf-8")
        for file in keep or []:
            if file.is_file() and file.stat().st_size < 1 << 24:
                shutil.copy(file, name)
        print(f"  {kind} {tried}: {wrong} ({name})", flush=True)

    def each(self, kind, body):
        """Makes the tries of one kind, two at a time; results are recorded in order."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for result, wrong, keep in pool.map(body, range(self.counts[kind])):
                self.note(kind, result, wrong, keep)
                if keep:
                    shutil.rmtree(keep[0].parent, ignore_errors=True)

    def place(self, kind, number):
        folder = self.folder / kind / str(number)
        folder.mkdir(parents=True)
        return folder

    def yaml(self):
        corpus = [CASES, NPY_CASE] + [path.read_bytes() for path in sorted(pathlib.Path("cases").glob("*.yaml"))
                                      if path.stat().st_size < 6000]

        def one(number):
            file = self.place("yaml", number) / "c.yaml"
            file.write_bytes(mutate.yaml(mutate.generator(self.seed, "yaml", number), corpus))
            result = self.assay("list", "--long", file)
            return result, complaint(result, (0, 2), self.sanitized), [file]
        self.each("yaml", one)

    def npy(self):
        def npy_of(dtype, shape, data):
            head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
            head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
            return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data
        corpus = [npy_of("<f4", (8, 6), bytes(192)), npy_of("<f8", (8, 6), bytes(384)),
                  npy_of("|i1", (8, 6), bytes(48))]

        def one(number):
            folder = self.place("npy", number)
            (folder / "c.yaml").write_bytes(NPY_CASE)
            (folder / "x.npy").write_bytes(mutate.npy(mutate.generator(self.seed, "npy", number), corpus))
            result = self.assay("list", folder / "c.yaml")
            return result, complaint(result, (0, 2), self.sanitized), [folder / "c.yaml", folder / "x.npy"]
        self.each("npy", one)

    def journals(self):
        def one(number):
            folder = self.place("journal", number)
            file = folder / "journal.jsonl"
            rng = mutate.generator(self.seed, "journal", number)
            file.write_bytes(mutate.journal(rng, self.journal))
            words = ["report", folder] if number % 3 else ["report", folder, "--salvage"]
            if number % 3 == 2:
                words = ["compare", self.base / "out", folder]
            result = self.assay(*words)
            wrong = complaint(result, (0, 1, 2, 3), self.sanitized)
            if not wrong and words[0] == "report" and result.code != 2:
                wrong = reports_complaint(folder)
            return result, wrong, [file]
        self.each("journal", one)

    def prints_of(self, folder):
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(folder.rglob("*")) if path.is_file()}

    def stopped(self, kind, numbers, codes, times=1):
        """Makes runs that a signal ends, sent so many times at once, in a folder that holds another run."""
        def one(number):
            rng = mutate.generator(self.seed, kind, number)
            out = self.place(kind, number) / "out"
            shutil.copytree(self.base / "out", out, symlinks=True)
            before = self.prints_of(out / "runs")
            words = [self.binary, "run", str(self.base / "c.yaml"), "--out", str(out), "--overwrite",
                     "--ceilings", "none"]
            result = Killed(words, [rng.choice(numbers)] * times, rng.uniform(0.02, 1.5))
            return result, complaint(result, codes, self.sanitized) or self.left_behind(out, before, kind), [out]
        self.each(kind, one)

    def kills(self):
        self.stopped("kill", [signal.SIGKILL], (0, -9))

    def signals(self):
        # timeout(1) sends its signal twice.
        self.stopped("signal", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], (0, 3, -1, -2, -15), times=2)

    def left_behind(self, out, before, kind):
        """The defects in the files of a run that was ended."""
        after = self.prints_of(out / "runs")
        if any(after.get(name) != was for name, was in before.items()):
            return "another run's results were changed"
        for journal in set(out.glob("runs/*/*/journal.jsonl")) - {pathlib.Path(name) for name in before}:
            lines = [line for line in journal.read_bytes().split(b"\n")[:-1]]
            ended = {json.loads(line)["row"] for line in lines if line.startswith(b'{"event":"end"')}
            again = self.assay("report", journal.parent)
            if not any(line.startswith(b'{"event":"plan"') for line in lines):
                if again.code != 2:
                    return "a report without a plan"
                continue
            wrong = complaint(again, (0, 1, 3), self.sanitized) or reports_complaint(journal.parent)
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

    def shaders(self):
        bomb = "#version 450\n#define X0 x = x + 1;\n" + "".join(
            f"#define X{i} " + f"X{i - 1} " * 10 + "\n" for i in range(1, 10)) + "void main() { int x = 0; X9 }\n"
        hostile = {
            "bomb": bomb, "empty": "", "nul": "#version 450\n\0void main() {}\n", "bytes": "\x1b[31m\u202e" * 100,
            "passwd": '#version 450\n#include "/etc/passwd"\nvoid main() {}\n',
            "up": '#version 450\n#include "../../../../../../etc/passwd"\nvoid main() {}\n',
            "itself": '#version 450\n#include "q8ta_pixel_shuffle.comp"\nvoid main() {}\n',
            "parentheses": "#version 450\nvoid main() { int x = " + "(" * 100000 + "1" + ")" * 100000 + "; }\n",
            "braces": "#version 450\nvoid main() " + "{" * 100000 + "}" * 100000 + "\n",
            "comment": "#version 450\n/* " + "x" * 1000000, "long name": "#version 450\nint " + "x" * 3000000 + ";\n",
            "array": "#version 450\nshared int x[2000000000];\nvoid main() { x[0] = 1; }\n",
            "workgroup": "#version 450\nlayout(local_size_x = 2000000000) in;\nvoid main() {}\n",
            "constant": "#version 450\nconst int x[] = int[](" + "1," * 300000 + "1);\nvoid main() {}\n",
            "large": "#version 450\n" + "// x\n" * 1000000,
            "defined": "#version 450\n#if " + "defined(A) || " * 100000 + "1\n#endif\n",
        }
        for name, text in hostile.items():
            folder = self.place("shader", name)
            (folder / "q8ta_pixel_shuffle.comp").write_text(text, encoding="utf-8")
            result = self.assay("run", self.base / "c.yaml", "--mode", "accu", "--filter", "*1x16x4x4/4W4C.4W4C*",
                                "--shaders", folder, "--out", folder / "out")
            wrong = complaint(result, (1, 2, 3), self.sanitized, SHADER_S, SHADER_KIB)
            if b"root:" in result.out + result.err:
                wrong = "it shows a file outside of its folder"
            self.note("shader", result, wrong, [folder / "q8ta_pixel_shuffle.comp"])

    def descriptors(self):
        run = f"'{self.binary}' run '{self.base / 'c.yaml'}' --mode accu --out OUT"
        redirections = [(">&-", (0,)), ("2>&-", (0,)), ("<&-", (0,)), (">&- 2>&-", (0,)), ("<&- >&- 2>&-", (0,)),
                        (">/dev/full", (3,)), ("2>/dev/full", (0,)), (">/dev/full 2>&1", (3,)), ("| true", (3,)),
                        ("2>&1 | head -c 10 >/dev/null", (3,)), ("</dev/zero", (0,))]
        limits = [("ulimit -f 1;", (3,)), ("ulimit -f 16;", (0, 3)), ("ulimit -n 8;", (0, 2, 3, 77))]
        for number, (before, after, codes) in enumerate([("", *entry) for entry in redirections] +
                                                        [(before, "", codes) for before, codes in limits]):
            out = self.place("descriptor", number) / "out"
            line = f"{before} {run.replace('OUT', str(out))} {after}; exit ${{PIPESTATUS[0]}}"
            result = Result(["bash", "-c", line])
            wrong = complaint(result, codes, self.sanitized)
            journals = list(out.glob("runs/*/*/journal.jsonl"))
            if not wrong and not before:
                wrong = reports_complaint(journals[0].parent, 6) if journals else "no journal"
            self.note("descriptor", result, wrong, journals)

    def folders(self):
        place = self.place("folder", "all")
        (place / "file").write_bytes(b"precious")
        (place / "dangling").symlink_to("nowhere/at/all")
        (place / "linked").symlink_to("below")
        (place / "runs-is-a-file").mkdir()
        (place / "runs-is-a-file/runs").write_bytes(b"precious")
        os.mkfifo(place / "fifo")
        tries = {"file": (2, 3), "file/below": (2, 3), "dangling": (0, 3), "linked": (0, 3), "runs-is-a-file": (2, 3),
                 "fifo": (2, 3), "new\nline\x1b[31m": (0,), "n" * 255: (0,), "n" * 256: (2, 3), "a/" * 1500: (0, 2, 3),
                 "/proc/self": (2, 3), "/dev/null": (2, 3), "-x": (0,), "": (0, 2)}
        for name, codes in tries.items():
            result = self.assay("run", self.base / "c.yaml", "--mode", "accu", f"--out={name}", cwd=place)
            wrong = complaint(result, codes, self.sanitized)
            if (place / "file").read_bytes() != b"precious" or not (place / "fifo").is_fifo():
                wrong = "a file was changed that is not the run's"
            self.note("folder", result, wrong)
        journal = next((self.base / "out/runs").glob("*/*/journal.jsonl"))
        for name in ("accu.csv", "run.json"):
            folder = self.place("folder", name)
            shutil.copy(journal, folder)
            (folder / name).symlink_to(place / "file")
            result = self.assay("report", folder)
            wrong = complaint(result, (0,), self.sanitized)
            if (place / "file").read_bytes() != b"precious":
                wrong = "what a link names was written"
            self.note("folder", result, wrong)

    def sent(self):
        """Makes reports whose journals name programs to start and files to write."""
        loot = self.folder / "loot"
        options = {"--worker-command": f"touch {loot}; false", "--dump": loot, "--github-summary": loot,
                   "--answer-cache": loot, "--ceiling-store": loot}
        for option, value in options.items():
            out = self.place("sent", option) / "out"
            shutil.copytree(self.base / "out", out, symlinks=True)
            journal = next(out.glob("runs/*/*/journal.jsonl"))
            words = json.dumps([option, str(value), "--budget"], separators=(",", ":"))[1:-1].encode()
            text = self.journal.replace(b'"--budget"', words, 1)
            journal.write_bytes(text[:text.rindex(b'{"event":"begin"')])
            for command, codes in ((("run", "--resume", out), (2,)), (("report", out), (0, 3)),
                                   (("compare", out, out), (0, 1)), (("page", "-", out), (0,))):
                result = self.assay(*command)
                wrong = complaint(result, codes, self.sanitized)
                if loot.exists():
                    wrong = f"{command[0]} did what a journal says"
                    loot.unlink() if loot.is_file() else shutil.rmtree(loot)
                self.note("sent", result, wrong, [journal])

    def robbed(self):
        """Makes runs whose journal or folder is moved or removed."""
        takes = {"folder removed": lambda out, journal: shutil.rmtree(out, ignore_errors=True),
                 "journal removed": lambda out, journal: journal.unlink(),
                 "folder moved": lambda out, journal: out.rename(out.parent / "moved"),
                 "journal moved": lambda out, journal: journal.rename(out.parent / "journal.jsonl")}
        for name, take in takes.items():
            place = self.place("robbed", name)
            words = [self.binary, "run", str(self.base / "c.yaml"), "--out", str(place / "out"), "--ceilings", "none"]
            result = Robbed(words, place / "out", take)
            wrong = complaint(result, (3,), self.sanitized)
            journals = list(place.rglob("journal.jsonl"))
            if not wrong and (len(journals) != 1 or not journals[0].read_bytes().endswith(b"\n")):
                wrong = f"{len(journals)} journals are left"
            self.note("robbed", result, wrong, journals)

    def special(self):
        """Gives files that are no regular ones, and a folder of dumps that cannot be written."""
        place = self.place("special", "all")
        os.mkfifo(place / "fifo.yaml")
        (place / "file").write_bytes(b"")
        run = ("run", self.base / "c.yaml", "--mode", "accu", "--ceilings", "none", "--out")
        for number, (more, code) in enumerate([(["/dev/zero"], 2), ([place / "fifo.yaml"], 2),
                                               (["--dump", place / "file"], 3)]):
            out = place / f"out{number}"
            result = self.assay(*run, out, *more)
            wrong = complaint(result, (code,), self.sanitized)
            if b"CRASH" in result.out:
                wrong = "an innocent row is a CRASH"
            self.note("special", result, wrong)

    def limits(self):
        """Small files that stand for much memory or time."""
        run, plan = self.journal.split(b"\n")[:2]
        place = self.place("limit", "all")

        def attempt(name, codes, needed, *words):
            result = self.assay(*words, cwd=place)
            wrong = complaint(result, codes, self.sanitized)
            if not wrong and needed.encode() not in result.out + result.err:
                wrong = f"{name}: it does not say {needed!r}"
            self.note("limit", result, wrong and f"{name}: {wrong}")

        def journal(name, data):
            (place / name).mkdir()
            (place / name / "journal.jsonl").write_bytes(data)
            return name
        (place / "bomb").mkdir()
        with open(place / "bomb/journal.jsonl.zst", "wb") as out:
            zeros = subprocess.Popen(["head", "-c", "4G", "/dev/zero"], stdout=subprocess.PIPE)
            subprocess.run(["zstd", "-q", "-1"], stdin=zeros.stdout, stdout=out, check=True)
            zeros.wait()
        for words in (["report", "bomb"], ["show", "bomb", "x"], ["page", "p.html", "bomb"], ["summary", "bomb"]):
            attempt(words[0], (2,), ":1: this line is longer than 64 MiB", *words)
        attempt("salvage", (2,), "over 1000 times as much", "report", "bomb", "--salvage")
        attempt("nulls", (3,), "2500000 lines were left out", "report", "--salvage",
                journal("nulls", run + b"\n" + plan + b"\n" + b"\0\n" * 2500000))
        attempt("members", (2,), "too many members", "report",
                journal("members", b'{"event":"run",' + b",".join(b'"%d":0' % i for i in range(200000)) + b"}\n"))
        attempt("schema", (2,), "schema 99", "report", "--salvage",
                journal("schema", self.journal.replace(b'"schema":3', b'"schema":99', 1)))
        attempt("times", (2,), "which is not a time", "report",
                journal("times", re.sub(rb'"samples_ns":\[', b'"samples_ns":[-5,', self.journal)))
        shard = b'"shard":{"index":1,"count":2000000000,"all_groups":3,"groups":[[0,2,1]]},'
        attempt("shards", (2,), "a run has at most 1000000", "merge", "merged",
                journal("shards", self.journal.replace(b'"schema":3,', b'"schema":3,' + shard, 1)))
        points = ", ".join(["3"] * 1400)
        (place / "points.yaml").write_text("op: quantize_affine\ncases:\n" + "".join(
            f"  - {{name: c{i}, shape: [8], block_size: [{{each: [{points}]}}], seed: {{each: [{points}]}}}}\n"
            for i in range(20)), encoding="utf-8")
        attempt("points", (2,), "over 10000 cases of this file have errors", "list", "points.yaml")
        (place / "links").mkdir()
        (place / "links/lost.yaml").symlink_to("lost.yaml")
        attempt("link", (2,), "a link to a file that does not exist", "list", "links")
        (place / "links/q8ta_pixel_shuffle.comp").symlink_to("q8ta_pixel_shuffle.comp")
        attempt("shader", (2,), "Too many levels", "run", self.base / "c.yaml", "--shaders", "links")
        attempt("folder", (3,), "Too many levels", "report", "links/lost.yaml")

    def all(self):
        self.yaml()
        self.npy()
        self.journals()
        self.kills()
        self.signals()
        self.shaders()
        self.descriptors()
        self.folders()
        self.sent()
        self.robbed()
        self.special()
        self.limits()

    def show(self):
        print(f"seed {self.seed}, {self.binary}{' (sanitized)' if self.sanitized else ''}")
        print("| kind | tried | misbehaved | slowest, s | largest, MiB |\n|---|--:|--:|--:|--:|")
        for kind, (tried, bad, seconds, kib) in self.table.items():
            print(f"| {kind} | {tried} | {bad} | {seconds:.2f} | {kib >> 10} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="10,000 inputs and 200 kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", default="build/release/assay")
    parser.add_argument("--only", help="one kind",
                        choices=("yaml", "npy", "journals", "kills", "signals", "shaders", "descriptors", "folders",
                                 "sent", "robbed", "special", "limits"))
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # runs would ignore it as well if whoever started this does (nohup)
    tries = Tries(options)
    began = time.monotonic()
    try:
        getattr(tries, options.only or "all")()
        tries.show()
    finally:
        shutil.rmtree(tries.folder, ignore_errors=True)
    print(f"{tries.misbehaved} misbehaved in {time.monotonic() - began:.0f} s"
          + (f"; see {tries.kept}" if tries.misbehaved else ""))
    sys.exit(tries.misbehaved > 0)


if __name__ == "__main__":
    main()
