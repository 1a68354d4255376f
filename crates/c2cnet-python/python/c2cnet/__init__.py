"""Operator learning in prescribed bases, on NumPy arrays.

From samples of input functions ``f`` at points ``x`` and output functions ``u`` at points ``y`` to
a model that predicts the output at any point:

>>> import c2cnet
>>> data = c2cnet.generate("darcy1d", n_train=60, n_test=10, points=100)
>>> model = c2cnet.C2CNet(map="kernel").fit(data.train.f, data.train.u, x=data.x, y=data.y)
>>> model.predict(data.test.f, y=[[0.25], [0.5]]).shape
(10, 2)
"""

from ._c2cnet import C2CError, __version__, set_threads, threads
from .bases import (
    PCA,
    Basis,
    FiniteElements,
    Fourier,
    Laplace,
    PointValues,
    Polynomial,
    Radial,
    RandomFeatures,
)
from .diagnostics import Diagnosis
from .encoders import Encoder, LearnedPrior, Ridge, TruncatedSVD
from .estimator import C2CNet, NotFittedError, diagnose, load
from .maps import MLP, Auto, Kernel, Layered, Linear, Map
from .metrics import Errors, mse, relative_errors, rl2e
from .problems import Dataset, Problem, generate, load_npz, problems
from .reading import read

__all__ = [
    "Auto",
    "Basis",
    "C2CError",
    "C2CNet",
    "Dataset",
    "Diagnosis",
    "Encoder",
    "Errors",
    "FiniteElements",
    "Fourier",
    "Kernel",
    "Laplace",
    "Layered",
    "LearnedPrior",
    "Linear",
    "MLP",
    "Map",
    "NotFittedError",
    "PCA",
    "PointValues",
    "Polynomial",
    "Problem",
    "Radial",
    "RandomFeatures",
    "Ridge",
    "TruncatedSVD",
    "__version__",
    "diagnose",
    "generate",
    "load",
    "load_npz",
    "mse",
    "problems",
    "read",
    "relative_errors",
    "rl2e",
    "set_threads",
    "threads",
]
