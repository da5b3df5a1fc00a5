#!/usr/bin/python3
"""Runs the commands of docs/walks.md and compares their output with the document.

    scripts/docs/walks.py [--check] [--document FILE] [--assay FILE]
        --check     writes nothing; exit code 1 if the output of a command differs from the document
        --document  default docs/walks.md
        --assay     default build/release/assay

A fenced block ```console is a session: a line "$ COMMAND" (which continues after a backslash at its end), then the
command's output on stdout and stderr. Commands run with bash in a temporary folder, with `assay` in their PATH. The
folder has `reports/`, the published reports; `nights/`, a farm's week that scripts/docs/walks_week.py makes from one of them;
and the tree's `shaders/` and `cases/`.
Without --check the output in the document is replaced by the current output. A comment <!-- walk: figures vary -->
before a block allows its numbers to differ: for commands that measure.
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?P<head>(?P<vary><!-- walk: figures vary -->\n\n?)?```console\n)(?P<body>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
LIMIT_S = 120


def commands_of(body):
    """The commands of a session, each as its lines in the document."""
    commands, lines = [], iter(body.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            continue
        command = [line]
        while command[-1].endswith("\\"):
            command.append(next(lines))
        commands.append(command)
    return commands


def printed_by(command, folder, assay):
    """The output of a command."""
    text = "\n".join([command[0][2:], *command[1:]])
    environment = {**os.environ, "PATH": f"{assay.parent}:{os.environ['PATH']}", "NO_COLOR": "1", "TZ": "UTC"}
    ran = subprocess.run(["bash", "-c", text], cwd=folder, env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False)
    return ran.stdout.replace(str(folder) + "/", "")


def session(body, folder, assay):
    """The session with the current output of its commands."""
    lines = []
    for command in commands_of(body):
        lines += command + [line.rstrip() for line in printed_by(command, folder, assay).splitlines()] + [""]
    return "\n".join(lines[:-1]) + "\n"


def without_figures(text):
    """The text with numbers as '#', and the blanks that align them as one."""
    return re.sub(r"[ \t]+", " ", re.sub(r"\d+(\.\d+)?", "#", text))


def walked(text, folder, assay):
    """The document with the current output; a block in which only figures differ stays as it is."""
    def block(match):
        printed = session(match["body"], folder, assay)
        if match["vary"] and without_figures(printed) == without_figures(match["body"]):
            printed = match["body"]
        return match["head"] + printed + "```"
    return BLOCK.sub(block, text)


def prepare(folder, assay):
    shutil.copytree(ROOT / "reports" / "published", folder / "reports")
    for tree in ("shaders", "cases"):
        (folder / tree).symlink_to(ROOT / tree)
    subprocess.run([ROOT / "scripts/docs/walks_week.py", folder / "reports" / "nvidia-h200", folder / "nights", assay],
                   check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--document", type=pathlib.Path, default=ROOT / "docs" / "walks.md")
    parser.add_argument("--assay", type=pathlib.Path, default=ROOT / "build" / "release" / "assay")
    options = parser.parse_args()
    assay = options.assay.resolve()
    if not assay.is_file():
        print(f"{assay}: there is no such file; build assay first, or name it with --assay", file=sys.stderr)
        return 2
    said = options.document.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        prepare(folder, assay)
        now = walked(said, folder, assay)
    if now == said:
        return 0
    if not options.check:
        options.document.write_text(now, encoding="utf-8")
        return 0
    sys.stderr.writelines(difflib.unified_diff(said.splitlines(True), now.splitlines(True), str(options.document),
                                               "output of the commands"))
    print(f"{options.document} differs from the output of its commands: run scripts/docs/walks.py", file=sys.stderr)
    return 1


sys.exit(main())
