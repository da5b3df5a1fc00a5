#!/usr/bin/python3
"""Makes the tries of run.sh: starts the binary, and prints for each kind of input how many tries misbehaved."""
import argparse
import os
import shutil
import signal
import sys
import time

import inputs
import kills
import surroundings
from tries import Tries

# By name: what makes the tries, and for tries that are drawn at random their number in the short and the long form.
KINDS = {
    "yaml": (inputs.yaml, 100, 4000), "include": (inputs.include, 40, 800),
    "expectations": (inputs.expectations, 30, 500), "npy": (inputs.npy, 60, 1500), "npz": (inputs.npz, 40, 800),
    "model": (inputs.model, 60, 800),
    "journal": (inputs.journals, 100, 3000), "zst": (inputs.zst, 40, 800), "history": (inputs.history, 40, 500),
    "night": (inputs.night, 30, 400), "noise": (inputs.noise, 30, 400), "worker": (inputs.workers, 30, 400),
    "cache": (inputs.caches, 6, 60), "resume": (inputs.resumed, 4, 60),
    "kill": (kills.kills, 24, 1000), "signal": (kills.signals, 4, 60), "robbed": (kills.robbed, 0, 0),
    "shader": (surroundings.shaders, 0, 0), "submission": (surroundings.submissions, 0, 0),
    "descriptor": (surroundings.descriptors, 0, 0), "folder": (surroundings.folders, 0, 0),
    "sent": (surroundings.sent, 0, 0), "special": (surroundings.special, 0, 0), "limit": (surroundings.limits, 0, 0),
}


def options_of():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="14,000 inputs and 1,000 kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="tries of a kind that run side by side")
    parser.add_argument("--binary", default="build/release/assay")
    parser.add_argument("--only", action="append", choices=tuple(KINDS), help="one kind (repeatable)")
    parser.add_argument("--count", type=int, help="number of tries of each kind that is drawn at random")
    return parser.parse_args()


def main():
    options = options_of()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # runs would ignore it as well if whoever started this does (nohup)
    counts = {kind: options.count or (long if options.long else short) for kind, (_, short, long) in KINDS.items()}
    began, cpu = time.monotonic(), sum(os.times()[:4])
    tries = Tries(options, counts)
    try:
        for kind in options.only or KINDS:
            KINDS[kind][0](tries)
        tries.show()
    finally:
        shutil.rmtree(tries.folder, ignore_errors=True)
    print(f"{tries.misbehaved} misbehaved in {time.monotonic() - began:.0f} s, {sum(os.times()[:4]) - cpu:.0f} s of CPU"
          + (f"; see {tries.kept}" if tries.misbehaved else ""))
    sys.exit(tries.misbehaved > 0)


if __name__ == "__main__":
    main()
