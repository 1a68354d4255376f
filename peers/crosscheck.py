"""Our FNO and DeepONet compared with those of neuraloperator and DeepXDE: parameters, the function, errors after training.

    pip install neuraloperator deepxde          # in addition to requirements.txt
    c2cnet generate darcy1d -o darcy1d.npz --set points=200 --set length=0.2 --set n_train=200 --set n_test=100
    python -m peers.crosscheck darcy1d.npz --steps 1000 --seeds 0 1 2

"Same weights" is the largest difference of the outputs, relative to the largest output, once the package's network
has been given our weights. Both are then trained by our code, the package's from its own initial weights and from
ours: the same standardised data, loss, schedule and order of samples. FNO in two dimensions is compared without training. Prints
a table in Markdown.
"""

import argparse
import os
from pathlib import Path
from statistics import mean, stdev

os.environ.setdefault("DDE_BACKEND", "pytorch")

import deepxde
import torch
from neuralop.models import FNO as NeuralopFNO
from torch import Tensor, nn
from torch.nn.functional import gelu

from .configurations import DEEPONET, FNO_SIZES, SCHEDULES
from .data import Data, read
from .deeponet import DeepONet
from .fno import FNO
from .networks import Standardise, UnitBox, parameter_count
from .peer import Peer
from .train import Recipe, Trainer


class PackageFNO(Peer):
    """neuraloperator's FNO as in the first paper: linear lifting, no networks of the channels after a layer.

    The number of modes is the whole range there, negative ones included: 2 m - 1 keeps 0 to m - 1 along the last
    axis, 2 m keeps -m to m - 1 along the others. Without those networks the package applies the activation twice
    after a layer (version 2.0).
    """

    def __init__(self, train: Data, modes: int, width: int):
        super().__init__()
        self.shape = train.grid()
        inner = (2 * modes,) * (len(self.shape) - 1)
        self.network = NeuralopFNO(n_modes=(*inner, 2 * modes - 1), in_channels=train.f.shape[-1],
                                   out_channels=train.u.shape[-1], hidden_channels=width, lifting_channel_ratio=0,
                                   projection_channel_ratio=128 / width, use_channel_mlp=False)
        self.input_scale = Standardise(train.f, True, spread_at_points=True)
        self.output_scale = Standardise(train.u, True, spread_at_points=True)

    def forward(self, data: Data) -> Tensor:
        values = self.input_scale(data.f).transpose(1, 2).unflatten(2, self.shape)
        return self.output_scale.undo(self.network(values).flatten(2).transpose(1, 2))

    @torch.no_grad()
    def take(self, ours: FNO) -> None:
        """Our weights. The package's coordinates are i/n, ours 2 i/(n - 1) - 1: the lifting compensates."""
        lift, network = ours.lift, self.network
        weight, bias = lift.weight.clone(), lift.bias.clone()
        for axis, n in enumerate(self.shape, start=ours.input_components):
            bias -= weight[:, axis]
            weight[:, axis] *= 2 * n / (n - 1)
        channel_layer(network.lifting.fcs[0], weight, bias)
        for k, (spectral, local) in enumerate(zip(ours.spectral, ours.local)):
            modes = torch.view_as_complex(spectral.weight)
            if len(self.shape) == 2:  # from 0 .. m-1, -m .. -1 to ascending order
                half = self.network.fno_blocks.convs[k].weight.shape[-1]
                modes = modes.unflatten(0, (half, 2 * half)).permute(2, 3, 1, 0).roll(half, dims=2)
            else:
                modes = modes.permute(1, 2, 0)
            network.fno_blocks.convs[k].weight.tensor.copy_(modes)
            network.fno_blocks.convs[k].bias.copy_(local.bias.reshape(network.fno_blocks.convs[k].bias.shape))
            skip = network.fno_blocks.fno_skips[k].conv
            skip.weight.copy_(local.weight.reshape(skip.weight.shape))
        channel_layer(network.projection.fcs[0], ours.project[0].weight, ours.project[0].bias)
        channel_layer(network.projection.fcs[1], ours.project[2].weight, ours.project[2].bias)


def channel_layer(layer: nn.Module, weight: Tensor, bias: Tensor) -> None:
    layer.weight.copy_(weight.reshape(layer.weight.shape))
    layer.bias.copy_(bias)


