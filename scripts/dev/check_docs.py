#!/usr/bin/python3
"""Checks the documents: README.md is short, lines fit a screen, links resolve, files that are named exist.

    scripts/dev/check_docs.py [ROOT]      ROOT: default the repository's root

Looks at every *.md file that git tracks or would track, apart from tables that commands write. README.md has at most 120 lines. No line has more than 120
columns, apart from tables, fenced code and lines whose excess is a link or URL. Every relative link names a file or
folder that exists, and, if the link has a #fragment, one of its headings. A source file that is named in `code`, by its
whole path or by the end of it, exists, and so does everything that is named by a path from the root; apart from
placeholders (<op>, *, EXAMPLES) and what git ignores. Each error is printed as FILE:LINE: WHAT; the exit code is 1 if
there is one, 2 if there are no files to look at.
"""
import pathlib
import re
import subprocess
import sys
import urllib.parse

MOST_LINES = {"README.md": 120}
MOST_COLUMNS = 120
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
URL = re.compile(r"<?https?://\S+")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
INLINE_CODE = re.compile(r"(`+)(?:(?!\1).)*\1")
# A name in code, and what makes it a pattern or a part of a longer path instead.
NAME = re.compile(r"(?<![\w./$<>{}*:@~-])[\w.][\w./-]*(?![\w/<>{}*@$(-])")
SOURCE = re.compile(r"\.(cpp|h|comp|glslh|sh|py|cmake|js|css|in)$")
# Names in examples: files that a reader will make; and scripts of other projects.
EXAMPLES = {"x", "x_test", "scaled_relu", "NAME"}
ELSEWHERE = {"compare.py", "tools/compare.py"}
# What commands print, in a folder of its own.
NOT_ABOUT_THIS_TREE = {"docs/walks.md"}
# What commands write, with wide lines and pieces of code.
WRITTEN_BY_COMMANDS = {"reports/published/faults/faults.md"}


def documents(root):
    """Paths of the Markdown files below root, relative to it."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                             "--", "*.md"], check=True, capture_output=True).stdout
    names = sorted(set(filter(None, listed.decode().split("\0"))) - WRITTEN_BY_COMMANDS)
    return [pathlib.Path(name) for name in names if (root / name).is_file()]


def prose(text):
    """Yields (number, line) for the lines outside fenced blocks."""
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        marker = FENCE.match(line)
        if fence is None and marker:
            fence = marker.group(1)
        elif fence is not None:
            if marker and marker.group(1).startswith(fence) and line.strip() == marker.group(1):
                fence = None
        else:
            yield number, line


def anchors(text):
    """The fragments by which the headings of a document can be linked to, as GitHub makes them."""
    found, counts = set(), {}
    for _, line in prose(text):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if not heading:
            continue
        words = LINK.sub(lambda link: link.group(0).split("](")[0].lstrip("!["), heading.group(1))
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        again = counts.get(slug, 0)
        counts[slug] = again + 1
        found.add(f"{slug}-{again}" if again else slug)
    return found


def fault_of_link(root, document, target):
    """The reason why a link does not resolve, or None."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target):
        return None  # a URL: no check may depend on the network
    path_text, _, fragment = target.partition("#")
    path = root / document
    if path_text:
        path = (root / document.parent / urllib.parse.unquote(path_text)).resolve()
        if not path.exists():
            return f"link to '{target}': there is no such file or folder"
        if not path.is_relative_to(root):
            return f"link to '{target}' leaves the repository"
    if fragment and path.suffix == ".md" and fragment not in anchors(path.read_text(encoding="utf-8")):
        return f"link to '{target}': '{path.relative_to(root)}' has no heading of that name"
    return None


class Tree:
    """What can be named: files that git tracks or would track, and their folders."""

    def __init__(self, root):
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                check=True, capture_output=True).stdout.decode()
        self.root = root
        self.paths = {name for name in listed.split("\0") if name and (root / name).exists()}
        self.tops = {name.split("/")[0] for name in self.paths if "/" in name}
        self.paths |= {str(folder) for name in self.paths for folder in pathlib.PurePosixPath(name).parents}
        self.ends = {"/".join(parts[at:]) for parts in (name.split("/") for name in self.paths)
                     for at in range(len(parts))}

    def is_ignored(self, name):
        return subprocess.run(["git", "-C", str(self.root), "check-ignore", "-q", name]).returncode == 0

    def fault_of_name(self, name):
        """The reason why a name in code stands for nothing, or None."""
        name = name.rstrip("./").removeprefix("./")
        if pathlib.PurePosixPath(name).stem in EXAMPLES or name in ELSEWHERE or name in self.paths:
            return None
        if "/" in name and name.split("/")[0] in self.tops:
            return None if name in self.ends or self.is_ignored(name) else f"'{name}': there is no such file or folder"
        if SOURCE.search(name) and not name.startswith((".", "/")) and name not in self.ends:
            return f"'{name}': no file's path ends so"
        return None


def named_in(text, document):
    """Yields (number, name) for the names in a document's code."""
    if str(document) in NOT_ABOUT_THIS_TREE:
        return
    lines_of_prose = dict(prose(text))
    for number, line in enumerate(text.splitlines(), start=1):
        in_prose = number in lines_of_prose
        for code in (match.group(0).strip("`") for match in INLINE_CODE.finditer(line)) if in_prose else [line]:
            for match in NAME.finditer(code):
                # In a block, a file's bare name is more often the reader's own.
                if in_prose or "/" in match.group(0):
                    yield number, match.group(0)


def is_too_long(line):
    if len(line) <= MOST_COLUMNS or line.lstrip().startswith("|"):
        return False
    shortened = URL.sub("", LINK.sub(lambda link: link.group(0).replace(link.group(1), ""), line))
    return len(shortened) > MOST_COLUMNS


def faults_of(root, document, tree):
    text = (root / document).read_text(encoding="utf-8")
    most = MOST_LINES.get(str(document))
    lines = len(text.splitlines())
    if most is not None and lines > most:
        yield lines, f"{lines} lines, more than {most}: move what is new to docs/ and link to it"
    for number, line in prose(text):
        if is_too_long(line):
            yield number, f"{len(line)} columns, more than {MOST_COLUMNS}"
        for link in LINK.finditer(INLINE_CODE.sub(lambda code: " " * len(code.group(0)), line)):
            if fault := fault_of_link(root, document, link.group(1)):
                yield number, fault
    for number, name in named_in(text, document):
        if fault := tree.fault_of_name(name):
            yield number, fault


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
    checked = documents(root)
    if not checked:
        print(f"{root}: no Markdown file to look at", file=sys.stderr)
        return 2
    tree = Tree(root)
    faults = [(document, number, what) for document in checked for number, what in faults_of(root, document, tree)]
    for document, number, what in faults:
        print(f"{document}:{number}: {what}", file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
