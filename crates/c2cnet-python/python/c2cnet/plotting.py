"""Plots with matplotlib, which the extra ``c2cnet[plot]`` installs.

Each function returns a figure; the methods ``plot_*`` of :class:`c2cnet.C2CNet` and
:class:`c2cnet.Diagnosis` call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _arrays
from .diagnostics import FloorTable, Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def prediction(
    model: Operator,
    f: Any,
    u: Any,
    x: Any,
    y: Any,
    samples: Sequence[int],
    triangles: Any,
    inputs: bool = True,
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
        A mesh on the output points, used for inputs on the same points, too.
    inputs : bool
        Whether the inputs are drawn; vectors without points are not.

    Returns
    -------
    matplotlib.figure.Figure
    """
    first, *more = model._inputs(f, x)
    if more:
        raise ValueError("plots support one input and one output; plot named fields one by one")
    chosen = list(samples)
    where, values = first.points, first.values
    given = [values[k] for k in chosen]
    sensors = [where[k] for k in chosen] if isinstance(where, list) else where
    at = model._known(model.y, "_fitted_y") if y is None else y
    if at is None:
        raise ValueError("the points to predict at are not known; give y (vectors without points are not drawn)")
    points = _arrays.place(at, "y", samples=len(values)).points
    places = [points[k] for k in chosen] if isinstance(points, list) else [points] * len(chosen)
    predicted = model.predict(
        given if isinstance(sensors, list) else np.stack(given),
        sensors,
        places if isinstance(points, list) else points,
    )
    # Complex numbers are drawn as two components, grids as their points.
    predicted = [_arrays.numbers(p, "predicted")[0].reshape(len(p), -1) for p in predicted]
    truths = None
    if u is not None:
        truths = [_arrays.numbers(u[k], "u")[0].reshape(len(at), -1) for k, at in zip(chosen, places)]
    mesh = None if triangles is None else np.asarray(triangles)
    # The first column is left free for them.
    shown = inputs and sensors is not None
    draw = _curves if places[0].shape[1] == 1 else _maps
    picture, axes, rows = draw(places, predicted, truths, chosen, mesh, int(shown))
    if shown:
        at = sensors if isinstance(sensors, list) else [sensors] * len(chosen)
        _inputs(axes[:, 0], rows, at, given, mesh, places)
    return picture


def _inputs(
    axes: Any, rows: list[int], at: list[Any], given: list[Any], mesh: Any, places: list[Any]
) -> None:
    """Draw the components of each sample's input down its rows; those that have no row are left out."""
    for line, (axis, row) in enumerate(zip(axes, rows)):
        values, points = _two_axes(given[row]), at[row]
        curve = points.shape[1] == 1
        c = line - rows.index(row)
        if c >= (1 if curve else values.shape[1]):
            axis.axis("off")
        elif curve:
            order = np.argsort(points[:, 0])
            axis.plot(points[order, 0], values[order])
            axis.set_title("input")
        else:
            words, seen, across = _parts(points)[0]
            name = "input" + (f", component {c}" if values.shape[1] > 1 else "") + words
            same = points.shape == places[row].shape and np.array_equal(points, places[row])
            _paint(axis, points[seen][:, across], values[seen, c], mesh if same else None, name)


def _curves(
    places: list[Any], predicted: Any, truths: list[Any] | None, samples: list[int], mesh: Any, free: int
) -> tuple[Figure, Any, list[int]]:
    picture, every = _panels(len(samples), free + (1 if truths is None else 2), 4.6, 2.4)
    axes = every[:, free:]
    for row, k in enumerate(samples):
        order = np.argsort(places[row][:, 0])
        at = places[row][order, 0]
        shown = _two_axes(predicted[row])[order]
        left = axes[row, 0]
        if truths is not None:
            truth = _two_axes(truths[row])[order]
            left.plot(at, truth, color=_TRUTH, label="truth")
            axes[row, 1].plot(at, shown - truth, color=_ERROR)
            axes[row, 1].set_title(f"error, relative {_relative(truth, shown):.1e}")
        left.plot(at, shown, color=_PREDICTION, ls="--", label="prediction")
        left.set_title(f"sample {k}")
        handles, labels = left.get_legend_handles_labels()
        unique = dict(zip(labels, handles))
        left.legend(unique.values(), unique.keys(), fontsize="small")
    for axis in axes[-1]:
        axis.set_xlabel("y")
    for axis in every[-1, :free]:
        axis.set_xlabel("x")
    return picture, every, list(range(len(samples)))


def _maps(
    places: list[Any], predicted: Any, truths: list[Any] | None, samples: list[int], mesh: Any, free: int
) -> tuple[Figure, Any, list[int]]:
    components = _two_axes(predicted[0]).shape[1]
    rows = [
        (row, c, part)
        for row in range(len(samples))
        for c in range(components)
        for part in _parts(places[row])
    ]
    picture, every = _panels(len(rows), free + (1 if truths is None else 3), 3.6, 3.0)
    axes = every[:, free:]
    for line, (row, c, (words, seen, across)) in zip(axes, rows):
        at = places[row][seen][:, across]
        shown = _two_axes(predicted[row])[:, c]
        name = f"sample {samples[row]}" + (f", component {c}" if components > 1 else "") + words
        if truths is None:
            _paint(line[0], at, shown[seen], mesh, f"{name}: prediction")
            continue
        truth = _two_axes(truths[row])[:, c]
        limits = (float(truth.min()), float(truth.max()))
        _paint(line[0], at, truth[seen], mesh, f"{name}: truth", limits)
        _paint(line[1], at, shown[seen], mesh, "prediction", limits)
        error = shown - truth
        most = float(np.abs(error).max()) or 1.0
        title = f"error, relative {_relative(truth, shown):.1e}"
        _paint(line[2], at, error[seen], mesh, title, (-most, most), "RdBu_r")
    return picture, every, [row for row, _, _ in rows]


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
