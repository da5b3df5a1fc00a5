#!/usr/bin/python3
"""Names the test executables that a change can affect: `affected_tests.py PRESET [BASE]`, one per line.

The change is the difference between the merge base with BASE (default: main) and the working tree, with new files.
Sources are looked up in Ninja's graph: the inputs of an executable and of the programs that it starts, with the headers
that the compiler recorded in the last build. Files that tests read when they run are in the table READ below. A file
that is in neither affects all tests: "all" is printed then. Nothing is printed if no test is affected.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Files that tests read when they run, and the executables that do. The first pattern that matches counts.
READ = [
    (r"^cases/", "commands_judge_test commands_test cases_test cli_test new_op_test new_op_tree_test ops_test seeded_faults_test"),
    (r"^shaders/.*\.md$", ""),
    (r"^shaders/", "cheats_test example_test faults_test gpu_test new_op_tree_test ops_test seeded_faults_test"),
    (r"^tuning/.*\.yaml$", "commands_test cli_test"),
    (r"^docs/ops\.md$", "new_op_tree_test ops_test"),
    (r"^docs/export\.md$", "commands_test cli_test"),
    (r"^reports/published/", "cli_test report_test"),
    (r"^tests/faults/(seeded|diagnosed)/", "seeded_faults_test"),
    (r"^tests/cheats/", "cheats_test"),
    (r"^tests/faults/", "faults_test example_test"),
    (r"^tests/example/", "example_test"),
    (r"^tests/support/testdata/", "ops_test"),
    (r"^references/golden/", "references_test"),
    (r"^harness/gpu/testdata/", "gpu_test"),
    (r"^harness/report/", "report_test"),
    (r"^harness/cases/", "cases_test"),
    (r"^(docs/|tests/(farm|hostile|page|costs)|\.ci/|\.github/|scripts/(?!dev/test_shard))|\.md$", ""),
]


def output_of(*words):
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def changed_files(base):
    since = output_of("git", "merge-base", base, "HEAD").strip()
    return set(output_of("git", "diff", "--name-only", since).split("\n")
               + output_of("git", "ls-files", "--others", "--exclude-standard").split("\n")) - {""}


class Graph:
    """Ninja's graph of a build folder. Paths are relative to the folder, or absolute."""

    def __init__(self, build):
        self.build = build
        self.headers = self.noted_headers()

    def ninja(self, *words):
        return output_of("ninja", "-C", str(self.build), "-t", *words).split("\n")

    def noted_headers(self):
        headers, target = {}, None
        for line in self.ninja("deps"):
            if line.startswith("    "):
                headers[target].add(line.strip())
            elif ": #deps" in line:
                target = line.split(": #deps")[0]
                headers[target] = set()
        return headers

    def in_tree(self, path):
        """The path relative to the repository, or None for a file outside it or a built file."""
        whole = pathlib.Path(os.path.normpath(self.build / path))  # an absolute path stays as it is
        if not whole.is_relative_to(ROOT) or whole.is_relative_to(ROOT / "build"):
            return None
        return str(whole.relative_to(ROOT))

    def tests(self):
        """Pairs of a test executable and its target."""
        for line in self.ninja("targets", "all"):
            if found := re.match(r"(\S*?([^/\s]+_test)): CXX_EXECUTABLE_LINKER", line):
                yield found[2], found[1]

    def files_of(self, target):
        """Files of the repository that a target is made of, and those of the programs that it starts."""
        files = set()
        for one in self.ninja("inputs", target):
            files.add(one)
            files |= self.headers.get(one, set())
        return {self.in_tree(file) for file in files if file} - {None}


def main():
    preset, base = sys.argv[1], (sys.argv[2:] or ["main"])[0]
    graph = Graph(ROOT / "build" / preset)
    files_of = {name: graph.files_of(target) for name, target in graph.tests()}
    affected = set()
    for file in sorted(changed_files(base)):
        users = {name for name, files in files_of.items() if file in files}
        readers = next((tests.split() for pattern, tests in READ if re.search(pattern, file)), None)
        if readers is None and not users:
            print("all")
            return
        affected |= users | set(readers or [])
    print("\n".join(sorted(affected & files_of.keys())))


if __name__ == "__main__":
    main()
