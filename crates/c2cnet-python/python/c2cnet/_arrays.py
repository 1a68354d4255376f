"""Converts users' points and values to the form that the library takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Points or values of one field: an array, or a list of arrays if each sample has its own points.
FieldLike: TypeAlias = ArrayLike | Iterable[ArrayLike]
#: The same, or several by name.
FieldsLike: TypeAlias = FieldLike | Mapping[str, FieldLike]
Floats: TypeAlias = NDArray[np.floating[Any]]


class Place(NamedTuple):
    """Listed points, and the shape of the grid if they were given as one."""

    points: Floats | list[Floats]
    grid: list[int] | None = None


class Named(NamedTuple):
    """A field as the library takes it."""

    name: str
    #: None for a vector.
    points: Floats | list[Floats] | None
    values: Floats | list[Floats]
    #: The shape of the grid as which points and values were given.
    grid: list[int] | None = None
    #: Whether components are real and imaginary parts in turn.
    complex: bool = False
    #: Where they were observed, before readings were left out; None for a vector.
    given: Floats | list[Floats] | Place | None = None

    def arrays(self) -> tuple[Any, ...]:
        """Return what the compiled part takes."""
        return self[:5]


def floats(values: Any, what: str) -> Floats:
    """Return an array of single or double precision, copied only if it must be converted."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{what} has masked entries; fill them with NaN ({what}.filled(np.nan)) and give missing='nan'"
        )
    if hasattr(values, "toarray"):
        raise ValueError(f"{what}: sparse data is not supported; give {what}.toarray()")
    try:
        array = np.asarray(values)
        if array.dtype.type in (np.float32, np.float64) and array.dtype.isnative:
            return array if array.flags.aligned else array.copy()
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported here; only values f and u may be complex")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} is not an array of numbers: {error}") from None


def numbers(values: Any, what: str) -> tuple[Floats, bool]:
    """Return an array of real numbers; complex ones become pairs along the last axis."""
    array = np.asarray(values) if not hasattr(values, "toarray") else values
    if getattr(array, "dtype", None) is None or array.dtype.kind != "c":
        return floats(values, what), False
    parts = np.ascontiguousarray(array, dtype=np.complex128)
    return parts.view(np.float64).reshape(*parts.shape, 2), True


def combined(parts: Any) -> Any:
    """Return complex numbers from pairs along the last axis; the reverse of :func:`numbers`."""
    if isinstance(parts, list):
        return [combined(one) for one in parts]
    whole = np.ascontiguousarray(parts).view(np.complex128)
    return whole[..., 0] if whole.shape[-1] == 1 else whole


def points(given: Any, what: str) -> Floats | list[Floats]:
    """Return shared points `(n, d)`, or a list of them if each sample has its own."""
    return place(given, what).points


def place(given: Any, what: str, shape: tuple[int, ...] | None = None, samples: int | None = None) -> Place:
    """Return where values of a shape, or this many samples, were or will be observed.

    A grid is a tuple of the coordinates along its axes, a list of arrays as ``np.meshgrid`` makes it, or an array
    ``(n1, ..., nd, d)``.
    """
    if isinstance(given, Place):
        return given
    grid = _grid(given, what, shape)
    if grid is not None:
        mesh = floats(grid, what)
        return Place(mesh.reshape(-1, mesh.shape[-1]), list(mesh.shape[:-1]))
    if _one_each(given):
        return Place([_columns(floats(p, what), what) for p in given])
    array = floats(given, what)
    counts = array.shape[:-1]
    if array.ndim >= 3 and array.shape[-1] == len(counts):
        own = array.ndim == 3 and (samples is None and shape is None or counts[0] == samples)
        if shape is not None:
            flat = len(shape) > 1 and shape[1] == np.prod(counts)
            natural = shape[1 : array.ndim] == counts
            own = array.ndim == 3 and shape[:2] == counts
            if own and natural:
                raise ValueError(
                    f"{what} of shape {array.shape} may be a grid or points of each sample; give a grid as a tuple "
                    "of its axes"
                )
            own = own or not (flat or natural)
        if not own:
            return Place(array.reshape(-1, array.shape[-1]), list(counts))
    if array.ndim == 3:
        return Place(list(array))
    return Place(_columns(array, what))


def known(found: tuple[Floats, list[int] | None] | None) -> Any:
    """Return points that a model file holds, in the shape of their grid; an empty list if it holds none."""
    if found is None:
        return []
    listed, grid = found
    return Place(listed, grid) if grid else listed


def _grid(given: Any, what: str, shape: tuple[int, ...] | None) -> Any:
    """Return all points of a grid that is given by its axes or by ``np.meshgrid``, else None."""
    if not isinstance(given, (list, tuple)) or not given:
        return None
    parts = [np.asarray(part) for part in given if hasattr(part, "__array__") or isinstance(part, (list, tuple))]
    if len(parts) != len(given):
        return None
    d = len(parts)
    if all(p.ndim == 1 for p in parts) and isinstance(given, tuple):
        counts = tuple(len(p) for p in parts)
        if shape is None or shape[1 : d + 1] == counts or (len(shape) > 1 and shape[1] == np.prod(counts)):
            return np.stack(np.meshgrid(*parts, indexing="ij"), -1)
        if len(shape) > 2 and shape[0] != d:
            wanted = ", ".join(map(str, counts))
            raise ValueError(
                f"{what}: a grid with axes of {wanted} points has values of shape (samples, {wanted}) or "
                f"(samples, {wanted}, components); they have {shape}"
            )
    same = d > 1 and all(p.ndim == d and p.shape == parts[0].shape for p in parts)
    if same and (shape is None or shape[1 : d + 1] == parts[0].shape):
        return np.stack(parts, -1)
    return None


