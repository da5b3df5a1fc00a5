#!/usr/bin/python3
"""Tries with mutated files, for everything that reads a file: cases, arrays, journals, reports, nights and caches."""
import json
import pathlib
import re
import shutil
import subprocess

import mutate
from kills import MOCK
from tries import CASES, complaint, reports_complaint

NPY_CASE = b"""op: quantize_affine
cases:
  - {name: one, shape: [8, 6], block_size: [2, 3], fill: {x: {npy: x.npy}}}
"""
NPZ_CASE = NPY_CASE.replace(b"npy: x.npy", b"npz: x.npz, member: x")
EXPECTATIONS = b"""# Rules of a device.
device: "mock*"
expect:
  - {match: "mock/*", status: fail, reason: known, issue: 7, until: 2099-01-01}
  - {match: "*pixel*/small/*-*1x32*", impl: fused, status: skip, reason: takes minutes on a CPU}
"""
OLD_RUN = "20200101T000000Z-000000"


def make(tries, kind, prepare, words, codes, check=None):
    """Makes the tries of a kind: `prepare` writes the mutated files into a folder and returns those to keep.

    `words` are the command line for that folder, `codes` the exit codes that are allowed. `check` returns what is wrong
    with what the command left.
    """
    def one(number):
        folder = tries.place(kind, number)
        keep = prepare(mutate.generator(tries.seed, kind, number), folder)
        result = tries.assay(*words(folder, number))
        wrong = complaint(result, codes, tries.sanitized)
        if not wrong and check:
            wrong = check(folder, number, result)
        return result, wrong, keep
    tries.each(kind, one)


def written(folder, name, data):
    (folder / name).write_bytes(data)
    return folder / name


def yaml(tries):
    corpus = [CASES, NPY_CASE] + [path.read_bytes() for path in sorted(pathlib.Path("cases").glob("*.yaml"))
                                  if path.stat().st_size < 6000]
    make(tries, "yaml", lambda rng, folder: [written(folder, "c.yaml", mutate.yaml(rng, corpus))],
         lambda folder, _: ["list", "--long", folder / "c.yaml"], (0, 2))


def include(tries):
    """Files that are included: shapes, forms and tunables of other case files."""
    files = {path: re.findall(rb"sets/\w+\.yaml", path.read_bytes().split(b"\ncases:")[0])
             for path in sorted(pathlib.Path("cases").glob("*.yaml")) if path.stat().st_size < 6000}
    files = {path: [name.decode() for name in names] for path, names in files.items() if names}

    def prepare(rng, folder):
        cases = rng.choice(list(files))
        shutil.copytree("cases/sets", folder / "sets")
        shutil.copy(cases, folder / "c.yaml")
        name = rng.choice(files[cases])
        return [written(folder, name, mutate.yaml(rng, [pathlib.Path("cases", name).read_bytes()])), folder / "c.yaml"]
    make(tries, "include", prepare, lambda folder, _: ["list", folder / "c.yaml"], (0, 2))


def expectations(tries):
    def prepare(rng, folder):
        (folder / "expectations").mkdir()
        written(folder, "c.yaml", CASES)
        return [folder / "c.yaml", written(folder, "expectations/e.yaml", mutate.yaml(rng, [EXPECTATIONS, CASES]))]
    make(tries, "expectations", prepare,
         lambda folder, _: ["run", folder / "c.yaml", "--out", folder / "out", "--worker-command",
                            f"exec {MOCK} --rows 3 --fault fail@1"], (0, 1, 2))


def npy_of(dtype, shape, data):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def npy(tries):
    corpus = [npy_of("<f4", (8, 6), bytes(192)), npy_of("<f8", (8, 6), bytes(384)),
              npy_of("|i1", (8, 6), bytes(48))]
    make(tries, "npy", lambda rng, folder: [written(folder, "c.yaml", NPY_CASE),
                                            written(folder, "x.npy", mutate.npy(rng, corpus))],
         lambda folder, _: ["list", folder / "c.yaml"], (0, 2))


def npz(tries):
    corpus = [mutate.archive({"x.npy": npy_of("<f4", (8, 6), bytes(192)), "y.npy": npy_of("<f4", (2,), bytes(8))}, how)
              for how in ("stored", "deflated")]
    corpus += [mutate.archive({"x.npy": npy_of("<f4", (8, 6), bytes(1 << 24))}, "deflated")]
    make(tries, "npz", lambda rng, folder: [written(folder, "c.yaml", NPZ_CASE),
                                            written(folder, "x.npz", mutate.npz(rng, corpus))],
         lambda folder, _: ["list", folder / "c.yaml"], (0, 2))


def model(tries):
    """Files of models. What is written of one loads; of an error nothing is left behind."""
    made = tries.base / "models"
    subprocess.run(["tests/support/model_files.py", made], check=True)
    corpus = [path.read_bytes() for path in sorted(made.iterdir())]

    def check(folder, _, result):
        left = sorted(path.name for path in folder.iterdir())
        if result.code != 0:
            return None if left == ["m"] else f"an error left {left}"
        return complaint(tries.assay("list", folder / "out"), (0,), tries.sanitized)
    make(tries, "model", lambda rng, folder: [written(folder, "m", mutate.model(rng, corpus))],
         lambda folder, _: ["model", folder / "m", "--name", "m", "--out", folder / "out"], (0, 2), check)


