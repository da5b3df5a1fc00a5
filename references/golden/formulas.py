"""The formulas with which golden vectors are checked, in NumPy: {op: function}.

A function takes a vector, reads its inputs and parameters, never its outputs, and returns {name: Computed}. The
functions are written from the definitions of the ops and not from the C++ references, which the same vectors test:
two independent opinions. Arithmetic is float32 in the order written unless a formula says otherwise.

`n4` is n / 4, rounded up. q is a quantized value, zp a zero point, s a scale.
"""
from typing import NamedTuple, Optional

import numpy as np

f32, f64 = np.float32, np.float64


class Computed(NamedTuple):
    values: np.ndarray
    unrounded: Optional[np.ndarray] = None  # float64, for integers: how close they were to a tie
    error: Optional[np.ndarray] = None  # for float64 sums: how much another order of additions may change them


# Blocks: a tensor is cut into blocks of block_size (-1: the whole dim; the last of a dim may be smaller), and each
# has a scale and a zero point, in row-major order of blocks.


def block_of(params):
    return [size if block == -1 else block for size, block in zip(params["shape"], params["block_size"])]


def spread(values, shape, block):
    """Expands one value per block to one value per element."""
    grid = [-(-size // step) for size, step in zip(shape, block)]
    values = values.reshape(grid)
    for axis, step in enumerate(block):
        values = np.repeat(values, step, axis=axis)
    return values[tuple(slice(size) for size in shape)]


def reduced(function, x, block):
    """Reduces elements to one value per block, by np.minimum or np.maximum."""
    for axis, step in enumerate(block):
        x = function.reduceat(x, np.arange(0, x.shape[axis], step), axis=axis)
    return x


# Quantizing: q = clamp(roundEven(x / s) + zp). The float32 rule multiplies by fl32(1 / s).


def clamped(rounded, zero_point, params):
    """NaN gives the zero point; infinities saturate."""
    q = np.clip(rounded + zero_point, params["quant_min"], params["quant_max"])
    return np.where(np.isnan(q), zero_point, q)


def quantized(x, scale, zero_point, params):
    """q, and x * fl32(1 / s) as float64 before rounding. scale and zero_point have one value per element."""
    inverse = f32(1) / scale.astype(f32)
    q = clamped(np.rint(x.astype(f32) * inverse), zero_point.astype(f32), params)
    return q, x.astype(f64) * inverse.astype(f64)


def smallest_type(params):
    """The type in which quantize_affine stores quant_min to quant_max: int32 for i16."""
    low, high = params["quant_min"], params["quant_max"]
    if low < 0:
        return np.int8 if low >= -128 and high <= 127 else np.int32
    return np.uint8 if high <= 255 else np.int32


def quantize_affine(vector):
    params, shape, block = vector.params, vector.params["shape"], block_of(vector.params)
    x, scale = vector["x"], spread(vector["scale"], shape, block)
    domain = params.get("zero_point_domain", "int")
    if domain == "float":
        q, unrounded = quantized_by_float_zero_point(x, scale, spread(vector["zero_point"], shape, block), params)
    elif domain == "none":
        q, _ = quantized(x, scale, np.zeros(shape), params)
        unrounded = x.astype(f64) / scale.astype(f64)
    else:
        q, unrounded = quantized(x, scale, spread(vector["zero_point"], shape, block), params)
    outputs = {"q": Computed(q.astype(smallest_type(params)), unrounded)}
    if "pre" in vector.outputs:
        outputs["pre"] = Computed(unrounded)
    return outputs


def middle_of(params):
    return (params["quant_max"] + params["quant_min"] + 1) // 2


def quantized_by_float_zero_point(x, scale, zero_point, params):
    """x_min = zp - s * mid, q = clamp(roundEven((x - x_min) / s))."""
    x_min = zero_point - scale * f32(middle_of(params))
    q = clamped(np.rint((x - x_min) / scale), np.zeros(x.shape), params)
    return q, (x.astype(f64) - x_min.astype(f64)) / scale.astype(f64)


def dequantize_affine(vector):
    """y = (q - zp) * s, the difference in integers; or (q - mid) * s + zp, where the zero point is a float."""
    params, shape, block = vector.params, vector.params["shape"], block_of(vector.params)
    q = vector["q"].astype(np.int64)
    scale, zero_point = (spread(vector[name], shape, block) for name in ("scale", "zero_point"))
    if params.get("zero_point_domain") == "float":
        y = (q - middle_of(params)).astype(f32) * scale + zero_point
    else:
        y = (q - zero_point).astype(f32) * scale
    return {"y": Computed(y.astype(np.float16 if params.get("dtype") == "f16" else f32))}


def quantize_per_tensor(vector):
    params = vector.params
    q, unrounded = quantized(vector["x"], f32(params["scale"]), f32(params["zero_point"]), params)
    return {"q": Computed(q.astype(np.int8), unrounded)}


def quantize_per_token(vector):
    """A token is a line along the last dim. PyTorch rounds after adding the zero point, in float64; this function
    rounds before, in float32, like all the others."""
    block = [1] * (vector["x"].ndim - 1) + [-1]
    return quantized_by_blocks(vector, block)


def quantize_per_channel(vector):
    block = [-1] * vector["x"].ndim
    block[vector.params["axis"]] = 1
    return quantized_by_blocks(vector, block)


def quantized_by_blocks(vector, block):
    params = vector.params
    block = block_of({"shape": params["shape"], "block_size": block})
    scale, zero_point = (spread(vector[name], params["shape"], block) for name in ("scale", "zero_point"))
    q, unrounded = quantized(vector["x"], scale, zero_point, params)
    return {"q": Computed(q.astype(np.int8), unrounded)}


# Choosing scale and zero point from a block's range, which is widened to hold 0; values that are not finite are
# skipped.


def ranges(x, block):
    x = x.astype(f32)
    finite = np.where(np.isfinite(x), x, f32(0))
    low = np.minimum(reduced(np.minimum, finite, block), f32(0))
    high = np.maximum(reduced(np.maximum, finite, block), f32(0))
    return low, high


def unrounded_zero_point(start, end, scale):
    """start - end / s in float64."""
    return start - end.astype(f64) / scale.astype(f64)


def rounded_zero_point(value, params):
    return np.rint(np.clip(value, params["quant_min"], params["quant_max"])).astype(np.int32)


def asymmetric(low, high, params):
    """s = max((hi - lo) / (qmax - qmin), eps), zp = clamp(qmin - roundEven(lo / s))."""
    qmin, qmax = params["quant_min"], params["quant_max"]
    scale = np.maximum((high - low) / f32(qmax - qmin), f32(params["eps"]))
    zero_point = rounded_zero_point(f32(qmin) - np.rint(low / scale), params)
    return scale, Computed(zero_point, unrounded_zero_point(qmin, low, scale))


def symmetric(low, high, params):
    """s = max(max(-lo, hi) / ((qmax - qmin) / 2), eps), zp = mid."""
    steps = f32((params["quant_max"] - params["quant_min"]) / 2)
    scale = np.maximum(np.maximum(-low, high) / steps, f32(params["eps"]))
    return scale, Computed(np.full(scale.shape, middle_of(params), np.int32))


def symmetric_no_clipping_err(low, high, params):
    """s = max(lo / qmin, hi / qmax, eps), zp = mid."""
    ends = np.maximum(low / f32(params["quant_min"]), high / f32(params["quant_max"]))
    scale = np.maximum(ends, f32(params["eps"]))
    return scale, Computed(np.full(scale.shape, middle_of(params), np.int32))


MAPPINGS = {"asymmetric": asymmetric, "symmetric": symmetric,
            "symmetric_no_clipping_err": symmetric_no_clipping_err}


def choose_qparams_affine(vector):
    low, high = ranges(vector["x"], block_of(vector.params))
    scale, zero_point = MAPPINGS[vector.params["mapping"]](low, high, vector.params)
    return {"scale": Computed(scale), "zero_point": zero_point}


def choose_qparams_tensor(vector):
    """Asymmetric, the whole tensor one block; both outputs have shape (1)."""
    low, high = ranges(vector["x"].reshape(-1), [vector["x"].size])
    scale, zero_point = asymmetric(low, high, vector.params)
    return {"scale": Computed(scale), "zero_point": zero_point}


def choose_qparams_per_token_asymmetric(vector):
    """s as in asymmetric mapping. d = lo / s, u = hi / s;
    zp = -128 - d if (-128 + d) + (127 + u) > 0, else 127 - u; clamped, then rounded. PyTorch returns s as float64
    and zp as int64."""
    params = {"quant_min": -128, "quant_max": 127, "eps": vector.params.get("eps", 2.0**-23)}
    x = vector["x"]
    low, high = ranges(x, [1] * (x.ndim - 1) + [x.shape[-1]])
    scale = np.maximum((high - low) / f32(255), f32(params["eps"]))
    down, up = low / scale, high / scale
    by_low = (f32(-128) + down) + (f32(127) + up) > 0
    zero_point = rounded_zero_point(np.where(by_low, f32(-128) - down, f32(127) - up), params)
    unrounded = np.where(by_low, unrounded_zero_point(-128, low, scale), unrounded_zero_point(127, high, scale))
    return {"scale": Computed(scale.astype(f64)), "zero_point": Computed(zero_point.astype(np.int64), unrounded)}


SMALLEST_ROW_SCALE = f32(6.1e-5)


def choose_qparams_per_row(vector):
    """s = (hi - lo) / (qmax - qmin), 0.1 where that is 0 or 1 / s is infinite; below 6.1e-5 it becomes that, and the
    range is widened to match. a = qmin - lo / s, b = qmax - hi / s; zp = a if |qmin| - |lo / s| <
    |qmax| - |hi / s|, else b; clamped, then rounded."""
    params, x = vector.params, vector["x"]
    qmin, qmax = f32(params["quant_min"]), f32(params["quant_max"])
    low, high = (end[:, 0] for end in ranges(x, [1, x.shape[1]]))
    scale = (high - low) / (qmax - qmin)
    scale = np.where((scale == 0) | np.isinf(f32(1) / scale), f32(0.1), scale)
    low, high, scale = with_smallest_scale(low, high, scale, qmax - qmin)
    down, up = low / scale, high / scale
    by_low = abs(qmin) - abs(down) < abs(qmax) - abs(up)
    zero_point = rounded_zero_point(np.where(by_low, qmin - down, qmax - up), params)
    unrounded = np.where(by_low, unrounded_zero_point(qmin, low, scale), unrounded_zero_point(qmax, high, scale))
    return {"scale": Computed(scale), "zero_point": Computed(zero_point, unrounded)}


def with_smallest_scale(low, high, scale, steps):
    """Where lo is 0, hi becomes 6.1e-5 * steps; where hi is 0, lo becomes -6.1e-5 * steps; else both grow in
    proportion."""
    small = scale < SMALLEST_ROW_SCALE
    widest, factor = SMALLEST_ROW_SCALE * steps, SMALLEST_ROW_SCALE / scale
    new_low = np.where(low == 0, f32(0), np.where(high == 0, -widest, low * factor))
    new_high = np.where(low == 0, widest, np.where(high == 0, f32(0), high * factor))
    return (np.where(small, new_low, low), np.where(small, new_high, high),
            np.where(small, SMALLEST_ROW_SCALE, scale))


# int8 to int8: a float64 epilogue, whose value before rounding is stored as `pre`.


def real(q, scale, zero_point):
    return (q.astype(f64) - zero_point) * scale


def requantized(value, params):
    """q = clamp(roundEven(value / s_y) + zp_y, -128, 127)."""
    pre = value / params["y_scale"]
    q = np.clip(np.rint(pre) + params["y_zero_point"], -128, 127)
    return {"pre": Computed(pre), "y": Computed(q.astype(np.int8), pre)}


def q8ta_add(vector):
    params = vector.params
    a = real(vector["a"], params["a_scale"], params["a_zero_point"])
    b = real(vector["b"], params["b_scale"], params["b_zero_point"])
    return requantized(a + params["alpha"] * b, params)


def q8ta_relu(vector):
    x = real(vector["x"], vector.params["x_scale"], vector.params["x_zero_point"])
    return requantized(np.maximum(x, 0), vector.params)


def shuffled(x, factor):
    """out[n, c, oh, ow] = in[n, c*r*r + (oh % r)*r + ow % r, oh / r, ow / r]."""
    n, c, h, w = x.shape
    channel, out_h, out_w = np.ogrid[: c // factor**2, : h * factor, : w * factor]
    source = channel * factor**2 + out_h % factor * factor + out_w % factor
    return x[:, source, out_h // factor, out_w // factor]


def pixel_shuffle(vector):
    return {"y": Computed(shuffled(vector["x"], vector.params["upscale_factor"]))}


def q8ta_pixel_shuffle(vector):
    params = vector.params
    x = shuffled(vector["x"], params["upscale_factor"])
    return requantized(real(x, params["x_scale"], params["x_zero_point"]), params)


def embedding_q4gsw(vector):
    """y[..., d] = (nibble - 8) * w_scale[index, d / group_size]; even d in the high nibble."""
    rows = vector["w"][vector["indices"]]
    nibbles = np.stack([rows >> 4, rows & 15], axis=-1).reshape(*rows.shape[:-1], -1)
    scale = np.repeat(vector["w_scale"][vector["indices"]], vector.params["group_size"], axis=-1)
    return {"y": Computed((nibbles.astype(np.int32) - 8).astype(f32) * scale)}


# Linear ops: y[m, n] = sum over k of x[m, k] * w[n, k], scaled, + bias[n]. Sums of reals are float64; sums of integers
# are exact. A group is group_size neighbours along k, with one scale for each n.


def sum_error(terms):
    """The most that the order of additions over the last axis may change float64 sums, scales included."""
    return np.abs(terms).sum(axis=-1) * (terms.shape[-1] * 2.0**-52)


def biased(value, vector):
    return value + vector["bias"].astype(f64) if "bias" in vector.inputs else value


def rectified(value, params):
    return np.maximum(value, 0) if params.get("activation", "none") == "relu" else value


def products(x, w):
    """[M, N, K]: exact in float64 where one of them is a small integer."""
    return x.astype(f64)[:, None, :] * w.astype(f64)[None, :, :]


def group_sums(terms, group_size):
    return terms.reshape(*terms.shape[:-1], -1, group_size).sum(axis=-1)


def unpacked(w, even_is_high):
    """u8 [N, K / 2] -> nibble - 8 [N, K]."""
    high, low = w >> 4, w & 15
    pair = (high, low) if even_is_high else (low, high)
    return np.stack(pair, axis=-1).reshape(w.shape[0], -1).astype(np.int64) - 8


def spread_groups(values, group_size):
    """[K / g, N] -> [N, K]."""
    return np.repeat(values.T, group_size, axis=1)


def int8_of(x, scale, zero_point):
    return quantized(x, scale, zero_point, {"quant_min": -128, "quant_max": 127})[0].astype(np.int8)


def quantized_output(x, scale, zero_point):
    """x_q, with its value before rounding."""
    return Computed(int8_of(x, scale, zero_point), x.astype(f64) * (f32(1) / scale.astype(f32)).astype(f64))


def linear_q8csw(vector):
    """y = (sum x * w) * s_w + b."""
    terms, scale = products(vector["x"], vector["w"]), vector["w_scale"].astype(f64)
    return {"y": Computed(biased(terms.sum(axis=-1) * scale, vector), error=sum_error(terms) * scale)}


def int8_linear(x_q, vector):
    """(acc - zp_x * w_sum) * (s_x * s_w) + b, and the error of its float64 steps."""
    params, w = vector.params, vector["w"].astype(np.int64)
    acc = x_q.astype(np.int64) @ w.T - params["x_zero_point"] * w.sum(axis=1)
    scaled = acc * (params["x_scale"] * vector["w_scale"].astype(f64))
    y = biased(scaled, vector)
    return y, (np.abs(scaled) + np.abs(y)) * 2.0**-50


def linear_q8ta_q8csw(vector):
    """x_q = quantized x; then as q8ta_linear, without its quantization of y."""
    params = vector.params
    x_q = quantized_output(vector["x"], f32(params["x_scale"]), f32(params["x_zero_point"]))
    y, error = int8_linear(x_q.values, vector)
    return {"x_q": x_q, "y": Computed(y, error=error)}


def q8ta_linear(vector):
    y, error = int8_linear(vector["x"], vector)
    return with_error(requantized(rectified(y, vector.params), vector.params), error / vector.params["y_scale"])


def with_error(outputs, error):
    return dict(outputs, pre=outputs["pre"]._replace(error=error))


def grouped_linear(x, w, vector):
    """sum over g of s_w * int_g, times s_x, + b; x and w minus their zero points."""
    terms, x_scale = products(x, w), vector["x_scale"].astype(f64)[:, None]
    sums = group_sums(terms, vector.params["group_size"]) * vector["w_scale"].T.astype(f64)
    scaled = terms * spread_groups(vector["w_scale"].astype(f64), vector.params["group_size"])
    return biased(sums.sum(axis=-1) * x_scale, vector), sum_error(scaled) * x_scale


def linear_qta8a_qga4w_qta8o(vector):
    """y_float, the sibling's output, is quantized; even k in the high nibble."""
    params = vector.params
    x = vector["x"].astype(np.int64) - vector["x_zero_point"][:, None]
    w = unpacked(vector["w"], True) - spread_groups(vector["w_zero_point"], params["group_size"])
    y, error = grouped_linear(x, w, vector)
    outputs = with_error(requantized(y, params), error / params["y_scale"])
    return dict(outputs, y_float=Computed(y, error=error))


def linear_q4gsw(vector):
    """y = sum x * (nibble - 8) * s_w + b; even k in the low nibble."""
    w = unpacked(vector["w"], False) * spread_groups(vector["w_scale"].astype(f64), vector.params["group_size"])
    terms = products(vector["x"], w)
    return {"y": Computed(biased(terms.sum(axis=-1), vector), error=sum_error(terms))}


def linear_dq8ca_q4gsw(vector):
    """x_q = x quantized with its row's scale and zero point; even k in the low nibble."""
    scale, zero_point = vector["x_scale"][:, None], vector["x_zero_point"].astype(np.int64)[:, None]
    x_q = quantized_output(vector["x"], scale, zero_point)
    y, error = grouped_linear(x_q.values - zero_point, unpacked(vector["w"], False), vector)
    return {"x_q": x_q, "y": Computed(y, error=error)}


# Convolutions: x [N, C, H, W], y [N, OC, height, width], w [OC, C / groups, kh, kw], transposed [C, OC / groups, kh,
# kw]. Sums of reals are float64; sums of integers are exact. Values outside of x are real zeros.


def pair_of(params, name, fallback):
    """[h, w]; one number stands for both."""
    value = params.get(name, fallback)
    return [value, value] if isinstance(value, int) else value


def convolved(x, w, params):
    """Makes the windows of the padded x, one image per tap; then each group's product."""
    (s_h, s_w), (p_h, p_w), (d_h, d_w) = (pair_of(params, *of) for of in (("stride", 1), ("padding", 0),
                                                                         ("dilation", 1)))
    padded = np.pad(x, ((0, 0), (0, 0), (p_h, p_h), (p_w, p_w)))
    reach = (d_h * (w.shape[2] - 1) + 1, d_w * (w.shape[3] - 1) + 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(2, 3))[:, :, ::s_h, ::s_w, ::d_h, ::d_w]
    groups = params["groups"]
    sums = [np.einsum("ncijab,ocab->noij", of_x, of_w)
            for of_x, of_w in zip(np.split(windows, groups, axis=1), np.split(w, groups))]
    return np.concatenate(sums, axis=1)


def convolved_transposed(x, w, params):
    """Adds each tap of each value of x to the canvas of y and its padding, one group at a time."""
    (s_h, s_w), (p_h, p_w), (d_h, d_w), more = (pair_of(params, *of) for of in (
        ("stride", 1), ("padding", 0), ("dilation", 1), ("output_padding", 0)))
    (n, c, h, width), (kh, kw), groups = x.shape, w.shape[2:], params["groups"]
    last_h, last_w = (h - 1) * s_h, (width - 1) * s_w  # of the first tap
    canvas = np.zeros((n, groups, w.shape[1], last_h + d_h * (kh - 1) + more[0] + 1,
                       last_w + d_w * (kw - 1) + more[1] + 1), x.dtype)
    x, w = x.reshape(n, groups, c // groups, h, width), w.reshape(groups, c // groups, *w.shape[1:])
    for a, b in np.ndindex(kh, kw):
        canvas[..., a * d_h:a * d_h + last_h + 1:s_h, b * d_w:b * d_w + last_w + 1:s_w] += np.einsum(
            "ngcij,gco->ngoij", x, w[..., a, b])
    y = canvas.reshape(n, -1, *canvas.shape[3:])
    return y[:, :, p_h:y.shape[2] - p_h, p_w:y.shape[3] - p_w]


def by_channel(values):
    """Expands [OC] to the shape of y, in float64."""
    return values.astype(f64)[:, None, None]


def biased_channels(value, vector):
    return value + by_channel(vector["bias"]) if "bias" in vector.inputs else value


def conv2d_q8csw(vector):
    """y = (sum x * w) * s_w + b."""
    x, w, scale = vector["x"].astype(f64), vector["w"].astype(f64), by_channel(vector["w_scale"])
    y = biased_channels(convolved(x, w, vector.params) * scale, vector)
    products_of_a_sum = w[0].size
    error = convolved(np.abs(x), np.abs(w), vector.params) * scale * (products_of_a_sum * 2.0**-52)
    return {"y": Computed(y, error=error + np.abs(y) * 2.0**-50)}


def conv1d(vector):
    """y = sum x * w + b along one axis: a 2D convolution of images that are one row high."""
    params, x, w = vector.params, vector["x"].astype(f64), vector["w"].astype(f64)
    of_a_row = {"groups": params["groups"], "stride": [1, params["stride"]], "padding": [0, params["padding"]],
                "dilation": [1, params["dilation"]]}
    bias = vector["bias"].astype(f64)[:, None]
    y, size = (convolved(of_x[:, :, None], of_w[:, :, None], of_a_row)[:, :, 0] + of_bias for of_x, of_w, of_bias in (
        (x, w, bias), (np.abs(x), np.abs(w), np.abs(bias))))
    return {"y": in_float64(y, size)}


def conv1d_dw(vector):
    return conv1d(vector)


def conv1d_pw(vector):
    return conv1d(vector)


def int8_convolution(acc, vector):
    """acc * (s_x * s_w) + b, and the error of its float64 steps."""
    scaled = acc * (vector.params["x_scale"] * by_channel(vector["w_scale"]))
    y = biased_channels(scaled, vector)
    return y, (np.abs(scaled) + np.abs(y)) * 2.0**-50


def without_zero_point(x_q, vector):
    return x_q.astype(np.int64) - vector.params["x_zero_point"]


def conv2d_q8ta_q8csw(vector):
    """x_q = quantized x; then as q8ta_conv2d, without its quantization of y."""
    params = vector.params
    x_q = int8_of(vector["x"], f32(params["x_scale"]), f32(params["x_zero_point"]))
    acc = convolved(without_zero_point(x_q, vector), vector["w"].astype(np.int64), params)
    y, error = int8_convolution(acc, vector)
    return {"y": Computed(y, error=error)}


def requantized_convolution(acc, vector):
    y, error = int8_convolution(acc, vector)
    return with_error(requantized(rectified(y, vector.params), vector.params), error / vector.params["y_scale"])


def q8ta_conv2d(vector):
    x, w = without_zero_point(vector["x"], vector), vector["w"].astype(np.int64)
    return requantized_convolution(convolved(x, w, vector.params), vector)


def q8ta_conv2d_transposed(vector):
    x, w = without_zero_point(vector["x"], vector), vector["w_torch_layout"].astype(np.int64)
    return requantized_convolution(convolved_transposed(x, w, vector.params), vector)


# Layouts of int8x4 buffers: {layout: (word of (n, c, h, w), lane, words)} for a tensor of extents N, C, H, W.
LAYOUTS = {
    "4W": lambda n, c, h, w, N, C, H, W: (((n * C + c) * H + h) * n4(W) + w // 4, w % 4, N * C * H * n4(W)),
    "4C": lambda n, c, h, w, N, C, H, W: (((n * H + h) * W + w) * n4(C) + c // 4, c % 4, N * H * W * n4(C)),
    "4C1W": lambda n, c, h, w, N, C, H, W: (((n * H + h) * n4(C) + c // 4) * W + w, c % 4, N * H * W * n4(C)),
    "4W4C": lambda n, c, h, w, N, C, H, W: (
        (((n * H + h) * n4(W) + w // 4) * n4(C) + c // 4) * 4 + w % 4, c % 4, N * H * n4(W) * n4(C) * 4),
    "4H4W": lambda n, c, h, w, N, C, H, W: (
        (((n * C + c) * n4(H) + h // 4) * n4(W) + w // 4) * 4 + h % 4, w % 4, N * C * n4(H) * n4(W) * 4),
}


def n4(size):
    return -(-size // 4)


def layout(vector):
    """The tensor's bytes as a buffer holds them, and a mask: 1 for bytes of elements, 0 for padding."""
    x = vector["x"]
    word, lane, words = LAYOUTS[vector.params["layout"]](*np.indices(x.shape), *x.shape)
    packed, mask = np.zeros(words * 4, np.int8), np.zeros(words * 4, np.uint8)
    packed[word * 4 + lane] = x
    mask[word * 4 + lane] = 1
    return {"bytes": Computed(packed), "mask": Computed(mask)}


# Ops of transformers: everything is float64, but `h`, which is rounded to the type of x. Other orders of operations
# change a value by a few units in its last places, and by what cancels.


def in_float64(values, size=None):
    """`size`: the sum of the magnitudes of what was added, where some of it cancels."""
    return Computed(values, error=1e-13 * np.abs(values if size is None else size))


def silu_mul(vector):
    g, u = vector["g"].astype(f64), vector["u"].astype(f64)
    return {"y": in_float64(g / (1 + np.exp(-g)) * u)}


def softmax(vector):
    """Along the last axis. A row of -inf alone gives zeros; NaN or inf in a row give NaN in all of it."""
    x = vector["x"].astype(f64)
    largest = x.max(axis=-1, keepdims=True)
    weights = np.where(largest == -np.inf, 0, np.exp(x - largest))
    total = weights.sum(axis=-1, keepdims=True)
    return {"y": in_float64(np.where(total == 0, 0, weights / total))}


def rms_norm(vector):
    """Of h = x + residual, rounded, where there is a residual."""
    outputs, x = {}, vector["x"]
    if "residual" in vector.inputs:
        x = (x.astype(f64) + vector["residual"].astype(f64)).astype(x.dtype)
        outputs["h"] = Computed(x)
    x = x.astype(f64)
    mean_square = np.square(x).mean(axis=-1, keepdims=True)
    return dict(outputs, y=in_float64(x * vector["w"].astype(f64) / np.sqrt(mean_square + vector.params["eps"])))


def layer_norm(vector):
    x, w, b = (vector[name].astype(f64) for name in "xwb")
    mean = x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.square(x - mean).mean(axis=-1, keepdims=True) + vector.params["eps"])
    return {"y": in_float64((x - mean) / deviation * w + b,
                      (np.abs(x) + np.abs(mean)) / deviation * np.abs(w) + np.abs(b))}


def rotary_embedding(vector):
    """x [B, S, H, D]: of the first rotary_dim values of a head, pairs turn by the angle of their position."""
    params, x, y = vector.params, vector["x"].astype(f64), vector["x"].astype(f64)
    turned, at = params["rotary_dim"], slice(params["start_pos"], params["start_pos"] + x.shape[1])
    cos, sin = (vector[name].astype(f64)[at, None, :] for name in ("cos", "sin"))
    if params["pairs"] == "half_split":
        first, second = slice(turned // 2), slice(turned // 2, turned)
    else:
        first, second = slice(0, turned, 2), slice(1, turned, 2)
    a, b = x[..., first], x[..., second]
    y[..., first], y[..., second] = a * cos - b * sin, a * sin + b * cos
    size = np.abs(x)
    size[..., first], size[..., second] = (np.abs(a) + np.abs(b),) * 2
    return {"y": in_float64(y, size)}


def sdpa(vector):
    """softmax(q k^T / sqrt(D) + mask) v for each head; a query that sees no key gives zeros. Layout bshd."""
    params, q = vector.params, vector["q"].astype(f64)
    valid, group = params["start_pos"] + params["S"], params["H"] // params["Hkv"]
    k, v = (vector[name][:, :valid].astype(f64) for name in "kv")
    if params.get("cache") == "q8":
        k, v = (rows * vector[name + "_scale"][:, :valid, :, None].astype(f64) for name, rows in (("k", k), ("v", v)))
    k, v = (np.repeat(rows, group, axis=2) for rows in (k, v))
    mask = vector["mask"].astype(f64) if params["mask"] else np.zeros((params["S"], valid))
    hidden = mask == -np.inf
    if params["causal"]:
        hidden |= np.arange(valid)[None, :] > params["start_pos"] + np.arange(params["S"])[:, None]
    y, size = np.zeros(q.shape), np.zeros(q.shape)
    for image, token, head in np.ndindex(q.shape[:3]):
        seen = ~hidden[token]
        if not seen.any():
            continue
        scores = k[image, seen, head] @ q[image, token, head] / np.sqrt(params["D"]) + mask[token, seen]
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        y[image, token, head] = weights @ v[image, seen, head]
        size[image, token, head] = weights @ np.abs(v[image, seen, head])
    return {"y": in_float64(y, size)}


def update_cache(vector):
    """cache [B, C, H, D]: the rows from start_pos on become those of x, in int8 by one scale per row where it is q8."""
    params, x = vector.params, vector["x"]
    at = slice(params["start_pos"], params["start_pos"] + x.shape[1])
    cache = vector["cache_before"].copy()
    if params.get("cache") != "q8":
        cache[:, at] = x
        return {"cache": Computed(cache)}
    x, scale = x.astype(f32), vector["scale_before"].copy()
    largest = np.abs(x).max(axis=-1)
    scale[:, at] = np.where(largest == 0, f32(1), largest / f32(127))
    cache[:, at] = np.clip(np.rint(x * (f32(1) / scale[:, at])[..., None]), -127, 127)
    return {"cache": Computed(cache), "scale": Computed(scale)}


def bmm(vector):
    a, b = (vector[name].astype(f64) for name in "ab")
    return {"y": in_float64(a @ b, np.abs(a) @ np.abs(b))}


def addmm(vector):
    """alpha * a @ b + beta * c; c is [M, N] or [N], and where beta is 0 not even a NaN of it counts."""
    alpha, beta = vector.params["alpha"], vector.params["beta"]
    a, b, c = (vector[name].astype(f64) for name in "abc")
    of_c = beta * c if beta else np.zeros(c.shape)
    return {"y": in_float64(alpha * (a @ b) + of_c, abs(alpha) * (np.abs(a) @ np.abs(b)) + np.abs(of_c))}


FORMULAS = {function.__name__: function for function in (
    addmm, bmm, choose_qparams_affine, choose_qparams_per_row, choose_qparams_per_token_asymmetric, choose_qparams_tensor,
    conv1d_dw, conv1d_pw, conv2d_q8csw, conv2d_q8ta_q8csw, dequantize_affine, embedding_q4gsw, layer_norm, layout,
    linear_dq8ca_q4gsw, linear_q4gsw, linear_q8csw, linear_q8ta_q8csw, linear_qta8a_qga4w_qta8o, pixel_shuffle, q8ta_add, q8ta_conv2d,
    q8ta_conv2d_transposed, q8ta_linear, q8ta_pixel_shuffle, q8ta_relu, quantize_affine, quantize_per_channel,
    quantize_per_tensor, quantize_per_token, rms_norm, rotary_embedding, sdpa, silu_mul, softmax, update_cache)}
