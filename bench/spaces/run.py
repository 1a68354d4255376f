"""Errors between the points: prescribed, learned and hybrid spaces on coarse grids, judged on grids four times finer.

    python bench/spaces/run.py --c2cnet target/release/c2cnet [-o RESULTS.md] [--folder FOLDER] [--only NAME,NAME]

Each problem is solved on the fine grid; every fourth point of inputs and outputs along each axis is what a fit sees.
Predictions are asked for at all points of the fine grid and compared with the solver there. `advected-square` has jumps.
Needs NumPy.
"""

import argparse
import pathlib
import platform
import subprocess
import tempfile

import numpy as np

FINER = 4
SPACES = ["prescribed", "hybrid", "learned", "default"]

# Problem, coarse points along an axis, axes of the input and of the output, settings of the generator.
CASES = {
    "darcy1d-33": ("darcy1d", 33, 1, 1, ["length=0.1", "n_train=800", "n_test=200"]),
    "darcy1d-65": ("darcy1d", 65, 1, 1, ["length=0.1", "n_train=800", "n_test=200"]),
    "burgers-33": ("kdv-burgers", 33, 1, 2, ["dispersion=0", "n_train=400", "n_test=100"]),
    "burgers-65": ("kdv-burgers", 65, 1, 2, ["dispersion=0", "n_train=400", "n_test=100"]),
    "darcy2d-16": ("darcy2d", 16, 2, 2, ["n_train=800", "n_test=200"]),
    "darcy2d-32": ("darcy2d", 32, 2, 2, ["n_train=800", "n_test=200"]),
    "helmholtz-101": ("helmholtz", 101, 2, 2, ["n_train=300", "n_test=60"]),
    "advected-square-101": ("advected-square", 101, 1, 1, ["n_train=800", "n_test=200"]),
}


def relative(predicted, truth):
    """The mean relative L2 error over samples."""
    norms = np.linalg.norm(truth, axis=1)
    return float(np.mean(np.linalg.norm(predicted - truth, axis=1) / norms))


def every(points, axes):
    """Which points of a fine grid with `points` along each axis are points of the coarse one."""
    one = np.arange(0, points, FINER)
    return one if axes == 1 else (one[:, None] * points + one).ravel()


def measure(c2cnet, name, folder):
    problem, coarse, axes_in, axes_out, settings = CASES[name]
    points = FINER * (coarse - 1) + 1
    fine_file = folder / f"{name}-fine.npz"
    command = [c2cnet, "generate", problem, "-o", fine_file, "--set", f"points={points}"]
    run(command + [part for s in settings for part in ("--set", s)])
    fine = dict(np.load(fine_file))
    train, kept_in, kept_out = int(fine["n_train"]), every(points, axes_in), every(points, axes_out)
    data_file = folder / f"{name}.npz"
    np.savez(
        data_file,
        x=fine["x"][kept_in],
        f=fine["f"][:, kept_in],
        y=fine["y"][kept_out],
        u=fine["u"][:, kept_out],
        n_train=train,
    )
    asked_file = folder / "asked.npz"
    np.savez(asked_file, x=fine["x"][kept_in], f=fine["f"][train:][:, kept_in], y=fine["y"])
    truth = fine["u"][train:].reshape(len(fine["u"]) - train, -1)
    rows = {}
    for space in SPACES:
        model = folder / "model.c2c"
        chosen = [] if space == "default" else ["--set", f'output.space="{space}"', "--set", f'input.space="{space}"']
        run([c2cnet, "fit", data_file, "-o", model, *chosen])
        predicted_file = folder / "predicted.npz"
        run([c2cnet, "predict", model, asked_file, "-o", predicted_file])
        predicted = np.load(predicted_file)["u"].reshape(truth.shape)
        rows[space] = {
            "points": relative(predicted[:, kept_out], truth[:, kept_out]),
            "fine": relative(predicted, truth),
        }
        print(f"{name}, {space}: {rows[space]['points']:.2e} at the points, {rows[space]['fine']:.2e} between", flush=True)
    return rows


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def table(results):
    lines = [
        "| data | " + " | ".join(f"{s}: points / fine" for s in SPACES) + " | hybrid over the better of the two, fine |",
        "|---|" + "---|" * (len(SPACES) + 1),
    ]
    for name, rows in results.items():
        cells = [f"{rows[s]['points']:.2e} / {rows[s]['fine']:.2e}" for s in SPACES]
        ratio = rows["hybrid"]["fine"] / min(rows["prescribed"]["fine"], rows["learned"]["fine"])
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {ratio:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--c2cnet", required=True, help="the command")
    parser.add_argument("-o", "--output", help="where the table goes; default: printed")
    parser.add_argument("--folder", help="where data and models go; default: a temporary folder")
    parser.add_argument("--only", help="some of the cases, separated by commas")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(CASES)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = {name: measure(args.c2cnet, name, folder) for name in names}
    text = f"""# Between the points

Mean relative L2 errors on the test samples, at the points of the fit and on a grid {FINER} times finer along each axis, where
the solver knows the truth. Data seed 0, fit seed 0, default settings except for `space` of both fields; {platform.machine()}.
Made by `bench/spaces/run.py`.

{table(results)}
"""
    if args.output:
        pathlib.Path(args.output).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
