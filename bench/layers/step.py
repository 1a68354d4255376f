"""A step of the layered map beside the same network in PyTorch, in the same run.

    python bench/layers/step.py DATA.npz [--c2cnet COMMAND] [--threads 2] [--steps 200]
    python bench/layers/step.py DATA.npz --device cuda --steps 2000 [--functions 300]

DATA is at a grid of two axes (`c2cnet generate darcy2d --set coefficient=binary --set points=16 --set refine=28 ...`).
Ours is timed as the difference of two fits with --map layered, one of them longer, on the same plan; PyTorch has the same
sizes, the same transforms axis by axis, the same relative loss and AdamW, on a GPU as one CUDA graph per step with a fused
update. Full single precision on both sides. Memory of a GPU is what is missing on it while a process runs, contexts included.
Needs NumPy and PyTorch.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH, CHANNELS, LAYERS, HIDDEN = 20, 32, 4, 128
WARM_UP = 10


class Network(torch.nn.Module):
    """Layers in cosines along both axes of an n x n grid; those of smallest frequency are mixed."""

    def __init__(self, n, functions, inputs=3):
        super().__init__()
        pairs = sorted((i * i + j * j, i, j) for i in range(n) for j in range(n))[:functions]
        self.m = m = 1 + max(max(i, j) for _, i, j in pairs)
        grid = (torch.arange(n) + 0.5) / n
        waves = [torch.cos(math.pi * k * grid) * (2**0.5 if k else 1) for k in range(m)]
        self.register_buffer("waves", torch.stack(waves, 1))
        self.register_buffer("places", torch.tensor([i * m + j for _, i, j in pairs]))
        self.n = n
        self.lift = torch.nn.Linear(inputs, CHANNELS)
        self.local = torch.nn.ModuleList(torch.nn.Linear(CHANNELS, CHANNELS) for _ in range(LAYERS))
        modes = [torch.rand(functions, CHANNELS, CHANNELS) / CHANNELS for _ in range(LAYERS)]
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


def pytorch(options):
    """Seconds of a step."""
    f, u, n = read(options.data)
    device = torch.device(options.device)
    network = Network(n, options.functions).to(device)
    line = torch.linspace(-1, 1, n)
    at = torch.stack(torch.meshgrid(line, line, indexing="ij"), -1).expand(len(f), n, n, 2)
    x = torch.cat([((f - f.mean()) / f.std()).view(-1, n, n, 1), at], -1).to(device)
    y = (u / u.std()).view(-1, n, n).to(device)
    graphs = device.type == "cuda"
    rule = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1.0, fused=graphs, capturable=graphs)
    batches = torch.randint(len(x), (options.steps + WARM_UP, BATCH), device=device)
    chosen = batches[0].clone()

    def step():
        off = (network(x[chosen]) - y[chosen]).flatten(1).norm(dim=1)
        loss = (off / y[chosen].flatten(1).norm(dim=1)).mean()
        rule.zero_grad()
        loss.backward()
        rule.step()

    once = captured(step) if graphs else step
    begin = 0.0
    for k, batch in enumerate(batches):
        if k == WARM_UP:
            synchronise(device)
            begin = time.perf_counter()
        chosen.copy_(batch)
        once()
    synchronise(device)
    return (time.perf_counter() - begin) / options.steps


def captured(step):
    """The step as a CUDA graph."""
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def synchronise(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def read(path):
    data = np.load(path)
    f, u = (torch.tensor(data[k], dtype=torch.float32) for k in ("f", "u"))
    return f, u, round(f.shape[1] ** 0.5)


class Memory:
    """The most memory of the GPU, in MiB, that is taken while this is open; 0 on the processor."""

    def __init__(self, device):
        self.on_gpu, self.peak, self.done = device == "cuda", 0.0, threading.Event()

    def __enter__(self):
        if self.on_gpu:
            self.before = torch.cuda.mem_get_info()[0]
            self.thread = threading.Thread(target=self.watch)
            self.thread.start()
        return self

    def watch(self):
        while not self.done.wait(0.02):
            self.peak = max(self.peak, (self.before - torch.cuda.mem_get_info()[0]) / 2**20)

    def __exit__(self, *_):
        self.done.set()
        if self.on_gpu:
            self.thread.join()


def ours(options, points, epochs, folder):
    """Seconds and steps of a training."""
    sizes = {"functions": options.functions, "channels": CHANNELS, "layers": LAYERS, "hidden": HIDDEN, "batch": BATCH,
             "points": points}
    flags = [p for k, v in (sizes | {"epochs": epochs}).items() for p in ("--set", f"map.layered.{k}={v}")]
    # Nothing is held out but a few samples, so that there is one training.
    flags += ["--set", "validation=0.05", "--map", "layered", "--input-basis", 'family="point-values"']
    flags += ["--device", options.device, "--threads", str(options.threads)]
    model = folder / "model.c2c"
    command = [options.c2cnet, "fit", str(options.data), "-o", str(model), "--force", "--json", *flags]
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    training = json.loads(out.stdout)["network"]["judged"]
    return training["seconds"], training["steps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--c2cnet", default=str(ROOT / "target/release/c2cnet"))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--functions", type=int, default=128)
    parser.add_argument("--only-pytorch", action="store_true", help="print its seconds per step")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.only_pytorch:
        print(pytorch(options))
        return
    f, _, n = read(options.data)
    folder = tempfile.TemporaryDirectory()
    passes = 1 + max(1, options.steps * BATCH // len(f))
    with folder, Memory(options.device) as memory:
        few, many = (ours(options, n * n, e, pathlib.Path(folder.name)) for e in (1, passes))
    mine = (many[0] - few[0]) / (many[1] - few[1])
    again = [sys.executable, __file__, *sys.argv[1:], "--only-pytorch"]
    with Memory(options.device) as of_peer:
        peer = float(subprocess.run(again, check=True, capture_output=True, text=True).stdout)
    where = torch.cuda.get_device_name() if options.device == "cuda" else f"{options.threads} threads"
    print(f"{n} x {n} points, batch {BATCH}, {CHANNELS} channels, {options.functions} functions, {LAYERS} layers, {where}")
    print(f"ours {1e3 * mine:.3f} ms per step, PyTorch {torch.__version__} {1e3 * peer:.3f} ms, ratio {mine / peer:.2f}")
    if options.device == "cuda":
        print(f"memory: ours {memory.peak:.0f} MiB, PyTorch {of_peer.peak:.0f} MiB")


if __name__ == "__main__":
    main()
