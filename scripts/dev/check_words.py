#!/usr/bin/python3
"""Finds phrases that are not plain English, in Markdown and in the comments and strings of sources.

    scripts/dev/check_words.py [ROOT]      ROOT: default the repository's root

Looks at the Markdown, C++, GLSL, shell and Python files that git tracks or would track, apart from what is generated or
published. A phrase is found in any case, across the line breaks of a paragraph or comment, and across a string that is
split over several lines. Each match is printed as FILE:LINE: WHAT; the exit code is 1 if there is any, 2 where there is
no file to look at. All phrases have blanks or hyphens, so identifiers never match.
"""
import bisect
import pathlib
import re
import subprocess
import sys

# Phrase -> what to write instead. Only phrases that are wrong wherever they stand: a word that is right in some
# sentences does not belong in this table.
INSTEAD = {
    "gone on with": "resumed",
    "goes on with": "resumes, continues",
    "go on with": "resume, continue",
    "going on with": "resuming, continuing",
    "held against": "compared with",
    "hold against": "compare with",
    "holds against": "compares with",
    "so many of": "N of, this many of",
    "so many tenths": "that many tenths",
    "so-manyth": "N-th",
    "take turns": "alternate",
    "takes turns": "alternates",
    "took turns": "alternated",
    "taking turns": "alternating",
    "process a device": "one process per device",
    "belongs into": "belongs in",
    "belong into": "belong in",
    "is for nobody": "is unused",
    "by somebody": "by another user, by another process",
    "nobody's concern": "not used",
    "no matter of": "independent of",
    "comes to its end": "ends, finishes",
    "come to its end": "end, finish",
    "came to its end": "ended, finished",
    "what is told": "what is reported",
    "nothing is told": "nothing is reported",
    "says nothing of": "says nothing about",
    "behind each other": "after each other, appended",
    "behind one another": "after one another",
    "that never were": "invented, synthetic",
}
ENDINGS = {".md", ".cpp", ".h", ".comp", ".glslh", ".sh", ".py"}
OTHER_SOURCES = {".ci/run"}
# This file and its test name the phrases; walks.md is what commands print.
LEFT_OUT = {"docs/walks.md", "scripts/dev/check_words.py", "tests/support/check_words_test.py"}
LEFT_OUT_FOLDERS = ("reports/published/",)
PHRASE = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(INSTEAD, key=len, reverse=True))) + r")(?![\w-])",
                    re.IGNORECASE)
# What stands before and after a line's words: comment markers, quotes of a string that is split, Markdown's quotes.
BEFORE = re.compile(r"^\s*(?:///?<?|/?\*+|#+(?!\w)|>)?\s*(?:[a-zA-Z]{0,2}\")?")
AFTER = re.compile(r"(?:\\n)?\"?\s*\\?\s*$")


def files_of(root):
    """Paths of the files to look at, relative to root."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True).stdout
    for name in sorted(set(filter(None, listed.decode().split("\0")))):
        path = pathlib.PurePosixPath(name)
        if path.suffix not in ENDINGS and name not in OTHER_SOURCES:
            continue
        if name in LEFT_OUT or name.startswith(LEFT_OUT_FOLDERS) or "testdata" in path.parts:
            continue
        if (root / name).is_file():
            yield name


def matches_of(text):
    """(line number, phrase) of each match."""
    words, starts = "", []
    for line in text.splitlines():
        starts.append(len(words))
        bare = AFTER.sub("", BEFORE.sub("", line))
        # An empty line ends a paragraph: no phrase reaches across it.
        words += re.sub(r"\s+", " ", bare).strip() + " " if bare.strip() else "\n"
    for match in PHRASE.finditer(words):
        yield bisect.bisect_right(starts, match.start()), match.group(0).lower()


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
    names = list(files_of(root))
    if not names:
        print(f"{root}: no file to look at", file=sys.stderr)
        return 2
    found = False
    for name in names:
        for number, phrase in matches_of((root / name).read_text(encoding="utf-8", errors="replace")):
            found = True
            print(f"{name}:{number}: '{phrase}'; instead: {INSTEAD[phrase]}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