def fields(
    values: Any,
    where: Any,
    value_name: str,
    point_name: str,
    known: Any = None,
    is_function: Callable[[str], bool] = lambda name: False,
    missing: str = "refuse",
) -> list[Named]:
    """Return all fields by name; a single one is called ``""``.

    ``where`` is what the caller gave, ``known`` what stands in for it. A field without points is a
    vector, unless ``is_function`` knows better.
    """
    if not _named(values):
        at = known if where is None else where
        if _named(at):
            raise ValueError(f"{point_name} has names and {value_name} has none; give names to both or neither")
        called = _Label(value_name, point_name, missing)
        return [_field("", values, at, called, is_function(""))]
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
        found.append(_field(name, value, at, _Label(what, label, missing), is_function(name)))
    return found


#: A vector with more entries may be a function whose points were forgotten.
_MANY = 20


def forgotten_points(inputs: list[Named], outputs: list[Named]) -> list[str]:
    """Return a warning for each vector that looks like a function."""
    found = []
    for given, value, point, what in [(inputs, "f", "x", "parameters"), (outputs, "u", "y", "quantities")]:
        for one in given:
            if one.points is not None or np.shape(one.values)[1] <= _MANY:
                continue
            n = np.shape(one.values)[1]
            # Likely those of an input with as many.
            same = point == "y" and any(i.points is not None and len(i.points) == n for i in inputs)
            called = value + (f"[{one.name!r}]" if one.name else "")
            found.append(
                f"{called} has {n} values per sample and no points: taken as {what}; give "
                f"{'y=x' if same else point} if {called} is a function"
            )
    return found


class _Label(NamedTuple):
    """What messages call values and points, and what NaN means."""

    values: str
    points: str
    missing: str


def _of(where: Any, name: str) -> Any:
    return where.get(name) if _named(where) else where


def _field(name: str, values: Any, where: Any, label: _Label, is_function: bool) -> Named:
    if where is None and not is_function:
        return Named(name, None, _vector(values, label.values, label.points))
    if where is None:
        raise ValueError(
            f"the points where {label.values} was observed are not known; give {label.points} "
            "here or to the constructor"
        )
    at = place(where, label.points, _shape(values))
    if isinstance(at.points, list):
        each = [numbers(v, f"{label.values} of a sample") for v in values]
        values = [parts if not pairs else parts.reshape(len(parts), -1) for parts, pairs in each]
        return _without_gaps(Named(name, at.points, values, None, any(c for _, c in each), at.points), label)
    array, pairs = numbers(values, label.values)
    axes = array.shape[: array.ndim - pairs]
    counts = tuple(at.grid or at.points.shape[:1])
    natural = axes[1 : len(counts) + 1] == counts and len(axes) - len(counts) in (1, 2)
    if not natural and (len(axes) not in (2, 3) or axes[1] != len(at.points)):
        raise ValueError(_refusal(axes, counts, len(at.points), label))
    after = array.shape[len(counts) + 1 :] if natural else array.shape[2:]
    if natural and len(counts) > 1 or pairs:
        array = array.reshape(len(array), len(at.points) if natural else axes[1], -1 if after else 1)
        array = array if after else array[..., 0]
    given = at if at.grid else at.points
    return _without_gaps(Named(name, at.points, array, at.grid, pairs, given), label)


def _shape(values: Any) -> tuple[int, ...] | None:
    """The shape of an array; None where samples differ."""
    try:
        return None if _one_each(values) else np.shape(values)
    except ValueError:
        return None


def _refusal(axes: tuple[int, ...], counts: tuple[int, ...], n: int, label: _Label) -> str:
    what = label.values
    text = f"{what}: expected shape (samples, {n}) or (samples, {n}, components) at {n} points"
    if len(counts) > 1:
        grid = ", ".join(map(str, counts))
        text = f"{what}: expected shape (samples, {grid}) or (samples, {grid}, components)"
    text += f", found {axes}"
    if len(axes) == 1:
        return f"{text}; for one sample give {what}[None]. Reshape your data to 2D."
    if len(axes) == 2 and axes[0] == n:
        return f"{text}; a sample is a row: give {what}.T"
    if len(counts) == 1 and int(np.prod(axes[1:])) == n:
        return (
            f"{text}; if {label.points} lists the points of the grid in the same order, give "
            f"{what}.reshape(len({what}), -1), else give {label.points} as a tuple of the axes of the grid"
        )
    if len(axes) == 2:
        return f"{text}; give values at the points of {label.points}, or their own points"
    return f"{text}. For a grid give {label.points} as a tuple of its axes or as an array (n1, n2, ..., d)."


def _without_gaps(field: Named, label: _Label) -> Named:
    """Leave out readings that are missing."""
    if label.missing == "refuse":
        return field
    if label.missing != "nan":
        raise ValueError(f"missing = {label.missing!r} must be 'refuse' or 'nan'")
    if not any(np.isnan(v).any() for v in field.values):
        return field
    at = field.points if isinstance(field.points, list) else [field.points] * len(field.values)
    kept_points, kept_values = [], []
    for k, (p, v) in enumerate(zip(at, field.values, strict=True)):
        there = ~np.isnan(v).reshape(len(v), -1).any(axis=1)
        if not there.any():
            raise ValueError(
                f"{label.values}: sample {k}: all {len(v)} readings are missing (NaN); leave the sample out"
            )
        kept_points.append(p[there])  # type: ignore[index]
        kept_values.append(v[there])
    return field._replace(points=kept_points, values=kept_values, grid=None)


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
