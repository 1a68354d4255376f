"""Plots with matplotlib, which the extra ``c2cnet[plot]`` installs.

Each function returns a figure; the methods ``plot_*`` of :class:`c2cnet.C2CNet` and
:class:`c2cnet.Diagnosis` call them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays
from .diagnostics import FloorTable, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._arrays import Named
    from ._operator import Operator

__all__ = ["encoding", "figure", "floor", "prediction", "spectrum", "training"]

_TRUTH, _PREDICTION, _ERROR = "black", "tab:orange", "tab:red"


def _panels(rows: int, columns: int, width: float = 4.2, height: float = 3.0) -> tuple[Figure, Any]:
    # Without pyplot: no window and no global state.
    picture = figure(width * columns, height * rows)
    return picture, picture.subplots(rows, columns, squeeze=False)


def figure(width: float = 6.0, height: float = 3.0) -> Figure:
    """Return an empty figure that notebooks show by themselves, for your own plots.

    Parameters
    ----------
    width, height : float
        In inches.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from c2cnet import plotting
    >>> axis = plotting.figure().subplots()
    """
    return _picture_type()(figsize=(width, height), layout="constrained")


@lru_cache
def _picture_type() -> type[Figure]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'c2cnet[plot]'") from None

    class Picture(Figure):
        """A figure that notebooks show by themselves."""

        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png", dpi=80)
            return buffer.getvalue()

    return Picture


def spectrum(sweeps: Sequence[Sweep]) -> Figure:
    """Plot the singular values of design matrices.

    Parameters
    ----------
    sweeps : sequence of Sweep
        Of a diagnosis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    picture, axes = _panels(1, max(len(sweeps), 1), 4.8)
    for sweep, axis in zip(sweeps, axes[0]):
        values = sweep.singular_values
        axis.semilogy(np.arange(1, len(values) + 1), values, ".-")
        axis.set_title(f"{sweep.label}\n{sweep.basis}", fontsize="small", wrap=True)
        axis.set_xlabel("number")
        axis.set_ylabel("singular value")
        axis.grid(alpha=0.3)
    return picture


