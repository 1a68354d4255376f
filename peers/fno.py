"""Fourier neural operator (Li et al., 2021) in 1D and 2D.

Lift the input and the coordinates to `width` channels, pad, four layers v <- gelu(K v + W v), cut the
padding, project. K multiplies the lowest Fourier modes by complex weights. Only those few modes are
needed, so the transforms are products with small real matrices: the same numbers as the published
rfft, multiply, irfft (a test compares them), and several times faster on a GPU.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad

from .data import Data, DataError, grid_shape
from .networks import Standardise, UnitBox
from .peer import Peer


class SpectralConvolution(nn.Module):
    """Multiplies Fourier modes: all |k| < modes along the first axes, 0 <= k < modes along the last."""

    def __init__(self, width: int, modes: int, shape: tuple[int, ...]):
        super().__init__()
        if 2 * modes > min(shape):
            raise DataError(f"{modes} Fourier modes need a grid of at least {2 * modes} points per side, not {shape}")
        # As published: uniform in [0, 1/width^2), both parts. One matrix of the channels for each mode.
        kept = modes if len(shape) == 1 else modes * 2 * modes
        self.weight = nn.Parameter(torch.rand(kept, width, width, 2) / width**2)
        self.weight.is_complex_pair = True

        last = fourier_matrix(torch.arange(modes), shape[-1])
        # A real function's modes k and -k are conjugate: all but k = 0 count twice on the way back.
        twice = torch.where(torch.arange(modes) == 0, 1.0, 2.0)[:, None] / shape[-1]
        # Real and imaginary parts interleaved, so that one real product gives or takes complex numbers.
        forth = torch.view_as_real(last.T).flatten(1)
        back = torch.view_as_real(last * twice).permute(0, 2, 1).flatten(0, 1)
        self.register_buffer("forth_last", forth.contiguous(), persistent=False)
        self.register_buffer("back_last", back.contiguous(), persistent=False)
        if len(shape) == 2:
            numbers = torch.cat([torch.arange(modes), torch.arange(-modes, 0)])
            first = fourier_matrix(numbers, shape[0])
            self.register_buffer("forth_first", first.T.contiguous(), persistent=False)
            self.register_buffer("back_first", first.conj_physical() / shape[0], persistent=False)

    def forward(self, values: Tensor) -> Tensor:  # (batch, width, *shape), real
        spectrum = torch.view_as_complex((values @ self.forth_last).unflatten(-1, (-1, 2)))
        weight = torch.view_as_complex(self.weight)
        if values.ndim == 4:  # the first axis goes last for its transform, and back
            spectrum = (multiply_modes(spectrum.mT @ self.forth_first, weight) @ self.back_first).mT
        else:
            spectrum = multiply_modes(spectrum, weight)
        return torch.view_as_real(spectrum.contiguous()).flatten(-2) @ self.back_last


class Pointwise(nn.Linear):
    """A linear layer of the channels at every point of (batch, channels, *shape)."""

    def forward(self, values: Tensor) -> Tensor:
        weight = self.weight.expand(len(values), -1, -1)
        mixed = torch.baddbmm(self.bias[:, None], weight, values.flatten(2))
        return mixed.unflatten(2, values.shape[2:])


def multiply_modes(spectrum: Tensor, weight: Tensor) -> Tensor:
    """sum_i spectrum[b, i, k] weight[k, i, o], as one batched product over the modes k."""
    batch, _, *kept = spectrum.shape
    product = torch.bmm(spectrum.flatten(2).permute(2, 0, 1).contiguous(), weight)
    return product.permute(1, 2, 0).reshape(batch, -1, *kept)


def fourier_matrix(numbers: Tensor, points: int) -> Tensor:
    """exp(-2 pi i k n / points) for each mode number k and point n."""
    angle = -2 * math.pi * torch.outer(numbers.double(), torch.arange(points).double()) / points
    return torch.polar(torch.ones_like(angle), angle).to(torch.complex64)


class FNO(Peer):
    activation = staticmethod(gelu)

    def __init__(self, train: Data, modes: int, width: int, padding: int, layers: int = 4):
        super().__init__()
        self.shape = grid_of_outputs(train)
        self.input_components, self.components = train.f.shape[-1], train.u.shape[-1]
        self.same_grid = train.x.shape == train.y.shape and torch.equal(train.x, train.y)
        if not self.same_grid and grid_shape(train.x) != self.shape[:1]:
            raise DataError("FNO needs inputs on the outputs' grid, or on its first axis")
        dimension = len(self.shape)
        self.padding = [0, padding] * dimension
        padded = tuple(n + padding for n in self.shape)

        self.lift = Pointwise(self.input_components + dimension, width)
        self.spectral = nn.ModuleList(SpectralConvolution(width, modes, padded) for _ in range(layers))
        self.local = nn.ModuleList(Pointwise(width, width) for _ in range(layers))
        self.project = nn.Sequential(Pointwise(width, 128), nn.GELU(), Pointwise(128, self.components))
        coordinates = UnitBox(train.y)(train.y).T.reshape(1, dimension, *self.shape)
        self.register_buffer("coordinates", coordinates, persistent=False)
        self.input_scale = Standardise(train.f, True, spread_at_points=True)
        self.output_scale = Standardise(train.u, True, spread_at_points=True)

    def forward(self, data: Data) -> Tensor:
        values = self.on_grid(self.input_scale(data.f))
        hidden = torch.cat([values, self.coordinates.expand(len(values), *self.coordinates.shape[1:])], dim=1)
        hidden = pad(self.lift(hidden), self.padding)
        for layer, (spectral, local) in enumerate(zip(self.spectral, self.local)):
            hidden = spectral(hidden) + local(hidden)
            if layer + 1 < len(self.spectral):
                hidden = self.activation(hidden)
        inside = (..., *(slice(0, n) for n in self.shape))
        output = self.project(hidden[inside].contiguous()).flatten(2).transpose(1, 2)
        return self.output_scale.undo(output)

    def on_grid(self, values: Tensor) -> Tensor:
        """Input values as channels on the grid; a function of the first axis alone is constant along the others."""
        values = values.transpose(1, 2)
        if self.same_grid:
            return values.unflatten(2, self.shape)
        lifted = values.unflatten(2, (self.shape[0],) + (1,) * (len(self.shape) - 1))
        return lifted.expand(*values.shape[:2], *self.shape)


def grid_of_outputs(train: Data) -> tuple[int, ...]:
    shape = train.grid()
    if shape is None or len(shape) > 2 or not train.shared_x:
        raise DataError("FNO needs samples on one full grid in one or two dimensions; choose another peer")
    return shape
