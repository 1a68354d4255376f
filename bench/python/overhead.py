"""What Python adds to Rust's time at 1D Darcy size, and whether all three predict the same bits.

    cargo build --release -p c2cnet-cli && cargo build --release -p c2cnet --example bench_fit
    python bench/python/overhead.py [--rounds N] [--write]

Needs the package c2cnet. Rust and Python take turns; the least time of all rounds counts on either
side. Rust's prediction starts from a field in memory, Python's from an array, which it copies.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import c2cnet

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("C2CNET_BUILD", ROOT / "target" / "release"))
PREDICTIONS = 100


def least(runs, work):
    seconds, result = float("inf"), None
    for _ in range(runs):
        begin = time.perf_counter()
        result = work()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, result


def python_side(data, settings):
    train, test = data.train, data.test
    model = c2cnet.C2CNet(settings=settings, x=data.x, y=data.y)
    f, u = train.f, train.u
    found = {"fit": least(1, lambda: model.fit(f, u))[0]}
    # Around the library's own seconds in the very same call: other work on the machine cancels.
    found["around"] = found["fit"] - model.report_["seconds"]["total"]
    f = test.f
    found["predict"], u = least(PREDICTIONS, lambda: model.predict(f))
    one = test.f[:1]
    found["one"], _ = least(PREDICTIONS, lambda: model.predict(one))
    return found, u


def whole_call(x):
    """All of a prediction whose mathematics is next to nothing: no less than what Python adds."""
    basis = c2cnet.Polynomial(functions=2)
    f = np.random.default_rng(0).normal(size=(20, 2)) @ np.stack([np.ones(len(x)), x[:, 0]])
    model = c2cnet.C2CNet(basis, basis, map="linear").fit(f, f, x, x)
    one = f[:1]
    return least(20 * PREDICTIONS, lambda: model.predict(one))[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="keep the table in RESULTS.md")
    arguments = parser.parse_args()
    features = {"family": "random-features", "functions": 128, "partitions": [16]}
    settings = {
        "input": {"basis": features, "encoder": {"method": "svd", "cut": 0.1}},
        "output": {"basis": {"family": "fourier", "kind": "sine", "functions": 128}},
        "map": {"kind": "kernel"},
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = lambda *command: subprocess.run(
            [str(part) for part in command], check=True, capture_output=True, text=True
        ).stdout
        run(BUILD / "c2cnet", "generate", "darcy1d", "-o", folder / "data.npz")
        (folder / "settings.json").write_text(json.dumps(settings))
        data = c2cnet.load_npz(folder / "data.npz")
        rust, python = {}, {}
        for _ in range(arguments.rounds):
            out = run(
                BUILD / "examples" / "bench_fit",
                folder / "data.npz",
                folder / "settings.json",
                folder / "rust.npz",
                1,
                PREDICTIONS,
            )
            sides = [(rust, json.loads(out))]
            found, u = python_side(data, settings)
            sides.append((python, found))
            for kept, new in sides:
                kept.update({k: min(v, kept.get(k, v)) for k, v in new.items()})

        flags = ["input.basis={family='random-features',functions=128,partitions=[16]}"]
        flags += ["input.encoder={method='svd',cut=0.1}", "map.kind=kernel"]
        flags += ["output.basis={family='fourier',kind='sine',functions=128}"]
        sets = [part for flag in flags for part in ("--set", flag)]
        run(BUILD / "c2cnet", "fit", folder / "data.npz", "-o", folder / "model.c2c", *sets)
        np.savez(folder / "test.npz", x=data.x, f=data.test.f)
        np.save(folder / "points.npy", data.y)
        run(
            BUILD / "c2cnet", "predict", folder / "model.c2c", folder / "test.npz",
            "--at", folder / "points.npy", "-o", folder / "shell.npz",
        )
        same = {
            "Rust": np.array_equal(np.load(folder / "rust.npz")["u"], u),
            "the shell": np.array_equal(np.load(folder / "shell.npz")["u"], u),
        }

    lines = [
        "| 1D Darcy, 800 samples, 2,000 points, 128 functions, kernel map | Rust | Python | above Rust |",
        "|---|---|---|---|",
    ]
    for key, name, unit, scale in [
        ("fit", "fit", "s", 1),
        ("predict", "predict 200 samples", "ms", 1e3),
        ("one", "predict one sample", "ms", 1e3),
    ]:
        a, b = rust[key], python[key]
        above = f"{(b - a) * 1e6:+.0f} us" if key == "one" else f"{100 * (b / a - 1):+.1f} %"
        lines.append(f"| {name} | {a * scale:.3f} {unit} | {b * scale:.3f} {unit} | {above} |")
    around = python["around"]
    lines.append(
        f"| what `fit` in Python does around the library | - | {around * 1e3:.1f} ms "
        f"| {100 * around / rust['fit']:+.1f} % |"
    )
    whole = f"{whole_call(data.x) * 1e6:.0f} us"
    lines.append(f"| one sample, 2,000 points, two functions: the whole call | - | {whole} | below {whole} |")
    table = "\n".join(lines)
    print(table)
    for name, equal in same.items():
        print(f"predictions of Python and {name}: {'the same bits' if equal else 'DIFFERENT'}")
    if not all(same.values()):
        sys.exit("predictions differ")
    if arguments.write:
        text = f"# What Python adds\n\n`python bench/python/overhead.py --write`\n\n{table}\n\n"
        text += "Predictions from Rust, the shell and Python are the same bits.\n"
        (Path(__file__).parent / "OVERHEAD.md").write_text(text)


if __name__ == "__main__":
    main()
