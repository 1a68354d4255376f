"""Encoders: coefficients from observations."""

from __future__ import annotations

from typing import Any

from ._parameters import Spec

__all__ = ["Encoder", "LearnedPrior", "Ridge", "TruncatedSVD"]


class Encoder(Spec):
    """An encoder with its settings."""


class Ridge(Encoder):
    r"""Ridge regression.

    Minimises :math:`\frac1n\lVert\Phi a-f\rVert^2+\lambda\lVert a\rVert^2` over ``n`` points.

    Parameters
    ----------
    strength : float, optional
        :math:`\lambda`, normalised by the number of points; chosen by generalised cross-validation if not given.

    Examples
    --------
    >>> Ridge(1e-8)
    Ridge(strength=1e-08)
    """

    def __init__(self, strength: float | None = None) -> None:
        self.strength = strength

    def settings(self) -> dict[str, Any]:
        """Return the settings under ``encoder`` in a settings file.

        Returns
        -------
        dict

        Examples
        --------
        >>> Ridge().settings()
        {'method': 'ridge'}
        """
        settings = super().settings()
        if "strength" in settings:
            settings["lambda"] = settings.pop("strength")
        return {**settings, "method": "ridge"}


class TruncatedSVD(Encoder):
    """Least squares without the small singular values of the design matrix.

    Parameters
    ----------
    cut : float, optional
        The smallest singular value kept; chosen by generalised cross-validation if
        nothing is given.
    relative_cut : float, optional
        The same as a fraction of the largest.

    Examples
    --------
    >>> TruncatedSVD(relative_cut=1e-8)
    TruncatedSVD(relative_cut=1e-08)
    """

    def __init__(
        self,
        cut: float | None = None,
        relative_cut: float | None = None,
    ) -> None:
        self.cut = cut
        self.relative_cut = relative_cut

    def settings(self) -> dict[str, Any]:
        """Return the settings under ``encoder`` in a settings file.

        Returns
        -------
        dict

        Examples
        --------
        >>> TruncatedSVD(0.1).settings()
        {'cut': 0.1, 'method': 'svd'}
        """
        return {**super().settings(), "method": "svd"}


class LearnedPrior(Encoder):
    """Readings at scattered points, with a prior of the coefficients learned from all samples.

    Mean and covariance of the coefficients, across components too, and the noise of the readings are
    those that maximise the likelihood of all readings; a sample is encoded as its posterior mean. For samples
    with their own points; the basis may have more functions than a sample has readings.

    Examples
    --------
    >>> LearnedPrior()
    LearnedPrior()
    """

    def __init__(self) -> None:
        pass

    def settings(self) -> dict[str, Any]:
        """Return the settings under ``encoder`` in a settings file.

        Returns
        -------
        dict

        Examples
        --------
        >>> LearnedPrior().settings()
        {'method': 'prior'}
        """
        return {**super().settings(), "method": "prior"}
