"""Fits to samples that come in chunks."""

from __future__ import annotations

import copy
import json
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from . import _c2cnet
from ._arrays import FieldsLike, Named
from ._fitted import NotFittedError
from ._pictures import Pictures
from .metrics import Errors

__all__ = ["Incremental"]

Self = TypeVar("Self", bound="Incremental")


class Incremental(Pictures):
    """An operator that can be fitted chunk by chunk."""

    n_features_in_: int
    #: What the first chunk settled.
    _template: _c2cnet.Template | None = None
    #: The sums of all chunks; None: of none.
    _sums: _c2cnet.Sums | None = None
    #: Whether the model is older than the sums.
    _unsolved: bool = False

    def partial_fit(
        self: Self,
        f: FieldsLike,
        u: FieldsLike,
        x: FieldsLike | None = None,
        y: FieldsLike | None = None,
        *,
        centres: int = 4000,
    ) -> Self:
        """Fit the operator to one more chunk of samples.

        The first chunk determines bases, encoders and the kind of map: give as many samples as :meth:`fit` would need for
        a useful model, a few thousand if available. Later chunks are added to sums of small matrices, and their samples may
        be forgotten; with ``map="mlp"`` the coefficients of all samples are kept, and a network is trained on them. All chunks share the points that the first one
        shares. The map is computed when the model is next used; ``report_`` and ``errors_`` date from then, on
        samples of the first chunk, left out of the sums until the end (``errors_.mse`` and ``errors_.rms`` are None).

        Parameters
        ----------
        f, u, x, y
            As for :meth:`C2CNet.fit`; later chunks need no points that all samples share.
        centres : int
            In the first call: the most centres of a kernel map. Time per sample and memory grow with their square.

        Returns
        -------
        self

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=300, n_test=50, points=100).train
        >>> model = c2cnet.C2CNet(map="linear", x=data.x, y=data.y)
        >>> for start in range(0, 300, 100):
        ...     model = model.partial_fit(data.f[start : start + 100], data.u[start : start + 100])
        >>> model.predict(data.f[:5]).shape, model.report_["samples"]
        ((5, 100), 300)
        """
        template = self._template
        if template is None:
            inputs, outputs = self._data(f, u, x, y)
            triangles = None if self.triangles is None else np.asarray(self.triangles).tolist()
            template, sums = _c2cnet.begin(
                json.dumps(self._settings()),
                [i.arrays() for i in inputs],
                [o.arrays() for o in outputs],
                centres,
                triangles,
                self._listener(),
            )
            self._forget_sums()
            self._template = template
            self._read_from = None
            self._remember_points(inputs, outputs)
        else:
            inputs, outputs = self._inputs(f, x), self._outputs(u, y)
            sums = template.accumulate([i.arrays() for i in inputs], [o.arrays() for o in outputs])
        self._sums = sums if self._sums is None else self._sums.merged(sums)
        self._unsolved = True
        return self

    def empty(self: Self) -> Self:
        """Return an operator with the same spaces and no samples, to be fitted elsewhere and merged.

        Returns
        -------
        C2CNet

        Examples
        --------
        >>> import c2cnet
        >>> data = c2cnet.generate("darcy1d", n_train=300, n_test=50, points=100).train
        >>> model = c2cnet.C2CNet(map="linear", x=data.x, y=data.y).partial_fit(data.f[:100], data.u[:100])
        >>> other = model.empty().partial_fit(data.f[100:], data.u[100:])
        >>> model.merge(other).predict(data.f[:5]).shape, model.report_["samples"]
        ((5, 100), 300)
        """
        if self._template is None:
            raise NotFittedError("there is nothing to share before the first partial_fit(f, u)")
        other = copy.copy(self)
        other._sums, other._unsolved = None, True
        for name in ("_model", "report_", "errors_"):
            other.__dict__.pop(name, None)
        return other

    def merge(self: Self, other: Incremental) -> Self:
        """Add the samples that another operator was fitted to.

        Parameters
        ----------
        other : C2CNet
            Made by :meth:`empty` of this one, or of a copy of it, and fitted by :meth:`partial_fit`.

        Returns
        -------
        self
        """
        if self._template is None or other._template is None:
            raise NotFittedError("only operators that were fitted by partial_fit(f, u) can be merged")
        if other._sums is not None:
            self._sums = other._sums if self._sums is None else self._sums.merged(other._sums)
            self._unsolved = True
        return self

    def _fitted(self) -> _c2cnet.Model:
        if self._unsolved:
            if self._template is None or self._sums is None:
                raise NotFittedError("this C2CNet has no samples yet; call partial_fit(f, u) first")
            self._model, report = self._template.finish(self._sums, self._listener())
            self._unsolved = False
            self.report_ = json.loads(report)
            held = json.loads(self._model.describe())["info"]["validation"]
            self.errors_ = Errors.from_report(held, [])
        return super()._fitted()

    def __sklearn_is_fitted__(self) -> bool:
        return self._sums is not None or super().__sklearn_is_fitted__()

    def _forget_sums(self) -> None:
        self._template, self._sums, self._unsolved = None, None, False

    def _remember_points(self, inputs: list[Named], outputs: list[Named]) -> None:
        self._fitted_x = {i.name: i.given for i in inputs}
        self._fitted_y = {o.name: o.given for o in outputs}
        first = inputs[0].values
        if not isinstance(first, list):
            self.n_features_in_ = first.shape[1]

    @abstractmethod
    def _data(
        self, f: FieldsLike, u: FieldsLike, x: FieldsLike | None, y: FieldsLike | None
    ) -> tuple[list[Named], list[Named]]: ...

    @abstractmethod
    def _settings(self) -> dict[str, Any]: ...

    @abstractmethod
    def _listener(self) -> Callable[[str], object] | None: ...
