"""Times the darcy2d generator against scipy.sparse.linalg.spsolve on the same systems.

    python3 -m venv ~/.cache/c2cnet-bench && ~/.cache/c2cnet-bench/bin/pip install numpy scipy
    cargo build --release -p c2cnet-cli
    ~/.cache/c2cnet-bench/bin/python bench/generate/darcy2d_scipy.py

The generator writes kappa and u at 141 x 141 nodes. SciPy then solves the five-point system of the
139 x 139 inner nodes for the same kappa. Both solutions must agree to 1e-9 of their norm.

Seconds per sample, this side: the whole command, from its start to the
file on disk, on one thread and on `--threads`. SciPy's: spsolve alone, in one process, its matrix already
assembled. Runs of the two alternate, and the least of `--repeat` counts. On a machine
that is busy with other work, clock time says little; processor seconds, also printed, do.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

ROOT = Path(__file__).resolve().parents[2]


def generate(program, samples, threads, file):
    """Runs the generator; returns its seconds and its processor seconds per sample."""
    command = [program, "generate", "darcy2d", "-o", file, "--set", f"n_train={samples}", "--set", "n_test=0"]
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    seconds, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds / samples, used / samples


def system(kappa):
    """The matrix and right-hand side of the inner nodes, column format, as spsolve expects it."""
    n = kappa.shape[0] - 1
    k = kappa[1:-1, 1:-1]
    east, west = (k + kappa[1:-1, 2:]) / 2, (k + kappa[1:-1, :-2]) / 2
    south, north = (k + kappa[2:, 1:-1]) / 2, (k + kappa[:-2, 1:-1]) / 2
    index = np.arange(k.size).reshape(k.shape)
    entries = [(index, index, east + west + south + north)]
    entries.append((index[:, :-1], index[:, 1:], -east[:, :-1]))
    entries.append((index[:, 1:], index[:, :-1], -west[:, 1:]))
    entries.append((index[:-1], index[1:], -south[:-1]))
    entries.append((index[1:], index[:-1], -north[1:]))
    rows, columns, values = (np.concatenate([e[i].ravel() for e in entries]) for i in range(3))
    matrix = sparse.csc_matrix((values * n * n, (rows, columns)), shape=(k.size, k.size))
    return matrix, np.ones(k.size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "target/release/c2cnet")
    parser.add_argument("--samples", type=int, default=256, help="samples a run of the generator")
    parser.add_argument("--solves", type=int, default=6, help="SciPy solves a repetition")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "darcy2d.npz"
        generate(options.program, options.solves, 1, file)
        data = np.load(file)
        kappa, u = (data[key].reshape(options.solves, 141, 141) for key in ("f", "u"))
        systems = [system(k) for k in kappa]
        one, many, theirs = [], [], []
        for _ in range(options.repeat):
            one.append(generate(options.program, options.samples, 1, file))
            many.append(generate(options.program, options.samples, options.threads, file))
            start = time.perf_counter(), time.process_time()
            solutions = [spsolve(matrix, right) for matrix, right in systems]
            end = time.perf_counter(), time.process_time()
            theirs.append([(b - a) / options.solves for a, b in zip(start, end)])

    worst = 0.0
    for ours, solution in zip(u, solutions):
        inner = ours[1:-1, 1:-1].ravel()
        worst = max(worst, np.linalg.norm(inner - solution) / np.linalg.norm(solution))
        assert np.count_nonzero(ours) == inner.size, "u must vanish on the boundary"
    assert worst < 1e-9, f"solutions differ by {worst:.1e}"

    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} with this run's own")
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}; solutions differ by {worst:.1e} at most")
    wall, processor = {}, {}
    print("seconds per sample     least   all runs; processor seconds least")
    for name, runs in [
        ("c2cnet, 1 thread", one),
        (f"c2cnet, {options.threads} threads", many),
        ("spsolve, 1 process", theirs),
    ]:
        wall[name], processor[name] = min(r[0] for r in runs), min(r[1] for r in runs)
        times = " ".join(f"{r[0]:.5f}" for r in runs)
        print(f"{name:20s} {wall[name]:.5f}   {times}; {processor[name]:.5f}")
    first, second, third = wall
    print(f"ratio on one core: {wall[third] / wall[first]:.1f}")
    print(f"ratio in total: {wall[third] / wall[second]:.1f}")
    print(f"ratio of processor seconds: {processor[third] / processor[first]:.1f}")


if __name__ == "__main__":
    main()
