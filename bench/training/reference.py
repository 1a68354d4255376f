"""Losses of a small network trained by PyTorch, for the tests of crates/c2cnet/src/map/mlp.

    python bench/training/reference.py > crates/c2cnet/src/map/mlp/tests/pytorch.json

Everything is compared at the output points: the loss is that of Psi b - u, without any reduction.
"""

import json
import sys

import torch

WIDTHS = [8, 16, 16, 6]
SAMPLES, POINTS = 24, 40
EPSILON = 1e-12
DELTA, INSIDE, OUTSIDE, ALPHA = 0.1, 20.0, 1.0, 0.8
STEPS = {"f64": 200, "f32": 50}
ACTIVATIONS = {
    "gelu": torch.nn.functional.gelu,
    "gelu-tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "tanh": torch.tanh,
    "relu": torch.relu,
    "silu": torch.nn.functional.silu,
}


def rounded(*shape, scale=1.0):
    """Few digits, so that the file is small and says exactly what was used."""
    return (scale * (2 * torch.rand(*shape, dtype=torch.float64) - 1)).mul(1e4).round().div(1e4)


def relative(error, u):
    return (error.norm(dim=1) / (u.norm(dim=1) + EPSILON)).mean()


def band(error, u):
    weights = torch.where(u.abs() <= DELTA, INSIDE, OUTSIDE)
    return ((weights * error**2).sum(1) / weights.sum(1)).mean()


LOSSES = {
    "relative": relative,
    "mean-square": lambda error, u: (error**2).mean(),
    "band": band,
    "weighted": lambda error, u: ALPHA * band(error, u) + (1 - ALPHA) * relative(error, u),
}


def paper_schedule(step, steps):
    segment = steps // 3
    part = min(step // segment, 2)
    return 10.0**-part * 0.9 ** ((step - part * segment) * 50 // segment)


def train(data, case, dtype, steps):
    a, psi, u = (data[name].to(dtype) for name in ("inputs", "psi", "u"))
    parameters = [p.to(dtype).clone().requires_grad_() for p in data["parameters"]]
    activation = ACTIVATIONS[case["activation"]]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["optimiser"]]
    optimiser = kind(parameters, lr=case["rate"], weight_decay=case["weight_decay"])
    losses = []
    for step in range(steps):
        if case["schedule"] == "paper":
            for group in optimiser.param_groups:
                group["lr"] = case["rate"] * paper_schedule(step, 300)
        h = a
        for layer in range(len(WIDTHS) - 1):
            if layer:
                h = activation(h)
            h = torch.nn.functional.linear(h, parameters[2 * layer], parameters[2 * layer + 1])
        loss = LOSSES[case["loss"]](h @ psi.T - u, u)
        optimiser.zero_grad()
        loss.backward()
        if case["clip"] is not None:
            torch.nn.utils.clip_grad_norm_(parameters, case["clip"])
        optimiser.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(2026)
    parameters = []
    for fan_in, fan_out in zip(WIDTHS, WIDTHS[1:]):
        bound = fan_in**-0.5
        parameters += [rounded(fan_out, fan_in, scale=bound), rounded(fan_out, scale=bound)]
    inputs, psi = rounded(SAMPLES, WIDTHS[0]), rounded(POINTS, WIDTHS[-1])
    mixed = torch.sin(inputs @ rounded(WIDTHS[0], WIDTHS[-1]))
    u = (mixed @ psi.T + rounded(SAMPLES, POINTS, scale=0.02)).mul(1e4).round().div(1e4)
    data = {"inputs": inputs, "psi": psi, "u": u, "parameters": parameters}
    plain = {
        "activation": "gelu",
        "loss": "relative",
        "optimiser": "adam",
        "weight_decay": 0.0,
        "schedule": "constant",
        "rate": 1e-3,
        "clip": None,
    }
    cases = [dict(plain, activation=name) for name in ACTIVATIONS]
    cases += [dict(plain, loss=name) for name in LOSSES if name != "relative"]
    cases += [
        dict(plain, optimiser="adamw", weight_decay=0.1),
        dict(plain, optimiser="adam", weight_decay=0.01),
        dict(plain, schedule="paper", rate=1e-2),
        dict(plain, clip=0.05),
    ]
    for case in cases:
        for name, dtype in (("f64", torch.float64), ("f32", torch.float32)):
            losses = train(data, case, dtype, STEPS[name])
            case[name] = [float(f"{v:.9g}") for v in losses] if name == "f32" else losses
    record = {
        "torch": torch.__version__,
        "widths": WIDTHS,
        "schedule_steps": 300,
        "inputs": data["inputs"].tolist(),
        "psi": data["psi"].tolist(),
        "u": data["u"].tolist(),
        "parameters": [p.tolist() for p in parameters],
        "cases": cases,
    }
    json.dump(record, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
