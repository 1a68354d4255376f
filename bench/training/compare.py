"""Trains and predicts with c2cnet and with PyTorch, in turn, and compares times and memory."""

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OURS = ROOT / "target" / "release" / "examples" / "bench_training"
THREADS = 2
# Parts of a batch that run in parallel on our side: one for each core.
SHARDS = 2
MODES = ["foreach", "fused", "compile"]

# Task, what it is, least ratio asked for, modes of PyTorch, whether its products alone are a ceiling.
TASKS = [
    ("small", "a step of [128, 400x3, 128], 800 samples", 1.25, MODES, True),
    ("wide", "a step of [512, 180x2, 640], 2,400 samples", 1.25, MODES, True),
    (
        "paper",
        "a step of the recipe `paper`, 2D Darcy: [512, 180x2, 2048], 2,400 samples, 19,881 points",
        30,
        ["fused"],
        False,
    ),
    (
        "predict",
        "one field at 19,881 points: that network, then 2,048 functions",
        5,
        ["foreach", "compile"],
        False,
    ),
]
CEILING = 0.85


def run(command, threads):
    environment = dict(
        os.environ,
        RAYON_NUM_THREADS=str(threads),
        OMP_NUM_THREADS=str(threads),
        MKL_NUM_THREADS=str(threads),
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def best(records, key="seconds"):
    return min(records, key=lambda r: r[key])


def measure(task, modes, ceiling, repeats):
    """Records by side and number of threads, taken in turn."""
    sides = {"ours": [OURS, task, str(SHARDS)]}
    if ceiling:
        sides["products"] = [OURS, f"{task}-products", str(SHARDS)]
    for mode in modes:
        sides[mode] = [sys.executable, HERE / "peer.py", task, mode]
    records = {}
    for _ in range(repeats):
        for threads in (THREADS, 1):
            for side, command in sides.items():
                records.setdefault((side, threads), []).append(run(command, threads))
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tasks", nargs="*", default=[t[0] for t in TASKS])
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    arguments = parser.parse_args()

    rows, failures, loads = [], [], [os.getloadavg()[0]]
    for task, what, goal, modes, ceiling in TASKS:
        if task not in arguments.tasks:
            continue
        records = measure(task, modes, ceiling, arguments.repeats)
        loads.append(os.getloadavg()[0])

        def fastest(threads, key):
            sides = [best(records[mode, threads], key) for mode in modes]
            return best(sides, key)

        ours = best(records["ours", THREADS])
        peer = fastest(THREADS, "seconds")
        ratio = peer["seconds"] / ours["seconds"]
        one = [best(records["ours", 1], "cpu_seconds"), fastest(1, "cpu_seconds")]
        ratio_one = one[1]["cpu_seconds"] / one[0]["cpu_seconds"]
        reached = ""
        if ceiling:
            parts = [
                best(records["products", t], key)[key] / best(records["ours", t], key)[key]
                for t, key in ((THREADS, "seconds"), (1, "cpu_seconds"))
            ]
            reached = f"{parts[0]:.0%} ({parts[1]:.0%})"
            if parts[0] < CEILING:
                failures.append(f"{task}: {reached} of its products")
        if ratio < goal:
            failures.append(f"{task}: ratio {ratio:.2f} ({ratio_one:.2f}), asked {goal}")
        rows.append(
            f"| {what} | {1e3 * ours['seconds']:.2f} | {1e3 * peer['seconds']:.2f} ({peer['mode']}) "
            f"| **{ratio:.2f}** | {ratio_one:.2f} | {goal} | {reached} "
            f"| {ours['peak_mib']:.0f} | {peer['peak_mib']:.0f} |"
        )
        print(rows[-1], flush=True)

    import torch

    text = "\n".join(
        [
            "# Training, compared with PyTorch",
            "",
            f"{date.today():%Y-%m}, {cpu_model()}, {os.cpu_count()} cores; PyTorch {torch.__version__}, Python "
            f"{platform.python_version()}. {arguments.repeats} runs of each side in turn, load average "
            f"{min(loads):.1f} to {max(loads):.1f} (other work ran at the same time if this is above 2); "
            f"milliseconds are the best, on {THREADS} threads each, our batches in {SHARDS} shards, PyTorch in its fastest mode (in brackets: Adam "
            "for each or fused, eager, or compiled). Ratios are theirs over ours: of these times, and of "
            "processor time with one thread each, which other work disturbs least. Products: the fraction of a step's "
            "time that its matrix products alone take, with one thread in brackets. Memory is the peak "
            "of the process, in MiB.",
            "",
            "| task | ours, ms | PyTorch, ms | ratio | one thread | asked | products | memory | PyTorch's |",
            "|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
    print(text)
    if arguments.write:
        (HERE / "RESULTS.md").write_text(text)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