class PackageDeepONet(Peer):
    """DeepXDE's DeepONet. Its trunk ends with the activation, ours with the linear layer, as the branch."""

    def __init__(self, train: Data, hidden: list[int], functions: int, activation: str):
        super().__init__()
        sizes = [*hidden, functions]
        self.network = deepxde.nn.DeepONetCartesianProd([train.f[0].numel(), *sizes], [train.y.shape[-1], *sizes],
                                                        activation, "Glorot normal")
        self.box = UnitBox(train.y)
        self.input_scale = Standardise(train.f, True)
        self.output_scale = Standardise(train.u, True)

    def forward(self, data: Data) -> Tensor:
        output = self.network((self.input_scale(data.f).flatten(1), self.box(data.y)))
        return self.output_scale.undo(output[..., None])

    @torch.no_grad()
    def take(self, ours: DeepONet) -> None:
        for theirs, own in ((self.network.branch, ours.branch), (self.network.trunk, ours.trunk)):
            for layer, linear in zip(theirs.linears, (m for m in own if isinstance(m, nn.Linear)), strict=True):
                channel_layer(layer, linear.weight, linear.bias)
        self.network.b[0].copy_(ours.bias[0])


class TwiceActive(FNO):
    """Our FNO with the activation twice, as the package has it."""

    activation = staticmethod(lambda hidden: gelu(gelu(hidden)))


class ActiveTrunk(DeepONet):
    """Our DeepONet with an activation at the trunk's end, as DeepXDE has it."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.trunk.append(type(self.trunk[1])())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m peers.crosscheck", description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="a data file of c2cnet in one dimension, on a grid")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    train, test = read(options.data)
    sizes, modes, width = DEEPONET["darcy1d"], FNO_SIZES[1]["modes"], FNO_SIZES[1]["width"]
    theirs_fno = lambda: PackageFNO(train, modes, width)
    theirs_deeponet = lambda: PackageDeepONet(train, **sizes, activation="gelu")
    pairs = [
        ("FNO, no padding", "fno", lambda: FNO(train, modes, width, padding=0), theirs_fno),
        ("FNO, activation twice", "fno", lambda: TwiceActive(train, modes, width, padding=0), theirs_fno),
        ("DeepONet", "deeponet", lambda: DeepONet(train, **sizes, activation="gelu"), theirs_deeponet),
        ("DeepONet, activation at the trunk's end", "deeponet",
         lambda: ActiveTrunk(train, **sizes, activation="gelu"), theirs_deeponet),
    ]

    def errors_of(peer: str, make) -> list[float]:
        return [trained(make, peer, train, test, seed, options.steps) for seed in options.seeds]

    known: dict[str, list[list[float]]] = {}  # errors of the packages, which stand in two rows
    print("| network | parameters, ours | parameters, package | same weights | RL2E, ours | RL2E, package | "
          "RL2E, package from our initial weights |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name, peer, ours, theirs in pairs:
        a, b = pair(ours, theirs)
        off = difference(a, b, test)
        errors = [errors_of(peer, ours)]
        if peer not in known:
            known[peer] = [errors_of(peer, theirs), errors_of(peer, lambda: pair(ours, theirs)[1])]
        errors += known[peer]
        print(f"| {name} | {parameter_count(a):,} | {parameter_count(b):,} | {off:.1e} | "
              + " | ".join(spread(e) for e in errors) + " |", flush=True)
    square = noise_on_a_square(40)
    modes, width = FNO_SIZES[2]["modes"], FNO_SIZES[2]["width"]
    a, b = pair(lambda: TwiceActive(square, modes, width, padding=0), lambda: PackageFNO(square, modes, width))
    print(f"| FNO in 2D, activation twice | {parameter_count(a):,} | {parameter_count(b):,} | "
          f"{difference(a, b, square):.1e} | - | - | - |")


def noise_on_a_square(side: int) -> Data:
    axis = torch.linspace(0, 1, side)
    points = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    f, u = torch.randn(2, 4, side * side, 1, generator=torch.Generator().manual_seed(0))
    return Data("noise", points, f, points, u)


def pair(ours, theirs) -> tuple[Peer, Peer]:
    """Our network, drawn first so that a seed gives it the same weights, and the package's with these weights."""
    own, package = ours(), theirs()
    package.take(own)
    return own, package


@torch.no_grad()
def difference(a: Peer, b: Peer, data: Data) -> float:
    first, second = (m.output_scale(m(data)) for m in (a, b))
    return ((first - second).abs().max() / first.abs().max()).item()


def trained(make, peer: str, train: Data, test: Data, seed: int, steps: int) -> float:
    torch.manual_seed(seed)
    settings = {k: v for k, v in SCHEDULES["one-cycle"][peer].items() if k != "activation"}
    epochs = steps // max(len(train) // settings["batch"], 1)
    trainer = Trainer(make(), train, test, Recipe("one-cycle", **settings, epochs=epochs), seed, say=lambda _: None)
    trainer.run()
    return trainer.errors()["rl2e"]


def spread(values: list[float]) -> str:
    return f"{mean(values):.2e}" + (f" ± {stdev(values):.1e}" if len(values) > 1 else "")


if __name__ == "__main__":
    main()
