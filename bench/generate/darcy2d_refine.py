"""How far the u of darcy2d is from that of a finer solver: the relative L2 difference at the 141 x 141 points.

    cargo build --release -p c2cnet-cli
    python bench/generate/darcy2d_refine.py

The same kappa (seed 0) on 141 x 141 nodes and on grids `refine` times as fine; the finest is the reference.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "target/release/c2cnet")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--refine", type=int, nargs="+", default=[1, 2, 3, 6], help="ascending")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "darcy2d.npz"
        for refine in options.refine:
            settings = [f"refine={refine}", f"n_train={options.samples}", "n_test=0"]
            start = time.perf_counter()
            subprocess.run(
                [options.program, "generate", "darcy2d", "-o", file]
                + [word for setting in settings for word in ("--set", setting)],
                check=True,
                capture_output=True,
            )
            seconds = time.perf_counter() - start
            data = np.load(file)
            found[refine] = data["f"], data["u"], seconds
    kappa, u, _ = found[options.refine[-1]]
    print(f"relative L2 difference of u from refine = {options.refine[-1]}, {options.samples} samples")
    for refine in options.refine:
        own_kappa, own_u, seconds = found[refine]
        assert np.allclose(own_kappa, kappa, rtol=1e-10), "refining must not change kappa"
        each = np.linalg.norm(own_u - u, axis=1) / np.linalg.norm(u, axis=1)
        print(f"refine {refine}: mean {each.mean():.1e}, largest {each.max():.1e}; {seconds:.2f} s")


if __name__ == "__main__":
    main()
