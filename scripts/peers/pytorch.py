#!/usr/bin/python3
"""Times what PyTorch offers for assay's timed cases on an NVIDIA GPU, and prints it as CSV for `assay import`.

    python3 scripts/peers/pytorch.py >pytorch.csv        with a Python that has PyTorch with CUDA; GROUP... chooses
                                                         among linear, decode, quantization, convolution,
                                                         transformer, attention, external
    assay import pytorch.csv --as 'PyTorch' --rows assay-out --out peers

Each kernel is captured in a CUDA graph, over as many sets of inputs as exceed the last-level cache several times (cold
rows), or over one (hot rows); the time is the median over replays. Where PyTorch has no such op, `source` says what
stands for it: the int8 layers are torch._int_mm with its epilogue compiled by Inductor, the convolutions cuDNN's in
float16, the int4 layers a matrix-vector product of bfloat16 activations.
"""
import csv
import statistics
import sys

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

RUNS_PER_GRAPH, REPLAYS, WARM_UP_REPLAYS = 24, 40, 3
COLD_BYTES = 400e6  # several times the last-level cache of today's GPUs
MOST_SETS = 64
DEVICE = "cuda"

LINEAR = [(128, 2048, 2048), (1024, 2048, 2048), (1024, 4096, 4096), (4096, 4096, 4096)]  # M, K, N
DECODE = [(2048, 2048), (4096, 4096), (4096, 14336), (14336, 4096)]  # K, N
ROWS = [(128, 4096), (512, 4096), (2048, 4096), (16384, 4096)]
CONVOLUTIONS = [  # channels, outputs, height and width, kernel, stride, padding, groups
    (64, 64, 128, 3, 1, 1, 1), (64, 128, 128, 3, 1, 1, 1), (128, 128, 256, 5, 2, 2, 4), (512, 512, 7, 3, 1, 1, 1),
    (1024, 2048, 14, 1, 2, 0, 1)]


def median_us(make, sets):
    """The time of make()(), over `sets` results of make()."""
    runs = [make() for _ in range(sets)]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # algorithms are chosen and code is compiled before the graph is captured
        for run in runs * 2:
            run()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    count = max(RUNS_PER_GRAPH, sets)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(count):
            runs[i % sets]()
    times = []
    for _ in range(WARM_UP_REPLAYS + REPLAYS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / count)
    return statistics.median(times[WARM_UP_REPLAYS:])


def int8(*shape):
    return torch.randint(-128, 127, shape, dtype=torch.int8, device=DEVICE)


def cold_sets(bytes_of_set):
    return min(MOST_SETS, max(2, int(COLD_BYTES / bytes_of_set) + 1))


@torch.compile
def q8ta_linear(x, w, zero_point, sums, scales, bias, inverse, y_zero_point):
    y = (torch._int_mm(x, w) - zero_point * sums).to(torch.float32) * scales + bias
    return torch.clamp(torch.round(y * inverse) + y_zero_point, -128, 127).to(torch.int8)


@torch.compile
def linear_q8ta_q8csw(x, w, inverse, zero_point, sums, scales, bias):
    q = torch.clamp(torch.round(x * inverse) + zero_point, -128, 127).to(torch.int8)
    return (torch._int_mm(q, w) - zero_point * sums).to(torch.float32) * scales + bias


@torch.compile
def quantize(x, scale, zero_point):
    return torch.clamp(torch.round(x * (1.0 / scale)) + zero_point, -128, 127).to(torch.int8)


@torch.compile
def dequantize(q, scale, zero_point):
    return (q.to(torch.float32) - zero_point) * scale


@torch.compile
def choose_qparams(x):
    low, high = x.amin(1, keepdim=True).clamp(max=0), x.amax(1, keepdim=True).clamp(min=0)
    scale = ((high - low) / 255).clamp(min=1.1920929e-07)
    return scale, -128 - torch.round(low / scale)


def linear_entries():
    for m, k, n in LINEAR:
        def weights(k=k, n=n):
            return (int8(n, k).t(), torch.randint(-999, 999, (n,), dtype=torch.int32, device=DEVICE),
                    torch.rand(n, device=DEVICE) * 1e-4, torch.randn(n, device=DEVICE))

        def quantized(m=m, k=k):
            x, (w, sums, scales, bias) = int8(m, k), weights()
            return lambda: q8ta_linear(x, w, 3, sums, scales, bias, 20.0, 5)

        def real(m=m, k=k):
            x, (w, sums, scales, bias) = torch.randn(m, k, device=DEVICE), weights()
            return lambda: linear_q8ta_q8csw(x, w, 50.0, 3, sums, scales, bias)

        how = "torch._int_mm, epilogue by Inductor"
        sets = cold_sets(n * k + m * (k + n))
        yield "q8ta_linear", (m, k), f"M={m} K={k} N={n}", "cold", quantized, sets, how
        yield "linear_q8ta_q8csw", (m, k), f"M={m} K={k} N={n} dtype=f32", "hot", real, 1, how


