"""A model of one step in time, applied again and again: its error over time beside that of persistence.

    python bench/rollout/rollout.py FOLDER [--c2cnet target/release/c2cnet] [--steps 20] [--fit=--map=layered]

Fits `navier-stokes` from `history` states to the next one, on windows that move along the training trajectories. Then every
test trajectory is rolled out: the prediction becomes the newest state of the window and the oldest one is dropped. The
truth is the same trajectory, recorded for longer. Persistence predicts the last state that was given. Writes `rollout.csv`
and prints it as a table. Needs NumPy; FOLDER keeps data and model.
"""

import argparse
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    here, model = options.folder, options.folder / "model.c2c"
    # One test trajectory in the file that is fitted: the others are rolled out only.
    generate(options, here / "windows.npz", windows=options.windows, n_train=options.train, n_test=1)
    generate(options, here / "truth.npz", next=options.steps, n_train=options.train, n_test=options.test)
    c2cnet(options, "fit", here / "windows.npz", "-o", model, "--force", *options.fit)

    with np.load(here / "truth.npz") as file:
        test = slice(int(file["n_train"]), None)
        x, window, truth = file["x"], file["f"][test], file["u"][test]
    truth = truth.reshape(*window.shape[:2], -1)
    predicted = roll_out(lambda f: predict(options, model, x, f), window, options.steps)
    persistent = np.repeat(window[..., -1:], options.steps, axis=-1)
    lines = ["step,model,persistence"]
    for step in range(options.steps):
        errors = (rl2e(p[..., step], truth[..., step]) for p in (predicted, persistent))
        lines.append(",".join([str(step + 1), *(f"{error:.4e}" for error in errors)]))
    (here / "rollout.csv").write_text("\n".join(lines) + "\n")
    print("\n".join("| " + line.replace(",", " | ") + " |" for line in [lines[0], "---,---,---", *lines[1:]]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--c2cnet", default=str(ROOT / "target/release/c2cnet"), help="the command")
    parser.add_argument("--set", dest="settings", nargs="+", default=[], metavar="KEY=VALUE", help="of navier-stokes")
    parser.add_argument("--train", type=int, default=200, help="trajectories to fit")
    parser.add_argument("--test", type=int, default=20, help="trajectories to roll out")
    parser.add_argument("--windows", type=int, default=10, help="samples from each trajectory")
    parser.add_argument("--steps", type=int, default=20, help="states that are predicted")
    parser.add_argument("--fit", action="append", default=[], metavar="FLAG", help="a flag of `c2cnet fit`")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def generate(options: argparse.Namespace, path: Path, **settings: int) -> None:
    pairs = [*options.settings, *(f"{key}={value}" for key, value in settings.items())]
    flags = [word for pair in pairs for word in ("--set", pair)]
    c2cnet(options, "generate", "navier-stokes", "-o", path, "--force", "--seed", options.seed, *flags)


def roll_out(step, window: np.ndarray, steps: int) -> np.ndarray:
    """`steps` states after the window (samples, points, history), each from those before it."""
    states = window
    for _ in range(steps):
        newest = step(states[..., -window.shape[-1]:])
        states = np.concatenate([states, newest[..., None]], axis=-1)
    return states[..., window.shape[-1]:]


def predict(options: argparse.Namespace, model: Path, x: np.ndarray, f: np.ndarray) -> np.ndarray:
    given, found = model.with_name("given.npz"), model.with_name("found.npz")
    np.savez(given, x=x, f=f)
    c2cnet(options, "predict", model, given, "-o", found, "--force")
    with np.load(found) as file:
        return file["u"].reshape(len(f), -1)


def rl2e(predicted: np.ndarray, truth: np.ndarray) -> float:
    """The mean over samples of the relative error."""
    return float(np.mean(np.linalg.norm(predicted - truth, axis=1) / np.linalg.norm(truth, axis=1)))


def c2cnet(options: argparse.Namespace, *words) -> None:
    subprocess.run([options.c2cnet, *(str(word) for word in words)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
