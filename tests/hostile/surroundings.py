#!/usr/bin/python3
"""Tries with hostile surroundings: shaders, submissions, descriptors, folders, sent reports, odd and large files."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from inputs import older_run
from tries import CASES, Result, complaint, reports_complaint

SHADER_S, SHADER_KIB = 60, (2 << 20) + (1 << 18)  # limits for shaders: the compiler's own, plus the rest of the process


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(1 << 40)


IRREGULAR = {"fifo": os.mkfifo, "endless": lambda path: path.symlink_to("/dev/zero"), "sparse": sparse,
             "folder": lambda path: path.mkdir(), "dangling": lambda path: path.symlink_to("nowhere")}


def shaders(tries):
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
        folder = tries.place("shader", name)
        (folder / "q8ta_pixel_shuffle.comp").write_text(text, encoding="utf-8")
        result = tries.assay("run", tries.base / "c.yaml", "--mode", "accu", "--filter", "*1x16x4x4/4W4C.4W4C*",
                            "--shaders", folder, "--out", folder / "out")
        wrong = complaint(result, (1, 2, 3), tries.sanitized, SHADER_S, SHADER_KIB)
        if b"root:" in result.out + result.err:
            wrong = "it shows a file outside of its folder"
        tries.note("shader", result, wrong, [folder / "q8ta_pixel_shuffle.comp"])


def submissions(tries):
    """Gives `judge` folders that hold more than shaders."""
    good = pathlib.Path("shaders/pixel_shuffle/q8ta_pixel_shuffle.comp").read_bytes()
    contents = {
        **IRREGULAR, "itself": lambda path: path.symlink_to(path.name),
        "secret": lambda path: path.symlink_to("/etc/passwd"),
        "empty": lambda path: path.write_bytes(b""), "zeros": lambda path: path.write_bytes(bytes(100000)),
        "escape": lambda path: path.write_bytes(b"#version 450\n#error \x1b[31m\xe2\x80\xae\n"),
        "endless loop": lambda path: path.write_bytes(good.replace(b"void main() {", b"void main() { for (;;) {}", 1)),
    }
    names = {"shader": "q8ta_pixel_shuffle.comp", "other": "other.comp", "include": "common/layout.glslh",
             "escape": "q\x1b[31m\u202e.comp"}
    judge = ["judge", "--cases", tries.base / "c.yaml", "--filter", "*1x16x4x4/4W4C.4W4C*", "--rows", "1", "--budget",
             "0.01", "--ceilings", "none", "--hang-limit", "5"]
    for content, write in contents.items():
        for label, name in names.items() if content == "escape" else [("shader", names["shader"])]:
            folder = tries.place("submission", f"{content} {label}")
            (folder / "s/common").mkdir(parents=True)
            (folder / "s/q8ta_pixel_shuffle.comp").write_bytes(good + b"\n")
            (folder / "s" / name).unlink(missing_ok=True)
            write(folder / "s" / name)
            result = tries.assay(*judge, folder / "s", "--out", folder / "out")
            wrong = complaint(result, (0, 1, 2, 3), tries.sanitized, SHADER_S)
            if b"root:" in result.out + result.err:
                wrong = "it shows a file outside of its folder"
            tries.note("submission", result, wrong and f"{content} {label}: {wrong}")


def descriptors(tries):
    run = f"'{tries.binary}' run '{tries.base / 'c.yaml'}' --mode accu --out OUT"
    redirections = [(">&-", (0,)), ("2>&-", (0,)), ("<&-", (0,)), (">&- 2>&-", (0,)), ("<&- >&- 2>&-", (0,)),
                    (">/dev/full", (3,)), ("2>/dev/full", (0,)), (">/dev/full 2>&1", (3,)), ("| true", (3,)),
                    ("2>&1 | head -c 10 >/dev/null", (3,)), ("</dev/zero", (0,))]
    limits = [("ulimit -f 1;", (3,)), ("ulimit -f 16;", (0, 3)), ("ulimit -n 8;", (0, 2, 3, 77))]
    for number, (before, after, codes) in enumerate([("", *entry) for entry in redirections] +
                                                    [(before, "", codes) for before, codes in limits]):
        out = tries.place("descriptor", number) / "out"
        line = f"{before} {run.replace('OUT', str(out))} {after}; exit ${{PIPESTATUS[0]}}"
        result = Result(["bash", "-c", line])
        wrong = complaint(result, codes, tries.sanitized)
        journals = list(out.glob("runs/*/*/journal.jsonl"))
        if not wrong and not before:
            wrong = reports_complaint(journals[0].parent, 6) if journals else "no journal"
        tries.note("descriptor", result, wrong, journals)


def folders(tries):
    place = tries.place("folder", "all")
    (place / "file").write_bytes(b"precious")
    (place / "dangling").symlink_to("nowhere/at/all")
    (place / "linked").symlink_to("below")
    (place / "runs-is-a-file").mkdir()
    (place / "runs-is-a-file/runs").write_bytes(b"precious")
    os.mkfifo(place / "fifo")
    codes_by_name = {
        "file": (2, 3), "file/below": (2, 3), "dangling": (0, 3), "linked": (0, 3), "runs-is-a-file": (2, 3),
        "fifo": (2, 3), "new\nline\x1b[31m": (0,), "n" * 255: (0,), "n" * 256: (2, 3), "a/" * 1500: (0, 2, 3),
        "/proc/self": (2, 3), "/dev/null": (2, 3), "-x": (0,), "": (0, 2)}
    for name, codes in codes_by_name.items():
        result = tries.assay("run", tries.base / "c.yaml", "--mode", "accu", f"--out={name}", cwd=place)
        wrong = complaint(result, codes, tries.sanitized)
        if (place / "file").read_bytes() != b"precious" or not (place / "fifo").is_fifo():
            wrong = "a file was changed that is not the run's"
        tries.note("folder", result, wrong)
    journal = next((tries.base / "out/runs").glob("*/*/journal.jsonl"))
    for name in ("accu.csv", "run.json"):
        folder = tries.place("folder", name)
        shutil.copy(journal, folder)
        (folder / name).symlink_to(place / "file")
        result = tries.assay("report", folder)
        wrong = complaint(result, (0,), tries.sanitized)
        if (place / "file").read_bytes() != b"precious":
            wrong = "what a link names was written"
        tries.note("folder", result, wrong)


def sent(tries):
    """Makes reports whose journals name programs to start and files to write."""
    loot = tries.folder / "loot"
    options = {"--worker-command": f"touch {loot}; false", "--dump": loot, "--github-summary": loot,
               "--answer-cache": loot, "--ceiling-store": loot}
    for option, value in options.items():
        out = tries.place("sent", option) / "out"
        shutil.copytree(tries.base / "out", out, symlinks=True)
        journal = next(out.glob("runs/*/*/journal.jsonl"))
        words = json.dumps([option, str(value), "--budget"], separators=(",", ":"))[1:-1].encode()
        text = tries.journal.replace(b'"--budget"', words, 1)
        journal.write_bytes(text[:text.rindex(b'{"event":"begin"')])
        for command, codes in ((("run", "--resume", out), (2,)), (("report", out), (0, 3)),
                               (("compare", older_run(tries), out), (0, 1)), (("page", "-", out), (0,))):
            result = tries.assay(*command)
            wrong = complaint(result, codes, tries.sanitized)
            if loot.exists():
                wrong = f"{command[0]} did what a journal says"
                loot.unlink() if loot.is_file() else shutil.rmtree(loot)
            tries.note("sent", result, wrong, [journal])


def special(tries):
    """Puts what is no regular file, or a very large one, in the place of every file that is read."""
    place = tries.place("special", "all")
    (place / "file").write_bytes(b"")
    run = ("run", tries.base / "c.yaml", "--mode", "accu", "--filter", "*1x16x4x4/4W4C.4W4C*", "--ceilings", "none",
           "--out")

    def attempt(name, codes, *words, **options):
        result = tries.assay(*words, timeout=30, **options)
        wrong = complaint(result, codes, tries.sanitized)
        if words[0] == "run" and b"CRASH" in result.out:
            wrong = "an innocent row is a CRASH"
        tries.note("special", result, wrong and f"{name}: {wrong}")

    attempt("dumps", (3,), *run, place / "dumps", "--dump", place / "file")
    attempt("noise", (2, 3), "compare", older_run(tries), tries.base / "out", "--run-noise", "/dev/zero")
    for name, put in IRREGULAR.items():
        folder = place / name
        for sub in ("s/expectations", "cache", "r", "n"):
            (folder / sub).mkdir(parents=True)
        put(folder / "c.yaml")
        attempt(f"{name} as cases", (2,), *run, folder / "o1", folder / "c.yaml")
        put(folder / "s/expectations/e.yaml")
        (folder / "s/c.yaml").write_bytes(CASES)
        attempt(f"{name} as expectations", (0, 2), "run", folder / "s/c.yaml", *run[2:], folder / "o2")
        put(folder / "s/q8ta_pixel_shuffle.comp")
        attempt(f"{name} as shader", (0, 1, 2, 3), *run, folder / "o3", "--shaders", folder / "s")
        shutil.copytree(tries.base / "out", folder / "n/1", symlinks=True)
        report = next(folder.glob("n/1/runs/*/*"))
        put(folder / "n/1/nightly.json")
        attempt(f"{name} as night", (0, 1, 3), "verdict", folder / "n/1")
        for file, codes in {"history.csv": (0,), "journal.jsonl": (0, 2, 3), "journal.jsonl.zst": (0, 2, 3)}.items():
            (report / file).unlink(missing_ok=True)
            put(report / file)
            attempt(f"{name} as {file}", codes, "page", "-", folder / "n/1", tries.base / "out")
        attempt(f"{name} as journal", (2, 3), "report", report)
        attempt(f"{name} as journal that is resumed", (2, 3), "run", "--resume", folder / "n/1")
        attempt(f"{name} as journal that is judged", (2, 3), "verdict", folder / "n/1")
        if name in ("fifo", "sparse"):
            once = (*run, folder / "o4", "--answer-cache", folder / "cache/answers")
            irregular_caches(tries, folder / "cache", put, lambda *more, **options: attempt(
                f"{name} as cache", (0,), *once, *more, **options))


def irregular_caches(tries, cache, put, run):
    """Runs with a cache, replaces its files, and runs again."""
    environment = {**tries.environment, "XDG_CACHE_HOME": str(cache)}
    run(env=environment)
    for path in list(cache.rglob("*")):
        if path.is_file() and "mesa" not in str(path):
            path.unlink()
            put(path)
    run("--overwrite", env=environment)


def limits(tries):
    """Small files that stand for much memory or time."""
    run, plan = tries.journal.split(b"\n")[:2]
    place = tries.place("limit", "all")

    def attempt(name, codes, needed, *words):
        result = tries.assay(*words, cwd=place)
        wrong = complaint(result, codes, tries.sanitized)
        if not wrong and needed.encode() not in result.out + result.err:
            wrong = f"{name}: it does not say {needed!r}"
        tries.note("limit", result, wrong and f"{name}: {wrong}")

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
            journal("schema", tries.journal.replace(b'"schema":3', b'"schema":99', 1)))
    attempt("times", (2,), "which is not a time", "report",
            journal("times", re.sub(rb'"samples_ns":\[', b'"samples_ns":[-5,', tries.journal)))
    shard = b'"shard":{"index":1,"count":2000000000,"all_groups":3,"groups":[[0,2,1]]},'
    attempt("shards", (2,), "a run has at most 1000000", "merge", "merged",
            journal("shards", tries.journal.replace(b'"schema":3,', b'"schema":3,' + shard, 1)))
    points = ", ".join(["3"] * 1400)
    (place / "points.yaml").write_text("op: quantize_affine\ncases:\n" + "".join(
        f"  - {{name: c{i}, shape: [8], block_size: [{{each: [{points}]}}], seed: {{each: [{points}]}}}}\n"
        for i in range(20)), encoding="utf-8")
    attempt("points", (2,), "over 10000 cases of this file have errors", "list", "points.yaml")
    (place / "links").mkdir()
    (place / "links/lost.yaml").symlink_to("lost.yaml")
    attempt("link", (2,), "a link to a file that does not exist", "list", "links")
    (place / "links/q8ta_pixel_shuffle.comp").symlink_to("q8ta_pixel_shuffle.comp")
    attempt("shader", (2,), "Too many levels", "run", tries.base / "c.yaml", "--shaders", "links")
    attempt("folder", (3,), "Too many levels", "report", "links/lost.yaml")


