"""Data in files of other programs."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _c2cnet
from .problems import Dataset, from_library

__all__ = ["read"]

#: The name of an array in the file, or the array itself.
Array: TypeAlias = Any
#: All arrays of a file by name, unread.
Arrays: TypeAlias = Mapping[str, Any]

#: Read by the library itself, with the conventions of the command.
_OWN = {".npz", ".csv", ".vtu", ".vtk", ".msh"}
#: Why they are not taken by other names.
_OWN_NAMES = (
    "tables and meshes are read with the names f, u, x and sample; parameters and quantities are columns called p and "
    "q (or p[0], q[0], ...), points of outputs y0, y1, ..."
)


def read(
    source: Any,
    *,
    f: Array | Sequence[Array] | None = None,
    u: Array | Sequence[Array] | None = None,
    x: Array | Sequence[Array] | None = None,
    y: Array | Sequence[Array] | None = None,
    p: Array | None = None,
    q: Array | None = None,
    sample: str | None = None,
    sample_axis: int = 0,
    n_train: int | None = None,
    missing: str = "refuse",
) -> Dataset:
    """Read data of another program.

    Parameters
    ----------
    source : path, list of paths, xarray.Dataset or mapping
        HDF5 (``.h5``, ``.hdf5``), MATLAB (``.mat``), NetCDF (``.nc``), CSV, VTK (``.vtu``, ``.vtk``), gmsh
        (``.msh``), ``.npz``, and what meshio reads; a list of meshes or tables is a sample each. Or
        arrays by name.
    f, u : str or array, or list of str
        Input and output functions: the name in the file, or the values. Of shape (samples, points),
        (samples, n0, n1, ...) on a grid, and each with components as the last axis. In meshes and tables
        several names are several functions.
    x, y : str or array, or list of these
        Input and output points, of shape (points, dimension). A list is one axis of a grid each. For
        ``y`` the default is ``x``; for NetCDF and xarray both are the coordinates of the variable.
    p, q : str or array
        Input parameters and output quantities, of shape (samples, values).
    sample : str, optional
        In a table: the column that says which sample a row belongs to; the default is ``sample``.
    sample_axis : int
        The axis of ``f``, ``u``, ``p``, ``q`` that counts samples.
    n_train : int, optional
        How many leading samples are for training.
    missing : {"refuse", "nan"}
        What NaN means in ``.npz``, tables and meshes: a mistake, or a reading that is missing. Of other formats
        NaN is kept, and the estimator's ``missing`` says what it means.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import numpy as np
    >>> k = np.ones((5, 8, 4))
    >>> read({"k": k, "a": np.arange(8), "b": np.arange(4)}, f="k", u=k, x=["a", "b"])
    Dataset(5 samples; f (5, 32) at x (32, 2); u (5, 32) at y (32, 2))
    """
    if _is_own(source):
        for key, given in {"y": y, "p": p, "q": q}.items():
            if given is not None:
                raise ValueError(f"{key}: {_OWN_NAMES}")
        return _own(source, f, u, x, (sample, n_train, missing))
    if sample is not None:
        raise ValueError("sample names a column of a table (CSV); of arrays sample_axis says which axis counts samples")
    arrays = _open(source)
    try:
        data = _dataset(arrays, {"f": f, "u": u, "x": x, "y": y, "p": p, "q": q}, sample_axis)
    finally:
        getattr(arrays, "close", lambda: None)()
    return Dataset(**data, n_train=n_train)


def _paths(source: Any) -> list[Path]:
    if isinstance(source, (str, PathLike)):
        return [Path(source)]
    if isinstance(source, (list, tuple)) and all(isinstance(s, (str, PathLike)) for s in source):
        return [Path(s) for s in source]
    return []


def _is_own(source: Any) -> bool:
    paths = _paths(source)
    own = bool(paths) and all(path.suffix.lower() in _OWN for path in paths)
    return own and not any(_is_binary_gmsh(path) for path in paths)


def _is_binary_gmsh(path: Path) -> bool:
    if path.suffix.lower() != ".msh" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.readline().strip() == b"$MeshFormat" and file.readline().split()[1:2] == [b"1"]


def _own(source: Any, f: Any, u: Any, x: Any, more: tuple[str | None, int | None, str]) -> Dataset:
    sample, n_train, missing = more

    def names(given: Any, what: str) -> list[str]:
        several = [] if given is None else [given] if isinstance(given, str) else list(given)
        if not all(isinstance(name, str) for name in several):
            raise ValueError(f"{what}: give the names of arrays or columns of the file")
        return several

    found = _c2cnet.read_files(_paths(source), (names(f, "f"), names(u, "u"), names(x, "x"), sample), missing)
    if ignored := found.pop("ignored"):
        warnings.warn(f"columns that are not read: {', '.join(ignored)}", stacklevel=3)
    if n_train is not None:
        found = {**found, "n_train": n_train, "split": None}
    return from_library(found)


def _need(package: str, what: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"{what} needs {package}: pip install {package}") from None


def _open(source: Any) -> Arrays:
    if isinstance(source, Mapping) or hasattr(source, "data_vars"):
        return source  # type: ignore[no-any-return]
    paths = _paths(source)
    if not paths:
        raise TypeError(f"source: expected a path, a list of paths or arrays by name, found {type(source).__name__}")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such file")
    if len(paths) == 1 and (opener := _OPENERS.get(paths[0].suffix.lower())):
        return opener(paths[0])
    return _meshes(paths)


class _Hdf5(Mapping[str, Any]):
    """The arrays of an HDF5 file by path; ``transposed`` for MATLAB, which counts axes the other way round."""

    def __init__(self, path: Path, transposed: bool = False):
        self._file = _need("h5py", f"{path.name} is an HDF5 file, which").File(path, "r")
        self._transposed = transposed
        self._names: list[str] = []
        self._file.visititems(lambda name, item: self._names.append(name) if hasattr(item, "shape") else None)

    def __getitem__(self, name: str) -> Any:
        if name.strip("/") not in self._names:
            raise KeyError(name)
        array = self._file[name][()]
        return array.T if self._transposed else array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def close(self) -> None:
        self._file.close()


def _mat(path: Path) -> Arrays:
    io = _need("scipy.io", f"{path.name} is a MATLAB file, which")
    try:
        found = io.loadmat(path)
    except NotImplementedError:
        # Version 7.3 is HDF5.
        return _Hdf5(path, transposed=True)
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _netcdf(path: Path) -> Arrays:
    return _need("xarray", f"{path.name} is a NetCDF file, which").open_dataset(path)  # type: ignore[no-any-return]


_OPENERS: dict[str, Callable[[Path], Arrays]] = {
    ".h5": _Hdf5,
    ".hdf5": _Hdf5,
    ".hdf": _Hdf5,
    ".mat": _mat,
    ".nc": _netcdf,
    ".nc4": _netcdf,
    ".cdf": _netcdf,
}


def _meshes(paths: list[Path]) -> Arrays:
    """Point data of meshes with one sample each, and their points as ``x``."""
    meshio = _need("meshio", f"{paths[0].name}: a format that is not one of the library’s, which")
    meshes = [meshio.read(path) for path in paths]
    first = meshes[0]
    for path, mesh in zip(paths, meshes, strict=True):
        if not np.array_equal(mesh.points, first.points):
            raise ValueError(f"{path}: its points are not those of {paths[0]}; convert to .vtu, which may differ")
    coords = np.asarray(first.points, dtype=np.float64)
    while coords.shape[1] > 1 and np.all(coords[:, -1] == coords[0, -1]):
        coords = coords[:, :-1]
    arrays: dict[str, Any] = {"x": coords}
    for name in first.point_data:
        arrays[name] = np.stack([mesh.point_data[name] for mesh in meshes])
    triangles = [np.asarray(c.data) for c in first.cells if c.type == "triangle"]
    for quads in (np.asarray(c.data) for c in first.cells if c.type == "quad"):
        triangles += [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    if triangles and coords.shape[1] == 2:
        arrays["triangles"] = np.concatenate(triangles).astype(np.int64)
    tetrahedra = [np.asarray(c.data) for c in first.cells if c.type == "tetra"]
    if tetrahedra:
        arrays["tetrahedra"] = np.concatenate(tetrahedra).astype(np.int64)
    return arrays


def _listed(arrays: Arrays) -> str:
    shapes = [f"{name} {np.shape(arrays[name])}" for name in arrays]
    return ", ".join(shapes) or "none"


def _array(arrays: Arrays, given: Array, what: str) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return arrays[given]
    except KeyError:
        raise KeyError(f"{what}: there is no array {given!r}; there are {_listed(arrays)}") from None


def _dataset(arrays: Arrays, given: dict[str, Any], sample_axis: int) -> dict[str, Any]:
    # Values that are not named are taken by their own names only if none is: `p` may be a pressure.
    named = any(given[key] is not None for key in ("f", "u", "p", "q"))
    for key in ("x", "y") if named else tuple(given):
        if given[key] is None and key in arrays:
            given[key] = key
    if given["f"] is None and given["p"] is None:
        raise ValueError(f'name the input, such as f="{next(iter(arrays), "k")}"; there are {_listed(arrays)}')
    data: dict[str, Any] = {}
    for values, points, vectors in (("f", "x", "p"), ("u", "y", "q")):
        where = given[points] if points == "x" or given[points] is not None else given["x"]
        function = None
        if given[values] is not None:
            variable = _array(arrays, given[values], values)
            function = _function(arrays, variable, where, (values, points), sample_axis)
        vector = None
        if given[vectors] is not None:
            vector = np.moveaxis(np.asarray(_array(arrays, given[vectors], vectors)), sample_axis, 0)
        if function is not None and vector is not None:
            data[points] = {"": function[0], vectors: None}
            data[values] = {"": function[1], vectors: vector}
        else:
            data[points], data[values] = function or (None, vector)
    for cells in ("triangles", "tetrahedra"):
        if cells in arrays:
            data[cells] = np.asarray(arrays[cells])
    return data


def _function(
    arrays: Arrays, variable: Any, where: Any, names: tuple[str, str], sample_axis: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return points (n, d) and values (samples, n[, components])."""
    what, points = names
    values = np.moveaxis(np.asarray(variable), sample_axis, 0)
    if where is None:
        where = _coordinates(variable, sample_axis)
    if where is None:
        raise ValueError(
            f"{points}: where {what} of shape {values.shape} was observed is not known; give points of shape "
            f'(points, dimension), or a list of axes of a grid, such as {points}=["x0", "x1"]; '
            f"there are {_listed(arrays)}"
        )
    if isinstance(where, (list, tuple)):
        axes = [np.asarray(_array(arrays, axis, points), dtype=np.float64).ravel() for axis in where]
        grid = tuple(len(axis) for axis in axes)
        at = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    else:
        at = np.asarray(_array(arrays, where, points), dtype=np.float64)
        # (n,) or (1, n) from MATLAB, (n, d), or the points of a grid (n0, n1, ..., d).
        at = at.reshape(-1, 1) if at.ndim == 1 or at.shape[0] == 1 else at
        grid, at = at.shape[:-1], at.reshape(-1, at.shape[-1])
    for shape in (grid, (len(at),)):
        if values.shape[1 : 1 + len(shape)] == shape and values.ndim <= 2 + len(shape):
            return at, values.reshape(len(values), len(at), *values.shape[1 + len(shape) :])
    raise ValueError(
        f"{what}: shape {values.shape} does not fit {points} with {' x '.join(map(str, grid))} points; expected "
        f"(samples, {', '.join(map(str, grid))}) or one more axis for components; sample_axis says which axis "
        "counts samples"
    )


def _coordinates(variable: Any, sample_axis: int) -> list[Any] | None:
    """Return the axes of an xarray variable, except that of samples."""
    dims = getattr(variable, "dims", None)
    coords = getattr(variable, "coords", {})
    if dims is None:
        return None
    axes = [name for k, name in enumerate(dims) if k != sample_axis % len(dims)]
    known = [np.asarray(coords[name]) for name in axes if name in coords]
    return known if known and len(known) >= len(axes) - 1 else None
