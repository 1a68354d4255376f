"""BasisONet (Hua and Lu, 2023): learned bases on both sides, coefficients by inner products.

Three networks train together: the operator's error and the errors of both autoencoders are added. An
inner product is the mean over the points, which holds for scattered points too (the published code
integrates on grids). A basis function has as many components as the values.
"""

import torch
from torch import Tensor

from .data import Data
from .networks import Standardise, UnitBox, mlp, mlp_sizes
from .peer import Peer


class BasisONet(Peer):
    def __init__(self, train: Data, input_functions: int, output_functions: int, basis_hidden: list[int],
                 map_hidden: list[int], activation: str):
        super().__init__()
        self.inputs, self.outputs = train.f.shape[-1], train.u.shape[-1]

        def basis(points: Tensor, functions: int, components: int):
            return mlp(mlp_sizes(points.shape[-1], basis_hidden, functions * components), activation)

        self.input_basis = basis(train.x, input_functions, self.inputs)
        self.map = mlp(mlp_sizes(input_functions, map_hidden, output_functions), activation)
        self.output_basis = basis(train.y, output_functions, self.outputs)
        self.input_box, self.output_box = UnitBox(train.x), UnitBox(train.y)
        self.input_scale = Standardise(train.f, train.shared_x)
        self.output_scale = Standardise(train.u, train.shared_y)

    def forward(self, data: Data) -> Tensor:
        return self.operator(data)[0]

    def operator(self, data: Data):
        """Predictions, and both sides' bases and coefficients for the autoencoders."""
        values = self.input_scale(data.f)
        input_basis = self.input_basis(self.input_box(data.x)).unflatten(-1, (self.inputs, -1))
        coefficients = inner_products(values, input_basis)
        output_basis = self.output_basis(self.output_box(data.y)).unflatten(-1, (self.outputs, -1))
        prediction = self.output_scale.undo(combine(self.map(coefficients), output_basis))
        return prediction, values, coefficients, input_basis, output_basis

    def loss(self, batch: Data, index: Tensor, stage: int, kind: str) -> Tensor:
        prediction, values, coefficients, input_basis, output_basis = self.operator(batch)
        truth = self.output_scale(batch.u)
        again_in = combine(coefficients, input_basis)
        again_out = combine(inner_products(truth, output_basis), output_basis)
        autoencoders = relative(again_in, values) + relative(again_out, truth)
        return self.misfit(prediction, batch.u, kind) + autoencoders


def relative(prediction: Tensor, truth: Tensor) -> Tensor:
    """Squared error over squared size, of the whole batch: centred values of one sample may be near zero."""
    return ((prediction - truth).square().sum() / truth.square().sum()).sqrt()


def inner_products(values: Tensor, basis: Tensor) -> Tensor:
    """(batch, n, c) with functions (n, c, m) or each sample's (batch, n, c, m): the mean over the points."""
    points = "bncm" if basis.ndim == 4 else "ncm"
    return torch.einsum(f"bnc,{points}->bm", values, basis) / values.shape[1]


def combine(coefficients: Tensor, basis: Tensor) -> Tensor:
    points = "bncm" if basis.ndim == 4 else "ncm"
    return torch.einsum(f"bm,{points}->bnc", coefficients, basis)