def readers(tries):
    """The commands that read a report, each with the report's place left open."""
    base, older = tries.base / "out", older_run(tries)
    return [lambda folder: ["report", folder], lambda folder: ["report", folder, "--salvage"],
            lambda folder: ["compare", older, folder], lambda folder: ["show", folder, "*1x32*"],
            lambda folder: ["show", folder, "--worst"], lambda folder: ["summary", base, folder],
            lambda folder: ["pivot", folder, base], lambda folder: ["page", "-", base, folder],
            lambda folder: ["merge", folder / "merged", folder],
            lambda folder: ["export", folder, "--sqlite", folder / "runs.db", "--openmetrics", "-"],
            lambda folder: ["compare", folder, older, "--json", "-"]]


def read_reports(tries, kind, prepare):
    """Gives a damaged report to all commands that read one, half of the time to `report`."""
    commands = readers(tries)

    def words(folder, number):
        return (commands[number % 3] if number % 2 else commands[number // 2 % len(commands)])(folder)

    def check(folder, number, result):
        is_report = words(folder, number)[0] == "report"
        return reports_complaint(folder) if is_report and result.code != 2 else None
    make(tries, kind, prepare, words, (0, 1, 2, 3), check)


def journals(tries):
    corpus = [tries.journal] + published_journals()
    read_reports(tries, "journal", lambda rng, folder: [
        written(folder, "journal.jsonl", mutate.journal(rng, rng.choice(corpus)))])


def published_journals():
    """The first rows of the journals of real devices, with ceilings and expectations."""
    journals = []
    for path in sorted(pathlib.Path("reports/published").glob("*/journal.jsonl.zst")):
        lines = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout.splitlines()
        events = [json.loads(line) for line in lines]
        planned = [row for event in events if event["event"] == "plan" for row in event["rows"]]
        timed = [number for number, row in enumerate(planned) if row["mode"] == "perf"][:3]
        numbers = {old: new for new, old in enumerate([0, 1, 2] + timed)}
        kept = [events[0], {"event": "plan", "first": 0, "rows": [planned[number] for number in numbers]}]
        kept += [{**event, "row": numbers[event["row"]]} for event in events if event.get("row") in numbers]
        journals.append(b"".join(json.dumps(event).encode() + b"\n" for event in kept + [{"event": "done"}]))
    return journals


def zst(tries):
    """Compressed journals: their bytes are mutated, or those of the text."""
    def packed(text):
        return subprocess.run(["zstd", "-qc"], input=text, check=True, capture_output=True).stdout
    whole = packed(tries.journal)

    def prepare(rng, folder):
        data = packed(mutate.journal(rng, tries.journal)) if rng.random() < 0.3 else mutate.packed(rng, whole)
        return [written(folder, "journal.jsonl.zst", data)]
    read_reports(tries, "zst", prepare)


def one_run(out):
    """The folder of the only run of a device in an output folder."""
    return next(out.glob("runs/*/*/journal.jsonl")).parent


def older_run(tries):
    """The folder of a device in an output folder that holds the finished run as if it had been years ago."""
    run = one_run(tries.base / "out")
    old = tries.base / "older/runs" / OLD_RUN / run.name
    if old.exists():
        return old
    old.mkdir(parents=True)
    for name in ("journal.jsonl", "history.csv"):
        text = (run / name).read_bytes().replace(run.parent.name.encode(), OLD_RUN.encode())
        (old / name).write_bytes(re.sub(rb"\b20\d\d-\d\d-\d\dT", b"2020-01-01T", text))
    return old


def history(tries):
    """The history.csv of an older run, which the page reads instead of its journal."""
    old = older_run(tries)
    alone = len(tries.assay("page", "-", tries.base / "out").out)

    def prepare(rng, folder):
        shutil.copytree(tries.base / "out", folder / "out", symlinks=True)
        place = folder / "out/runs" / OLD_RUN / old.name
        shutil.copytree(old, place)
        return [folder / "out", written(place, "history.csv", mutate.table(rng, (old / "history.csv").read_bytes()))]

    def check(folder, _, result):
        return None if len(result.out) > alone + 100 else "the older run is not on the page"
    make(tries, "history", prepare, lambda folder, _: ["page", "-", folder / "out"], (0,), check)


def night(tries):
    """The nightly.json of a night, read by its next verdict and, if the last good night is damaged, by a later one."""
    device = one_run(tries.base / "out").name
    nights = tries.base / "nights"
    for name in ("1", "2"):
        shutil.copytree(tries.base / "out", nights / name, symlinks=True)
        tries.assay("verdict", nights / name)
    text = (nights / "1/nightly.json").read_bytes()

    def prepare(rng, folder):
        shutil.copytree(nights, folder / "n", symlinks=True)
        shutil.copytree(tries.base / "out", folder / "n/3", symlinks=True)
        if rng.random() < 0.7:
            written(one_run(folder / "n/2"), "journal.jsonl", b"{}\n")
        return [folder / "n"] + [written(folder, f"n/{name}/nightly.json", mutate.json_file(rng, text))
                                 for name in rng.choice(["1", "2", "3", "12", "123"])]

    def check(folder, _, result):
        verdict = json.loads((folder / "n/3/nightly.json").read_bytes())
        return None if [entry["slug"] for entry in verdict["devices"]] == [device] else "the verdict lacks a device"
    make(tries, "night", prepare, lambda folder, _: ["verdict", folder / "n/3"], (0, 1, 3), check)


def noise(tries):
    """The file of --run-noise and --keep-run-noise."""
    sides = [older_run(tries), tries.base / "out"]
    tries.assay("compare", *sides, "--keep-run-noise", tries.base / "noise.csv")
    text = (tries.base / "noise.csv").read_bytes()
    text += text.splitlines(True)[-1].replace(b"Z-", b"Z-f")

    def check(folder, _, result):
        kept = (folder / "noise.csv").read_bytes()
        return "the file was changed although it is damaged" if result.code == 2 and kept != wanted[folder] else None
    wanted = {}

    def prepare(rng, folder):
        wanted[folder] = mutate.table(rng, text)
        return [written(folder, "noise.csv", wanted[folder])]
    make(tries, "noise", prepare, lambda folder, number: [
        "compare", *sides, "--run-noise" if number % 2 else "--keep-run-noise", folder / "noise.csv"],
        (0, 1, 2), check)


def caches(tries):
    """Kept answers, SPIR-V and pipelines: a run takes none that is damaged."""
    run = ["run", tries.base / "c.yaml", "--mode", "accu", "--filter", "*1x16x4x4*", "--ceilings", "none",
           "--no-isolation", "--answer-cache"]
    tries.assay(*run, tries.base / "kept/answers", "--out", tries.base / "kept/out",
                env={**tries.environment, "XDG_CACHE_HOME": str(tries.base / "kept")})
    (tries.base / "kept/out").rename(tries.base / "kept-out")

    def one(number):
        rng = mutate.generator(tries.seed, "cache", number)
        folder = tries.place("cache", number)
        shutil.copytree(tries.base / "kept", folder / "cache")
        files = sorted(path for path in folder.rglob("*") if path.is_file() and "mesa" not in str(path))
        changed = rng.sample(files, rng.randint(1, len(files)))
        for path in changed:
            path.write_bytes(mutate.packed(rng, path.read_bytes()))
        result = tries.assay(*run, folder / "cache/answers", "--out", folder / "out",
                             env={**tries.environment, "XDG_CACHE_HOME": str(folder / "cache")})
        wrong = complaint(result, (0,), tries.sanitized) or reports_complaint(one_run(folder / "out"), 2)
        return result, wrong, [folder / "cache", *changed]
    tries.each("cache", one)


def workers(tries):
    """What a worker writes: it is another process, which a shader may have damaged."""
    record = tries.base / "record"
    command = f"{MOCK} --rows 6 --perf 2 | tee -a {record}"
    tries.assay("run", tries.base / "c.yaml", "--out", tries.base / "mock", "--worker-command", command)
    lines = record.read_bytes().splitlines(True)
    at = [1, 3, next(n for n, line in enumerate(lines) if b"wants_to_time" in line) + 1, len(lines)]
    parts = [lines[begin:end] for begin, end in zip([0] + at, at)]
    play = ('read -r request; case "$request" in *only_devices*) cat 0;; '
            '*) cat 1; read -r rows; cat 2; read -r go; cat 3; read -r stop;; esac')

    def prepare(rng, folder):
        hostile = rng.randrange(len(parts))
        keep = []
        for number, part in enumerate(parts):
            text = b"".join(part)
            keep.append(written(folder, str(number), mutate.journal(rng, text) if number == hostile else text))
        return keep
    make(tries, "worker", prepare, lambda folder, _: [
        "run", tries.base / "c.yaml", "--out", folder / "out", "--hang-limit", "0.5", "--worker-command",
        f"cd '{folder}'; {play}"], (0, 1, 2, 3, 77),
        lambda folder, _, result: check_worker(folder))


def check_worker(folder):
    journals = list((folder / "out").glob("runs/*/*/run.json"))
    return reports_complaint(journals[0].parent) if journals else None


def resumed(tries):
    """Mutated journals of a run that was killed, given to --resume."""
    text = tries.journal[:tries.journal.rindex(b'{"event":"end"')]

    def prepare(rng, folder):
        shutil.copytree(tries.base / "out", folder / "out", symlinks=True)
        return [folder / "out", written(one_run(folder / "out"), "journal.jsonl", mutate.journal(rng, text))]
    make(tries, "resume", prepare, lambda folder, _: ["run", "--resume", folder / "out"], (0, 1, 2, 3))
