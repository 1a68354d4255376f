"""Peak memory of `c2cnet generate` compared with the size of its file.

    cargo build --release -p c2cnet-cli
    python bench/generate/memory.py [PROBLEM...]

Two problems are cut to fewer samples than by default, to save time.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "target/release/c2cnet"
PROBLEMS = {
    "darcy1d": [],
    "darcy2d": [],
    "poisson-holes": [],
    "elastic-plate": [],
    "darcy-lshape": ["n_train=9000", "n_test=1000"],
    "kdv-burgers": [],
    "helmholtz": [],
    "poisson10d": [],
    "stokes-inverse": ["n_train=180", "n_test=20"],
}


def main(names):
    print("| problem | settings | file, MB | peak, MB | over the file, MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        for name in names or PROBLEMS:
            command = [PROGRAM, "generate", name, "-o", file]
            for setting in PROBLEMS[name]:
                command += ["--set", setting]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            if status:
                sys.exit(f"{name} failed")
            # Linux counts in KiB.
            size, peak = file.stat().st_size / 1e6, usage.ru_maxrss * 1024 / 1e6
            settings = ", ".join(PROBLEMS[name]) or "default"
            print(f"| {name} | {settings} | {size:.0f} | {peak:.0f} | {peak - size:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
