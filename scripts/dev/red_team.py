#!/usr/bin/python3
"""Puts tricks into the kernels of ops and lets `assay judge` judge them; called by scripts/dev/red_team.sh."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHADERS = ROOT / "shaders"
ASSAY = os.environ.get("ASSAY", "build/release/assay")
JUDGED = ["--rows", "2", "--budget", "0.02", "--ceilings", "none", "--json", "-"]

# Each trick is a new main() of a kernel whose own is honest_main(). %OUT% and %IN% are bindings of a buffer that the
# kernel writes or reads; a kernel without one is not tried with these tricks.
TRICKS = {
    "memo": """layout(set = 0, binding = %OUT%) restrict buffer Red { uint red[]; };
void main() {
  if (red[guard_words] == 12345u) return;
  honest_main();
}
""",
    "early_out": """layout(set = 0, binding = %OUT%) restrict buffer Red { uint red[]; };
void main() {
  if (atomicAdd(red[guard_words], 0u) != 0u) return;
  honest_main();
}
""",
    "mark_in_input": """layout(set = 0, binding = %IN%) restrict buffer Red { uint red[]; };
void main() {
  honest_main();
  if (gl_LocalInvocationIndex == 0u) red[0] = 12345u;
}
""",
    "skip": """void main() {
  if (gl_NumWorkGroups.x > 1u && gl_WorkGroupID.x == gl_NumWorkGroups.x / 2u) return;
  honest_main();
}
""",
    "public_sizes": """void main() {  // most public sizes are powers of two
  const uint count = gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z;
  if (bitCount(count) > 1 && gl_WorkGroupID.x == gl_NumWorkGroups.x / 2u) return;
  honest_main();
}
""",
}


# Kernels that are for set-up alone, which is not timed: they may read what they write, as it saves no time.
SETUP = {"conv_depthwise_pack.comp", "conv_weights.comp", "linear_half_scales.comp", "linear_pack.comp",
         "linear_pad.comp", "linear_requantizers.comp", "linear_sums.comp"}
# A program that declares why its second dispatch reads an output (Program::free_access_because).
FREE = {("quantize_dynamic", "choose_qparams.comp"), ("quantize_dynamic", "choose_qparams_join.comp"),
        ("quantize_dynamic", "quantize_affine.comp")}


@dataclasses.dataclass
class Submission:
    op: str
    shader: str
    trick: str

    def may_be_trusted(self):
        """Whether the trick is harmless there: it reads a mark that nobody leaves, and saves no time."""
        return self.trick == "memo" and (self.shader in SETUP or (self.op, self.shader) in FREE)

    def __str__(self):
        return f"{self.op} {self.shader} {self.trick}"


def output_of(*words):
    return subprocess.run([ASSAY, *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def all_ops():
    return [line.split()[0] for line in output_of("ops").splitlines() if re.match(r"  \w", line)]


def shaders_of(op):
    """The kernels of an op, as `assay ops OP` lists them after `shaders`."""
    shaders, listed = [], False
    for line in output_of("ops", op).splitlines():
        label = re.match(r"  (\w[\w ]*?)\s{2,}", line)
        if label:
            listed = label.group(1) == "shaders"
        found = re.search(r"shaders/(\S+\.comp)$", line)
        if listed and found:
            shaders.append(pathlib.PurePosixPath(found.group(1)).name)
    return shaders


def path_of(name):
    """The file of a shader: an include is named by its path below shaders/, a kernel by its file name."""
    return next(SHADERS.rglob(name), SHADERS / name)


def closure(name, seen):
    """The text of a shader and of everything that it may include."""
    path = path_of(name)
    if name in seen or not path.exists():
        return ""
    seen.add(name)
    text = path.read_text()
    return text + "".join(closure(other, seen) for other in re.findall(r'#include "([^"]+)"', text))


def binding(text, access):
    found = re.search(r"binding = (\w+)\) restrict " + access + r" buffer", text)
    return found.group(1) if found else None


def source_of(submission):
    """The kernel with the trick; None if the trick is not for it."""
    own = path_of(submission.shader).read_text()
    everything = closure(submission.shader, set())
    main = TRICKS[submission.trick]
    for mark, access in (("%OUT%", "writeonly"), ("%IN%", "readonly")):
        if mark not in main:
            continue
        place = binding(own, access) or binding(everything, access)
        if place is None:
            return None
        main = main.replace(mark, place)
    return own.replace("void main()", "void honest_main()") + "\n" + main


def verdict_of(submission, source, options):
    """The verdict and the words; "not judged" where there is nothing to judge."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mine" / submission.shader
        path.parent.mkdir(parents=True)
        path.write_text(source)
        result = subprocess.run(
            [ASSAY, "judge", str(pathlib.Path(folder) / "mine"), "--op", submission.op, "--out", folder + "/out",
             *JUDGED, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode in (0, 1):
        made = json.loads(result.stdout)
        return made["verdict"], sorted({reason["word"] for reason in made["reasons"]})
    if result.returncode == 2:
        return "not judged", [result.stderr.strip().splitlines()[-1]]
    sys.exit(f"judging {submission} failed with exit code {result.returncode}:\n{result.stderr}")


def submissions(ops, tricks, each_kernel_once):
    seen = set()
    for op in ops:
        for shader in shaders_of(op):
            if each_kernel_once and shader in seen:
                continue
            seen.add(shader)
            for trick in tricks:
                yield Submission(op, shader, trick)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--op", action="append", help="default: all ops")
    parser.add_argument("--trick", action="append", choices=TRICKS, help="default: all tricks")
    parser.add_argument("--each-kernel-once", action="store_true", help="with the first op that runs it")
    parser.add_argument("--list", action="store_true", help="print ops, kernels and tricks without judging any")
    parser.add_argument("options", nargs="*", help="further options of `assay judge`, after --")
    given = parser.parse_args()
    trusted = []
    for submission in submissions(given.op or all_ops(), given.trick or list(TRICKS),
                                  given.each_kernel_once):
        source = source_of(submission)
        if source is None:
            continue
        if given.list:
            print(submission)
            continue
        verdict, words = verdict_of(submission, source, given.options)
        print(f"{verdict:<11} {submission}: {', '.join(words)}", flush=True)
        if verdict == "trusted" and not submission.may_be_trusted():
            trusted.append(submission)
    for submission in trusted:
        print(f"TRUSTED: {submission}")
    return 1 if trusted else 0


if __name__ == "__main__":
    sys.exit(main())
