"""How far states of `navier-stokes` are from those of a finer solver, over time.

    python bench/generate/navier_stokes_refine.py [--c2cnet target/release/c2cnet] [--times 11]

Two trajectories, seed 0, against grid=256 steps=200 modes=85 (some CPU minutes); the table is in the documentation of the
problem.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FINE = (256, 200, 85)
CASES = {"0.001": [(64, 50, 20), (128, 100, 42)], "0.0001": [(64, 50, 20), (128, 100, 42)]}


def states(options, folder, viscosity, solver):
    """All states of both trajectories, (2, points, times)."""
    grid, steps, modes = solver
    settings = [f"viscosity={viscosity}", f"grid={grid}", f"steps={steps}", f"modes={modes}",
                "n_train=2", "n_test=0", "history=1", f"next={options.times - 1}"]
    path = Path(folder) / "data.npz"
    flags = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([options.c2cnet, "generate", "navier-stokes", "-o", path, "--force", *flags], check=True,
                   stdout=subprocess.DEVNULL)
    with np.load(path) as file:
        return np.concatenate([file[key].reshape(2, 64 * 64, -1) for key in "fu"], axis=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--c2cnet", default=str(ROOT / "target/release/c2cnet"))
    parser.add_argument("--times", type=int, default=30, help="the last time")
    options = parser.parse_args()
    shown = [t for t in (1, 11, 20, 30) if t <= options.times]
    print("| viscosity | grid, steps, modes | " + " | ".join(f"t = {t}" for t in shown) + " |")
    print("|---" * (2 + len(shown)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for viscosity, solvers in CASES.items():
            fine = states(options, folder, viscosity, FINE)
            for solver in solvers:
                off = states(options, folder, viscosity, solver) - fine
                errors = (np.linalg.norm(off, axis=1) / np.linalg.norm(fine, axis=1)).max(axis=0)
                figures = " | ".join(f"{errors[t - 1]:.0e}" for t in shown)
                print(f"| {viscosity} | {', '.join(map(str, solver))} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
