#!/usr/bin/python3
"""Writes cases/chains/mobilenet_v2.yaml: the 52 convolutions and 10 additions of MobileNetV2 as a chain of int8 ops.

    scripts/cases/mobilenet_v2_chain.py                      writes the file
    scripts/cases/mobilenet_v2_chain.py --check              writes nothing; 1 if the file differs from what is written
    scripts/cases/mobilenet_v2_chain.py --spread             prints how tensors spread over int8; 1 if one is bad
    scripts/cases/mobilenet_v2_chain.py --spread FOLDER...   the same for the inputs of rows of `assay run --dump`

A tensor's scale and zero point follow from its spread in a reference of the net, which runs over DRAWS of weights,
scales, biases and images from the distributions of assay's fills. --spread shows other draws, and calls a tensor bad if
1 % of its values are at an end of int8 (zeros of a ReLU do not count) or if it has fewer than 16 distinct values. With
folders, the output of the reference must also equal the one that the device left there.
"""
import argparse
import pathlib
import sys
import zlib
from typing import NamedTuple

import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[2] / "cases" / "chains" / "mobilenet_v2.yaml"
# Expansion, channels, blocks and the first block's stride, as in Table 2 of "MobileNetV2: Inverted Residuals and Linear
# Bottlenecks" (Sandler et al., CVPR 2018).
GROUPS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
WHOLE, SMALL = (1, 3, 224, 224), (1, 3, 40, 56)
# Shapes of images and seeds.
DRAWS = [(WHOLE, seed) for seed in range(4)] + [(SMALL, seed) for seed in range(16)]
OTHER_DRAWS = [(WHOLE, 16), (WHOLE, 17), (SMALL, 16), (SMALL, 17)]

# The ranges of assay's fill `normal`: see harness/tensor/fill/fill.cpp, and ops/linear/tensors.cpp for the scales.
LEAST_W_SCALE = 2.0**-8  # the largest is two octaves above
BELL_END = 131070  # the sum of four 16-bit numbers less its mean is within +-BELL_END
BELL_DEVIATION = BELL_END / np.sqrt(12)

# Not -128, where clamping to int8 is a ReLU: a program that forgets the ReLU must give other values.
RELU_ZERO_POINT = -120
HEADROOM = 1.5  # a range divided by the spread in the draws: other draws spread further
MOST_SATURATED, LEAST_DISTINCT = 0.01, 16


class Node(NamedTuple):
    """A node of the chain; its output has its name."""
    name: str
    op: str
    inputs: dict  # from the op's tensors to the chain's
    channels: int  # of the output
    kernel: int = 1
    stride: int = 1
    relu: bool = False

    @property
    def is_add(self):
        return self.op == "q8ta_add"

    @property
    def is_depthwise(self):
        return self.op == "q8ta_conv2d_dw"

    @property
    def is_projection(self):
        return self.op == "q8ta_conv2d_pw" and not self.relu


class QParams(NamedTuple):
    """What an int8 value means: scale * (value - zero_point)."""
    scale: float
    zero_point: int


IMAGE = QParams(0.02, -4)


def block(number, x, channels_of_x, expansion, channels, stride):
    """The nodes of an inverted residual."""
    name, wide = f"block{number}_", expansion * channels_of_x
    nodes, last = [], x
    if expansion > 1:
        nodes.append(Node(name + "expand", "q8ta_conv2d_pw", {"x": x}, wide, relu=True))
        last = nodes[-1].name
    nodes.append(Node(name + "depthwise", "q8ta_conv2d_dw", {"x": last}, wide, 3, stride, relu=True))
    nodes.append(Node(name + "project", "q8ta_conv2d_pw", {"x": nodes[-1].name}, channels))
    if stride == 1 and channels == channels_of_x:
        nodes.append(Node(name + "add", "q8ta_add", {"a": nodes[-1].name, "b": x}, channels))
    return nodes


