"""Rotary embedding of neighbouring pairs, in float64."""

import numpy as np


def rope_pairs(x, cosines, sines, *, tokens, heads, size, dtype):
    pairs = x.astype(np.float64).reshape(tokens, heads, size // 2, 2)
    c = cosines.astype(np.float64)[:, None, :]
    s = sines.astype(np.float64)[:, None, :]
    a, b = pairs[..., 0], pairs[..., 1]
    return {"y": np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)}
