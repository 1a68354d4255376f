"""Converts users' points and values to what the library takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Points or values of one field: an array, or a list of arrays if each sample has its own points.
FieldLike: TypeAlias = ArrayLike | Iterable[ArrayLike]
#: The same, or several by name.
FieldsLike: TypeAlias = FieldLike | Mapping[str, FieldLike]
Floats: TypeAlias = NDArray[np.floating[Any]]
#: A name, points (none for a vector), values.
Named: TypeAlias = tuple[str, Floats | list[Floats] | None, Floats | list[Floats]]


def floats(values: Any, what: str) -> Floats:
    """Return an array of single or double precision, copied only if it must be converted."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{what} has masked entries; c2cnet does not guess missing values")
    if hasattr(values, "toarray"):
        raise ValueError(f"{what}: sparse data is not supported; give {what}.toarray()")
    try:
        array = np.asarray(values)
        if array.dtype.type in (np.float32, np.float64) and array.dtype.isnative:
            return array if array.flags.aligned else array.copy()
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported; give real and imaginary components")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} is not an array of numbers: {error}") from None


def points(given: Any, what: str) -> Floats | list[Floats]:
    """Return shared points `(n, d)`, or a list of them if each sample has its own."""
    if _one_each(given):
        return [_columns(floats(p, what), what) for p in given]
    array = floats(given, what)
    if array.ndim == 3:
        return list(array)
    return _columns(array, what)


def fields(
    values: Any,
    where: Any,
    value_name: str,
    point_name: str,
    known: Any = None,
    is_function: Callable[[str], bool] = lambda name: False,
) -> list[Named]:
    """Return all fields by name; a single one is called ``""``.

    ``where`` is what the caller gave, ``known`` what stands in for it. A field without points is a
    vector, unless ``is_function`` knows better.
    """
    if not _named(values):
        at = known if where is None else where
        if _named(at):
            raise ValueError(f"{point_name} has names and {value_name} has none; give names to both or neither")
        return [("", *_field(values, at, value_name, point_name, is_function("")))]
    found: list[Named] = []
    for name in values:
        label, value, at = f"{point_name}[{name!r}]", values[name], _of(where, name)
        if at is None and isinstance(value, tuple) and len(value) == 2:
            at, value = value
        elif at is None:
            at = _of(known, name)
        if at is None and _named(where) and is_function(name):
            raise ValueError(f"{label} is missing: where {value_name}[{name!r}] was observed")
        what = f"{value_name}[{name!r}]"
        found.append((name, *_field(value, at, what, label, is_function(name))))
    return found


def _of(where: Any, name: str) -> Any:
    return where.get(name) if _named(where) else where


def _field(
    values: Any, where: Any, value_name: str, point_name: str, is_function: bool
) -> tuple[Floats | list[Floats] | None, Floats | list[Floats]]:
    if where is None and not is_function:
        return None, _vector(values, value_name, point_name)
    if where is None:
        raise ValueError(
            f"the points where {value_name} was observed are not known; give {point_name} "
            "here or to the constructor"
        )
    at = points(where, point_name)
    if isinstance(at, list):
        return at, [floats(v, f"{value_name} of a sample") for v in values]
    array = floats(values, value_name)
    if array.ndim not in (2, 3):
        hint = f"; for one sample give {value_name}[None]" if array.ndim == 1 else ""
        raise ValueError(
            f"{value_name}: expected shape (samples, points) or (samples, points, components), "
            f"found {array.shape}{hint}. Reshape your data to 2D."
        )
    return at, array


def _vector(values: Any, value_name: str, point_name: str) -> Floats:
    array = floats(values, value_name)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{value_name} without points is a vector per sample: expected shape "
            f"(samples, values), found {array.shape}; a function needs its points, {point_name}"
        )
    return array[:, None] if array.ndim == 1 else array


def _columns(array: Floats, what: str) -> Floats:
    if array.ndim == 1:
        return array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{what}: expected points of shape (n, d) or (n,), found {array.shape}")
    return array


def _named(given: Any) -> bool:
    # Some sparse matrices are dictionaries as well.
    return isinstance(given, Mapping) and not hasattr(given, "toarray")


def _one_each(given: Any) -> bool:
    return (
        isinstance(given, (list, tuple))
        and len(given) > 0
        and hasattr(given[0], "__array__")
        and np.ndim(given[0]) > 0
    )
