"""A step of the layered map on the CPU, beside the same network in PyTorch, in the same run.

    python bench/layers/step.py DATA.npz [--c2cnet COMMAND] [--threads 2] [--steps 200]

DATA is at a grid of two axes (`c2cnet generate darcy2d --set coefficient=binary --set points=16 --set refine=28 ...`).
Ours is timed as the difference of two fits with --map layered, one of them longer, on the same plan; PyTorch has the same
sizes, the same transforms axis by axis, the same relative loss and AdamW. Needs NumPy and PyTorch.
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH, CHANNELS, LAYERS, HIDDEN, FUNCTIONS = 20, 32, 4, 128, 128


class Network(torch.nn.Module):
    """Layers in cosines along both axes of an n x n grid; those of smallest frequency are mixed."""

    def __init__(self, n, inputs=3):
        super().__init__()
        pairs = sorted((i * i + j * j, i, j) for i in range(n) for j in range(n))[:FUNCTIONS]
        self.m = m = 1 + max(max(i, j) for _, i, j in pairs)
        grid = (torch.arange(n) + 0.5) / n
        waves = [torch.cos(math.pi * k * grid) * (2**0.5 if k else 1) for k in range(m)]
        self.register_buffer("waves", torch.stack(waves, 1))
        self.register_buffer("places", torch.tensor([i * m + j for _, i, j in pairs]))
        self.n = n
        self.lift = torch.nn.Linear(inputs, CHANNELS)
        self.local = torch.nn.ModuleList(torch.nn.Linear(CHANNELS, CHANNELS) for _ in range(LAYERS))
        modes = [torch.rand(FUNCTIONS, CHANNELS, CHANNELS) / CHANNELS for _ in range(LAYERS)]
        self.modes = torch.nn.ParameterList(torch.nn.Parameter(a) for a in modes)
        self.inner, self.outer = torch.nn.Linear(CHANNELS, HIDDEN), torch.nn.Linear(HIDDEN, 1)

    def forward(self, x):
        v, n, m = self.lift(x), self.n, self.m
        for layer in range(LAYERS):
            c = torch.einsum("bxyc,xi->biyc", v, self.waves) / n
            c = (torch.einsum("biyc,yj->bijc", c, self.waves) / n).flatten(1, 2)
            mixed = torch.bmm(c[:, self.places].transpose(0, 1), self.modes[layer]).transpose(0, 1)
            all_places = torch.zeros_like(c).index_copy(1, self.places, mixed).unflatten(1, (m, m))
            t = torch.einsum("bijc,yj->biyc", all_places, self.waves)
            v = self.local[layer](v) + torch.einsum("biyc,xi->bxyc", t, self.waves)
            if layer + 1 < LAYERS:
                v = torch.nn.functional.gelu(v)
        return self.outer(torch.nn.functional.gelu(self.inner(v)))[..., 0]


def pytorch(f, u, n, steps):
    network = Network(n)
    line = torch.linspace(-1, 1, n)
    at = torch.stack(torch.meshgrid(line, line, indexing="ij"), -1).expand(len(f), n, n, 2)
    x = torch.cat([((f - f.mean()) / f.std()).view(-1, n, n, 1), at], -1)
    y = (u / u.std()).view(-1, n, n)
    rule = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1.0)
    begin = 0.0
    for step in range(steps + 10):
        if step == 10:
            begin = time.perf_counter()
        chosen = torch.randint(len(x), (BATCH,))
        off = (network(x[chosen]) - y[chosen]).flatten(1).norm(dim=1)
        loss = (off / y[chosen].flatten(1).norm(dim=1)).mean()
        rule.zero_grad()
        loss.backward()
        rule.step()
    return (time.perf_counter() - begin) / steps


def ours(options, samples, epochs, folder):
    sizes = {"functions": FUNCTIONS, "channels": CHANNELS, "layers": LAYERS, "hidden": HIDDEN, "batch": BATCH}
    flags = [p for k, v in (sizes | {"epochs": epochs}).items() for p in ("--set", f"map.layered.{k}={v}")]
    # Nothing is held out but a few samples, so that there is one training.
    flags += ["--set", "validation=0.05", "--map", "layered", "--threads", str(options.threads)]
    model = folder / "model.c2c"
    command = [options.c2cnet, "fit", str(options.data), "-o", str(model), "--force", "--json", *flags]
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    training = json.loads(out.stdout)["network"]["judged"]
    return training["seconds"], training["steps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--c2cnet", default=str(ROOT / "target/release/c2cnet"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    data = np.load(options.data)
    f, u = (torch.tensor(data[k], dtype=torch.float32) for k in ("f", "u"))
    n = round(f.shape[1] ** 0.5)
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        few, many = (ours(options, len(f), e, pathlib.Path(folder)) for e in (1, 1 + max(1, options.steps * BATCH // len(f))))
    mine = (many[0] - few[0]) / (many[1] - few[1])
    peer = pytorch(f, u, n, options.steps)
    print(f"{n} x {n} points, batch {BATCH}, {CHANNELS} channels, {FUNCTIONS} functions, {LAYERS} layers, {options.threads} threads")
    print(f"ours {1e3 * mine:.1f} ms per step, PyTorch {torch.__version__} {1e3 * peer:.1f} ms, ratio {mine / peer:.2f}")


if __name__ == "__main__":
    main()
