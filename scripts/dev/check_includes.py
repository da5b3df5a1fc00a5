#!/usr/bin/python3
"""Checks the arrows between files: no component (x.h and x.cpp) and no folder may depend on itself through others.

A cycle inside a module hides from the linker: its files cannot be read, tested or moved one by one. Folders that
share a target, as the families of ops/ do, could form one too. A module with an interface (INTERFACES) is included
by others through it alone: its remaining headers are its own. Tests may include any.
Prints each violation and exits with 1; 0 when there is none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("harness", "ops", "references", "tests")
# Module -> its headers for other modules. What they declare is all that those may know of it.
INTERFACES = {
    "harness/chain/planner": {"harness/chain/planner/planner", "harness/chain/planner/plan"},
    "harness/gpu": {"harness/gpu/gpu", "harness/gpu/shaders/shader_sources", "harness/gpu/spirv/spirv_optimized"},
    "harness/mutation": {"harness/mutation/faults"},
    "harness/commands/fuzz": {"harness/commands/fuzz/fuzz"},
    "harness/commands/judge": {"harness/commands/judge/judge", "harness/commands/judge/options"},
    "harness/commands/mutate": {"harness/commands/mutate/mutate", "harness/commands/mutate/options",
                                "harness/commands/mutate/fault_page", "harness/commands/mutate/trial_worker"},
    "harness/commands/new_op": {"harness/commands/new_op/new_op"},
}
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


def around_interfaces(graph):
    """(file, header) where a file of another module includes a header that is a module's own."""
    found = []
    for name, targets in graph.items():
        if name.endswith("_test_support") or name.startswith("tests/"):
            continue
        for module, interface in INTERFACES.items():
            if not name.startswith(module + "/"):
                found += [(name, target) for target in sorted(targets - interface)
                          if target.startswith(module + "/")]
    return found


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
    strangers = around_interfaces(graph)
    for name, header in strangers:
        print(f"{name} includes {header}.h, which only its own module may include")
    return 1 if cycles or strangers else 0


if __name__ == "__main__":
    sys.exit(main())
