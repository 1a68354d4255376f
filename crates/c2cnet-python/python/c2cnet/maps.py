"""Maps from input coefficients to output coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._parameters import Spec

__all__ = ["Auto", "Kernel", "Layered", "Linear", "MLP", "Map"]


class Map(Spec):
    """A coefficient map with its settings."""

    kind: str

    def settings(self) -> dict[str, Any]:
        """Return the settings under ``map`` in a settings file.

        Returns
        -------
        dict

        Examples
        --------
        >>> Kernel(passes=2).settings()
        {'kind': 'kernel', 'kernel': {'passes': 2}}
        """
        given = {k: v for k, v in super().settings().items() if v != self._defaults()[k]}
        return {"kind": self.kind, **({self.kind: given} if given else {})}


class Auto(Map):
    """The best of the other maps on held-out training samples.

    Parameters
    ----------
    budget : int
        The budget of a network: samples times passes over them; 0 for no network.

    Examples
    --------
    >>> Auto(budget=0)
    Auto(budget=0)
    """

    kind = "auto"

    def __init__(self, budget: int = 8_000_000) -> None:
        self.budget = budget

    def settings(self) -> dict[str, Any]:
        """Return the settings under ``map`` in a settings file.

        Returns
        -------
        dict

        Examples
        --------
        >>> Auto(budget=0).settings()
        {'kind': 'auto', 'budget': 0}
        """
        return {"kind": self.kind, "budget": self.budget}


class Linear(Map):
    """Ridge regression in closed form: exact for linear equations.

    Examples
    --------
    >>> Linear()
    Linear()
    """

    kind = "linear"

    def __init__(self) -> None:
        pass


class Kernel(Map):
    """Kernel regression in coordinates that are weighted by their effect on the output.

    Parameters
    ----------
    kernel : {"matern-5/2", "inverse-multiquadric", "gaussian"}, optional
        Chosen on held-out samples if not given; so are the next three.
    length : float, optional
        The kernel's length; features have mean norm 1.
    nugget : float, optional
        Added to the diagonal.
    exponent : float, optional
        The weight of features.
    passes : int
        Re-weighting passes tried.
    memory_gib : float
        Memory for a dense kernel matrix; larger ones use Nystrom centres.
    max_centres : int
        The number of Nystrom centres.

    Examples
    --------
    >>> Kernel("gaussian", passes=1)
    Kernel(kernel='gaussian', passes=1)
    """

    kind = "kernel"

    def __init__(
        self,
        kernel: Literal["matern-5/2", "inverse-multiquadric", "gaussian"] | None = None,
        length: float | None = None,
        nugget: float | None = None,
        exponent: float | None = None,
        passes: int = 3,
        memory_gib: float = 4.0,
        max_centres: int = 6000,
    ) -> None:
        self.kernel = kernel
        self.length = length
        self.nugget = nugget
        self.exponent = exponent
        self.passes = passes
        self.memory_gib = memory_gib
        self.max_centres = max_centres


class MLP(Map):
    """A fully connected network, trained on the error of the decoded field.

    Settings that are not given have the defaults of the recipe.

    Parameters
    ----------
    recipe : {"fast", "paper"}
        A set of defaults: principal coordinates and mini-batches, or the paper's.
    hidden : sequence of int, optional
        Widths of hidden layers.
    activation : {"gelu", "gelu-tanh", "tanh", "relu", "silu"}
        Between layers.
    loss : dict, optional
        For example ``{"kind": "mean-square"}``.
    optimiser : dict, optional
        For example ``{"kind": "adamw", "weight_decay": 1e-4}``.
    schedule : {"paper", "one-cycle", "cosine", "constant"}, optional
        How the learning rate changes.
    rate : float, optional
        Its peak.
    steps : int, optional
        Steps of training; or give ``epochs``.
    epochs : int, optional
        Passes over the samples.
    batch : int or "full", optional
        Samples per step.
    precision : {"f32", "f64"}
        Of training; predictions are in double precision.
    clip : float, optional
        The largest norm of a gradient.
    residual : bool
        Learn the residual of the linear map (recipe ``fast``).
    scaled : bool
        Inputs in principal axes under one scale, outputs of unit rms (recipe ``paper``).
    evaluations : int
        How often a stage is evaluated and recorded.
    stages : sequence of dict, optional
        Further stages.

    Examples
    --------
    >>> MLP(hidden=[64, 64], steps=500)
    MLP(hidden=[64, 64], steps=500)
    """

    kind = "mlp"

    def __init__(
        self,
        recipe: Literal["fast", "paper"] = "fast",
        hidden: Sequence[int] | None = None,
        activation: Literal["gelu", "gelu-tanh", "tanh", "relu", "silu"] = "gelu",
        loss: dict[str, Any] | None = None,
        optimiser: dict[str, Any] | None = None,
        schedule: Literal["paper", "one-cycle", "cosine", "constant"] | None = None,
        rate: float | None = None,
        steps: int | None = None,
        epochs: int | None = None,
        batch: int | Literal["full"] | None = None,
        precision: Literal["f32", "f64"] = "f32",
        clip: float | None = None,
        residual: bool = True,
        scaled: bool = False,
        evaluations: int = 100,
        stages: Sequence[dict[str, Any]] | None = None,
    ) -> None:
        self.recipe = recipe
        self.hidden = hidden
        self.activation = activation
        self.loss = loss
        self.optimiser = optimiser
        self.schedule = schedule
        self.rate = rate
        self.steps = steps
        self.epochs = epochs
        self.batch = batch
        self.precision = precision
        self.clip = clip
        self.residual = residual
        self.scaled = scaled
        self.evaluations = evaluations
        self.stages = stages


class Layered(Map):
    """Layers in a prescribed basis, with pointwise nonlinearities between them, added to the linear map.

    Parameters
    ----------
    functions : int
        Functions of the layers' basis, unless ``basis`` is given.
    channels : int
        Values at each latent point.
    layers : int
        How many layers.
    hidden : int
        Width of the pointwise network after the last layer.
    basis : dict, optional
        The settings of a basis other than eigenfunctions of the Laplacian.
    points : int
        The most latent points.
    outputs : {"space", "points"}
        What they predict: coordinates of the output space, or fields that are evaluated by pushing any
        point through the layers.
    activation : {"gelu", "gelu-tanh", "tanh", "relu", "silu"}
        Between layers.
    optimiser : dict, optional
        For example ``{"kind": "adamw", "weight_decay": 1e-2}``.
    schedule : {"paper", "one-cycle", "cosine", "constant"}
        How the learning rate changes.
    rate : float
        Its peak.
    epochs : int
        Passes over the samples.
    batch : int or "full"
        Samples per step.
    precision : {"f32", "f64"}
        Of training; predictions are in double precision.
    clip : float, optional
        The largest norm of a gradient.
    evaluations : int
        How often it is evaluated and recorded.

    Examples
    --------
    >>> Layered(channels=16, epochs=10)
    Layered(channels=16, epochs=10)
    """

    kind = "layered"

    def __init__(
        self,
        functions: int = 128,
        channels: int = 32,
        layers: int = 4,
        hidden: int = 128,
        basis: dict[str, Any] | None = None,
        points: int = 1024,
        outputs: Literal["space", "points"] = "space",
        activation: Literal["gelu", "gelu-tanh", "tanh", "relu", "silu"] = "gelu",
        optimiser: dict[str, Any] | None = None,
        schedule: Literal["paper", "one-cycle", "cosine", "constant"] = "one-cycle",
        rate: float = 4e-3,
        epochs: int = 40,
        batch: int | Literal["full"] = 20,
        precision: Literal["f32", "f64"] = "f32",
        clip: float | None = None,
        evaluations: int = 25,
    ) -> None:
        self.functions = functions
        self.channels = channels
        self.layers = layers
        self.hidden = hidden
        self.basis = basis
        self.points = points
        self.outputs = outputs
        self.activation = activation
        self.optimiser = optimiser
        self.schedule = schedule
        self.rate = rate
        self.epochs = epochs
        self.batch = batch
        self.precision = precision
        self.clip = clip
        self.evaluations = evaluations
