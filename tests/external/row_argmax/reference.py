"""Index of the largest element of each row."""


def row_argmax(x, *, shape):
    return {"y": x.argmax(axis=1)}
