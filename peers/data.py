"""Reads the data files of c2cnet (.npz with x, f, y, u, n_train) into tensors.

Values always get a last axis of components. Points are shared, (n, d), or each sample's own, (N, n, d).
"""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


class DataError(Exception):
    """A data file that cannot be used; the message says why."""


@dataclass(frozen=True)
class Data:
    problem: str
    x: Tensor  # input points
    f: Tensor  # input values, (N, n1, components)
    y: Tensor  # output points
    u: Tensor  # output values, (N, n2, components)

    def __len__(self) -> int:
        return len(self.f)

    @property
    def shared_x(self) -> bool:
        return self.x.ndim == 2

    @property
    def shared_y(self) -> bool:
        return self.y.ndim == 2

    def select(self, index) -> "Data":
        """Some of the samples: a slice or a tensor of positions."""
        return replace(
            self,
            x=self.x if self.shared_x else self.x[index],
            f=self.f[index],
            y=self.y if self.shared_y else self.y[index],
            u=self.u[index],
        )

    def to(self, device) -> "Data":
        return replace(self, **{k: getattr(self, k).to(device) for k in "xfyu"})

    def grid(self) -> tuple[int, ...] | None:
        """The shape of the output points where they are a full tensor grid, last coordinate fastest."""
        return grid_shape(self.y) if self.shared_y else None


def grid_shape(points: Tensor) -> tuple[int, ...] | None:
    axes = [torch.unique(points[:, k]) for k in range(points.shape[1])]
    shape = tuple(len(a) for a in axes)
    if math.prod(shape) != len(points):
        return None
    full = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).reshape(-1, len(axes))
    return shape if torch.allclose(full, points, atol=1e-6) else None


def read(path: str | Path, train: int | None = None) -> tuple[Data, Data]:
    """The training and the test samples of a file; `train` keeps the first N for training."""
    try:
        with np.load(path) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as .npz: {error}") from error
    missing = [key for key in "xfyu" if key not in arrays]
    if missing:
        raise DataError(f"{path}: no {', '.join(missing)}; peers need x, f, y and u")
    if "x_count" in arrays or "y_count" in arrays:
        raise DataError(f"{path}: the peers do not support samples with different numbers of points")
    meta = json.loads(str(arrays["meta"])) if "meta" in arrays else {}
    count = len(arrays["f"])
    n_train = training_count(path, arrays, meta, count)
    if not 0 < n_train < count:
        raise DataError(f"{path}: {n_train} of {count} samples train; both sets need a sample")
    if train is not None and not 0 < train <= n_train:
        raise DataError(f"{path}: --train {train}, but the file has {n_train} training samples")

    def points(key: str) -> Tensor:
        value = torch.from_numpy(arrays[key]).float()
        return value[:, None] if value.ndim == 1 else value

    def values(key: str) -> Tensor:
        value = torch.from_numpy(arrays[key]).float()
        if not torch.isfinite(value).all():
            raise DataError(f"{path}: {key} has values that are not finite numbers")
        return value[..., None] if value.ndim == 2 else value

    whole = Data(problem_of(path, meta), points("x"), values("f"), points("y"), values("u"))
    return whole.select(slice(0, train or n_train)), whole.select(slice(n_train, count))


def problem_of(path, meta: dict) -> str:
    """What the results are filed under: the experiment that data were made for, else the problem, else the file."""
    return meta.get("experiment") or meta.get("problem") or Path(path).stem


def training_count(path, arrays: dict, meta: dict, count: int) -> int:
    if "n_train" in arrays:
        return int(arrays["n_train"])
    if "split" in arrays:
        train = meta.get("split_names", ["train"]).index("train")
        n_train = int((arrays["split"] == train).sum())
        if not (arrays["split"][:n_train] == train).all():
            raise DataError(f"{path}: the training samples must come first")
        return n_train
    raise DataError(f"{path}: no n_train; say how many of the {count} samples train")
