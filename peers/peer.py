"""The interface between training and a peer."""

from torch import Tensor, nn

from .data import Data
from .metrics import relative_errors


class Peer(nn.Module):
    """A model that predicts outputs in physical units and knows its training loss.

    A peer may train in several stages (B2B: encoders, then the map between coefficients); `begin` is
    called with all training samples when a stage starts.
    """

    stages = 1

    def forward(self, data: Data) -> Tensor:
        """Predicted output values (N, n2, components); never uses `data.u`."""
        raise NotImplementedError

    def begin(self, stage: int, train: Data) -> None:
        pass

    def loss(self, batch: Data, index: Tensor, stage: int, kind: str) -> Tensor:
        """The loss on training samples `index`, which `batch` holds; kind: relative or mse."""
        return self.misfit(self(batch), batch.u, kind)

    def misfit(self, prediction: Tensor, truth: Tensor, kind: str) -> Tensor:
        if kind == "relative":
            return relative_errors(prediction, truth).mean()
        # Squares of standardised values: the size of u does not change the step.
        return ((prediction - truth) / self.output_scale.spread).square().mean()
