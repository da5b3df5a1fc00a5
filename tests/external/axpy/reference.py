import numpy as np


def axpy(x, y, *, a):
    product = np.float64(np.float32(a)) * x.astype(np.float64)
    # The kernel may round the product before it adds y, which may then cancel most of it.
    return {"y": product + y.astype(np.float64), "y_bound": np.abs(product) * 2.0**-24}
