"""The errors of c2cnet: RL2E and MSE over all points and components."""

import torch
from torch import Tensor


def relative_errors(prediction: Tensor, truth: Tensor) -> Tensor:
    """|prediction - truth| / |truth| of each sample; absolute where the truth is zero everywhere."""
    error = (prediction - truth).flatten(1).norm(dim=1)
    norm = truth.flatten(1).norm(dim=1)
    return torch.where(norm > 0, error / norm.where(norm > 0, 1), error)


def rl2e(prediction: Tensor, truth: Tensor) -> float:
    return relative_errors(prediction.double(), truth.double()).mean().item()


def mse(prediction: Tensor, truth: Tensor) -> float:
    return (prediction.double() - truth.double()).square().mean().item()
