"""Basis-to-basis operator learning (Ingebrand et al., 2025): function encoders by least squares.

Stage 0 trains the two bases so that least squares on them reproduces the functions. Stage 1 freezes
them, takes the coefficients of all training functions once and trains the map between coefficients.
The map works in the coordinates in which the mean Gram matrix is the identity: the same functions and
parameters, but the size of an error in coefficients is the size of the error in the function.
"""

import torch
from torch import Tensor, nn

from .data import Data
from .networks import Standardise, UnitBox, mlp, mlp_sizes
from .peer import Peer

# Relative to the Gram matrix's mean diagonal. Learned bases start nearly dependent, so everything between
# the networks (least squares, its gradient, coefficients) is in double precision.
RIDGE = 1e-6


class FunctionEncoder(nn.Module):
    """A learned basis with coefficients by ridge least squares.

    `vector`: functions with as many components as the values (one coefficient for all components).
    Otherwise each component has its own coefficients in the same scalar functions.
    """

    def __init__(self, points: Tensor, values: Tensor, shared: bool, functions: int, vector: bool,
                 hidden: list[int], activation: str):
        super().__init__()
        components = values.shape[-1]
        self.rows, self.columns = (components, 1) if vector else (1, components)
        self.functions = functions
        self.basis = mlp(mlp_sizes(points.shape[-1], hidden, functions * self.rows), activation)
        self.box = UnitBox(points)
        self.scale = Standardise(values, shared)
        self.register_buffer("to_metric", torch.eye(functions).double())  # L': |L' c| is the function's size
        self.register_buffer("from_metric", torch.eye(functions).double())

    def design(self, points: Tensor) -> Tensor:
        """Basis functions at the points, ([N,] points x rows, functions)."""
        values = self.basis(self.box(points))
        return values.double().unflatten(-1, (self.rows, self.functions)).flatten(-3, -2)

    def targets(self, values: Tensor) -> Tensor:
        return self.scale(values).double().reshape(len(values), -1, self.columns)

    def gram(self, design: Tensor) -> Tensor:
        gram = design.mT @ design / design.shape[-2]
        diagonal = gram.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None]
        return gram + RIDGE * diagonal * torch.eye(self.functions, dtype=gram.dtype, device=gram.device)

    def coefficients(self, design: Tensor, targets: Tensor) -> Tensor:
        """(N, functions, columns)"""
        factor = torch.linalg.cholesky_ex(self.gram(design)).L  # unchecked: a check waits for the GPU every step
        if design.ndim == 3:
            return torch.cholesky_solve(design.mT @ targets / design.shape[-2], factor)
        right = torch.einsum("nm,bnc->mbc", design, targets) / len(design)
        solved = torch.cholesky_solve(right.flatten(1), factor)
        return solved.reshape(self.functions, len(targets), -1).transpose(0, 1)

    def reconstruction_loss(self, points: Tensor, values: Tensor) -> Tensor:
        design, targets = self.design(points), self.targets(values)
        again = combine(self.coefficients(design, targets), design)
        return (again - targets).square().sum() / targets.square().sum()

    @torch.no_grad()
    def freeze(self, points: Tensor) -> None:
        """Sets the metric of the coefficients from the mean Gram matrix of the training points."""
        self.requires_grad_(False)
        if points.ndim == 3:  # by samples: all designs at once may not fit
            gram = torch.stack([self.gram(self.design(p)) for p in points]).mean(0)
        else:
            gram = self.gram(self.design(points))
        factor = torch.linalg.cholesky(gram)
        self.to_metric.copy_(factor.mT)
        self.from_metric.copy_(torch.linalg.inv(factor.mT))

    def encode(self, points: Tensor, values: Tensor) -> Tensor:
        """Coefficients in the metric, (N, functions x columns)."""
        coefficients = self.coefficients(self.design(points), self.targets(values))
        return (self.to_metric @ coefficients).flatten(1).float()

    def decode(self, coordinates: Tensor, points: Tensor, components: int) -> Tensor:
        coefficients = self.from_metric @ coordinates.double().unflatten(1, (self.functions, self.columns))
        values = combine(coefficients, self.design(points)).float()
        return self.scale.undo(values.reshape(len(coordinates), -1, components))


def combine(coefficients: Tensor, design: Tensor) -> Tensor:
    """(N, functions, columns) with functions at shared or each sample's points: values (N, rows, columns)."""
    return torch.einsum(f"{'bnm' if design.ndim == 3 else 'nm'},bmc->bnc", design, coefficients)


class B2B(Peer):
    stages = 2

    def __init__(self, train: Data, input_functions: int, output_functions: int, basis_hidden: list[int],
                 map_hidden: list[int], activation: str, vector_input: bool = False, vector_output: bool = False):
        super().__init__()
        self.components = train.u.shape[-1]
        self.input = FunctionEncoder(train.x, train.f, train.shared_x, input_functions, vector_input,
                                     basis_hidden, activation)
        self.output = FunctionEncoder(train.y, train.u, train.shared_y, output_functions, vector_output,
                                      basis_hidden, activation)
        inputs = input_functions * self.input.columns
        outputs = output_functions * self.output.columns
        self.map = mlp(mlp_sizes(inputs, map_hidden, outputs), activation)
        self.register_buffer("input_spread", torch.ones(inputs))
        self.register_buffer("output_spread", torch.ones(()))

    @property
    def output_scale(self) -> Standardise:
        return self.output.scale

    def forward(self, data: Data) -> Tensor:
        coordinates = self.predict_coordinates(self.input.encode(data.x, data.f))
        return self.output.decode(coordinates, data.y, self.components)

    def predict_coordinates(self, coordinates: Tensor) -> Tensor:
        return self.map(coordinates / self.input_spread) * self.output_spread

    @torch.no_grad()
    def begin(self, stage: int, train: Data) -> None:
        if stage == 0:
            return
        self.input.freeze(train.x)
        self.output.freeze(train.y)
        parts = [train.select(slice(k, k + 100)) for k in range(0, len(train), 100)]
        self.train_inputs = torch.cat([self.input.encode(p.x, p.f) for p in parts])
        self.train_outputs = torch.cat([self.output.encode(p.y, p.u) for p in parts])
        # The size of u itself, in the units of the coordinates: the loss is then the paper's relative error.
        self.train_sizes = torch.cat([(p.u / self.output.scale.spread).flatten(1).norm(dim=1) for p in parts])
        self.train_sizes /= (train.u.shape[1] * self.output.rows) ** 0.5
        self.input_spread.copy_(self.train_inputs.square().mean(0).sqrt() + 1e-3 * self.train_inputs.std())
        self.output_spread.copy_(self.train_outputs.square().mean().sqrt())

    def loss(self, batch: Data, index: Tensor, stage: int, kind: str) -> Tensor:
        if stage == 0:
            return (self.input.reconstruction_loss(batch.x, batch.f)
                    + self.output.reconstruction_loss(batch.y, batch.u))
        error = self.predict_coordinates(self.train_inputs[index]) - self.train_outputs[index]
        if kind == "mse":
            return (error / self.output_spread).square().mean()
        return (error.norm(dim=1) / self.train_sizes[index].clamp_min(1e-12)).mean()
