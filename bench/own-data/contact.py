"""A contact sheet: truth and prediction of the median test sample of each kind of data."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.tri import Triangulation

COLUMNS = 3


def sheet(found):
    """A figure of data and errors by the names of kinds, as `run.py` finds them."""
    rows = -(-len(found) // COLUMNS)
    figure = Figure(figsize=(5 * COLUMNS, 2.6 * rows), layout="constrained")
    cells = np.ravel(figure.subfigures(rows, COLUMNS, squeeze=False))
    for cell, (name, (data, errors)) in zip(cells, found.items()):
        cell.suptitle(f"{name}, RL2E {errors['rl2e']:.1e}", fontsize="medium")
        draw(cell, data, errors["found"])
    return figure


def draw(cell, data, found):
    n = int(data["n_train"])
    if "q" in data:
        return over_truths(cell, data["q"][n:], found["q"][n:])
    truth, predicted = data["u"][n:], found["u"][n:]
    flat = lambda v: v.reshape(len(v), -1)
    off = np.linalg.norm(flat(predicted - truth), axis=1) / np.linalg.norm(flat(truth), axis=1)
    median = np.argsort(off)[len(off) // 2]
    pair = truth[median], predicted[median]
    if "triangles" in data:
        mesh = Triangulation(*data["y"].T, data["triangles"])
        return side_by_side(cell, pair, lambda axis, v, **style: axis.tripcolor(mesh, v, **style))
    if pair[0].ndim > 1:
        # Of a field in space, the layer in the middle.
        layers = [v[:, :, v.shape[2] // 2] if v.ndim == 3 else v for v in pair]
        return side_by_side(cell, layers, lambda axis, v, **style: axis.imshow(v.T, origin="lower", **style))
    curves(cell, np.ravel(data["y"]), pair)


def curves(cell, y, pair):
    axis = cell.subplots()
    parts = [("Re ", np.real), ("Im ", np.imag)] if np.iscomplexobj(pair[0]) else [("", np.real)]
    for words, part in parts:
        (line,) = axis.plot(y, part(pair[0]), lw=3, alpha=0.4, label=f"{words}truth")
        axis.plot(y, part(pair[1]), color=line.get_color(), ls="--", label=f"{words}prediction")
    axis.legend(fontsize="x-small")


def side_by_side(cell, pair, paint):
    axes = cell.subplots(1, 2)
    limits = {"vmin": pair[0].min(), "vmax": pair[0].max()}
    for axis, values, words in zip(axes, pair, ["truth", "prediction"]):
        paint(axis, values, **limits)
        axis.set_aspect("equal")
        axis.set_title(words, fontsize="small")
        axis.tick_params(labelsize="x-small")


def over_truths(cell, truth, predicted):
    axes = np.ravel(cell.subplots(1, truth.shape[1], squeeze=False))
    for c, axis in enumerate(axes):
        axis.plot(truth[:, c], predicted[:, c], ".", ms=3)
        axis.axline((truth[0, c], truth[0, c]), slope=1, color="grey", lw=0.8)
        axis.set_title(f"q[{c}]: prediction over truth", fontsize="small")
        axis.tick_params(labelsize="x-small")