def encoding(sweeps: Sequence[Sweep]) -> Figure:
    """Plot the error and amplification of encoders against the strength of regularisation.

    Parameters
    ----------
    sweeps : sequence of Sweep
        Of a diagnosis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    picture, axes = _panels(max(len(sweeps), 1), 2)
    for sweep, (left, right) in zip(sweeps, axes):
        for name in ("lost", "shrinkage", "unrepresentable"):
            left.loglog(sweep.strength, getattr(sweep, name), ".-", label=name)
        left.set_ylabel("fraction of the input")
        right.loglog(sweep.strength, sweep.amplification, ".-", color="tab:purple")
        right.set_ylabel("amplification of noise")
        for axis in (left, right):
            axis.axvline(sweep.strength[sweep.in_use], color="grey", ls=":", label="in use")
            axis.set_xlabel(sweep.parameter)
            axis.grid(alpha=0.3)
            axis.legend(fontsize="small")
        left.set_title(sweep.label)
    return picture


def floor(tables: Sequence[FloorTable]) -> Figure:
    """Plot the floors of several families against the number of functions.

    Parameters
    ----------
    tables : sequence of FloorTable
        Of a diagnosis.

    Returns
    -------
    matplotlib.figure.Figure
    """
    withheld = any(f.withheld_floor is not None for table in tables for f in table.floors)
    picture, axes = _panels(max(len(tables), 1), 2 if withheld else 1, 4.6, 3.4)
    for table, row in zip(tables, axes):
        families = dict.fromkeys(f.family for f in table.floors)
        entries = {}
        for axis, key, title in zip(
            row, ("floor", "withheld_floor"), ("at fitted points", "between them")
        ):
            # A floor of zero cannot be plotted on a logarithmic axis: the legend names it.
            zero = [f for f in table.floors if getattr(f, key) == 0]
            words = [f"{f.family}: zero with {f.functions}" for f in zero]
            axis.text(
                0.98, 0.97, "\n".join(words), ha="right", va="top",
                fontsize="small", transform=axis.transAxes,
            )
            for k, family in enumerate(families):
                shown = [f for f in table.floors if f.family == family and getattr(f, key)]
                if not shown:
                    continue
                # The basis in use is a point; families are curves.
                style = "kD" if all(f.basis is None for f in shown) else f"C{k}.-"
                sizes, errors = [f.functions for f in shown], [getattr(f, key) for f in shown]
                entries[family] = axis.loglog(sizes, errors, style, label=family)[0]
            axis.set_title(f"{table.label}, {title}")
            axis.set_xlabel("functions")
            axis.set_ylabel("smallest relative error")
            axis.grid(alpha=0.3)
        # Only what is drawn on either side.
        row[0].legend(handles=list(entries.values()), fontsize="small")
    return picture


def training(report: dict[str, Any] | None) -> Figure:
    """Plot errors and learning rate over the steps of a network's training.

    Parameters
    ----------
    report : dict
        ``report_`` of a fitted model.

    Returns
    -------
    matplotlib.figure.Figure
    """
    network = (report or {}).get("network")
    if not network:
        raise ValueError(
            "no network was trained here: fit with map='mlp', or 'auto' if a network wins; a "
            "model that was loaded from a file has no training curve"
        )
    found = [(name, network[name]) for name in ("judged", "fitted") if network[name]]
    titles = {"judged": "without the held-out samples", "fitted": "with all samples"}
    picture, axes = _panels(1, len(found), 4.8)
    for axis, (name, run) in zip(axes[0], found):
        history = run["history"]
        steps = [h["step"] for h in history]
        axis.semilogy(steps, [h["train_rl2e"] for h in history], label="training samples")
        if history and history[0]["validation_rl2e"] is not None:
            axis.semilogy(steps, [h["validation_rl2e"] for h in history], label="held-out samples")
        axis.set_title(titles[name])
        axis.set_xlabel("step")
        axis.set_ylabel("relative L2 error")
        axis.grid(alpha=0.3)
        rate = axis.twinx()
        rate.semilogy(steps, [h["rate"] for h in history], color="grey", lw=0.8, ls=":")
        rate.set_ylabel("learning rate", color="grey")
        axis.legend(fontsize="small", loc="lower left")
    return picture


class _Function(NamedTuple):
    """A function in some samples: where, its components there, and what they are called."""

    places: list[Any]
    values: list[NDArray[Any]]
    #: Names of the coordinates, if they have such.
    axes: list[str] | None
    #: Names of the components; nothing where there is nothing to tell.
    components: list[str]


class _Words:
    """What axes and components are called: by the caller, else by ``labels`` in the ``meta`` of the data file."""

    def __init__(self, model: Operator, labels: Mapping[str, Any] | None) -> None:
        about = model.describe()["info"] or {}
        meta = (about.get("data") or {}).get("meta") or {}
        self._given = dict(labels or {})
        self._all = {**(meta.get("labels") or {}), **self._given} if isinstance(meta, Mapping) else self._given
        for key in self._given:
            if key.split(".")[0] not in ("x", "y", "f", "u"):
                raise ValueError(f"labels: {key!r} must be x, y, f or u, also with a name, as in u.NAME")

    def _names(self, keys: list[str], counts: tuple[int, ...]) -> list[str] | None:
        for key in keys:
            if key in self._all:
                names = [self._all[key]] if isinstance(self._all[key], str) else list(self._all[key])
                if len(names) in counts:
                    return names
                if key in self._given:
                    raise ValueError(f"labels[{key!r}] has {len(names)} names; give {counts[0]}")
        return None

    def function(self, value: str, name: str, places: list[Any], values: list[Any], pairs: bool) -> _Function:
        """Return a function, input ``f`` or output ``u``, with its names."""
        point = "x" if value == "f" else "y"
        parts = [_two_axes(np.asarray(v)).reshape(len(p), -1) for v, p in zip(values, places, strict=True)]
        dim, count = places[0].shape[1], parts[0].shape[1]
        own = [f"{point}.{name}", point] if name else [point]
        axes = self._names(own, (dim,))
        numbers = count // 2 if pairs else count
        names = self._names([f"{value}.{name}" if name else value], (count, numbers, 1))
        return _Function(places, parts, axes, _components(names, name, value, count, pairs))


def _components(names: list[str] | None, name: str, key: str, count: int, pairs: bool) -> list[str]:
    """Return what the components are called, of which complex numbers have two each."""
    if names is not None and len(names) == count:
        return names
    numbers = count // 2 if pairs else count
    symbol = names[0] if names else name
    if names is not None and len(names) == numbers:
        each = names
    elif numbers > 1:
        each = [f"{symbol}, component {c}" if symbol else f"component {c}" for c in range(numbers)]
    else:
        each = [symbol or (key if pairs else "")]
    return [f"{part} {one}" for one in each for part in ("Re", "Im")] if pairs else each


def prediction(
    model: Operator,
    f: Any,
    u: Any,
    x: Any,
    y: Any,
    samples: Sequence[int],
    triangles: Any,
    inputs: bool = True,
    labels: Mapping[str, Any] | None = None,
) -> Figure:
    """Plot predictions, with the truth and the error if known, beside the inputs.

    Parameters
    ----------
    model : C2CNet
        A fitted model.
    f, u, x, y
        As for :meth:`c2cnet.C2CNet.evaluate`; ``u`` may be None.
    samples : sequence of int
        Which samples.
    triangles : array of int of shape (triangles, 3) or None
        A mesh on the output points, also used for inputs on the same points.
    inputs : bool
        Whether the inputs are drawn; vectors without points are not.
    labels : dict, optional
        Names of axes (``x``, ``y``) and components (``f``, ``u``, ``u.NAME``), each a text or a list, with
        units: ``{"y": ["x [m]", "t [s]"], "u": "temperature [K]"}``.

    Returns
    -------
    matplotlib.figure.Figure
    """
    words, chosen = _Words(model, labels), list(samples)
    given = model._inputs(f, x)
    count, given = len(given[0].values), [_of_samples(one, chosen) for one in given]
    seen = [
        words.function("f", one.name, _places(one.points, chosen), list(one.values), one.complex)
        for one in given
        if inputs and one.points is not None
    ]
    mesh = None if triangles is None else np.asarray(triangles)
    pairs = _predicted(model, words, given, (u, y), (chosen, count))
    panels = [_Panels(truth, found, chosen, mesh, seen if k == 0 else []) for k, (truth, found) in enumerate(pairs)]
    picture = figure(max(p.width for p in panels), sum(p.height for p in panels))
    parts: Any = [picture]
    if len(panels) > 1:
        parts = picture.subfigures(len(panels), 1, height_ratios=[p.height for p in panels])
    for part, one in zip(parts, panels, strict=True):
        one.draw(part)
    return picture


def _of_samples(one: Named, chosen: list[int]) -> Named:
    own = isinstance(one.points, list)
    return one._replace(
        points=[one.points[k] for k in chosen] if own else one.points,  # type: ignore[index]
        values=[one.values[k] for k in chosen] if isinstance(one.values, list) else one.values[chosen],
    )


def _places(points: Any, chosen: list[int]) -> list[Any]:
    """Return the points of each chosen sample, of which ``points`` are those or what all share."""
    return points if isinstance(points, list) else [points] * len(chosen)


def _predicted(
    model: Operator, words: _Words, given: list[Named], asked: tuple[Any, Any], of: tuple[list[int], int]
) -> list[tuple[_Function | None, _Function]]:
    """Return truth, if it is known, and prediction of each output that has points."""
    (u, y), (chosen, count) = asked, of
    fitted, arrays = model._fitted(), [one.arrays() for one in given]
    known = model._known(model.y, "_fitted_y")
    is_function = model._functions("outputs", "_fitted_y")
    truths = {} if u is None else {t.name: t for t in _arrays.fields(u, y, "u", "y", known, is_function)}
    found: list[tuple[_Function | None, _Function]] = []
    for name in filter(is_function, model._output_names()):
        truth = truths.get(name)
        at = known if y is None else y
        at = at.get(name) if isinstance(at, Mapping) else at
        if truth is not None:
            truth = _of_samples(truth, chosen)
            points = truth.points
        elif y is None and (nodes := fitted.nodes(arrays, name)) is not None:
            points = list(nodes)
        elif at is not None:
            points = _arrays.place(at, "y", samples=count).points
            points = [points[k] for k in chosen] if isinstance(points, list) else points
        else:
            continue
        places, pairs = _places(points, chosen), fitted.is_complex(name)
        drawn = [
            None if values is None else words.function("u", name, places, list(values), pairs)
            for values in (truth and truth.values, fitted.predict(arrays, name, points))
        ]
        found.append((drawn[0], drawn[1]))  # type: ignore[arg-type]
    if not found:
        raise ValueError("the points to predict at are not known; give y (vectors without points are not drawn)")
    return found


class _Panels:
    """The panels of one output, beside the inputs, line by line."""

    def __init__(
        self, truth: _Function | None, found: _Function, samples: list[int], mesh: Any, inputs: list[_Function]
    ) -> None:
        self.truth, self.found, self.samples, self.mesh, self.inputs = truth, found, samples, mesh, inputs
        self.curves = found.places[0].shape[1] == 1
        count = len(found.components)
        # Sample, component and what is seen of it.
        self.lines: list[tuple[int, int, Any]] = [(row, 0, None) for row in range(len(samples))]
        if not self.curves:
            self.lines = [
                (row, c, part)
                for row in range(len(samples))
                for c in range(count)
                for part in _parts(found.places[row])
            ]
        self.columns = len(inputs) + (1 if truth is None else 2 if self.curves else 3)
        width, height = (4.6, 2.4) if self.curves else (3.6, 3.0)
        self.width, self.height = width * self.columns, height * len(self.lines)

    def draw(self, picture: Any) -> None:
        every = picture.subplots(len(self.lines), self.columns, squeeze=False)
        axes = every[:, len(self.inputs) :]
        if self.curves:
            self._curves(axes)
        else:
            self._maps(axes)
        for column, one in enumerate(self.inputs):
            self._input(every[:, column], one)

    def _input(self, axes: Any, one: _Function) -> None:
        """Draw the components of each sample's input down its lines; those that have no line are left out."""
        rows = [row for row, _, _ in self.lines]
        for line, (axis, row) in enumerate(zip(axes, rows)):
            values, points = one.values[row], one.places[row]
            curve = points.shape[1] == 1
            c = line - rows.index(row)
            if c >= (1 if curve else values.shape[1]):
                axis.axis("off")
            elif curve:
                order = np.argsort(points[:, 0])
                axis.plot(points[order, 0], values[order])
                several = len(one.components) > 1
                axis.set_title("input" if several else f"input {one.components[0]}".rstrip())
                axis.set_ylabel(", ".join(one.components) if several else "")
                if row == rows[-1]:
                    axis.set_xlabel(one.axes[0] if one.axes else "x")
            else:
                words, seen, across = _parts(points)[0]
                name = ", ".join(filter(None, ["input", one.components[c]])) + words
                at = self.found.places[row]
                same = points.shape == at.shape and np.array_equal(points, at)
                mesh = self.mesh if same else None
                _paint(axis, points[seen][:, across], values[seen, c], mesh, name, axes=_across(one, across))

    def _curves(self, axes: Any) -> None:
        for (left, *right), (row, _, _) in zip(axes, self.lines):
            order = np.argsort(self.found.places[row][:, 0])
            at = self.found.places[row][order, 0]
            shown = self.found.values[row][order]
            if self.truth is not None:
                truth = self.truth.values[row][order]
                left.plot(at, truth, color=_TRUTH, label="truth")
                right[0].plot(at, shown - truth, color=_ERROR)
                right[0].set_title(f"error, relative {_relative(truth, shown):.1e}")
            left.plot(at, shown, color=_PREDICTION, ls="--", label="prediction")
            left.set_title(f"sample {self.samples[row]}")
            left.set_ylabel(", ".join(filter(None, self.found.components)))
            handles, labels = left.get_legend_handles_labels()
            unique = dict(zip(labels, handles))
            left.legend(unique.values(), unique.keys(), fontsize="small")
        for axis in axes[-1]:
            axis.set_xlabel(self.found.axes[0] if self.found.axes else "y")

    def _maps(self, axes: Any) -> None:
        for line, (row, c, (words, seen, across)) in zip(axes, self.lines):
            at = self.found.places[row][seen][:, across]
            shown = self.found.values[row][:, c]
            name = ", ".join(filter(None, [f"sample {self.samples[row]}", self.found.components[c]])) + words
            called = _across(self.found, across)
            if self.truth is None:
                _paint(line[0], at, shown[seen], self.mesh, f"{name}: prediction", axes=called)
                continue
            truth = self.truth.values[row][:, c]
            limits = (float(truth.min()), float(truth.max()))
            _paint(line[0], at, truth[seen], self.mesh, f"{name}: truth", limits, axes=called)
            _paint(line[1], at, shown[seen], self.mesh, "prediction", limits, axes=called)
            error = shown - truth
            most = float(np.abs(error).max()) or 1.0
            title = f"error, relative {_relative(truth, shown):.1e}"
            _paint(line[2], at, error[seen], self.mesh, title, (-most, most), "RdBu_r", called)


