#!/usr/bin/python3
"""Formats the GLSL sources with clang-format and shaders/.clang-format: all that git tracks, or the files named.

clang-format reads GLSL as C++, which it is but for interface blocks: it takes `layout(...) uniform Push {` for a
function and breaks the line before the block's name. So blocks look like structs of equal length while it formats.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STYLE = ROOT / "shaders" / ".clang-format"
BLOCK = re.compile(r"^layout\([^()]*\)[\w ]* (?:uniform|buffer) \w+(?= \{$)", re.MULTILINE)


def formatted(text, clang_format):
    """`text` as clang-format writes it. Raises CalledProcessError where that fails."""
    heads = []

    def as_struct(match):
        heads.append(match.group())
        return f"struct block_{len(heads) - 1}_".ljust(len(match.group()), "_")

    disguised = BLOCK.sub(as_struct, text)
    command = [clang_format, f"--style=file:{STYLE}", "--assume-filename=x.cpp"]
    output = subprocess.run(command, input=disguised, capture_output=True, text=True, check=True).stdout
    return re.sub(r"struct block_(\d+)_+", lambda match: heads[int(match.group(1))], output)


def tracked_files():
    command = ["git", "ls-files", "*.comp", "*.glslh"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    # Text that tests embed and expect to be what it is.
    return [ROOT / name for name in listed.stdout.split() if "/testdata/embed/" not in name]


def main():
    parser = argparse.ArgumentParser(description="Formats GLSL sources.")
    parser.add_argument("files", nargs="*", type=Path, help="default: all that git tracks")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 where a file would change")
    parser.add_argument("--clang-format", default="clang-format-14", help="the program (default: %(default)s)")
    arguments = parser.parse_args()
    changed = False
    for file in arguments.files or tracked_files():
        before = file.read_text(encoding="utf-8")
        after = formatted(before, arguments.clang_format)
        if after == before:
            continue
        changed = True
        print(f"{file}: not formatted: run scripts/dev/format_glsl.py" if arguments.check else f"formatted {file}")
        if not arguments.check:
            file.write_text(after, encoding="utf-8")
    return 1 if changed and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
