"""Errors as the paper defines them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FieldLike, floats

__all__ = ["Errors", "mse", "relative_errors", "rl2e"]


def relative_errors(u: FieldLike, predicted: FieldLike) -> NDArray[np.float64]:
    r"""Return :math:`\lVert\hat u_k-u_k\rVert/\lVert u_k\rVert` of each sample.

    Parameters
    ----------
    u, predicted : array of shape (samples, ...) or list of arrays
        Truth and prediction at the same points.

    Returns
    -------
    ndarray of shape (samples,)
        For a sample that is zero everywhere, its absolute error.

    Examples
    --------
    >>> relative_errors([[3.0, 4.0]], [[3.0, 4.5]])
    array([0.1])
    """
    pairs = list(zip(u, predicted, strict=True))  # type: ignore[arg-type]
    return np.array([_relative(floats(t, "u"), floats(p, "predicted")) for t, p in pairs])


def rl2e(u: FieldLike, predicted: FieldLike) -> float:
    """Return the mean relative L2 error.

    Parameters
    ----------
    u, predicted : array of shape (samples, ...) or list of arrays
        Truth and prediction at the same points.

    Returns
    -------
    float

    Examples
    --------
    >>> round(rl2e([[3.0, 4.0], [1.0, 0.0]], [[3.0, 4.5], [1.3, 0.0]]), 6)
    0.2
    """
    return float(relative_errors(u, predicted).mean())


def mse(u: FieldLike, predicted: FieldLike) -> float:
    """Return the mean squared error of a value.

    Parameters
    ----------
    u, predicted : array of shape (samples, ...) or list of arrays
        Truth and prediction at the same points.

    Returns
    -------
    float

    Examples
    --------
    >>> mse([[3.0, 4.0]], [[3.0, 5.0]])
    0.5
    """
    pairs = list(zip(u, predicted, strict=True))  # type: ignore[arg-type]
    off = [(floats(p, "predicted") - floats(t, "u")).ravel() for t, p in pairs]
    return float(np.mean(np.concatenate(off) ** 2))


def _relative(u: NDArray[np.floating[Any]], predicted: NDArray[np.floating[Any]]) -> float:
    if u.shape != predicted.shape:
        raise ValueError(f"predicted: expected shape {u.shape}, found {predicted.shape}")
    norm = float(np.linalg.norm(u))
    error = float(np.linalg.norm(predicted - u))
    return error / norm if norm > 0 else error


@dataclass(frozen=True, eq=False, repr=False)
class Errors:
    """Errors of a model on samples with known outputs, with the errors to compare them with.

    Attributes
    ----------
    rl2e : float
        Mean relative L2 error at all output points.
    floor : float
        The smallest RL2E that the output basis allows.
    withheld_rl2e, withheld_floor : float or None
        The same at withheld output points.
    linear_rl2e : float
        RL2E of a linear map.
    mean_rl2e : float
        RL2E of predicting the mean of the training outputs.
    worst_rl2e, worst_sample : float, int
        The worst sample and its error.
    mse, rms : float
        Mean squared error; root mean square of the outputs.
    n_samples : int
        The number of samples.
    relative : ndarray
        The relative error of each sample.
    quantities : list of dict
        For each value of outputs that are vectors without points: ``output`` (its name), ``column``,
        ``rmse`` (root mean square error) and ``deviation`` (standard deviation of the truth), in its
        own units.

    outputs : list of dict
        For each output: ``output`` (its name), ``rl2e``, ``floor``, ``mean_rl2e``, ``rms``, ``withheld_points``
        (how many) and, for each of its ``components``, ``rl2e``, ``mean_rl2e``, ``mse`` and ``rms``. Where components differ much in size,
        ``rl2e`` above counts them equally; these are each one's own.

    Examples
    --------
    >>> import c2cnet
    >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=60)
    >>> model = c2cnet.C2CNet(map="linear", x=data.x, y=data.y).fit(data.train.f, data.train.u)
    >>> errors = model.evaluate(data.test.f, data.test.u)
    >>> errors.floor < errors.rl2e < errors.worst_rl2e
    True
    """

    rl2e: float
    mse: float
    floor: float
    worst_rl2e: float
    worst_sample: int
    mean_rl2e: float
    linear_rl2e: float
    withheld_rl2e: float | None
    withheld_floor: float | None
    rms: float
    n_samples: int
    relative: NDArray[np.float64]
    quantities: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def from_report(cls, report: dict[str, Any], relative: Any) -> Errors:
        """Return the errors of the library's report.

        Parameters
        ----------
        report : dict
            As the library writes it.
        relative : array_like
            The error of each sample.

        Returns
        -------
        Errors
        """
        known = {f.name for f in fields(cls)} - {"relative"}
        given = {k: v for k, v in report.items() if k in known}
        return cls(relative=np.asarray(relative, dtype=np.float64), **given)

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values to display.

        Returns
        -------
        list of pairs of str
        """
        shown: list[tuple[str, float | None]] = [
            ("RL2E", self.rl2e),
            ("floor", self.floor),
            ("withheld", self.withheld_rl2e),
            ("withheld floor", self.withheld_floor),
            ("linear map", self.linear_rl2e),
            ("training mean", self.mean_rl2e),
            ("worst", self.worst_rl2e),
            ("MSE", self.mse),
            ("rms", self.rms),
            *self._parts(),
            *((f"{q['output'] or 'q'}[{q['column']}]", q["rmse"]) for q in self.quantities),
        ]
        return [(name, f"{value:.3e}") for name, value in shown if value is not None]

    def _parts(self) -> list[tuple[str, float | None]]:
        """Errors of outputs and of components, where there are several."""
        found: list[tuple[str, float | None]] = []
        vectors = {q["output"] for q in self.quantities}
        for one in self.outputs:
            name = one["output"] or "u"
            if len(self.outputs) > 1:
                found.append((name, one["rl2e"]))
            if len(one["components"]) > 1 and one["output"] not in vectors:
                found += [(f"{name}[{c}]", part["rl2e"]) for c, part in enumerate(one["components"])]
        return found

    def __repr__(self) -> str:
        rows = "\n".join(f"  {name:<15}{value}" for name, value in self.rows())
        return f"errors on {self.n_samples} samples\n{rows}"

    def _repr_html_(self) -> str:
        from ._display import table

        return table(f"errors on {self.n_samples} samples", self.rows())
