#!/usr/bin/python3
"""Times MobileNetV2 by PyTorch on an NVIDIA GPU, to compare with the chain of cases/chains/mobilenet_v2.yaml.

    python3 scripts/peers/mobilenet_v2.py [--compile] [--sets N]      with a Python that has PyTorch with CUDA
        --compile   by torch.compile, which fuses biases, ReLU6 and additions; else by one kernel or more per operation
        --sets      sets of weights and images that alternate, default 8; with 1 they stay in the last-level cache

The net is that of the chain: one image of 224 x 224, 52 convolutions and 10 additions, without average pool and
classifier. It is float16, channels last, has random weights, and its batch normalization is folded into weights and
biases. Runs are captured in a CUDA graph. The output is one line of JSON; `us` is the median time of a run.
"""
import argparse
import json
import statistics
from typing import NamedTuple

import torch
from torch.nn import functional

# Expansion, channels, blocks and the first block's stride, as in Table 2 of "MobileNetV2: Inverted Residuals and Linear
# Bottlenecks" (Sandler et al., CVPR 2018).
GROUPS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
IMAGE = (1, 3, 224, 224)
RUNS_PER_GRAPH, REPLAYS, WARM_UP_REPLAYS = 24, 40, 3


class Layer(NamedTuple):
    """A convolution, and what surrounds it."""
    channels: int  # of its input
    outputs: int  # channels of its output
    kernel: int = 1
    stride: int = 1
    groups: int = 1
    relu6: bool = False
    begins_block: bool = False
    adds: bool = False  # the input of the block to its output


def block(channels, expansion, outputs, stride):
    """The layers of an inverted residual."""
    wide = expansion * channels
    layers = [Layer(channels, wide, relu6=True)] if expansion > 1 else []
    layers.append(Layer(wide, wide, 3, stride, wide, relu6=True))
    layers.append(Layer(wide, outputs, adds=stride == 1 and outputs == channels))
    return [layers[0]._replace(begins_block=True), *layers[1:]]


def layers_of_net():
    layers = [Layer(3, 32, 3, 2, relu6=True)]
    for expansion, outputs, blocks, first_stride in GROUPS:
        for i in range(blocks):
            layers += block(layers[-1].outputs, expansion, outputs, 1 if i else first_stride)
    return layers + [Layer(layers[-1].outputs, 1280, relu6=True)]


LAYERS = layers_of_net()


def net(x, weights, biases):
    """weights, biases: of each layer."""
    block_input = x
    for layer, weight, bias in zip(LAYERS, weights, biases):
        if layer.begins_block:
            block_input = x
        x = functional.conv2d(x, weight, bias, layer.stride, layer.kernel // 2, 1, layer.groups)
        if layer.relu6:
            x = functional.relu6(x, inplace=True)
        if layer.adds:
            x = x + block_input
    return x


def inputs_of_net():
    """An image, weights and biases. Weights keep the magnitude of the values from layer to layer."""
    def random(*shape):
        return torch.randn(*shape, dtype=torch.float16, device="cuda")

    def channels_last(tensor):
        return tensor.contiguous(memory_format=torch.channels_last)

    weights = []
    for layer in LAYERS:
        shape = (layer.outputs, layer.channels // layer.groups, layer.kernel, layer.kernel)
        products = shape[1] * shape[2] * shape[3]
        weights.append(channels_last(random(*shape) * (2 / products)**0.5))
    return channels_last(random(*IMAGE)), weights, [random(layer.outputs) * 0.1 for layer in LAYERS]


def median_us(run, sets):
    """The time of run(*inputs), over `sets`, which is a list of such inputs."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # algorithms are chosen and code is compiled before the graph is captured
        for inputs in sets * 2:
            run(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(RUNS_PER_GRAPH):
            run(*sets[i % len(sets)])
    times = []
    for _ in range(WARM_UP_REPLAYS + REPLAYS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / RUNS_PER_GRAPH)
    return statistics.median(times[WARM_UP_REPLAYS:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--sets", type=int, default=8)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        sets = [inputs_of_net() for _ in range(options.sets)]
        y = net(*sets[0])
        if y.shape != (1, 1280, 7, 7) or not y.isfinite().all():
            raise SystemExit(f"the net's output is {tuple(y.shape)}, or not finite")
        us = median_us(torch.compile(net) if options.compile else net, sets)
    print(json.dumps({"name": "mobilenet_v2", "us": round(us, 2), "dtype": "f16",
                      "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                      "compiled": options.compile, "sets": options.sets}))


if __name__ == "__main__":
    main()
