"""Encodes the same data with c2cnet and with NumPy, in turn, and compares times and results."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import scipy

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OURS = ROOT / "target" / "release" / "examples" / "bench_encoding"
THREADS = 2

# Task, what it is, least ratio asked for (None: shown only), tolerance of the coefficients.
TASKS = [
    (
        "features",
        "random features, m1 = 512 (8 x 8 patches, scale 0.3, cut 0.1), 2,400 samples on 141 x 141",
        2,
        1e-10,
    ),
    (
        "elements",
        "finite elements, m1 = {functions}, mesh included, 2,400 samples on 141 x 141; numpy.linalg.lstsq",
        8,
        1e-10,
    ),
    (
        "cosines",
        "1,024 cosines of smallest frequency, 2,400 samples on 141 x 141; QR and a dense product",
        5,
        1e-10,
    ),
    (
        "cosines-dct",
        "the same; scipy.fft.dctn (within twice its time)",
        0.5,
        1e-10,
    ),
    (
        "scattered",
        "3,000 samples with 100 own sensors, 64 functions, 2 components, ridge; loop of numpy.linalg.lstsq",
        10,
        1e-8,
    ),
    (
        "scattered-cut",
        "the same with singular values cut at 1e-3; loop of numpy.linalg.svd",
        None,
        1e-8,
    ),
]


def run(command, threads=THREADS):
    environment = dict(
        os.environ,
        RAYON_NUM_THREADS=str(threads),
        OPENBLAS_NUM_THREADS=str(threads),
        OMP_NUM_THREADS=str(threads),
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done.stdout


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def disagreement(directory, task):
    ours, theirs = (
        np.load(directory / f"{task}-{who}.npz")["coefficients"] for who in ("ours", "numpy")
    )
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def measure(directory, task, repeats):
    """Records of both sides, in turn, `repeats` times: with all threads, then with one."""
    peer = [sys.executable, HERE / "peer.py", task, directory]
    records = {who: {THREADS: [], 1: []} for who in ("ours", "numpy")}
    for _ in range(repeats):
        for threads in (THREADS, 1):
            for who, command in (("ours", [OURS, task, directory]), ("numpy", peer)):
                records[who][threads].append(json.loads(run(command, threads)))
    return records


def least(records, key):
    return min(r[key] for r in records)


def phases(records):
    names = records[0]["phases"]
    best = {n: min(r["phases"][n] for r in records) for n in names}
    return ", ".join(f"{n} {s:.3f}" for n, s in best.items() if s >= 5e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    parser.add_argument("--keep", type=Path, help="directory for the data, kept for the next run")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        directory = arguments.keep or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / "elements-basis.npz").exists():
            run([OURS, "make", directory])
        rows, details, failures = [], [], []
        for task, what, goal, tolerance in TASKS:
            records = measure(directory, task, arguments.repeats)
            off = disagreement(directory, task)
            ours, numpy = records["ours"], records["numpy"]
            # Waiting BLAS threads burn their time on a busy machine: NumPy may use one or all.
            threads = min(numpy, key=lambda t: least(numpy[t], "seconds"))
            mine, theirs = ours[THREADS], numpy[threads]
            wall = [least(side, "seconds") for side in (mine, theirs)]
            single = [least(side[1], "seconds") for side in (ours, numpy)]
            cpu = [least(side[1], "cpu_seconds") for side in (ours, numpy)]
            extra = [max(r["peak_mib"] - r["data_mib"] for r in side) for side in (mine, theirs)]
            ratio = wall[1] / wall[0]
            asked = f"{goal}" if goal else "-"
            what = what.format(**mine[0])
            rows.append(
                f"| {what} | {wall[0]:.3f} | {wall[1]:.2f} ({threads}) | **{ratio:.1f}** | "
                f"{single[1] / single[0]:.1f} | {cpu[1] / cpu[0]:.1f} | {asked} | "
                f"{extra[0]:.0f} | {extra[1]:.0f} | {off:.0e} |"
            )
            details.append(f"- {task}: ours {phases(mine)}; NumPy {phases(theirs)}")
            print(rows[-1], flush=True)
            print(details[-1], flush=True)
            if off > tolerance:
                failures.append(f"{task}: coefficients differ by {off:.1e}, more than {tolerance}")
            if goal and ratio < goal:
                failures.append(f"{task}: {ratio:.1f} times faster, {goal} were asked for")
    text = "\n".join(
        [
            "# Encoding, compared with NumPy and SciPy",
            "",
            f"{date.today():%Y-%m}, {cpu_model()}, {os.cpu_count()} cores; NumPy {np.__version__}, "
            f"SciPy {scipy.__version__}, Python {platform.python_version()}. Data and weights from seed "
            f"2026. {arguments.repeats} runs of each side in turn, load average {os.getloadavg()[1]:.1f} "
            f"(other work ran at the same time if this is above {THREADS}); seconds are the best. Ours runs on "
            f"{THREADS} threads, NumPy on 1 or {THREADS}, whichever was faster (in brackets). Ratios are "
            "theirs over ours: of these seconds, of seconds with one thread each, and of processor time "
            "with one thread each, which other work disturbs least. Memory is the peak above the data "
            "while encoding, in MiB.",
            "",
            "| task | ours, s | NumPy, s | ratio | one thread | CPU | asked | memory | NumPy's | difference |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "Phases, best of the runs, in seconds:",
            "",
            *details,
            "",
        ]
    )
    if arguments.write:
        (HERE / "RESULTS.md").write_text(text)
    sys.exit("\n".join(failures) if failures else None)


if __name__ == "__main__":
    main()