def _across(one: _Function, across: list[int]) -> list[str] | None:
    return [one.axes[k] for k in across] if one.axes else None


def _parts(points: NDArray[Any]) -> list[tuple[str, NDArray[np.intp], list[int]]]:
    """What is seen of points: words, which points, and which of their coordinates.

    All in the plane, three slices through the middle in space, a shadow on the first two coordinates
    beyond it.
    """
    everything = np.arange(len(points))
    dim = points.shape[1]
    if dim == 2:
        return [("", everything, [0, 1])]
    if dim > 3:
        return [(f", 2 of {dim} coordinates", everything, [0, 1])]
    parts = []
    for k in (2, 1, 0):
        height = points[:, k]
        middle = (height.min() + height.max()) / 2
        away = np.abs(height - middle)
        level = height[away.argmin()]
        seen = np.flatnonzero(np.abs(height - level) <= 1e-9 * np.ptp(height))
        few = int(np.ceil(len(points) ** (2 / 3)))
        if 4 * len(seen) <= few:
            # No layer of a grid: the nearest points.
            seen, level = np.sort(np.argsort(away, kind="stable")[:few]), middle
        parts.append((f", $x_{k + 1}$ = {level:.3g}", seen, [j for j in range(3) if j != k]))
    return parts


def _paint(
    axis: Axes,
    points: NDArray[Any],
    values: NDArray[Any],
    triangles: Any,
    title: str,
    limits: tuple[float, float] | None = None,
    colours: str = "viridis",
    axes: list[str] | None = None,
) -> None:
    low, high = limits if limits is not None else (None, None)
    style: dict[str, Any] = {"cmap": colours, "vmin": low, "vmax": high, "rasterized": True}
    grid = _grid(points)
    drawn: Any
    if grid is not None:
        first, second, order = grid
        image = values[order].reshape(len(first), len(second)).T
        drawn = axis.pcolormesh(first, second, image, shading="nearest", **style)
    elif triangles is not None and np.max(triangles) < len(points):
        from matplotlib.tri import Triangulation

        mesh = Triangulation(points[:, 0], points[:, 1], triangles)
        drawn = axis.tripcolor(mesh, values, shading="gouraud", **style)
    else:
        drawn = axis.scatter(points[:, 0], points[:, 1], c=values, s=8, **style)
    axis.set_title(title, fontsize="medium")
    if axes is not None:
        axis.set_xlabel(axes[0])
        axis.set_ylabel(axes[1])
    spans = np.ptp(points, axis=0)
    if 0.25 <= spans[0] / spans[1] <= 4:
        axis.set_aspect("equal")
    axis.figure.colorbar(drawn, ax=axis)


def _grid(points: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """The axes of a tensor grid and the order of its points, if they are one."""
    first, second = np.unique(points[:, 0]), np.unique(points[:, 1])
    if len(first) * len(second) != len(points):
        return None
    order = np.lexsort((points[:, 1], points[:, 0]))
    full = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
    return (first, second, order) if np.array_equal(points[order], full) else None


def _two_axes(values: NDArray[Any]) -> NDArray[Any]:
    return values[:, None] if values.ndim == 1 else values


def _relative(truth: NDArray[Any], shown: NDArray[Any]) -> float:
    norm = float(np.linalg.norm(truth))
    return float(np.linalg.norm(shown - truth)) / (norm or 1.0)
