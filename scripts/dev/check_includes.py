#!/usr/bin/python3
"""Checks the arrows between files: no component (x.h and x.cpp) and no folder may depend on itself through others.

A cycle inside a module hides from the linker: its files cannot be read, tested or moved one by one. Folders that
share a target, as the families of ops/ do, could form one too.
Prints each cycle and exits with 1; 0 when there is none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("harness", "ops", "references", "tests")
INCLUDE = re.compile(r'^#include "([\w/]+\.h)"', re.MULTILINE)


def component(path):
    return str(path).rsplit(".", 1)[0]


def arrows():
    """Component -> components that its files include."""
    graph = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp") or path.name.endswith("_test.cpp"):
                continue
            name = component(path.relative_to(ROOT))
            includes = {component(header) for header in INCLUDE.findall(path.read_text())}
            graph.setdefault(name, set()).update(includes - {name})
    return graph


def path_back(graph, start):
    """The shortest way from `start` to itself, or None."""
    ways = [[start]]
    seen = set()
    for way in ways:
        for target in sorted(graph.get(way[-1], ())):
            if target == start:
                return way + [start]
            if target not in seen:
                seen.add(target)
                ways.append(way + [target])
    return None


def arrows_of_folders(graph):
    """Folder -> folders that its files include; tests may include what they like."""
    folders = {}
    for name, targets in graph.items():
        if name.endswith("_test_support") or name.startswith("tests/"):
            continue
        folder = name.rpartition("/")[0]
        folders.setdefault(folder, set()).update({target.rpartition("/")[0] for target in targets} - {folder})
    return folders


def cycles_in(graph):
    cycles = {}
    for name in sorted(graph):
        way = path_back(graph, name)
        if way:
            cycles.setdefault(frozenset(way), way)
    return list(cycles.values())


def main():
    graph = arrows()
    if not graph:
        sys.exit("check_includes: no source files found below " + str(ROOT))
    cycles = cycles_in(graph) + cycles_in(arrows_of_folders(graph))
    for way in cycles:
        print("include cycle: " + " -> ".join(way))
    return 1 if cycles else 0


if __name__ == "__main__":
    sys.exit(main())
