"""Fits data as people bring it, with default settings, by one or more versions of the command.

    python bench/own-data/run.py --c2cnet PROGRAM [--c2cnet OLDER] [--only NAME,NAME] [--write]

First, the same data in other units and on a ring: the RL2E of each component on its own (test samples). Second, the
twelve kinds of `cases.py` by the first program, beside linear regression on all values and the training mean.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import cases
import numpy as np

HERE = pathlib.Path(__file__).parent

#: Names as in the table, and what is made.
UNITS = {
    "two components": lambda: cases.two_parts(),
    "the second times 1e6": lambda: cases.two_parts(imaginary=1e6),
    "two named outputs": lambda: cases.two_outputs(),
    "the second of them times 1e6": lambda: cases.two_outputs(imaginary=1e6),
    "an input of two components": lambda: cases.vectors(),
    "times 2e12 and 1e-6": lambda: cases.vectors(units=(2e12, 1e-6)),
    "two named inputs": lambda: cases.two_inputs(),
    "those times 2e12 and 1e-6": lambda: cases.two_inputs(units=(2e12, 1e-6)),
    "parameters": lambda: cases.parameters(),
    "parameters times 2e12 and 1e-6": lambda: cases.parameters(units=(2e12, 1e-6)),
    "a ring of 64 points": lambda: cases.burgers(),
    "half-way between them": lambda: cases.burgers(between=True),
    "a torus of 64 x 64 points": lambda: listed(cases.heat()),
}


def listed(data):
    """A grid as a list of points, which older versions read."""
    axes = np.stack(np.meshgrid(data["x0"], data["x1"], indexing="ij"), -1).reshape(-1, 2)
    flat = {k: data[k].reshape(len(data[k]), -1) for k in "fu"}
    return {"x": axes, "y": axes, **flat, "n_train": data["n_train"]}


def run(program, *arguments):
    """The JSON that the command prints, or the message with which it stops."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[0]}
    return json.loads(done.stdout) if "--json" in arguments else {}


def fit(program, folder, data, *flags):
    """Errors on the test samples, and the seconds of the fit."""
    np.savez(folder / "data.npz", **data)
    paths = [str(folder / name) for name in ("model.c2c", "data.npz", "prediction.npz")]
    begin = time.perf_counter()
    told = run(program, "fit", paths[1], "-o", paths[0], "--json", *flags)
    seconds = time.perf_counter() - begin
    if "error" in told:
        return told
    errors = run(program, "evaluate", paths[0], paths[1], "--json", *flags)
    run(program, "predict", paths[0], paths[1], "-o", paths[2], *flags)
    with np.load(paths[2]) as found:
        errors["own"] = own_errors(data, found)
    return {**errors, "seconds": seconds}


def elsewhere(program, folder, data):
    """Errors at other points of a model fitted to the ring."""
    fit(program, folder, cases.burgers())
    np.savez(folder / "data.npz", **data)
    errors = run(program, "evaluate", str(folder / "model.c2c"), str(folder / "data.npz"), "--json")
    return errors if "error" in errors else {"own": [errors["rl2e"]]}


def own_errors(data, found):
    """Of each component of each output, by the predictions themselves."""
    n, own = int(data["n_train"]), []
    for key, truth in data.items():
        if key.split(".")[0] != "u":
            continue
        components = truth.shape[-1] if truth.ndim == 3 and "y0" not in data else 1
        t, p = (a[n:].reshape(len(a) - n, -1, components) for a in (truth, found[key]))
        off = np.linalg.norm(p - t, axis=1) / np.linalg.norm(t, axis=1)
        own += list(off.mean(0))
    return own


def ridge(data):
    """Test RL2E of linear regression on all values; None where there is no such."""
    values = {k: np.asarray(v) for k, v in data.items()}
    if values.get("x", np.zeros(1)).ndim == 3 and "y0" not in values and values["x"].shape[0] == len(values["f"]):
        return None
    # Quantities are judged in their own units, which vectors of all values are not.
    if "q" in values:
        return None
    rows = lambda key: [real(v) for k, v in values.items() if k.split(".")[0] in key]
    f, u, n = np.hstack(rows("fp")), np.hstack(rows("uq")), int(data["n_train"])
    if not np.isfinite(f).all():
        return None
    mean, size, centre = f[:n].mean(0), f[:n].std(0) + 1e-300, u[:n].mean(0)
    f = (f - mean) / size
    k = n * 4 // 5

    def error(train, test, strength):
        left, s, right = np.linalg.svd(f[train], full_matrices=False)
        b = (s / (s**2 + strength * s[0] ** 2))[:, None] * (left.T @ (u[train] - centre))
        found = f[test] @ right.T @ b + centre
        norm = np.linalg.norm(u[test], axis=1)
        return np.mean(np.linalg.norm(found - u[test], axis=1) / norm)

    held = [error(slice(0, k), slice(k, n), s) for s in 10.0 ** np.arange(-12, 2)]
    return error(slice(0, n), slice(n, None), 10.0 ** (np.argmin(held) - 12))


def real(values):
    flat = values.reshape(len(values), -1)
    return np.hstack([flat.real, flat.imag]) if np.iscomplexobj(flat) else flat


def shown(value):
    return "-" if value is None else f"{value:.1e}"


def units(programs, folder, wanted):
    lines = ["| data | " + " | ".join(f"errors, {name}" for name in programs) + " |"]
    lines.append("|---" * (1 + len(programs)) + "|")
    for name, make in UNITS.items():
        if wanted and name not in wanted:
            continue
        cells = []
        for program in programs.values():
            if name.startswith("half-way"):
                errors = elsewhere(program, folder, make())
            else:
                errors = fit(program, folder, make())
            cells.append(errors.get("error") or " and ".join(map(shown, errors["own"])))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def kinds(program, folder, wanted):
    lines = ["| data | RL2E | linear regression | training mean | fit, s |", "|---|---|---|---|---|"]
    for make in cases.KINDS:
        if wanted and make.__name__ not in wanted:
            continue
        data = make()
        flags = ["--missing", "nan"] if make is cases.gaps else []
        errors = fit(program, folder, data, *flags)
        text = make.__doc__.strip().splitlines()[0].rstrip(".")
        if "error" in errors:
            lines.append(f"| {text} | {errors['error']} | | | |")
        else:
            row = [errors["rl2e"], ridge(data), errors["mean_rl2e"]]
            lines.append(f"| {text} | " + " | ".join(map(shown, row)) + f" | {errors['seconds']:.0f} |")
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--c2cnet", action="append", required=True, metavar="[NAME=]PROGRAM")
    parser.add_argument("--only", default="", help="names of cases, separated by commas")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    args = parser.parse_args()
    programs = dict((p.split("=", 1) if "=" in p else (f"program {i}", p)) for i, p in enumerate(args.c2cnet))
    wanted = set(filter(None, args.only.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        first = units(programs, folder, wanted)
        second = kinds(next(iter(programs.values())), folder, wanted)
    if args.write:
        title = "# Data as people bring it\n\n`python bench/own-data/run.py`, default settings, test samples.\n\n"
        text = title + "\n".join(first) + "\n\n" + "\n".join(second) + "\n"
        (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