def net():
    """The nodes, each after those that it reads. Blocks are counted from 1."""
    nodes = [Node("first", "q8ta_conv2d", {"x": "image"}, 32, 3, 2, relu=True)]
    number = 0
    for expansion, channels, blocks, first_stride in GROUPS:
        for i in range(blocks):
            number += 1
            nodes += block(number, nodes[-1].name, nodes[-1].channels, expansion, channels, 1 if i else first_stride)
    return nodes + [Node("last", "q8ta_conv2d_pw", {"x": nodes[-1].name}, 1280, relu=True)]


class DrawnData:
    """Inputs from the distributions of assay's fill `normal`, each a function of the seed and the input's name."""

    def __init__(self, shape, seed):
        self._seed = seed
        self.image = self._integers("image", shape)

    def _random(self, name):
        """A RandomState, as its numbers never change between versions of numpy."""
        return np.random.RandomState([self._seed, zlib.crc32(name.encode())])

    def _bell(self, name, shape):
        return self._random(name).randint(0, 1 << 16, (4, *shape)).sum(axis=0) - BELL_END

    def _integers(self, name, shape):
        """A bell over int8 whose third standard deviation is at the ends."""
        three_sigma = int(3 * BELL_DEVIATION)
        place = np.clip(self._bell(name, shape), -three_sigma, three_sigma - 1) + three_sigma
        return (-128 + place * 256 // (2 * three_sigma)).astype(np.int8)

    def weights(self, node, shape):
        return self._integers(f"{node.name}.w", shape)

    def w_scale(self, node):
        """Either octave of the range, and uniform in it."""
        random = self._random(f"{node.name}.w_scale")
        octave = np.ldexp(LEAST_W_SCALE, random.randint(0, 2, node.channels))
        return octave * (1 + random.randint(0, 1 << 24, node.channels) * 2.0**-24)

    def bias(self, node):
        return self._bell(f"{node.name}.bias", (node.channels,)) / BELL_DEVIATION


class DumpedData:
    """The inputs of a row as `assay run --dump` wrote them."""

    def __init__(self, folder):
        self.folder = folder
        self.image = self._read("image")

    def _read(self, name):
        return np.load(self.folder / f"{name}.npy")

    def weights(self, node, _shape):
        return self._read(f"{node.name}.w")

    def w_scale(self, node):
        return self._read(f"{node.name}.w_scale")

    def bias(self, node):
        return self._read(f"{node.name}.bias")

    def output(self, name):
        return self._read(f"{name}.got")


def sums(node, x, w):
    """A convolution of integers, exact in float64. x: [C, H, W], less its zero point; w: [OC, C / groups, k, k]; zeros
    around x such that the output's sizes are those of x divided by the stride."""
    if node.kernel == 1:
        return np.tensordot(w[:, :, 0, 0], x, axes=1)
    height, width = (-(-size // node.stride) for size in x.shape[1:])
    x = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    total = np.zeros((node.channels, height, width))
    for i in range(3):
        for j in range(3):
            tap = x[:, i::node.stride, j::node.stride][:, :height, :width]
            one = w[:, :, i, j]
            total += one[:, :, None] * tap if node.is_depthwise else np.tensordot(one, tap, axes=1)
    return total


class Run:
    """The net over one set of data, node by node."""

    def __init__(self, data):
        self.data = data
        self.tensors = {"image": data.image[0]}

    def sums_of(self, node, qparams):
        """The integer sums of a convolution, less those of x's zero point."""
        x = self.tensors[node.inputs["x"]].astype(np.float64) - qparams[node.inputs["x"]].zero_point
        shape = (node.channels, 1 if node.is_depthwise else len(x), node.kernel, node.kernel)
        return sums(node, x, self.data.weights(node, shape).astype(np.float64))

    def real_values(self, node, parameters):
        """What a node quantizes. Steps are rounded to float32 as references/ says, to equal a device bit by bit."""
        return self._added(node, parameters.qparams) if node.is_add else self._convolved(node, parameters)

    def _convolved(self, node, parameters):
        constant = parameters.w_scales.get(node.name)
        w_scale = self.data.w_scale(node) if constant is None else np.full(node.channels, constant)
        factor = np.float32(parameters.qparams[node.inputs["x"]].scale) * w_scale.astype(np.float32)
        real = self.sums_of(node, parameters.qparams).astype(np.float32) * factor[:, None, None]
        real += self.data.bias(node).astype(np.float32)[:, None, None]
        return np.maximum(real, 0) if node.relu else real

    def _added(self, node, qparams):
        a, b = ((self.tensors[name].astype(np.float32) - np.float32(qparams[name].zero_point)) *
                np.float32(qparams[name].scale) for name in (node.inputs["a"], node.inputs["b"]))
        return a + b

    def store(self, node, real, qparams):
        steps = np.rint(real * (np.float32(1) / np.float32(qparams.scale)))
        self.tensors[node.name] = np.clip(steps + np.float32(qparams.zero_point), -128, 127).astype(np.int8)


def rounded(value, digits):
    return float(f"{value:.{digits}g}")


def constant_w_scale(totals, x_scale):
    """The scale of a projection's weights with which half of its values, less the bias, are within +-1; biases have a
    deviation of 1. With the larger scales of the fill, values would grow from block to block until biases and the
    second inputs of additions make no difference."""
    return rounded(1 / (x_scale * max(np.quantile(np.abs(total), 0.5, method="lower") for total in totals)), 2)


def qparams_of(node, reals):
    """Scale and zero point with which all but outliers fit int8, with headroom."""
    high = max(np.quantile(real, 0.999, method="higher") for real in reals)
    if node.relu:
        return QParams(rounded(HEADROOM * high / (127 - RELU_ZERO_POINT), 3), RELU_ZERO_POINT)
    low = min(np.quantile(real, 0.001, method="lower") for real in reals)
    return QParams(rounded(HEADROOM * (high - low) / 255, 3), round(-127.5 * (high + low) / (high - low) / HEADROOM))


class Parameters(NamedTuple):
    """What the script chooses."""
    qparams: dict  # by tensor
    w_scales: dict  # by projection


def chosen():
    """The parameters, node by node from the values that the runs over all draws have there."""
    runs = [Run(DrawnData(*draw)) for draw in DRAWS]
    parameters = Parameters({"image": IMAGE}, {})
    for node in net():
        if node.is_projection:
            x_scale = parameters.qparams[node.inputs["x"]].scale
            totals = [run.sums_of(node, parameters.qparams) for run in runs]
            parameters.w_scales[node.name] = constant_w_scale(totals, x_scale)
        reals = [run.real_values(node, parameters) for run in runs]
        parameters.qparams[node.name] = qparams_of(node, reals)
        for run, real in zip(runs, reals):
            run.store(node, real, parameters.qparams[node.name])
    return parameters


def flow(fields):
    """A map in YAML's flow style."""
    return "{" + ", ".join(f"{key}: {flow(value) if isinstance(value, dict) else value}"
                           for key, value in fields.items()) + "}"


def parameters_of(node, qparams):
    """The parameters of a node that do not follow from its tensors."""
    fields = {}
    if not node.is_add and not node.is_depthwise:
        fields["OC"] = node.channels
    if node.kernel > 1:
        fields |= {"kernel": "[3, 3]", "padding": "[1, 1]"}
    if node.stride > 1:
        fields["stride"] = "[2, 2]"
    if not node.is_add:
        fields["bias"] = "true"
    if node.relu:
        fields["activation"] = "relu"
    return fields | {"y": qparams._asdict()}


def node_line(node, qparams):
    return "  - " + flow({"name": node.name, "op": node.op, "with": parameters_of(node, qparams),
                          "inputs": node.inputs, "outputs": {"y": node.name}})


def case_file(parameters):
    nodes = [node_line(node, parameters.qparams[node.name]) for node in net()]
    fills = [f"    {name}.w_scale: {flow({'constant': f'{scale:g}'})}" for name, scale in parameters.w_scales.items()]
    return "\n".join([
        "# MobileNetV2 of width 1 without its average pool and classifier: 52 convolutions and 10 additions, all int8.",
        "# Written by scripts/cases/mobilenet_v2_chain.py, not by hand: it chooses scales and zero points with which",
        "# no tensor is saturated or constant at either size. Blocks are counted from 1.",
        "chain: mobilenet_v2",
        "params:",
        f"  shape: {list(WHOLE)}",
        f"  x: {flow(IMAGE._asdict())}",
        "tensors: {image: {dtype: i8, shape: $shape, qparams: $x}}",
        "nodes:",
        *nodes,
        "defaults:",
        "  impl: {each: [naive, greedy, optimal]}",
        "  # With drawn scales (2^-8 to 2^-6) values would grow from block to block until biases and the second inputs",
        "  # of additions make no difference. So each projection has one scale, with which its values are about 1.",
        "  fill:",
        *fills,
        "cases:",
        f"  - {{name: small, tier: ci, shape: {list(SMALL)}}}",
        "  - {name: whole, tier: nightly, mode: both, impl: {each: [naive, greedy, optimal, fastest]}, timeout: 120}",
    ]) + "\n"


class Spread(NamedTuple):
    """How a tensor's values spread over int8."""
    saturated: float  # share at the ends
    zeros: float  # share at the zero point
    deviation: float  # in steps
    distinct: int
    constant: float  # share of the channels that hold one value

    @property
    def is_bad(self):
        return self.saturated >= MOST_SATURATED or self.distinct < LEAST_DISTINCT


def spread_of(tensor, zero_point):
    channels = tensor.reshape(len(tensor), -1)
    return Spread(saturated=np.mean((tensor == -128) | (tensor == 127)), zeros=np.mean(tensor == zero_point),
                  deviation=tensor.std(), distinct=len(np.unique(tensor)),
                  constant=np.mean(channels.min(axis=1) == channels.max(axis=1)))


def print_spreads(spreads, parameters):
    """Returns how many tensors are bad. spreads: by tensor, one of each run."""
    print(f"{'tensor':17} {'scale':>6} {'zero point':>10}   in each run: saturated, at the zero point, "
          "deviation in steps, distinct values, channels of one value")
    for name, all_runs in spreads.items():
        qparams = parameters.qparams[name]
        columns = " |".join(f"{one.saturated:7.2%} {one.zeros:4.0%} {one.deviation:5.1f} {one.distinct:4d} "
                            f"{one.constant:4.0%}" for one in all_runs)
        mark = "  BAD" if any(one.is_bad for one in all_runs) else ""
        print(f"{name:17} {qparams.scale:6.4g} {qparams.zero_point:10d}  {columns}{mark}")
    return sum(any(one.is_bad for one in all_runs) for all_runs in spreads.values())


def show_spread(folders):
    parameters = chosen()
    runs = [Run(DumpedData(folder)) for folder in folders] or [Run(DrawnData(*draw)) for draw in OTHER_DRAWS]
    for node in net():
        for run in runs:
            run.store(node, run.real_values(node, parameters), parameters.qparams[node.name])
    spreads = {name: [spread_of(run.tensors[name], qparams.zero_point) for run in runs]
               for name, qparams in parameters.qparams.items()}
    bad = print_spreads(spreads, parameters)
    last = net()[-1].name
    different = [str(run.data.folder) for run in runs[:len(folders)]
                 if not np.array_equal(run.tensors[last], run.data.output(last)[0])]
    for folder in different:
        print(f"the device's output in {folder} is not that of the reference")
    print(f"{len(spreads)} tensors, {bad} bad; {len(folders)} outputs of a device, {len(different)} different")
    return 1 if bad or different else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--spread", action="store_true")
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.folders and not options.spread:
        parser.error("FOLDER needs --spread")
    if options.spread:
        return show_spread(options.folders)
    text = case_file(chosen())
    if not options.check:
        FILE.write_text(text, encoding="utf-8")
        return 0
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{FILE} is not what {sys.argv[0]} writes: run it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