def decode_entries():
    for k, n in DECODE:
        def make(k=k, n=n):
            packed = torch.ops.aten._convert_weight_to_int4pack(
                torch.randint(0, 255, (n, k // 2), dtype=torch.uint8, device=DEVICE), 8)
            scales = torch.randn(k // 128, n, 2, device=DEVICE, dtype=torch.bfloat16)
            x = torch.randn(1, k, device=DEVICE, dtype=torch.bfloat16)
            return lambda: torch.ops.aten._weight_int4pack_mm(x, packed, 128, scales)
        yield ("linear_q4gsw", (1, k), f"K={k} N={n} dtype=f16 group_size=128", "cold", make, cold_sets(n * k / 2),
               "aten._weight_int4pack_mm, bfloat16, groups of 128")


def quantization_entries():
    for rows, columns in ROWS:
        def inputs(rows=rows, columns=columns):
            return (torch.randn(rows, columns, device=DEVICE), torch.rand(rows, 1, device=DEVICE) + 0.1,
                    torch.zeros(rows, 1, device=DEVICE))

        def of_quantize():
            x, scale, zero_point = inputs()
            return lambda: quantize(x, scale, zero_point)

        def of_dequantize():
            x, scale, zero_point = inputs()
            q = quantize(x, scale, zero_point)
            return lambda: dequantize(q, scale, zero_point)

        def of_choose():
            x = inputs()[0]
            return lambda: choose_qparams(x)

        for op, make in (("quantize_affine", of_quantize), ("dequantize_affine", of_dequantize),
                         ("choose_qparams_affine", of_choose)):
            yield op, (rows, columns), "block_size=1x-1 dtype=f32", "hot", make, 1, "torch.compile"


def convolution_entries():
    for channels, outputs, size, kernel, stride, padding, groups in CONVOLUTIONS:
        def make(c=channels, o=outputs, hw=size, k=kernel, s=stride, p=padding, g=groups):
            def channels_last(*shape):
                tensor = torch.randn(*shape, device=DEVICE, dtype=torch.float16)
                return tensor.contiguous(memory_format=torch.channels_last)
            x, w = channels_last(1, c, hw, hw), channels_last(o, c // g, k, k)
            return lambda: functional.conv2d(x, w, None, s, p, 1, g)
        elements = channels * size**2 + outputs * (size // stride)**2 + outputs * channels // groups * kernel**2
        yield ("q8ta_conv2d", (1, channels, size, size),
               f"OC={outputs} kernel={kernel}x{kernel} stride={stride}x{stride} groups={groups} bias=false", "cold",
               make, cold_sets(2 * elements), "cuDNN, float16, channels last")


@torch.compile
def silu_mul(g, u):
    return functional.silu(g) * u


@torch.compile
def rms_norm(x, w):
    return functional.rms_norm(x, (x.shape[-1],), w, 1e-5)


@torch.compile
def layer_norm(x, w, b):
    return functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)


@torch.compile
def softmax(x):
    return functional.softmax(x, -1)


@torch.compile
def rotary_embedding(x, cosines, sines):
    a, b = (half.float() for half in x.chunk(2, -1))
    return torch.cat([a * cosines - b * sines, a * sines + b * cosines], -1).to(x.dtype)


def transformer_entries():
    """Each at a large shape and that of a token, hot, and at that of a prompt, cold."""
    for rows, cache in ((16384, "hot"), (2048, "cold"), (1, "hot")):
        def matrix(rows=rows):
            return torch.randn(rows, 4096, device=DEVICE, dtype=torch.float16)

        def vector():
            return torch.randn(4096, device=DEVICE, dtype=torch.float16)

        def of_silu():
            g, u = matrix(), matrix()
            return lambda: silu_mul(g, u)

        def of_rms():
            x, w = matrix(), vector()
            return lambda: rms_norm(x, w)

        def of_layer():
            x, w, b = matrix(), vector(), vector()
            return lambda: layer_norm(x, w, b)

        def of_softmax():
            x = matrix()
            return lambda: softmax(x)

        def of_rotary(rows=rows):
            x, tables = matrix().view(1, rows, 32, 128), torch.rand(2, rows, 1, 64, device=DEVICE)
            return lambda: rotary_embedding(x, tables[0], tables[1])

        sets = cold_sets(4 * rows * 4096) if cache == "cold" else 1
        for op, make in (("silu_mul", of_silu), ("rms_norm", of_rms), ("layer_norm", of_layer),
                         ("softmax", of_softmax)):
            yield op, (rows, 4096), "dtype=f16", cache, make, sets, "torch.compile"
        yield ("rotary_embedding", (1, rows, 32, 128), "dtype=f16 pairs=half_split", cache, of_rotary, sets,
               "torch.compile")
    for rows, depth, columns in ((4096, 1024, 256), (4096, 4096, 4096)):
        def of_mm(m=rows, k=depth, n=columns):
            a, b = (torch.randn(*shape, device=DEVICE, dtype=torch.float16) for shape in ((m, k), (k, n)))
            return lambda: torch.mm(a, b)
        yield "mm", (rows, depth), f"M={rows} K={depth} N={columns} dtype=f16", "hot", of_mm, 1, "torch.mm"


ATTENTION = [  # S, H, Hkv, D, keys: decode of four models at some contexts, then prefill
    (1, 32, 8, 128, 128), (1, 32, 8, 128, 1024), (1, 32, 8, 128, 4096), (1, 32, 8, 128, 32768), (1, 32, 8, 64, 4096),
    (1, 16, 8, 128, 4096), (1, 24, 8, 128, 4096), (128, 32, 8, 128, 128), (512, 32, 8, 128, 512),
    (2048, 32, 8, 128, 2048)]


def attention_entries():
    """scaled_dot_product_attention by the fastest of its backends."""
    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]
    for tokens, heads, kv_heads, width, keys in ATTENTION:
        sets = cold_sets(4 * keys * kv_heads * width) if tokens == 1 else 1

        def make_with(backend, of=(tokens, heads, kv_heads, width, keys)):
            tokens, heads, kv_heads, width, keys = of

            def tensor(rows, count):
                return torch.randn(1, rows, count, width, device=DEVICE, dtype=torch.float16).transpose(1, 2)

            def make():
                q, k, v = tensor(tokens, heads), tensor(keys, kv_heads), tensor(keys, kv_heads)

                def attend():
                    with sdpa_kernel(backend):
                        return functional.scaled_dot_product_attention(q, k, v, is_causal=tokens > 1, enable_gqa=True)
                return attend
            return make

        best = None
        for backend in backends:
            try:
                us = median_us(make_with(backend), sets)
            except RuntimeError:
                continue  # not for these shapes
            if best is None or us < best[0]:
                best = us, backend
        params = f"Hkv={kv_heads} C={keys} start_pos={keys - tokens} causal=true mask=false dtype=f16"
        yield ("sdpa", (1, tokens, heads, width), params, "cold" if tokens == 1 else "hot", None,
               best[0], f"scaled_dot_product_attention, {best[1].name}")


@torch.compile
def rope_pairs(x, cosines, sines):
    a, b = x[..., 0::2].float(), x[..., 1::2].float()
    return torch.stack([a * cosines - b * sines, a * sines + b * cosines], -1).flatten(-2).to(x.dtype)


def external_entries():
    """The ops of tests/external, at the shapes of their timed cases."""
    def matrix(of):
        def make():
            x, weight = torch.randn(4096, 4096, device=DEVICE), torch.randn(4096, device=DEVICE)
            return lambda: of(x, weight)
        return make

    for op, of, how in (
            ("row_softmax", lambda x, _: functional.softmax(x, 1), "softmax"),
            ("row_norm", lambda x, weight: functional.rms_norm(x, (4096,), weight, 1e-5), "rms_norm"),
            ("row_argmax", lambda x, _: x.argmax(1), "argmax")):
        yield op, (4096, 4096), "", "hot", matrix(of), 1, how

    def total():
        x = torch.randn(16777216, device=DEVICE)
        return x.sum
    yield "sum_all", (16777216,), "", "hot", total, 1, "sum"
    for name, dtype in (("f32", torch.float32), ("f16", torch.float16)):
        def rotate(dtype=dtype):
            x = torch.randn(512, 32, 128, device=DEVICE, dtype=dtype)
            tables = torch.rand(2, 512, 1, 64, device=DEVICE)
            return lambda: rope_pairs(x, tables[0], tables[1])
        yield "rope_pairs", (512, 32, 128), f"dtype={name}", "hot", rotate, 1, "torch.compile"


GROUPS = {"linear": linear_entries, "decode": decode_entries, "quantization": quantization_entries,
          "convolution": convolution_entries, "transformer": transformer_entries,
          "attention": attention_entries, "external": external_entries}


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    where = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}"
    out = csv.writer(sys.stdout)
    out.writerow(["op", "shape", "params", "cache", "us", "source"])
    with torch.inference_mode():
        for group in sys.argv[1:] or GROUPS:
            for op, shape, params, cache, make, sets, how in GROUPS[group]():
                us = sets if make is None else median_us(make, sets)  # measured already
                out.writerow([op, "x".join(map(str, shape)), params, cache, f"{us:.2f}", f"{where}: {how}"])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
