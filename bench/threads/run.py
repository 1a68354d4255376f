#!/usr/bin/env python3
"""Default fits on growing numbers of threads: seconds, speed-up, and whether the models have the same bits.

    bench/threads/run.py --c2cnet target/release/c2cnet                                   # KdV, a smaller 2D Darcy
    bench/threads/run.py --c2cnet NEW --before OLD --problems darcy2d --threads 2 16      # beside another binary
    bench/threads/run.py --c2cnet NEW --problems all --threads 1 2 4 8 16 --write         # into RESULTS.md

Beside them, in the same run, a large product of matrices in NumPy on as many threads: no fit can gain more than the
machine gives. Data is made in --folder and stays there. Needs NumPy and, for the threads of its product, a NumPy whose
BLAS minds OPENBLAS_NUM_THREADS or MKL_NUM_THREADS.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent

# Name, problem, settings of the data.
PROBLEMS = {
    "darcy1d": ("darcy1d", []),
    "kdv": ("kdv-burgers", []),
    "darcy2d-small": ("darcy2d", ["points=71", "n_train=1200", "n_test=200"]),
    "darcy2d": ("darcy2d", []),
    "lshape": ("darcy-lshape", []),
    "stokes": ("stokes-inverse", []),
}
QUICK = ["kdv", "darcy2d-small"]

PRODUCT = """
import numpy, time
a = numpy.random.default_rng(0).standard_normal(({size}, {size}))
times = []
for _ in range(3):
    begin = time.perf_counter()
    a @ a
    times.append(time.perf_counter() - begin)
print(min(times))
"""


def product(threads, size):
    """Seconds of a product of matrices on this many threads."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    environment = os.environ | {name: str(threads) for name in names}
    program = [sys.executable, "-c", PRODUCT.format(size=size)]
    return float(subprocess.run(program, env=environment, check=True, capture_output=True, text=True).stdout)


def generate(command, name, folder):
    path = folder / f"{name}.npz"
    if not path.exists():
        problem, settings = PROBLEMS[name]
        words = [word for setting in settings for word in ("--set", setting)]
        subprocess.run([command, "generate", problem, "-o", path, *words], check=True, stdout=subprocess.DEVNULL)
    return path


def fit(command, data, model, threads):
    """Seconds, processor seconds, held-out error and a digest of the model's arrays."""
    arguments = [command, "fit", data, "-o", model, "--force", "--threads", str(threads), "--progress", "off"]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    output = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    error = re.search(r"RL2E +([0-9.e+-]+)", output)
    return {
        "seconds": seconds,
        "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "error": float(error[1]) if error else float("nan"),
        "arrays": arrays(model),
    }


def arrays(model):
    """A digest of the arrays of a model file (safetensors); its text may hold times."""
    data = model.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    digest = hashlib.sha256()
    for name in sorted(header):
        if name != "__metadata__":
            begin, end = header[name]["data_offsets"]
            digest.update(name.encode())
            digest.update(data[8 + length + begin : 8 + length + end])
    return digest.hexdigest()


def measure(options):
    rows, commands = [], [("", options.c2cnet)]
    if options.before:
        commands.insert(0, ("before", options.before))
    products = {threads: product(threads, options.size) for threads in options.threads}
    for name in options.problems:
        data = generate(options.c2cnet, name, options.folder)
        for label, command in commands:
            for threads in options.threads:
                row = fit(command, data, options.folder / "model.c2c", threads)
                rows.append(row | {"problem": name, "binary": label, "threads": threads, "product": products[threads]})
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows, products


def table(rows, products, size):
    first = min(products)
    lines = [
        "| problem | threads | s | processor s | speed-up | of the product's | held-out error | same bits |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        group = [r for r in rows if (r["problem"], r["binary"]) == (row["problem"], row["binary"])]
        gain = group[0]["seconds"] / row["seconds"]
        share = gain / (products[group[0]["threads"]] / row["product"])
        same = "yes" if row["arrays"] == group[0]["arrays"] else "**no**"
        name = f"{row['problem']} {row['binary']}".strip()
        lines.append(
            f"| {name} | {row['threads']} | {row['seconds']:.1f} | {row['processor']:.1f} | {gain:.2f} | {share:.2f} "
            f"| {row['error']:.3e} | {same} |"
        )
    lines += ["", f"| product of {size} x {size} | s | speed-up |", "|---|---|---|"]
    lines += [f"| {t} threads | {s:.2f} | {products[first] / s:.2f} |" for t, s in products.items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--c2cnet", required=True, type=lambda name: Path(name).resolve(), help="the binary")
    parser.add_argument("--before", type=lambda name: Path(name).resolve(), help="another binary to time beside it")
    parser.add_argument("--problems", nargs="+", default=QUICK, choices=[*PROBLEMS, "all"])
    parser.add_argument("--threads", nargs="+", type=int, default=[2, os.cpu_count() or 2])
    parser.add_argument("--size", type=int, default=4000, help="of the matrices of the product")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/c2cnet-threads"))
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    options = parser.parse_args()
    if "all" in options.problems:
        options.problems = [name for name in PROBLEMS if name != "darcy2d-small"]
    options.threads = sorted(set(options.threads))
    options.folder.mkdir(parents=True, exist_ok=True)
    options.c2cnet = options.c2cnet.resolve()
    rows, products = measure(options)
    text = table(rows, products, options.size)
    print(text)
    if options.write:
        title = "# Threads\n\nMade by `bench/threads/run.py`; default fits, data and fit seed 0.\n"
        (HERE / "RESULTS.md").write_text(f"{title}{os.cpu_count()} cores.\n\n{text}\n")
    if any("**no**" in line for line in text.splitlines()):
        sys.exit("models on different numbers of threads differ")


if __name__ == "__main__":
    main()
