"""What bases can and cannot do for a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .bases import Basis, basis_from_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Diagnosis", "Floor", "FloorTable", "Sweep"]


@dataclass(frozen=True, repr=False, eq=False)
class Sweep:
    """Encoding error and noise amplification of an input, against the strength of regularisation.

    Attributes
    ----------
    label, basis : str
        Which input, and a description of its basis.
    parameter : str
        The meaning of ``strength``: ``"lambda"`` or ``"relative cut"``.
    singular_values : ndarray
        Of the design matrix, largest first.
    strength : ndarray
        From strong to weak; the arrays below have the same length.
    amplification : ndarray
        The largest factor by which noise is amplified.
    lost, shrinkage, unrepresentable : ndarray
        The fraction of the input that is lost: in total, to regularisation, to the basis.
    in_use : int
        Which strength the model uses.
    """

    label: str
    basis: str
    parameter: str
    singular_values: NDArray[np.float64]
    strength: NDArray[np.float64]
    amplification: NDArray[np.float64]
    lost: NDArray[np.float64]
    shrinkage: NDArray[np.float64]
    unrepresentable: NDArray[np.float64]
    in_use: int

    @classmethod
    def from_report(cls, report: dict[str, Any]) -> Sweep:
        """Return the sweep of the library's report.

        Parameters
        ----------
        report : dict
            As the library writes it.

        Returns
        -------
        Sweep
        """
        rows = report["sweep"]

        def column(key: str) -> NDArray[np.float64]:
            return np.array([row[key] for row in rows], dtype=np.float64)

        return cls(
            label=report["input"],
            basis=report["basis"],
            parameter=report["parameter"],
            singular_values=np.array(report["singular_values"]),
            strength=column("parameter"),
            amplification=column("amplification"),
            lost=column("lost"),
            shrinkage=column("shrinkage"),
            unrepresentable=column("unrepresentable"),
            in_use=next(i for i, row in enumerate(rows) if row["in_use"]),
        )

    def __repr__(self) -> str:
        k = self.in_use
        return (
            f"{self.label}: {self.basis}\n"
            f"  {len(self.singular_values)} singular values, condition "
            f"{self.singular_values[0] / self.singular_values[-1]:.1e}\n"
            f"  {self.parameter} {self.strength[k]:.1e} in use: loses {self.lost[k]:.1e} of the "
            f"input, amplifies noise by at most {self.amplification[k]:.2g}"
        )


@dataclass(frozen=True)
class Floor:
    """The smallest error that one basis allows.

    Attributes
    ----------
    family : str
        A description.
    basis : Basis or None
        An argument for :class:`c2cnet.C2CNet`; None for the basis in use.
    functions, rank : int
        The number of functions, and of coordinates kept.
    floor : float
        At fitted points.
    withheld_floor : float or None
        At withheld points.
    """

    family: str
    basis: Basis | None
    functions: int
    rank: int
    floor: float
    withheld_floor: float | None

    @classmethod
    def from_report(cls, report: dict[str, Any]) -> Floor:
        """Return the floor of the library's report.

        Parameters
        ----------
        report : dict
            As the library writes it.

        Returns
        -------
        Floor
        """
        settings = report["basis"]
        return cls(
            family=report["family"],
            basis=None if settings is None else basis_from_settings(settings),
            functions=report["functions"],
            rank=report["rank"],
            floor=report["floor"],
            withheld_floor=report["withheld_floor"],
        )


@dataclass(frozen=True, repr=False)
class FloorTable:
    """The smallest errors that bases of several families and sizes allow for an output.

    Attributes
    ----------
    label, in_use : str
        Which output, and a description of the basis in use.
    floors : sequence of Floor
        One for each basis.
    recommended : Floor
        The smallest basis that is about as good as the best.
    """

    label: str
    in_use: str
    floors: Sequence[Floor]
    recommended: Floor

    @classmethod
    def from_report(cls, report: dict[str, Any]) -> FloorTable:
        """Return the table of the library's report.

        Parameters
        ----------
        report : dict
            As the library writes it.

        Returns
        -------
        FloorTable
        """
        return cls(
            label=report["output"],
            in_use=report["in_use"],
            floors=[Floor.from_report(f) for f in report["floors"]],
            recommended=Floor.from_report(report["recommended"]),
        )

    def __repr__(self) -> str:
        lines = [f"{self.label}: {self.in_use}", f"  {'basis':<26}{'functions':>10}{'floor':>11}"]
        best: dict[str, Floor] = {}
        for floor in self.floors:
            if floor.family not in best or floor.floor < best[floor.family].floor:
                best[floor.family] = floor
        shown = [*best.values()]
        if self.recommended not in shown:
            shown.append(self.recommended)
        for floor in shown:
            mark = "  <- recommended" if floor == self.recommended else ""
            lines.append(f"  {floor.family:<26}{floor.functions:>10}{floor.floor:>11.1e}{mark}")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What bases can and cannot do for a data set.

    Attributes
    ----------
    inputs : sequence of Sweep
        One for each input and component.
    outputs : sequence of FloorTable
        One for each output.

    Examples
    --------
    >>> import c2cnet
    >>> data = c2cnet.generate("darcy1d", n_train=40, n_test=1, points=120).train
    >>> diagnosis = c2cnet.diagnose(data.f, data.u, data.x, data.y, map="linear")
    >>> diagnosis.outputs[0].recommended.floor < 1e-2
    True
    """

    inputs: Sequence[Sweep]
    outputs: Sequence[FloorTable]

    @classmethod
    def from_report(cls, report: dict[str, Any]) -> Diagnosis:
        """Return the diagnosis of the library's report.

        Parameters
        ----------
        report : dict
            As the library writes it.

        Returns
        -------
        Diagnosis
        """
        return cls(
            inputs=[Sweep.from_report(r) for r in report["inputs"]],
            outputs=[FloorTable.from_report(r) for r in report["outputs"]],
        )

    def __repr__(self) -> str:
        return "\n\n".join(repr(part) for part in [*self.inputs, *self.outputs])

    def plot_spectrum(self) -> Figure:
        """Plot the singular values of the inputs' design matrices.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        return plotting.spectrum(self.inputs)

    def plot_encoding(self) -> Figure:
        """Plot encoding error and amplification against the strength of regularisation.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        return plotting.encoding(self.inputs)

    def plot_floor(self) -> Figure:
        """Plot the floors of several families against the number of functions.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        return plotting.floor(self.outputs)
