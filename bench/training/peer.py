"""PyTorch's side: peer.py TASK MODE prints seconds per step (or per prediction) and peak memory as JSON.

Modes: foreach and fused name the implementation of Adam, eager; compile compiles forward, loss and
backward and steps with the fused Adam.
"""

import json
import resource
import sys
import time

import torch

STEPS_PER_TIMING = 10
SIDE = 141


def network(widths):
    layers = []
    for fan_in, fan_out in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.GELU()]
    return torch.nn.Sequential(*layers[:-1])


def fastest(work, repeats, together):
    work()
    best = [float("inf")] * 2
    for _ in range(repeats):
        begin = time.perf_counter(), time.process_time()
        for _ in range(together):
            work()
        end = time.perf_counter(), time.process_time()
        best = [min(b, (y - x) / together) for b, x, y in zip(best, begin, end)]
    return best


def step(widths, samples, mode, psi=None, repeats=10, together=STEPS_PER_TIMING):
    model = network(widths)
    a = torch.rand(samples, widths[0]) * 2 - 1
    u = torch.rand(samples, widths[-1] if psi is None else len(psi)) * 2 - 1
    norms = u.norm(dim=1)
    outside = 1e-3

    def loss_of(a):
        y = model(a)
        if psi is not None:
            return ((y @ psi.T - u).norm(dim=1) / norms).mean()
        return ((((y - u) ** 2).sum(1) + outside).sqrt() / norms).mean()

    if mode == "compile":
        loss_of = torch.compile(loss_of, mode="max-autotune-no-cudagraphs")
    implementation = {"foreach": {"foreach": True}}.get(mode, {"fused": True})
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, **implementation)

    def work():
        optimiser.zero_grad()
        loss_of(a).backward()
        optimiser.step()

    return fastest(work, repeats, together)


def predict(mode):
    model = network([512, 180, 180, 2048])
    psi = torch.rand(SIDE * SIDE, 2048)
    a = torch.rand(512)

    def field(a):
        return psi @ model(a)

    if mode == "compile":
        field = torch.compile(field, mode="max-autotune-no-cudagraphs")
    with torch.inference_mode():
        return fastest(lambda: field(a), 20, 30)


def main():
    task, mode = sys.argv[1:3]
    torch.manual_seed(2026)
    if task == "small":
        seconds = step([128, 400, 400, 400, 128], 800, mode)
    elif task == "wide":
        seconds = step([512, 180, 180, 640], 2400, mode)
    elif task == "paper":
        psi = torch.rand(SIDE * SIDE, 2048)
        seconds = step([512, 180, 180, 2048], 2400, mode, psi, repeats=3, together=1)
    elif task == "predict":
        seconds = predict(mode)
    else:
        sys.exit(f"no task {task}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    record = {
        "task": task,
        "mode": mode,
        "seconds": seconds[0],
        "cpu_seconds": seconds[1],
        "peak_mib": peak,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
