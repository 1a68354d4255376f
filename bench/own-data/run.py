"""Fits data as people bring it, with default settings, by one or more versions of the command.

    python bench/own-data/run.py --c2cnet PROGRAM [--c2cnet OLDER] [--only NAME,NAME] [--folder FOLDER] [--write]

First, the same data in other units and on a ring: the RL2E of each component on its own (test samples). Second, the
twelve kinds of `cases.py` by the first program, beside linear regression on all values, the nearest training sample and
the training mean, with the command that fits each, and a picture of the median test sample of each. `--folder` keeps
the data files, so that the commands can be repeated there. `--write` writes RESULTS.md and kinds.png.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import cases
import contact
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


TEXT = """\
# Data as people bring it

`python bench/own-data/run.py --c2cnet PROGRAM --write`: default settings, test samples, seconds with what else the machine
does.

## In other units

{units}

## Twelve kinds

The data files are those of `--folder`; errors by `c2cnet evaluate`.

{kinds}

![The median test sample of each kind: truth and prediction](kinds.png)
"""


def listed(data):
    """A grid as a list of points, which older versions read."""
    axes = np.stack(np.meshgrid(data["x0"], data["x1"], indexing="ij"), -1).reshape(-1, 2)
    flat = {k: data[k].reshape(len(data[k]), -1) for k in "fu"}
    return {"x": axes, "y": axes, **flat, "n_train": data["n_train"]}


def run(program, *arguments):
    """The JSON that the command prints, or the message with which it stops."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"error": next((line for line in lines if line.startswith("error")), lines[-1])}
    return json.loads(done.stdout) if "--json" in arguments else {}


def fit(program, folder, data, *flags, name="data"):
    """Errors on the test samples, predictions, and the seconds of the fit."""
    np.savez(folder / f"{name}.npz", **data)
    paths = [str(folder / file) for file in (f"{name}.c2c", f"{name}.npz", "prediction.npz")]
    begin = time.perf_counter()
    told = run(program, "fit", paths[1], "-o", paths[0], "--json", *flags)
    seconds = time.perf_counter() - begin
    if "error" in told:
        return told
    errors = run(program, "evaluate", paths[0], paths[1], "--json", *flags)
    run(program, "predict", paths[0], paths[1], "-o", paths[2], "--force", *flags)
    with np.load(paths[2]) as found:
        found = dict(found)
    return {**errors, "own": own_errors(data, found), "found": found, "seconds": seconds}


def elsewhere(program, folder, data):
    """Errors at other points of a model fitted to the ring."""
    fit(program, folder, cases.burgers())
    np.savez(folder / "data.npz", **data)
    errors = run(program, "evaluate", str(folder / "data.c2c"), str(folder / "data.npz"), "--json")
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


def plain(data):
    """Standardised inputs and the outputs, all values of a sample in a row; None where there are no such."""
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
    return (f - f[:n].mean(0)) / (f[:n].std(0) + 1e-300), u, n


def relative(found, truth):
    return np.mean(np.linalg.norm(found - truth, axis=1) / np.linalg.norm(truth, axis=1))


def nearest(data):
    """Test RL2E of the output of the training sample with the most similar input."""
    if (rows := plain(data)) is None:
        return None
    f, u, n = rows
    apart = (f[n:] ** 2).sum(1)[:, None] - 2 * f[n:] @ f[:n].T + (f[:n] ** 2).sum(1)
    return relative(u[:n][apart.argmin(1)], u[n:])


def ridge(data):
    """Test RL2E of linear regression on all values."""
    if (rows := plain(data)) is None:
        return None
    f, u, n = rows
    centre, k = u[:n].mean(0), n * 4 // 5

    def error(train, test, strength):
        left, s, right = np.linalg.svd(f[train], full_matrices=False)
        b = (s / (s**2 + strength * s[0] ** 2))[:, None] * (left.T @ (u[train] - centre))
        return relative(f[test] @ right.T @ b + centre, u[test])

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
    """The table of the twelve kinds, and what was found of each."""
    heads = ["data", "command", "RL2E", "linear regression", "nearest sample", "training mean", "fit, s"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    found = {}
    for make in cases.KINDS:
        name = make.__name__
        if wanted and name not in wanted:
            continue
        data = make()
        flags = ["--missing", "nan"] if make is cases.gaps else []
        errors = fit(program, folder, data, *flags, name=name)
        text = make.__doc__.strip().splitlines()[0].rstrip(".")
        command = " ".join([f"`c2cnet fit {name}.npz -o {name}.c2c", *flags]) + "`"
        if "error" in errors:
            cells = [errors["error"], "", "", "", ""]
        else:
            row = [errors["rl2e"], ridge(data), nearest(data), errors["mean_rl2e"]]
            cells = [*map(shown, row), f"{errors['seconds']:.0f}"]
            found[name] = (data, errors)
        lines.append(f"| {' | '.join([text, command, *cells])} |")
        print(lines[-1], flush=True)
    return lines, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--c2cnet", action="append", required=True, metavar="[NAME=]PROGRAM")
    parser.add_argument("--only", default="", help="names of cases, separated by commas")
    parser.add_argument("--folder", type=pathlib.Path, help="where the data files are kept")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md and kinds.png")
    args = parser.parse_args()
    programs = dict((p.split("=", 1) if "=" in p else (f"program {i}", p)) for i, p in enumerate(args.c2cnet))
    wanted = set(filter(None, args.only.split(",")))
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        first = units(programs, folder, wanted)
        second, found = kinds(next(iter(programs.values())), folder, wanted)
    target = HERE if args.write else args.folder
    if target and found:
        contact.sheet(found).savefig(target / "kinds.png", dpi=100)
    if args.write:
        (HERE / "RESULTS.md").write_text(TEXT.format(units="\n".join(first), kinds="\n".join(second)))


if __name__ == "__main__":
    main()
