"""The compiled part of the package: arrays in, arrays out, everything else as JSON."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats

__version__: str

# Inputs, outputs, and triangles on the output points.
_Samples: TypeAlias = tuple[
    Sequence[tuple[Any, ...]], Sequence[tuple[Any, ...]], list[list[int]] | None
]
# Who receives the progress, and the device.
_Conditions: TypeAlias = tuple[Callable[[str], object] | None, str]

class C2CError(RuntimeError):
    """A computation that did not succeed."""

@final
class Model:
    """A fitted operator."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def predict(
        self, inputs: Sequence[tuple[Any, ...]], output: str, at: Floats | list[Floats] | None
    ) -> Any: ...
    def encode(self, inputs: Sequence[tuple[Any, ...]]) -> NDArray[np.float64]: ...
    def map(self, coefficients: Floats) -> NDArray[np.float64]: ...
    def decode(
        self, coordinates: Floats, output: str, at: Floats | list[Floats] | None
    ) -> Any: ...
    def evaluate(
        self, inputs: Sequence[tuple[Any, ...]], outputs: Sequence[tuple[Any, ...]]
    ) -> str: ...
    def describe(self) -> str: ...
    def grid(self, output: str) -> list[int] | None: ...
    def input_points(self, input: str) -> tuple[NDArray[np.float64], list[int] | None] | None: ...
    def is_complex(self, output: str) -> bool: ...
    def moves(self, output: str) -> bool: ...
    def nodes(self, inputs: list[Any], output: str) -> NDArray[np.float64] | None: ...
    def archive(self) -> tuple[dict[str, NDArray[np.float64]], str]: ...

@final
class Template:
    """What is settled on first samples."""

    def accumulate(
        self, inputs: Sequence[tuple[Any, ...]], outputs: Sequence[tuple[Any, ...]]
    ) -> Sums: ...
    def finish(self, sums: Sums, listener: Callable[[str], object] | None = None) -> tuple[Model, str]: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Template: ...

@final
class Sums:
    """Sums over samples, of one template."""

    @property
    def samples(self) -> int: ...
    def merged(self, other: Sums) -> Sums: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Sums: ...

def begin(
    config: str,
    inputs: Sequence[tuple[Any, ...]],
    outputs: Sequence[tuple[Any, ...]],
    centres: int,
    triangles: list[list[int]] | None = None,
    listener: Callable[[str], object] | None = None,
) -> tuple[Template, Sums]: ...
def fit(
    config: str,
    samples: _Samples,
    conditions: _Conditions,
    test_fraction: float | None = None,
) -> tuple[Model, str, tuple[list[int], str] | None]: ...
def fit_plan(
    plan: str,
    samples: _Samples,
    conditions: _Conditions,
    test_fraction: float | None = None,
) -> tuple[Model, str, tuple[list[int], str] | None]: ...
def plan(config: str, samples: _Samples, conditions: _Conditions) -> tuple[str, list[str]]: ...
def diagnose(
    model: Model,
    config: str,
    inputs: Sequence[tuple[Any, ...]],
    outputs: Sequence[tuple[Any, ...]],
    listener: Callable[[str], object] | None = None,
) -> str: ...
def generate(problem: str, settings: str, seed: int) -> dict[str, Any]: ...
def problems() -> str: ...
def read_npz(path: str | PathLike[str], missing: str = "refuse") -> dict[str, Any]: ...
def read_files(
    paths: Sequence[str | PathLike[str]],
    names: tuple[list[str], list[str], list[str], str | None],
    missing: str,
) -> dict[str, Any]: ...
def write_npz(
    path: str | PathLike[str],
    inputs: Sequence[tuple[Any, ...]],
    outputs: Sequence[tuple[Any, ...]],
    split: tuple[int | None, list[str] | None] = (None, None),
    cells: tuple[Any, ...] = (None, None),
    meta: str = "null",
) -> None: ...
def set_threads(count: int | None = None) -> None: ...
def threads() -> int: ...
def _panic() -> None: ...
