"""SciPy on the matrices of poisson-holes and elastic-plate: one sparse solve per sample.

    cargo build --release -p c2cnet-cli
    cargo run --release -p c2cnet-problems --example elements FOLDER
    python bench/generate/elements.py FOLDER

The second command writes the matrices and times one factorisation of this project; the third times
`c2cnet generate`, from its start to the file on disk, `scipy.sparse.linalg.spsolve` (SuperLU, which orders
and factors at every call), the usual way to make one sample after another, and `splu` once with one solve per
sample.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl


PROGRAM = Path(__file__).resolve().parents[2] / "target/release/c2cnet"


def best(function, repeats):
    """The least seconds of several calls, and the last result."""
    least = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        least = min(least, time.perf_counter() - start)
    return least, result


def main(folder):
    for name in ["poisson-holes", "elastic-plate"]:
        def read(part, kind):
            return np.fromfile(Path(folder) / f"{name}.{part}", dtype=kind)

        starts, rows = read("starts", "<u8").astype(np.int32), read("rows", "<u8").astype(np.int32)
        n = len(starts) - 1
        lower = sp.csc_matrix((read("entries", "<f8"), rows, starts), shape=(n, n))
        matrix = (lower + sp.tril(lower, -1).T).tocsc()
        load, solution = read("load", "<f8"), read("solution", "<f8")
        each, x = best(lambda: spl.spsolve(matrix, load), 3)
        symmetric, factor = best(
            lambda: spl.splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}), 3
        )
        again, _ = best(lambda: factor.solve(load), 5)
        file = Path(folder) / f"{name}.npz"
        command = [PROGRAM, "generate", name, "-o", file]
        ours, _ = best(lambda: subprocess.run(command, check=True, capture_output=True), 3)
        samples = len(np.load(file)["u"])
        difference = np.linalg.norm(x - solution) / np.linalg.norm(solution)
        print(
            f"{name}: {n} unknowns, {samples} samples; c2cnet {1e3 * ours / samples:.2f} ms per sample; spsolve {1e3 * each:.1f} ms per sample; splu {1e3 * symmetric:.1f} ms once, "
            f"then {1e3 * again:.2f} ms per sample; differs from this project's solution by {difference:.1e}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
