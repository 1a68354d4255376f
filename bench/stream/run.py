#!/usr/bin/env python3
"""A million samples in shards: time, memory and error of fits that read them one by one.

    bench/stream/run.py --c2cnet target/release/c2cnet --folder /tmp/stream            # all rows, then RESULTS.md
    bench/stream/run.py --c2cnet target/release/c2cnet --folder /tmp/stream --rows linear resumed

Makes 50 shards of 20,000 samples of 1D Darcy flow at 200 points (3.2 GB) in the folder, where they stay: delete it
afterwards. Each row is a fit and an evaluation on 2,000 other samples; rows that were measured before are kept in the
folder. Needs nothing but Python, on a system with resource usage of children (Linux, macOS).
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import time
from pathlib import Path

SHARDS, SAMPLES, POINTS = 50, 20_000, 200
HERE = Path(__file__).parent

# Name, what it is, and the arguments of `c2cnet fit`; {all} are the shards, {one} is the first of them.
ROWS = {
    "linear": ("1,000,000 samples, linear map", ["{all}", "--memory", "2GiB", "--map", "linear"]),
    "kernel-1000": ("1,000,000 samples, kernel map, 1,000 centres", ["{all}", "--memory", "2GiB", "--centres", "1000"]),
    "kernel-2000": ("1,000,000 samples, kernel map, 2,000 centres", ["{all}", "--memory", "2GiB", "--centres", "2000"]),
    "kernel": ("1,000,000 samples, defaults (kernel map)", ["{all}", "--memory", "2GiB"]),
    "resumed": (
        "1,000,000 samples, linear map, interrupted twice and resumed",
        ["{all}", "--memory", "2GiB", "--map", "linear", "--checkpoint-every", "1"],
    ),
    "memory-linear": ("20,000 samples in memory, linear map", ["{one}", "--map", "linear"]),
    "memory-kernel": ("20,000 samples in memory, kernel map", ["{one}", "--map", "kernel"]),
}


def generate(command, path, seed, samples, n_test=0):
    if path.exists():
        return
    sizes = [f"points={POINTS}", f"n_train={samples}", f"n_test={n_test}"]
    settings = [word for size in sizes for word in ("--set", size)]
    subprocess.run([command, "generate", "darcy1d", "-o", path, "--seed", str(seed), *settings], check=True, stdout=subprocess.DEVNULL)


def measured(arguments, interrupt_after=None):
    """Runs a command: its output, seconds, processor seconds and peak resident memory in bytes."""
    begin = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    if interrupt_after is not None:
        time.sleep(interrupt_after)
        process.send_signal(signal.SIGINT)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    peak = usage.ru_maxrss * (1 if platform.system() == "Darwin" else 1024)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "output": output,
        "seconds": time.monotonic() - begin,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": peak,
    }


def disk(folder):
    """Bytes per second of reading all shards, and nothing else."""
    begin, size = time.monotonic(), 0
    for path in sorted((folder / "shards").glob("*.npz")):
        with open(path, "rb", buffering=0) as file:
            while part := file.read(1 << 24):
                size += len(part)
    return size / (time.monotonic() - begin)


def row(command, folder, name):
    arguments = [word.format(all=folder / "shards", one=folder / "shards" / "00.npz") for word in ROWS[name][1]]
    model = folder / f"{name}.c2c"
    fit = [command, "fit", *arguments, "-o", model, "--json"]
    if name == "resumed":
        for resume in ([], ["--resume"]):
            stopped = measured([*fit, *resume], interrupt_after=1.5)
            assert stopped["code"] == 130, "done before it was interrupted; interrupt earlier"
        fit.append("--resume")
    found = measured(fit)
    assert found["code"] == 0, found
    report = json.loads(found["output"])
    errors = subprocess.run([command, "evaluate", model, folder / "test.npz", "--json"], check=True, capture_output=True, text=True)
    return {
        "seconds": found["seconds"],
        "cpu": found["cpu"],
        "peak": found["peak"],
        "stream": report.get("stream"),
        "first_samples": report.get("first_samples"),
        "first_rl2e": report.get("first_rl2e"),
        "rl2e": json.loads(errors.stdout)["rl2e"],
        "disk": disk(folder),
        "load": os.getloadavg()[0],
        "same_bits": model.read_bytes() == (folder / "linear.c2c").read_bytes() if name == "resumed" else None,
    }


def table(rows):
    lines = [
        "| fit | samples per second | reading, part of that time | seconds | processor seconds | peak memory, MiB | "
        "test RL2E | first samples alone, on held-out ones | load |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (what, _) in ROWS.items():
        if name not in rows:
            continue
        r = rows[name]
        stream = r["stream"]
        pace = f"{stream['samples'] / stream['seconds']:,.0f}" if stream else ""
        reading = f"{stream['reading_seconds'] / stream['seconds']:.0%}" if stream else ""
        first = f"{r['first_rl2e']:.2e} ({r['first_samples']:,})" if r["first_rl2e"] else ""
        lines.append(
            f"| {what} | {pace} | {reading} | {r['seconds']:.0f} | {r['cpu']:.0f} | {r['peak'] / 2**20:.0f} | "
            f"{r['rl2e']:.2e} | {first} | {r['load']:.1f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--c2cnet", required=True, help="the command")
    parser.add_argument("--folder", required=True, type=Path, help="where shards and models go; 4 GB")
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS))
    args = parser.parse_args()
    (args.folder / "shards").mkdir(parents=True, exist_ok=True)
    for k in range(SHARDS):
        generate(args.c2cnet, args.folder / "shards" / f"{k:02}.npz", k, SAMPLES)
    generate(args.c2cnet, args.folder / "test.npz", 1000, 1, 2000)
    kept = args.folder / "rows.json"
    rows = json.loads(kept.read_text()) if kept.exists() else {}
    for name in args.rows:
        rows[name] = row(args.c2cnet, args.folder, name)
        print(name, rows[name], flush=True)
        kept.write_text(json.dumps(rows))
    speeds = [r["disk"] for r in rows.values()]
    cores = os.cpu_count()
    text = (HERE / "RESULTS.md").read_text().split("\n## Figures\n")[0]
    text += (
        f"\n## Figures\n\n{platform.machine()}, {cores} cores, shared with other work where the load is above {cores}; seconds then "
        f"say little. Reading all shards and nothing else: {min(speeds) / 1e9:.1f} to {max(speeds) / 1e9:.1f} GB/s "
        f"({min(speeds) / (16 * POINTS):,.0f} to {max(speeds) / (16 * POINTS):,.0f} samples per second), from the system's cache where "
        f"it holds them.\n\n{table(rows)}\n"
    )
    same = rows.get("resumed", {}).get("same_bits")
    if same is not None:
        text += f"\nInterrupted and resumed, the model has {'the same' if same else 'OTHER'} bits.\n"
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
