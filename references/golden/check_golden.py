#!/usr/bin/python3
"""Recomputes the outputs of golden vectors from their stored inputs and parameters, and reports what differs.

Without arguments all archives next to this script are checked. The formulas are written in NumPy (formulas.py); where
PyTorch can be imported, its own functions are run as well (torch_functions.py), unless `--no-torch` is given. Integers
that differ by one where the value before rounding lies within 1e-5 of a tie are flips, which are counted separately:
the vectors and the formulas do not always round in the same precision. float64 sums may differ by the rounding errors
of another order of additions.

Exit codes: 0 no differences, 1 differences, 2 usage.
"""
import argparse
import pathlib
import sys

import golden_archive  # first: it says what to install where NumPy is missing
import numpy as np
from formulas import FORMULAS

TIE = 1e-5
SHOWN = 5  # differing elements of a tensor


class Tally:
    """The values compared for one op, and the differences found."""

    def __init__(self):
        self.vectors = self.values = self.flips = self.differences = 0
        self.places = []  # one line each

    def differs(self, place, count=1):
        self.differences += count
        self.places.append(place)


def near_tie(unrounded):
    return np.abs(unrounded - np.floor(unrounded) - 0.5) < TIE


def flips_of(stored, computed, unrounded):
    """The places where integers differ by one next to a tie."""
    if unrounded is None or stored.dtype.kind not in "iu":
        return np.zeros(stored.shape, bool)
    apart = np.abs(stored.astype(np.int64) - computed.astype(np.int64))
    return (apart == 1) & near_tie(unrounded)


def within_error(stored, computed, error):
    return np.zeros(stored.shape, bool) if error is None else np.abs(stored - computed) <= error


def compare(tally, place, stored, computed, formula):
    """Compares one output. `formula` gives what it may differ by: its values before rounding, and its error."""
    unrounded = formula.unrounded
    tally.values += stored.size
    if (stored.dtype, stored.shape) != (computed.dtype, computed.shape):
        tally.differs(f"{place}: stored {stored.dtype} {stored.shape}, recomputed {computed.dtype} {computed.shape}")
        return
    differs = ~((stored == computed) | ((stored != stored) & (computed != computed)))  # NaN equals NaN
    differs &= ~within_error(stored, computed, formula.error)
    flips = differs & flips_of(stored, computed, unrounded)
    tally.flips += int(flips.sum())
    where = np.argwhere(differs & ~flips)
    if not len(where):
        return
    for index in where[:SHOWN]:
        element = tuple(int(i) for i in index)
        before = f", {unrounded[element]:.9g} before rounding" if unrounded is not None else ""
        tally.places.append(f"{place}{list(element)}: stored {stored[element]}, recomputed {computed[element]}{before}")
    if len(where) > SHOWN:
        tally.places.append(f"{place}: {len(where) - SHOWN} more elements")
    tally.differences += len(where)


def compare_outputs(tally, place, vector, outputs, by_formula):
    """Compares `outputs`, the arrays of a vector by name; the formula must give all of them."""
    tally.vectors += 1
    for name, computed in outputs.items():
        compare(tally, f"{place} {name}", vector.tensors[name], computed, by_formula[name])


def check_vector(tally, place, vector, outputs):
    if set(vector.tensors) != set(vector.inputs) | set(vector.outputs):
        tally.differs(f"{place}: it holds {sorted(vector.tensors)}, its manifest names "
                      f"{sorted(vector.inputs + vector.outputs)}")
    elif set(outputs) != set(vector.outputs):
        tally.differs(f"{place}: its outputs are {sorted(vector.outputs)}, the formula gives {sorted(outputs)}")
    else:
        compare_outputs(tally, place, vector, {name: output.values for name, output in outputs.items()}, outputs)


def recompute(tally, place, vector):
    """The formula's outputs, or None where the vector does not fit the formula, which counts as a difference."""
    try:
        return FORMULAS[vector.op](vector)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        tally.differs(f"{place}: it does not fit the formula of {vector.op}: {error!r}")
        return None


class Report:
    """The tallies of all archives: by op for the formulas, by op and function for PyTorch."""

    def __init__(self, torch_functions):
        self.formulas, self.torch, self.not_recomputed = {}, {}, {}
        self.torch_functions = torch_functions

    def check_archive(self, path):
        for vector in golden_archive.vectors_of(path):
            place = f"{path.stem}/{vector.name}"
            if vector.op not in FORMULAS:
                self.not_recomputed[path.stem] = self.not_recomputed.get(path.stem, 0) + 1
                continue
            tally = self.formulas.setdefault(path.stem, Tally())
            outputs = recompute(tally, place, vector)
            if outputs is not None:
                check_vector(tally, place, vector, outputs)
                self.check_with_torch(path.stem, place, vector, outputs)

    def check_with_torch(self, op, place, vector, by_formula):
        for name, function in self.torch_functions.get(vector.op, []):
            outputs = function(vector)
            if outputs is not None:
                tally = self.torch.setdefault(f"{op}, {name}", Tally())
                compare_outputs(tally, place, vector, outputs, by_formula)

    def differences(self):
        return sum(tally.differences for tally in (*self.formulas.values(), *self.torch.values()))

    def print(self, torch_version):
        print_tallies("NumPy " + np.__version__, self.formulas)
        if self.torch:
            print_tallies(f"PyTorch {torch_version}", self.torch)
        elif torch_version:
            print(f"PyTorch {torch_version} has no function for these vectors")
        else:
            print("PyTorch's functions were not run: it cannot be imported, or --no-torch was given")
        for op, vectors in self.not_recomputed.items():
            print(f"Not recomputed: {op}, {vectors} vectors; formulas.py has no formula for it")
        print(f"Differences: {self.differences()}")


def print_tallies(title, tallies):
    width = max([len(title), *map(len, tallies)])
    print(f"{title:<{width}}  {'vectors':>7}  {'values':>7}  {'flips':>5}  {'differences':>11}")
    for name, tally in tallies.items():
        print(f"{name:<{width}}  {tally.vectors:>7}  {tally.values:>7}  {tally.flips:>5}  {tally.differences:>11}")
        for place in tally.places:
            print("  " + place)
    print()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="*", type=pathlib.Path, metavar="OP.npz")
    parser.add_argument("--no-torch", action="store_true", help="use NumPy only")
    options = parser.parse_args(arguments)
    archives = options.archives or sorted(pathlib.Path(__file__).resolve().parent.glob("*.npz"))
    functions, version = {}, None
    if not options.no_torch:
        import torch_functions  # here, since importing PyTorch takes a second
        functions, version = torch_functions.functions_by_op(), torch_functions.VERSION
    report = Report(functions)
    try:
        with np.errstate(all="ignore"):  # the vectors hold NaN, infinities and rows of zeros on purpose
            for path in archives:
                report.check_archive(path)
    except golden_archive.GoldenError as error:
        parser.error(str(error))
    report.print(version)
    return 1 if report.differences() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
