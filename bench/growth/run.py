#!/usr/bin/env python3
"""Growth of time and memory with samples, points and functions: fitted exponents, a figure, and what follows by calculation.

    bench/growth/run.py --c2cnet target/release/c2cnet --folder FOLDER            # everything; six minutes, 3 GB of memory
    bench/growth/run.py --c2cnet target/release/c2cnet --folder FOLDER --most samples=64000 points=16000 functions=1024
    bench/growth/run.py --c2cnet target/release/c2cnet --folder FOLDER --most samples=0 points=0 functions=0   # the page alone

1D Darcy flow (seed 0) with given bases of sines, so that only the named size grows. Sizes that were measured before with the
same arguments are kept in the folder. Each fit is a process of its own; its processor seconds and its peak resident memory
come from the system. Needs Python, and matplotlib for the figure, on Linux or macOS.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent
SHARD = 8000


def doublings(first, last, step=2):
    sizes = [first]
    while sizes[-1] * step <= last:
        sizes.append(sizes[-1] * step)
    return sizes


# Axis: its sizes, what stays fixed, and the fits: name, `c2cnet fit` arguments, largest size, whether from shards.
AXES = {
    "samples": (
        doublings(1000, 256_000, 4),
        {"points": 200, "functions": 64},
        [
            ("linear", ["--map", "linear"], 256_000, False),
            ("kernel", ["--map", "kernel"], 16_000, False),
            ("linear, shards", ["--map", "linear"], 256_000, True),
            ("kernel, shards, 1,000 centres", ["--map", "kernel", "--centres", "1000"], 256_000, True),
        ],
    ),
    # The generator ends at 100,000 points.
    "points": (
        doublings(1000, 64_000, 4),
        {"samples": 400, "functions": 128},
        [("linear", ["--map", "linear"], 64_000, False), ("kernel", ["--map", "kernel"], 64_000, False)],
    ),
    "functions": (
        doublings(128, 4096),
        {"samples": 2000, "points": 8192},
        [("linear", ["--map", "linear"], 4096, False), ("kernel", ["--map", "kernel"], 4096, False)],
    ),
}


def data(command, folder, samples, points, shards):
    """A data file, or a folder of shards with as many samples in total."""
    name = folder / f"darcy1d-{samples}-{points}{'-shards' if shards else '.npz'}"
    if name.exists():
        return name
    parts = [name]
    if shards:
        name.mkdir()
        parts = [name / f"{k:03}.npz" for k in range(math.ceil(samples / SHARD))]
    for seed, path in enumerate(parts):
        count = min(SHARD, samples - seed * SHARD) if shards else samples
        settings = [f"points={points}", f"n_train={count}", "n_test=0"]
        words = [word for s in settings for word in ("--set", s)]
        subprocess.run([command, "generate", "darcy1d", "-o", path, "--seed", str(seed), *words], check=True, stdout=subprocess.DEVNULL)
    return name


def measured(arguments):
    begin = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, arguments
    peak = usage.ru_maxrss * (1 if platform.system() == "Darwin" else 1024)
    report = json.loads(output)
    return {
        "seconds": time.monotonic() - begin,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": peak,
        "rl2e": report["rl2e"],
        "load": os.getloadavg()[0],
    }


def run(command, folder, axis, most, kept):
    sizes, fixed, fits = AXES[axis]
    for size in sizes:
        if size > most:
            continue
        shape = {**fixed, axis: size}
        made = set()
        for name, words, largest, shards in fits:
            key = f"{axis}/{name}/{size}"
            if size > largest or key in kept:
                continue
            path = data(command, folder, shape["samples"], shape["points"], shards)
            made.add(path)
            basis = f"family='fourier', kind='sine', functions={shape['functions']}"
            bases = ["--input-basis", f"{{{basis}}}", "--output-basis", f"{{{basis}}}"]
            kept[key] = measured([command, "fit", path, "-o", folder / "model.c2c", "--json", *bases, *words])
            bytes_ = sum(f.stat().st_size for f in ([path] if path.is_file() else path.iterdir()))
            kept[key]["bytes"] = bytes_
            print(key, kept[key], flush=True)
            (folder / "rows.json").write_text(json.dumps(kept))
        for path in made:
            for file in [path] if path.is_file() else [*path.iterdir()]:
                file.unlink()
            if path.is_dir():
                path.rmdir()


def exponent(points):
    """The slope of log y over log x by least squares, over the upper sizes: at most four, the smallest ones left out."""
    upper = points[-4:] if len(points) > 4 else points[-3:]
    x, y = ([math.log(p[i]) for p in upper] for i in (0, 1))
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def series(kept, axis, name):
    sizes = AXES[axis][0]
    return [(size, kept[f"{axis}/{name}/{size}"]) for size in sizes if f"{axis}/{name}/{size}" in kept]


def tables(kept):
    lines = [
        "| size that grows | fit | sizes measured | processor seconds, exponent | peak memory, exponent |",
        "|---|---|---|---|---|",
    ]
    for axis, (_, _, fits) in AXES.items():
        for name, *_ in fits:
            rows = series(kept, axis, name)
            if len(rows) > 2:
                cpu = exponent([(s, r["cpu"]) for s, r in rows])
                peak = exponent([(s, r["peak"]) for s, r in rows])
                lines += [f"| {axis} | {name} | {rows[0][0]:,} to {rows[-1][0]:,} | {cpu:.2f} | {peak:.2f} |"]
    for axis, (sizes, fixed, fits) in AXES.items():
        words = ", ".join(f"{value:,} {key}" for key, value in fixed.items())
        lines += [
            f"\n### {axis.capitalize()}\n\nWith {words}.\n",
            f"| {axis} | fit | data, MB | seconds | processor seconds | peak memory, MiB | of the data | held-out RL2E | load |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for name, _, largest, _ in fits:
            for size in sizes:
                row = kept.get(f"{axis}/{name}/{size}")
                if row is None:
                    if size <= largest:
                        lines += [f"| {size:,} | {name} | not measured | | | | | | |"]
                    continue
                lines += [
                    f"| {size:,} | {name} | {row['bytes'] / 1e6:.0f} | {row['seconds']:.1f} | {row['cpu']:.1f} | "
                    f"{row['peak'] / 2**20:.0f} | {row['peak'] / row['bytes']:.2f} | {row['rl2e']:.2e} | {row['load']:.1f} |"
                ]
    return lines


# Processor seconds for a million samples of 200 points in bench/stream/RESULTS.md, where too few sizes were measured here. Up to
# 5,000 samples settle spaces and map, which hides the rest where there are few more.
STREAM = {"linear, shards": 13, "kernel, shards, 1,000 centres": 166}
SETTLED = 64_000


def beyond(kept):
    """What a thousand million samples would take, from the largest fits to shards."""
    lines = ["\n## Beyond one machine, by calculation\n"]
    functions = AXES["samples"][1]["functions"]
    points = AXES["samples"][1]["points"]
    for name, side in (("linear, shards", functions), ("kernel, shards, 1,000 centres", 1000)):
        rows = [(size, row) for size, row in series(kept, "samples", name) if size >= SETTLED]
        million, source = STREAM[name], "[bench/stream](../stream/RESULTS.md)"
        if len(rows) > 1:
            (few, small), (many, large) = rows[-2], rows[-1]
            million, source = 1e6 * (large["cpu"] - small["cpu"]) / (many - few), "the table above"
        sums = 8 * (side * side + side * functions)
        total = 1e3 * million / 3600
        lines += [
            f"- **{name}**: {million:.0f} processor seconds per million samples of {points} points ({source}), so {total:,.0f} processor "
            f"hours for 10^9 samples ({16 * points:,} GB): {total / 16:,.1f} hours on one machine of 16 cores, {total / 1600:,.2f} on a "
            f"hundred, if reading keeps up. Each sends one sum of {sums / 1e6:.2f} MB, merged in 7 steps: nothing beside that. Memory per "
            f"machine does not grow with the samples."
        ]
    lines += [
        "- **Time per sample** of n points, m coefficients and r coordinates is proportional to n(m + r) for encoding and "
        "m(m + r) for the sums of a linear map, and to M(M + m + r) for a kernel map with M centres; **memory** is one chunk, "
        "the factors n(m + r) of both spaces, and the sums m(m + r) or M(M + r).",
        "- So with more **samples** machines are added: nothing but the sums crosses the network. With more **points** a chunk holds "
        "fewer samples; beyond some 10^7 points the factors of the spaces (n(m + r) numbers: 82 GB for 10^7 points and 1,024 functions) "
        "exceed a machine, and a basis with local functions, or one that is evaluated along axes, has to take their place. With more **functions** "
        "the factorisation of the spaces grows as n m^2 and that of the map as m^3; both are done once, on one machine.",
    ]
    return lines


def figure(kept, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 3, figsize=(11, 6), sharex="col", layout="constrained")
    for column, (axis, (_, _, fits)) in enumerate(AXES.items()):
        for name, *_ in fits:
            rows = series(kept, axis, name)
            if not rows:
                continue
            sizes = [s for s, _ in rows]
            axes[0, column].loglog(sizes, [r["cpu"] for _, r in rows], "o-", label=name)
            axes[1, column].loglog(sizes, [r["peak"] / 2**20 for _, r in rows], "o-", label=name)
        measured_sizes = sorted({size for name, *_ in fits for size, _ in series(kept, axis, name)})
        axes[1, column].set_xticks(measured_sizes, [f"{size:,}" for size in measured_sizes], fontsize=8)
        axes[1, column].set_xlabel(axis)
        for row in (0, 1):
            axes[row, column].grid(alpha=0.3)
            axes[row, column].xaxis.minorticks_off()
    axes[0, 0].set_ylabel("processor seconds")
    axes[1, 0].set_ylabel("peak memory, MiB")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=9)
    fig.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--c2cnet", required=True, help="the command")
    parser.add_argument("--folder", required=True, type=Path, help="where data and rows go; 2 GB")
    parser.add_argument("--most", nargs="*", default=[], metavar="AXIS=SIZE", help="the largest sizes to measure")
    args = parser.parse_args()
    most = {axis: sizes[-1] for axis, (sizes, *_) in AXES.items()}
    most.update((axis, int(size)) for axis, size in (word.split("=") for word in args.most))
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.folder / "rows.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    for axis in AXES:
        run(args.c2cnet, args.folder, axis, most[axis], kept)
    intro = (HERE / "RESULTS.md").read_text().split("\n## Figures\n")[0] if (HERE / "RESULTS.md").exists() else "# Growth\n"
    cores = os.cpu_count()
    head = (
        f"\n## Figures\n\n{platform.machine()}, {cores} cores, shared with other work where the load is above {cores}: then seconds say "
        "little, and processor seconds a few tens of percent too much. Exponents are fitted to the upper sizes, at most four and at least "
        "three; fits of fewer sizes have none.\n\n"
        "![time and memory over the sizes](growth.svg)\n"
    )
    (HERE / "RESULTS.md").write_text("\n".join([intro + head, *tables(kept), *beyond(kept)]) + "\n")
    figure(kept, HERE / "growth.svg")


if __name__ == "__main__":
    main()
