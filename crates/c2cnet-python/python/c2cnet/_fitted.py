"""The parts, points and description of a fitted model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import _arrays, _c2cnet
from ._arrays import FieldsLike, Floats, Named
from ._parameters import Parameters
from .metrics import Errors

__all__ = ["Fitted", "NotFittedError"]


class NotFittedError(ValueError, AttributeError):
    """The model must be fitted first."""


class Fitted(Parameters):
    """A model that may be fitted."""

    x: FieldsLike | None
    y: FieldsLike | None
    missing: str
    errors_: Errors
    _model: _c2cnet.Model
    _read_from: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return bases, encoder, map and history of the fitted model.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = json.loads(self._fitted().describe())
        return found

    def summary(self) -> str:
        """Return the model's parts, error and floor, as text.

        Returns
        -------
        str
        """
        return "\n".join(f"{name:<8}{text}" for name, text in self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        about = self.describe()
        rows = []
        for side in ("inputs", "outputs"):
            for one in about[side]:
                label = f"{side[:-1]} {one['name']}".strip()
                text = one["basis"]
                if side == "inputs":
                    text += f"; {one['encoder']}"
                    if one["transform"] != "none":
                        text += f"; transform {one['transform']}"
                else:
                    text += f"; {one['rank']} of {one['functions']} coordinates kept"
                rows.append((label, text))
        rows.insert(len(about["inputs"]), ("map", about["map"]["description"]))
        if hasattr(self, "errors_"):
            held = (about["info"] or {}).get("held_out", True)
            on = "held-out training samples" if held else "training samples"
            rows.append(("error", f"{self.errors_.rl2e:.2e} on {on} (RL2E)"))
            rows.append(("floor", f"{self.errors_.floor:.2e}, the smallest that the output basis allows"))
        return rows

    def _repr_html_(self) -> str:
        from ._display import table

        if not self.__sklearn_is_fitted__():
            return table("C2CNet, not fitted", [("settings", repr(self))])
        return table("C2CNet, fitted", self._rows())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True, multi_output=True, single_output=False),
            input_tags=InputTags(two_d_array=True, three_d_array=True),
        )

    # Points

    def _fitted(self) -> _c2cnet.Model:
        model: _c2cnet.Model | None = getattr(self, "_model", None)
        if model is None:
            raise NotFittedError("this C2CNet is not fitted yet; call fit(f, u) first")
        return model

    def _output_names(self) -> list[str]:
        if hasattr(self, "_fitted_y"):
            return list(self._fitted_y)
        return [one["name"] for one in self.describe()["outputs"]]

    def _known(self, given: FieldsLike | None, attribute: str) -> FieldsLike | None:
        """Shared points of the fit, else of the constructor."""
        fitted: dict[str, Floats | list[Floats] | None] = getattr(self, attribute, {})
        if not fitted:
            return given
        shared = {n: p for n, p in fitted.items() if not isinstance(p, list)}
        if list(fitted) == [""]:
            return shared.get("", given)
        return shared

    def _inputs(self, f: FieldsLike, x: FieldsLike | None) -> list[Named]:
        known = self._known(self.x, "_fitted_x")
        functions = self._functions("inputs", "_fitted_x")
        return _arrays.fields(f, x, "f", "x", known, functions, self.missing)

    def _outputs(self, u: FieldsLike, y: FieldsLike | None) -> list[Named]:
        known = self._known(self.y, "_fitted_y")
        functions = self._functions("outputs", "_fitted_y")
        return _arrays.fields(u, y, "u", "y", known, functions, self.missing)

    def _functions(self, side: str, attribute: str) -> Callable[[str], bool]:
        """Tell which fields of the model have points."""
        fitted: dict[str, Any] | None = getattr(self, attribute, None)
        if fitted is not None:
            vectors = {name for name, points in fitted.items() if points is None}
        else:
            vectors = {one["name"] for one in self.describe()[side] if one["vector"]}
        return lambda name: name not in vectors
