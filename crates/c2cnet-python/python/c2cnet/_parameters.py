"""Objects defined by their constructor's arguments, compatible with scikit-learn but independent of it."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

Self = TypeVar("Self", bound="Parameters")


class Parameters:
    """A base class that returns its constructor arguments.

    The constructor of a subclass stores each argument unchanged under its own name. Then
    ``get_params``, ``set_params``, ``repr`` and ``==`` follow, and scikit-learn's ``clone`` and
    ``GridSearchCV`` work.
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__)
        arguments = list(signature.parameters.values())[1:]
        return {a.name: a.default for a in arguments if a.kind is not a.VAR_KEYWORD}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments.

        Parameters
        ----------
        deep : bool
            Include those of arguments that have parameters themselves, such as ``map__passes``.

        Returns
        -------
        dict
            Arguments by name.

        Examples
        --------
        >>> from c2cnet import Fourier
        >>> Fourier("sine", functions=64).get_params()
        {'kind': 'sine', 'functions': 64, 'modes': None}
        """
        found: dict[str, Any] = {}
        for name in self._defaults():
            value = getattr(self, name)
            found[name] = value
            if deep and isinstance(value, Parameters):
                for key, inner in value.get_params(deep=True).items():
                    found[f"{name}__{key}"] = inner
        return found

    def set_params(self: Self, **params: Any) -> Self:
        """Change arguments.

        Parameters
        ----------
        **params
            Arguments by name; ``map__passes=2`` sets ``passes`` of the argument ``map``.

        Returns
        -------
        self

        Examples
        --------
        >>> from c2cnet import C2CNet, Kernel
        >>> C2CNet(map=Kernel()).set_params(map__passes=2, seed=3)
        C2CNet(map=Kernel(passes=2), seed=3)
        """
        known = self._defaults()
        # The outer ones first: `map=Kernel(), map__passes=2` means the new map.
        for key, value in sorted(params.items(), key=lambda item: item[0].count("__")):
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            if not inner:
                setattr(self, name, value)
                continue
            part = getattr(self, name)
            if not hasattr(part, "set_params"):
                raise ValueError(f"{key!r}: the parameter {name!r} is {part!r}, which has none")
            part.set_params(**{inner: value})
        return self

    def __repr__(self) -> str:
        changed = []
        for name, default in self._defaults().items():
            value = getattr(self, name)
            if default is inspect.Parameter.empty or not _same(value, default):
                changed.append(f"{name}={_short(value)}")
        return f"{type(self).__name__}({', '.join(changed)})"


class Spec(Parameters):
    """A part of the settings: compared by value, converted to the library's settings."""

    def settings(self) -> dict[str, Any]:
        """Return the settings as written in a settings file.

        Returns
        -------
        dict
            Keys and values, without those that are None.

        Examples
        --------
        >>> from c2cnet import Ridge
        >>> Ridge(1e-6).settings()
        {'lambda': 1e-06, 'method': 'ridge'}
        """
        given = {k: v for k, v in self.get_params(deep=False).items() if v is not None}
        return {k: plain(v) for k, v in given.items()}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.settings() == other.settings()

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self)))


def plain(value: Any) -> Any:
    """Return numbers, lists and dictionaries in place of arrays, tuples and specifications."""
    if isinstance(value, Spec):
        return value.settings()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


def _same(value: Any, default: Any) -> bool:
    if hasattr(value, "shape") or hasattr(default, "shape"):
        return value is default
    try:
        return bool(value == default)
    except (TypeError, ValueError):
        return False


def _short(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape:
        return f"<array {'x'.join(map(str, shape))}>"
    if isinstance(value, (list, tuple)) and len(value) > 6:
        return f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= 80 or isinstance(value, Parameters) else f"{text[:60]}...{text[-1]}"
