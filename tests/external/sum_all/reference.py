"""Sum of all elements, with the bound of any order of float32 additions."""

import numpy as np


def sum_all(x, *, shape):
    wide = x.astype(np.float64)
    depth = np.ceil(np.log2(max(x.size, 2))) + x.size / 65536 + 2
    bound = depth * 2.0**-24 * np.abs(wide).sum()
    return {"y": np.array([wide.sum()]), "y_bound": np.array([bound])}
