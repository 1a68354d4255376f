"""DeepONet (Lu et al., 2021): u(y) = sum_k branch_k(f at the sensors) trunk_k(y) + bias.

With several output components the networks' outputs are split, one group and one bias per component.
The sensors' positions are not an input: samples with their own points give their values in file order.
"""

import torch
from torch import Tensor, nn

from .data import Data
from .networks import Standardise, UnitBox, mlp, mlp_sizes
from .peer import Peer


class DeepONet(Peer):
    def __init__(self, train: Data, hidden: list[int], functions: int, activation: str):
        super().__init__()
        sensors, self.components = train.f[0].numel(), train.u.shape[-1]
        outputs = functions * self.components
        self.branch = mlp(mlp_sizes(sensors, hidden, outputs), activation)
        self.trunk = mlp(mlp_sizes(train.y.shape[-1], hidden, outputs), activation)
        self.bias = nn.Parameter(torch.zeros(self.components))
        self.box = UnitBox(train.y)
        self.input_scale = Standardise(train.f, train.shared_x)
        self.output_scale = Standardise(train.u, train.shared_y)

    def forward(self, data: Data) -> Tensor:
        branch = self.branch(self.input_scale(data.f).flatten(1)).unflatten(1, (self.components, -1))
        trunk = self.trunk(self.box(data.y)).unflatten(-1, (self.components, -1))
        points = "n" if data.shared_y else "bn"
        return self.output_scale.undo(torch.einsum(f"bck,{points}ck->bnc", branch, trunk) + self.bias)
