"""Plots of a fitted operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import FieldsLike
from ._operator import Operator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Pictures"]


class Pictures(Operator):
    """An operator that draws what it predicts and how it was trained."""

    triangles: ArrayLike | None
    report_: dict[str, Any]

    def plot_training(self) -> Figure:
        """Plot errors and learning rate over the steps of a network's training.

        Needs the extra ``c2cnet[plot]``, like all plots.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        self._fitted()
        return plotting.training(getattr(self, "report_", None))

    def plot_prediction(
        self,
        f: FieldsLike,
        u: FieldsLike | None = None,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        samples: int | list[int] = 0,
        triangles: ArrayLike | None = None,
        inputs: bool = True,
        labels: Mapping[str, Any] | None = None,
    ) -> Figure:
        """Plot predictions, with the truth and the error if known, beside the inputs.

        Curves in one dimension; colours in two: a grid, space and time, or a mesh.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`evaluate`; ``u`` may be left out.
        samples : int or list of int
            Which samples.
        triangles : array of int of shape (triangles, 3), optional
            A mesh on the output points; the constructor's if not given.
        inputs : bool
            Whether the inputs are drawn; vectors without points are not.
        labels : dict, optional
            Names of axes (``x``, ``y``) and components (``f``, ``u``, ``u.NAME``), each a text or a list, with
            units: ``{"y": ["x [m]", "t [s]"], "u": "temperature [K]"}``; what ``labels`` in the ``meta`` of the data
            file says if not given.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        chosen = [samples] if isinstance(samples, int) else list(samples)
        mesh = self.triangles if triangles is None else triangles
        return plotting.prediction(self, f, u, x, y, chosen, mesh, inputs, labels)

    def plot_worst(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        count: int = 3,
        triangles: ArrayLike | None = None,
        labels: Mapping[str, Any] | None = None,
    ) -> Figure:
        """Plot the samples with the largest errors.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`evaluate`.
        count : int
            The number of samples.
        triangles, labels
            As for :meth:`plot_prediction`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        order = np.argsort(self.evaluate(f, u, x, y).relative)[::-1]
        worst = [int(k) for k in order[:count]]
        return self.plot_prediction(f, u, x, y, worst, triangles, labels=labels)
