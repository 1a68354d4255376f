"""Data sets: made, read and written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _c2cnet
from ._files import DATA, check_output

__all__ = ["Dataset", "Problem", "generate", "load_npz", "problems"]


@dataclass(frozen=True, repr=False)
class Problem:
    """A law of input functions and the operator that maps them to outputs.

    Attributes
    ----------
    name : str
        The name that :func:`generate` takes.
    description : str
        The equation and what is mapped to what.
    settings : dict
        All settings with their defaults.
    """

    name: str
    description: str
    settings: dict[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        return f"{self.name}: {self.description}"


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Samples of input and output functions.

    Attributes
    ----------
    f, u : array of shape (samples, points[, components]), list of arrays, or dict of these
        Input and output values; lists if each sample has its own points, dictionaries if
        there are several named fields; ``(samples, values)`` for vectors without points.
    x, y : array of shape (points, dimension), list of arrays, or dict of these
        Input and output points; None for vectors.
    n_train : int or None
        The number of leading samples for training; the rest are for testing.
    triangles : ndarray of shape (triangles, 3) or None
        A mesh on the output points.
    meta : dict
        How the data was made.
    split : list of str or None
        The set of each sample, ``"train"``, ``"test"`` or another name, instead of ``n_train``.
    tetrahedra : ndarray of shape (tetrahedra, 4) or None
        A mesh on output points in space.

    Examples
    --------
    >>> import c2cnet
    >>> data = c2cnet.generate("darcy1d", n_train=6, n_test=2, points=50)
    >>> data
    Dataset(8 samples, 6 train; f (8, 50) at x (50, 1); u (8, 50) at y (50, 1))
    >>> data.test.f.shape
    (2, 50)
    """

    f: Any
    u: Any
    x: Any
    y: Any
    n_train: int | None = None
    triangles: NDArray[np.int64] | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    split: list[str] | None = None
    tetrahedra: NDArray[np.int64] | None = None
    _read_from: str | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(next(iter(self.f.values())) if isinstance(self.f, Mapping) else self.f)

    def select(self, indices: Any) -> Dataset:
        """Return some of the samples.

        Parameters
        ----------
        indices : array_like of int
            Which samples, in this order.

        Returns
        -------
        Dataset
            Without a split.

        Examples
        --------
        >>> import c2cnet
        >>> c2cnet.generate("darcy1d", n_train=6, n_test=2, points=50).select([0, 3])
        Dataset(2 samples; f (2, 50) at x (50, 1); u (2, 50) at y (50, 1))
        """
        chosen = np.asarray(indices, dtype=np.intp)
        return Dataset(
            f=_select(self.f, chosen),
            u=_select(self.u, chosen),
            x=_select_points(self.x, chosen),
            y=_select_points(self.y, chosen),
            triangles=self.triangles,
            tetrahedra=self.tetrahedra,
            meta=self.meta,
            _read_from=self._read_from,
        )

    @property
    def train(self) -> Dataset:
        """The training samples: all if there is no split."""
        if self.split is not None:
            return self.select([k for k, name in enumerate(self.split) if name == "train"])
        return self.select(range(len(self) if self.n_train is None else self.n_train))

    @property
    def test(self) -> Dataset:
        """The test samples: all if there is no split."""
        if self.split is not None:
            return self.select([k for k, name in enumerate(self.split) if name == "test"])
        return self.select(range(self.n_train or 0, len(self)))

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write an ``.npz`` file that the command ``c2cnet`` reads.

        Parameters
        ----------
        path : path
            The file to write. Other data there are replaced, but not those that these samples were read from.
        overwrite : bool
            Also replace a model.
        """
        check_output(path, DATA, self._read_from, overwrite)
        outputs = [] if self.u is None else _arrays.fields(self.u, self.y, "u", "y")
        inputs = _arrays.fields(self.f, self.x, "f", "x")
        cells = [None if c is None else np.asarray(c).tolist() for c in (self.triangles, self.tetrahedra)]
        _c2cnet.write_npz(
            path,
            [i.arrays() for i in inputs],
            [o.arrays() for o in outputs],
            (self.n_train, self.split),
            tuple(cells),
            json.dumps(self.meta),
        )

    def __repr__(self) -> str:
        train = "" if self.n_train is None else f", {self.n_train} train"
        inside = f"f {_shape(self.f)}" + ("" if self.x is None else f" at x {_shape(self.x)}")
        if self.u is not None:
            inside += f"; u {_shape(self.u)}"
            inside += "" if self.y is None else f" at y {_shape(self.y)}"
        return f"Dataset({len(self)} samples{train}; {inside})"


def generate(problem: str, *, seed: int = 0, **settings: Any) -> Dataset:
    """Generate the samples of a problem.

    Parameters
    ----------
    problem : str
        Its name; :func:`problems` lists them.
    seed : int
        The same seed and settings give the same samples.
    **settings
        Those that differ from the problem's defaults.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> generate("darcy1d", n_train=6, n_test=2, points=50, seed=3).n_train
    6
    """
    return from_library(_c2cnet.generate(problem, json.dumps(settings), seed))


def problems() -> list[Problem]:
    """Return the problems that :func:`generate` knows.

    Returns
    -------
    list of Problem

    Examples
    --------
    >>> [p.name for p in problems()][:2]
    ['darcy1d', 'darcy2d']
    """
    return [Problem(**p) for p in json.loads(_c2cnet.problems())]


def load_npz(path: str | PathLike[str], missing: Literal["refuse", "nan"] = "refuse") -> Dataset:
    """Read a data file of the command ``c2cnet``.

    Parameters
    ----------
    path : path
        An ``.npz`` file with ``x``, ``f``, ``y``, ``u`` and so on.
    missing : {"refuse", "nan"}
        What NaN among values means: a mistake, or a reading that is missing.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.npz")
    ...     generate("darcy1d", n_train=6, n_test=2, points=50).save(path)
    ...     load_npz(path)
    Dataset(8 samples, 6 train; f (8, 50) at x (50, 1); u (8, 50) at y (50, 1))
    """
    found = from_library(_c2cnet.read_npz(path, missing))
    return replace(found, _read_from=os.path.abspath(path))


def from_library(found: dict[str, Any]) -> Dataset:
    """Return a data set from what the library hands over."""

    def cells(key: str) -> NDArray[np.int64] | None:
        return None if found[key] is None else np.array(found[key], dtype=np.int64)

    def side(key: str) -> tuple[Any, Any]:
        named = {
            name: (points, _arrays.combined(values) if pairs else values)
            for name, points, values, pairs in found[key]
        }
        if not named:
            return None, None
        if list(named) == [""]:
            return named[""]
        return {n: p for n, (p, _) in named.items()}, {n: v for n, (_, v) in named.items()}

    x, f = side("inputs")
    y, u = side("outputs")
    return Dataset(
        f=f,
        u=u,
        x=x,
        y=y,
        n_train=found["n_train"],
        triangles=cells("triangles"),
        tetrahedra=cells("tetrahedra"),
        meta=json.loads(found["meta"]) or {},
        split=found["split"],
    )


def _select(values: Any, chosen: NDArray[np.intp]) -> Any:
    if isinstance(values, Mapping):
        return {name: _select(v, chosen) for name, v in values.items()}
    if isinstance(values, list):
        return [values[k] for k in chosen]
    return None if values is None else values[chosen]


def _select_points(points: Any, chosen: NDArray[np.intp]) -> Any:
    if isinstance(points, Mapping):
        return {name: _select_points(p, chosen) for name, p in points.items()}
    return _select(points, chosen) if isinstance(points, list) else points


def _shape(values: Any) -> str:
    if isinstance(values, Mapping):
        return "{" + ", ".join(f"{name}: {_shape(v)}" for name, v in values.items()) + "}"
    if isinstance(values, list):
        return f"[{len(values)} arrays]"
    if values is None:
        return "none"
    return str(np.shape(values))
