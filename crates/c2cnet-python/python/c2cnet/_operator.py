"""Predictions of a fitted operator, their steps, errors, export."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays
from ._arrays import FieldLike, FieldsLike, Place
from ._fitted import Fitted
from .metrics import Errors

__all__ = ["Operator"]


class Operator(Fitted):
    """An operator that predicts."""

    def predict(
        self, f: FieldsLike, x: FieldsLike | None = None, y: FieldsLike | None = None
    ) -> Any:
        """Predict outputs.

        Parameters
        ----------
        f : array of shape (samples, points[, components]), list of arrays, or dict of these
            Input values, on a grid also in its shape, ``(samples, n1, n2[, components])``;
            ``(samples, values)`` if the model was fitted to vectors.
        x : array, list of arrays or dict, optional
            Where they were observed; the points of the fit if not given. They may differ from
            those.
        y : array of shape (points, dimension) or (points,), list of arrays, or dict, optional
            Where to predict; the points of the fit if not given, or :meth:`nodes` where these move
            with the inputs. A grid may be a tuple of its axes or an array ``(n1, n2, 2)``.

        Returns
        -------
        ndarray of shape (samples, points[, components]), list of ndarray, or dict of these
            Double precision and contiguous, ready for ``torch.from_numpy``; in the shape of the
            grid if ``y`` is one, complex if the training outputs were; a list if ``y`` has
            points for each sample, a dictionary if outputs have names, ``(samples, values)`` for
            vectors, which have no points.

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear", x=data.x, y=data.y)
        >>> model.fit(data.train.f, data.train.u).predict(data.test.f, y=[0.1, 0.2, 0.3]).shape
        (10, 3)
        """
        model = self._fitted()
        inputs = self._inputs(f, x)
        known = self._known(self.y, "_fitted_y") if y is None else y
        names = self._output_names()
        found = {}
        for name in names:
            moves = y is None and model.moves(name)
            at = None if moves else _place(known, name, len(inputs[0].values))
            values = model.predict([i.arrays() for i in inputs], name, at and at.points)
            found[name] = np.stack(values) if moves else self._as_given(name, values, at, known)
        return found[""] if names == [""] else found

    def nodes(self, f: FieldsLike, x: FieldsLike | None = None) -> Any:
        """Return where the nodes of each sample are, if they move with the inputs.

        If each sample has its own points, the same number in each, and the inputs determine where they are, a fit
        takes them for the nodes of one moving mesh, and also predicts them.

        Parameters
        ----------
        f, x
            As for :meth:`predict`.

        Returns
        -------
        ndarray of shape (samples, nodes, dimension), None, or dict of these
            None for an output whose points do not move; a dictionary if outputs have names.

        Examples
        --------
        >>> import c2cnet
        >>> import numpy as np
        >>> p = np.random.default_rng(0).uniform(1, 2, (40, 1))
        >>> y = np.linspace(0, 1, 30) * p  # a rod that is p long
        >>> model = c2cnet.C2CNet().fit(p, np.sin(y), y=list(y[:, :, None]))
        >>> model.nodes([[1.5]])[0, -1].round(6)
        array([1.5])
        """
        model = self._fitted()
        inputs = [i.arrays() for i in self._inputs(f, x)]
        names = self._output_names()
        found = {name: model.nodes(inputs, name) for name in names}
        return found[""] if names == [""] else found

    def _as_given(self, name: str, values: Any, at: Place | None, y: Any) -> Any:
        """Return predictions in the shape of the points, complex if the training outputs were."""
        model = self._fitted()
        if isinstance(values, list):
            asked = y.get(name) if isinstance(y, Mapping) else y
            if isinstance(asked, np.ndarray):
                values = np.stack(values)
        if model.is_complex(name):
            values = _arrays.combined(values)
        grid = model.grid(name) if at is None else at.grid
        if grid is None or isinstance(values, list):
            return values
        return values.reshape(len(values), *grid, *values.shape[2:])

    def encode(self, f: FieldsLike, x: FieldsLike | None = None) -> NDArray[np.float64]:
        """Return input coefficients.

        Parameters
        ----------
        f, x
            As for :meth:`predict`.

        Returns
        -------
        ndarray of shape (samples, coefficients)

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(c2cnet.Polynomial(functions=30), map="linear")
        >>> model = model.fit(data.train.f, data.train.u, data.x, data.y)
        >>> model.encode(data.test.f).shape
        (10, 30)
        """
        return self._fitted().encode([i.arrays() for i in self._inputs(f, x)])

    def map_coefficients(self, coefficients: ArrayLike) -> NDArray[np.float64]:
        """Return output coordinates of input coefficients.

        Parameters
        ----------
        coefficients : array of shape (samples, coefficients)
            As :meth:`encode` gives them.

        Returns
        -------
        ndarray of shape (samples, coordinates)
            Orthonormal coordinates of the output space.

        Examples
        --------
        ``predict`` is ``encode``, ``map_coefficients``, ``decode``:

        >>> import c2cnet, numpy as np
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear").fit(data.train.f, data.train.u, data.x, data.y)
        >>> u = model.decode(model.map_coefficients(model.encode(data.test.f)))
        >>> np.array_equal(u, model.predict(data.test.f))
        True
        """
        return self._fitted().map(_arrays.floats(coefficients, "coefficients"))

    def decode(self, coordinates: ArrayLike, y: FieldsLike | None = None) -> Any:
        """Return outputs from coordinates.

        Parameters
        ----------
        coordinates : array of shape (samples, coordinates)
            As :meth:`map_coefficients` gives them.
        y : array, list of arrays or dict, optional
            Where; the points of the fit if not given.

        Returns
        -------
        ndarray, list of ndarray or dict
            As :meth:`predict`.
        """
        model = self._fitted()
        if y is None:
            y = self._known(self.y, "_fitted_y")
        names = self._output_names()
        numbers = _arrays.floats(coordinates, "coordinates")
        found = {}
        for name in names:
            at = _place(y, name, len(numbers))
            values = model.decode(numbers, name, at and at.points)
            found[name] = self._as_given(name, values, at, y)
        return found[""] if names == [""] else found

    # Errors

    def evaluate(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
    ) -> Errors:
        """Return errors on samples with known outputs, with the floor.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`fit`; points of the fit if not given.

        Returns
        -------
        Errors

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=10, points=100)
        >>> model = c2cnet.C2CNet(map="linear").fit(data.train.f, data.train.u, data.x, data.y)
        >>> model.evaluate(data.test.f, data.test.u).n_samples
        10
        """
        model = self._fitted()
        inputs = [i.arrays() for i in self._inputs(f, x)]
        outputs = [o.arrays() for o in self._outputs(u, y)]
        report = json.loads(model.evaluate(inputs, outputs))
        return Errors.from_report(report, report.pop("relative"))

    def score(
        self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
    ) -> float:
        """Return minus the mean relative L2 error: larger is better, 0 is best.

        Parameters
        ----------
        f, u, x, y
            As for :meth:`evaluate`.

        Returns
        -------
        float
        """
        return -self.evaluate(f, u, x, y).rl2e

    # Export

    def export_onnx(
        self,
        path: str | PathLike[str] | None = None,
        x: FieldLike | None = None,
        y: FieldLike | None = None,
        part: Literal["operator", "map"] = "operator",
    ) -> Any:
        """Export the operator for fixed points, or its coefficient map, to ONNX.

        Needs the extra ``c2cnet[onnx]``.

        Parameters
        ----------
        path : path, optional
            Where to write the ONNX model.
        x, y : array, optional
            Input and output points; those of the fit if not given.
        part : {"operator", "map"}
            The whole operator from ``f`` to ``u``, or the map from ``coefficients`` to
            ``coordinates``.

        Returns
        -------
        onnx.ModelProto
            In double precision; its inputs have a free number of samples.
        """
        from . import onnx_export

        self._fitted()
        return onnx_export.export(self, path, x, y, part)


def _place(y: Any, name: str, samples: int) -> Place | None:
    at = y.get(name) if isinstance(y, Mapping) else y
    return None if at is None else _arrays.place(at, "y", samples=samples)
