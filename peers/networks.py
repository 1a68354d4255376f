"""What the peers share: fully connected networks and the standardisation of values."""

import torch
from torch import Tensor, nn

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}


def mlp(sizes: list[int], activation: str) -> nn.Sequential:
    """Linear layers of these sizes, the activation between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), ACTIVATIONS[activation]()]
    return nn.Sequential(*layers[:-1])


def mlp_sizes(inputs: int, hidden: list[int], outputs: int) -> list[int]:
    return [inputs, *hidden, outputs]


class Standardise(nn.Module):
    """Training mean and spread of values (N, n, components).

    The mean is a function if samples share their points, otherwise one number per component. The spread is
    one number per component, or per point as in the published FNO.
    """

    def __init__(self, values: Tensor, shared_points: bool, spread_at_points: bool = False):
        super().__init__()
        mean = values.mean(dim=0 if shared_points else (0, 1))
        centred = values - mean
        spread = centred.square().mean(dim=0 if spread_at_points else (0, 1)).sqrt()
        # Walls where every sample is zero have no spread; the published FNO adds a small number too.
        floor = 1e-5 * spread.max() + torch.finfo(values.dtype).tiny
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread + floor)

    def forward(self, values: Tensor) -> Tensor:
        return (values - self.mean) / self.spread

    def undo(self, values: Tensor) -> Tensor:
        return values * self.spread + self.mean


class UnitBox(nn.Module):
    """Maps points to [-1, 1] in every coordinate, by the box around the training points."""

    def __init__(self, points: Tensor):
        super().__init__()
        flat = points.reshape(-1, points.shape[-1])
        low, high = flat.min(dim=0).values, flat.max(dim=0).values
        self.register_buffer("centre", (low + high) / 2)
        self.register_buffer("half_width", ((high - low) / 2).clamp_min(1e-30))

    def forward(self, points: Tensor) -> Tensor:
        return (points - self.centre) / self.half_width


def parameter_count(model: nn.Module) -> int:
    """Trainable parameters; a complex weight, kept as a last axis of two, counts once as in the paper."""
    return sum(p.numel() // (2 if getattr(p, "is_complex_pair", False) else 1) for p in model.parameters())
