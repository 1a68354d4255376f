"""From the estimator's arguments to the library's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._parameters import Spec, plain
from .bases import Basis
from .maps import Map

__all__ = ["fit_settings"]


def fit_settings(
    *,
    input: Any = None,
    output: Any = None,
    encoder: Any = None,
    map: Any = "auto",
    transform: Any = "auto",
    cut: float | None = None,
    symmetries: str = "none",
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the settings of a fit as written in a settings file.

    Parameters
    ----------
    input, output, encoder, map, transform, cut, symmetries, settings, seed
        As for :class:`c2cnet.C2CNet`.

    Returns
    -------
    dict
        What differs from the defaults.

    Examples
    --------
    >>> from c2cnet import PCA
    >>> fit_settings(input=PCA(8), map="linear", seed=3)
    {'seed': 3, 'map': {'kind': 'linear'}, 'input': {'basis': {'family': 'pca', 'functions': 8}}}
    """
    found: dict[str, Any] = plain(dict(settings or {}))
    found["seed"] = plain(seed)
    if symmetries != "none":
        found["symmetries"] = symmetries
    if isinstance(map, Map):
        found["map"] = {**found.get("map", {}), **map.settings()}
    elif map != "auto":
        found["map"] = {**found.get("map", {}), "kind": map}
    for key, value in (("input", input), ("output", output)):
        _put(found, key, value, _basis)
    _put(found, "input", encoder, lambda e: {"encoder": plain(e)})
    if transform != "auto":
        _put(found, "input", transform, lambda t: {"transform": t})
    _put(found, "output", cut, lambda c: {"cut": plain(c)})
    return found


def _put(found: dict[str, Any], key: str, value: Any, render: Any) -> None:
    """Put a value under ``input`` or, if it has names, under ``inputs``."""
    if value is None:
        return
    if isinstance(value, Mapping):
        for name, one in value.items():
            if one is not None:
                fields = found.setdefault(f"{key}s", {})
                # A field with its own table ignores the common one.
                fields.setdefault(name, dict(found.get(key, {}))).update(render(one))
        return
    found.setdefault(key, {}).update(render(value))
    for one in found.get(f"{key}s", {}).values():
        for setting, default in render(value).items():
            one.setdefault(setting, default)


def _basis(value: Any) -> dict[str, Any]:
    if isinstance(value, Basis):
        return {"basis": value.settings()}
    if isinstance(value, (list, tuple)) and all(isinstance(v, Basis) for v in value):
        return {"bases": [v.settings() for v in value]}
    kind = type(value).__name__ if isinstance(value, Spec) else repr(value)
    raise ValueError(
        f"{kind} is not a basis; give for example c2cnet.Fourier('sine', functions=64), a list of "
        "bases (one per component) or a dictionary of them (one per named field)"
    )
