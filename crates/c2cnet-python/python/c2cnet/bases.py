"""Prescribed bases, under the names that the settings use.

Each class holds a family's settings; the basis is built when a model is fitted. Settings that are
not given have the library's defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._parameters import Spec

__all__ = [
    "Basis",
    "FiniteElements",
    "Fourier",
    "Laplace",
    "PCA",
    "PointValues",
    "Polynomial",
    "Radial",
    "RandomFeatures",
    "basis_from_settings",
]


class Basis(Spec):
    """A family of functions with its settings."""

    family: str

    def settings(self) -> dict[str, Any]:
        """Return the settings with the family's name.

        Returns
        -------
        dict
            As under ``basis`` in a settings file.

        Examples
        --------
        >>> from c2cnet import PCA
        >>> PCA(20).settings()
        {'family': 'pca', 'functions': 20}
        """
        return {"family": self.family, **super().settings()}


class RandomFeatures(Basis):
    """Random features with a partition of unity.

    Parameters
    ----------
    functions : int
        The number of functions.
    partitions : sequence of int, optional
        Patches along each axis; one patch if not given.
    scale : float
        The weights are uniform between minus and plus this value.
    activation : {"tanh", "sin", "cos", "gelu"}
        The function of the weighted sum.
    coordinates : {"local", "global"}
        What the weights multiply.
    seed : int
        Seed of the weights.

    Examples
    --------
    >>> RandomFeatures(128, partitions=[16])
    RandomFeatures(functions=128, partitions=[16])
    """

    family = "random-features"

    def __init__(
        self,
        functions: int,
        partitions: Sequence[int] | None = None,
        scale: float = 3.0,
        activation: Literal["tanh", "sin", "cos", "gelu"] = "tanh",
        coordinates: Literal["local", "global"] = "local",
        seed: int = 0,
    ) -> None:
        self.functions = functions
        self.partitions = partitions
        self.scale = scale
        self.activation = activation
        self.coordinates = coordinates
        self.seed = seed


class FiniteElements(Basis):
    """Finite elements on an interval, a rectangle, a polygon with holes or your own mesh.

    Parameters
    ----------
    functions : int, optional
        About how many functions; or give ``size``.
    size : float, optional
        Length of an element's edges.
    degree : {1, 2}
        Of the polynomials on an element.
    mesh : str or dict
        ``"box"``, ``{"cells": [nx, ny]}``, ``"data"`` (the data's own points and triangles), ``{"polygon": ...}``,
        ``{"nodes": ...}`` or ``{"triangles": {"nodes": ..., "triangles": ...}}``.
    boundary : {"keep", "remove"}
        ``"remove"`` leaves out the functions that belong to the boundary.
    slack : float
        How far outside the mesh points may lie, in element sizes.

    Examples
    --------
    >>> FiniteElements(200, degree=2)
    FiniteElements(functions=200, degree=2)
    >>> FiniteElements(mesh="data")
    FiniteElements(mesh='data')
    """

    family = "finite-elements"

    def __init__(
        self,
        functions: int | None = None,
        size: float | None = None,
        degree: Literal[1, 2] = 1,
        mesh: str | dict[str, Any] = "box",
        boundary: Literal["keep", "remove"] = "keep",
        slack: float = 0.0,
    ) -> None:
        self.functions = functions
        self.size = size
        self.degree = degree
        self.mesh = mesh
        self.boundary = boundary
        self.slack = slack


class Fourier(Basis):
    """Trigonometric functions on a box.

    Parameters
    ----------
    kind : {"periodic", "sine", "cosine"}
        ``"sine"`` for functions that vanish on the boundary.
    functions : int, optional
        The number of products, by smallest frequency; or give ``modes``.
    modes : sequence of int, optional
        All products of this many functions along each axis.

    Examples
    --------
    >>> Fourier("sine", functions=64)
    Fourier(kind='sine', functions=64)
    """

    family = "fourier"

    def __init__(
        self,
        kind: Literal["periodic", "sine", "cosine"] = "periodic",
        functions: int | None = None,
        modes: Sequence[int] | None = None,
    ) -> None:
        self.kind = kind
        self.functions = functions
        self.modes = modes


class Polynomial(Basis):
    """Polynomials on a box.

    Parameters
    ----------
    kind : {"legendre", "chebyshev"}
        Which polynomials of one variable.
    functions : int, optional
        The number of products, by smallest total degree.
    total_degree : int, optional
        All products up to this total degree.
    degrees : sequence of int, optional
        All products up to these degrees along each axis.

    Examples
    --------
    >>> Polynomial(total_degree=6)
    Polynomial(total_degree=6)
    """

    family = "polynomial"

    def __init__(
        self,
        kind: Literal["legendre", "chebyshev"] = "legendre",
        functions: int | None = None,
        total_degree: int | None = None,
        degrees: Sequence[int] | None = None,
    ) -> None:
        self.kind = kind
        self.functions = functions
        self.total_degree = total_degree
        self.degrees = degrees


class Radial(Basis):
    """Radial functions around centres.

    Parameters
    ----------
    functions : int
        The number of functions; a grid of centres may have fewer.
    kernel : {"gaussian", "multiquadric", "inverse-multiquadric", "wendland"}
        The function of the distance.
    centres : str or dict
        ``"grid"``, ``"scattered"``, ``"data"`` or ``{"boxes": [...]}``.
    width : float, pair of floats or dict, optional
        One width, an interval to draw from, or ``{"spacing": ...}``.
    seed : int
        Seed of the centres and widths.

    Examples
    --------
    >>> Radial(100, kernel="wendland", centres="scattered")
    Radial(functions=100, kernel='wendland', centres='scattered')
    """

    family = "radial"

    def __init__(
        self,
        functions: int,
        kernel: Literal[
            "gaussian", "multiquadric", "inverse-multiquadric", "wendland"
        ] = "gaussian",
        centres: str | dict[str, Any] = "grid",
        width: float | Sequence[float] | dict[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        self.functions = functions
        self.kernel = kernel
        self.centres = centres
        self.width = width
        self.seed = seed


class Laplace(Basis):
    """Eigenfunctions of the Laplacian on a box, a polygon with holes or a mesh.

    Parameters
    ----------
    functions : int
        How many functions, in order of increasing eigenvalue.
    condition : {"neumann", "dirichlet"}
        On the boundary: no slope across it, or zero.
    mesh : str or dict
        ``"box"``, ``"data"`` (the data's own triangles), ``{"polygon": ...}`` or
        ``{"triangles": {"nodes": ..., "triangles": ...}}``.
    elements : int, optional
        About how many quadratic finite elements fill a polygon.
    slack : float
        How far outside a mesh points may lie, in element sizes.

    Examples
    --------
    >>> Laplace(100, "dirichlet")
    Laplace(functions=100, condition='dirichlet')
    """

    family = "laplace"

    def __init__(
        self,
        functions: int,
        condition: Literal["neumann", "dirichlet"] = "neumann",
        mesh: str | dict[str, Any] = "box",
        elements: int | None = None,
        slack: float = 0.0,
    ) -> None:
        self.functions = functions
        self.condition = condition
        self.mesh = mesh
        self.elements = elements
        self.slack = slack


class PCA(Basis):
    """Principal directions of the training values, as in PCA-Net.

    Parameters
    ----------
    functions : int
        The number of functions, including the mean.

    Examples
    --------
    >>> PCA(32)
    PCA(functions=32)
    """

    family = "pca"

    def __init__(self, functions: int) -> None:
        self.functions = functions


class PointValues(Basis):
    """One function for each of the data's points: coefficients are the values.

    Examples
    --------
    >>> PointValues()
    PointValues()
    """

    family = "point-values"

    def __init__(self) -> None:
        pass


_FAMILIES: dict[str, type[Basis]] = {
    basis.family: basis
    for basis in (
        RandomFeatures,
        FiniteElements,
        Fourier,
        Polynomial,
        Radial,
        Laplace,
        PCA,
        PointValues,
    )
}


def basis_from_settings(settings: dict[str, Any]) -> Basis:
    """Return the basis described by settings.

    Parameters
    ----------
    settings : dict
        With the key ``family``, as :meth:`Basis.settings` gives it.

    Returns
    -------
    Basis

    Examples
    --------
    >>> basis_from_settings({"family": "fourier", "kind": "sine", "functions": 8})
    Fourier(kind='sine', functions=8)
    """
    given = dict(settings)
    family = given.pop("family", None)
    if family not in _FAMILIES:
        raise ValueError(f"unknown family {family!r}; known are {', '.join(_FAMILIES)}")
    return _FAMILIES[family](**given)
