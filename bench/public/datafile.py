"""A data file of c2cnet as vectors: one row of input values and one of output values per sample."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Vectors:
    samples: int
    n_train: int
    inputs: np.ndarray | None
    outputs: np.ndarray | None
    unfit: str = ""  # why the file cannot be used at all
    unequal: str = ""  # why its samples are no vectors


def read(path):
    """The file at `path`. Points of each sample's own serve node by node: node i of every sample is one column."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    outputs = fields(arrays, "u", "q")
    if not outputs:
        return Vectors(0, 0, None, None, unfit="no outputs")
    samples = len(outputs[0])
    n_train = int(arrays.get("n_train", samples))
    if not 0 < n_train < samples:
        return Vectors(samples, n_train, None, None, unfit="no test samples: n_train is absent or out of range")
    if any(np.ptp(counts) > 0 for counts in fields(arrays, "x_count", "y_count")):
        return Vectors(samples, n_train, None, None, unequal="samples of different lengths")
    # Where inputs are given at a sample's own points, the points are inputs too.
    own = [x for x in fields(arrays, "x") if x.ndim == 3]
    inputs = fields(arrays, "f", "p") + own
    return Vectors(samples, n_train, rows(inputs), rows(outputs))


def fields(arrays, *keys):
    """The arrays called by one of `keys`, or `KEY.NAME`."""
    return [array for key, array in arrays.items() if key.split(".")[0] in keys]


def rows(arrays):
    flat = [np.asarray(a, dtype=np.float64).reshape(len(a), -1) for a in arrays]
    return np.hstack(flat)
