"""PyTorch's own functions for the ops of golden vectors, where PyTorch can be imported.

functions_by_op() gives {op: [(name, function)]}; a function takes a vector and returns outputs by name, as NumPy
arrays, or None where PyTorch has nothing that does what the vector asks.
"""
import numpy as np

try:
    import torch
    VERSION = torch.__version__
except ImportError:
    VERSION = None

try:  # registers torch.ops.quantized_decomposed, from PyTorch 2.0 on
    import torch.ao.quantization.fx._decomposed  # noqa: F401
    HAS_DECOMPOSED = True
except ImportError:
    HAS_DECOMPOSED = False


def functions_by_op():
    if VERSION is None:
        return {}
    functions = {
        "addmm": [("addmm", addmm)],
        "bmm": [("bmm", bmm)],
        "pixel_shuffle": [("pixel_shuffle", pixel_shuffle)],
        "q8ta_pixel_shuffle": [("pixel_shuffle", q8ta_pixel_shuffle)],
        "quantize_affine": [("quantize_per_tensor", affine_of_one_block)],
        "quantize_per_tensor": [("quantize_per_tensor", quantize_per_tensor)],
        "quantize_per_channel": [("quantize_per_channel", quantize_per_channel)],
    }
    if HAS_DECOMPOSED:
        for op, name, function in DECOMPOSED:
            functions.setdefault(op, []).append(("quantized_decomposed." + name, function))
    return functions


def tensor(vector, name):
    return torch.from_numpy(np.ascontiguousarray(vector[name]))


def bmm(vector):
    return {"y": torch.bmm(tensor(vector, "a").double(), tensor(vector, "b").double()).numpy()}


def addmm(vector):
    a, b, c = (tensor(vector, name).double() for name in "abc")
    return {"y": torch.addmm(c, a, b, beta=vector.params["beta"], alpha=vector.params["alpha"]).numpy()}


def pixel_shuffle(vector):
    return {"y": torch.pixel_shuffle(tensor(vector, "x"), vector.params["upscale_factor"]).numpy()}


def q8ta_pixel_shuffle(vector):
    params = vector.params
    x = (tensor(vector, "x").double() - params["x_zero_point"]) * params["x_scale"]
    pre = torch.pixel_shuffle(x, params["upscale_factor"]) / params["y_scale"]
    y = torch.clamp(torch.round(pre) + params["y_zero_point"], -128, 127).to(torch.int8)
    return {"pre": pre.numpy(), "y": y.numpy()}


STORED = {(-128, 127): "qint8", (0, 255): "quint8"}


def affine_of_one_block(vector):
    """Only whole ranges of 8 bits, and no NaN, whose result PyTorch does not define."""
    params = vector.params
    dtype = STORED.get((params["quant_min"], params["quant_max"]))
    plain = "zero_point_domain" not in params and vector["scale"].size == 1 and vector["x"].dtype == np.float32
    if not plain or dtype is None or not np.isfinite(vector["x"]).all():
        return None
    q = torch.quantize_per_tensor(tensor(vector, "x"), float(vector["scale"].item()),
                                  int(vector["zero_point"].item()), getattr(torch, dtype))
    return {"q": q.int_repr().numpy()}


def quantize_per_tensor(vector):
    params = vector.params
    q = torch.quantize_per_tensor(tensor(vector, "x"), params["scale"], params["zero_point"], torch.qint8)
    return {"q": q.int_repr().numpy()}


def quantize_per_channel(vector):
    q = torch.quantize_per_channel(tensor(vector, "x"), tensor(vector, "scale"), tensor(vector, "zero_point"),
                                   vector.params["axis"], torch.qint8)
    return {"q": q.int_repr().numpy()}


def decomposed(name):
    return getattr(torch.ops.quantized_decomposed, name)


def limits(vector):
    return vector.params["quant_min"], vector.params["quant_max"]


def decomposed_per_tensor(vector):
    q = decomposed("quantize_per_tensor")(tensor(vector, "x"), vector.params["scale"], vector.params["zero_point"],
                                          *limits(vector), torch.int8)
    return {"q": q.numpy()}


def decomposed_per_channel(vector):
    q = decomposed("quantize_per_channel")(tensor(vector, "x"), tensor(vector, "scale"), tensor(vector, "zero_point"),
                                           vector.params["axis"], *limits(vector), torch.int8)
    return {"q": q.numpy()}


def decomposed_per_token(vector):
    q = decomposed("quantize_per_token")(tensor(vector, "x"), tensor(vector, "scale"), tensor(vector, "zero_point"),
                                         *limits(vector), torch.int8)
    return {"q": q.numpy()}


def decomposed_choose_tensor(vector):
    """PyTorch returns them as float64 and int64; the vectors hold them as the op does."""
    scale, zero_point = decomposed("choose_qparams").tensor(tensor(vector, "x"), *limits(vector),
                                                            vector.params["eps"], torch.int8)
    return {"scale": scale.numpy().reshape(-1).astype(np.float32),
            "zero_point": zero_point.numpy().reshape(-1).astype(np.int32)}


def decomposed_choose_per_token(vector):
    scale, zero_point = decomposed("choose_qparams_per_token_asymmetric")(tensor(vector, "x"), torch.int8)
    return {"scale": scale.numpy(), "zero_point": zero_point.numpy()}


DECOMPOSED = (
    ("quantize_per_tensor", "quantize_per_tensor", decomposed_per_tensor),
    ("quantize_per_channel", "quantize_per_channel", decomposed_per_channel),
    ("quantize_per_token", "quantize_per_token", decomposed_per_token),
    ("choose_qparams_tensor", "choose_qparams.tensor", decomposed_choose_tensor),
    ("choose_qparams_per_token_asymmetric", "choose_qparams_per_token_asymmetric", decomposed_choose_per_token),
)
